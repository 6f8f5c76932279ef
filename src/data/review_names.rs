//! Whether a name is one person throughout, or given anew on every paper.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::content::Content;
use super::duplicates::Duplicates;
use super::ids::Ids;
use super::reviews::Review;

/// Who is one person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Names {
    /// By looking: a few names on nearly all papers, like `Reviewer_1`, are another person on each.
    #[default]
    #[cfg_attr(
        feature = "cli",
        value(
            help = "By looking: a few names on nearly all papers, like Reviewer_1, are another person on each"
        )
    )]
    Auto,
    /// A name is one person.
    Global,
    /// Paper and name together are the person.
    PerPaper,
}

/// How reviews are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewReading {
    /// What is done with a second review of a paper by the same person.
    pub(crate) duplicates: Duplicates,
    /// Who is one person.
    pub names: Names,
}

/// A name is a person where nothing is said.
impl From<Duplicates> for ReviewReading {
    fn from(duplicates: Duplicates) -> Self {
        Self { duplicates, names: Names::Global }
    }
}

/// On fewer papers nobody can tell.
const FEWEST_PAPERS: usize = 5;

/// Hardly a paper has more reviewers: more names are people.
const MOST_PLACES: usize = 12;

/// Share of the papers that the commonest name stands on, and of the reviews that fit, from which on
/// names are places.
const NEARLY_ALL: f64 = 0.9;

/// Whether the names of reviews, each a paper and a name, are places on the paper: few and alike, and a
/// paper with n reviews has the n commonest.
pub(super) fn are_places(reviews: &[(u32, u32)], names: &Ids) -> bool {
    if names.len() > MOST_PLACES || !look_numbered(names.names()) {
        return false;
    }
    let mut on_paper: HashMap<u32, usize> = HashMap::new();
    let mut papers_of: Vec<HashSet<u32>> = vec![HashSet::new(); names.len()];
    for &(paper, name) in reviews {
        *on_paper.entry(paper).or_default() += 1;
        papers_of[name as usize].insert(paper);
    }
    let mut commonest: Vec<usize> = (0..names.len()).collect();
    commonest.sort_by_key(|&name| std::cmp::Reverse(papers_of[name].len()));
    let mut rank = vec![0; names.len()];
    commonest.iter().enumerate().for_each(|(place, &name)| rank[name] = place);
    let fits = |&&(paper, name): &&(u32, u32)| rank[name as usize] < on_paper[&paper];
    let fitting = reviews.iter().filter(fits).count() as f64;
    let on_most = commonest.first().map_or(0, |&name| papers_of[name].len()) as f64;
    let papers = on_paper.len();
    papers >= FEWEST_PAPERS
        && on_most >= NEARLY_ALL * papers as f64
        && fitting >= NEARLY_ALL * reviews.len() as f64
}

/// Whether names differ in a number or a letter at their end alone.
fn look_numbered(names: &[String]) -> bool {
    let stem = |name: &String| -> Option<String> {
        let without = name.trim_end_matches(|c: char| c.is_ascii_digit());
        if without.len() < name.len() {
            return Some(without.to_lowercase());
        }
        let last = name.char_indices().last()?.0;
        let before = &name[..last];
        before
            .is_empty()
            .then_some(String::new())
            .or_else(|| before.ends_with([' ', '_', '-', '#', '.']).then(|| before.to_lowercase()))
    };
    let stems: HashSet<Option<String>> = names.iter().map(stem).collect();
    names.len() == 1 || (stems.len() == 1 && !stems.contains(&None))
}

/// Names for persons who are a name on a paper: `P1/Reviewer_1`, and `P1/Reviewer_1 (2)` for a second
/// one, in the order of what they wrote.
pub(super) fn per_paper(reviews: &mut [Review], papers: &Ids, names: &Ids) -> Ids {
    let mut of_person: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for (place, review) in reviews.iter().enumerate() {
        of_person.entry((review.paper, review.reviewer)).or_default().push(place);
    }
    let mut people = Ids::new();
    for ((paper, name), mut places) in of_person {
        // The order of the rows decides nothing.
        let key = |content: &Content| (content.text.clone(), format!("{content:?}"));
        if places.len() > 1 {
            places.sort_by_cached_key(|&place| key(&reviews[place].content));
        }
        let base = format!("{}/{}", papers.name(paper), names.name(name));
        let mut number = 0;
        for place in places {
            let person = loop {
                number += 1;
                let person = if number == 1 { base.clone() } else { format!("{base} ({number})") };
                if people.get(&person).is_none() {
                    break person;
                }
            };
            reviews[place].reviewer = people.intern(&person);
        }
    }
    people
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(names: &[&str]) -> Ids {
        names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>().iter().collect()
    }

    #[test]
    fn places_are_few_alike_and_the_commonest_of_every_paper() {
        let three = ids(&["Reviewer_1", "Reviewer_2", "Reviewer_3"]);
        // Ten papers with two or three reviews: the third stands on every second paper.
        let places: Vec<(u32, u32)> = (0..10)
            .flat_map(|paper| {
                (0..if paper % 2 == 0 { 3 } else { 2 }).map(move |name| (paper, name))
            })
            .collect();
        assert!(are_places(&places, &three));
        assert!(are_places(&places, &ids(&["A", "B", "C"])));
        assert!(are_places(&places, &ids(&["1", "2", "3"])));
        assert!(!are_places(&places, &ids(&["ada", "bruno", "chen"])), "these are people");
        assert!(!are_places(&places[..10], &three), "four papers are too few to tell");
        // Each of three people has two of every three papers: as many fit as do not.
        let people: Vec<(u32, u32)> =
            (0..12).flat_map(|paper| [(paper, paper % 3), (paper, (paper + 1) % 3)]).collect();
        assert!(!are_places(&people, &three));
        let anonymous: Vec<(u32, u32)> =
            (0..6).flat_map(|paper| [(paper, 0), (paper, 0)]).collect();
        assert!(are_places(&anonymous, &ids(&["Anonymous"])));
        let full: Vec<(u32, u32)> =
            (0..9).flat_map(|paper| (0..20).map(move |name| (paper, name))).collect();
        let names: Vec<String> = (0..20).map(|number| format!("w{number}")).collect();
        assert!(!are_places(&full, &names.iter().collect()), "twenty people who did everything");
    }

    #[test]
    fn a_second_person_of_a_name_has_a_number_whatever_the_order_of_rows() {
        let review = |paper, text: &str| Review {
            paper,
            reviewer: 0,
            content: Content { text: Some(text.into()), ..Content::default() },
        };
        let (papers, names) = (ids(&["p", "q"]), ids(&["R"]));
        let mut reviews = vec![review(0, "z"), review(1, "x"), review(0, "y")];
        let people = per_paper(&mut reviews, &papers, &names);
        let of = |reviews: &[Review], people: &Ids| -> Vec<String> {
            reviews.iter().map(|review| people.name(review.reviewer).to_owned()).collect()
        };
        assert_eq!(of(&reviews, &people), ["p/R (2)", "q/R", "p/R"]);
        let mut turned = vec![review(0, "y"), review(0, "z"), review(1, "x")];
        let people = per_paper(&mut turned, &papers, &names);
        assert_eq!(of(&turned, &people), ["p/R", "p/R (2)", "q/R"]);
    }
}
