//! The control that a debate must beat: as many independent single calls as it costs in tokens.

use super::{Decision, Floor, PairStrategy, Stop};

/// More calls than any debate costs.
const MOST_CALLS: u32 = 100;

/// Independent single calls, their scores averaged.
#[derive(Debug, Clone)]
pub(crate) struct Repeated {
    /// The name in results.
    pub name: String,
    /// How many; at least one call is made.
    pub worth: Worth,
}

/// How many calls are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worth {
    /// As many as cost these tokens, about.
    Tokens(u64),
    /// So many.
    Calls(u64),
}

/// Whether the tokens that are left come closer to nothing with another call, which costs `one`.
pub(crate) fn is_worth_a_call(left: u64, one: u64) -> bool {
    left + one / 2 >= one
}

impl PairStrategy for Repeated {
    fn name(&self) -> &str {
        &self.name
    }

    fn decide(&self, floor: &mut Floor<'_>) -> Result<Decision, Stop> {
        let texts = floor.shown([None, None]);
        let prompt = &floor.rules().prompts.judge;
        let before = floor.cost().usage.total();
        let (mut sums, mut read) = ([0.0; 2], 0.0);
        let mut failed = None;
        // An answer that cannot be read is asked for again, so that its call costs more than another will.
        let mut least = u64::MAX;
        let mut spent = 0;
        for call in 0..MOST_CALLS {
            let is_wanted = match self.worth {
                Worth::Calls(calls) => u64::from(call) < calls,
                Worth::Tokens(tokens) => is_worth_a_call(tokens.saturating_sub(spent), least),
            };
            if call > 0 && !is_wanted {
                break;
            }
            match floor.judged(prompt, &texts, &[], call) {
                Ok(judged) => {
                    sums.iter_mut().zip(judged.scores).for_each(|(sum, score)| *sum += score);
                    read += 1.0;
                }
                Err(Stop::Role(failure)) => failed = Some(failure),
                Err(stop) => return Err(stop),
            }
            // Servers need not say what an answer cost.
            let cost = (floor.cost().usage.total() - before).saturating_sub(spent).max(1);
            least = least.min(cost);
            spent += cost;
        }
        match failed {
            Some(failure) if read == 0.0 => Err(Stop::Role(failure)),
            _ => Ok(Decision { scores: sums.map(|sum| sum / read), rounds: 0 }),
        }
    }
}
