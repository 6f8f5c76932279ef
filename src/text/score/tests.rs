use proptest::prelude::*;

use super::*;
use crate::data::content::Content;
use crate::data::ids::Ids;
use crate::data::reviews::{Review, ZReview};
use crate::embed::vectors::{DenseVectors, Vectors};
use crate::stats::similarity::{dot, norm};
use crate::text::pairs::papers_of;

const DIMS: usize = 6;

/// `(paper, reviewer, vector)` of reviews and `(paper, source, vector)` of Z.
#[derive(Debug, Clone)]
struct Crowd {
    reviews: Vec<(u32, u32, Vec<f64>)>,
    z: Vec<(u32, u32, Vec<f64>)>,
}

impl Crowd {
    fn set(&self) -> ReviewSet {
        let number = |prefix: &str, largest: u32| {
            let mut ids = Ids::new();
            (0..=largest).for_each(|id| assert_eq!(ids.intern(&format!("{prefix}{id}")), id));
            ids
        };
        let papers = self.reviews.iter().chain(&self.z).map(|row| row.0).max().unwrap();
        let content =
            |vector: &Vec<f64>| Content { vector: Some(vector.clone()), ..Content::default() };
        ReviewSet {
            papers: number("p", papers),
            reviewers: number("r", self.reviews.iter().map(|row| row.1).max().unwrap()),
            sources: number("s", self.z.iter().map(|row| row.1).max().unwrap_or(0)),
            reviews: self
                .reviews
                .iter()
                .map(|(paper, reviewer, v)| Review {
                    paper: *paper,
                    reviewer: *reviewer,
                    content: content(v),
                })
                .collect(),
            z: self
                .z
                .iter()
                .map(|(paper, source, v)| ZReview {
                    paper: *paper,
                    source: *source,
                    content: content(v),
                })
                .collect(),
            ..ReviewSet::default()
        }
    }

    fn space(&self) -> Space {
        let rows: Vec<f64> =
            self.reviews.iter().chain(&self.z).flat_map(|row| row.2.clone()).collect();
        Space::new(Vectors::Dense(DenseVectors::from_values(DIMS, rows)), self.reviews.len())
    }

    fn projected(&self, combine: ZCombine) -> Vec<Option<f64>> {
        let set = self.set();
        values(&projected_scores(&set, &papers_of(&set), &self.space(), combine))
    }
}

fn values(scores: &[ReviewerScore]) -> Vec<Option<f64>> {
    scores.iter().map(|score| score.estimate.map(|estimate| estimate.value)).collect()
}

/// The definition for one Z per paper: all pairs of reviews, the paper's formula for each.
fn brute_force(crowd: &Crowd) -> Vec<Option<f64>> {
    let reviewers = crowd.reviews.iter().map(|row| row.1).max().unwrap() + 1;
    (0..reviewers)
        .map(|i| {
            let (mut sum, mut count) = (0.0, 0.0);
            for (paper, author, x) in &crowd.reviews {
                for (other_paper, peer, y) in &crowd.reviews {
                    let z = crowd.z.iter().find(|z| z.0 == *paper);
                    let Some((_, _, z)) = z else { continue };
                    if *author == i && peer != author && other_paper == paper {
                        let rest = |x: &[f64]| -> Vec<f64> {
                            let share = dot(x, z) / dot(z, z);
                            x.iter().zip(z).map(|(x, z)| x - share * z).collect()
                        };
                        let (a, b) = (rest(x), rest(y));
                        sum += dot(&a, &b) / (norm(&a) * norm(&b));
                        count += 1.0;
                    }
                }
            }
            (count > 0.0).then(|| sum / count)
        })
        .collect()
}

fn vector() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(-3.0..3.0_f64, DIMS)
        .prop_filter("far from zero", |vector| norm(vector) > 0.5)
}

/// Up to 5 papers and 6 reviewers; every reviewer reviews a random set of papers.
fn crowd(z_per_paper: std::ops::Range<usize>) -> impl Strategy<Value = Crowd> {
    let paper = (
        proptest::collection::btree_map(0..6_u32, vector(), 1..5),
        proptest::collection::vec(vector(), z_per_paper),
    );
    proptest::collection::vec(paper, 1..5).prop_map(|papers| {
        let mut crowd = Crowd { reviews: Vec::new(), z: Vec::new() };
        for (paper, (reviews, z)) in (0..).zip(papers) {
            crowd.reviews.extend(reviews.into_iter().map(|(i, vector)| (paper, i, vector)));
            crowd.z.extend((0..).zip(z).map(|(source, vector)| (paper, source, vector)));
        }
        crowd
    })
}

fn assert_close(a: &[Option<f64>], b: &[Option<f64>]) -> Result<(), TestCaseError> {
    prop_assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        match (a, b) {
            (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-9, "{} {}", a, b),
            (a, b) => prop_assert_eq!(a, b),
        }
    }
    Ok(())
}

#[test]
fn a_copier_scores_zero_and_honest_peers_share_what_the_llm_lacks() {
    // z = e1. Two honest reviews e1 + e2 and 2 e1 + e2 both leave e2: similarity 1. The copy 5 e1
    // leaves nothing: 0 with both, counted.
    let basis = |entries: &[(usize, f64)]| {
        let mut vector = vec![0.0; DIMS];
        entries.iter().for_each(|&(dim, value)| vector[dim] = value);
        vector
    };
    let crowd = Crowd {
        reviews: vec![
            (0, 0, basis(&[(0, 1.0), (1, 1.0)])),
            (0, 1, basis(&[(0, 2.0), (1, 1.0)])),
            (0, 2, basis(&[(0, 5.0)])),
        ],
        z: vec![(0, 0, basis(&[(0, 1.0)]))],
    };
    let set = crowd.set();
    let scores = projected_scores(&set, &papers_of(&set), &crowd.space(), ZCombine::Span);
    let close =
        |score: &ReviewerScore, value: f64| (score.estimate.unwrap().value - value).abs() < 1e-12;
    assert!(close(&scores[0], 0.5) && close(&scores[1], 0.5) && close(&scores[2], 0.0));
    assert_eq!((scores[0].n_pairs, scores[0].n_zero), (2, 1));
    assert_eq!((scores[2].n_pairs, scores[2].n_zero), (2, 2));
    assert_eq!(scores[0].estimate.unwrap().standard_error, None);
}

#[test]
fn standard_error_is_clustered_by_paper() {
    // One pair per paper with similarities 0 and 1 and an orthogonal z: means 0 and 1, variance
    // 1/2, two papers, so se = √(1/2 / 2) = 1/2.
    let mut unit = vec![vec![0.0; DIMS]; DIMS];
    (0..DIMS).for_each(|dim| unit[dim][dim] = 1.0);
    let crowd = Crowd {
        reviews: vec![
            (0, 0, unit[1].clone()),
            (0, 1, unit[1].clone()),
            (1, 0, unit[1].clone()),
            (1, 1, unit[2].clone()),
        ],
        z: vec![(0, 0, unit[0].clone()), (1, 0, unit[0].clone())],
    };
    let set = crowd.set();
    let scores = projected_scores(&set, &papers_of(&set), &crowd.space(), ZCombine::Span);
    let estimate = scores[0].estimate.unwrap();
    assert!((estimate.value - 0.5).abs() < 1e-12);
    assert!((estimate.standard_error.unwrap() - 0.5).abs() < 1e-12);
    assert_eq!(scores[0].n_papers, 2);
}

#[test]
fn papers_without_z_count_for_cosine_only_and_a_zero_z_is_no_z() {
    let vector = |value: f64| vec![value, 1.0, 0.0, 0.0, 0.0, 0.0];
    let crowd = Crowd {
        reviews: vec![(0, 0, vector(1.0)), (0, 1, vector(2.0))],
        z: vec![(0, 0, vec![0.0; DIMS])],
    };
    let (set, space) = (crowd.set(), crowd.space());
    let papers = papers_of(&set);
    assert_eq!(values(&projected_scores(&set, &papers, &space, ZCombine::Span)), [None, None]);
    assert_eq!(values(&negative_scores(&set, &papers, &space)), [None, None]);
    // (1, 1) and (2, 1): 3 / √10.
    let cosine = cosine_scores(&set, &papers, &space)[0].estimate.unwrap().value;
    assert!((cosine - 3.0 / 10.0_f64.sqrt()).abs() < 1e-12);
    assert_eq!(zero_counts(&set, &space), (1, 0));
    assert_eq!(papers_without_direction(&papers, &space, ZCombine::Span), 1);
}

#[test]
fn negative_is_minus_the_mean_cosine_with_every_z() {
    let crowd = Crowd {
        reviews: vec![(0, 0, vec![3.0, 4.0, 0.0, 0.0, 0.0, 0.0])],
        z: vec![
            (0, 0, vec![2.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
            (0, 1, vec![0.0, 7.0, 0.0, 0.0, 0.0, 0.0]),
        ],
    };
    let set = crowd.set();
    let score = negative_scores(&set, &papers_of(&set), &crowd.space())[0];
    assert!((score.estimate.unwrap().value + 0.7).abs() < 1e-12); // -(0.6 + 0.8) / 2
    assert_eq!(score.n_pairs, 2);
}

proptest! {
    #[test]
    fn one_z_per_paper_equals_the_formula_of_the_paper(crowd in crowd(1..2)) {
        for combine in [ZCombine::Span, ZCombine::Min, ZCombine::Mean] {
            assert_close(&crowd.projected(combine), &brute_force(&crowd))?;
        }
    }

    #[test]
    fn scaling_reviews_and_z_changes_nothing(
        crowd in crowd(1..3),
        scale in 1e-3..1e3_f64,
    ) {
        let mut scaled = crowd.clone();
        let rows = scaled.reviews.iter_mut().chain(&mut scaled.z);
        for (index, row) in (0_u8..).zip(rows) {
            let scale = if index % 2 == 0 { scale } else { 1.0 };
            row.2.iter_mut().for_each(|value| *value *= scale);
        }
        for combine in [ZCombine::Span, ZCombine::Min, ZCombine::Mean] {
            assert_close(&crowd.projected(combine), &scaled.projected(combine))?;
        }
    }

    #[test]
    fn permuting_papers_reviewers_and_peers_permutes_the_scores(crowd in crowd(1..3)) {
        let papers = crowd.reviews.iter().map(|row| row.0).max().unwrap();
        let mut permuted = crowd.clone();
        permuted.reviews.reverse();
        permuted.reviews.iter_mut().for_each(|row| (row.0, row.1) = (papers - row.0, 5 - row.1));
        permuted.z.reverse();
        permuted.z.iter_mut().for_each(|row| row.0 = papers - row.0);
        let score = |scores: &[Option<f64>], reviewer: usize| {
            scores.get(reviewer).copied().flatten()
        };
        let (plain, other) = (crowd.projected(ZCombine::Span), permuted.projected(ZCombine::Span));
        let plain: Vec<_> = (0..6).map(|i| score(&plain, i)).collect();
        let other: Vec<_> = (0..6).map(|i| score(&other, 5 - i)).collect();
        assert_close(&plain, &other)?;
    }

    #[test]
    fn the_minimum_is_the_lowest_score_of_any_source(crowd in crowd(2..3)) {
        let alone = |source: u32| {
            let mut crowd = crowd.clone();
            crowd.z.retain(|z| z.1 == source);
            brute_force(&crowd)
        };
        let lowest: Vec<Option<f64>> =
            alone(0).iter().zip(alone(1)).map(|(a, b)| Some(a.as_ref()?.min(b?))).collect();
        assert_close(&crowd.projected(ZCombine::Min), &lowest)?;
    }
}
