//! How often a worker gives the most common label: what tells nearly always the same answer from
//! answers that agree with nobody for another reason.

use statrs::function::beta::ln_beta;

use super::crowd::CONSTANT;
use crate::data::labels::Label;

/// How far people differ in how often they give the most common label, as a standard deviation: someone
/// who gives it for every third answer besides is a person.
const PEOPLE_SD: f64 = 0.2;

/// How often, of how many answers, and how often a person would on these tasks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Repeated {
    pub(super) times: f64,
    pub(super) answers: f64,
    pub(super) expected: f64,
}

impl Repeated {
    /// Log of how much likelier that is of a constant answer than of a person, for so many `labels`: a
    /// binomial against a beta-binomial distribution.
    pub(super) fn log_ratio(&self, labels: usize) -> f64 {
        if labels < 2 {
            return 0.0;
        }
        let constant = CONSTANT + (1.0 - CONSTANT) / labels as f64;
        let (hits, misses) = (self.times, self.answers - self.times);
        let mean = self.expected.clamp(0.01, 0.99);
        // The parameters of the beta distribution sum to this; at least a uniform one's.
        let total = (mean * (1.0 - mean) / (PEOPLE_SD * PEOPLE_SD) - 1.0).max(2.0);
        let (a, b) = (mean * total, (1.0 - mean) * total);
        let people = ln_beta(hits + a, misses + b) - ln_beta(a, b);
        hits * constant.ln() + misses * (1.0 - constant).ln() - people
    }
}

/// How often `most` is among the answers, if none is more common; `None` where the worker has another
/// favourite, of which this says nothing.
pub(super) fn times(answers: &mut [Label], most: Label) -> Option<f64> {
    let times = answers.iter().filter(|&&label| label == most).count();
    if 2 * times < answers.len() {
        answers.sort_unstable();
        let runs = answers.chunk_by(|a, b| a == b);
        if runs.map(<[Label]>::len).max().is_some_and(|longest| longest > times) {
            return None;
        }
    }
    Some(times as f64)
}
