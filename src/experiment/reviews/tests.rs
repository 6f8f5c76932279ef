use super::*;
use crate::data::observer::Silent;
use crate::embed::vectors::DenseVectors;
use crate::simulate::reviews::tests::real;

fn loaded() -> LoadedReviews {
    LoadedReviews { set: real(16, 4), rows: Vec::new(), warnings: Vec::new() }
}

fn settings() -> ReviewTrialsSettings {
    ReviewTrialsSettings { k: vec![2], trials: 2, ..ReviewTrialsSettings::default() }
}

fn embedded(count: usize, stop_words: bool) -> EmbeddedContents {
    let mut vectors = DenseVectors::new(3);
    for index in 0..count {
        let of = |step: usize| ((index * step) % 11) as f64 + 0.5;
        vectors.push(&[of(3), of(5), of(7)]);
    }
    EmbeddedContents {
        vectors: Arc::new(Vectors::Dense(vectors)),
        embedder: "tfidf".into(),
        granularity: Some("text"),
        settings: Map::from_iter([("stop_words".to_owned(), stop_words.into())]),
        warnings: Vec::new(),
    }
}

#[test]
fn a_run_is_owned_and_can_go_to_another_thread() {
    fn is_free<T: Send + Sync + 'static>() {}
    is_free::<ReviewTrialsRun>();
    is_free::<super::super::crowd::CrowdRun>();
}

#[test]
fn more_trials_go_on_and_any_other_setting_is_another_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = TrialFile { path: folder.path().join("t.jsonl"), resume: true };
    let run = |settings: &ReviewTrialsSettings, stop_words: bool| {
        let trials = ReviewTrials::new(settings, loaded(), Vec::new())?;
        let count = trials.contents().len();
        trials.run(embedded(count, stop_words), Some(&file), &Silent)
    };
    let first = run(&settings(), false).unwrap();
    let more = run(&ReviewTrialsSettings { trials: 3, ..settings() }, false).unwrap();
    let points = first.trials.len() / 2;
    assert_eq!((first.trials.len(), more.trials.len()), (2 * points, 3 * points));
    assert_eq!(more.trials[..first.trials.len()], first.trials);
    assert_eq!(more.report().settings["trials"], 3);

    let refused = |settings: &ReviewTrialsSettings, stop_words| {
        let error = run(settings, stop_words).unwrap_err().to_string();
        assert!(error.contains("holds trials of another run"), "{error}");
    };
    refused(&settings(), true);
    refused(&ReviewTrialsSettings { seed: 1, ..settings() }, false);
    refused(&ReviewTrialsSettings { half: Half::First, ..settings() }, false);
    refused(&ReviewTrialsSettings { shares: (0.1, 0.1), ..settings() }, false);
    let making = MakingSettings { reviews_per_paper: 2, ..MakingSettings::default() };
    refused(&ReviewTrialsSettings { making, ..settings() }, false);
}

#[test]
fn settings_survive_the_way_through_json() {
    let made = ReviewTrialsSettings {
        making: MakingSettings {
            rewriting: Some((crate::simulate::rewording::Rewriting::Short(3), 0.5)),
            ..MakingSettings::default()
        },
        ..settings()
    };
    let text = serde_json::to_string(&made).unwrap();
    assert_eq!(serde_json::from_str::<ReviewTrialsSettings>(&text).unwrap(), made);
    let crowd =
        super::super::crowd::CrowdSettings::of(super::super::crowd::CrowdExperiment::SampleSize);
    let text = serde_json::to_string(&crowd).unwrap();
    let back: super::super::crowd::CrowdSettings = serde_json::from_str(&text).unwrap();
    assert_eq!(back, crowd);
}

#[test]
fn shares_that_are_none_are_refused() {
    let bad = ReviewTrialsSettings { shares: (0.0, 1.5), ..settings() };
    assert!(bad.check().unwrap_err().to_string().contains("a share of reviewers is 1.5"));
    let making = MakingSettings { z_coverage: f64::NAN, ..MakingSettings::default() };
    assert!(ReviewTrialsSettings { making, ..settings() }.check().is_err());
}
