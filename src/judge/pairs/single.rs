//! One judge, one call.

use super::{Decision, Floor, PairStrategy, Stop};

/// Both answers scored by all criteria in one answer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Single;

impl PairStrategy for Single {
    fn name(&self) -> &'static str {
        "single"
    }

    fn decide(&self, floor: &mut Floor<'_>) -> Result<Decision, Stop> {
        let texts = floor.shown([None, None]);
        let judged = floor.judged(&floor.rules().prompts.judge, &texts, &[], 0)?;
        Ok(Decision { scores: judged.scores, rounds: 0 })
    }
}
