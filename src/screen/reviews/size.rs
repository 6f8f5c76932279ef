//! Refuses venues that would not fit into memory, before it is taken.

use crate::data::reviews::ReviewSet;
use crate::error::{ErrorKind, Kinded};
use crate::text::pairs::Paper;
use crate::text::space::Space;

/// Most bytes of the vectors of one paper, as they are compared: 4 GiB.
const MOST_BYTES: usize = 1 << 32;

/// Most pairs of reviews of one paper that evidence is shown for: tens of bytes each, in memory and
/// on the page.
const MOST_PAIRS: usize = 20_000_000;

/// Most pairs of reviews of one paper for own work, which compares each and several ghosts of each
/// with all others: 2,000 reviews, a minute or two.
const MOST_OWN_PAIRS: usize = 4_000_000;

/// Why there is no result for a paper.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum PaperTooLarge {
    /// The vectors of its reviews.
    #[error(
        "the paper `{paper}` has {reviews} reviews: comparing them needs about {gibibytes} GiB, more \
         than the limit of {limit} GiB; choose an embedder with fewer dimensions, or score part of \
         the reviews"
    )]
    Vectors { paper: String, reviews: usize, gibibytes: usize, limit: usize },
    /// The pairs of its reviews, where each is shown.
    #[error(
        "the paper `{paper}` has {reviews} reviews: evidence shows every pair of them, and {limit} \
         pairs are the most; scores alone need no pairs"
    )]
    Pairs { paper: String, reviews: usize, limit: usize },
    /// The pairs of its reviews, where own work is to be told.
    #[error(
        "the paper `{paper}` has {reviews} reviews: the score own compares every pair of them, and \
         {limit} pairs are the most; the scores projected and combined need no pairs"
    )]
    Own { paper: String, reviews: usize, limit: usize },
}

impl Kinded for PaperTooLarge {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }
}

fn largest(papers: &[Paper], wanted: impl Fn(&Paper) -> bool) -> Option<(u32, &Paper)> {
    let papers = (0..).zip(papers).filter(|(_, paper)| wanted(paper));
    papers.max_by_key(|(_, paper)| paper.reviews.len())
}

/// Refuses evidence for papers with too many pairs of reviews.
pub(super) fn check_pairs(
    set: &ReviewSet,
    papers: &[Paper],
    wanted: impl Fn(&Paper) -> bool,
) -> Result<(), PaperTooLarge> {
    let Some((number, paper)) = largest(papers, wanted) else { return Ok(()) };
    let reviews = paper.reviews.len();
    if fits(reviews, MOST_PAIRS) {
        return Ok(());
    }
    let paper = set.papers.name(number).to_owned();
    Err(PaperTooLarge::Pairs { paper, reviews, limit: MOST_PAIRS })
}

/// Refuses own work for papers with too many pairs of reviews.
pub(super) fn check_own(set: &ReviewSet) -> Result<(), PaperTooLarge> {
    let mut counts = vec![0_usize; set.papers.len()];
    set.reviews.iter().for_each(|review| counts[review.paper as usize] += 1);
    let largest = (0..).zip(counts).max_by_key(|&(_, reviews)| reviews);
    match largest {
        Some((number, reviews)) if !fits(reviews, MOST_OWN_PAIRS) => {
            let paper = set.papers.name(number).to_owned();
            Err(PaperTooLarge::Own { paper, reviews, limit: MOST_OWN_PAIRS })
        }
        _ => Ok(()),
    }
}

/// Whether a paper of so many reviews has at most `limit` pairs, each review with itself included.
fn fits(reviews: usize, limit: usize) -> bool {
    reviews.saturating_mul(reviews) <= limit
}

/// Refuses papers whose vectors, side by side, are too large.
pub(super) fn check_vectors(
    set: &ReviewSet,
    papers: &[Paper],
    space: &Space,
) -> Result<(), PaperTooLarge> {
    for (number, paper) in (0..).zip(papers) {
        let bytes = bytes_of(space, paper, MOST_BYTES);
        if bytes > MOST_BYTES {
            return Err(PaperTooLarge::Vectors {
                paper: set.papers.name(number).to_owned(),
                reviews: paper.reviews.len(),
                gibibytes: bytes.div_ceil(1 << 30),
                limit: MOST_BYTES >> 30,
            });
        }
    }
    Ok(())
}

/// What [`Space::block`] of a paper and the unit vectors made of it take; looked at closely only if
/// it may be more than `limit`.
fn bytes_of(space: &Space, paper: &Paper, limit: usize) -> usize {
    let rows = paper.reviews.len() + paper.z.len();
    let bytes = |dims: usize| rows.saturating_mul(dims).saturating_mul(2 * size_of::<f64>());
    let most = bytes(space.dims());
    if most <= limit {
        return most;
    }
    let rows = paper.reviews.iter().copied();
    bytes(space.dims_of(rows.chain(paper.z.iter().map(|z| space.first_z() + z))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::content::Content;
    use crate::data::reviews::Review;
    use crate::embed::vectors::{DenseVectors, SparseVectors, Vectors};

    fn set() -> ReviewSet {
        let mut set = ReviewSet::default();
        set.papers.intern("p");
        set
    }

    fn paper(reviews: usize) -> Paper {
        Paper { reviews: (0..reviews).collect(), z: Vec::new() }
    }

    #[test]
    fn evidence_for_sixty_thousand_reviews_of_a_paper_is_refused_with_the_number() {
        let error = check_pairs(&set(), &[paper(60_000)], |_| true).unwrap_err();
        assert!(error.to_string().contains("`p` has 60000 reviews"), "{error}");
        assert!(check_pairs(&set(), &[paper(60_000)], |_| false).is_ok());
        assert!(check_pairs(&set(), &[paper(4000)], |_| true).is_ok());
    }

    #[test]
    fn own_work_is_refused_from_two_thousand_and_one_reviews_of_a_paper_on() {
        let with = |reviews: usize| {
            let mut set = set();
            set.papers.intern("small");
            let review = |paper, reviewer| Review { paper, reviewer, content: Content::default() };
            set.reviews.extend((0..).take(reviews).map(|reviewer| review(0, reviewer)));
            set.reviews.push(review(1, 0));
            set
        };
        assert_eq!(check_own(&ReviewSet::default()), Ok(()));
        assert_eq!(check_own(&with(2000)), Ok(()));
        let error = check_own(&with(2001)).unwrap_err();
        assert_eq!(
            error,
            PaperTooLarge::Own { paper: "p".into(), reviews: 2001, limit: MOST_OWN_PAIRS }
        );
    }

    #[test]
    fn what_vectors_take_counts_only_the_dimensions_of_the_paper() {
        let dense = Space::new(Vectors::Dense(DenseVectors::from_values(3, vec![0.0; 6])), 2);
        assert_eq!(bytes_of(&dense, &paper(2), 0), 2 * 3 * 16);
        let mut sparse = SparseVectors::new(1 << 20);
        sparse.push(vec![(7, 1.0), (9, 1.0)]);
        sparse.push(vec![(9, 2.0)]);
        let sparse = Space::new(Vectors::Sparse(sparse), 2);
        // Two words, and one dimension for all others.
        assert_eq!(bytes_of(&sparse, &paper(2), 0), 2 * 3 * 16);
        assert_eq!(bytes_of(&sparse, &paper(2), MOST_BYTES), 2 * (1 << 20) * 16);
    }

    #[test]
    fn a_paper_whose_vectors_are_too_large_is_refused_with_the_size() {
        // 9,000 reviews of four words that nobody else uses: 9000 * 36001 * 16 bytes.
        let mut sparse = SparseVectors::new(1 << 20);
        for row in 0..9000_u32 {
            sparse.push((0..4).map(|word| (row * 4 + word, 1.0)).collect());
        }
        let space = Space::new(Vectors::Sparse(sparse), 9000);
        let error = check_vectors(&set(), &[paper(9000)], &space).unwrap_err();
        assert!(error.to_string().contains("needs about 5 GiB"), "{error}");
    }
}
