//! The alternative annotator test: may an LLM replace people as a labeller?
//!
//! For every person j, over the items that j and enough others labelled (at least two, if nothing
//! else is said; the authors take one), the LLM and j are compared with the *other* people: `S` is the share of the others with the same label (or minus
//! the root mean square difference from them). `W_f = 1[S_f >= S_j]`, `W_h = 1[S_j >= S_f]`. A
//! one-sided t test asks whether `mean(W_h - W_f) < epsilon`; epsilon is what an LLM may be worse
//! for being cheaper. Over the people, Benjamini and Yekutieli (2001), *Annals of Statistics*
//! 29(4), control the false discovery rate. Calderon, Reichart and Dror (2025), *The Alternative
//! Annotator Test for LLM-as-a-Judge*, arXiv 2501.10970.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::stats::interval::sample_variance;
use crate::stats::rank::is_tied;

/// Items that a person needs to be tested.
pub(crate) const LEAST_ITEMS: usize = 30;

/// People that an item needs, the one who is compared among them.
pub(crate) const LEAST_PEOPLE: usize = 3;

/// False discovery rate over the people.
pub(crate) const FALSE_DISCOVERY_RATE: f64 = 0.05;

/// Share of people that an LLM has to beat to replace them.
pub(crate) const REPLACES_FROM: f64 = 0.5;

/// The labels of one item, by number of the label.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Item {
    /// The label of the LLM; without one the item is left out.
    pub llm: Option<usize>,
    /// The labels of people, each person once.
    pub people: Vec<(u32, usize)>,
}

/// Settings of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AltTest<'a> {
    /// Advantage of the LLM for being cheaper: .2 against experts, .15 against skilled people, .1
    /// against a crowd.
    pub epsilon: f64,
    /// Items that a person needs.
    pub least_items: usize,
    /// People that an item needs, at least 2: the one who is compared and the others.
    pub min_people: usize,
    /// False discovery rate.
    pub false_discovery_rate: f64,
    /// The values of the labels, to compare by root mean square difference; `None`: by match.
    pub values: Option<&'a [f64]>,
}

impl Default for AltTest<'_> {
    fn default() -> Self {
        Self {
            epsilon: 0.2,
            least_items: LEAST_ITEMS,
            min_people: LEAST_PEOPLE,
            false_discovery_rate: FALSE_DISCOVERY_RATE,
            values: None,
        }
    }
}

/// The LLM against one person.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Against {
    /// Number of the person.
    pub person: u32,
    /// Items compared.
    pub items: usize,
    /// Mean of `W_f`: how often the LLM is at least as close to the others as the person.
    pub llm_wins: f64,
    /// Mean of `W_h`.
    pub person_wins: f64,
    /// One-sided p-value.
    pub p_value: f64,
    /// Whether the LLM is shown to be no worse than the person but for epsilon.
    pub rejected: bool,
}

/// The outcome of the test.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    /// By number of the person; people with too few items are not in it.
    pub people: Vec<Against>,
    /// People with at least one item who have too few.
    pub left_out: usize,
    /// omega: share of people against whom the test rejects; `None` without people.
    pub winning_rate: Option<f64>,
    /// rho: mean over people of how often the LLM is at least as close; `None` without people.
    pub advantage: Option<f64>,
}

impl AltTest<'_> {
    /// Runs the test.
    ///
    /// If `W_h - W_f` is the same for all items there is no variance to test with: the p-value is
    /// 0 if it is below epsilon, else 1.
    ///
    /// # Panics
    ///
    /// If a label has no value.
    pub(crate) fn run(&self, items: &[Item]) -> Outcome {
        let people = items.iter().flat_map(|item| &item.people).map(|&(person, _)| person as usize);
        let mut wins: Vec<Vec<(bool, bool)>> = vec![Vec::new(); people.max().map_or(0, |p| p + 1)];
        for item in items {
            let Some(llm) = item.llm else { continue };
            if item.people.len() < self.min_people.max(2) {
                continue;
            }
            for &(person, label) in &item.people {
                let others: Vec<usize> =
                    item.people.iter().filter(|(p, _)| *p != person).map(|&(_, l)| l).collect();
                let (of_llm, of_person) = (self.score(llm, &others), self.score(label, &others));
                // Distances that are equal on paper differ in the last digits: .3 - .1 and .5 - .3.
                let tied = is_tied(of_llm, of_person);
                let won = (tied || of_llm > of_person, tied || of_person > of_llm);
                wins[person as usize].push(won);
            }
        }
        let left_out =
            wins.iter().filter(|w| !w.is_empty() && w.len() < self.least_items.max(2)).count();
        let mut people: Vec<Against> = wins
            .iter()
            .enumerate()
            .filter(|(_, wins)| wins.len() >= self.least_items.max(2))
            .map(|(person, wins)| self.against(person, wins))
            .collect();
        let p_values: Vec<f64> = people.iter().map(|against| against.p_value).collect();
        let rejected = benjamini_yekutieli(&p_values, self.false_discovery_rate);
        people.iter_mut().zip(rejected).for_each(|(against, yes)| against.rejected = yes);
        let mean = |of: &dyn Fn(&Against) -> f64| {
            let sum: f64 = people.iter().map(of).sum();
            (!people.is_empty()).then(|| sum / people.len() as f64)
        };
        let winning_rate = mean(&|against| f64::from(u8::from(against.rejected)));
        let advantage = mean(&|against| against.llm_wins);
        Outcome { people, left_out, winning_rate, advantage }
    }

    /// How close a label is to those of others; larger is closer.
    fn score(&self, label: usize, others: &[usize]) -> f64 {
        let mean = |of: &dyn Fn(usize) -> f64| {
            others.iter().map(|&other| of(other)).sum::<f64>() / others.len() as f64
        };
        match self.values {
            None => mean(&|other| f64::from(u8::from(other == label))),
            Some(values) => -mean(&|other| (values[other] - values[label]).powi(2)).sqrt(),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the number of a person was 32 bits")]
    fn against(&self, person: usize, wins: &[(bool, bool)]) -> Against {
        let share = |of: fn(&(bool, bool)) -> bool| {
            wins.iter().filter(|w| of(w)).count() as f64 / wins.len() as f64
        };
        let differences: Vec<f64> = wins
            .iter()
            .map(|&(llm, person)| f64::from(u8::from(person)) - f64::from(u8::from(llm)))
            .collect();
        Against {
            person: person as u32,
            items: wins.len(),
            llm_wins: share(|w| w.0),
            person_wins: share(|w| w.1),
            p_value: p_below(&differences, self.epsilon),
            rejected: false,
        }
    }
}

/// One-sided p-value of "the mean is at least `bound`" by the t test.
fn p_below(differences: &[f64], bound: f64) -> f64 {
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let variance = sample_variance(differences).unwrap_or(0.0);
    let certain = if mean < bound { 0.0 } else { 1.0 };
    if variance == 0.0 {
        return certain;
    }
    StudentsT::new(0.0, 1.0, count - 1.0)
        .map_or(certain, |t| t.cdf((mean - bound) / (variance / count).sqrt()))
}

/// Which hypotheses Benjamini and Yekutieli (2001) reject at this false discovery rate.
///
/// The k smallest p-values, for the largest k with `p_(k) <= k rate / (m Σ_{i<=m} 1/i)`.
pub(crate) fn benjamini_yekutieli(p_values: &[f64], rate: f64) -> Vec<bool> {
    let count = p_values.len() as f64;
    let harmonic: f64 = (1..=p_values.len()).map(|i| 1.0 / i as f64).sum();
    let mut sorted = p_values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let passes =
        |(rank, p): &(usize, &f64)| **p <= (*rank as f64 + 1.0) * rate / (count * harmonic);
    let cut = sorted.iter().enumerate().filter(passes).map(|(_, &p)| p).next_back();
    p_values.iter().map(|&p| cut.is_some_and(|cut| p <= cut)).collect()
}

#[cfg(test)]
mod tests;
