//! Reviews that are nearly the same text: of different reviewers, or of one on several papers.

use std::collections::BTreeSet;

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use serde::Serialize;

use crate::data::reviews::ReviewSet;
use crate::data::words::{is_plain_byte, words, write_folded};

/// Words of a shingle.
pub(super) const SHINGLE: usize = 5;

/// Share of the shingles of the shorter text that the other must have.
const SIMILARITY: f64 = 0.8;

/// Shingles that a text must have beyond the form that most share.
const FEWEST_SHINGLES: usize = 10;

/// Reviews that must have a shingle before it can be a part of a form.
const FEWEST_OF_A_FORM: usize = 10;

/// Z that must have it, and the share of them: an LLM that is given a form answers in its words, and so do the
/// reviewers who leave them in.
const FEWEST_Z_OF_A_FORM: usize = 6;
const Z_OF_A_FORM: usize = 10;

/// About so many Z are looked at: of more a share is no better known.
const Z_LOOKED_AT: usize = 2_000;

/// Two reviews that are nearly the same text.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct NearDuplicate {
    /// Positions in [`ReviewSet::reviews`], the lower one first.
    pub reviews: (usize, usize),
    /// Share of the shingles of the shorter text that the longer one has, in `[.8, 1]`.
    pub similarity: f64,
}

/// All pairs of reviews whose shingles of five words agree: at least .8 of those of the one with
/// fewer are in the other. Sorted by position.
///
/// Shingles in more than half of the reviews (and at least ten) are a form that all fill in and do
/// not count; texts with fewer than ten others are not compared. Vectors without text neither.
///
/// Never compares all pairs: of the shorter text only its rarest shingles are looked up, so many
/// that a duplicate must have one of them.
#[cfg(test)]
pub(crate) fn near_duplicates(set: &ReviewSet) -> Vec<NearDuplicate> {
    duplicates_and_forms(set, shingles_of_reviews(set)).0
}

/// Shingles that are nobody's own words.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FormShingles {
    /// In more than half of the reviews, and at least ten.
    pub(super) of_reviews: HashSet<u64>,
    /// In more than a tenth of the Z, and at least six.
    pub(super) of_z: HashSet<u64>,
}

/// The [`shingles`] of every review; none without a text.
pub(super) fn shingles_of_reviews(set: &ReviewSet) -> Vec<Vec<u64>> {
    let reviews = set.reviews.par_iter();
    reviews.map(|review| review.content.text.as_deref().map(shingles).unwrap_or_default()).collect()
}

/// The same by the shingles of the reviews, and the forms.
pub(super) fn duplicates_and_forms(
    set: &ReviewSet,
    mut texts: Vec<Vec<u64>>,
) -> (Vec<NearDuplicate>, FormShingles) {
    let of_z = {
        let step = set.z.len().div_ceil(Z_LOOKED_AT).max(1) as u64;
        // Papers by their names, so that the order of rows changes nothing.
        let is_looked_at = |paper: u32| hash(set.papers.name(paper)).is_multiple_of(step);
        let texts = set.z.par_iter().filter(|z| is_looked_at(z.paper));
        let texts = texts.filter_map(|z| z.content.text.as_deref());
        let texts: Vec<Vec<u64>> = texts.map(shingles).collect();
        let many = (texts.len() / Z_OF_A_FORM).max(FEWEST_Z_OF_A_FORM - 1);
        Frequencies::of(&texts).above(many)
    };
    let frequencies = Frequencies::of(&texts);
    let form = (texts.len() / 2).max(FEWEST_OF_A_FORM - 1);
    let forms = FormShingles { of_reviews: frequencies.above(form), of_z };
    texts.par_iter_mut().for_each(|text| {
        text.retain(|&shingle| frequencies.get(shingle) as usize <= form);
        if text.len() < FEWEST_SHINGLES {
            text.clear();
        }
    });

    let index: Vec<HashMap<u64, Vec<u32>>> = by_shard(|shard| {
        let mut index: HashMap<u64, Vec<u32>> = HashMap::new();
        for (review, text) in (0_u32..).zip(&texts) {
            for &shingle in of_shard(text, shard) {
                if frequencies.get(shingle) > 1 {
                    index.entry(shingle).or_default().push(review);
                }
            }
        }
        index
    });
    let found: Vec<Vec<NearDuplicate>> = (0..texts.len())
        .into_par_iter()
        .map(|review| duplicates_of(review, &texts, &frequencies, &index))
        .collect();
    let mut found: Vec<NearDuplicate> = found.into_iter().flatten().collect();
    found.sort_by_key(|pair| pair.reviews);
    (found, forms)
}

/// Tables of shingles and pieces are made in so many parts, each by one thread.
const SHARDS: usize = 16;

pub(super) fn by_shard<T: Send>(make: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    (0..SHARDS).into_par_iter().map(make).collect()
}

/// Where a shingle is; ascending ones are in ascending parts.
#[expect(clippy::cast_possible_truncation, reason = "it is less than the number of parts")]
pub(super) fn shard_of(shingle: u64) -> usize {
    (shingle >> (u64::BITS - SHARDS.ilog2())) as usize
}

/// Of ascending shingles those of a part.
fn of_shard(shingles: &[u64], shard: usize) -> &[u64] {
    let end = |shard| shingles.partition_point(|&shingle| shard_of(shingle) < shard);
    &shingles[end(shard)..end(shard + 1)]
}

/// How many texts have each shingle. Most are in one text alone and are not kept, so that this
/// stays small in a large venue.
struct Frequencies(Vec<HashMap<u64, u32>>);

impl Frequencies {
    /// Of texts with ascending shingles.
    fn of(texts: &[Vec<u64>]) -> Self {
        Self(by_shard(|shard| {
            let parts = || texts.iter().map(|text| of_shard(text, shard));
            let mut all = Vec::with_capacity(parts().map(<[u64]>::len).sum());
            parts().for_each(|part| all.extend_from_slice(part));
            all.sort_unstable();
            let runs = all.chunk_by(|a, b| a == b).filter(|run| run.len() > 1);
            runs.map(|run| (run[0], u32::try_from(run.len()).unwrap_or(u32::MAX))).collect()
        }))
    }

    fn above(&self, count: usize) -> HashSet<u64> {
        let above = self.0.iter().flatten().filter(|(_, times)| **times as usize > count);
        above.map(|(shingle, _)| *shingle).collect()
    }

    fn get(&self, shingle: u64) -> u32 {
        self.0[shard_of(shingle)].get(&shingle).copied().unwrap_or(1)
    }
}

/// The duplicates of a text that are longer, or as long and later in the file.
fn duplicates_of(
    review: usize,
    texts: &[Vec<u64>],
    frequencies: &Frequencies,
    index: &[HashMap<u64, Vec<u32>>],
) -> Vec<NearDuplicate> {
    let text = &texts[review];
    let mut rarest = text.clone();
    rarest.sort_by_cached_key(|&shingle| (frequencies.get(shingle), shingle));
    rarest.truncate(text.len() - needed(text.len()) + 1);
    let mut candidates = BTreeSet::new();
    for shingle in rarest {
        let with = index[shard_of(shingle)].get(&shingle).into_iter().flatten();
        candidates.extend(with.map(|&other| other as usize));
    }
    let longer = |other: &usize| (texts[*other].len(), *other) > (text.len(), review);
    candidates
        .into_iter()
        .filter(longer)
        .filter_map(|other| {
            let common = common(text, &texts[other]);
            (common >= needed(text.len())).then(|| NearDuplicate {
                reviews: (review.min(other), review.max(other)),
                similarity: common as f64 / text.len() as f64,
            })
        })
        .collect()
}

/// Fewest common shingles of a duplicate of a text with so many.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a count is between 0 and the count"
)]
fn needed(count: usize) -> usize {
    (SIMILARITY * count as f64 - 1e-9).ceil() as usize
}

/// Number of values in both of two ascending lists.
pub(super) fn common(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        count += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    count
}

/// The distinct shingles of a text as numbers, ascending.
pub(super) fn shingles(text: &str) -> Vec<u64> {
    let words: Vec<u64> = words(text).map(hash_folded()).collect();
    let mut shingles: Vec<u64> = words.windows(SHINGLE).map(hash_words).collect();
    shingles.sort_unstable();
    shingles.dedup();
    shingles
}

/// Of FNV-1a.
const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// FNV-1a: the same on every machine and in every version, unlike the hash of the library.
pub(super) fn hash(word: &str) -> u64 {
    word.bytes().fold(START, with)
}

fn with(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(PRIME)
}

/// The same of words as they are compared ([`write_folded`]).
pub(super) fn hash_folded() -> impl FnMut(&str) -> u64 {
    let mut folded = String::new();
    move |word| {
        let (mut hash_as_it_stands, mut plain) = (START, true);
        for byte in word.bytes() {
            plain &= is_plain_byte(byte);
            hash_as_it_stands = with(hash_as_it_stands, byte.to_ascii_lowercase());
        }
        if plain {
            return hash_as_it_stands;
        }
        write_folded(word, &mut folded);
        hash(&folded)
    }
}

pub(super) fn hash_words(words: &[u64]) -> u64 {
    words
        .iter()
        .fold(0, |all: u64, word| (all.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::content::Content;
    use crate::data::reviews::Review;
    use proptest::prelude::*;

    fn set(texts: &[String]) -> ReviewSet {
        let mut set = ReviewSet::default();
        for (index, text) in texts.iter().enumerate() {
            let content = Content { text: Some(text.clone()), ..Content::default() };
            let paper = set.papers.intern(&format!("p{}", index / 3));
            let reviewer = set.reviewers.intern(&format!("r{index}"));
            set.reviews.push(Review { paper, reviewer, content });
        }
        set
    }

    fn numbered(from: usize, to: usize) -> String {
        (from..to).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_part_of_a_text_is_its_duplicate_by_hand() {
        // 16 shingles of 20 words, all in the text of 40; 19 of 24 words share 15 shingles of 20.
        let texts = [numbered(0, 40), numbered(10, 30), numbered(21, 45), numbered(50, 80)];
        let found = near_duplicates(&set(&texts));
        assert_eq!(found, [NearDuplicate { reviews: (0, 1), similarity: 1.0 }]);
    }

    #[test]
    fn a_form_that_all_fill_in_makes_no_duplicates() {
        let form = numbered(1000, 1040);
        let texts: Vec<String> =
            (0..12).map(|n| format!("{form} {}", numbered(n * 20, n * 20 + 18))).collect();
        assert!(near_duplicates(&set(&texts)).is_empty());
        let mut copied = texts.clone();
        copied[7] = copied[3].to_uppercase();
        let found = near_duplicates(&set(&copied));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].reviews, (3, 7));
    }

    #[test]
    fn what_many_z_have_in_common_is_a_form() {
        let form_of_z = |with: usize, z: usize| {
            let mut set = set(&[]);
            for n in 0..z {
                let own = numbered(100 * n, 100 * n + 20);
                let text = if n < with { format!("a b c d e {own}") } else { own };
                let (paper, source) =
                    (set.papers.intern(&format!("p{n}")), set.sources.intern("llm"));
                let content = Content { text: Some(text), ..Content::default() };
                set.z.push(crate::data::reviews::ZReview { paper, source, content });
            }
            let of_z = duplicates_and_forms(&set, shingles_of_reviews(&set)).1.of_z;
            (of_z.len(), shingles("a b c d e").iter().all(|shingle| of_z.contains(shingle)))
        };
        // Six of few; of 70 more than a tenth.
        assert_eq!(
            [(5, 20), (6, 20), (7, 70), (8, 70)].map(|(with, z)| form_of_z(with, z)),
            [(0, false), (1, true), (0, false), (1, true)]
        );
    }

    proptest! {
        #[test]
        fn nothing_is_missed_that_all_pairs_would_find(
            texts in prop::collection::vec(prop::collection::vec(0..3_u8, 0..40), 2..8),
        ) {
            let texts: Vec<String> = texts
                .iter()
                .map(|words| words.iter().map(|w| format!("w{w}")).collect::<Vec<_>>().join(" "))
                .collect();
            let sets: Vec<Vec<u64>> = texts.iter().map(|text| shingles(text)).collect();
            let mut expected = Vec::new();
            for b in 0..sets.len() {
                for a in 0..b {
                    let shorter = sets[a].len().min(sets[b].len());
                    let both = sets[a].iter().filter(|s| sets[b].contains(s)).count();
                    if shorter >= 10 && both as f64 >= 0.8 * shorter as f64 - 1e-9 {
                        expected.push((a, b));
                    }
                }
            }
            expected.sort_unstable();
            let found: Vec<_> =
                near_duplicates(&set(&texts)).into_iter().map(|pair| pair.reviews).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
