//! Detection of low-effort reviewers made from real reviews: the figures that the project promises
//! for the combined score.
//!
//! Its formula was chosen on a random half of the papers (`docs/results.md`). The data
//! are not part of the project, so the tests are ignored unless asked for, and fail without them.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failed step fails the test, and the figures are said"
)]

use std::path::Path;

use caz::for_tests::{
    AucSummary, Embedder, NoProgress, ReviewSet, ReviewersSettings, ScoreVariant, StaticModel,
    TextUnit, embed_texts, read_reviews, reviewers,
};
use caz::{Duplicates, Source};

fn real_data() -> ReviewSet {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/reviews-iclr24");
    let read = |name| Source::read(&folder.join(name)).unwrap();
    read_reviews(&read("reviews.jsonl"), &[read("z.jsonl")], Duplicates::Error).unwrap().set
}

/// Mean AUC, and its 10 % quantile, that `combined` must reach.
struct Promise {
    mean: f64,
    low: f64,
}

/// Embeds the set once, and holds `combined` to the promise on every second paper (reviewers of
/// these papers alone) and on all papers, in so many trials per source of Z.
fn hold(embedder: &dyn Embedder, promise: &Promise, repetitions: u32) {
    let set = real_data();
    let contents = set.reviews.iter().map(|r| &r.content).chain(set.z.iter().map(|z| &z.content));
    let texts: Vec<&str> = contents.map(|content| content.text.as_deref().unwrap()).collect();
    let embedded = embed_texts(embedder, &texts, TextUnit::Sentence, &NoProgress).unwrap();
    let settings = |papers: Vec<u32>| ReviewersSettings {
        papers_per_reviewer: vec![5],
        z_sources: vec![vec![0], vec![1]],
        copy_z: false,
        reword_copies: false,
        rewriting: None,
        papers,
        reviews_per_paper: 3,
        shares: (0.0, 0.1),
        z_coverage: 1.0,
        scores: ScoreVariant::MAIN.to_vec(),
        seed: 1,
    };
    let papers = 0..u32::try_from(set.papers.len()).unwrap();
    let odd: Vec<u32> = papers.clone().filter(|paper| paper % 2 == 1).collect();
    for (name, papers) in [("every second paper", odd), ("all papers", papers.collect())] {
        let settings = settings(papers);
        let trials =
            reviewers(&set, &embedded.vectors, &settings, repetitions, None, &NoProgress).unwrap();
        let mut mixed = Vec::new();
        for (index, score) in settings.scores.iter().enumerate() {
            let of = |kind: usize| AucSummary::of(trials.iter().map(|t| t.aucs[index][kind]));
            let cells = [0, 1, 2, 3].map(|kind| {
                let summary = of(kind);
                format!("{:.3} ({:.2})", summary.mean.unwrap(), summary.low.unwrap())
            });
            let (embedder, trials) = (embedder.name(), trials.len());
            let cells = cells.join(" | ");
            eprintln!("{embedder}, {name}, {trials} trials, {:18} | {cells}", score.as_str());
            mixed.push((*score, of(0)));
        }
        let of = |score| mixed.iter().find(|(other, _)| *other == score).unwrap().1;
        let combined = of(ScoreVariant::Combined);
        assert!(combined.mean.unwrap() >= promise.mean, "{combined:?}");
        assert!(combined.low.unwrap() >= promise.low, "{combined:?}");
        let projected = of(ScoreVariant::ProjectedCentered);
        assert!(combined.mean.unwrap() > projected.mean.unwrap() + 0.05, "{projected:?}");
    }
}

#[test]
#[ignore = "needs the real reviews in ../shared/data"]
fn the_combined_score_with_static_vectors_holds_its_promise() {
    hold(&StaticModel::bundled(), &Promise { mean: 0.96, low: 0.90 }, 20);
}

#[cfg(feature = "bert")]
#[test]
#[ignore = "needs the real MiniLM in CAZ_TEST_MINILM and the real reviews in ../shared/data"]
fn the_combined_score_with_minilm_holds_its_promise() {
    hold(&super::minilm::minilm(), &Promise { mean: 0.98, low: 0.95 }, 10);
}
