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

/// Five deviations by guesses, of somebody whose answers are confirmed as blind ones are.
fn measured(favourite: Option<Label>, constant: f64) -> Measured {
    let mut confirmed = Confirmed::default();
    confirmed.favourite = favourite;
    let copied = Copied {
        tasks: 20,
        in_common: 20,
        share: 0.0,
        variance: 0.01,
        ratios: [0.0, 9.0],
        dependence: Dependence::default(),
    };
    let (beyond, ghosts, from) = ([0.0, 5.0], [9.0; 2], [3.0, 0.0]);
    let (least_ghost, is_enough) = (9.0, false);
    Measured {
        worker: 0,
        copied,
        confirmed,
        beyond,
        ghosts,
        least_ghost,
        from,
        constant,
        is_enough,
    }
}

#[test]
fn who_gives_one_label_nearly_always_is_asked_for_that_and_not_for_guesses() {
    let counted = |favourite, constant| measured(favourite, constant).counted().map(Some);
    // Nothing is confirmed, as of blind answers: five deviations, of which one counts without a question.
    assert_eq!(counted(None, f64::NEG_INFINITY), [0.0, 5.0, f64::NEG_INFINITY].map(Some));
    assert_eq!(counted(Some(0), 0.5), [0.0, 1.0, 0.5].map(Some));
    assert_eq!(counted(Some(0), 4.0), [0.0, 1.0, 4.0].map(Some));
}

#[test]
fn p_values_are_how_often_people_come_so_far_at_either_question() {
    let one = measured(None, f64::NEG_INFINITY);
    let mut other = measured(Some(0), 2.5);
    // Would count as a copier from six deviations on, where who copies all has four and a half: never does.
    (other.from[0], other.ghosts[0]) = (6.0, 4.5);
    let found = p_values(&[one, other]);
    // One of both may copy as far as five, and from three on; both may guess or give one label.
    let tail = chance::tail;
    let expected = [(0.5 * tail(5.0), tail(5.0)), (0.5 * tail(3.0), tail(2.5))]
        .map(|(copies, guesses)| copies + guesses - copies * guesses);
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-15, "{found} {expected}");
    }
}
