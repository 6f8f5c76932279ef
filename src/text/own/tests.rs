mod other_paper;

use proptest::prelude::*;
use rand::RngExt;

use super::*;
use crate::data::content::Content;
use crate::data::progress::NoProgress;
use crate::data::reviews::{Review, ReviewSet, ZReview};
use crate::embed::vectors::{DenseVectors, Vectors};
use crate::stats::seed::stream;

fn content(text: String) -> Content {
    Content { text: Some(text), ..Content::default() }
}

/// What is said about a paper: some of its own words among common ones.
fn text(paper: usize, voice: &str, words: usize, share: f64, seed: u64) -> String {
    let mut random = stream(seed, "text", paper as u64);
    let mut all = Vec::new();
    for index in 1..=words {
        let drawn: f64 = random.random();
        all.push(if drawn < share {
            format!("topic{paper}x{}", random.random_range(0..25))
        } else if drawn < share + 0.3 {
            format!("{voice}{}", random.random_range(0..20))
        } else {
            format!("common{}", random.random_range(0..60))
        });
        if index % 8 == 0 {
            all.push("end. The".to_owned());
        }
    }
    all.join(" ")
}

/// A venue of people with two papers each; two LLMs share words on every paper. Reviewer `r0`
/// hands in the first LLM's reviews, `r1` reviews of other papers.
fn venue(papers: usize) -> ReviewSet {
    let mut set = ReviewSet::default();
    let name = |paper: usize| format!("p{paper:02}");
    for paper in 0..papers {
        set.papers.intern(&name(paper));
    }
    for index in 0..3 * papers {
        let paper = index % papers;
        let reviewer = format!("r{}", (index / 2) % (3 * papers / 2));
        let written = match reviewer.as_str() {
            "r0" => z_text(paper, 0),
            "r1" => text((paper + 5) % papers, "person", 80, 0.3, 900 + index as u64),
            _ => text(paper, &format!("person{}", index % 7), 80, 0.3, index as u64),
        };
        let reviewer = set.reviewers.intern(&reviewer);
        let paper = set.papers.intern(&name(paper));
        set.reviews.push(Review { paper, reviewer, content: content(written) });
    }
    for paper in 0..papers {
        for source in 0..2 {
            let number = set.sources.intern(&format!("llm{source}"));
            let paper_number = set.papers.intern(&name(paper));
            let content = content(z_text(paper, source));
            set.z.push(ZReview { paper: paper_number, source: number, content });
        }
    }
    set
}

fn z_text(paper: usize, source: usize) -> String {
    // Both LLMs open with the same words about the paper and go on with their own.
    let shared = text(paper, "model", 40, 0.5, 5_000);
    format!("{shared} {}", text(paper + 100 * (source + 1), "model", 60, 0.4, 6_000))
}

fn settings() -> OwnSettings {
    OwnSettings { check_language: false, ..OwnSettings::default() }
}

fn planted(set: &ReviewSet, settings: &OwnSettings) -> Planted {
    plant(set, &check_texts(set, settings), settings)
}

fn scores(set: &ReviewSet) -> OwnScores {
    let planted = planted(set, &settings());
    let vectors = tfidf_vectors(set, &planted, &NoProgress).unwrap().unwrap();
    own_scores(set, &planted, vectors, &settings(), &|_| false, &NoProgress).unwrap()
}

fn named<'a>(set: &ReviewSet, scores: &'a OwnScores, name: &str) -> &'a OwnReviewer {
    &scores.reviewers[set.reviewers.get(name).unwrap() as usize]
}

#[test]
fn a_copier_and_an_off_topic_reviewer_are_flagged_and_people_are_not() {
    let set = venue(20);
    let scores = scores(&set);
    let copier = named(&set, &scores, "r0");
    assert_eq!(copier.flag, OwnFlag::Look, "{copier:?}");
    assert_eq!(copier.reads_as, Some(Class::Copy));
    let off_topic = named(&set, &scores, "r1");
    assert_eq!(off_topic.flag, OwnFlag::Look, "{off_topic:?}");
    assert!(matches!(off_topic.reads_as, Some(Class::OffTopic | Class::OffTopicLlm)));
    let flagged = scores.reviewers.iter().filter(|r| r.flag == OwnFlag::Look).count();
    assert_eq!(flagged, 2);
    assert!(scores.planted.ghosts.unwrap() > 0.5, "{:?}", scores.planted);
    assert!(scores.planted.people.unwrap() < 0.05);
    let prevalence = scores.prevalence.unwrap();
    assert!(prevalence.interval.0 <= 2.0 / 30.0 && 2.0 / 30.0 <= prevalence.interval.1);
    // The copier's most similar Z is the one handed in.
    let review = &scores.reviews[0];
    let z = review.z.unwrap();
    assert_eq!(set.z[z.index].content, set.reviews[0].content);
    assert!((z.cosine - 1.0).abs() < 1e-9);
    assert!(!scores.assumed_ratio);
}

/// Features by the definition: dense centered unit vectors, all pairs.
struct Naive {
    reviews: Vec<Vec<f64>>,
    z: Vec<Vec<f64>>,
}

impl Naive {
    /// Rows in the order of the set.
    fn new(rows: &[Vec<f64>], reviews: usize) -> Self {
        Self::of_counted(rows, reviews, &(0..reviews).collect::<Vec<_>>())
    }

    /// Centered by the mean of the reviews that count.
    fn of_counted(rows: &[Vec<f64>], reviews: usize, counted: &[usize]) -> Self {
        let dims = rows[0].len();
        let mean: Vec<f64> = (0..dims)
            .map(|dim| {
                counted.iter().map(|&row| rows[row][dim]).sum::<f64>() / counted.len() as f64
            })
            .collect();
        let unit = |row: &Vec<f64>| -> Vec<f64> {
            let centered: Vec<f64> = row.iter().zip(&mean).map(|(a, b)| a - b).collect();
            let length = centered.iter().map(|x| x * x).sum::<f64>().sqrt();
            centered.iter().map(|x| x / length).collect()
        };
        let all: Vec<Vec<f64>> = rows.iter().map(unit).collect();
        Self { reviews: all[..reviews].to_vec(), z: all[reviews..].to_vec() }
    }

    fn features(&self, set: &ReviewSet, review: usize) -> (Option<f64>, Option<f64>) {
        let cos = cosine;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let v = &self.reviews[review];
        let paper = set.reviews[review].paper;
        let (mut near, mut far) = (Vec::new(), Vec::new());
        for (other, row) in self.reviews.iter().enumerate() {
            let same = set.reviews[other].paper == paper;
            if other != review && same && cos(v, row) <= 0.85 {
                near.push(cos(v, row));
            } else if !same {
                far.push(cos(v, row));
            }
        }
        let peers = (!near.is_empty() && !far.is_empty()).then(|| mean(&near) - mean(&far));
        let mut contrasts = Vec::new();
        for source in 0..set.sources.len() {
            let of = |here: bool| -> Vec<f64> {
                let z = set.z.iter().enumerate();
                z.filter(|(_, z)| z.source as usize == source && (z.paper == paper) == here)
                    .map(|(index, _)| cos(v, &self.z[index]))
                    .collect()
            };
            let (here, elsewhere) = (of(true), of(false));
            if !here.is_empty() && !elsewhere.is_empty() {
                contrasts.push(here[0] - mean(&elsewhere));
            }
        }
        (peers, (!contrasts.is_empty()).then(|| mean(&contrasts)))
    }
}

fn dense(vectors: &Vectors) -> Vec<Vec<f64>> {
    (0..vectors.len()).map(|row| vectors.dense_row(row)).collect()
}

#[test]
fn features_are_those_of_the_definition() {
    let mut set = venue(12);
    // A paper that one source does not cover, one without Z, one near-duplicate.
    set.z.remove(3);
    set.z.retain(|z| z.paper != 7);
    let copied = set.reviews[2].content.clone();
    let other = set.reviews.iter().rposition(|r| r.paper == set.reviews[2].paper).unwrap();
    set.reviews[other].content = copied;
    let planted = planted(&set, &settings());
    let vectors = tfidf_vectors(&set, &planted, &NoProgress).unwrap().unwrap();
    let rows = dense(&vectors);
    let found = own_scores(&set, &planted, vectors, &settings(), &|_| false, &NoProgress).unwrap();
    let of_set = in_order_of_set(&set, &planted, &rows);
    let naive = Naive::new(&of_set, set.reviews.len());
    for review in 0..set.reviews.len() {
        let (peers, z) = naive.features(&set, review);
        let features = &found.reviews[review].features;
        for (found, expected) in [(&features.peers, peers), (&features.z, z)] {
            assert_eq!(found.is_some(), expected.is_some(), "review {review}");
            if let (Some(found), Some(expected)) = (found, expected) {
                assert!((found[0] - expected).abs() < 1e-9, "{found:?} {expected}");
            }
        }
    }
    assert_eq!(found.near_duplicates.len(), 1);
    assert_eq!(found.near_duplicates[0].reviews, (2, other));
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The rows of whole texts, reviews first, in the order of the set.
fn in_order_of_set(set: &ReviewSet, planted: &Planted, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut of_set = vec![Vec::new(); set.reviews.len() + set.z.len()];
    for (origin, row) in planted.origins().iter().zip(rows).take(planted.whole_texts()) {
        match *origin {
            TextOrigin::Review(index) => of_set[index].clone_from(row),
            TextOrigin::Z(index) => of_set[set.reviews.len() + index].clone_from(row),
        }
    }
    of_set
}

/// Log-density of a Student t with 8 degrees of freedom in two dimensions, by its formula.
fn student(x: [f64; 2], mean: [f64; 2], covariance: [f64; 3]) -> f64 {
    let [a, b, c] = covariance.map(|value| value * 6.0 / 8.0);
    let determinant = a * c - b * b;
    let (u, v) = (x[0] - mean[0], x[1] - mean[1]);
    let distance = (c * u * u - 2.0 * b * u * v + a * v * v) / determinant;
    -(2.0 * std::f64::consts::PI).ln() - determinant.ln() / 2.0 - 5.0 * (distance / 8.0).ln_1p()
}

/// Center and covariance of weighted points; the median where asked for.
fn moments(points: &[([f64; 2], f64)], median: bool) -> ([f64; 2], [f64; 3]) {
    let total: f64 = points.iter().map(|p| p.1).sum();
    let mean = [0, 1].map(|d| points.iter().map(|p| p.0[d] * p.1).sum::<f64>() / total);
    let product = |a: usize, b: usize| {
        let sum: f64 = points.iter().map(|p| p.1 * (p.0[a] - mean[a]) * (p.0[b] - mean[b])).sum();
        sum / total
    };
    let covariance = [product(0, 0) + 1e-6, product(0, 1), product(1, 1) + 1e-6];
    let center = [0, 1].map(|d| {
        let mut values: Vec<f64> = points.iter().map(|p| p.0[d]).collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        if values.len() % 2 == 1 {
            values[middle]
        } else {
            f64::midpoint(values[middle - 1], values[middle])
        }
    });
    (if median { center } else { mean }, covariance)
}

#[test]
fn posteriors_are_those_of_the_definition() {
    let set = venue(20);
    let found = scores(&set);
    let point = |features: &Features| {
        [features.peers.as_ref().unwrap()[0], features.z.as_ref().unwrap()[0]]
    };
    let ghosts: Vec<([f64; 2], [f64; 3])> = Class::GHOSTS
        .iter()
        .map(|class| {
            let of = found.ghosts.iter().filter(|ghost| ghost.class == *class);
            let points: Vec<_> = of.map(|ghost| (point(&ghost.features), 1.0)).collect();
            moments(&points, true)
        })
        .collect();
    let reviews: Vec<(usize, [f64; 2])> = (0..set.reviews.len())
        .map(|i| (set.reviews[i].reviewer as usize, point(&found.reviews[i].features)))
        .collect();
    let n = set.reviewers.len();
    let mut posteriors = vec![[0.9, 0.025, 0.025, 0.025, 0.025]; n];
    for _ in 0..300 {
        let weighted: Vec<_> = reviews.iter().map(|&(i, x)| (x, posteriors[i][0])).collect();
        let own = moments(&weighted, false);
        let mut joint = vec![[0.0; 5]; n];
        for (class, name) in (0..5).zip([1.0, 0.05, 0.05, 0.05, 0.05]) {
            let count: f64 = posteriors.iter().map(|p| p[class]).sum();
            let share = (count + name) / (n as f64 + 1.2);
            joint.iter_mut().for_each(|joint| joint[class] = share.ln());
        }
        for &(reviewer, x) in &reviews {
            joint[reviewer][0] += student(x, own.0, own.1);
            for (class, ghost) in ghosts.iter().enumerate() {
                joint[reviewer][class + 1] += student(x, ghost.0, ghost.1);
            }
        }
        for (posterior, joint) in posteriors.iter_mut().zip(&joint) {
            let largest = joint.iter().copied().fold(f64::MIN, f64::max);
            let total: f64 = joint.iter().map(|x| (x - largest).exp()).sum();
            *posterior = joint.map(|x| (x - largest).exp() / total);
        }
    }
    for (reviewer, expected) in found.reviewers.iter().zip(&posteriors) {
        let got = reviewer.posterior.unwrap();
        assert!((got.own - expected[0]).abs() < 1e-6, "{got:?} {expected:?}");
        assert!((got.copy - expected[1]).abs() < 1e-6);
        assert!((got.llm - expected[2]).abs() < 1e-6);
        assert!((got.off_topic - expected[3] - expected[4]).abs() < 1e-6);
        assert!((got.own + got.copy + got.llm + got.off_topic - 1.0).abs() < 1e-12);
    }
}

/// The same set with its rows in another order.
fn shuffled(set: &ReviewSet, seed: u64) -> ReviewSet {
    use rand::seq::SliceRandom;
    let mut random = stream(seed, "shuffle", 0);
    let mut reviews = set.reviews.clone();
    let mut z = set.z.clone();
    reviews.shuffle(&mut random);
    z.shuffle(&mut random);
    let mut other = ReviewSet::default();
    for mut review in reviews {
        review.paper = other.papers.intern(set.papers.name(review.paper));
        review.reviewer = other.reviewers.intern(set.reviewers.name(review.reviewer));
        other.reviews.push(review);
    }
    for mut z in z {
        z.paper = other.papers.intern(set.papers.name(z.paper));
        z.source = other.sources.intern(set.sources.name(z.source));
        other.z.push(z);
    }
    other
}

#[test]
fn the_order_of_rows_changes_not_one_bit() {
    let set = venue(14);
    let first = scores(&set);
    for seed in 0..3 {
        let other = shuffled(&set, seed);
        let second = scores(&other);
        for name in set.reviewers.names() {
            assert_eq!(named(&set, &first, name), named(&other, &second, name));
        }
        assert_eq!(first.prevalence, second.prevalence);
        assert_eq!(first.planted, second.planted);
    }
}

#[test]
fn one_more_copy_of_z_under_another_name_changes_nothing() {
    let set = venue(14);
    let mut doubled = set.clone();
    let name = doubled.sources.intern("zz again");
    let copies: Vec<ZReview> = set
        .z
        .iter()
        .filter(|z| z.source == 0)
        .map(|z| ZReview { source: name, ..z.clone() })
        .collect();
    doubled.z.extend(copies);
    let (before, after) = (scores(&set), scores(&doubled));
    assert_eq!(before.reviewers, after.reviewers);
    assert!(after.warnings.contains(&OwnWarning::RepeatedZ { count: 14 }));
}

#[test]
fn with_one_z_the_ratio_is_assumed_and_said() {
    let mut set = venue(20);
    set.z.retain(|z| z.source == 0);
    let scores = scores(&set);
    assert!(scores.assumed_ratio);
    assert!(scores.warnings.contains(&OwnWarning::OneZ { double_papers: 0 }));
    assert_eq!(named(&set, &scores, "r0").flag, OwnFlag::Look);
    // The llm ghost of a slot has the peers of the copy; its z is a share of the copy's.
    let of = |class: Class| scores.ghosts.iter().filter(move |ghost| ghost.class == class);
    let mut ratios = Vec::new();
    for (copy, llm) in of(Class::Copy).zip(of(Class::Llm)) {
        assert_eq!((copy.review, &copy.features.peers), (llm.review, &llm.features.peers));
        ratios.push(llm.features.z.as_ref().unwrap()[0] / copy.features.z.as_ref().unwrap()[0]);
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / ratios.len() as f64;
    // 60 draws: standard errors of .010 and .007.
    assert!((mean - 0.42).abs() < 0.04 && (variance.sqrt() - 0.08).abs() < 0.03, "{mean}");
}

#[test]
fn a_flag_that_rests_on_one_review_is_warned_of() {
    let mut set = venue(20);
    let warned = |set: &ReviewSet| {
        let found = scores(set);
        assert_eq!(named(set, &found, "r0").flag, OwnFlag::Look);
        let of = |warning: &&OwnWarning| matches!(warning, OwnWarning::LookedAtForOneReview { .. });
        found.warnings.iter().find(of).copied()
    };
    assert_eq!(warned(&set), None);
    let copier = set.reviewers.get("r0").unwrap();
    let last = set.reviews.iter().rposition(|review| review.reviewer == copier).unwrap();
    set.reviews.remove(last);
    // The copier now has one review, the off-topic reviewer still two.
    assert_eq!(warned(&set), Some(OwnWarning::LookedAtForOneReview { count: 1, looked_at: 2 }));
}

#[test]
fn who_cannot_be_judged_has_no_score_and_a_reason() {
    let mut set = venue(20);
    let short = set.reviewers.get("r5").unwrap();
    for review in set.reviews.iter_mut().filter(|review| review.reviewer == short) {
        review.content = content("Too short to say anything. Five more.".to_owned());
    }
    // A paper of one review and no Z.
    let alone = set.papers.intern("alone");
    let hermit = set.reviewers.intern("hermit");
    let written = content(text(77, "person", 80, 0.3, 3));
    set.reviews.push(Review { paper: alone, reviewer: hermit, content: written });
    let scores = scores(&set);
    let short = named(&set, &scores, "r5");
    assert_eq!(short.reason, Some(NotJudged::TooFewWords { words: 7, fewest: 40 }));
    let hermit = named(&set, &scores, "hermit");
    assert_eq!(hermit.reason, Some(NotJudged::NothingToCompare));
    for reviewer in [short, hermit] {
        assert_eq!(reviewer.flag, OwnFlag::NotJudged);
        assert_eq!((reviewer.score, reviewer.n_papers), (None, 0));
        assert!(reviewer.posterior.is_none() && reviewer.reads_as.is_none());
    }
}

#[test]
fn too_little_has_no_scale() {
    let mut set = venue(20);
    set.reviews.truncate(2);
    let scores = scores(&set);
    assert!(scores.reviewers.iter().all(|reviewer| reviewer.score.is_none()));
    assert!(scores.warnings.contains(&OwnWarning::NoScale));
    assert_eq!(scores.prevalence, None);
}

#[test]
fn vectors_that_do_not_fit_are_errors() {
    let set = venue(6);
    let planted = planted(&set, &settings());
    let run = |vectors, settings: &OwnSettings| {
        own_scores(&set, &planted, vectors, settings, &|_| false, &NoProgress).unwrap_err()
    };
    let expected = planted.origins().len();
    let wrong = Vectors::Dense(DenseVectors::from_values(1, vec![1.0; 3]));
    let error = run(wrong.clone(), &settings());
    assert_eq!(error, OwnError::Rows { expected, found: 3 });
    let settings = OwnSettings { fdr: 0.0, ..settings() };
    assert_eq!(run(wrong, &settings), OwnError::Fdr { fdr: 0.0 });
}

#[test]
fn dense_vectors_are_whitened() {
    let set = venue(20);
    let planted = planted(&set, &settings());
    let sparse = tfidf_vectors(&set, &planted, &NoProgress).unwrap().unwrap();
    // A few random directions keep most of the angles.
    let mut random = stream(1, "directions", 0);
    let mut projected = DenseVectors::new(40);
    let rows = dense(&sparse);
    let directions: Vec<Vec<f64>> = (0..40)
        .map(|_| (0..rows[0].len()).map(|_| random.random_range(-1.0..1.0)).collect())
        .collect();
    for row in &rows {
        let values: Vec<f64> =
            directions.iter().map(|d| d.iter().zip(row).map(|(a, b)| a * b).sum()).collect();
        projected.push(&values);
    }
    let vectors = Vectors::Dense(projected);
    let scores = own_scores(&set, &planted, vectors, &settings(), &|_| false, &NoProgress).unwrap();
    assert_eq!(named(&set, &scores, "r0").flag, OwnFlag::Look);
}

#[test]
fn ghosts_are_about_as_long_as_the_review_in_their_slot() {
    let set = venue(10);
    let planted = planted(&set, &settings());
    let texts = planted.texts(&set).unwrap();
    assert_eq!(texts.len(), planted.origins().len());
    for ghost in &planted.ghosts {
        let wanted = planted.words[ghost.slot].unwrap();
        let words = count_words(texts[ghost.row]);
        // Sentences of these texts have nine words or ten.
        assert!(words.abs_diff(wanted) <= 10 || words < wanted, "{words} {wanted}");
        let own = planted.venue.paper_of_review[ghost.slot];
        let off = matches!(ghost.class, Class::OffTopic | Class::OffTopicLlm);
        assert_eq!(ghost.home != own, off);
    }
    // A sample of slots where there are many.
    let few = super::tests::planted(&set, &OwnSettings { ghost_slots: 7, ..settings() });
    let slots: std::collections::BTreeSet<usize> = few.ghosts.iter().map(|g| g.slot).collect();
    assert_eq!(slots.len(), 7);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn a_paper_that_nobody_shares_moves_nobody_but_by_the_densities(seed in 0..1000_u64) {
        let mut set = venue(12);
        let before = scores(&set);
        let paper = set.papers.intern("zz more");
        for index in 0..3 {
            let reviewer = set.reviewers.intern(&format!("zz{index}"));
            let content = content(text(50, "person", 80, 0.3, seed * 3 + index));
            set.reviews.push(Review { paper, reviewer, content });
        }
        let after = scores(&set);
        for (a, b) in before.reviews.iter().zip(&after.reviews) {
            // The mean, the idf and the other papers move a little, nothing else.
            let (a, b) = (a.features.peers.as_ref().unwrap()[0], b.features.peers.as_ref().unwrap()[0]);
            prop_assert!((a - b).abs() < 0.05, "{} {}", a, b);
            for reviewer in &after.reviewers {
                if let Some(p) = reviewer.posterior {
                    prop_assert!((p.own + p.copy + p.llm + p.off_topic - 1.0).abs() < 1e-12);
                }
            }
        }
    }
}
