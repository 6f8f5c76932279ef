//! `caz reviews --canaries`: a column with the phrases of papers that reviews repeat, and how well the score
//! own did on those reviews.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, json};

use super::canary::read_plan;
use super::common::Common;
use crate::data::reviews::ReviewSet;
use crate::error::Result;
use crate::report::{Cell, Input, Report, Table};
use crate::screen::ReviewsRun;
use crate::screen::reviews::By;
use crate::stats::interval::Share;
use crate::text::canary::{Dictionary, ReviewFindings, check};
use crate::text::own::OwnFlag;

/// Where the plan is.
#[derive(Debug, Default, Args)]
pub(super) struct CanaryColumnArgs {
    /// The plan of `caz canary make`: flag look who repeats a paper's phrases
    #[arg(long, value_name = "FILE", conflicts_with_all = ["explain", "dry_run"])]
    pub(super) canaries: Option<PathBuf>,
}

/// Canary reviews, by whether the score own flags them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Count {
    looked: usize,
    judged: usize,
}

impl CanaryColumnArgs {
    /// The report with the column, where a plan is given.
    pub(super) fn joined(
        &self,
        report: Report,
        run: &ReviewsRun,
        common: &Common,
    ) -> Result<Report> {
        let Some(path) = &self.canaries else { return Ok(report) };
        let (plan, source) = read_plan(path, common)?;
        let set = run.set();
        let texts: Vec<(&str, &str)> = set
            .reviews
            .iter()
            .map(|review| {
                let text = review.content.text.as_deref().unwrap_or_default();
                (set.papers.name(review.paper), text)
            })
            .collect();
        let found = check(&plan, &Dictionary::bundled(), &texts)?;
        let by_review = run.asked().by == By::Review;
        let mut report = report;
        report.table = with_column(&report.table, set, &found.reviews, by_review);
        report.inputs.push(Input::new(&source, plan.papers.len() as u64));
        let flags = run.own().map(|own| {
            let flags = own.reviews.iter().map(|review| review.flag);
            counts(flags.zip(&found.reviews))
        });
        let all: Vec<usize> =
            (0..found.reviews.len()).filter(|&at| found.reviews[at].all_found()).collect();
        let mut people: Vec<u32> = all.iter().map(|&at| set.reviews[at].reviewer).collect();
        people.sort_unstable();
        people.dedup();
        let said = format!(
            "Canaries: {} of {} by {} have every phrase that was hidden in their paper ({} expected by chance).",
            all.len(),
            set.nouns.texts(texts.len()),
            set.nouns.people(people.len()),
            super::canary::small(found.expected_all),
        );
        let headline =
            report.table.headline().map_or(said.clone(), |first| format!("{first} {said}"));
        report.table.set_headline(headline);
        if let Some([with, without]) = flags {
            report.footer.insert(0, sentence(with, without));
            let mut summary = report.table.summary().clone();
            summary.insert("canaries".into(), json!(summary_of(&[with, without])));
            report.table.set_summary(summary);
        }
        Ok(report)
    }
}

/// Of the reviews that the score own judged: those with every phrase of their paper, and the others of
/// papers that have some.
fn counts<'a>(reviews: impl Iterator<Item = (OwnFlag, &'a ReviewFindings)>) -> [Count; 2] {
    let mut counts = [Count::default(); 2];
    for (flag, review) in reviews.filter(|(_, review)| review.planned > 0) {
        // A part of the phrases is neither.
        let is_clean = review.found.is_empty() && review.near.is_empty();
        let place = match (review.all_found(), is_clean) {
            (true, _) => &mut counts[0],
            (false, true) => &mut counts[1],
            (false, false) => continue,
        };
        if flag != OwnFlag::NotJudged {
            place.judged += 1;
            place.looked += usize::from(flag == OwnFlag::Look);
        }
    }
    counts
}

fn summary_of(counts: &[Count; 2]) -> Map<String, serde_json::Value> {
    let names = ["with_phrases", "without_phrases"];
    let one = |(name, count): (&str, &Count)| {
        let share = share(*count);
        let value = json!({
            "judged": count.judged,
            "look": count.looked,
            "share": share.map(|share| share.value),
            "share_low": share.map(|share| share.interval.0),
            "share_high": share.map(|share| share.interval.1),
        });
        (name.to_owned(), value)
    };
    names.into_iter().zip(counts).map(one).collect()
}

/// The share that is flagged; `None` where nothing was judged.
fn share(count: Count) -> Option<Share> {
    Share::wilson(count.looked as f64 / count.judged as f64, count.judged as f64)
}

fn sentence(with: Count, without: Count) -> String {
    let words = |count: Count| match share(count) {
        None => "none that were judged".into(),
        Some(Share { interval: (low, high), .. }) => format!(
            "{} of {} flagged look (95 % interval {:.0} to {:.0} %)",
            count.looked,
            count.judged,
            100.0 * low,
            100.0 * high
        ),
    };
    format!(
        "How the score own does here: of reviews with every phrase of their paper, {}; of those with none, \
         {}, among whom there may be copies without a phrase.",
        words(with),
        words(without)
    )
}

/// What a review repeats, in a cell.
fn told(review: &ReviewFindings) -> Option<String> {
    let quoted: Vec<String> = review.found.iter().map(|phrase| format!("\"{phrase}\"")).collect();
    let (found, planned) = (review.found.len(), review.planned);
    let near = review.near.len();
    match (found, near) {
        (0, 0) => None,
        _ if review.all_found() => Some(quoted.join(", ")),
        (0, near) => Some(format!("{near} of {planned} with a word changed")),
        _ => Some(format!("{found} of {planned}: {}", quoted.join(", "))),
    }
}

/// The table with a column of phrases, those with every phrase of a paper first and flagged look.
fn with_column(table: &Table, set: &ReviewSet, found: &[ReviewFindings], by_review: bool) -> Table {
    let place = |name: &str| table.columns().iter().position(|column| *column == name);
    let text = |row: &[Cell], name: &str| match place(name).map(|at| &row[at]) {
        Some(Cell::Text(text)) => text.clone(),
        _ => String::new(),
    };
    let mut of_people: Vec<Vec<usize>> = vec![Vec::new(); set.reviewers.len()];
    for (at, review) in set.reviews.iter().enumerate() {
        of_people[review.reviewer as usize].push(at);
    }
    let of_row = |row: &[Cell]| -> Vec<&ReviewFindings> {
        let paper = set.papers.get(&text(row, "paper"));
        let person = set.reviewers.get(&text(row, "reviewer"));
        let reviews = person.map(|person| &of_people[person as usize]);
        let reviews = reviews.into_iter().flatten();
        let reviews = reviews.filter(|&&at| !by_review || Some(set.reviews[at].paper) == paper);
        reviews.map(|&at| &found[at]).collect()
    };
    let mut columns = table.columns().to_vec();
    columns.push("canaries");
    let mut joined = Table::new(&columns);
    let count = if by_review { set.reviews.len() } else { set.reviewers.len() };
    for rows in table.rows().chunks(count.max(1)) {
        let mut rows: Vec<(bool, Vec<Cell>)> = rows
            .iter()
            .map(|row| {
                let reviews = of_row(row);
                let all = reviews.iter().any(|review| review.all_found());
                let told: Vec<String> = reviews.iter().filter_map(|review| told(review)).collect();
                let mut row = row.clone();
                if let Some(flag) = place("flag").filter(|_| all) {
                    row[flag] = "look".into();
                }
                row.push(if told.is_empty() { Cell::Missing } else { told.join("; ").into() });
                (!all, row)
            })
            .collect();
        rows.sort_by_key(|(is_other, _)| *is_other);
        rows.into_iter().for_each(|(_, row)| joined.push(row));
    }
    joined.set_summary(table.summary().clone());
    if let Some(headline) = table.headline() {
        joined.set_headline(headline.to_owned());
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review(found: usize, near: usize, planned: usize) -> ReviewFindings {
        let phrases = |count| vec!["one two three".to_owned(); count];
        ReviewFindings::of(phrases(found), phrases(near), planned)
    }

    #[test]
    fn what_own_says_of_reviews_with_and_without_phrases_is_counted() {
        let reviews = [
            (OwnFlag::Look, review(2, 0, 2)),
            (OwnFlag::Unsure, review(2, 0, 2)),
            (OwnFlag::NotJudged, review(2, 0, 2)),
            (OwnFlag::Look, review(1, 0, 2)),
            (OwnFlag::Look, review(0, 0, 2)),
            (OwnFlag::Clear, review(0, 0, 2)),
            (OwnFlag::Clear, review(0, 0, 2)),
            (OwnFlag::Look, review(0, 0, 0)),
        ];
        let found = counts(reviews.iter().map(|(flag, review)| (*flag, review)));
        assert_eq!(found, [Count { looked: 1, judged: 2 }, Count { looked: 1, judged: 3 }]);
        assert_eq!(told(&review(0, 0, 2)), None);
        assert_eq!(told(&review(2, 0, 2)).unwrap(), "\"one two three\", \"one two three\"");
        assert_eq!(told(&review(1, 1, 2)).unwrap(), "1 of 2: \"one two three\"");
        assert_eq!(told(&review(0, 1, 2)).unwrap(), "1 of 2 with a word changed");
        let none = sentence(Count::default(), found[1]);
        assert!(none.contains("none that were judged") && none.contains("1 of 3"), "{none}");
    }
}
