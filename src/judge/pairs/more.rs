//! MORE: several advocates for each answer, one case made of their arguments, one judge.
//!
//! Advocates speak in turn, one for either answer; each knows what was said before by both teams.
//! With three of them 9 calls.

use super::{Decision, Floor, PairStrategy, Speaker, Stop};

/// Words of an argument.
const ARGUMENT_WORDS: usize = 80;
/// Words of a case.
const CASE_WORDS: usize = 150;

/// A debate between teams.
#[derive(Debug, Clone, Copy)]
pub(crate) struct More {
    /// Advocates of either answer, at least 1.
    pub advocates: u32,
}

impl Default for More {
    fn default() -> Self {
        Self { advocates: 3 }
    }
}

impl PairStrategy for More {
    fn name(&self) -> &'static str {
        "more"
    }

    fn decide(&self, floor: &mut Floor<'_>) -> Result<Decision, Stop> {
        let prompts = &floor.rules().prompts;
        let mut teams = [String::new(), String::new()];
        for number in 1..=self.advocates {
            // Both know what was said up to the turn before: to speak first is no disadvantage.
            let before = teams.clone();
            for place in 0..2 {
                let said = |team: &'_ str| (!team.is_empty()).then_some(team.to_owned());
                let (team, opponents) = (said(&before[place]), said(&before[1 - place]));
                let known = [("team", team.as_deref()), ("opponents", opponents.as_deref())];
                let texts = floor.argued(place, known);
                let speaker = Speaker::Advocate(number, floor.side(place));
                let text = floor.said(speaker, &prompts.more_advocate, &texts, ARGUMENT_WORDS)?;
                if !teams[place].is_empty() {
                    teams[place].push_str("\n\n");
                }
                teams[place].push_str(&text);
            }
        }
        let mut cases = [String::new(), String::new()];
        for place in 0..2 {
            let texts = floor.argued(place, [("team", Some(&teams[place])), ("opponents", None)]);
            let speaker = Speaker::Aggregator(floor.side(place));
            cases[place] = floor.said(speaker, &prompts.more_case, &texts, CASE_WORDS)?;
        }
        let texts = floor.shown([Some(&cases[0]), Some(&cases[1])]);
        floor.cases = cases.map(Some);
        let judged = floor.judged(&prompts.judge, &texts, &[], 0)?;
        Ok(Decision { scores: judged.scores, rounds: 1 })
    }
}
