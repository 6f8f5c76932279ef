//! Figures of the experiment on reviews.

use super::ReviewTrialsRun;
use crate::error::Result;
use crate::experiment::auc_summary::AucSummary;
use crate::experiment::figures::{Figure, bars};
use crate::experiment::trials::TrialGrid;
use crate::report::plot::{DistributionChart, Kind};
use crate::simulate::reviews::ReviewerKind;

/// Repetitions whose scores are drawn.
const SHOWN_REPETITIONS: u32 = 5;

/// AUCs of every `k`, and the scores in a few trials.
pub(super) fn figures(run: &ReviewTrialsRun) -> Result<Vec<Figure>> {
    let settings = &run.grid;
    let aucs = |k: usize| {
        let all = settings.scores.iter().enumerate().map(|(score, name)| {
            let of_k = run.kept(move |other, _| other == k);
            (name.as_str().to_owned(), AucSummary::of(of_k.map(|trial| trial.aucs[score][0])))
        });
        let title = format!("Reviewers of {k} papers told from low-effort ones");
        Figure { name: format!("reviews-k{k}.svg"), svg: bars(&title, all.collect()) }
    };
    let mut figures: Vec<_> = settings.papers_per_reviewer.iter().map(|&k| aucs(k)).collect();
    // One trial has few cheaters; the first ones with the first k, given each Z, have enough.
    let repetitions = run.settings.trials.min(SHOWN_REPETITIONS);
    let points = u32::try_from(settings.z_sources.len()).expect("fewer sources than reviews");
    let ids = TrialGrid { points, repetitions }.ids();
    let (set, vectors) = (&run.loaded.set, &run.embedded.vectors);
    let shown =
        ids.map(|id| settings.trial_scores(set, vectors, id)).collect::<Result<Vec<_>, _>>()?;
    for (index, score) in settings.scores.iter().enumerate() {
        let of = |kind: ReviewerKind| {
            let all = shown.iter().flat_map(|(kinds, scores)| kinds.iter().zip(&scores[index]));
            let scores = all.filter(|(other, _)| **other == kind).filter_map(|(_, score)| *score);
            Kind { name: kind.as_str().into(), scores: scores.collect() }
        };
        let all = std::iter::once(ReviewerKind::Human).chain(ReviewerKind::LOW_EFFORT);
        let name = score.as_str();
        let k = settings.point(0).0;
        let chart = DistributionChart {
            title: format!("Scores in {} trials, reviewers of {k} papers", shown.len()),
            x_name: format!("{name} score; box: quartiles, bar: median"),
            kinds: all.map(of).collect(),
        };
        figures.push(Figure { name: format!("scores-{name}.svg"), svg: chart.svg() });
    }
    Ok(figures)
}
