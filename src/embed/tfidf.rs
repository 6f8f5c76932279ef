//! The `tfidf` embedder: one dimension per word of the corpus, no model.
//!
//! `v[w] = (1 + ln tf_w) · (ln((1 + n) / (1 + df_w)) + 1)`, scaled to unit length, where `tf_w`
//! counts word `w` in the text, `df_w` the texts of the corpus with `w`, and `n` those texts. A
//! word that the corpus does not have is skipped; a text without a known word has the zero vector.
//! Words are those of Unicode Standard Annex 29, lower-cased, with a straight apostrophe.
//!
//! Reference: Manning, Raghavan, Schütze (2008), "Introduction to Information Retrieval",
//! sections 6.2-6.4; the formulas of scikit-learn's `TfidfVectorizer(sublinear_tf=True)`, which
//! the tests compare with.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::data::progress::Progress;
use crate::data::words::{words, write_folded};
use crate::embed::vectors::{SparseVectors, Vectors};
use crate::embed::{EmbedError, Embedder, Embeddings, VectorKind};

/// Texts whose words are counted by one thread at a time.
const TEXTS_PER_JOB: usize = 256;

/// The words of a corpus and how rare they are.
#[derive(Debug, Clone)]
pub struct Tfidf {
    name: String,
    /// Dimension of every word; only looked up, never gone through.
    dims: HashMap<String, u32>,
    /// Inverse document frequency by dimension.
    rarity: Vec<f64>,
}

impl Tfidf {
    /// Learns the vocabulary and the document frequencies of `corpus`: give it all texts that will
    /// be compared, reviews and LLM reviews. Dimensions are the words in the order of their bytes.
    pub fn fit(corpus: &[&str]) -> Self {
        let counts: Vec<HashMap<String, InTexts>> = corpus
            .par_chunks(TEXTS_PER_JOB)
            .map(|texts| {
                let mut counts: HashMap<String, InTexts> = HashMap::new();
                for (number, text) in texts.iter().enumerate() {
                    for_each_word(text, |word| match counts.get_mut(word) {
                        Some(known) if known.last == number => {}
                        Some(known) => *known = InTexts { count: known.count + 1, last: number },
                        None => {
                            counts.insert(word.to_owned(), InTexts { count: 1, last: number });
                        }
                    });
                }
                counts
            })
            .collect();
        let mut frequencies: HashMap<String, u64> = HashMap::new();
        for (word, of_words) in counts.into_iter().flatten() {
            *frequencies.entry(word).or_insert(0) += of_words.count;
        }
        let mut frequencies: Vec<(String, u64)> = frequencies.into_iter().collect();
        frequencies.sort_unstable();
        let texts = corpus.len() as f64;
        let rarity = frequencies
            .iter()
            .map(|&(_, count)| ((1.0 + texts) / (1.0 + count as f64)).ln() + 1.0)
            .collect();
        let dims = frequencies.into_iter().map(|(word, _)| word).zip(0..).collect();
        Self { name: "tfidf".to_owned(), dims, rarity }
    }

    /// Number of words, which is the number of dimensions.
    pub fn dims(&self) -> usize {
        self.rarity.len()
    }

    /// The dimension of a lower-case word; `None` if the corpus does not have it.
    pub fn dimension(&self, word: &str) -> Option<u32> {
        self.dims.get(word).copied()
    }

    /// The vector of one text.
    fn vector(&self, text: &str) -> Vec<(u32, f64)> {
        let mut dims = Vec::new();
        for_each_word(text, |word| dims.extend(self.dimension(word)));
        dims.sort_unstable();
        let mut row: Vec<(u32, f64)> = dims
            .chunk_by(|a, b| a == b)
            .map(|run| {
                let (dim, count) = (run[0], run.len());
                (dim, (1.0 + (count as f64).ln()) * self.rarity[dim as usize])
            })
            .collect();
        let length = row.iter().map(|entry| entry.1 * entry.1).sum::<f64>().sqrt();
        for entry in &mut row {
            entry.1 /= length;
        }
        row
    }
}

/// How many texts have a word, and the last of them.
struct InTexts {
    count: u64,
    last: usize,
}

/// The words of a text, with repeats.
fn for_each_word(text: &str, mut each: impl FnMut(&str)) {
    let mut folded = String::new();
    for word in words(text) {
        write_folded(word, &mut folded);
        each(&folded);
    }
}

impl Embedder for Tfidf {
    fn name(&self) -> &str {
        &self.name
    }

    /// Texts are never too long. Never fails.
    fn embed(&self, texts: &[&str], progress: &dyn Progress) -> Result<Embeddings, EmbedError> {
        let rows: Vec<Vec<(u32, f64)>> = texts
            .par_iter()
            .map(|text| {
                let row = self.vector(text);
                progress.advance(1);
                row
            })
            .collect();
        let mut vectors = SparseVectors::new(self.dims());
        for row in rows {
            vectors.push(row);
        }
        Ok(Embeddings { vectors: Vectors::Sparse(vectors), long_texts: 0 })
    }

    fn kind(&self) -> VectorKind {
        VectorKind::WordWeights
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::progress::NoProgress;
    use proptest::prelude::*;

    fn rows(tfidf: &Tfidf, texts: &[&str]) -> SparseVectors {
        match tfidf.embed(texts, &NoProgress).unwrap().vectors {
            Vectors::Sparse(sparse) => sparse,
            Vectors::Dense(_) => panic!("word weights are sparse"),
        }
    }

    #[test]
    fn weights_by_hand() {
        // n = 2. "a": in both, idf = ln(3/3) + 1 = 1; "b": in one, idf = ln(3/2) + 1.
        let tfidf = Tfidf::fit(&["A a b", "a"]);
        let (a, b) = (1.0 + 2.0_f64.ln(), 1.5_f64.ln() + 1.0);
        let sparse = rows(&tfidf, &["A a b", "zebra", ""]);
        let row = sparse.row(0);
        assert_eq!([row[0].0, row[1].0], [0, 1]);
        assert!((row[0].1 - a / a.hypot(b)).abs() < 1e-15);
        assert!((row[1].1 - b / a.hypot(b)).abs() < 1e-15);
        assert!(sparse.row(1).is_empty() && sparse.row(2).is_empty());
    }

    #[test]
    fn words_are_in_lower_case_with_a_straight_apostrophe() {
        let tfidf = Tfidf::fit(&["It\u{2019}s a Paper"]);
        assert_eq!(["a", "it's", "paper"].map(|word| tfidf.dimension(word)), [0, 1, 2].map(Some));
    }

    #[test]
    fn an_empty_corpus_has_no_dimension() {
        let sparse = rows(&Tfidf::fit(&[]), &["word"]);
        assert_eq!((sparse.dims(), sparse.len()), (0, 1));
    }

    proptest! {
        #[test]
        fn vectors_are_those_of_the_definition_whatever_the_batch(
            texts in prop::collection::vec("[a-d]( [a-d]){0,8}|", 1..8),
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let tfidf = Tfidf::fit(&texts);
            let sparse = rows(&tfidf, &texts);
            for (index, text) in texts.iter().enumerate() {
                let mut full = [0.0; 4];
                for (value, word) in full.iter_mut().zip(["a", "b", "c", "d"]) {
                    let count = |text: &str| text.split(' ').filter(|other| *other == word).count();
                    let with = texts.iter().filter(|text| count(text) > 0).count() as f64;
                    if count(text) > 0 {
                        let idf = ((1.0 + texts.len() as f64) / (1.0 + with)).ln() + 1.0;
                        *value = (1.0 + (count(text) as f64).ln()) * idf;
                    }
                }
                let norm = full.iter().map(|x| x * x).sum::<f64>().sqrt();
                let alone = rows(&tfidf, &[text]);
                prop_assert_eq!(alone.row(0), sparse.row(index));
                for (word, value) in ["a", "b", "c", "d"].into_iter().zip(full) {
                    let stored = tfidf.dimension(word).and_then(|dim| {
                        sparse.row(index).iter().find(|entry| entry.0 == dim)
                    });
                    let stored = stored.map_or(0.0, |entry| entry.1);
                    let expected = if norm > 0.0 { value / norm } else { 0.0 };
                    prop_assert!((stored - expected).abs() < 1e-12);
                }
            }
        }
    }
}
