//! Vectors of the sentences of a text, and for every sentence the closest one of another text.

use crate::embed::vectors::Vectors;
use crate::stats::similarity::{norm, sparse_dot, unit, unit_cosine};

/// Sentences of one text that are compared, from its start: a text of a hundred megabytes must not
/// be compared sentence by sentence with another one.
pub(crate) const MAX_COMPARED_SENTENCES: usize = 1000;

/// Unit vectors of the first sentences of one text, at most [`MAX_COMPARED_SENTENCES`].
#[derive(Debug, Clone, Default)]
pub(super) struct SentenceVectors {
    units: Vec<Unit>,
}

/// A vector of length 1, or of length 0 for a sentence without a direction.
#[derive(Debug, Clone)]
enum Unit {
    Dense(Option<Vec<f64>>),
    /// Dimensions ascend.
    Sparse(Vec<(u32, f64)>),
}

impl Unit {
    /// Cosine, 0 with a sentence without a direction.
    fn cosine(&self, other: &Self) -> f64 {
        match (self, other) {
            (Self::Dense(a), Self::Dense(b)) => unit_cosine(a.as_deref(), b.as_deref()),
            (Self::Sparse(a), Self::Sparse(b)) => sparse_dot(a, b).clamp(-1.0, 1.0),
            _ => unreachable!("an embedder gives one sort of vectors"),
        }
    }
}

fn sparse_unit(row: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let values: Vec<f64> = row.iter().map(|&(_, value)| value).collect();
    let length = norm(&values);
    let entries = row.iter().filter(|_| length > 0.0);
    entries.map(|&(dim, value)| (dim, value / length)).collect()
}

impl SentenceVectors {
    /// Adds the next sentence of the text, whose vector is a row of `vectors`.
    pub(super) fn push(&mut self, vectors: &Vectors, row: usize) {
        self.units.push(match vectors {
            Vectors::Dense(dense) => Unit::Dense(unit(dense.row(row))),
            Vectors::Sparse(sparse) => Unit::Sparse(sparse_unit(sparse.row(row))),
        });
    }

    /// How many sentences there are.
    pub(super) fn len(&self) -> usize {
        self.units.len()
    }
}

/// The sentence of another text that is closest to a sentence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SentenceMatch {
    /// Its place in the other text, from 0; the first of several that are as close.
    pub position: u32,
    /// Cosine of the two, in `[-1, 1]`.
    pub cosine: f64,
}

impl SentenceMatch {
    const NOTHING: Self = Self { position: 0, cosine: f64::NEG_INFINITY };

    fn improve(&mut self, position: u32, cosine: f64) {
        if cosine > self.cosine {
            *self = Self { position, cosine };
        }
    }
}

/// The closest sentence of `b` for every sentence of `a`, and the other way round; empty if the
/// other text has no sentence.
pub(super) fn closest(
    a: &SentenceVectors,
    b: &SentenceVectors,
) -> (Vec<SentenceMatch>, Vec<SentenceMatch>) {
    if a.units.is_empty() || b.units.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let mut to_b = vec![SentenceMatch::NOTHING; a.units.len()];
    let mut to_a = vec![SentenceMatch::NOTHING; b.units.len()];
    for ((one, best), place) in a.units.iter().zip(&mut to_b).zip(0..) {
        for ((other, best_of_other), other_place) in b.units.iter().zip(&mut to_a).zip(0..) {
            let cosine = one.cosine(other);
            best.improve(other_place, cosine);
            best_of_other.improve(place, cosine);
        }
    }
    (to_b, to_a)
}

/// For every sentence of `a` the largest cosine with one of any of `others`; `None` without any.
pub(super) fn highest(a: &SentenceVectors, others: &[&SentenceVectors]) -> Vec<Option<f64>> {
    let of_one = |one: &Unit| {
        let all = others.iter().flat_map(|other| &other.units);
        all.map(|other| one.cosine(other)).max_by(f64::total_cmp)
    };
    a.units.iter().map(of_one).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::progress::NoProgress;
    use crate::embed::Embedder;
    use crate::embed::sentences::sentences;
    use crate::embed::tfidf::Tfidf;

    fn row() -> impl Strategy<Value = Vec<f64>> {
        let entry = prop_oneof![2 => Just(0.0), 1 => -2.0..2.0_f64];
        prop::collection::vec(entry, 8)
    }

    fn text(units: Vec<Unit>) -> SentenceVectors {
        SentenceVectors { units }
    }

    fn embedded(embedder: &dyn Embedder, text: &str) -> SentenceVectors {
        let sentences: Vec<&str> = sentences(text).collect();
        let vectors = embedder.embed(&sentences, &NoProgress).unwrap().vectors;
        let mut embedded = SentenceVectors::default();
        (0..sentences.len()).for_each(|row| embedded.push(&vectors, row));
        embedded
    }

    fn sparse(row: &[f64]) -> Vec<(u32, f64)> {
        let entries = (0..).zip(row.iter().copied());
        entries.filter(|&(_, value)| value != 0.0).collect()
    }

    #[test]
    fn texts_with_different_words_can_be_compared() {
        let texts = ["Red green. Blue", "Green. White"];
        let embedder = Tfidf::fit(&texts);
        let [a, b] = texts.map(|text| embedded(&embedder, text));
        let (to_b, to_a) = closest(&a, &b);
        // `red green` has the weights ln(3/2) + 1 and 1 or the like; `green` alone is one of them.
        let cosines =
            |found: &[SentenceMatch]| -> Vec<f64> { found.iter().map(|m| m.cosine).collect() };
        let (near, back) = (cosines(&to_b), cosines(&to_a));
        assert!(near[0] > 0.4 && near[0] < 1.0 && near[1].abs() < 1e-12, "{to_b:?}");
        assert!((back[0] - near[0]).abs() < 1e-12 && back[1].abs() < 1e-12);
        // `red green` is closest to `green`, the first; of equals the first is taken.
        assert_eq!((to_b[0].position, to_a[0].position, to_b[1].position), (0, 0, 0));
    }

    #[test]
    fn nothing_is_close_to_a_text_without_sentences() {
        let embedder = Tfidf::fit(&["red blue"]);
        let vectors = embedded(&embedder, "Red blue. Blue.");
        assert_eq!(closest(&vectors, &SentenceVectors::default()), (vec![], vec![]));
    }

    proptest! {
        #[test]
        fn dense_and_sparse_agree_with_every_cosine_looked_at(
            a in prop::collection::vec(row(), 1..5),
            b in prop::collection::vec(row(), 1..5),
        ) {
            let dense = |rows: &[Vec<f64>]| text(rows.iter().map(|r| Unit::Dense(unit(r))).collect());
            let thin = |rows: &[Vec<f64>]| {
                text(rows.iter().map(|r| Unit::Sparse(sparse_unit(&sparse(r)))).collect())
            };
            let fast = closest(&dense(&a), &dense(&b));
            let other = closest(&thin(&a), &thin(&b));
            for (one, row) in a.iter().enumerate() {
                let slow = b.iter().map(|other| {
                    let product: f64 = row.iter().zip(other).map(|(x, y)| x * y).sum();
                    let lengths = norm(row) * norm(other);
                    if lengths > 0.0 { product / lengths } else { 0.0 }
                });
                let slow: Vec<f64> = slow.collect();
                let most = slow.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                for found in [fast.0[one], other.0[one]] {
                    prop_assert!((found.cosine - most).abs() < 1e-9);
                    prop_assert!((slow[found.position as usize] - most).abs() < 1e-9);
                }
            }
            let swapped = closest(&dense(&b), &dense(&a));
            prop_assert_eq!(fast.1, swapped.0);
        }
    }
}
