//! Settings of all mechanisms.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::sampled_agreement::PeerDraws;
use super::scoring_function::ScoringFunction;

/// Settings of all mechanisms; each takes those that are its own.
#[derive(Debug, Clone, Default)]
pub struct MechanismOptions {
    /// Of `ca` and `ca_z`.
    pub correlated_agreement: CorrelatedAgreementOptions,
    /// When the fits of `ds` and `ds_z` stop.
    pub em: EmSettings,
    /// What `ds_z` does with several LLMs.
    pub several_sources: SeveralSources,
    /// Of `own`.
    pub own: OwnSettings,
    /// Places of the labels on a scale, from 0 to 1 by number, those of Z included; none where labels are
    /// the same or not. Of `excess_z`; for `ca` and `ca_z` see [`ScoringFunction::Ordered`].
    pub places: Option<Arc<[f64]>>,
}

/// How several LLMs are used by a mechanism that can take them together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum SeveralSources {
    /// Condition on each source alone and keep the lowest score.
    #[default]
    Min,
    /// Each worker may copy from several sources.
    Together,
}

/// Settings of [`CorrelatedAgreement`](super::CorrelatedAgreement).
#[derive(Debug, Clone, Default)]
pub struct CorrelatedAgreementOptions {
    /// Where T comes from.
    pub scoring_function: ScoringFunction,
    /// Whose reports T is estimated from.
    pub learn_from: LearnFrom,
    /// Draw peers and penalty tasks as the algorithms do, instead of averaging over all.
    pub sampling: Option<PeerDraws>,
}

/// Whose reports the scoring function T of a worker is estimated from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum LearnFrom {
    /// All but the worker's own labels.
    #[default]
    Others,
    /// All labels, as in the paper.
    All,
}

/// Default of [`EmSettings::tolerance`].
pub(crate) const TOLERANCE: f64 = 1e-7;

/// Default of [`EmSettings::max_iterations`].
pub const MAX_ITERATIONS: usize = 200;

/// When a fit by expectation maximisation stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EmSettings {
    /// Least gain of the objective in one iteration, relative to its absolute value, or to 1 where that
    /// is smaller.
    pub tolerance: f64,
    /// Most iterations; a fit that stops here has not converged and says so.
    pub max_iterations: usize,
}

impl Default for EmSettings {
    fn default() -> Self {
        Self { tolerance: TOLERANCE, max_iterations: MAX_ITERATIONS }
    }
}

/// Settings of [`OwnAnswers`](super::OwnAnswers).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnSettings {
    /// False discovery rate of the workers flagged [`OwnFlag::Look`](super::OwnFlag::Look).
    pub false_discovery_rate: f64,
    /// Fewest tasks with Z and another worker; fewer are not judged.
    pub min_tasks: usize,
    /// Questions of each task, at least 1: so many in a row, all answered by whoever answers one.
    pub questions: usize,
}

impl Default for OwnSettings {
    fn default() -> Self {
        Self { false_discovery_rate: 0.05, min_tasks: 10, questions: 1 }
    }
}
