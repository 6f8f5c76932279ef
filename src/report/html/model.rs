//! What a page shows, free of markup.

use serde::Serialize;
use serde_json::{Value, json};

/// What is shown beside the [`super::super::Report`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// Title of the page, in a few words.
    pub title: String,
    /// What was scored, with which embedder or mechanism.
    pub lead: Vec<String>,
    /// How to read it.
    pub reading: Vec<String>,
    /// The people, if the result is about people.
    pub people: Option<People>,
    /// SVG figures of [`super::super::plot`], each with a sentence on it.
    pub figures: Vec<(String, String)>,
    /// Whether the table of the report is shown as it is.
    pub with_table: bool,
}

/// People with their scores and the evidence for each.
#[derive(Debug, Clone, PartialEq)]
pub struct People {
    /// What one of them is called, e.g. `reviewer`.
    pub noun: &'static str,
    /// What they are counted by, e.g. `papers`.
    pub counted: &'static str,
    /// Their names, by number.
    pub names: Vec<String>,
    /// Their scores, one view per name of a score; the first is shown first.
    pub views: Vec<View>,
    /// Other numbers about each.
    pub measures: Vec<Measure>,
    /// An SVG figure of [`super::super::plot::ScatterChart`] with a sentence on it.
    pub scatter: Option<(String, String)>,
    /// The evidence.
    pub details: Details,
}

/// One score of all people.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// Name of the score, e.g. `projected`.
    pub name: String,
    /// What it means, in a sentence.
    pub meaning: String,
    /// By number of the person.
    pub rows: Vec<PersonRow>,
}

/// The score of one person.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PersonRow {
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
}

/// A number about each person.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// Its name, short enough for the head of a column.
    pub name: String,
    /// What it means.
    pub meaning: String,
    /// By number of the person.
    pub values: Vec<Option<f64>>,
}

/// The evidence for everybody.
#[derive(Debug, Clone, PartialEq)]
pub enum Details {
    /// Of reviewers.
    Reviews(ReviewDetails),
    /// Of crowd workers.
    Labels(LabelDetails),
}

/// How much of the reviews is in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewText {
    /// Nothing.
    None,
    /// The sentences closest to Z and those with most support by peers, cut.
    Excerpts,
    /// Every sentence.
    Full,
}

/// The evidence for reviewers.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewDetails {
    /// Names of papers, by number.
    pub papers: Vec<String>,
    /// Names of sources of Z, by number.
    pub sources: Vec<String>,
    /// How much text there is.
    pub text: ReviewText,
    /// Characters after which sentences are cut, if they are.
    pub cut_after: Option<usize>,
    /// Similarity with Z above which a sentence is shaded lightly, more, and most.
    pub z_levels: Option<[f64; 3]>,
    /// The same for support by peers beyond Z.
    pub peer_levels: Option<[f64; 3]>,
    /// Per reviewer, per paper.
    pub people: Vec<Vec<ReviewDetail>>,
}

/// The evidence in one review.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReviewDetail {
    /// Number of the paper.
    pub paper: u32,
    /// The other reviews of the paper.
    pub peers: Vec<ShownPeer>,
    /// Number of the source of every Z, and the similarity with it.
    pub z: Vec<(u32, f64)>,
    /// Sentences in the order of the text.
    pub sentences: Vec<ShownSentence>,
    /// Sentences at the end of the text that were not compared.
    pub left_out: usize,
}

/// The similarity with one peer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShownPeer {
    /// Number of the peer.
    pub person: u32,
    /// As the reviews are.
    pub before: Option<f64>,
    /// Beyond Z.
    pub after: Option<f64>,
}

/// A sentence of a review.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownSentence {
    /// The sentence, cut if need be.
    pub text: String,
    /// Similarity with the closest sentence of Z.
    pub z_similarity: Option<f64>,
    /// Mean similarity with the closest sentence of each peer.
    pub peer_support: Option<f64>,
}

/// The evidence for crowd workers.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelDetails {
    /// Names of labels, by number.
    pub labels: Vec<String>,
    /// Names of the LLMs, by number.
    pub sources: Vec<String>,
    /// What the consensus is, in a sentence.
    pub consensus: String,
    /// Per worker.
    pub people: Vec<LabelDetail>,
}

/// The evidence for one worker.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LabelDetail {
    /// Per LLM: share of tasks with the same label, and tasks with a label of both.
    pub agreement: Vec<(Option<f64>, u64)>,
    /// What the worker says where the consensus says something.
    pub confusion: Confusion,
}

/// Counts of the label of the consensus against that of the worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confusion {
    /// Label of the consensus, label of the worker, tasks; most tasks first.
    pub cells: Vec<(u32, u32, u64)>,
    /// Tasks in cells that are left out.
    pub left_out: u64,
    /// Tasks of the worker without a consensus, since several labels tie.
    pub ties: u64,
}

/// A number with as many digits as are shown, `null` if there is none.
fn rounded(value: Option<f64>, decimals: i32) -> Value {
    let scale = 10_f64.powi(decimals);
    // Adding 0 turns -0 into 0.
    value
        .filter(|value| value.is_finite())
        .map_or(Value::Null, |v| json!((v * scale).round() / scale + 0.0))
}

/// Digits of scores in the file; three are shown, the others tell neighbours apart when sorting.
const SCORE_DECIMALS: i32 = 6;

/// Digits of similarities of sentences and reviews.
const SIMILARITY_DECIMALS: i32 = 3;

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
            "details": details,
        })
    }

    /// The evidence of a person as the script reads it.
    pub(super) fn detail(&self, person: usize) -> Value {
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
                ])
            })
            .collect();
        json!({ "name": self.name, "meaning": self.meaning, "rows": rows })
    }
}

impl Measure {
    fn index(&self) -> Value {
        let values: Vec<Value> =
            self.values.iter().map(|&value| rounded(value, SCORE_DECIMALS)).collect();
        json!({ "name": self.name, "meaning": self.meaning, "values": values })
    }
}

impl ReviewDetails {
    fn index(&self) -> Value {
        json!({
            "papers": self.papers,
            "sources": self.sources,
            "text": self.text,
            "cutAfter": self.cut_after,
            "zLevels": self.z_levels,
            "peerLevels": self.peer_levels,
        })
    }
}

impl ReviewDetail {
    fn value(&self) -> Value {
        let number = |value: Option<f64>| rounded(value, SIMILARITY_DECIMALS);
        let peers: Vec<Value> = self
            .peers
            .iter()
            .map(|peer| json!([peer.person, number(peer.before), number(peer.after)]))
            .collect();
        let z: Vec<Value> =
            self.z.iter().map(|&(source, value)| json!([source, number(Some(value))])).collect();
        let sentences: Vec<Value> = self
            .sentences
            .iter()
            .map(|s| json!([s.text, number(s.z_similarity), number(s.peer_support)]))
            .collect();
        json!([self.paper, peers, z, sentences, self.left_out])
    }
}

impl LabelDetails {
    fn index(&self) -> Value {
        json!({ "labels": self.labels, "sources": self.sources, "consensus": self.consensus })
    }
}

impl LabelDetail {
    fn value(&self) -> Value {
        let agreement: Vec<Value> = self
            .agreement
            .iter()
            .map(|&(share, tasks)| json!([rounded(share, SIMILARITY_DECIMALS), tasks]))
            .collect();
        let Confusion { cells, left_out, ties } = &self.confusion;
        json!([agreement, cells, left_out, ties])
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
