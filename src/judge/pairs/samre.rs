//! SAMRE: one advocate for each answer, over rounds; the judge scores every round and says what is
//! still missing. The scores are means over the rounds.
//!
//! With a memory, as the paper describes it, the judge also knows the number of the round, its scores and
//! feedback so far and a summary of the debate, and gives a reason for each criterion.
//!
//! Both advocates of a round know the arguments of the round before, so that nobody has the last
//! word. 3 calls a round; with a memory one more between rounds.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::floor::REASON;
use super::words::first_words;
use super::{Decision, Floor, PairStrategy, Speaker, Stop};
use crate::data::side::Side;
use crate::llm::form::{Domain, Field};

/// Words of an argument.
const ARGUMENT_WORDS: usize = 100;
/// Words of feedback to one side.
const FEEDBACK_WORDS: usize = 50;
/// Words of a summary of the debate.
const SUMMARY_WORDS: usize = 100;
/// Words of the reason for a criterion.
const REASON_WORDS: usize = 25;
/// Rounds over which the gap is looked at.
const GAP_ROUNDS: usize = 3;

/// When a debate ends before its last round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StopRule {
    /// The same side leads in two consecutive rounds.
    #[default]
    SameWinner,
    /// The gap between the scores has changed by less than the bound over three rounds.
    Gap,
    /// The size of the gap has changed by less than the bound over three rounds, neither rising nor
    /// falling all along: as the authors of samre do it.
    Converged,
    /// After --rounds.
    Never,
}

/// A debate in rounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Samre {
    /// Most rounds, at least 1.
    pub rounds: u32,
    /// When it ends before.
    pub stop: StopRule,
    /// The bound of [`StopRule::Gap`] and [`StopRule::Converged`].
    pub gap: f64,
    /// Whether the judge remembers.
    pub memory: bool,
}

impl Samre {
    /// Whether the rounds so far, each with the scores by place, are enough.
    pub(crate) fn enough(&self, rounds: &[[f64; 2]]) -> bool {
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
            StopRule::Converged => {
                let Some(from) = rounds.len().checked_sub(GAP_ROUNDS) else { return false };
                let gaps: Vec<f64> = rounds[from..].iter().map(|[a, b]| (a - b).abs()).collect();
                let most = gaps.iter().copied().fold(f64::MIN, f64::max);
                let least = gaps.iter().copied().fold(f64::MAX, f64::min);
                let goes = |one: fn(&f64, &f64) -> bool| gaps.windows(2).all(|w| one(&w[0], &w[1]));
                most - least < self.gap && !goes(f64::lt) && !goes(f64::gt)
            }
        }
    }
}

impl PairStrategy for Samre {
    fn name(&self) -> &'static str {
        if self.memory { "samre-memory" } else { "samre" }
    }

    fn decide(&self, floor: &mut Floor<'_>) -> Result<Decision, Stop> {
        let prompts = &floor.rules().prompts;
        let text = |name: String, most_words: usize| Field {
            name,
            definition: String::new(),
            domain: Domain::Text { most_words },
        };
        let criteria = floor.rules().criteria.fields();
        let mut asked_for: Vec<Field> = Vec::new();
        if self.memory {
            let named = criteria.iter().filter_map(|field| field.name.strip_prefix("first_"));
            asked_for.extend(named.map(|name| text(format!("{REASON}{name}"), REASON_WORDS)));
        }
        let reasons = asked_for.len();
        let feedback = ["feedback_for_first", "feedback_for_second"];
        asked_for.extend(feedback.map(|name| text(name.into(), FEEDBACK_WORDS)));
        let (mut earlier, mut summary) = (String::new(), String::new());
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
            let mut texts = floor.shown([Some(&said[0]), Some(&said[1])]);
            if self.memory {
                texts.insert("round".into(), format!("{round} of at most {}", self.rounds));
                texts.insert("earlier".into(), earlier.clone());
                texts.insert("summary".into(), summary.clone());
            }
            let judged = floor.judged(&prompts.samre_judge, &texts, &asked_for, 0)?;
            for (asked, text) in asked.iter_mut().zip(&judged.texts[reasons..]) {
                *asked = Some(first_words(text, FEEDBACK_WORDS).to_owned());
            }
            scores.push(judged.scores);
            if round == self.rounds || self.enough(&scores) {
                break;
            }
            if self.memory {
                let [first, second] = judged.scores;
                let [to_first, to_second] =
                    asked.each_ref().map(|text| text.as_deref().unwrap_or(""));
                let _ = writeln!(
                    earlier,
                    "Round {round}: {first} for the first answer, {second} for the second. To the side \
                     of the first: {to_first} To the side of the second: {to_second}"
                );
                let mut texts = floor.shown([Some(&said[0]), Some(&said[1])]);
                texts.insert("earlier".into(), summary);
                summary =
                    floor.said(Speaker::Summarizer, &prompts.summary, &texts, SUMMARY_WORDS)?;
            }
            last = said.map(Some);
            floor.next_round();
        }
        floor.cases = all.map(Some);
        floor.feedback = asked;
        let rounds = scores.len();
        let mean = |place: usize| scores.iter().map(|s| s[place]).sum::<f64>() / rounds as f64;
        let rounds = u32::try_from(rounds).unwrap_or(self.rounds);
        Ok(Decision { scores: [mean(0), mean(1)], rounds })
    }
}
