//! The coordinates of texts against their definition, pair by pair.

use super::*;

/// Features by the definition: dense centered unit vectors, all pairs.
pub(super) struct Naive {
    pub(super) reviews: Vec<Vec<f64>>,
    pub(super) z: Vec<Vec<f64>>,
}

impl Naive {
    /// Rows in the order of the set.
    fn new(rows: &[Vec<f64>], reviews: usize) -> Self {
        Self::of_counted(rows, reviews, &(0..reviews).collect::<Vec<_>>())
    }

    /// Centered by the mean of the reviews that count.
    pub(super) fn of_counted(rows: &[Vec<f64>], reviews: usize, counted: &[usize]) -> Self {
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

    /// Weights of the pairs of words by their names, not centered.
    fn of_pairs(set: &ReviewSet) -> Self {
        let reviews = set.reviews.iter().map(|review| &review.content);
        let texts = reviews.chain(set.z.iter().map(|z| &z.content));
        // Tasks, which come last, say how rare a pair is, too.
        let texts = texts.chain(set.tasks.iter().flatten());
        let pairs_of = |content: &Content| -> Vec<String> {
            let text = content.text.as_deref().unwrap().to_lowercase();
            let words: Vec<&str> = crate::data::words::words(&text).collect();
            words.windows(2).map(|two| two.join(" ")).collect()
        };
        let texts: Vec<Vec<String>> = texts.map(pairs_of).collect();
        let mut names: Vec<&String> = texts.iter().flatten().collect();
        names.sort_unstable();
        names.dedup();
        let mut rows = vec![vec![0.0; names.len()]; texts.len()];
        for (dim, name) in names.into_iter().enumerate() {
            let counts: Vec<usize> =
                texts.iter().map(|text| text.iter().filter(|pair| *pair == name).count()).collect();
            let with = counts.iter().filter(|count| **count > 0).count();
            let rarity = ((1.0 + texts.len() as f64) / (1.0 + with as f64)).ln() + 1.0;
            for (row, count) in rows.iter_mut().zip(counts).filter(|(_, count)| *count > 0) {
                row[dim] = (1.0 + (count as f64).ln()) * rarity;
            }
        }
        for row in &mut rows {
            let length = cosine(row, row).sqrt();
            row.iter_mut().for_each(|value| *value /= length);
        }
        let z = rows.split_off(set.reviews.len());
        Self { reviews: rows, z }
    }

    /// Each peer weighs as much as it is believed.
    fn features(
        &self,
        set: &ReviewSet,
        review: usize,
        believed: &[f64],
    ) -> (Option<f64>, Option<f64>) {
        let cos = cosine;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let v = &self.reviews[review];
        let paper = set.reviews[review].paper;
        let (mut near, mut far) = (Vec::new(), Vec::new());
        for (other, row) in self.reviews.iter().enumerate() {
            let same = set.reviews[other].paper == paper;
            if other != review && same && cos(v, row) <= 0.85 {
                near.push((cos(v, row), believed[other]));
            } else if !same {
                far.push(cos(v, row));
            }
        }
        let weight: f64 = near.iter().map(|(_, w)| w).sum();
        let sum: f64 = near.iter().map(|(cosine, w)| cosine * w).sum();
        let peers = (weight >= 0.5 && !far.is_empty()).then(|| sum / weight - mean(&far));
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

pub(super) fn dense(vectors: &Vectors) -> Vec<Vec<f64>> {
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
    let rows = dense(&vectors.vectors);
    let believed: Vec<f64> =
        (0..set.reviews.len()).map(|review| [1.0, 0.2, 0.7][review % 3]).collect();
    let found = features(&set, &planted, vectors, &believed);
    let of_set = in_order_of_set(&set, &planted, &rows);
    let naive = Naive::new(&of_set, set.reviews.len());
    let by_pairs = Naive::of_pairs(&set);
    for review in 0..set.reviews.len() {
        let (peers, by_words) = naive.features(&set, review, &believed);
        let (_, by_pairs) = by_pairs.features(&set, review, &believed);
        let z = by_words.zip(by_pairs).map(|(words, pairs)| (words + pairs) / 2.0);
        let features = found[review];
        for (found, expected) in [(features.peers, peers), (features.z, z)] {
            assert_eq!(found.is_some(), expected.is_some(), "review {review}");
            if let (Some(found), Some(expected)) = (found, expected) {
                // Of some thousand pairs a few share a hash.
                assert!((found - expected).abs() < 1e-3, "{found:?} {expected}");
            }
        }
    }
    let duplicates = near_duplicates(&set);
    assert_eq!((duplicates.len(), duplicates[0].reviews), (1, (2, other)));
}

/// The features of all reviews, in the order of the set, where they are believed so far.
fn features(
    set: &ReviewSet,
    planted: &Planted,
    vectors: impl Into<scores::OwnVectors>,
    believed: &[f64],
) -> Vec<Features> {
    let scores::OwnVectors { vectors, pairs } = vectors.into();
    let venue = &planted.venue;
    let counts = vec![true; set.reviews.len()];
    let space = space::UnitSpace::new(vectors, counts.len(), &counts);
    let comparison = features::Comparison::new(set, planted, &space, pairs.as_ref(), &counts);
    let believed: Vec<f64> = venue.reviews.iter().map(|&review| believed[review]).collect();
    let mut all = vec![Features::default(); counts.len()];
    let stands = comparison.stands(&NoProgress).reviews;
    for (slot, stand) in stands.iter().enumerate() {
        all[venue.reviews[slot]] = Features { peers: stand.peers(stand, &believed), z: stand.z };
    }
    all
}

pub(super) fn cosine(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The rows of whole texts, reviews first, in the order of the set.
pub(super) fn in_order_of_set(
    set: &ReviewSet,
    planted: &Planted,
    rows: &[Vec<f64>],
) -> Vec<Vec<f64>> {
    let mut of_set = vec![Vec::new(); set.reviews.len() + set.z.len()];
    let (reviews, z) = (&planted.venue.reviews, &planted.venue.z);
    let places = reviews.iter().copied().chain(z.iter().map(|z| set.reviews.len() + z));
    places.zip(rows).for_each(|(place, row)| of_set[place].clone_from(row));
    of_set
}

#[test]
fn pairs_of_words_count_in_long_texts_whose_writers_do_not_quote_the_task() {
    let counts = |set: &ReviewSet| {
        let planted = planted(set, &settings());
        tfidf_vectors(set, &planted, &NoProgress).unwrap().unwrap().pairs.is_some()
    };
    let set = venue(12);
    assert!(counts(&set));
    let mut short = set.clone();
    for review in &mut short.reviews {
        let words = review.content.text.take().unwrap();
        let words: Vec<&str> = words.split(' ').take(COUNTED_WORDS - 10).collect();
        review.content = content(words.join(" "));
    }
    assert!(!counts(&short));
    // A fifth of a review of about a hundred words is twenty pairs: of every task its first words.
    let quoted = |words: usize| {
        let mut set = set.clone();
        let of = |paper: u32| {
            let of_paper = set.reviews.iter().filter(|review| review.paper == paper);
            let starts = of_paper.map(|review| {
                let text = review.content.text.as_deref().unwrap();
                text.split(' ').take(words).collect::<Vec<_>>().join(" ")
            });
            Some(content(starts.collect::<Vec<_>>().join(" xx ")))
        };
        set.tasks = (0..12).map(of).collect();
        counts(&set)
    };
    assert!(quoted(8) && !quoted(40));
}

/// A task on every paper, whose words everybody there repeats.
#[test]
fn what_the_task_says_is_taken_out_by_the_definition() {
    let mut set = venue(12);
    set.tasks = (0..12)
        .map(|paper| (paper != 3).then(|| content(text(paper, "task", 60, 0.8, 70 + paper as u64))))
        .collect();
    let planted = planted(&set, &settings());
    let vectors = tfidf_vectors(&set, &planted, &NoProgress).unwrap().unwrap();
    let rows = dense(&vectors.vectors);
    let believed = vec![1.0; set.reviews.len()];
    let found = features(&set, &planted, vectors, &believed);
    let whole = planted.whole_texts();
    let tasks: Vec<Vec<f64>> = rows[set.reviews.len() + set.z.len()..whole].to_vec();
    assert_eq!(tasks.len(), 11);
    let mut all = in_order_of_set(&set, &planted, &rows);
    all.extend(tasks);
    let mut naive = Naive::new(&all, set.reviews.len());
    let tasks = naive.z.split_off(set.z.len());
    let projected = |rows: &mut Vec<Vec<f64>>, papers: Vec<u32>| {
        for (row, paper) in rows.iter_mut().zip(papers).filter(|(_, paper)| *paper != 3) {
            let task = &tasks[paper as usize - usize::from(paper > 3)];
            let along = cosine(row, task);
            row.iter_mut().zip(task).for_each(|(x, t)| *x -= along * t);
            let length = cosine(row, row).sqrt();
            row.iter_mut().for_each(|x| *x /= length);
        }
    };
    projected(&mut naive.reviews, set.reviews.iter().map(|r| r.paper).collect());
    projected(&mut naive.z, set.z.iter().map(|z| z.paper).collect());
    let by_pairs = Naive::of_pairs(&set);
    #[expect(clippy::needless_range_loop, reason = "numbers of several lists")]
    for review in 0..set.reviews.len() {
        let (peers, z) = naive.features(&set, review, &believed);
        let (_, pairs) = by_pairs.features(&set, review, &believed);
        let features = found[review];
        assert!((features.peers.unwrap() - peers.unwrap()).abs() < 1e-9, "review {review}");
        // Of some thousand pairs a few share a hash.
        let z = (z.unwrap() + pairs.unwrap()) / 2.0;
        assert!((features.z.unwrap() - z).abs() < 1e-3, "review {review}");
    }
}
