//! Phrases hidden in papers, found in their reviews: flags by them, and how well the score own does there.

use serde_json::{Map, Value, json};

use crate::data::reviews::ReviewSet;
use crate::data::warning::Warning;
use crate::error::Result;
use crate::stats::interval::Share;
use crate::text::canary::{Checked, Dictionary, Plan, ReviewFindings, check};
use crate::text::own::{OwnFlag, OwnScores};

/// What reviews have of the phrases of their papers.
pub(super) struct Canaries {
    found: Checked,
    /// How own flagged reviews before the phrases were known: with every phrase of their paper, with none.
    own: Option<[Count; 2]>,
    /// Places of the reviews of each person.
    of_person: Vec<Vec<usize>>,
    pub(super) warnings: Vec<Warning>,
}

/// Reviews, by whether the score own flags them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Count {
    looked: usize,
    judged: usize,
}

impl Canaries {
    /// Looks for the phrases of the bundled dictionary, and flags in `own` who has all of a paper.
    pub(super) fn find(
        plan: &Plan,
        set: &ReviewSet,
        own: Option<&OwnScores>,
    ) -> Result<(Self, Option<OwnScores>)> {
        let texts: Vec<(&str, &str)> = (set.reviews.iter())
            .map(|review| {
                let text = review.content.text.as_deref().unwrap_or_default();
                (set.papers.name(review.paper), text)
            })
            .collect();
        let found = check(plan, &Dictionary::bundled(), &texts)?;
        let counted =
            own.map(|own| counts(own.reviews.iter().map(|review| review.flag).zip(&found.reviews)));
        let warnings = found.warnings(set, plan);
        let of_person = set.reviews_of_each();
        let canaries = Self { found, own: counted, of_person, warnings };
        let flagged = own.map(|own| canaries.flagged(own, set));
        Ok((canaries, flagged))
    }

    /// The same with the flag look of who has every phrase of a paper: the file went through a model, which
    /// no probability of own work says. Who has a part of them is not clear.
    fn flagged(&self, own: &OwnScores, set: &ReviewSet) -> OwnScores {
        let mut own = own.clone();
        for place in self.all_found() {
            let person = &mut own.reviewers[set.reviews[place].reviewer as usize];
            if own.reviews[place].flag != OwnFlag::Look {
                own.reviews[place].flag = OwnFlag::Look;
                person.n_look += 1;
                // Of somebody who is not judged only what is to be looked at was counted.
                let is_new = own.reviews[place].p_own.is_none() || person.reason.is_some();
                person.n_papers += usize::from(is_new);
            }
            if std::mem::take(&mut person.is_unseen) {
                own.unseen -= 1;
            }
            person.flag = OwnFlag::Look;
        }
        for place in self.some_found() {
            let person = &mut own.reviewers[set.reviews[place].reviewer as usize];
            for flag in [&mut own.reviews[place].flag, &mut person.flag] {
                if *flag == OwnFlag::Clear {
                    *flag = OwnFlag::Unsure;
                }
            }
            if std::mem::take(&mut person.is_unseen) {
                own.unseen -= 1;
            }
        }
        own
    }

    /// Places of the reviews that have every phrase of their paper.
    fn all_found(&self) -> impl Iterator<Item = usize> {
        let reviews = self.found.reviews.iter().enumerate();
        reviews.filter(|(_, review)| review.all_found()).map(|(place, _)| place)
    }

    /// Places of the reviews that have some, or one with a word changed.
    fn some_found(&self) -> impl Iterator<Item = usize> {
        let reviews = self.found.reviews.iter().enumerate();
        reviews.filter(|(_, review)| has_some(review)).map(|(place, _)| place)
    }

    /// Whether a review has every phrase of its paper.
    pub(super) fn is_hit(&self, place: usize) -> bool {
        self.found.reviews[place].all_found()
    }

    /// Whether a review of somebody has.
    pub(super) fn is_person_hit(&self, person: usize) -> bool {
        self.of_person[person].iter().any(|&place| self.is_hit(place))
    }

    /// Whether reviews of somebody have a part of the phrases of their paper, and none has every one.
    pub(super) fn has_person_some(&self, person: usize) -> bool {
        let mut places = self.of_person[person].iter();
        !self.is_person_hit(person) && places.any(|&place| has_some(&self.found.reviews[place]))
    }

    /// What a review repeats.
    pub(super) fn told(&self, place: usize) -> Option<String> {
        told(&self.found.reviews[place])
    }

    /// What the reviews of somebody repeat.
    pub(super) fn told_of(&self, person: usize) -> Option<String> {
        let told: Vec<String> =
            self.of_person[person].iter().filter_map(|&place| self.told(place)).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// In how many papers somebody repeats every phrase.
    pub(super) fn hits_of(&self, person: usize) -> usize {
        self.of_person[person].iter().filter(|&&place| self.is_hit(place)).count()
    }

    /// The papers of which somebody repeats phrases, each with what is repeated: the phrases if they may be
    /// `quoted`, else how many.
    pub(super) fn told_by_paper(
        &self,
        person: usize,
        set: &ReviewSet,
        quoted: bool,
    ) -> Vec<String> {
        let named = |&place: &usize| {
            let (review, paper) = (&self.found.reviews[place], set.reviews[place].paper);
            let told = told(review)?;
            let told = if quoted { told } else { counted(review) };
            Some(format!("{}: {told}", set.papers.name(paper)))
        };
        self.of_person[person].iter().filter_map(named).collect()
    }

    /// How many repeat every phrase, in a sentence.
    pub(super) fn headline(&self, set: &ReviewSet) -> String {
        let reviews = self.all_found().count();
        let people = (0..self.of_person.len()).filter(|&who| self.is_person_hit(who)).count();
        let more = match self.some_found().count() {
            0 => String::new(),
            1 => "; 1 more has some".to_owned(),
            some => format!("; {some} more have some"),
        };
        format!(
            "Canaries: {reviews} of {} by {} have every phrase that was hidden in their paper ({} expected by \
             chance){more}.",
            set.nouns.texts(self.found.planned()),
            set.nouns.people(people),
            small(self.found.expected_all),
        )
    }

    /// How well own does on reviews of which the phrases tell, in a sentence.
    pub(super) fn sentence(&self) -> Option<String> {
        self.own.map(|[with, without]| sentence(with, without))
    }

    /// The same in numbers.
    pub(super) fn summary(&self) -> Option<Value> {
        self.own.map(|counts| json!(summary_of(&counts)))
    }
}

/// Three decimals, or one digit with its power of ten.
pub(crate) fn small(value: f64) -> String {
    if value == 0.0 || value >= 0.001 { format!("{value:.3}") } else { format!("{value:.0e}") }
}

/// Of the reviews that the score own judged: those with every phrase of their paper, and the others of
/// papers that have some.
fn counts<'a>(reviews: impl Iterator<Item = (OwnFlag, &'a ReviewFindings)>) -> [Count; 2] {
    let mut counts = [Count::default(); 2];
    for (flag, review) in reviews.filter(|(_, review)| review.planned > 0) {
        // A part of the phrases is neither.
        let place = match (review.all_found(), has_some(review)) {
            (true, _) => &mut counts[0],
            (false, false) => &mut counts[1],
            (false, true) => continue,
        };
        if flag != OwnFlag::NotJudged {
            place.judged += 1;
            place.looked += usize::from(flag == OwnFlag::Look);
        }
    }
    counts
}

fn summary_of(counts: &[Count; 2]) -> Map<String, serde_json::Value> {
    let names = ["with_phrases", "without_phrases"];
    let one = |(name, count): (&str, &Count)| {
        let share = share(*count);
        let value = json!({
            "judged": count.judged,
            "look": count.looked,
            "share": share.map(|share| share.value),
            "share_low": share.map(|share| share.interval.0),
            "share_high": share.map(|share| share.interval.1),
        });
        (name.to_owned(), value)
    };
    names.into_iter().zip(counts).map(one).collect()
}

/// The share that is flagged; `None` where nothing was judged.
fn share(count: Count) -> Option<Share> {
    Share::wilson(count.looked as f64 / count.judged as f64, count.judged as f64)
}

fn sentence(with: Count, without: Count) -> String {
    let words = |count: Count| match share(count) {
        None => "none that were judged".into(),
        Some(Share { interval: (low, high), .. }) => format!(
            "{} of {} flagged look (95 % interval {:.0} to {:.0} %)",
            count.looked,
            count.judged,
            100.0 * low,
            100.0 * high
        ),
    };
    format!(
        "How the score own does here: of reviews with every phrase of their paper, {}; of those with none, \
         {}, among whom there may be copies without a phrase.",
        words(with),
        words(without)
    )
}

/// Whether a review has a part of the phrases of its paper, or one with a word changed.
fn has_some(review: &ReviewFindings) -> bool {
    review.found.len() + review.near.len() > 0 && !review.all_found()
}

/// How many phrases a review repeats.
fn counted(review: &ReviewFindings) -> String {
    match (review.found.len(), review.near.len(), review.planned) {
        (0, near, planned) => format!("{near} of {planned} with a word changed"),
        (found, _, planned) => format!("{found} of {planned}"),
    }
}

/// What a review repeats, in a cell.
fn told(review: &ReviewFindings) -> Option<String> {
    let quoted: Vec<String> = review.found.iter().map(|phrase| format!("\"{phrase}\"")).collect();
    match (review.found.len(), review.near.len()) {
        (0, 0) => None,
        _ if review.all_found() => Some(quoted.join(", ")),
        (0, _) => Some(counted(review)),
        _ => Some(format!("{}: {}", counted(review), quoted.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review(found: usize, near: usize, planned: usize) -> ReviewFindings {
        let phrases = |count| vec!["one two three".to_owned(); count];
        ReviewFindings::of(phrases(found), phrases(near), planned)
    }

    #[test]
    fn what_own_says_of_reviews_with_and_without_phrases_is_counted() {
        let reviews = [
            (OwnFlag::Look, review(2, 0, 2)),
            (OwnFlag::Unsure, review(2, 0, 2)),
            (OwnFlag::NotJudged, review(2, 0, 2)),
            (OwnFlag::Look, review(1, 0, 2)),
            (OwnFlag::Look, review(0, 0, 2)),
            (OwnFlag::Clear, review(0, 0, 2)),
            (OwnFlag::Clear, review(0, 0, 2)),
            (OwnFlag::Look, review(0, 0, 0)),
        ];
        let found = counts(reviews.iter().map(|(flag, review)| (*flag, review)));
        assert_eq!(found, [Count { looked: 1, judged: 2 }, Count { looked: 1, judged: 3 }]);
        assert_eq!(told(&review(0, 0, 2)), None);
        assert_eq!(told(&review(2, 0, 2)).unwrap(), "\"one two three\", \"one two three\"");
        assert_eq!(told(&review(1, 1, 2)).unwrap(), "1 of 2: \"one two three\"");
        assert_eq!(told(&review(0, 1, 2)).unwrap(), "1 of 2 with a word changed");
        let none = sentence(Count::default(), found[1]);
        assert!(none.contains("none that were judged") && none.contains("1 of 3"), "{none}");
    }
}
