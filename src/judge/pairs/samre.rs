//! SAMRE: one advocate for each answer, over rounds; the judge scores every round and says what is
//! still missing. The scores are means over the rounds.
//!
//! Both advocates of a round know the arguments of the round before, so that nobody has the last
//! word. 3 calls a round.

use serde::{Deserialize, Serialize};

use super::words::first_words;
use super::{Decision, Floor, PairStrategy, Speaker, Stop};
use crate::data::side::Side;
use crate::llm::form::{Domain, Field};

/// Words of an argument.
const ARGUMENT_WORDS: usize = 100;
/// Words of feedback to one side.
const FEEDBACK_WORDS: usize = 50;
/// Rounds over which the gap is looked at.
const GAP_ROUNDS: usize = 3;

/// When a debate ends before its last round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopRule {
    /// The same side leads in two consecutive rounds.
    #[default]
    SameWinner,
    /// The gap between the scores has changed by less than a bound over three rounds.
    Gap,
    /// Never.
    Never,
}

/// A debate in rounds.
#[derive(Debug, Clone, Copy)]
pub struct Samre {
    /// Most rounds, at least 1.
    pub rounds: u32,
    /// When it ends before.
    pub stop: StopRule,
    /// The bound of [`StopRule::Gap`].
    pub gap: f64,
}

impl Samre {
    /// Whether the rounds so far, each with the scores by place, are enough.
    pub fn enough(&self, rounds: &[[f64; 2]]) -> bool {
        match self.stop {
            StopRule::Never => false,
            StopRule::SameWinner => {
                let [.., before, last] = rounds else { return false };
                let leader = |scores: &[f64; 2]| Side::of_scores(scores[0], scores[1]);
                leader(last) != Side::Tie && leader(before) == leader(last)
            }
            StopRule::Gap => {
                let Some(from) = rounds.len().checked_sub(GAP_ROUNDS) else { return false };
                let gaps = || rounds[from..].iter().map(|[first, second]| first - second);
                let range = gaps().fold(f64::MIN, f64::max) - gaps().fold(f64::MAX, f64::min);
                range < self.gap
            }
        }
    }
}

impl PairStrategy for Samre {
    fn name(&self) -> &'static str {
        "samre"
    }

    fn decide(&self, floor: &mut Floor<'_>) -> Result<Decision, Stop> {
        let prompts = &floor.rules().prompts;
        let feedback = ["feedback_for_first", "feedback_for_second"].map(|name| Field {
            name: name.into(),
            definition: String::new(),
            domain: Domain::Text { most_words: FEEDBACK_WORDS },
        });
        let mut scores: Vec<[f64; 2]> = Vec::new();
        let mut last: [Option<String>; 2] = [None, None];
        let mut asked: [Option<String>; 2] = [None, None];
        let mut all = [String::new(), String::new()];
        for round in 1..=self.rounds {
            let mut said = [String::new(), String::new()];
            for place in 0..2 {
                let known = [
                    ("opponents", last[1 - place].as_deref()),
                    ("feedback", asked[place].as_deref()),
                ];
                let texts = floor.argued(place, known);
                let speaker = Speaker::Advocate(1, floor.side(place));
                said[place] =
                    floor.said(speaker, &prompts.samre_advocate, &texts, ARGUMENT_WORDS)?;
                let gap = if all[place].is_empty() { "" } else { "\n\n" };
                all[place] += gap;
                all[place] += &said[place];
            }
            let texts = floor.shown([Some(&said[0]), Some(&said[1])]);
            let judged = floor.judged(&prompts.samre_judge, &texts, &feedback, 0)?;
            for (asked, text) in asked.iter_mut().zip(&judged.texts) {
                *asked = Some(first_words(text, FEEDBACK_WORDS).to_owned());
            }
            scores.push(judged.scores);
            last = said.map(Some);
            if round == self.rounds || self.enough(&scores) {
                break;
            }
            floor.next_round();
        }
        floor.cases = all.map(Some);
        let rounds = scores.len();
        let mean = |place: usize| scores.iter().map(|s| s[place]).sum::<f64>() / rounds as f64;
        let rounds = u32::try_from(rounds).unwrap_or(self.rounds);
        Ok(Decision { scores: [mean(0), mean(1)], rounds })
    }
}
