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
