//! The `aspects` embedder: what a review praises and criticises, by category, without a language
//! model.
//!
//! Every sentence gets, for every category of a rubric, a probability of being about it, and one
//! polarity, from its vector by a base embedder and from its words ([`heads`]); [`evidence`] has the
//! formula that makes a review's values of them. Sentences without a direction for the base (no
//! known word) are no evidence.
//!
//! Of the 19 categories of the paper, [`Heads::trained`] names those with annotated sentences; the
//! others, and every category of a rubric of one's own, go by prototypes: sentences that stand for
//! the category, whose mean a sentence must be near.

mod error;
pub(crate) mod evidence;
pub(crate) mod heads;
mod words;

use super::pooling::{EmbeddedSentence, SentenceListener, embed_heard};
use super::sentences::sentences;
use super::vectors::{DenseVectors, Vectors};
use super::{EmbedError, Embedder, Embeddings, VectorKind};
use crate::data::progress::{NoProgress, Progress};
use crate::judge::Rubric;
use crate::judge::rubric::DEFAULT_RUBRIC;
use crate::llm::form::{Domain, Field};
use crate::stats::similarity::unit;
use evidence::{AspectEvidence, SentenceAspects};
use heads::Prototype;
use words::stems;

pub(crate) use error::AspectsError;
pub(crate) use heads::Heads;

/// How a category is told.
#[derive(Debug, Clone, PartialEq)]
enum Reader {
    /// By the trained head of this row.
    Trained(usize),
    /// By closeness to a direction.
    Prototype(Prototype),
}

/// An embedder with one dimension per category of a rubric, in its order, each in (-1, 1).
pub(crate) struct AspectEmbedder {
    base: Box<dyn Embedder>,
    heads: Heads,
    readers: Vec<Reader>,
    categories: Vec<String>,
    name: String,
}

impl AspectEmbedder {
    /// An embedder by the bundled heads that were trained on vectors of `base`.
    ///
    /// # Errors
    ///
    /// [`EmbedError`] with the base's own failure, or with [`AspectsError::UnknownBase`] if there
    /// are no such heads, or as for [`Self::with_heads`].
    pub(crate) fn new(base: Box<dyn Embedder>, rubric: &Rubric) -> Result<Self, EmbedError> {
        let bundled = Heads::bundled();
        let known: Vec<String> =
            bundled.iter().map(|h| format!("{} ({} numbers)", h.base(), h.dims())).collect();
        let mut dims = 0;
        for heads in bundled {
            let probe = vector(base.as_ref(), heads.probe())?;
            dims = probe.len();
            if heads.fit(&probe) {
                return Self::with_heads(base, heads, rubric);
            }
        }
        let (base, known) = (base.name().to_owned(), known.join(" and "));
        Err(EmbedError::of(AspectsError::UnknownBase { base, dims, known }))
    }

    /// An embedder by given heads.
    ///
    /// Under the default rubric the heads decide where there is one, else the prototypes of the
    /// file; under another rubric, categories are told by their names and definitions alone.
    ///
    /// # Errors
    ///
    /// [`EmbedError`] with the base's own failure, or with [`AspectsError::OtherBase`] for heads of
    /// another base, [`AspectsError::OneSided`] for a rubric without two signs, and
    /// [`AspectsError::NoDirection`] for a category that sentences cannot be compared with.
    pub(crate) fn with_heads(
        base: Box<dyn Embedder>,
        heads: Heads,
        rubric: &Rubric,
    ) -> Result<Self, EmbedError> {
        let probe = vector(base.as_ref(), heads.probe())?;
        if !heads.fit(&probe) {
            return Err(EmbedError::of(AspectsError::OtherBase {
                trained: heads.base().to_owned(),
                trained_dims: heads.dims(),
                base: base.name().to_owned(),
                dims: probe.len(),
                cosine: heads.likeness(&probe),
            }));
        }
        if !rubric.fields().iter().all(|field| has_two_signs(&field.domain)) {
            return Err(EmbedError::of(AspectsError::OneSided { rubric: rubric.name.clone() }));
        }
        let built_in = Rubric::load(DEFAULT_RUBRIC).map_err(EmbedError::of)?;
        let known = built_in.sha256() == rubric.sha256();
        let mut readers = Vec::with_capacity(rubric.len());
        for field in rubric.fields() {
            let trained = heads.row(&field.name).filter(|_| known).map(Reader::Trained);
            let prototype = || heads.prototype(&field.name).filter(|_| known);
            readers.push(match (trained, prototype()) {
                (Some(reader), _) => reader,
                (None, Some(prototype)) => Reader::Prototype(prototype.clone()),
                (None, None) => Reader::Prototype(defined(base.as_ref(), &heads, field)?),
            });
        }
        let categories = rubric.categories().map(str::to_owned).collect();
        let name = format!("aspects:{}", rubric.name);
        Ok(Self { base, heads, readers, categories, name })
    }

    /// The heads in use.
    pub(crate) fn heads(&self) -> &Heads {
        &self.heads
    }

    /// The embedder of sentences, by name.
    pub(crate) fn base(&self) -> &str {
        self.base.name()
    }

    /// The categories that go by prototypes, in the order of the rubric.
    pub(crate) fn by_prototype(&self) -> impl Iterator<Item = &str> {
        let pairs = self.readers.iter().zip(&self.categories);
        pairs.filter(|(reader, _)| matches!(reader, Reader::Prototype(_))).map(|(_, c)| c.as_str())
    }

    /// What a sentence with this vector of the base says; `None` for a vector without direction.
    ///
    /// # Panics
    ///
    /// If the vector is not as long as those of the base: a bug of the caller.
    pub(crate) fn read(&self, sentence: &str, vector: &[f64]) -> Option<SentenceAspects> {
        assert_eq!(vector.len(), self.heads.dims(), "the vector is not one of the base");
        let unit = unit(vector)?;
        let (terms, words) = (self.heads.terms(sentence), stems(sentence));
        let about = |reader: &Reader| match reader {
            Reader::Trained(row) => self.heads.about(*row, &unit, &terms),
            Reader::Prototype(prototype) => self.heads.near(prototype, &unit, &words),
        };
        let about = self.readers.iter().map(about).collect();
        Some(SentenceAspects { about, polarity: self.heads.polarity(&unit, &terms) })
    }
}

impl Embedder for AspectEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> VectorKind {
        VectorKind::Judgments
    }

    fn dimensions(&self) -> Option<&[String]> {
        Some(&self.categories)
    }

    /// Long are sentences longer than the base takes.
    fn embed(&self, texts: &[&str], progress: &dyn Progress) -> Result<Embeddings, EmbedError> {
        let mut listener = Listener {
            embedder: self,
            texts,
            open: None,
            evidence: vec![AspectEvidence::none(self.categories.len()); texts.len()],
        };
        let heard = embed_heard(self.base.as_ref(), texts, &mut listener, progress)?;
        let mut rows = DenseVectors::new(self.categories.len());
        listener.evidence.iter().for_each(|evidence| rows.push(&evidence.values()));
        Ok(Embeddings { vectors: Vectors::Dense(rows), long_texts: heard.long_units })
    }
}

/// Adds up the evidence of sentences as they are embedded.
struct Listener<'a> {
    embedder: &'a AspectEmbedder,
    texts: &'a [&'a str],
    /// The sentences of the text that is being heard.
    open: Option<(usize, Vec<&'a str>)>,
    evidence: Vec<AspectEvidence>,
}

impl SentenceListener for Listener<'_> {
    fn wants(&self, _text: usize, _position: usize) -> bool {
        false
    }

    fn hear(&mut self, heard: &[EmbeddedSentence], vectors: &Vectors, _finished: usize) {
        for (row, &EmbeddedSentence { text, position }) in heard.iter().enumerate() {
            if self.open.as_ref().is_none_or(|(open, _)| *open != text) {
                self.open = Some((text, sentences(self.texts[text]).collect()));
            }
            let Some((_, sentences)) = &self.open else { continue };
            let read = self.embedder.read(sentences[position], &vectors.dense_row(row));
            if let Some(aspects) = read {
                self.evidence[text].add(&aspects);
            }
        }
    }
}

/// A category by its name and definition, as in `models/train_aspects.py`.
fn defined(base: &dyn Embedder, heads: &Heads, field: &Field) -> Result<Prototype, EmbedError> {
    let (name, definition) = (&field.name, &field.definition);
    let texts = [name.clone(), definition.clone(), format!("{name}: {definition}")];
    let mut embedded = Vec::with_capacity(texts.len());
    for text in texts {
        let unit = unit(&vector(base, &text)?);
        embedded.push((text, unit));
    }
    let category = name.clone();
    heads.defined(&embedded).ok_or_else(|| EmbedError::of(AspectsError::NoDirection { category }))
}

/// The base's vector of one text.
fn vector(base: &dyn Embedder, text: &str) -> Result<Vec<f64>, EmbedError> {
    Ok(base.embed(&[text], &NoProgress)?.vectors.dense_row(0))
}

/// Whether values may lie on both sides of 0.
fn has_two_signs(domain: &Domain) -> bool {
    let (low, high) = match domain {
        Domain::Labels { .. } | Domain::Text { .. } => return false,
        Domain::Numbers { values } => {
            (values.iter().copied().fold(0.0, f64::min), values.iter().copied().fold(0.0, f64::max))
        }
        Domain::Interval { min, max } => (*min, *max),
    };
    low < 0.0 && high > 0.0
}

#[cfg(test)]
mod tests;
