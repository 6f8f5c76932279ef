//! What a page shows, free of markup.

use serde_json::{Value, json};

use super::digits::rounded;
use super::label_details::{LabelDetail, LabelDetails};
use super::review_details::{ReviewDetail, ReviewDetails, ShownReview, ShownText};
use crate::stats::interval::Estimate;

/// What is shown beside the [`super::super::Report`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// Title of the page, in a few words.
    pub(crate) title: String,
    /// Whom to look at first, above everything.
    pub first: Option<First>,
    /// What was scored, with which embedder or mechanism.
    pub(crate) lead: Vec<String>,
    /// How to read it.
    pub reading: Vec<String>,
    /// The people, if the result is about people.
    pub people: Option<People>,
    /// SVG figures of [`super::super::plot`], each with a sentence on it.
    pub(crate) figures: Vec<(String, String)>,
    /// Tables of their own, such as who is not judged and why.
    pub(crate) sections: Vec<Section>,
    /// Whether the table of the report is shown as it is.
    pub table: ShownTable,
}

/// How the table of the report is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShownTable {
    /// Not at all.
    #[default]
    Hidden,
    /// Behind a heading that opens it.
    Folded,
    /// Open.
    Open,
}

/// Whom to look at first, and how many there may be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct First {
    /// The answer in a sentence; empty where there is none.
    pub answer: String,
    /// The people flagged, worst first; empty if nobody stands out.
    pub people: Vec<FirstPerson>,
    /// How many more are flagged.
    pub more: usize,
    /// People of whom it is not sure, below those.
    pub unsure: Vec<FirstPerson>,
    /// How many more of these there are.
    pub(crate) more_unsure: usize,
    /// How many there may be, and how sure that is, in sentences.
    pub estimate: Vec<String>,
    /// What is said in the place of names where there are none.
    pub nobody: &'static str,
}

/// Why to look at somebody.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FirstPerson {
    /// Number of the person.
    pub person: usize,
    /// What follows their name, in plain words.
    pub(crate) says: String,
    /// The strongest evidence, if its text may be in the file.
    pub pair: Option<SentencePair>,
}

/// Two sentences that are close.
#[derive(Debug, Clone, PartialEq)]
pub struct SentencePair {
    /// The person's.
    pub own: String,
    /// The one it is close to.
    pub other: String,
    /// Whose that is, and where.
    pub(crate) whose: String,
    /// Cosine of the two.
    pub cosine: f64,
}

/// A table with people in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Section {
    /// For links, in lower case without spaces.
    pub id: &'static str,
    /// Heading.
    pub title: String,
    /// What it shows, in a sentence.
    pub lead: String,
    /// Names of the columns.
    pub columns: Vec<&'static str>,
    /// Cells by row.
    pub rows: Vec<Vec<SectionCell>>,
    /// Rows that are left out.
    pub left_out: usize,
    /// Where those are, in a sentence; empty if they are nowhere.
    pub rest: &'static str,
    /// Code of the warning that this section says better.
    pub replaces: &'static str,
}

/// A cell of a [`Section`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SectionCell {
    /// A person, by number, with a link.
    Person(usize),
    /// A text.
    Text(String),
}

/// People with their scores and the evidence for each.
#[derive(Debug, Clone, PartialEq)]
pub struct People {
    /// What one of them is called, e.g. `reviewer`.
    pub(crate) noun: &'static str,
    /// What they are counted by, e.g. `papers`.
    pub counted: &'static str,
    /// Their names, by number.
    pub names: Vec<String>,
    /// Their scores, one view per name of a score; the first is shown first.
    pub(crate) views: Vec<View>,
    /// Other numbers about each.
    pub(crate) measures: Vec<Measure>,
    /// An SVG figure of [`super::super::plot::ScatterChart`] with a sentence on it.
    pub(crate) scatter: Option<(String, String)>,
    /// What is said of each person first, by number: what it is about, and a sentence. The first is the
    /// verdict, about nothing. Empty where there is none.
    pub(crate) verdicts: Vec<Vec<(&'static str, String)>>,
    /// The evidence.
    pub details: Details,
}

/// One score of all people.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct View {
    /// Name of the score, e.g. `projected`.
    pub name: String,
    /// What it means, in a sentence.
    pub meaning: String,
    /// Whether the list shows the score and its interval; otherwise it is in order of [`PersonRow::place`].
    pub is_listed: bool,
    /// By number of the person.
    pub rows: Vec<PersonRow>,
}

/// The score of one person.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PersonRow {
    /// The score.
    pub score: Option<f64>,
    /// Its 95 % interval, low end first.
    pub interval: Option<(f64, f64)>,
    /// 1 is the best.
    pub rank: Option<u64>,
    /// The flag, where the score has flags.
    pub flag: Option<String>,
    /// Papers or tasks behind the score.
    pub count: Option<u64>,
    /// Their place in the list, by what to do and then worst first.
    pub place: usize,
}

impl PersonRow {
    /// A row without a rank and a flag.
    pub(crate) fn new(estimate: Option<Estimate>, count: usize) -> Self {
        let finite = |value: &f64| value.is_finite();
        let interval = estimate.and_then(|estimate| estimate.interval());
        Self {
            score: estimate.map(|estimate| estimate.value).filter(finite),
            interval: interval.filter(|(low, high)| finite(low) && finite(high)),
            rank: None,
            flag: None,
            count: Some(count as u64),
            place: 0,
        }
    }
}

/// Something about each person.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measure {
    /// Its name, short enough for the head of a column.
    pub name: String,
    /// What it means.
    pub meaning: String,
    /// By number of the person.
    pub values: Values,
    /// Whether the list shows it; the file that the page saves has all.
    pub is_listed: bool,
}

/// What a [`Measure`] says, by number of the person.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Probabilities, shown in percent.
    Shares(Vec<Option<f64>>),
    /// Words.
    Words(Vec<Option<String>>),
}

/// The evidence for everybody.
#[derive(Debug, Clone, PartialEq)]
pub enum Details {
    /// Of reviewers.
    Reviews(ReviewDetails),
    /// Of crowd workers.
    Labels(LabelDetails),
}

/// Digits of scores in the file; three are shown, the others tell neighbours apart when sorting.
const SCORE_DECIMALS: i32 = 6;

impl People {
    /// Everything but the evidence, as the script reads it.
    pub(super) fn index(&self) -> Value {
        let views: Vec<Value> = self.views.iter().map(View::index).collect();
        let measures: Vec<Value> = self.measures.iter().map(Measure::index).collect();
        let (kind, details) = match &self.details {
            Details::Reviews(details) => ("reviews", details.index()),
            Details::Labels(details) => ("labels", details.index()),
        };
        json!({
            "kind": kind,
            "noun": self.noun,
            "counted": self.counted,
            "names": self.names,
            "views": views,
            "measures": measures,
            "hasVerdicts": !self.verdicts.is_empty(),
            "details": details,
        })
    }

    /// What is said of a person and the evidence, as the script reads it.
    pub(super) fn detail(&self, person: usize) -> Value {
        let said: Vec<Value> = self
            .verdicts
            .get(person)
            .map_or(&[][..], Vec::as_slice)
            .iter()
            .map(|(about, said)| json!([about, said]))
            .collect();
        json!([said, self.evidence(person)])
    }

    /// One row per review, see [`ShownReview`]; nothing of labels.
    pub(super) fn rows(&self) -> Value {
        match &self.details {
            Details::Reviews(details) => details.rows.iter().map(ShownReview::value).collect(),
            Details::Labels(_) => json!([]),
        }
    }

    fn evidence(&self, person: usize) -> Value {
        match &self.details {
            Details::Reviews(details) => {
                let papers = details.people.get(person).map_or(&[][..], Vec::as_slice);
                papers.iter().map(ReviewDetail::value).collect()
            }
            Details::Labels(details) => {
                details.people.get(person).map_or(Value::Null, LabelDetail::value)
            }
        }
    }

    /// The texts that evidence points at, one value per paper.
    pub(super) fn texts(&self) -> impl Iterator<Item = Value> {
        let papers = match &self.details {
            Details::Reviews(details) => &details.texts[..],
            Details::Labels(_) => &[],
        };
        papers.iter().map(|texts| texts.iter().map(ShownText::value).collect())
    }
}

impl View {
    fn index(&self) -> Value {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| {
                let (low, high) = row.interval.unzip();
                json!([
                    rounded(row.score, SCORE_DECIMALS),
                    rounded(low, SCORE_DECIMALS),
                    rounded(high, SCORE_DECIMALS),
                    row.rank,
                    row.flag,
                    row.count,
                    row.place,
                ])
            })
            .collect();
        json!({ "name": self.name, "meaning": self.meaning, "listed": self.is_listed, "rows": rows })
    }
}

impl Measure {
    fn index(&self) -> Value {
        let numbers = |values: &[Option<f64>]| -> Vec<Value> {
            values.iter().map(|&value| rounded(value, SCORE_DECIMALS)).collect()
        };
        let (kind, values) = match &self.values {
            Values::Numbers(values) => ("number", numbers(values).into()),
            Values::Shares(values) => ("share", numbers(values).into()),
            Values::Words(values) => ("words", json!(values)),
        };
        json!({
            "name": self.name,
            "meaning": self.meaning,
            "kind": kind,
            "values": values,
            "listed": self.is_listed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_and_missing_ones_are_null() {
        assert_eq!(rounded(Some(0.123_456_7), 3), json!(0.123));
        assert_eq!(rounded(Some(-1e-9), 3).to_string(), "0.0");
        assert_eq!(rounded(None, 3), Value::Null);
        assert_eq!(rounded(Some(f64::NAN), 3), Value::Null);
    }
}
