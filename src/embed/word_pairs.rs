//! Pairs of words that follow each other: what two texts say in the same words, not only with them.
//!
//! A pair weighs what a word does in [`tfidf`](super::tfidf): `(1 + ln tf) · (ln((1 + n) / (1 + df)) + 1)`, scaled to
//! unit length, where `tf` counts it in the text and `df` the whole texts with it, of `n`. Pairs are told apart by 20
//! bits of a hash, so that a sum needs no table of all pairs: by chance two texts of 300 and 500 pairs have .14 in
//! common.

use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashSet;
use rayon::prelude::*;

use super::tfidf::{rarity_of, weighed};

/// Values of the hash.
const BUCKETS: usize = 1 << 20;

/// The pairs of whole texts, and of starts of them, whose rows come after those of the whole texts.
#[derive(Debug, Clone)]
pub(crate) struct WordPairs {
    /// As they stand in each whole text.
    texts: Vec<Box<[u32]>>,
    /// Of each start the text and how many of its pairs.
    starts: Vec<(usize, usize)>,
    /// How many whole texts have each pair.
    with: Vec<u32>,
    /// By this number.
    rarity: Vec<f64>,
}

/// The pairs of one text in their order, each with its weight.
pub(crate) type PairWeights = Vec<(u32, f64)>;

impl WordPairs {
    /// `words_of` gives the words of a whole text by number, `starts` each a whole text and its first words.
    pub(crate) fn new(
        texts: usize,
        words_of: impl Fn(usize) -> Vec<u32> + Sync,
        starts: impl Iterator<Item = (usize, usize)>,
    ) -> Self {
        let of =
            |text: usize| words_of(text).windows(2).map(|two| bucket([two[0], two[1]])).collect();
        let texts: Vec<Box<[u32]>> = (0..texts).into_par_iter().map(of).collect();
        let with: Vec<AtomicU32> = (0..BUCKETS).map(|_| AtomicU32::new(0)).collect();
        texts.par_iter().for_each_init(Vec::new, |sorted: &mut Vec<u32>, text| {
            sorted.clear();
            sorted.extend_from_slice(text);
            sorted.sort_unstable();
            sorted.dedup();
            // Sums of whole numbers are the same in any order.
            sorted.iter().for_each(|&pair| {
                with[pair as usize].fetch_add(1, Ordering::Relaxed);
            });
        });
        let with = with.into_iter().map(AtomicU32::into_inner).collect();
        let rarity = (0..).take(texts.len() + 1).map(|with| rarity_of(with, texts.len())).collect();
        let starts = starts.map(|(text, words)| (text, words.saturating_sub(1))).collect();
        Self { texts, starts, with, rarity }
    }

    /// The pairs of a text; none of one with fewer than two words.
    pub(crate) fn row(&self, row: usize) -> PairWeights {
        let pairs = match row.checked_sub(self.texts.len()) {
            None => &self.texts[row][..],
            Some(start) => {
                let (text, pairs) = self.starts[start];
                let text = &self.texts[text];
                &text[..pairs.min(text.len())]
            }
        };
        let rarity = |pair: u32| self.rarity[self.with[pair as usize] as usize];
        weighed(&mut pairs.to_vec(), rarity)
    }

    /// How much of each of some whole texts stands in another one: the share of its pairs; `None` of a text with
    /// fewer than two words.
    pub(crate) fn shares_in(
        &self,
        texts: impl Iterator<Item = usize>,
        other: usize,
    ) -> Vec<Option<f64>> {
        let other: HashSet<u32> = self.texts[other].iter().copied().collect();
        let share = |text: usize| {
            let pairs = &self.texts[text];
            let shared = pairs.iter().filter(|pair| other.contains(*pair)).count();
            (!pairs.is_empty()).then(|| shared as f64 / pairs.len() as f64)
        };
        texts.map(share).collect()
    }

    /// The sum of some rows, by hash.
    pub(crate) fn sum(&self, rows: impl Iterator<Item = usize>) -> Vec<f64> {
        let mut sum = vec![0.0; BUCKETS];
        for row in rows {
            self.row(row).iter().for_each(|&(pair, weight)| sum[pair as usize] += weight);
        }
        sum
    }
}

fn bucket([first, second]: [u32; 2]) -> u32 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    // The high bits of a product depend on all of what is multiplied; twice, as numbers of words are small.
    let once = ((u64::from(first) << 32) | u64::from(second)).wrapping_mul(ODD);
    let twice = (once ^ (once >> 32)).wrapping_mul(ODD);
    u32::try_from(twice >> 44).expect("20 bits")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::data::progress::NoProgress;
    use crate::embed::tfidf::{Start, Tfidf};
    use crate::stats::similarity::sparse_along;

    /// By the names of the words, without a hash: the weights of a text, and the cosine of two.
    fn weights(texts: &[Vec<&str>], text: &[&str]) -> BTreeMap<(String, String), f64> {
        let pairs = |text: &[&str]| -> Vec<(String, String)> {
            text.windows(2).map(|two| (two[0].to_owned(), two[1].to_owned())).collect()
        };
        let mut all = BTreeMap::new();
        for pair in pairs(text) {
            let tf = pairs(text).iter().filter(|other| **other == pair).count() as f64;
            let df = texts.iter().filter(|text| pairs(text).contains(&pair)).count() as f64;
            let idf = ((1.0 + texts.len() as f64) / (1.0 + df)).ln() + 1.0;
            all.insert(pair, (1.0 + tf.ln()) * idf);
        }
        let length = all.values().map(|weight| weight * weight).sum::<f64>().sqrt();
        all.values_mut().for_each(|weight| *weight /= length);
        all
    }

    fn cosine(a: &[(u32, f64)], b: &[(u32, f64)]) -> f64 {
        let of = |pair: u32| b.iter().find(|entry| entry.0 == pair).map_or(0.0, |entry| entry.1);
        a.iter().map(|&(pair, weight)| weight * of(pair)).sum()
    }

    #[test]
    fn the_weights_by_hand() {
        // "a b" stands twice in the first text and once in the second, "b a" once in the first.
        let words = [vec![0, 1, 0, 1], vec![0, 1], vec![2]];
        let pairs = WordPairs::new(3, |text| words[text].clone(), [(0, 2), (0, 1)].into_iter());
        let (ab, ba) = (bucket([0, 1]), bucket([1, 0]));
        let [twice, once] =
            [(1.0 + 2.0_f64.ln()) * ((4.0_f64 / 3.0).ln() + 1.0), 2.0_f64.ln() + 1.0];
        let length = twice.hypot(once);
        let row: BTreeMap<u32, f64> = pairs.row(0).into_iter().collect();
        assert!((row[&ab] - twice / length).abs() < 1e-12 && row.len() == 2);
        assert!((row[&ba] - once / length).abs() < 1e-12);
        // Its first two words are all of the second text, and one word is no pair.
        assert_eq!((pairs.row(1), pairs.row(3)), (vec![(ab, 1.0)], vec![(ab, 1.0)]));
        assert!(pairs.row(2).is_empty() && pairs.row(4).is_empty());
        // Three pairs, all of them "a b" or "b a"; of the second text all, of no pair no share.
        assert_eq!(pairs.shares_in(0..3, 1), [Some(2.0 / 3.0), Some(1.0), None]);
        assert_eq!(pairs.shares_in(0..3, 2), [Some(0.0), Some(0.0), None]);
        let sum = pairs.sum([1, 3].into_iter());
        assert!((sparse_along(&pairs.row(0), &sum) - 2.0 * row[&ab]).abs() < 1e-12);
    }

    #[test]
    fn few_pairs_of_small_numbers_meet() {
        let all = (0..100).flat_map(|a| (0..100).map(move |b| bucket([a, b])));
        // Of 10,000 balls in 2^20 bins 48 are expected to meet an earlier one.
        let different = all.collect::<HashSet<u32>>().len();
        assert!((9_900..9_990).contains(&different), "{different}");
    }

    proptest! {
        #[test]
        fn cosines_are_those_by_the_names_of_the_words(
            texts in prop::collection::vec(prop::collection::vec(0..5_usize, 0..12), 1..8),
            cut in 0..12_usize,
        ) {
            let names = ["ant", "bee", "cat", "dog", "eel"];
            let texts: Vec<Vec<&str>> =
                texts.iter().map(|text| text.iter().map(|&word| names[word]).collect()).collect();
            let joined: Vec<String> = texts.iter().map(|text| text.join(" ")).collect();
            let corpus: Vec<&str> = joined.iter().map(String::as_str).collect();
            let first = &texts[0][..cut.min(texts[0].len())];
            let starts = [Start { text: 0, bytes: first.join(" ").len() }];
            let (_, pairs) = Tfidf::fit_and_embed(&corpus, &starts, true, &NoProgress);
            let pairs = pairs.expect("asked for");
            let by_name: Vec<_> =
                texts.iter().map(|text| &text[..]).chain([first]).map(|text| weights(&texts, text)).collect();
            for (a, of_a) in by_name.iter().enumerate() {
                for (b, of_b) in by_name.iter().enumerate() {
                    let expected: f64 =
                        of_a.iter().map(|(pair, w)| w * of_b.get(pair).copied().unwrap_or(0.0)).sum();
                    prop_assert!((cosine(&pairs.row(a), &pairs.row(b)) - expected).abs() < 1e-12);
                }
            }
        }
    }
}
