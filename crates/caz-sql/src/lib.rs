//! Labels past the memory of one machine: the mechanisms as a plan of relational queries.
//!
//! What costs memory and time in `ca_z`, `ca`, `oa`, `oa_z`, `ds`, `neg_z` and majority vote is counting:
//! labels per task, pairs per stratum of Z, histograms and sums of terms per worker and stratum.
//! [`sql`] writes these counts as queries of built-in functions only (join, group by, count, sum,
//! case), so that any engine can do them; [`score()`] makes scores of their small results with the
//! code of [`caz::mechanism`]. An [`Engine`] answers the queries, wherever the labels are.
//!
//! What the plan has no queries for: standard errors of `ca` and `ca_z` (their influence functions
//! visit the tasks of all peers of a worker), `ds_z`, `own` and `excess_z`.

#[cfg(feature = "datafusion")]
mod parquet_files;
mod run;
mod scores;
#[cfg(feature = "datafusion")]
mod session;
pub mod sql;

pub use self::run::{EngineRun, labels_by_engine};
pub use self::scores::{Crowd, EngineScores, score};
#[cfg(feature = "datafusion")]
pub use self::session::{Place, Session};
use caz::for_caz_sql::Kinded;
use caz::{ErrorKind, MechanismName, Result};

/// Mechanisms that have a plan, in the order of tables.
pub const PLANNED: [MechanismName; 6] = [
    MechanismName::CaZ,
    MechanismName::Ca,
    MechanismName::Oa,
    MechanismName::OaZ,
    MechanismName::Ds,
    MechanismName::NegZ,
];

/// Largest number of pairs of labels on a task, per label, for which `oa` and `oa_z` are computed:
/// their cost is the number of pairs.
pub const MOST_PAIRS_PER_LABEL: u64 = 64;

/// What the tasks are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strata {
    /// The label of an LLM, for each LLM on its own; tasks without one are left out.
    Z,
    /// Nothing: one stratum of a source without a name holds every task.
    Whole,
}

impl Strata {
    /// How a mechanism divides the tasks.
    pub fn of(name: MechanismName) -> Self {
        if name.needs_z() { Self::Z } else { Self::Whole }
    }
}

/// Answers the queries of the plan.
///
/// Labels, workers and sources are names. No answer has an order that counts, and none has more
/// rows than there are workers times strata times sources, or strata times sizes of tasks times
/// pairs of labels.
pub trait Engine {
    /// Who labelled how much.
    ///
    /// # Errors
    ///
    /// What the engine reports.
    fn crowd(&mut self) -> Result<Crowd>;

    /// How many tasks of each stratum have how many labels.
    ///
    /// # Errors
    ///
    /// What the engine reports.
    fn sizes(&mut self, strata: Strata) -> Result<Vec<SizeCount>>;

    /// How many ordered pairs of labels of two workers on the same task there are.
    ///
    /// # Errors
    ///
    /// What the engine reports.
    fn pairs(&mut self, strata: Strata) -> Result<Vec<PairCount>>;

    /// The terms of correlated agreement, summed over the tasks of each worker in each stratum.
    /// `agreements` are the pairs of labels that count.
    ///
    /// # Errors
    ///
    /// What the engine reports.
    fn terms(&mut self, strata: Strata, agreements: &[Agreement]) -> Result<Vec<TermSum>>;

    /// Tasks of each worker that are in a stratum, how often the worker says what the LLM says
    /// there, and how many of them somebody else labelled.
    ///
    /// # Errors
    ///
    /// What the engine reports.
    fn covered(&mut self, strata: Strata) -> Result<Vec<Covered>>;

    /// Over the peers of each worker the shares of common tasks on which they agree beyond the LLM,
    /// added up.
    ///
    /// # Errors
    ///
    /// What the engine reports.
    fn output_agreement(&mut self, strata: Strata) -> Result<Vec<PeerSum>>;

    /// Whether what has been counted is kept, so that a fit can go on from it.
    fn keeps(&self) -> bool {
        true
    }

    /// Iteration `number` of Dawid-Skene, from 1 on, each after the one before: the log-likelihood
    /// by the posteriors that it began with. The first begins with the shares of the votes, also
    /// where there was another fit before.
    ///
    /// # Errors
    ///
    /// What the engine reports.
    fn dawid_skene(&mut self, number: usize) -> Result<f64>;

    /// How often every worker is right by the posteriors of the last iteration.
    ///
    /// # Errors
    ///
    /// What the engine reports.
    fn right(&mut self) -> Result<Vec<Right>>;
}

/// Number of tasks of one size in a stratum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeCount {
    /// The LLM; empty without Z.
    pub source: String,
    /// Its label; empty without Z.
    pub stratum: String,
    /// Labels per task.
    pub reports: u64,
    /// Number of such tasks.
    pub tasks: u64,
}

/// Number of ordered pairs of labels by two workers on tasks of one size in a stratum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairCount {
    /// The LLM; empty without Z.
    pub source: String,
    /// Its label; empty without Z.
    pub stratum: String,
    /// Labels per task, at least 2.
    pub reports: u64,
    /// Label of the one.
    pub label: String,
    /// Label of the other.
    pub peer_label: String,
    /// Number of pairs.
    pub pairs: u64,
}

/// A pair of labels that counts as agreement in a stratum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    /// The LLM; empty without Z.
    pub source: String,
    /// Its label; empty without Z.
    pub stratum: String,
    /// Label of the scored worker.
    pub label: String,
    /// Label of the peer.
    pub peer_label: String,
}

/// Terms of one worker in one stratum.
#[derive(Debug, Clone, PartialEq)]
pub struct TermSum {
    /// The LLM; empty without Z.
    pub source: String,
    /// Its label; empty without Z.
    pub stratum: String,
    /// The worker.
    pub worker: String,
    /// Tasks with a term, at least 1.
    pub tasks: u64,
    /// Sum of the terms.
    pub total: f64,
}

/// Tasks of one worker that are in a stratum of one LLM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Covered {
    /// The LLM; empty without Z.
    pub source: String,
    /// The worker.
    pub worker: String,
    /// Tasks in a stratum, at least 1.
    pub tasks: u64,
    /// Of these, where the worker says what the LLM says; 0 without Z.
    pub same: u64,
    /// Of these, with another worker.
    pub shared: u64,
}

/// What the peers of one worker add up to in output agreement.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerSum {
    /// The LLM; empty without Z.
    pub source: String,
    /// The worker.
    pub worker: String,
    /// Sum over peers of the share of common tasks on which both agree.
    pub total: f64,
}

/// How often one worker gives the label of the class, by Dawid-Skene.
#[derive(Debug, Clone, PartialEq)]
pub struct Right {
    /// The worker.
    pub worker: String,
    /// Mean over the classes, each with the share of its label among all labels; in [0, 1].
    pub share: f64,
}

/// Why an engine cannot score labels.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The mechanism has no plan.
    #[error("{name} has no plan for an engine; there are: {}", planned())]
    NotPlanned {
        /// The mechanism.
        name: MechanismName,
    },
    /// The mechanism goes on from what it has counted, which this engine does not keep.
    #[error(
        "{name} goes on from what it has counted, which a cluster keeps only in a folder that all of it shares; name one, or count it in one process"
    )]
    KeepsRelations {
        /// The mechanism.
        name: MechanismName,
    },
    /// There are too many pairs of labels.
    #[error(
        "{name} compares every two labels of a task: {pairs} pairs, more than {MOST_PAIRS_PER_LABEL} for each of {reports} labels"
    )]
    Quadratic {
        /// The mechanism.
        name: MechanismName,
        /// Ordered pairs of labels on a task.
        pairs: u64,
        /// Labels.
        reports: u64,
    },
}

impl Kinded for EngineError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotPlanned { .. } | Self::KeepsRelations { .. } => ErrorKind::Usage,
            Self::Quadratic { .. } => ErrorKind::Input,
        }
    }
}

/// The names of [`PLANNED`].
pub fn planned() -> String {
    PLANNED.map(MechanismName::as_str).join(", ")
}

/// An engine that follows the definitions of the queries, label by label.
#[cfg(test)]
mod naive;

#[cfg(test)]
mod tests;
