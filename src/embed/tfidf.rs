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

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use rayon::prelude::*;

use crate::data::progress::Progress;
use crate::data::words::{words_with_places, write_folded};
use crate::embed::vectors::{SparseVectors, Vectors};
use crate::embed::word_pairs::WordPairs;
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

/// The start of a text of a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Start {
    /// Which text.
    pub text: usize,
    /// Where it ends.
    pub bytes: usize,
}

impl Tfidf {
    /// Learns the vocabulary and the document frequencies of `corpus`: give it all texts that will
    /// be compared, reviews and LLM reviews. Dimensions are the words in the order of their bytes.
    pub fn fit(corpus: &[&str]) -> Self {
        Self::of(&mut counted(corpus, &[], false), corpus.len())
    }

    /// The vectors of a corpus that is learned from, and then those of starts of its texts, whose words are
    /// not looked for a second time; with `pairs` also the pairs of all of them. Progress counts vectors.
    pub(crate) fn fit_and_embed(
        corpus: &[&str],
        starts: &[Start],
        pairs: bool,
        progress: &dyn Progress,
    ) -> (Vectors, Option<WordPairs>) {
        // Starts by their texts.
        let mut order: Vec<usize> = (0..starts.len()).collect();
        order.sort_by_key(|&start| (starts[start].text, starts[start].bytes));
        let ordered: Vec<Start> = order.iter().map(|&start| starts[start]).collect();
        let mut jobs = counted(corpus, &ordered, true);
        let tfidf = Self::of(&mut jobs, corpus.len());
        let mut lengths = vec![None; starts.len()];
        let found = jobs.iter().flat_map(|job| &job.starts);
        order.iter().zip(found).for_each(|(&start, &words)| lengths[start] = words);
        let count = corpus.len() + starts.len();
        let row = |index: usize| {
            progress.advance(1);
            let Some(start) = index.checked_sub(corpus.len()) else {
                return tfidf.weigh(&mut jobs[index / TEXTS_PER_JOB].dims_of(index, usize::MAX));
            };
            let Start { text, bytes } = starts[start];
            match lengths[start] {
                Some(words) => tfidf.weigh(&mut jobs[text / TEXTS_PER_JOB].dims_of(text, words)),
                None => tfidf.vector(&corpus[text][..bytes]),
            }
        };
        let rows: Vec<Vec<(u32, f64)>> = (0..count).into_par_iter().map(row).collect();
        let pairs = pairs.then(|| {
            let words_of = |text: usize| jobs[text / TEXTS_PER_JOB].dims_of(text, usize::MAX);
            let words_in = |(start, &words): (&Start, &Option<usize>)| {
                let counted = || words_with_places(&corpus[start.text][..start.bytes]).count();
                (start.text, words.unwrap_or_else(counted))
            };
            WordPairs::new(corpus.len(), words_of, starts.iter().zip(&lengths).map(words_in))
        });
        (tfidf.vectors(rows), pairs)
    }

    /// Takes the words of the jobs and leaves their dimensions.
    fn of(jobs: &mut [Job], texts: usize) -> Self {
        let (mut dims, mut counts) = (HashMap::new(), Vec::new());
        for job in &mut *jobs {
            let mut number = |(word, texts): (String, u32)| {
                let number = *dims.entry(word).or_insert_with(|| {
                    counts.push(0_u64);
                    number_of(counts.len() - 1)
                });
                counts[number as usize] += u64::from(texts);
                number
            };
            job.dims = job.words.drain(..).map(&mut number).collect();
        }
        let mut sorted: Vec<(&str, u32)> =
            dims.iter().map(|(word, &number): (&String, _)| (word.as_str(), number)).collect();
        sorted.par_sort_unstable();
        let mut dim_of = vec![0; sorted.len()];
        let mut rarity = Vec::with_capacity(sorted.len());
        for (dim, &(_, number)) in (0..).zip(&sorted) {
            dim_of[number as usize] = dim;
            rarity.push(rarity_of(counts[number as usize], texts));
        }
        dims.values_mut().for_each(|number| *number = dim_of[*number as usize]);
        let of_job = jobs.iter_mut().flat_map(|job| &mut job.dims);
        of_job.for_each(|number| *number = dim_of[*number as usize]);
        Self { name: "tfidf".to_owned(), dims, rarity }
    }

    /// Number of words, which is the number of dimensions.
    pub(crate) fn dims(&self) -> usize {
        self.rarity.len()
    }

    /// The dimension of a lower-case word; `None` if the corpus does not have it.
    pub fn dimension(&self, word: &str) -> Option<u32> {
        self.dims.get(word).copied()
    }

    /// The vector of one text.
    fn vector(&self, text: &str) -> Vec<(u32, f64)> {
        let mut dims = Vec::new();
        for_each_word(text, |word, _| dims.extend(self.dimension(word)));
        self.weigh(&mut dims)
    }

    /// The vector of a text by the dimensions of its words, with repeats.
    fn weigh(&self, dims: &mut [u32]) -> Vec<(u32, f64)> {
        weighed(dims, |dim| self.rarity[dim as usize])
    }

    fn vectors(&self, rows: Vec<Vec<(u32, f64)>>) -> Vectors {
        let mut vectors = SparseVectors::new(self.dims());
        for row in rows {
            vectors.push(row);
        }
        Vectors::Sparse(vectors)
    }
}

/// Inverse document frequency of what so many of the texts have.
pub(super) fn rarity_of(with: u64, texts: usize) -> f64 {
    ((1.0 + texts as f64) / (1.0 + with as f64)).ln() + 1.0
}

/// The weights of what a text is made of, by number, with repeats; scaled to unit length.
pub(super) fn weighed(numbers: &mut [u32], rarity: impl Fn(u32) -> f64) -> Vec<(u32, f64)> {
    numbers.sort_unstable();
    let runs = || numbers.chunk_by(|a, b| a == b);
    let mut row = Vec::with_capacity(runs().count());
    row.extend(runs().map(|run| (run[0], (1.0 + (run.len() as f64).ln()) * rarity(run[0]))));
    let length = row.iter().map(|entry| entry.1 * entry.1).sum::<f64>().sqrt();
    for entry in &mut row {
        entry.1 /= length;
    }
    row
}

/// The words of a few texts of a corpus.
#[derive(Default)]
struct Job {
    /// Each word and how many of the texts have it; the words of the texts are places in this list.
    words: Vec<(String, u32)>,
    /// The dimension of each.
    dims: Vec<u32>,
    /// The words of all texts, and where each text ends.
    texts: Vec<u32>,
    ends: Vec<usize>,
    /// Words of each start; `None` if it ends within what has no space in it: then they can be others.
    starts: Vec<Option<usize>>,
}

impl Job {
    /// The dimensions of the words of a text of the corpus, so many at most.
    fn dims_of(&self, text: usize, most: usize) -> Vec<u32> {
        let place = text % TEXTS_PER_JOB;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        let words = &self.texts[start..self.ends[place]];
        words[..most.min(words.len())].iter().map(|&word| self.dims[word as usize]).collect()
    }
}

/// Counts words; with `keep` also keeps those of every text, and tells how many are in `starts`, which are
/// ordered by their texts.
fn counted(corpus: &[&str], starts: &[Start], keep: bool) -> Vec<Job> {
    let of_job = |(number, texts): (usize, &[&str])| {
        let mut job = Job::default();
        let (mut known, hasher) = (HashTable::<u32>::new(), DefaultHashBuilder::default());
        // The last text that each word was in.
        let mut last: Vec<usize> = Vec::new();
        let mut ends = Vec::new();
        let first = number * TEXTS_PER_JOB;
        let mut starts = &starts[starts.partition_point(|start| start.text < first)..];
        for (place, text) in texts.iter().enumerate() {
            ends.clear();
            for_each_word(text, |word, end| {
                let hash = hasher.hash_one(word);
                let found = known.find(hash, |&known| job.words[known as usize].0 == word);
                let number = found.copied().unwrap_or_else(|| {
                    let number = number_of(last.len());
                    job.words.push((word.to_owned(), 0));
                    last.push(usize::MAX);
                    let words = &job.words;
                    known.insert_unique(hash, number, |&known| {
                        hasher.hash_one(words[known as usize].0.as_str())
                    });
                    number
                });
                if std::mem::replace(&mut last[number as usize], place) != place {
                    job.words[number as usize].1 += 1;
                }
                if keep {
                    job.texts.push(number);
                    ends.push(end);
                }
            });
            job.ends.push(job.texts.len());
            let here = starts.partition_point(|start| start.text == first + place);
            job.starts.extend(starts[..here].iter().map(|start| {
                let between = text.as_bytes().get(start.bytes).is_none_or(u8::is_ascii_whitespace);
                between.then(|| ends.partition_point(|&end| end <= start.bytes))
            }));
            starts = &starts[here..];
        }
        job
    };
    corpus.par_chunks(TEXTS_PER_JOB).enumerate().map(of_job).collect()
}

/// # Panics
///
/// With more than four billion different words.
fn number_of(place: usize) -> u32 {
    u32::try_from(place).expect("fewer than four billion different words")
}

/// The words of a text, with repeats, and where each ends.
fn for_each_word(text: &str, mut each: impl FnMut(&str, usize)) {
    let mut folded = String::new();
    for (place, word) in words_with_places(text) {
        write_folded(word, &mut folded);
        each(&folded, place + word.len());
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
        Ok(Embeddings { vectors: self.vectors(rows), long_texts: 0 })
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

    proptest! {
        #[test]
        fn starts_are_embedded_as_texts(
            texts in prop::collection::vec("([a-d]|[B'é.] ?){0,12}", 1..6),
            cuts in prop::collection::vec((0_usize..6, 0_usize..14), 0..9),
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let starts = cuts.into_iter().map(|(text, bytes)| {
                let text = text % texts.len();
                Start { text, bytes: texts[text].floor_char_boundary(bytes.min(texts[text].len())) }
            });
            let starts: Vec<Start> = starts.collect();
            let found = Tfidf::fit_and_embed(&texts, &starts, false, &NoProgress).0;
            let mut all = texts.clone();
            all.extend(starts.iter().map(|start| &texts[start.text][..start.bytes]));
            prop_assert_eq!(found, Vectors::Sparse(rows(&Tfidf::fit(&texts), &all)));
        }
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
