//! Panels: what several judges decide together, as one more judge. Asked for by the name of the rule.
//!
//! A panel is made of all judges that are measured, in each order by itself:
//! - `panel:votes`: every judge has a vote, a tie counts half for either side; the side with more votes
//!   wins (pairwise votes);
//! - `panel:borda`: every judge ranks the answers of an item by the share of its comparisons that each
//!   wins, ties counting half; the answer with the higher mean share wins (Borda count). With two answers
//!   an item it is `panel:votes`;
//! - `panel:scores`: the side with the higher mean score wins; needs scores in the verdicts;
//! - `panel:softmax`: every side counts with the highest of its scores: softmax over the advocates of a side,
//!   its temperature near 0 (Bandi and Harrasse, section 3.3), with judges in place of advocates.

use std::collections::BTreeMap;

use super::verdicts::{Judge, Judged, Verdicts};
use crate::data::side::Side;
use crate::stats::rank::mean;

/// Before the name of a rule.
const PANEL: &str = "panel:";

words! {
    /// How a panel decides.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Panel {
        /// By votes.
        Votes = "panel:votes",
        /// By mean shares of comparisons won.
        Borda = "panel:borda",
        /// By mean scores.
        Scores = "panel:scores",
        /// By the highest score of either side.
        Softmax = "panel:softmax",
    }
}

impl Panel {
    /// The rule of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::EACH.into_iter().find(|panel| panel.as_str() == name)
    }

    /// Whether it goes by the scores of the sides.
    pub(crate) fn needs_scores(self) -> bool {
        matches!(self, Self::Scores | Self::Softmax)
    }

    /// Whether a name means a panel, known or not.
    pub(crate) fn is_meant(name: &str) -> bool {
        name.starts_with(PANEL)
    }

    /// What the judges decide together; no cost, since every judge has its own.
    pub(crate) fn of(self, verdicts: &Verdicts) -> Judge {
        let mut judged: BTreeMap<u32, Judged> = BTreeMap::new();
        for order in 0..2 {
            let shares = (self == Self::Borda).then(|| won_shares(verdicts, order));
            for (number, _) in (0_u32..).zip(&verdicts.pairs) {
                let asked: Vec<&Judged> = verdicts
                    .judges
                    .iter()
                    .filter_map(|judge| judge.judged.get(&number))
                    .filter(|judged| judged.orders[order].is_some())
                    .collect();
                if asked.is_empty() {
                    continue;
                }
                let scores = self.scores(&asked, order);
                let decided = match self {
                    Self::Votes => votes(&asked, order),
                    Self::Borda => shares.as_ref().and_then(|of| borda(verdicts, of, number)),
                    Self::Scores | Self::Softmax => scores.map(|[a, b]| Side::of_scores(a, b)),
                };
                let judged: &mut Judged = judged.entry(number).or_default();
                judged.orders[order] = Some(decided);
                judged.scores[order] = scores;
            }
        }
        Judge { name: self.as_str().into(), family: None, judged }
    }

    /// The scores of the sides by a rule that goes by scores.
    fn scores(self, asked: &[&Judged], order: usize) -> Option<[f64; 2]> {
        let of = |side: usize| -> Option<f64> {
            let each = asked.iter().filter_map(|judged| Some(judged.scores[order]?[side]));
            match self {
                Self::Scores => mean(&each.collect::<Vec<_>>()),
                Self::Softmax => each.reduce(f64::max),
                Self::Votes | Self::Borda => None,
            }
        };
        Some([of(0)?, of(1)?])
    }
}

/// Half votes for a minus half votes for b.
fn votes(asked: &[&Judged], order: usize) -> Option<Side> {
    let said = || asked.iter().filter_map(|judged| judged.orders[order].flatten());
    let count = |side: Side| said().filter(|said| *said == side).count() as f64;
    said().next()?;
    Some(Side::of_scores(count(Side::A), count(Side::B)))
}

/// An answer: its item, and its name among the answers of the item.
type Answer = (String, String);

/// The answers of both sides of a pair.
fn answers(verdicts: &Verdicts, number: u32) -> [Answer; 2] {
    let pair = &verdicts.pairs[number as usize];
    let of = pair.question.as_ref().unwrap_or(&pair.item);
    let names = pair.names.clone().unwrap_or_else(|| ("a".into(), "b".into()));
    // Without names the sides of two pairs of an item are not the same answers.
    let item = if pair.names.is_some() { of.clone() } else { pair.item.clone() };
    [(item.clone(), names.0), (item, names.1)]
}

/// By answer the mean over judges of the share of its comparisons that it wins.
fn won_shares(verdicts: &Verdicts, order: usize) -> BTreeMap<Answer, f64> {
    let mut shares: BTreeMap<Answer, Vec<f64>> = BTreeMap::new();
    for judge in &verdicts.judges {
        let mut won: BTreeMap<Answer, [f64; 2]> = BTreeMap::new();
        for (&number, judged) in &judge.judged {
            let Some(side) = judged.orders[order].flatten() else { continue };
            let [a, b] = answers(verdicts, number);
            let points = match side {
                Side::A => 1.0,
                Side::Tie => 0.5,
                Side::B => 0.0,
            };
            for (answer, points) in [(a, points), (b, 1.0 - points)] {
                let of = won.entry(answer).or_default();
                of[0] += points;
                of[1] += 1.0;
            }
        }
        for (answer, [points, compared]) in won {
            shares.entry(answer).or_default().push(points / compared);
        }
    }
    shares.into_iter().filter_map(|(answer, shares)| Some((answer, mean(&shares)?))).collect()
}

fn borda(verdicts: &Verdicts, shares: &BTreeMap<Answer, f64>, number: u32) -> Option<Side> {
    let [a, b] = answers(verdicts, number);
    let (a, b) = (shares.get(&a)?, shares.get(&b)?);
    // Sums in another order differ in the last digit.
    let apart = (a - b).abs() > 1e-12;
    Some(if apart { Side::of_scores(*a, *b) } else { Side::Tie })
}
