//! How good judges of pairs are, from recorded verdicts: right, consistent, biased, and at what cost.
//!
//! A judge says which of two answers is better, `a`, `b` or neither. Verdicts name the sides as the
//! pair does, whichever was shown first. Every pair may be judged in both orders; a verdict that
//! changes with the order counts as a tie and as a flip. A verdict that could not be read is
//! missing: counted, never a class. Intervals draw whole clusters of pairs.
//!
//! [`verdicts`] reads, [`tally`] counts and measures, [`bias`] fits what the length of an answer
//! does, [`compare`] sets one judge against another, [`panel`] lets several decide together, [`transcripts`] reads
//! what was said, [`study()`] puts it together.

pub(crate) mod bias;
pub(crate) mod compare;
mod error;
mod family;
#[cfg(feature = "html")]
mod page;
pub(crate) mod panel;
mod row;
pub(crate) mod study;
pub(crate) mod tally;
#[cfg(test)]
mod tests;
pub(crate) mod transcripts;
pub(crate) mod verdicts;

use serde::{Deserialize, Serialize};

pub(crate) use self::error::JudgesError;
pub(crate) use self::study::study;
pub(crate) use self::verdicts::Files;
use crate::metrics::agreement::bootstrap::DRAWS;

/// Settings of the study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct JudgesSettings {
    /// Judges to measure; none: all. Names of [`panel::Panel`] are what the others decide together. Where the pairs have no gold verdict, the majority of the
    /// other judges is the gold.
    pub methods: Vec<String>,
    /// Judges that every other one is compared with; none: `single`, and for each debate the
    /// `repeated` of the same cost.
    pub against: Vec<String>,
    /// What is drawn as one for intervals: each pair, or all pairs of an item.
    pub cluster: Cluster,
    /// Bootstrap draws behind every interval.
    pub draws: u32,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for JudgesSettings {
    fn default() -> Self {
        Self {
            methods: Vec::new(),
            against: Vec::new(),
            cluster: Cluster::Pair,
            draws: DRAWS,
            seed: 0,
        }
    }
}

/// What is drawn as one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Cluster {
    /// Each pair by itself.
    #[default]
    Pair,
    /// All pairs of the same item, such as the answers of several models to one question.
    Item,
    /// As a file says.
    File,
}
