//! What feedback over several turns is worth, after MINT (Wang et al., ICLR 2024).
//!
//! A run is one item worked on within a budget of turns, with feedback of a provider and of a kind,
//! or with none. `SR_k` is the share solved within a budget of k turns. Two numbers go by that name:
//! that of runs made with a budget of k (`sr_k`), as MINT does, and that of the runs with the
//! largest budget looked at after k turns (`sr_cut_k`). A model that knows its budget works
//! differently, so they differ.
//!
//! The gain of feedback is the share solved with it minus the share without, on the same items. It
//! means little alone: a second try without any information also helps. Where there are runs whose
//! feedback only says "please check again", the gain over those is given too.

pub(crate) mod runs;
pub(crate) mod study;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub(crate) use self::study::study;
use crate::metrics::agreement::bootstrap::DRAWS;

/// The feedback that holds no information.
pub(crate) const CHECK_AGAIN: &str = "check-again";

/// Settings of the study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct FeedbackSettings {
    /// Which runs are looked at together.
    pub by: By,
    /// Bootstrap draws behind every interval.
    pub draws: u32,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for FeedbackSettings {
    fn default() -> Self {
        Self { by: By::All, draws: DRAWS, seed: 0 }
    }
}

/// Which runs are looked at together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub(crate) enum By {
    /// All.
    #[default]
    All,
    /// Those of each task, and of each kind of tasks where tasks are named kind/task.
    Task,
}
