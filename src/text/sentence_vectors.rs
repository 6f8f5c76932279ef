//! Vectors of the sentences of a text, and for every sentence the closest one of another text.

use super::embed::{EmbedError, Embedder};
use super::sentences::sentences;
use super::similarity::{norm, unit, unit_cosine};
use super::vectors::Vectors;
use crate::data::progress::NoProgress;

/// Sentences of one text that are compared, from its start: a text of a hundred megabytes must not
/// be compared sentence by sentence with another one.
pub const MAX_COMPARED_SENTENCES: usize = 1000;

/// The first sentences of one text with their unit vectors.
pub(super) struct SentenceVectors<'a> {
    /// At most [`MAX_COMPARED_SENTENCES`].
    pub(super) texts: Vec<&'a str>,
    /// How many follow these.
    pub(super) left_out: usize,
    units: Vec<Unit>,
}

/// A vector of length 1, or of length 0 for a sentence without a direction.
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

fn sparse_dot(a: &[(u32, f64)], b: &[(u32, f64)]) -> f64 {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut sum = 0.0;
    while let (Some(&&(left, x)), Some(&&(right, y))) = (a.peek(), b.peek()) {
        if left == right {
            sum += x * y;
        }
        if left <= right {
            a.next();
        }
        if right <= left {
            b.next();
        }
    }
    sum
}

fn sparse_unit(row: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let values: Vec<f64> = row.iter().map(|&(_, value)| value).collect();
    let length = norm(&values);
    let entries = row.iter().filter(|_| length > 0.0);
    entries.map(|&(dim, value)| (dim, value / length)).collect()
}

impl<'a> SentenceVectors<'a> {
    /// Splits and embeds a text; no text has no sentences.
    ///
    /// # Errors
    ///
    /// What the embedder reports.
    pub(super) fn embed(
        embedder: &dyn Embedder,
        text: Option<&'a str>,
    ) -> Result<Self, EmbedError> {
        let mut all = sentences(text.unwrap_or_default());
        let texts: Vec<&str> = all.by_ref().take(MAX_COMPARED_SENTENCES).collect();
        let left_out = all.count();
        let units = match embedder.embed(&texts, &NoProgress)?.vectors {
            Vectors::Dense(dense) => dense.rows().map(|row| Unit::Dense(unit(row))).collect(),
            Vectors::Sparse(sparse) => {
                (0..sparse.len()).map(|row| Unit::Sparse(sparse_unit(sparse.row(row)))).collect()
            }
        };
        Ok(Self { texts, left_out, units })
    }
}

/// Largest cosine of every sentence of `a` with one of `b`, and the other way round; empty if the
/// other text has no sentence.
pub(super) fn closest(a: &SentenceVectors<'_>, b: &SentenceVectors<'_>) -> (Vec<f64>, Vec<f64>) {
    if a.units.is_empty() || b.units.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let mut to_b = vec![f64::NEG_INFINITY; a.units.len()];
    let mut to_a = vec![f64::NEG_INFINITY; b.units.len()];
    for (one, best) in a.units.iter().zip(&mut to_b) {
        for (other, best_of_other) in b.units.iter().zip(&mut to_a) {
            let cosine = one.cosine(other);
            *best = best.max(cosine);
            *best_of_other = best_of_other.max(cosine);
        }
    }
    (to_b, to_a)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::embed::tfidf::{StopWords, Tfidf};

    fn row() -> impl Strategy<Value = Vec<f64>> {
        let entry = prop_oneof![2 => Just(0.0), 1 => -2.0..2.0_f64];
        prop::collection::vec(entry, 8)
    }

    fn text(units: Vec<Unit>) -> SentenceVectors<'static> {
        SentenceVectors { texts: vec![""; units.len()], left_out: 0, units }
    }

    fn sparse(row: &[f64]) -> Vec<(u32, f64)> {
        let entries = (0..).zip(row.iter().copied());
        entries.filter(|&(_, value)| value != 0.0).collect()
    }

    #[test]
    fn texts_with_different_words_can_be_compared() {
        let texts = ["Red green. Blue", "Green. White"];
        let embedder = Tfidf::fit(&texts, StopWords::None);
        let [a, b] = texts.map(|text| SentenceVectors::embed(&embedder, Some(text)).unwrap());
        let (to_b, to_a) = closest(&a, &b);
        // `red green` has the weights ln(3/2) + 1 and 1 or the like; `green` alone is one of them.
        assert!(to_b[0] > 0.4 && to_b[0] < 1.0 && to_b[1].abs() < 1e-12, "{to_b:?}");
        assert!((to_a[0] - to_b[0]).abs() < 1e-12 && to_a[1].abs() < 1e-12);
    }

    #[test]
    fn a_text_of_many_sentences_is_compared_from_its_start() {
        let long = "Red blue. ".repeat(MAX_COMPARED_SENTENCES + 7);
        let embedder = Tfidf::fit(&["red blue"], StopWords::None);
        let vectors = SentenceVectors::embed(&embedder, Some(&long)).unwrap();
        assert_eq!((vectors.texts.len(), vectors.left_out), (MAX_COMPARED_SENTENCES, 7));
        let none = SentenceVectors::embed(&embedder, None).unwrap();
        assert_eq!(closest(&vectors, &none), (vec![], vec![]));
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
                let slow = slow.fold(f64::NEG_INFINITY, f64::max);
                prop_assert!((fast.0[one] - slow).abs() < 1e-9 && (other.0[one] - slow).abs() < 1e-9);
            }
            let swapped = closest(&dense(&b), &dense(&a));
            prop_assert_eq!(fast.1, swapped.0);
        }
    }
}
