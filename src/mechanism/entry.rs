//! What a mechanism says of itself to the catalogue.

use super::Mechanism;
use super::options::MechanismOptions;
use super::strata::Conditioning;
use crate::data::z::ZSource;

/// What a mechanism can do with several LLMs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Several {
    /// The lowest score over them counts.
    Lowest,
    /// It can take them together if asked to; otherwise the lowest score counts.
    Asked,
    /// It always takes them together.
    Together,
}

/// What a mechanism says of itself.
pub(super) struct Entry {
    /// The name on the command line and in results.
    pub(super) name: &'static str,
    /// What it is, in a few words.
    pub(super) summary: &'static str,
    /// What its score means and rewards, in half a sentence.
    pub(super) meaning: &'static str,
    /// Why a worker has no score.
    pub(super) unscored: &'static str,
    /// Whether it scores given an LLM's labels.
    pub(super) needs_z: bool,
    /// Whether it fits a model, with a number of iterations and a bootstrap for standard errors.
    pub(super) is_fitted: bool,
    /// What it does with several LLMs.
    pub(super) several: Several,
    /// Makes it. One source at a time, unless it takes several; none if it needs no Z.
    pub(super) build: fn(&[ZSource], &MechanismOptions) -> Box<dyn Mechanism>,
}

/// What an entry that needs Z conditions on: the only source it is given.
pub(super) fn conditioning(sources: &[ZSource]) -> Conditioning {
    match sources {
        [source] => Conditioning::on(source.conditioning()),
        _ => Conditioning::Nothing,
    }
}
