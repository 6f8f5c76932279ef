mod by_hand;
mod crowds;

use proptest::prelude::*;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::data::z::{ZSample, ZSource};
use crate::mechanism::fixtures::{numbered, real_crowd};
use crate::mechanism::tests::random_crowd;
use crate::stats::seed::stream;

type Labels = Vec<Option<Label>>;

/// One source with these samples.
fn source(samples: &[Labels]) -> ZSource {
    let samples = samples
        .iter()
        .map(|labels| ZSample { name: String::new(), labels: labels.clone() })
        .collect();
    ZSource { name: "llm".into(), samples }
}

fn judge(table: &LabelTable, samples: &[Labels]) -> OwnRun {
    OwnAnswers::new(&[source(samples)], OwnSettings::default()).judge(table).unwrap()
}

fn looked(run: &OwnRun) -> Vec<usize> {
    (0..run.workers.len()).filter(|&w| run.workers[w].flag == OwnFlag::Look).collect()
}

#[test]
fn who_gives_one_label_nearly_always_is_asked_for_that_and_not_for_guesses() {
    let counted = |favourite, constant| {
        let mut confirmed = Confirmed::default();
        confirmed.favourite = favourite;
        let copied = Copied { tasks: 20, share: 0.0, variance: 0.01, ratios: [0.0, 9.0] };
        let (beyond, ghosts, from) = ([0.0, 5.0], [9.0; 2], [3.0, 0.0]);
        let one = Measured {
            worker: 0,
            copied,
            confirmed,
            beyond,
            ghosts,
            from,
            constant,
            is_enough: false,
        };
        one.counted().map(Some)
    };
    // Nothing is confirmed, as of blind answers: five deviations, of which one counts without a question.
    assert_eq!(counted(None, f64::NEG_INFINITY), [0.0, 5.0, f64::NEG_INFINITY].map(Some));
    assert_eq!(counted(Some(0), 0.5), [0.0, 1.0, 0.5].map(Some));
    assert_eq!(counted(Some(0), 4.0), [0.0, 1.0, 4.0].map(Some));
}
