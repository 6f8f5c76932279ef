use proptest::prelude::*;
use rand::RngExt;
use statrs::distribution::{ContinuousCDF, Normal};

use super::*;
use crate::data::content::Content;
use crate::data::ids::Ids;
use crate::data::reviews::{Review, ZReview};
use crate::embed::vectors::{DenseVectors, Vectors};
use crate::stats::seed::stream;
use crate::stats::similarity::{dot, norm};
use crate::text::pairs::papers_of;

const DIMS: usize = 4;

/// `(paper, reviewer, vector)` of reviews and `(paper, source, vector)` of Z.
#[derive(Debug, Clone)]
struct Crowd {
    reviews: Vec<(u32, u32, Vec<f64>)>,
    z: Vec<(u32, u32, Vec<f64>)>,
}

impl Crowd {
    fn set(&self) -> ReviewSet {
        let number = |prefix: &str, numbers: &mut dyn Iterator<Item = u32>| {
            let mut ids = Ids::new();
            let largest = numbers.max().unwrap_or(0);
            (0..=largest).for_each(|id| assert_eq!(ids.intern(&format!("{prefix}{id}")), id));
            ids
        };
        let content = Content::default;
        let review = |&(paper, reviewer, _): &(u32, u32, Vec<f64>)| Review {
            paper,
            reviewer,
            content: content(),
        };
        let z = |&(paper, source, _): &(u32, u32, Vec<f64>)| ZReview {
            paper,
            source,
            content: content(),
        };
        ReviewSet {
            papers: number("p", &mut self.reviews.iter().chain(&self.z).map(|row| row.0)),
            reviewers: number("r", &mut self.reviews.iter().map(|row| row.1)),
            sources: number("s", &mut self.z.iter().map(|row| row.1)),
            reviews: self.reviews.iter().map(review).collect(),
            z: self.z.iter().map(z).collect(),
            ..ReviewSet::default()
        }
    }

    /// The vectors as they are: whitening has tests of its own.
    fn combined(&self) -> CombinedScores {
        let set = self.set();
        let rows: Vec<f64> =
            self.reviews.iter().chain(&self.z).flat_map(|row| row.2.clone()).collect();
        let vectors = Vectors::Dense(DenseVectors::from_values(DIMS, rows));
        combined_scores(&set, &papers_of(&set), &Space::new(vectors, self.reviews.len()))
    }
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let lengths = norm(a) * norm(b);
    if lengths == 0.0 { 0.0 } else { dot(a, b) / lengths }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Topic and distance of every review as the module defines them, one loop per word.
fn review_parts(crowd: &Crowd) -> Vec<(Option<f64>, Option<f64>)> {
    let z_with_direction = || crowd.z.iter().filter(|z| norm(&z.2) > 0.0);
    let rows = crowd.reviews.iter().enumerate();
    rows.map(|(i, (paper, _, x))| {
        let with = |on_paper: bool| -> Vec<f64> {
            let others = crowd.reviews.iter().enumerate();
            others
                .filter(|(j, other)| *j != i && (other.0 == *paper) == on_paper)
                .map(|(_, other)| cosine(x, &other.2))
                .collect()
        };
        let peers = mean(&with(true)).zip(mean(&with(false))).map(|(own, other)| own - other);
        let contrasts: Vec<f64> = (0..3)
            .filter_map(|source| {
                let with = |on_paper: bool| -> Vec<f64> {
                    z_with_direction()
                        .filter(|z| z.1 == source && (z.0 == *paper) == on_paper)
                        .map(|z| cosine(x, &z.2))
                        .collect()
                };
                mean(&with(true)).zip(mean(&with(false))).map(|(own, other)| own - other)
            })
            .collect();
        let topic = peers.map(|peers| mean(&contrasts).map_or(peers, |z| (peers + z) / 2.0));
        (topic, contrasts.iter().copied().reduce(f64::max).map(|z| -z))
    })
    .collect()
}

/// Standardised means by reviewer: the middle of the sorted values by hand.
fn standardised(per_reviewer: &[Vec<f64>]) -> Vec<Option<f64>> {
    let means: Vec<Option<f64>> = per_reviewer.iter().map(|values| mean(values)).collect();
    let middle = |values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
        (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
    };
    let known: Vec<f64> = means.iter().flatten().copied().collect();
    if known.len() < 3 {
        return vec![None; means.len()];
    }
    let center = middle(&known);
    let spread = middle(&known.iter().map(|v| (v - center).abs()).collect::<Vec<_>>());
    means
        .into_iter()
        .map(|value| {
            value.filter(|_| spread > 1e-11).map(|v| (v - center) / (1.482_602_2 * spread))
        })
        .collect()
}

fn brute_force(crowd: &Crowd) -> Vec<Option<f64>> {
    let reviewers = crowd.reviews.iter().map(|row| row.1).max().unwrap() as usize + 1;
    let mut values = [vec![Vec::new(); reviewers], vec![Vec::new(); reviewers]];
    for ((_, reviewer, _), (topic, away)) in crowd.reviews.iter().zip(review_parts(crowd)) {
        values[0][*reviewer as usize].extend(topic);
        values[1][*reviewer as usize].extend(away);
    }
    let [topic, away] = values.map(|values| standardised(&values));
    topic.into_iter().zip(away).map(|(topic, away)| Some(topic?.min(away?))).collect()
}

fn values(scores: &CombinedScores) -> Vec<Option<f64>> {
    scores.scores.iter().map(|score| score.estimate.map(|estimate| estimate.value)).collect()
}

fn vector() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        9 => proptest::collection::vec(-3.0..3.0_f64, DIMS),
        1 => Just(vec![0.0; DIMS]),
    ]
}

/// Up to 6 papers, 6 reviewers and 3 sources with up to one Z per paper, some vectors zero.
fn crowd() -> impl Strategy<Value = Crowd> {
    let paper = (
        proptest::collection::btree_map(0..6_u32, vector(), 1..5),
        proptest::collection::btree_map(0..3_u32, vector(), 0..3),
    );
    proptest::collection::vec(paper, 1..7).prop_map(|papers| {
        let mut crowd = Crowd { reviews: Vec::new(), z: Vec::new() };
        for (paper, (reviews, z)) in (0..).zip(papers) {
            crowd.reviews.extend(reviews.into_iter().map(|(i, vector)| (paper, i, vector)));
            crowd.z.extend(z.into_iter().map(|(source, vector)| (paper, source, vector)));
        }
        crowd
    })
}

proptest! {
    #[test]
    fn sums_of_units_give_the_definition_by_loops(crowd in crowd()) {
        let fast = values(&crowd.combined());
        let slow = brute_force(&crowd);
        prop_assert_eq!(fast.len(), slow.len());
        for (fast, slow) in fast.iter().zip(&slow) {
            if let (Some(a), Some(b)) = (fast, slow) { prop_assert!((a - b).abs() < 1e-5 * (1.0 + a.abs()), "{} {}", a, b) } else { prop_assert_eq!(fast, slow) }
        }
    }

    #[test]
    fn renumbering_reviewers_and_papers_moves_scores_along(crowd in crowd()) {
        let mut turned = crowd.clone();
        turned.reviews.iter_mut().for_each(|row| { row.0 = 6 - row.0; row.1 = 5 - row.1; });
        turned.z.iter_mut().for_each(|row| row.0 = 6 - row.0);
        let (before, after) = (values(&crowd.combined()), values(&turned.combined()));
        for (i, before) in before.iter().enumerate() {
            match (before, after.get(5 - i).copied().flatten()) {
                (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-6 * (1.0 + a.abs())),
                (a, b) => prop_assert_eq!(*a, b),
            }
        }
    }

    #[test]
    fn the_score_is_the_lower_part_and_half_of_each_part_is_at_most_zero(crowd in crowd()) {
        let combined = crowd.combined();
        for (i, score) in combined.scores.iter().enumerate() {
            let lower = combined.topic[i].zip(combined.away[i]).map(|(a, b)| a.min(b));
            prop_assert_eq!(score.estimate.map(|estimate| estimate.value), lower);
        }
        for part in [&combined.topic, &combined.away] {
            let known: Vec<f64> = part.iter().flatten().copied().collect();
            let low = known.iter().filter(|value| **value <= 1e-9).count();
            prop_assert!(2 * low >= known.len());
        }
    }
}

/// Four papers, each on its own axis; reviewers 0 to 3 write about theirs in different words.
fn honest() -> Crowd {
    let axis = |paper: u32, tilt: f64| {
        let mut vector = vec![0.1; DIMS];
        vector[paper as usize] = 1.0;
        vector[(paper as usize + 1) % DIMS] += tilt;
        vector
    };
    let mut crowd = Crowd { reviews: Vec::new(), z: Vec::new() };
    for paper in 0..4 {
        for (reviewer, tilt) in (0..).zip([0.5, 0.6, 0.75, 0.95]) {
            crowd.reviews.push((paper, reviewer, axis(paper, tilt)));
        }
        crowd.z.push((paper, 0, axis(paper, -0.5)));
    }
    crowd
}

#[test]
fn a_copier_and_an_off_topic_writer_are_far_below_everybody_else() {
    let mut crowd = honest();
    for paper in 0..4 {
        let z = crowd.z[paper as usize].2.clone();
        crowd.reviews.push((paper, 4, z));
        let elsewhere = crowd.reviews[((paper as usize + 2) % 4) * 4].2.clone();
        crowd.reviews.push((paper, 5, elsewhere));
    }
    let combined = crowd.combined();
    let scores: Vec<f64> = values(&combined).into_iter().map(Option::unwrap).collect();
    let worst_honest = scores[..4].iter().copied().fold(f64::INFINITY, f64::min);
    assert!(scores[4] < -2.0 && scores[4] < worst_honest, "{scores:?}");
    assert!(scores[5] < -2.0 && scores[5] < worst_honest, "{scores:?}");
    // Each is betrayed by one part alone.
    assert!(combined.away[4] < combined.topic[4] && combined.topic[5] < combined.away[5]);
}

#[test]
fn what_all_texts_of_one_source_share_does_not_count() {
    // Scaling all of Z, or one and the same Z for every paper, says nothing about any review.
    let mut crowd = honest();
    let before = values(&crowd.combined());
    crowd.z.iter_mut().for_each(|z| z.2.iter_mut().for_each(|value| *value *= 7.0));
    for (a, b) in before.iter().zip(values(&crowd.combined())) {
        assert!((a.unwrap() - b.unwrap()).abs() < 1e-9);
    }
    crowd.z.iter_mut().for_each(|z| z.2 = vec![1.0, 2.0, 0.0, 1.0]);
    let combined = crowd.combined();
    assert!(combined.basis.no_spread, "every contrast with Z is 0");
    assert!(values(&combined).iter().all(Option::is_none));
}

#[test]
fn what_cannot_be_known_is_missing() {
    let without_z = Crowd { z: Vec::new(), ..honest() };
    let combined = without_z.combined();
    assert!(values(&combined).iter().all(Option::is_none));
    assert!(combined.topic.iter().all(Option::is_some), "the topic needs no Z");
    assert_eq!(combined.basis.reviews_without_z, 16);
    assert_eq!(combined.scores[0].n_papers, 0);

    let mut one_paper = honest();
    one_paper.reviews.retain(|row| row.0 == 0);
    let combined = one_paper.combined();
    assert!(combined.topic.iter().all(Option::is_none), "no other paper to compare with");
    one_paper.z.retain(|row| row.0 == 0);
    let Basis { papers, reviews_without_z, reviews_of_lone_z, .. } = one_paper.combined().basis;
    assert_eq!((papers, reviews_without_z, reviews_of_lone_z), (1, 0, 4));

    let mut two_reviewers = honest();
    two_reviewers.reviews.retain(|row| row.1 < 2);
    assert!(values(&two_reviewers.combined()).iter().all(Option::is_none));

    let mut no_peer = honest();
    no_peer.reviews.retain(|row| row.0 > 0 || row.1 == 0);
    // Reviewer 0 has papers 1 to 3 left for the topic and all four for the distance from Z.
    assert_eq!(no_peer.combined().scores[0].n_pairs, 9);

    let mut few_papers = honest();
    few_papers.reviews.retain(|row| row.1 > 1 || row.0 <= row.1);
    let basis = few_papers.combined().basis;
    assert_eq!((basis.single_paper, basis.two_papers), (1, 1));
    assert_eq!(basis.sources, honest().set().sources.len());
}

#[test]
fn the_standard_error_is_that_of_the_lower_part() {
    let crowd = honest();
    let combined = crowd.combined();
    let parts = review_parts(&crowd);
    for reviewer in 0..4 {
        let lower_is_topic = combined.topic[reviewer] <= combined.away[reviewer];
        let pick = |parts: &(Option<f64>, Option<f64>)| {
            if lower_is_topic { parts.0.unwrap() } else { parts.1.unwrap() }
        };
        let by_reviewer = |reviewer: usize| -> Vec<f64> {
            let rows = crowd.reviews.iter().zip(&parts);
            rows.filter(|(row, _)| row.1 as usize == reviewer)
                .map(|(_, parts)| pick(parts))
                .collect()
        };
        let own = by_reviewer(reviewer);
        let center = mean(&own).unwrap();
        let variance = own.iter().map(|value| (value - center).powi(2)).sum::<f64>() / 3.0;
        let means: Vec<f64> = (0..4).map(|r| mean(&by_reviewer(r)).unwrap()).collect();
        let mut sorted = means.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = (sorted[1] + sorted[2]) / 2.0;
        let mut deviations: Vec<f64> = means.iter().map(|value| (value - middle).abs()).collect();
        deviations.sort_by(f64::total_cmp);
        let scale = 1.482_602_2 * (deviations[1] + deviations[2]) / 2.0;
        let error = combined.scores[reviewer].estimate.unwrap().standard_error.unwrap();
        // The median and the deviation come from the same four reviewers.
        let value = combined.scores[reviewer].estimate.unwrap().value;
        let yardstick = (1.57 + value * value * 1.37) / 4.0;
        let expected = (variance / 4.0 / scale / scale + yardstick).sqrt();
        assert!((error - expected).abs() < 1e-5 * expected + 1e-9, "{error} {expected}");
    }
}

#[test]
fn the_lower_of_two_other_scores_by_hand() {
    let a = [Some(1.0), Some(2.0), Some(3.0), None, Some(2.0), Some(10.0), Some(1.0)];
    let b = [Some(0.0), None, Some(-2.0), Some(4.0), Some(0.0), Some(5.0), Some(1.0)];
    let scale = 1.482_602_218_505_602;
    // a: values 1, 1, 2, 2, 3, 10: median 2, deviations 0, 0, 1, 1, 1, 8: median 1.
    // b: values -2, 0, 0, 1, 4, 5: median 0.5, deviations .5, .5, .5, 2.5, 3.5, 4.5: median 1.5.
    let expected = [
        Some(f64::min(-1.0, -0.5 / 1.5) / scale),
        None,
        Some(f64::min(1.0, -2.5 / 1.5) / scale),
        None,
        Some(f64::min(0.0, -0.5 / 1.5) / scale),
        Some(f64::min(8.0, 4.5 / 1.5) / scale),
        Some(f64::min(-1.0, 0.5 / 1.5) / scale),
    ];
    for (found, expected) in lower_standardised(&a, &b).iter().zip(expected) {
        match (found, expected) {
            (Some(found), Some(expected)) => assert!((found - expected).abs() < 1e-12),
            (found, expected) => assert_eq!(*found, expected),
        }
    }
    assert_eq!(
        lower_standardised(&[Some(1.0); 4], &[Some(0.0), Some(1.0), Some(2.0), Some(4.0)]),
        [None; 4]
    );
}

/// The values of one part: `n` reviewers of `papers` papers, a tenth of them cheaters, first, whose
/// values are 4 lower; values of a review have the standard deviation 1.
fn part_with_cheaters(n: usize, papers: usize, trial: u64) -> Vec<Vec<f64>> {
    let mut random = stream(11, "combined coverage", trial);
    let normal = Normal::standard();
    let mut draw = || normal.inverse_cdf(random.random_range(1e-12..1.0 - 1e-12));
    let of = |reviewer: usize, draw: &mut dyn FnMut() -> f64| {
        let center = if reviewer * 10 < n { -4.0 } else { 0.0 };
        (0..papers).map(|_| center + draw()).collect()
    };
    (0..n).map(|reviewer| of(reviewer, &mut draw)).collect()
}

/// How many of the intervals of cheaters in small venues hold their place on the scale of a venue
/// without end: .992 and .997, more than the .95 they promise, because the few papers of a reviewer
/// set the degrees of freedom for the yardstick of all as well. Without it: .79 and .93.
#[test]
fn intervals_of_cheaters_cover_their_place_on_the_scale() {
    const TRIALS: u64 = 1_000;
    for (n, papers) in [(40, 5), (100, 3)] {
        let endless = Part::new(&part_with_cheaters(100_000, papers, u64::MAX));
        let cheaters: Vec<f64> =
            endless.values[..10_000].iter().map(|value| value.unwrap().value).collect();
        let place = mean(&cheaters).unwrap();
        let (mut covered, mut without, mut count) = (0, 0, 0);
        for trial in 0..TRIALS {
            let part = Part::new(&part_with_cheaters(n, papers, trial));
            for estimate in part.values[..n / 10].iter().flatten() {
                let holds = |estimate: &Estimate| {
                    let (low, high) = estimate.interval().unwrap();
                    i32::from((low..=high).contains(&place))
                };
                count += 1;
                covered += holds(estimate);
                let yardstick = (1.57 + estimate.value.powi(2) * 1.37) / n as f64;
                let error = estimate.standard_error.map(|e| (e * e - yardstick).max(0.0).sqrt());
                without += holds(&Estimate { standard_error: error, ..*estimate });
            }
        }
        let share = |hits: i32| f64::from(hits) / f64::from(count);
        assert!((0.95..=0.999).contains(&share(covered)), "{n} {papers}: {}", share(covered));
        assert!(share(without) < 0.94, "{n} {papers}: {}", share(without));
    }
}
