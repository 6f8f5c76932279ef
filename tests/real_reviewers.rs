//! Detection of low-effort reviewers made from real reviews: the figures that the project promises
//! for the combined score.
//!
//! Its formula was chosen on a random half of the papers (`docs/results.md`). The data
//! are not part of the project; where they are missing the test says so.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failed step fails the test, and what was not run is said"
)]

use std::path::Path;

use caz::data::duplicates::Duplicates;
use caz::data::progress::NoProgress;
use caz::data::reviews::{ReviewSet, read_reviews};
use caz::data::source::Source;
use caz::experiment::auc_summary::AucSummary;
use caz::experiment::reviewers::{ReviewersSettings, ScoreVariant, reviewers};
use caz::text::embed::static_model::StaticModel;
use caz::text::pooling::{TextUnit, embed_texts};

fn real_data() -> Option<ReviewSet> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/reviews-iclr24");
    if !folder.is_dir() {
        eprintln!("NOT RUN on real reviews: there is no {}", folder.display());
        return None;
    }
    let read = |name| Source::read(&folder.join(name)).unwrap();
    Some(read_reviews(&read("reviews.jsonl"), &[read("z.jsonl")], Duplicates::Error).unwrap().set)
}

#[test]
fn the_combined_score_with_static_vectors_holds_its_promise() {
    let Some(set) = real_data() else { return };
    let contents = set.reviews.iter().map(|r| &r.content).chain(set.z.iter().map(|z| &z.content));
    let texts: Vec<&str> = contents.map(|content| content.text.as_deref().unwrap()).collect();
    let embedded =
        embed_texts(&StaticModel::bundled(), &texts, TextUnit::Sentence, &NoProgress).unwrap();
    let settings = |papers: Vec<u32>| ReviewersSettings {
        papers_per_reviewer: vec![5],
        z_sources: vec![0, 1],
        papers,
        reviews_per_paper: 3,
        shares: (0.0, 0.1),
        z_coverage: 1.0,
        scores: ScoreVariant::EACH.to_vec(),
        seed: 1,
    };
    let papers = 0..u32::try_from(set.papers.len()).unwrap();
    let odd: Vec<u32> = papers.clone().filter(|paper| paper % 2 == 1).collect();
    for (name, papers) in [("every second paper", odd), ("all papers", papers.collect())] {
        let settings = settings(papers);
        let trials = reviewers(&set, &embedded.vectors, &settings, 20, None, &NoProgress).unwrap();
        let mut mixed = Vec::new();
        for (index, score) in settings.scores.iter().enumerate() {
            let of = |kind: usize| AucSummary::of(trials.iter().map(|t| t.aucs[index][kind]));
            let cells = [0, 1, 2, 3].map(|kind| {
                let summary = of(kind);
                format!("{:.3} ({:.2})", summary.mean.unwrap(), summary.low.unwrap())
            });
            eprintln!("{name}, {:18} | {}", score.as_str(), cells.join(" | "));
            mixed.push((*score, of(0)));
        }
        let of = |score| mixed.iter().find(|(other, _)| *other == score).unwrap().1;
        let combined = of(ScoreVariant::Combined);
        assert!(combined.mean.unwrap() >= 0.96 && combined.low.unwrap() >= 0.90, "{combined:?}");
        let projected = of(ScoreVariant::ProjectedCentered);
        assert!(combined.mean.unwrap() > projected.mean.unwrap() + 0.05, "{projected:?}");
    }
}
