//! Where reviewers stand, and where planted texts would.

use std::collections::BTreeMap;

use super::super::ReviewsRun;
use super::values::values;
use crate::report::plot::{ScatterChart, ScatterCloud, ScatterPoint};
use crate::text::own::{Class, Features, OwnScores};
use crate::text::score::ScoreName;

/// Most points of a cloud, spread evenly over it.
const MOST_GHOSTS: usize = 300;

/// Most people who are named in the figure.
const NAMED: usize = 12;

pub(super) fn scatter(run: &ReviewsRun) -> Option<(String, String)> {
    run.own().and_then(|own| of_own(run, own)).or_else(|| of_projected(run))
}

/// The figure of the score own: its two coordinates, each the mean over a person's reviews.
fn of_own(run: &ReviewsRun, own: &OwnScores) -> Option<(String, String)> {
    let of_people = own.reviews.iter().enumerate().map(|(review, found)| (review, &found.features));
    let people = means(run, of_people);
    if people.is_empty() {
        return None;
    }
    let said = |sentence: &str| run.set().nouns.said(sentence);
    let cloud = |class: Class, name: &str| {
        let ghosts = own.ghosts.iter().filter(|ghost| ghost.class == class);
        let points = means(run, ghosts.map(|ghost| (ghost.review, &ghost.features)));
        let step = points.len().div_ceil(MOST_GHOSTS).max(1);
        ScatterCloud { name: said(name), points: points.into_values().step_by(step).collect() }
    };
    let flagged = run.scores(ScoreName::Own);
    let flagged = flagged.iter().filter(|row| row.flag_word() == Some("look"));
    let points: Vec<ScatterPoint> =
        people.into_iter().map(|(person, (x, y))| ScatterPoint { person, x, y }).collect();
    let shown = points.len();
    let chart = ScatterChart {
        title: said("Where reviewers stand, and where planted texts would"),
        x_name: said("closer to the LLM's reviews of the paper than of others"),
        y_name: said("closer to peers on the paper than elsewhere"),
        corners: ["another paper?", "what the LLM says?"].map(said),
        points,
        clouds: vec![
            cloud(Class::Copy, "copies"),
            cloud(Class::Llm, "another LLM"),
            cloud(Class::OffTopic, "another paper"),
            cloud(Class::OffTopicLlm, "both"),
        ],
        named: flagged.take(NAMED).map(|row| (row.number, row.reviewer.clone())).collect(),
    };
    let caption = said(&format!(
        "One dot per reviewer ({shown}), those flagged named; point at it for the name, click it for \
         the evidence, or move with the arrow keys. Faint dots show where a reviewer of this venue \
         would stand who hands in such texts. Copiers lie on the right, at any height."
    ));
    Some((chart.svg(), caption))
}

/// Mean coordinates by reviewer, the LLM's first, of texts in slots of reviews.
fn means<'a>(
    run: &ReviewsRun,
    texts: impl Iterator<Item = (usize, &'a Features)>,
) -> BTreeMap<usize, (f64, f64)> {
    let mut sums: BTreeMap<usize, (f64, f64, f64)> = BTreeMap::new();
    for (review, features) in texts {
        let Some((z, peers)) = features.z.zip(features.peers) else { continue };
        let sum = sums.entry(run.set().reviews[review].reviewer as usize).or_default();
        *sum = (sum.0 + z, sum.1 + peers, sum.2 + 1.0);
    }
    sums.into_iter().map(|(who, (z, peers, count))| (who, (z / count, peers / count))).collect()
}

/// The figure where own was not asked for.
fn of_projected(run: &ReviewsRun) -> Option<(String, String)> {
    let pairs = values(run, ScoreName::Negative, -1.0).into_iter().zip(values(
        run,
        ScoreName::Projected,
        1.0,
    ));
    let points: Vec<ScatterPoint> = pairs
        .enumerate()
        .filter_map(|(person, (x, y))| Some(ScatterPoint { person, x: x?, y: y? }))
        .collect();
    if points.is_empty() {
        return None;
    }
    let said = |sentence: &str| run.set().nouns.said(sentence);
    let shown = points.len();
    let chart = ScatterChart {
        title: "Close to the LLM, and supported by peers beyond it".into(),
        x_name: said("similarity with the LLM's reviews"),
        y_name: "similarity with peers beyond the LLM".into(),
        corners: ["off topic?".into(), "says what the LLM says?".into()],
        points,
        ..ScatterChart::default()
    };
    let caption = said(&format!(
        "One dot per reviewer ({shown}); point at it for the name, click it for the evidence, or move \
         with the arrow keys. Low means: nothing that peers say too was found beyond the LLM."
    ));
    Some((chart.svg(), caption))
}
