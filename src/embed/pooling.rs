//! The vector of a review: the mean of the unit vectors of its sentences, or of the whole text.
//!
//! `v = (1/n) Σ_s u_s / |u_s|` over the `n` sentences `s` whose vector `u_s` carries a direction.
//! The mean is *not* scaled to unit length: a review whose sentences disagree is short, and so
//! counts for less in the mean of all reviews that is subtracted when vectors are centered.
//! A sentence without a letter or digit (`---`) is skipped, whatever the embedder makes of it.

mod means;

use std::sync::atomic::{AtomicU64, Ordering};

use crate::data::interruption::Interrupted;
use crate::data::progress::Progress;
use crate::embed::sentences::{Sentences, sentences};
use crate::embed::vectors::Vectors;
use crate::embed::{EmbedError, Embedder};

use self::means::{Means, row_norm};

/// Sentences embedded in one call: bounds the memory, whatever the number and length of texts.
const SENTENCES_PER_CALL: usize = 8192;

/// What is embedded at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextUnit {
    /// Each sentence; the vector of a text is the mean of the unit vectors of its sentences.
    #[default]
    Sentence,
    /// The whole text; its vector is what the embedder gives.
    Whole,
}

/// The vectors of texts and what was met on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct TextVectors {
    /// One row per text, in the order of the texts.
    pub vectors: Vectors,
    /// How many units were longer than the model takes in at once: sentences or whole texts.
    pub(crate) long_units: usize,
    /// How many units were embedded.
    pub(crate) units: usize,
    /// Positions of the texts without a direction: empty, or no token the embedder knows. Their
    /// rows are zero.
    pub(crate) without_direction: Vec<usize>,
}

/// Embeds every text by `unit`.
///
/// The vector of a text depends neither on the other texts nor on the number of threads.
/// `progress` hears of every finished text once.
///
/// # Errors
///
/// [`EmbedError`] if the embedder cannot embed one of the units.
pub fn embed_texts(
    embedder: &dyn Embedder,
    texts: &[&str],
    unit: TextUnit,
    progress: &dyn Progress,
) -> Result<TextVectors, EmbedError> {
    match unit {
        TextUnit::Sentence => embed_by_sentence(embedder, texts, progress),
        TextUnit::Whole => embed_whole(embedder, texts, progress),
    }
}

/// Embeds every text as a whole; the rows are those of the embedder.
///
/// # Errors
///
/// [`EmbedError`] if the embedder cannot embed one of the texts.
pub(crate) fn embed_whole(
    embedder: &dyn Embedder,
    texts: &[&str],
    progress: &dyn Progress,
) -> Result<TextVectors, EmbedError> {
    let embeddings = embedder.embed(texts, progress)?;
    let vectors = embeddings.vectors;
    let without_direction =
        (0..texts.len()).filter(|&text| row_norm(&vectors, text) == 0.0).collect();
    Ok(TextVectors {
        vectors,
        long_units: embeddings.long_texts,
        units: texts.len(),
        without_direction,
    })
}

/// Embeds the sentences of every text and takes the mean of their unit vectors.
///
/// Memory beyond the result is bounded by a fixed number of sentences.
///
/// # Errors
///
/// [`EmbedError`] if the embedder cannot embed one of the sentences; positions in it count texts.
pub fn embed_by_sentence(
    embedder: &dyn Embedder,
    texts: &[&str],
    progress: &dyn Progress,
) -> Result<TextVectors, EmbedError> {
    embed_heard(embedder, texts, &mut Nobody, progress)
}

/// A sentence that was embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EmbeddedSentence {
    /// Position of its text.
    pub text: usize,
    /// Its position among all sentences of the text.
    pub position: usize,
}

/// Hears of the vectors of sentences as they are made, so that nobody has to make them twice.
pub(crate) trait SentenceListener: Send {
    /// Whether the sentence at `position` of a text is wanted although it counts for no mean.
    fn wants(&self, text: usize, position: usize) -> bool;

    /// Takes the vectors of one call, a row per sentence, in the order of the texts; no more
    /// sentences of the first `finished` texts will come.
    fn hear(&mut self, sentences: &[EmbeddedSentence], vectors: &Vectors, finished: usize);
}

/// Wants nothing.
struct Nobody;

impl SentenceListener for Nobody {
    fn wants(&self, _text: usize, _position: usize) -> bool {
        false
    }

    fn hear(&mut self, _sentences: &[EmbeddedSentence], _vectors: &Vectors, _finished: usize) {}
}

/// As [`embed_by_sentence`], with a listener to the sentences.
///
/// # Errors
///
/// As [`embed_by_sentence`].
pub(crate) fn embed_heard(
    embedder: &dyn Embedder,
    texts: &[&str],
    listener: &mut dyn SentenceListener,
    progress: &dyn Progress,
) -> Result<TextVectors, EmbedError> {
    embed_in_calls(embedder, texts, (SENTENCES_PER_CALL, true), listener, progress)
}

/// Embeds the sentences that a listener wants and no other.
///
/// # Errors
///
/// As [`embed_by_sentence`].
pub(crate) fn hear_sentences(
    embedder: &dyn Embedder,
    texts: &[&str],
    listener: &mut dyn SentenceListener,
    progress: &dyn Progress,
) -> Result<(), EmbedError> {
    embed_in_calls(embedder, texts, (SENTENCES_PER_CALL, false), listener, progress).map(drop)
}

/// How many sentences [`embed_heard`] embeds if `pooled`, or else [`hear_sentences`].
pub(crate) fn count_sentences(
    texts: &[&str],
    pooled: bool,
    listener: &dyn SentenceListener,
) -> usize {
    let mut queue = Queue { texts, pooled, text: 0, sentences: None };
    let mut count = 0;
    while queue.text < texts.len() {
        count += queue.take(SENTENCES_PER_CALL, listener).batch.len();
    }
    count
}

/// How many sentences [`embed_by_sentence`] embeds.
pub(crate) fn count_units(texts: &[&str]) -> usize {
    count_sentences(texts, true, &Nobody)
}

/// Whether a sentence counts for the mean of its text.
fn counts(sentence: &str) -> bool {
    sentence.contains(char::is_alphanumeric)
}

fn embed_in_calls(
    embedder: &dyn Embedder,
    texts: &[&str],
    (sentences_per_call, pooled): (usize, bool),
    listener: &mut dyn SentenceListener,
    progress: &dyn Progress,
) -> Result<TextVectors, EmbedError> {
    let mut queue = Queue { texts, pooled, text: 0, sentences: None };
    // Without means there are no rows, not rows of zeros.
    let rows = if pooled { texts.len() } else { 0 };
    let mut means: Option<Means> = None;
    let (mut long_units, mut units, mut finished) = (0, 0, 0);
    let mut next = Some(queue.take(sentences_per_call, listener));
    let mut embedded: Option<(Call<'_>, Vectors)> = None;
    while let Some(call) = next {
        if progress.interrupted() {
            return Err(EmbedError::of(Interrupted));
        }
        // The last sentence of these texts is in this call.
        let texts_done = (call.finished - finished) as u64;
        finished = call.finished;
        let counter = Proportional {
            done: AtomicU64::new(0),
            sentences: call.batch.len() as u64,
            texts: texts_done,
            progress,
        };
        let is_last = finished == texts.len();
        // While one call is embedded, what the one before it gave is added up and the next one is cut.
        // A call without a sentence still tells the number of dimensions.
        let (embeddings, following) = rayon::join(
            || embedder.embed(&call.batch, &counter),
            || {
                if let Some((call, vectors)) = embedded.take() {
                    add(&mut means, rows, &call, &vectors, pooled, listener);
                }
                (!is_last).then(|| queue.take(sentences_per_call, listener))
            },
        );
        let embeddings = embeddings.map_err(|error| in_text(error, &call.owners))?;
        long_units += embeddings.long_texts;
        units += call.batch.len();
        if call.batch.is_empty() {
            progress.advance(texts_done);
        }
        embedded = Some((call, embeddings.vectors));
        next = following;
    }
    let (call, vectors) = embedded.expect("the loop runs at least once");
    add(&mut means, rows, &call, &vectors, pooled, listener);
    let means = means.expect("what was added last made them");
    let (vectors, without_direction) = means.finish(rows);
    Ok(TextVectors { vectors, long_units, units, without_direction })
}

/// Adds the vectors of a call to the means of their texts, and tells the listener.
fn add(
    means: &mut Option<Means>,
    rows: usize,
    call: &Call<'_>,
    vectors: &Vectors,
    pooled: bool,
    listener: &mut dyn SentenceListener,
) {
    let means = means.get_or_insert_with(|| Means::like(vectors, rows));
    for (row, (owner, sentence)) in call.owners.iter().zip(&call.batch).enumerate() {
        if pooled && counts(sentence) {
            means.add(owner.text, vectors, row);
        }
    }
    listener.hear(&call.owners, vectors, call.finished);
}

/// The same error about the text that the sentence is from.
fn in_text(mut error: EmbedError, owners: &[EmbeddedSentence]) -> EmbedError {
    if let Some(text) = error.text_mut() {
        *text = owners[*text].text;
    }
    error
}

/// Sentences that are still to embed.
struct Queue<'a> {
    texts: &'a [&'a str],
    /// Whether sentences that count for a mean are taken, and not only wanted ones.
    pooled: bool,
    /// The text being cut; all before it are done.
    text: usize,
    sentences: Option<std::iter::Enumerate<Sentences<'a>>>,
}

/// Sentences that are embedded at once.
struct Call<'a> {
    /// The text that each comes from.
    owners: Vec<EmbeddedSentence>,
    batch: Vec<&'a str>,
    /// No more sentences of so many texts will come.
    finished: usize,
}

impl<'a> Queue<'a> {
    /// Up to `count` sentences.
    fn take(&mut self, count: usize, listener: &dyn SentenceListener) -> Call<'a> {
        let (mut owners, mut batch) = (Vec::new(), Vec::new());
        while let Some(text) = self.texts.get(self.text) {
            let open = self.sentences.get_or_insert_with(|| sentences(text).enumerate());
            for (position, sentence) in open {
                let taken = self.pooled && counts(sentence) || listener.wants(self.text, position);
                if !taken {
                    continue;
                }
                owners.push(EmbeddedSentence { text: self.text, position });
                batch.push(sentence);
                if batch.len() == count {
                    return Call { owners, batch, finished: self.text };
                }
            }
            self.sentences = None;
            self.text += 1;
        }
        Call { owners, batch, finished: self.text }
    }
}

/// Turns finished sentences into finished texts, in proportion: the sum over a call is exact in
/// whatever order its threads report.
struct Proportional<'a> {
    done: AtomicU64,
    sentences: u64,
    texts: u64,
    progress: &'a dyn Progress,
}

impl Progress for Proportional<'_> {
    fn advance(&self, items: u64) {
        let before = self.done.fetch_add(items, Ordering::Relaxed);
        let texts = |sentences: u64| sentences * self.texts / self.sentences.max(1);
        let newly = texts(before + items) - texts(before);
        if newly > 0 {
            self.progress.advance(newly);
        }
    }

    fn interrupted(&self) -> bool {
        self.progress.interrupted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::progress::NoProgress;
    use crate::embed::Embeddings;
    use crate::embed::vectors::{DenseVectors, SparseVectors};
    use proptest::prelude::*;

    /// Two dimensions: letters `a` and letters `b` of the text.
    struct Letters {
        sparse: bool,
    }

    impl Letters {
        fn vector(text: &str) -> [f64; 2] {
            ['a', 'b'].map(|letter| text.matches(letter).count() as f64)
        }
    }

    impl Embedder for Letters {
        fn name(&self) -> &'static str {
            "letters"
        }

        fn embed(&self, texts: &[&str], progress: &dyn Progress) -> Result<Embeddings, EmbedError> {
            let mut dense = DenseVectors::new(2);
            let mut sparse = SparseVectors::new(2);
            for text in texts {
                let vector = Self::vector(text);
                dense.push(&vector);
                sparse.push((0..).zip(vector).filter(|entry| entry.1 != 0.0).collect());
                progress.advance(1);
            }
            let vectors = if self.sparse { Vectors::Sparse(sparse) } else { Vectors::Dense(dense) };
            let long_texts = texts.iter().filter(|text| text.len() > 8).count();
            Ok(Embeddings { vectors, long_texts })
        }
    }

    #[derive(Default)]
    struct Count(AtomicU64);

    impl Progress for Count {
        fn advance(&self, items: u64) {
            self.0.fetch_add(items, Ordering::Relaxed);
        }
    }

    /// Wants the first sentence of every text.
    #[derive(Default)]
    struct Heard {
        sentences: Vec<((usize, usize), Vec<f64>)>,
        finished: Vec<usize>,
    }

    impl SentenceListener for Heard {
        fn wants(&self, _text: usize, position: usize) -> bool {
            position == 0
        }

        fn hear(&mut self, sentences: &[EmbeddedSentence], vectors: &Vectors, finished: usize) {
            let places = sentences.iter().map(|sentence| (sentence.text, sentence.position));
            self.sentences.extend(places.zip(dense_rows(vectors)));
            self.finished.push(finished);
        }
    }

    fn dense_rows(vectors: &Vectors) -> Vec<Vec<f64>> {
        (0..vectors.len()).map(|row| vectors.dense_row(row)).collect()
    }

    #[test]
    fn the_vector_is_the_mean_of_unit_sentence_vectors_that_have_a_direction() {
        // "aaab bbb": (3, 4) / 5; "a a": (1, 0); "c": none; "---": skipped.
        let texts = ["aaab bbb. A a a.\nC\n---", "", "c.", "b"];
        for sparse in [false, true] {
            let pooled = embed_by_sentence(&Letters { sparse }, &texts, &NoProgress).unwrap();
            let rows = dense_rows(&pooled.vectors);
            assert!((rows[0][0] - 0.8).abs() < 1e-15 && (rows[0][1] - 0.4).abs() < 1e-15);
            assert_eq!(rows[1..], [vec![0.0, 0.0], vec![0.0, 0.0], vec![0.0, 1.0]]);
            assert_eq!(pooled.without_direction, [1, 2]);
            assert_eq!(pooled.units, 5);
            assert_eq!(pooled.long_units, 1);
        }
    }

    #[test]
    fn no_text_gives_no_row_but_the_number_of_dimensions() {
        let pooled = embed_by_sentence(&Letters { sparse: false }, &[], &NoProgress).unwrap();
        assert_eq!(pooled.vectors.len(), 0);
        assert_eq!(pooled.vectors.dims(), 2);
    }

    #[test]
    fn whole_texts_keep_the_rows_of_the_embedder() {
        let pooled = embed_whole(&Letters { sparse: false }, &["a. bb", "c"], &NoProgress).unwrap();
        assert_eq!(dense_rows(&pooled.vectors), [vec![1.0, 2.0], vec![0.0, 0.0]]);
        assert_eq!(pooled.without_direction, [1]);
    }

    fn mean_by_hand(text: &str) -> Vec<f64> {
        let units: Vec<[f64; 2]> = sentences(text)
            .map(Letters::vector)
            .filter(|[a, b]| a + b > 0.0)
            .map(|[a, b]| [a / a.hypot(b), b / a.hypot(b)])
            .collect();
        let mean = |dim: usize| {
            let sum: f64 = units.iter().map(|unit| unit[dim]).sum();
            if units.is_empty() { 0.0 } else { sum / units.len() as f64 }
        };
        vec![mean(0), mean(1)]
    }

    proptest! {
        #[test]
        fn calls_of_any_size_give_the_means_by_hand_and_report_every_text_once(
            texts in prop::collection::vec("[ab. C\n-]{0,30}", 0..12),
            size in 1_usize..9,
            sparse: bool,
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let (count, mut heard) = (Count::default(), Heard::default());
            let pooled = embed_in_calls(&Letters { sparse }, &texts, (size, true), &mut heard, &count).unwrap();
            prop_assert_eq!(count.0.into_inner(), texts.len() as u64);
            let all = texts.iter().enumerate().flat_map(|(text, whole)| {
                let of_text = sentences(whole).enumerate();
                let counting = of_text.filter(|(position, sentence)| *position == 0 || counts(sentence));
                counting.map(move |(position, sentence)| ((text, position), Letters::vector(sentence).to_vec()))
            });
            prop_assert_eq!(heard.sentences, all.collect::<Vec<_>>());
            prop_assert!(heard.finished.is_sorted());
            prop_assert_eq!(heard.finished.last(), Some(&texts.len()));
            let rows = dense_rows(&pooled.vectors);
            prop_assert_eq!(rows.len(), texts.len());
            for (index, text) in texts.iter().enumerate() {
                let expected = mean_by_hand(text);
                for (value, expected) in rows[index].iter().zip(&expected) {
                    prop_assert!((value - expected).abs() < 1e-12);
                }
                let is_zero = expected == [0.0, 0.0];
                prop_assert_eq!(pooled.without_direction.contains(&index), is_zero);
            }
        }
    }

    /// Takes sentences of up to three words.
    struct Terse;

    impl Embedder for Terse {
        fn name(&self) -> &'static str {
            "terse"
        }

        fn embed(
            &self,
            texts: &[&str],
            _progress: &dyn Progress,
        ) -> Result<Embeddings, EmbedError> {
            let words = |text: &str| text.split_whitespace().count();
            match texts.iter().position(|text| words(text) > 3) {
                Some(index) => Err(EmbedError::TooLong { index, tokens: 4, limit: 3 }),
                None => Ok(Embeddings {
                    vectors: Vectors::Dense(DenseVectors::from_values(1, vec![1.0; texts.len()])),
                    long_texts: 0,
                }),
            }
        }
    }

    #[test]
    fn an_error_about_a_sentence_names_the_position_of_its_text() {
        let texts = ["One two. Three four.", "Five. Six seven eight nine."];
        let error = embed_by_sentence(&Terse, &texts, &NoProgress).unwrap_err();
        assert!(matches!(error, EmbedError::TooLong { index: 1, .. }), "{error}");
    }
}
