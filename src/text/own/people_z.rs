//! A Z that a person wrote: a review filed as Z by mistake. Held against the person it would accuse the one who wrote it.

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use super::duplicates::{common, hash_folded, shingles};
use super::z_check::UnusableZ;
use crate::data::content::Content;
use crate::data::reviews::ReviewSet;
use crate::data::words::words;
use crate::stats::interval::Estimate;
use crate::text::pairs::{Paper, papers_of};

/// Least of the shingles of the longer of a Z and a review that both have, if the one was made of the other: of a text of
/// which somebody changed one word in twelve.
const NEAR: f64 = 0.5;

/// Most of the shingles of a review that a Z beside its own text has: another Z is far from it.
const FAR: f64 = 0.2;

/// So many standard errors a text must be likelier a person's: an LLM's answer that keeps close to its task's text is
/// only just so, and whoever handed it in would go unseen.
const SURELY: f64 = 2.0;

/// Z, and reviews, of other papers from which on their words show how each write.
const FEWEST: usize = 20;

/// Which Z are a person's review: only where a paper has several Z, this one and one review of the paper are nearly the same
/// text, no other Z of the paper is near that review, and by its words this one is a person's and the others are an LLM's.
///
/// Whoever hands in a Z is not meant: by its words that Z is an LLM's. One entry for each of [`ReviewSet::z`], the review
/// that is nearly the same text; takes the shingles of every review.
pub(super) fn people_z(
    set: &ReviewSet,
    unusable: &[Option<UnusableZ>],
    shingles_of_reviews: &[Vec<u64>],
) -> Vec<Option<usize>> {
    let mut papers = papers_of(set);
    for paper in &mut papers {
        paper.z.retain(|&z| unusable[z].is_none() && set.z[z].content.text.is_some());
        paper.reviews.retain(|&review| !shingles_of_reviews[review].is_empty());
    }
    let candidates: Vec<(usize, usize)> = papers
        .par_iter()
        .filter(|paper| paper.z.len() > 1 && !paper.reviews.is_empty())
        .flat_map_iter(|paper| near_one_review(set, paper, shingles_of_reviews))
        .collect();
    let mut found = vec![None; set.z.len()];
    if candidates.is_empty() {
        return found;
    }
    let of_candidates = candidates.iter().map(|&(z, _)| set.z[z].paper).collect();
    let either = candidates.iter().map(|&(_, review)| review).collect();
    let words = Words::of(set, unusable, &of_candidates, &either);
    for (z, review) in candidates {
        let paper = set.z[z].paper;
        let siblings = papers[paper as usize].z.iter().filter(|&&other| other != z);
        let reads_as_an_llm = |z: usize| words.likelier_an_llm(paper, &set.z[z].content);
        let is_surely_human = |(by, error): (f64, f64)| by < -SURELY * error;
        let is_a_persons = reads_as_an_llm(z).is_some_and(is_surely_human)
            && siblings
                .into_iter()
                .all(|&other| reads_as_an_llm(other).is_some_and(|(by, _)| by > 0.0));
        found[z] = is_a_persons.then_some(review);
    }
    found
}

/// Of the Z of a paper those that are nearly the text of one of its reviews, which no other Z is near, each with that
/// review.
fn near_one_review(
    set: &ReviewSet,
    Paper { reviews, z }: &Paper,
    shingles_of_reviews: &[Vec<u64>],
) -> Vec<(usize, usize)> {
    let of_z: Vec<Vec<u64>> = z.iter().map(|&z| shingles(text(&set.z[z].content))).collect();
    let is_near = |z: &[u64], review: &[u64]| {
        let needed = NEAR * z.len().max(review.len()) as f64;
        // Most are of other lengths.
        z.len().min(review.len()) as f64 >= needed && common(z, review) as f64 >= needed
    };
    let is_far = |z: &[u64], review: &[u64]| common(z, review) as f64 <= FAR * review.len() as f64;
    let candidate = |(index, own): (usize, &Vec<u64>)| {
        let mut near = reviews.iter().filter(|&&review| is_near(own, &shingles_of_reviews[review]));
        let (Some(&review), None) = (near.next(), near.next()) else { return None };
        let is_far = |z: &Vec<u64>| is_far(z, &shingles_of_reviews[review]);
        let mut others = of_z.iter().enumerate().filter(|(other, _)| *other != index);
        others.all(|(_, other)| is_far(other)).then_some((z[index], review))
    };
    of_z.iter().enumerate().filter_map(candidate).collect()
}

fn text(content: &Content) -> &str {
    content.text.as_deref().unwrap_or_default()
}

/// How often each word of the texts on some papers stands in reviews and in Z, in all and by paper.
struct Words {
    all: Counts,
    papers: HashMap<u32, Counts>,
}

#[derive(Default, Clone)]
struct Counts {
    /// Of reviews and of Z, those that are asked for.
    words: HashMap<u64, [u64; 2]>,
    /// Words in all, and texts.
    totals: [u64; 2],
    texts: [usize; 2],
}

impl Counts {
    fn add(&mut self, text: &str, kind: usize, wanted: &HashSet<u64>) {
        for word in words(text).map(hash_folded()) {
            if wanted.contains(&word) {
                self.words.entry(word).or_default()[kind] += 1;
            }
            self.totals[kind] += 1;
        }
        self.texts[kind] += 1;
    }

    fn and(mut self, other: Self) -> Self {
        for (word, counts) in other.words {
            let all = self.words.entry(word).or_default();
            *all = [0, 1].map(|kind| all[kind] + counts[kind]);
        }
        self.totals = [0, 1].map(|kind| self.totals[kind] + other.totals[kind]);
        self.texts = [0, 1].map(|kind| self.texts[kind] + other.texts[kind]);
        self
    }
}

impl Words {
    /// Without the reviews that may be either's.
    fn of(
        set: &ReviewSet,
        unusable: &[Option<UnusableZ>],
        papers: &HashSet<u32>,
        either: &HashSet<usize>,
    ) -> Self {
        let z = set.z.iter().zip(unusable).filter(|(_, wrong)| wrong.is_none());
        let z = z.map(|(z, _)| (z.paper, &z.content, 1));
        let reviews = set.reviews.iter().enumerate().filter(|(place, _)| !either.contains(place));
        let reviews = reviews.map(|(_, review)| (review.paper, &review.content, 0));
        let texts: Vec<(u32, &str, usize)> = (reviews.chain(z))
            .filter_map(|(paper, content, kind)| Some((paper, content.text.as_deref()?, kind)))
            .collect();
        let of_papers = || texts.iter().filter(|(paper, ..)| papers.contains(paper));
        let wanted = of_papers().flat_map(|(_, text, _)| words(text).map(hash_folded())).collect();
        let add = |mut counts: Counts, &(_, text, kind): &(u32, &str, usize)| {
            counts.add(text, kind, &wanted);
            counts
        };
        let all = texts.par_iter().fold(Counts::default, add).reduce(Counts::default, Counts::and);
        let mut by_paper: HashMap<u32, Counts> = HashMap::new();
        for &(paper, text, kind) in of_papers() {
            by_paper.entry(paper).or_default().add(text, kind, &wanted);
        }
        Self { all, papers: by_paper }
    }

    /// The mean over the words of a text of ln(P(word in a Z) / P(word in a review)), by the texts of other papers, and its
    /// standard error as if words were independent; `None` where they are too few, or the text has fewer than two words.
    fn likelier_an_llm(&self, paper: u32, content: &Content) -> Option<(f64, f64)> {
        let own = self.papers.get(&paper)?;
        let others = [0, 1].map(|kind| self.all.texts[kind] - own.texts[kind]);
        if others.iter().any(|&texts| texts < FEWEST) {
            return None;
        }
        let share = |word: u64, kind: usize| {
            let count = |counts: &Counts| counts.words.get(&word).map_or(0, |c| c[kind]);
            let total = self.all.totals[kind] - own.totals[kind];
            ((count(&self.all) - count(own)) as f64 + 0.5) / (total as f64 + 1.0)
        };
        let ratios = words(text(content)).map(hash_folded());
        let ratios = ratios.map(|word| (share(word, 1) / share(word, 0)).ln());
        let mean = Estimate::of_mean(&ratios.collect::<Vec<f64>>())?;
        Some((mean.value, mean.standard_error?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::reviews::{Review, ZReview};
    use crate::text::own::duplicates::shingles_of_reviews;

    fn content(text: &str) -> Content {
        Content { text: Some(text.into()), ..Content::default() }
    }

    /// Papers with one review and two Z; people say "i think", LLMs "the paper delves", of other things each.
    fn set(papers: usize) -> ReviewSet {
        let mut set = ReviewSet::default();
        for paper in 0..papers {
            let id = set.papers.intern(&format!("p{paper}"));
            let say = |phrase: &str, of: usize| {
                (0..12).map(|n| format!("{phrase} w{paper}x{of}x{n}. ")).collect::<String>()
            };
            let reviewer = set.reviewers.intern(&format!("r{paper}"));
            set.reviews.push(Review {
                paper: id,
                reviewer,
                content: content(&say("i think of", 0)),
            });
            for source in 1..=2 {
                let number = set.sources.intern(&format!("llm{source}"));
                let content = content(&say("the paper delves into", source));
                set.z.push(ZReview { paper: id, source: number, content });
            }
        }
        set
    }

    fn found(set: &ReviewSet) -> Vec<usize> {
        let found = people_z(set, &vec![None; set.z.len()], &shingles_of_reviews(set));
        found.iter().enumerate().filter(|(_, found)| found.is_some()).map(|(z, _)| z).collect()
    }

    #[test]
    fn a_review_filed_as_z_is_found_and_a_z_handed_in_is_not() {
        let mut filed = set(25);
        assert!(found(&filed).is_empty());
        filed.z[6].content = filed.reviews[3].content.clone();
        assert_eq!(found(&filed), [6]);
        // Nor is it hidden by another word in the place of every twelfth.
        let edited = filed.z[6].content.text.as_deref().unwrap_or_default().split(' ').enumerate();
        let edited = edited.map(|(at, word)| if at % 12 == 5 { "somewhat" } else { word });
        filed.z[6].content = content(&edited.collect::<Vec<_>>().join(" "));
        assert_eq!(found(&filed), [6]);
        // The other way round: the person's text is the LLM's.
        let mut handed_in = set(25);
        handed_in.reviews[3].content = handed_in.z[6].content.clone();
        assert!(found(&handed_in).is_empty());
    }

    #[test]
    fn one_z_alone_or_few_others_or_two_near_leave_it() {
        // Without another Z of the paper nobody can say.
        let mut alone = set(25);
        alone.z[6].content = alone.reviews[3].content.clone();
        alone.z.remove(7);
        assert!(found(&alone).is_empty());
        let mut few = set(10);
        few.z[6].content = few.reviews[3].content.clone();
        assert!(found(&few).is_empty());
        // Two reviews that are the same text are not one person's.
        let mut two = set(25);
        two.z[6].content = two.reviews[3].content.clone();
        let (paper, text) = (two.reviews[3].paper, two.reviews[3].content.clone());
        let reviewer = two.reviewers.intern("another");
        two.reviews.push(Review { paper, reviewer, content: text });
        assert!(found(&two).is_empty());
    }

    #[test]
    fn the_words_count_by_hand() {
        // One word in a review of another paper, one in its Z: 1.5 of 2 against .5 of 2.
        let mut set = ReviewSet::default();
        for (paper, text, z) in [("a", "yes", "no"), ("b", "yes", "no")] {
            let paper = set.papers.intern(paper);
            let reviewer = set.reviewers.intern("r");
            set.reviews.push(Review { paper, reviewer, content: content(text) });
            let source = set.sources.intern("llm");
            set.z.push(ZReview { paper, source, content: content(z) });
        }
        let mut words = Words::of(&set, &[None, None], &HashSet::from([0]), &HashSet::new());
        assert_eq!(words.likelier_an_llm(0, &content("yes")), None);
        words.all.texts = [50, 50];
        let by = |text: &str| words.likelier_an_llm(0, &content(text)).unwrap();
        let ratio = 3.0_f64.ln();
        let (mean, error) = by("yes yes");
        assert!((mean + ratio).abs() < 1e-12 && error.abs() < 1e-12);
        // Of -ln 3 and ln 3 the mean is 0, the variance 2 ln^2 3, that of the mean half of it.
        let (mean, error) = by("Yes, no!");
        assert!(mean.abs() < 1e-12 && (error - ratio).abs() < 1e-12);
    }
}
