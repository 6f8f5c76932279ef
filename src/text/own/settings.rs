//! What a user may choose about `own`, and the few constants of the model.

use serde::{Deserialize, Serialize};

/// Settings of [`super::own_scores`]; two runs with the same settings and texts give the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OwnSettings {
    /// Highest mean of P(own) among the flagged: the expected share of false alarms.
    pub fdr: f64,
    /// Reviews with fewer words are not judged, and Z with fewer words is not used.
    pub(crate) min_words: usize,
    /// Seed of the draws of ghosts.
    pub seed: u64,
    /// Ghosts stand in every slot of a venue with at most so many reviews, in larger ones in a
    /// seeded sample of so many slots: densities in two dimensions need no more.
    pub(crate) ghost_slots: usize,
    /// Whether texts in another language than most are left out.
    pub(crate) check_language: bool,
}

impl Default for OwnSettings {
    fn default() -> Self {
        Self { fdr: 0.05, min_words: 20, seed: 0, ghost_slots: 5_000, check_language: true }
    }
}

/// In a venue with fewer reviewers there is no scale of what people write: nobody is clear.
pub(crate) const ENOUGH_REVIEWERS: usize = 20;

/// In a venue with fewer papers that have Z there is little to say what a text about another one looks like, or how close
/// people come to Z: nobody is clear.
pub(crate) const ENOUGH_PAPERS: usize = 10;

/// Reviews of one paper whose cosine is above this are not each other's peers: cheaters who hand in
/// the same text must not vouch for each other.
pub(super) const NEAR_DUPLICATE: f64 = 0.85;

/// Papers with two different Z from which on the venue's own texts replace the assumed ratio.
pub(super) const FEWEST_DOUBLE_PAPERS: usize = 10;

/// P(own) from which on somebody can be clear.
pub(super) const CLEAR: f64 = 0.8;

/// Share of an LLM's texts in somebody's place that must be seen before they can be clear.
pub(super) const SEEN: f64 = 0.75;

/// Share of a review's words that stand in a Z from which on it is worth a look, and from which on it is
/// not clear.
pub(super) const COPIED: [f64; 2] = [0.5, 0.2];

/// P(own) of a review that is copied word for word: nothing says more, so that whoever copies comes before
/// whoever a model suspects; not 0, which has no logarithm.
pub(super) const OWN_IF_COPIED: f64 = 1e-300;

/// Where reviews, or Z, have fewer words in the median, how many cheat cannot be said: of cut texts the
/// interval held the true share in three of five venues, of longer ones in nineteen of twenty.
pub(super) const COUNTED_WORDS: usize = 70;

/// Of people with a single answer of fewer words, and fewer than so many Z, only copies are worth a look.
pub(super) const SHORT_ANSWER: (usize, usize) = (100, 5);
