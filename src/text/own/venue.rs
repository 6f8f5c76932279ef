//! The reviews and Z of a set in an order that does not depend on the order of their rows.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::z_check::UnusableZ;
use crate::data::reviews::ReviewSet;

/// Where everything of a set is: reviews by the names of paper and reviewer, Z by those of paper
/// and source, so that sums and draws are the same whatever the order of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Venue {
    /// Position in [`ReviewSet::reviews`] of each review.
    pub(super) reviews: Vec<usize>,
    /// Position in [`ReviewSet::z`] of each Z that is used.
    pub(super) z: Vec<usize>,
    /// Reviews and Z of each paper that has reviews, as ranges of the two lists.
    pub(super) papers: Vec<VenuePaper>,
    /// Position in `papers` of each review, and of each Z.
    pub(super) paper_of_review: Vec<usize>,
    pub(super) paper_of_z: Vec<usize>,
    /// Reviewers by name: position in [`ReviewSet::reviewers`].
    pub(super) reviewers: Vec<u32>,
    /// Z whose text another source has for the same paper, left out.
    pub(super) repeated_z: usize,
    /// Z that is no review of its paper, left out, by what is wrong.
    pub(super) unusable_z: Vec<(UnusableZ, usize)>,
}

/// The reviews and Z of one paper, as ranges of the lists of a [`Venue`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VenuePaper {
    /// In [`ReviewSet::papers`].
    pub(super) number: u32,
    pub(super) reviews: Range<usize>,
    pub(super) z: Range<usize>,
}

impl Venue {
    /// A Z whose content another source has for the same paper says nothing new and is left out;
    /// that of the source with more Z stays, of equals the first by name. Nor is Z used that is no
    /// review of its paper, has too few words, or is in another language than the reviews.
    pub(super) fn new(set: &ReviewSet, wrong: &[Option<UnusableZ>]) -> Self {
        let paper = |paper: u32| set.papers.name(paper);
        let mut reviews: Vec<usize> = (0..set.reviews.len()).collect();
        reviews.sort_by_key(|&index| {
            let review = &set.reviews[index];
            (paper(review.paper), set.reviewers.name(review.reviewer))
        });
        let mut numbers: HashMap<u32, usize> = HashMap::new();
        let mut papers: Vec<VenuePaper> = Vec::new();
        let mut paper_of_review = Vec::with_capacity(reviews.len());
        for (position, &index) in reviews.iter().enumerate() {
            let number = set.reviews[index].paper;
            let paper = *numbers.entry(number).or_insert_with(|| {
                papers.push(VenuePaper { number, reviews: position..position, z: 0..0 });
                papers.len() - 1
            });
            papers[paper].reviews.end = position + 1;
            paper_of_review.push(paper);
        }

        let mut counts: BTreeMap<UnusableZ, usize> = BTreeMap::new();
        let known = set.z.iter().zip(wrong).filter(|(z, _)| numbers.contains_key(&z.paper));
        let mut usable = 0;
        for (_, wrong) in known {
            match wrong {
                Some(wrong) => *counts.entry(*wrong).or_default() += 1,
                None => usable += 1,
            }
        }
        let kept = kept_z(set, &numbers, wrong);
        let repeated_z = usable - kept.len();
        let unusable_z = counts.into_iter().collect();
        let mut z = kept;
        z.sort_by_key(|&index| {
            (numbers[&set.z[index].paper], set.sources.name(set.z[index].source))
        });
        let paper_of_z: Vec<usize> = z.iter().map(|&index| numbers[&set.z[index].paper]).collect();
        for (position, &number) in paper_of_z.iter().enumerate() {
            let range = &mut papers[number].z;
            if range.start == range.end {
                *range = position..position;
            }
            range.end = position + 1;
        }
        let mut reviewers: Vec<u32> = (0..).take(set.reviewers.len()).collect();
        reviewers.sort_by_key(|&reviewer| set.reviewers.name(reviewer));
        Self { reviews, z, papers, paper_of_review, paper_of_z, reviewers, repeated_z, unusable_z }
    }
}

fn kept_z(
    set: &ReviewSet,
    papers: &HashMap<u32, usize>,
    wrong: &[Option<UnusableZ>],
) -> Vec<usize> {
    let mut sizes = vec![0_usize; set.sources.len()];
    set.z.iter().for_each(|z| sizes[z.source as usize] += 1);
    let usable =
        |&index: &usize| papers.contains_key(&set.z[index].paper) && wrong[index].is_none();
    let mut order: Vec<usize> = (0..set.z.len()).filter(usable).collect();
    order.sort_by_key(|&index| {
        let source = set.z[index].source;
        (std::cmp::Reverse(sizes[source as usize]), set.sources.name(source), set.z[index].paper)
    });
    let mut texts: HashSet<(u32, &str)> = HashSet::new();
    let mut vectors: HashMap<u32, Vec<&[f64]>> = HashMap::new();
    order.retain(|&index| {
        let z = &set.z[index];
        match (&z.content.text, &z.content.vector) {
            (Some(text), _) => texts.insert((z.paper, text.as_str())),
            (None, Some(vector)) => {
                let seen = vectors.entry(z.paper).or_default();
                let new = !seen.contains(&vector.as_slice());
                seen.push(vector);
                new
            }
            (None, None) => true,
        }
    });
    order
}
