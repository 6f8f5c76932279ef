//! The control that a debate must beat: as many independent single calls as it costs in tokens.

use super::{Decision, Floor, PairStrategy, Stop};

/// More calls than any debate costs.
const MOST_CALLS: u64 = 100;

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

/// Calls that come closest to `tokens` if each costs `one`.
pub(crate) fn calls_worth(tokens: u64, one: u64) -> u64 {
    let one = one.max(1);
    ((tokens + one / 2) / one).clamp(1, MOST_CALLS)
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
        let mut wanted = 1;
        let mut call = 0;
        while u64::from(call) < wanted {
            let spent = floor.cost().usage.total() - before;
            let is_first = read == 0.0;
            match floor.judged(prompt, &texts, &[], call) {
                Ok(judged) => {
                    sums.iter_mut().zip(judged.scores).for_each(|(sum, score)| *sum += score);
                    read += 1.0;
                }
                Err(Stop::Role(failure)) => failed = Some(failure),
                Err(stop) => return Err(stop),
            }
            // One that cannot be read, asked for again and again, costs more than those to come.
            if call == 0 || (is_first && read > 0.0) {
                wanted = match self.worth {
                    Worth::Calls(calls) => calls,
                    Worth::Tokens(tokens) => {
                        let one = floor.cost().usage.total() - before - spent;
                        let calls = calls_worth(tokens.saturating_sub(spent), one);
                        (u64::from(call) + calls).min(MOST_CALLS)
                    }
                };
            }
            call += 1;
        }
        match failed {
            Some(failure) if read == 0.0 => Err(Stop::Role(failure)),
            _ => Ok(Decision { scores: sums.map(|sum| sum / read), rounds: 0 }),
        }
    }
}
