//! Reviewers of several papers from reviews whose authors are known by paper only, some of whom
//! hand in an LLM's review or one of another paper.

use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::SimulateError;
use super::rewording::Rewriting;
use crate::data::content::Content;
use crate::data::ids::Ids;
use crate::data::reviews::{Review, ReviewSet, ZReview};
use crate::stats::rank::whole;
use crate::text::pairs::{Paper, papers_of};

words! {
    /// What a simulated reviewer hands in.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum ReviewerKind {
        /// Reviews by people, each of the paper it is handed in for.
        Human = "human",
        /// An LLM's reviews of the papers, not those of Z.
        Llm = "llm",
        /// Reviews by people of other papers.
        OffTopic = "off_topic",
        /// An LLM's reviews of other papers, not those of Z.
        OffTopicLlm = "off_topic_llm",
    }
}

impl ReviewerKind {
    /// The kinds of low-effort reviewers.
    pub(crate) const LOW_EFFORT: [Self; 3] = [Self::Llm, Self::OffTopic, Self::OffTopicLlm];
}

/// Where a simulated review came from: a position in the reviews or in the Z of the real set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A review by a person.
    Review(usize),
    /// A review by an LLM.
    Z(usize),
    /// A review by a person, rewritten; how is said to [`SimulatedReviewers::fill_contents`].
    Rewritten(usize),
    /// A review by an LLM, reworded by who hands it in.
    Reworded(usize),
}

/// How reviewers are made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReviewerOptions {
    /// Papers of the real set that take part, by number; the others do not exist.
    pub papers: Vec<u32>,
    /// Papers per reviewer, at least 1.
    pub papers_per_reviewer: usize,
    /// Most reviews per paper.
    pub reviews_per_paper: usize,
    /// Numbers of the sources whose reviews are Z; cheaters use the others.
    pub z_sources: Vec<u32>,
    /// Whether cheaters hand in a Z itself.
    pub copy_z: bool,
    /// Whether cheaters reword what they hand in, see [`Rewriting::Reworded`].
    pub reword_copies: bool,
    /// Share of the people who review, rounded down, whose reviews are rewritten.
    pub rewritten: f64,
    /// Share of the papers whose Z is known.
    pub z_coverage: f64,
    /// Shares of the low-effort reviewers in the order of [`ReviewerKind::LOW_EFFORT`].
    pub shares: [f64; 3],
    /// Fewest reviewers of each low-effort kind.
    pub at_least: usize,
}

/// A simulated set of which it is known who did what.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SimulatedReviewers {
    /// Reviewers `r0`, `r1`, ... and the Z that is known; contents are empty, see
    /// [`Self::fill_contents`].
    pub set: ReviewSet,
    /// Kind of each reviewer.
    pub(crate) kinds: Vec<ReviewerKind>,
    /// Whether the reviewer is a person whose reviews are rewritten.
    pub(crate) rewritten: Vec<bool>,
    /// Origin of each review, then of each Z.
    pub(crate) origins: Vec<Origin>,
}

impl SimulatedReviewers {
    /// Copies texts and vectors from the set that the simulation was made from; `rewriting` is what
    /// happens to texts of [`Self::rewritten`].
    pub(crate) fn fill_contents(&mut self, real: &ReviewSet, rewriting: Rewriting) {
        let contents = self.set.reviews.iter_mut().map(|review| &mut review.content);
        let contents = contents.chain(self.set.z.iter_mut().map(|z| &mut z.content));
        for (content, origin) in contents.zip(&self.origins) {
            *content = match *origin {
                Origin::Review(index) => real.reviews[index].content.clone(),
                Origin::Z(index) => real.z[index].content.clone(),
                Origin::Rewritten(index) => rewritten(&real.reviews[index].content, rewriting),
                Origin::Reworded(index) => rewritten(&real.z[index].content, Rewriting::Reworded),
            };
        }
    }
}

/// The content with its text rewritten; vectors and judgments would be those of the old text.
pub(crate) fn rewritten(content: &Content, rewriting: Rewriting) -> Content {
    let text = content.text.as_deref().map(|text| rewriting.apply(text));
    Content { text, ..Content::default() }
}

/// Makes reviewers of `papers_per_reviewer` papers each, with at most `reviews_per_paper` reviews
/// per paper, from the reviews and LLM reviews of `real`.
///
/// Reviewers take the papers with the most free reviews, ties at random, until fewer papers than
/// one reviewer needs have one left; every review by a person stands for at most one reviewer on
/// its own paper. `floor(share * reviewers)` of each low-effort kind, at least `at_least`, are
/// drawn. Where no LLM review can be copied, the reviewer keeps the person's review. Off-topic
/// reviews are drawn from all reviews of other papers that take part. Which people are rewritten
/// is drawn last: all else is as without.
///
/// # Errors
///
/// [`SimulateError`] for shares that are none or sum to more than 1, for copies without a source
/// to copy, and where the papers do not suffice for one reviewer.
pub(crate) fn simulate_reviewers(
    real: &ReviewSet,
    options: &ReviewerOptions,
    random: &mut impl rand::Rng,
) -> Result<SimulatedReviewers, SimulateError> {
    check(real, options)?;
    let papers = papers_of(real);
    let assigned = assign(&papers, options, random);
    if assigned.is_empty() {
        return Err(SimulateError::Empty { what: "reviewer; give more papers or fewer each" });
    }
    let kinds = draw_kinds(assigned.len(), options, random)?;
    let mut unused: Vec<Vec<usize>> = papers.iter().map(|paper| paper.reviews.clone()).collect();
    unused.iter_mut().for_each(|reviews| reviews.shuffle(random));

    let mut set = ReviewSet { papers: real.papers.clone(), ..ReviewSet::default() };
    set.shape.clone_from(&real.shape);
    let mut origins = Vec::new();
    for (index, (own, &kind)) in assigned.iter().zip(&kinds).enumerate() {
        let reviewer = set.reviewers.intern(&format!("r{index}"));
        for &paper in own {
            // A reviewer was assigned no more often than there are reviews.
            let Some(person) = unused[paper as usize].pop() else { continue };
            let pick = Pick { real, papers: &papers, options, paper };
            origins.push(pick.origin(kind, random).unwrap_or(Origin::Review(person)));
            set.reviews.push(Review { paper, reviewer, content: Content::default() });
        }
    }
    let mut known = options.papers.clone();
    known.shuffle(random);
    known.truncate(count_of(options.z_coverage, known.len()));
    known.sort_unstable();
    let mut sources = Ids::new();
    for (index, z) in real.z.iter().enumerate() {
        if options.z_sources.contains(&z.source) && known.binary_search(&z.paper).is_ok() {
            let source = sources.intern(real.sources.name(z.source));
            set.z.push(ZReview { paper: z.paper, source, content: Content::default() });
            origins.push(Origin::Z(index));
        }
    }
    set.sources = sources;
    let rewritten = draw_rewritten(&kinds, options.rewritten, random);
    for (origin, review) in origins.iter_mut().zip(&set.reviews) {
        if let Origin::Review(index) = *origin
            && rewritten[review.reviewer as usize]
        {
            *origin = Origin::Rewritten(index);
        }
    }
    Ok(SimulatedReviewers { set, kinds, rewritten, origins })
}

/// A share of the people who review, rounded down.
fn draw_rewritten(kinds: &[ReviewerKind], share: f64, random: &mut impl rand::Rng) -> Vec<bool> {
    let people = kinds.iter().enumerate().filter(|(_, kind)| **kind == ReviewerKind::Human);
    let mut people: Vec<usize> = people.map(|(reviewer, _)| reviewer).collect();
    people.shuffle(random);
    people.truncate(count_of(share, people.len()));
    let mut rewritten = vec![false; kinds.len()];
    people.into_iter().for_each(|reviewer| rewritten[reviewer] = true);
    rewritten
}

fn check(real: &ReviewSet, options: &ReviewerOptions) -> Result<(), SimulateError> {
    let names = ["llm", "off_topic", "off_topic_llm"];
    for (name, &share) in names.into_iter().zip(&options.shares) {
        super::check_share(name, share)?;
    }
    super::check_share("z_coverage", options.z_coverage)?;
    super::check_share("rewritten", options.rewritten)?;
    let copies = options.shares[0] > 0.0 || options.shares[2] > 0.0 || options.at_least > 0;
    if copies && !real.z.iter().any(|z| options.can_copy(z.source)) {
        return Err(SimulateError::NoSamples);
    }
    Ok(())
}

impl ReviewerOptions {
    /// Whether cheaters hand in reviews of a source.
    fn can_copy(&self, source: u32) -> bool {
        self.z_sources.contains(&source) == self.copy_z
    }
}

fn count_of(share: f64, total: usize) -> usize {
    whole(share * total as f64)
}

/// The papers of each reviewer.
fn assign(
    papers: &[Paper],
    options: &ReviewerOptions,
    random: &mut impl rand::Rng,
) -> Vec<Vec<u32>> {
    let mut free: Vec<(u32, usize)> = options
        .papers
        .iter()
        .map(|&paper| (paper, papers[paper as usize].reviews.len().min(options.reviews_per_paper)))
        .collect();
    let mut assigned = Vec::new();
    let each = options.papers_per_reviewer;
    loop {
        free.retain(|&(_, count)| count > 0);
        if each == 0 || free.len() < each {
            return assigned;
        }
        free.shuffle(random);
        free.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        free[..each].iter_mut().for_each(|(_, count)| *count -= 1);
        assigned.push(free[..each].iter().map(|&(paper, _)| paper).collect());
    }
}

fn draw_kinds(
    reviewers: usize,
    options: &ReviewerOptions,
    random: &mut impl rand::Rng,
) -> Result<Vec<ReviewerKind>, SimulateError> {
    let counts = options.shares.map(|share| count_of(share, reviewers).max(options.at_least));
    let low_effort: usize = counts.iter().sum();
    if low_effort > reviewers {
        return Err(SimulateError::SharesTooLarge { sum: low_effort as f64 / reviewers as f64 });
    }
    let mut kinds = vec![ReviewerKind::Human; reviewers - low_effort];
    for (kind, count) in ReviewerKind::LOW_EFFORT.into_iter().zip(counts) {
        kinds.extend(std::iter::repeat_n(kind, count));
    }
    kinds.shuffle(random);
    Ok(kinds)
}

/// What a low-effort reviewer may hand in for one paper.
struct Pick<'a> {
    real: &'a ReviewSet,
    papers: &'a [Paper],
    options: &'a ReviewerOptions,
    paper: u32,
}

impl Pick<'_> {
    /// `None` for a person's own review.
    fn origin(&self, kind: ReviewerKind, random: &mut impl rand::Rng) -> Option<Origin> {
        let elsewhere = || self.options.papers.iter().filter(|&&other| other != self.paper);
        let copies = |paper: u32| {
            let z = self.papers[paper as usize].z.iter().copied();
            z.filter(|&z| self.options.can_copy(self.real.z[z].source))
                .map(if self.options.reword_copies { Origin::Reworded } else { Origin::Z })
        };
        let choices: Vec<Origin> = match kind {
            ReviewerKind::Human => return None,
            ReviewerKind::Llm => copies(self.paper).collect(),
            ReviewerKind::OffTopicLlm => elsewhere().flat_map(|&paper| copies(paper)).collect(),
            ReviewerKind::OffTopic => elsewhere()
                .flat_map(|&paper| self.papers[paper as usize].reviews.iter())
                .map(|&review| Origin::Review(review))
                .collect(),
        };
        (!choices.is_empty()).then(|| choices[random.random_range(0..choices.len())])
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::stats::seed::stream;
    use proptest::prelude::*;

    /// `papers` papers with `reviews` reviews each and two LLM reviews.
    pub(crate) fn real(papers: u32, reviews: u32) -> ReviewSet {
        let mut set = ReviewSet::default();
        for paper in 0..papers {
            set.papers.intern(&format!("p{paper}"));
            for review in 0..reviews {
                let reviewer = set.reviewers.intern(&format!("{paper}-{review}"));
                let content =
                    Content { text: Some(format!("p{paper} by {review}")), ..Content::default() };
                set.reviews.push(Review { paper, reviewer, content });
            }
            for sample in 0..2 {
                let source = set.sources.intern(&format!("s{sample}"));
                let content =
                    Content { text: Some(format!("p{paper} llm {sample}")), ..Content::default() };
                set.z.push(ZReview { paper, source, content });
            }
        }
        set
    }

    pub(crate) fn options(papers: u32, papers_per_reviewer: usize) -> ReviewerOptions {
        ReviewerOptions {
            papers: (0..papers).collect(),
            papers_per_reviewer,
            reviews_per_paper: 3,
            z_sources: vec![0],
            copy_z: false,
            reword_copies: false,
            rewritten: 0.0,
            z_coverage: 1.0,
            shares: [0.1, 0.1, 0.1],
            at_least: 1,
        }
    }

    proptest! {
        #[test]
        fn every_reviewer_has_distinct_papers_and_hands_in_what_the_kind_says(
            papers in 4..20_u32, each in 1..5_usize, seed: u64,
        ) {
            let real = real(papers, 4);
            let mut simulated =
                simulate_reviewers(&real, &options(papers, each), &mut stream(seed, "test", 0)).unwrap();
            simulated.fill_contents(&real, Rewriting::Formal);
            let set = &simulated.set;
            // Three reviews per paper, less than one reviewer's worth left over per paper.
            let reviewers = set.reviewers.len();
            prop_assert!(reviewers * each <= 3 * papers as usize);
            prop_assert!((reviewers + 1) * each + each * 3 > 3 * papers as usize);
            let mut own = Vec::new();
            for (review, origin) in set.reviews.iter().zip(&simulated.origins) {
                let text = review.content.text.as_deref().unwrap();
                let here = text.split(' ').next() == Some(set.papers.name(review.paper));
                let llm = text.contains("llm");
                match simulated.kinds[review.reviewer as usize] {
                    ReviewerKind::Human => {
                        prop_assert!(here && !llm);
                        own.push(*origin);
                    }
                    ReviewerKind::Llm => prop_assert!(here && text.ends_with("llm 1")),
                    ReviewerKind::OffTopic => prop_assert!(!here && !llm),
                    ReviewerKind::OffTopicLlm => prop_assert!(!here && text.ends_with("llm 1")),
                }
            }
            let mut pairs: Vec<_> = set.reviews.iter().map(|r| (r.paper, r.reviewer)).collect();
            pairs.sort_unstable();
            let all = pairs.len();
            pairs.dedup();
            prop_assert_eq!(pairs.len(), all);
            prop_assert_eq!(all, reviewers * each);
            // No human review is used twice.
            for (i, origin) in own.iter().enumerate() {
                prop_assert!(!own[..i].contains(origin));
            }
            prop_assert_eq!(set.z.len(), papers as usize);
            prop_assert!(set.z.iter().all(|z| z.content.text.as_deref().unwrap().ends_with("llm 0")));
        }
    }

    #[test]
    fn shares_and_coverage_are_counted_down() {
        let real = real(20, 3);
        let options = ReviewerOptions {
            shares: [0.25, 0.1, 0.0],
            at_least: 0,
            z_coverage: 0.5,
            ..options(20, 3)
        };
        let simulated = simulate_reviewers(&real, &options, &mut stream(1, "test", 0)).unwrap();
        let count = |kind| simulated.kinds.iter().filter(|other| **other == kind).count();
        let reviewers = simulated.kinds.len();
        assert_eq!(count(ReviewerKind::Llm), reviewers / 4);
        assert_eq!(count(ReviewerKind::OffTopic), reviewers / 10);
        assert_eq!(count(ReviewerKind::OffTopicLlm), 0);
        assert_eq!(simulated.set.z.len(), 10);
    }

    #[test]
    fn what_cannot_be_simulated_is_an_error() {
        let mut real = real(4, 3);
        let run = |real: &ReviewSet, options: &ReviewerOptions| {
            simulate_reviewers(real, options, &mut stream(1, "test", 0)).unwrap_err()
        };
        assert!(matches!(run(&real, &options(4, 5)), SimulateError::Empty { .. }));
        let too_many = ReviewerOptions { shares: [0.5, 0.5, 0.5], ..options(4, 2) };
        assert!(matches!(run(&real, &too_many), SimulateError::SharesTooLarge { .. }));
        let bad = ReviewerOptions { shares: [-0.5, 0.0, 0.0], ..options(4, 2) };
        assert!(matches!(run(&real, &bad), SimulateError::BadShare { name: "llm", .. }));
        real.z.retain(|z| z.source == 0);
        assert_eq!(run(&real, &options(4, 2)), SimulateError::NoSamples);
    }

    #[test]
    fn rewritten_people_and_reworded_copies_are_otherwise_the_same_reviewers() {
        let real = real(12, 4);
        let run = |options: &ReviewerOptions| {
            simulate_reviewers(&real, options, &mut stream(3, "test", 0)).unwrap()
        };
        let before = run(&options(12, 3));
        let changed = ReviewerOptions { rewritten: 0.5, reword_copies: true, ..options(12, 3) };
        let mut after = run(&changed);
        assert_eq!(after.kinds, before.kinds);
        let people = before.kinds.iter().filter(|kind| **kind == ReviewerKind::Human).count();
        let chosen = after.rewritten.iter().filter(|rewritten| **rewritten).count();
        assert_eq!(chosen, people / 2);
        for (index, review) in after.set.reviews.iter().enumerate() {
            let reviewer = review.reviewer as usize;
            let expected = match before.origins[index] {
                Origin::Review(index) if after.rewritten[reviewer] => Origin::Rewritten(index),
                Origin::Z(index) => Origin::Reworded(index),
                origin => origin,
            };
            assert_eq!(after.origins[index], expected);
            if after.rewritten[reviewer] {
                assert_eq!(after.kinds[reviewer], ReviewerKind::Human);
            }
        }
        assert!(after.origins.iter().any(|origin| matches!(origin, Origin::Reworded(_))));
        after.fill_contents(&real, Rewriting::Polished);
        for (review, origin) in after.set.reviews.iter().zip(&after.origins) {
            let text = review.content.text.as_deref().unwrap();
            assert_eq!(text.contains("###"), matches!(origin, Origin::Rewritten(_)), "{text}");
        }
    }

    #[test]
    fn all_sources_can_be_z_if_cheaters_hand_in_z_itself() {
        let real = real(12, 4);
        let both = ReviewerOptions { z_sources: vec![0, 1], ..options(12, 3) };
        let run = |options: &ReviewerOptions| {
            simulate_reviewers(&real, options, &mut stream(3, "test", 0))
        };
        assert_eq!(run(&both).unwrap_err(), SimulateError::NoSamples);
        let simulated = run(&ReviewerOptions { copy_z: true, ..both }).unwrap();
        assert_eq!(simulated.set.z.len(), 24);
        assert_eq!(simulated.set.sources.names(), ["s0", "s1"]);
        let first = run(&ReviewerOptions { copy_z: true, ..options(12, 3) }).unwrap();
        let copies = first.origins.iter().zip(&first.set.reviews);
        for (origin, _) in copies {
            if let Origin::Z(index) = *origin {
                assert_eq!(real.z[index].source, 0);
            }
        }
    }
}
