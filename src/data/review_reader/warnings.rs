//! What was dropped or is missing in reviews and Z.

use std::collections::BTreeSet;

use super::Loader;
use crate::data::ids::Ids;
use crate::data::nouns::{ARE, HAVE, WERE, counted, verb};
use crate::data::warning::{Warning, first_names, names_alike_between, names_rounded};
use crate::error::Remedy;

impl Loader<'_> {
    pub(super) fn warnings(&self) -> Vec<Warning> {
        let set = &self.set;
        let nouns = set.nouns;
        let warning = |code, count, sentence: &str| Warning::new(code, count, nouns.said(sentence));
        // Names stay as they are.
        let named = |code, count, sentence: &str, names: &str| {
            Warning::new(code, count, format!("{}: {names}", nouns.said(sentence)))
        };
        let mut warnings: Vec<Warning> = self.contents.warning().into_iter().collect();
        if self.replaced > 0 {
            let (count, were) = (self.replaced, verb(self.replaced, WERE));
            let message = format!("{} {were} dropped", counted(count, "duplicate review"));
            warnings.push(warning("duplicates_dropped", self.replaced, &message));
        }
        if let Some(names) = self.per_paper {
            let (people, reviews) =
                (nouns.people(set.reviewers.len()), nouns.texts(set.reviews.len()));
            let message = format!(
                "the {names} names are taken to be given anew on every {}, so that {} and name together \
                 are the person: {people} with {reviews}",
                nouns.thing(),
                nouns.thing(),
            );
            let of_names = Warning::new("names_per_paper", set.reviewers.len(), message);
            warnings.push(of_names.with_remedy(Remedy::SayNames));
        }
        warnings.extend(self.tasks.warnings(&set.papers, nouns));
        if self.joined > 0 {
            let message = format!(
                "{} {} joined to an earlier one of the same paper and reviewer",
                counted(self.joined, "text"),
                verb(self.joined, WERE)
            );
            warnings.push(warning("reviews_joined", self.joined, &message));
        }
        if !self.unknown_people.is_empty() {
            let unknown: Vec<&String> = self.unknown_people.iter().collect();
            let message = format!(
                "{} {are} not in the file of people and {are} named as before",
                counted(unknown.len(), "reviewer"),
                are = verb(unknown.len(), ARE)
            );
            let names = first_names(&unknown);
            warnings.push(named("people_unknown", unknown.len(), &message, &names));
        }
        if !self.torn.is_empty() {
            let torn: Vec<&String> = self.torn.iter().collect();
            let message = format!(
                "{} of two area chairs stand with the first: {}",
                nouns.things(torn.len()),
                first_names(&torn)
            );
            warnings.push(Warning::new("two_area_chairs", torn.len(), message));
        }
        if !self.unknown_papers.is_empty() {
            let count = self.unknown_papers.len();
            let papers: BTreeSet<&String> = self.unknown_papers.iter().collect();
            let papers: Vec<&String> = papers.into_iter().collect();
            let names = first_names(&papers);
            let of = verb(count, ["is of a paper", "are of papers"]);
            let message = format!("{} {of} that nobody reviewed", counted(count, "Z review"));
            warnings.push(named("z_of_unknown_papers", count, &message, &names));
            let unknown: Ids = papers.iter().copied().collect();
            let what = format!("{}s of Z", nouns.thing());
            warnings.extend(names_rounded(&what, &unknown));
            let unknown = papers.iter().map(|paper| paper.as_str());
            warnings.extend(names_alike_between(&what, &set.papers, unknown));
        }
        warnings.extend(self.of_samples());
        warnings.extend(self.of_papers());
        warnings
    }

    /// What papers miss for their scores.
    fn of_papers(&self) -> Vec<Warning> {
        let (mut warnings, set, nouns) = (Vec::new(), &self.set, self.set.nouns);
        let named = |code, count, sentence: &str, names: &str| {
            Warning::new(code, count, format!("{}: {names}", nouns.said(sentence)))
        };
        let mut reviews_of = vec![0_usize; set.papers.len()];
        let mut has_z = vec![false; set.papers.len()];
        set.reviews.iter().for_each(|review| reviews_of[review.paper as usize] += 1);
        set.z.iter().for_each(|z| has_z[z.paper as usize] = true);
        let papers_where = |wanted: &dyn Fn(usize) -> bool| -> Vec<&str> {
            (0..set.papers.len())
                .filter(|&paper| wanted(paper))
                .map(|paper| set.papers.names()[paper].as_str())
                .collect()
        };
        let without_z = papers_where(&|paper| !has_z[paper]);
        if !without_z.is_empty() {
            let count = without_z.len();
            let pairs: usize = (0..set.papers.len())
                .filter(|&paper| !has_z[paper])
                .map(|paper| reviews_of[paper] * reviews_of[paper].saturating_sub(1) / 2)
                .sum();
            let message = format!(
                "{count} of {} {} no Z; {} of their reviews {} left out of the scores that need it",
                counted(set.papers.len(), "paper"),
                verb(count, HAVE),
                counted(pairs, "pair"),
                verb(pairs, ARE)
            );
            let names = first_names(&without_z);
            warnings.push(named("papers_without_z", count, &message, &names));
        }
        let single = papers_where(&|paper| reviews_of[paper] == 1);
        if !single.is_empty() {
            let count = single.len();
            let names = first_names(&single);
            let (papers, have) = (counted(count, "paper"), verb(count, HAVE));
            let message = format!("{papers} {have} a single review, which no peer can support");
            warnings.push(named("papers_with_one_review", count, &message, &names));
        }
        warnings
    }

    /// What is said of the numbers of samples.
    fn of_samples(&self) -> Vec<Warning> {
        let (mut warnings, nouns) = (Vec::new(), self.set.nouns);
        if self.renumbered > 0 {
            let message = format!(
                "{} Z have a `sample` that their source has on no other {}, as if numbered through the \
                 file: they are numbered anew on each",
                self.renumbered,
                nouns.thing()
            );
            warnings.push(Warning::new("samples_renumbered", self.renumbered, message));
        }
        if !self.lone_samples.is_empty() {
            let count = self.lone_samples.len();
            let samples: Vec<&String> = self.lone_samples.iter().collect();
            let message = format!(
                "{count} Z have a `sample` that their source has on no other {0}, so that nothing shows \
                 what it writes there: number those of each {0} from 1: {1}",
                nouns.thing(),
                first_names(&samples)
            );
            warnings.push(Warning::new("lone_samples", count, message));
        }
        warnings
    }
}
