//! The exact test of reviews for the phrases of their papers.

use std::collections::{BTreeSet, HashMap};

use rayon::prelude::*;

use super::dictionary::Dictionary;
use super::find::{Finder, Found};
use super::hypergeometric::{at_least, exactly};
use super::plan::{CanaryError, Plan};
use crate::data::reviews::ReviewSet;
use crate::data::warning::{Warning, names_alike_between};

/// What one review has of the phrases of its paper.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReviewFindings {
    /// Phrases of its paper that stand in it letter for letter.
    pub found: Vec<String>,
    /// Phrases of its paper that stand in it with one word changed.
    pub near: Vec<String>,
    /// Phrases planned for its paper; 0 if it is not in the plan.
    pub planned: usize,
    /// Probability that a review written without sight of the phrases has as many of them, exact or
    /// nearly, given which phrases of the dictionary it has; missing if its paper is not in the plan.
    pub p: Option<f64>,
    /// Phrases of other papers that stand in it letter for letter, and are not its own paper's.
    pub of_other_papers: usize,
    /// Probability of all of them by chance, of any of them by chance; of exact matches.
    chance: (f64, f64),
}

impl ReviewFindings {
    /// Findings of which nothing more is known.
    #[cfg(test)]
    pub(crate) fn of(found: Vec<String>, near: Vec<String>, planned: usize) -> Self {
        Self { found, near, planned, p: None, of_other_papers: 0, chance: (0.0, 0.0) }
    }

    /// Whether all phrases of the paper stand in it letter for letter.
    pub(crate) fn all_found(&self) -> bool {
        self.planned > 0 && self.found.len() == self.planned
    }
}

/// What all reviews have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Checked {
    /// One entry a review, in the order given.
    pub reviews: Vec<ReviewFindings>,
    /// Expected number of reviews that have all phrases of their paper by chance: also a bound on the
    /// probability that there is any.
    pub expected_all: f64,
    /// Expected number of reviews that have any of them by chance.
    pub expected_any: f64,
}

impl Checked {
    /// Reviews of papers of the plan: of others nothing is known.
    pub(crate) fn planned(&self) -> usize {
        self.reviews.iter().filter(|review| review.planned > 0).count()
    }

    /// That some reviews are of papers that are not in the plan, or are called otherwise there.
    pub(crate) fn warnings(&self, set: &ReviewSet, plan: &Plan) -> Vec<Warning> {
        let count = self.reviews.len() - self.planned();
        if count == 0 {
            return Vec::new();
        }
        let said = set.nouns.said("reviews are of papers that are not in the plan");
        let mut all = vec![Warning::new("papers_without_plan", count, format!("{count} {said}"))];
        let what = format!("{}s of the plan", set.nouns.thing());
        let of_plan = plan.papers.iter().map(|paper| paper.paper.as_str());
        all.extend(names_alike_between(&what, &set.papers, of_plan));
        all
    }
}

/// Looks for the phrases of a plan in reviews, given as the name of the paper and the text.
///
/// With `c` phrases of the dictionary of `N` in a review, exact or nearly, `m` drawn for its paper and
/// `f` of these among them, `p = P(Hypergeometric(N, c, m) >= f)`. Linear in the words of the reviews.
///
/// # Errors
///
/// [`CanaryError::NoPaper`] where no review is of a planned paper: nothing would be tested.
/// [`CanaryError::ForeignPhrase`] where the plan has a phrase that the dictionary has not: it was drawn
/// from another one, and nothing could be said.
pub(crate) fn check(
    plan: &Plan,
    dictionary: &Dictionary,
    reviews: &[(&str, &str)],
) -> Result<Checked, CanaryError> {
    let finder = Finder::new(dictionary);
    let size = dictionary.phrases().len();
    let mut planned: HashMap<&str, Vec<u32>> = HashMap::new();
    for paper in &plan.papers {
        let number = |phrase: &String| {
            finder.number(phrase).ok_or_else(|| CanaryError::ForeignPhrase {
                paper: paper.paper.clone(),
                phrase: phrase.clone(),
            })
        };
        let numbers = paper.phrases.iter().map(number).collect::<Result<_, _>>()?;
        planned.insert(&paper.paper, numbers);
    }
    if let ([(paper, _), ..], [of_plan, ..]) = (reviews, plan.papers.as_slice())
        && reviews.iter().all(|(paper, _)| !planned.contains_key(paper))
    {
        let (paper, planned) = ((*paper).to_owned(), of_plan.paper.clone());
        return Err(CanaryError::NoPaper { paper, planned });
    }
    let everybodys: BTreeSet<u32> = planned.values().flatten().copied().collect();
    let one = |&(paper, text): &(&str, &str)| {
        let Found { exact, near } = finder.find(text);
        let own = planned.get(paper).map_or(&[][..], Vec::as_slice);
        let named = |numbers: &BTreeSet<u32>| -> Vec<String> {
            let among = own.iter().filter(|number| numbers.contains(number));
            among.map(|&number| dictionary.phrases()[number as usize].clone()).collect()
        };
        let (found, nearly) = (named(&exact), named(&near));
        let others = exact.iter().filter(|number| everybodys.contains(number));
        let chance = match own.len() {
            0 => (0.0, 0.0),
            drawn => {
                (exactly(size, exact.len(), drawn, drawn), at_least(size, exact.len(), drawn, 1))
            }
        };
        let had = exact.len() + near.len();
        let p = at_least(size, had, own.len(), found.len() + nearly.len());
        ReviewFindings {
            planned: own.len(),
            p: (!own.is_empty()).then_some(p),
            of_other_papers: others.filter(|number| !own.contains(number)).count(),
            found,
            near: nearly,
            chance,
        }
    };
    let reviews: Vec<ReviewFindings> = reviews.par_iter().map(one).collect();
    let sum = |part: fn(&ReviewFindings) -> f64| reviews.iter().map(part).sum();
    let (expected_all, expected_any) = (sum(|r| r.chance.0), sum(|r| r.chance.1));
    Ok(Checked { reviews, expected_all, expected_any })
}
