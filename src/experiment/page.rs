//! The page of an experiment: the table and the figures.

use super::figures::Figure;
use crate::report::Report;
use crate::report::html::{Page, ShownTable};

/// The page; `caption` says what stands under a figure.
pub(super) fn page(
    title: &str,
    report: &Report,
    figures: &[Figure],
    caption: &dyn Fn(&Figure) -> String,
) -> Page {
    let first = report.footer.first().map(String::as_str);
    Page {
        title: title.into(),
        lead: report.table.headline().into_iter().chain(first).map(str::to_owned).collect(),
        reading: reading(),
        figures: figures.iter().map(|figure| (figure.svg.clone(), caption(figure))).collect(),
        table: ShownTable::Open,
        ..Page::default()
    }
}

fn reading() -> Vec<String> {
    [
        "Cheaters were made up from your own data, so it is known who they are; the numbers say \
         how well each score finds them.",
        "AUC is the probability that somebody honest scores above somebody who is not: 1 is \
         perfect, 0.5 is chance, below 0.5 the score rewards cheating.",
        "q10_auc is the bad day: one trial in ten is worse; it matters more than the mean if you \
         run this once.",
        "Rows without a share, source or kind are over all of them.",
        "Real cheaters may do what this simulation does not; the numbers speak of simulated ones.",
    ]
    .map(str::to_owned)
    .to_vec()
}
