//! A file of trained heads: what turns a sentence's vector and words into probabilities.
//!
//! For a unit vector `x` and the terms `t` of a sentence, trained category `c` has
//! `a_c = σ(b_c + W_c·x + Σ_t U_ct)`, and the polarity is `p_praise - p_criticism` of a softmax of
//! the same form over criticism, neither, praise. A prototype `p` (a unit vector) has the closeness
//! `u = p·(x - mean)`, and `a = (u - low) / (high - low)` kept within [0, 1], where `low` and `high`
//! are the closeness of the nearest 3 % and .5 % of the training sentences; a sentence that shares no
//! word with the prototype, but for common ones, does not count. A file belongs to one base, told by the length of
//! vectors and by its vector of a probe sentence.

use std::collections::{BTreeSet, HashMap};

use safetensors::{Dtype, SafeTensors};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::error::{AspectsError, FORMAT};
use super::words::{Terms, stems};
use crate::data::hexadecimal::hexadecimal;
use crate::stats::similarity::{dot, norm};

/// The heads that come with caz, one file for each base.
const BUNDLED: [&[u8]; 2] = [
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/aspects/static.safetensors")),
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/aspects/minilm.safetensors")),
];

/// Least cosine of the probe's vector with that in the file: another processor or 8-bit tables
/// differ by less than 1e-4, another model of the same length by about 1.
const SAME_PROBE: f64 = 0.99;

/// Heads of one base.
#[derive(Debug, Clone)]
pub(crate) struct Heads {
    base: String,
    sha256: String,
    probe: String,
    probe_vector: Vec<f64>,
    trained: Vec<String>,
    prototypes: Vec<(String, Prototype)>,
    /// For prototypes that are not in the file.
    ramp: Ramp,
    /// Words that tell no category from another.
    common: BTreeSet<String>,
    terms: Terms,
    about: Linear,
    /// Criticism, neither, praise.
    polarity: Linear,
    mean: Vec<f64>,
}

/// Where closeness begins to count, and where it counts in full.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ramp {
    low: f64,
    high: f64,
}

/// What sentences must be near.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Prototype {
    /// Of length 1.
    direction: Vec<f64>,
    /// One of them must be in the sentence; first letters.
    words: BTreeSet<String>,
    ramp: Ramp,
}

/// One linear function per row, of a vector and of terms.
#[derive(Debug, Clone)]
struct Linear {
    bias: Vec<f64>,
    vectors: Vec<f64>,
    words: Vec<f64>,
    terms: usize,
}

impl Linear {
    fn at(&self, row: usize, unit: &[f64], terms: &[usize]) -> f64 {
        let weights = &self.vectors[row * unit.len()..(row + 1) * unit.len()];
        let of_terms: f64 = terms.iter().map(|term| self.words[row * self.terms + term]).sum();
        self.bias[row] + dot(weights, unit) + of_terms
    }
}

impl Heads {
    /// The heads that come with caz.
    ///
    /// # Panics
    ///
    /// Never: the tests read the bundled files.
    pub(crate) fn bundled() -> Vec<Self> {
        let read = |file| Self::from_bytes(file).expect("the tests read the bundled heads");
        BUNDLED.into_iter().map(read).collect()
    }

    /// Reads a file that `models/train_aspects.py` wrote.
    ///
    /// # Errors
    ///
    /// [`AspectsError`] if it is not such a file, of another version, or its parts do not fit.
    pub(crate) fn from_bytes(file: &[u8]) -> Result<Self, AspectsError> {
        let not_understood = |source| AspectsError::NotHeads { source };
        let tensors = SafeTensors::deserialize(file).map_err(not_understood)?;
        let (_, metadata) = SafeTensors::read_metadata(file).map_err(not_understood)?;
        let about = metadata.metadata().clone().unwrap_or_default();
        let format = text(&about, "format")?;
        if format != FORMAT {
            return Err(AspectsError::Format { found: format });
        }
        let trained: Vec<String> = list(&about, "trained")?;
        let named: Vec<String> = list(&about, "prototypes")?;
        let terms: Vec<String> = list(&about, "terms")?;
        let probe_vector = numbers(&tensors, "probe", None)?;
        let dims = probe_vector.len();
        let linear = |name: [&'static str; 3], rows: usize| {
            Ok::<_, AspectsError>(Linear {
                bias: numbers(&tensors, name[0], Some(&[rows]))?,
                vectors: numbers(&tensors, name[1], Some(&[rows, dims]))?,
                words: numbers(&tensors, name[2], Some(&[rows, terms.len()]))?,
                terms: terms.len(),
            })
        };
        let prototypes = numbers(&tensors, "prototypes", Some(&[named.len(), dims]))?;
        let ramps = numbers(&tensors, "ramps", Some(&[named.len() + 1, 2]))?;
        let (ramps, _) = ramps.as_chunks::<2>();
        if ramps.iter().any(|[low, high]| low >= high) {
            return Err(AspectsError::Tensor { tensor: "ramps" });
        }
        let ramps = ramps.iter().map(|&[low, high]| Ramp { low, high });
        let ramp = ramps.clone().next_back().expect("there is one more than prototypes");
        let words: Vec<BTreeSet<String>> = list(&about, "prototype_words")?;
        if words.len() != named.len() {
            return Err(AspectsError::Metadata { key: "prototype_words" });
        }
        let rows = prototypes.chunks_exact(dims.max(1)).zip(words).zip(ramps);
        let rows =
            rows.map(|((row, words), ramp)| Prototype { direction: row.to_vec(), words, ramp });
        Ok(Self {
            base: text(&about, "base")?,
            sha256: hexadecimal(&Sha256::digest(file)),
            probe: text(&about, "probe")?,
            about: linear(["about.bias", "about.vectors", "about.words"], trained.len())?,
            polarity: linear(["polarity.bias", "polarity.vectors", "polarity.words"], 3)?,
            prototypes: named.into_iter().zip(rows).collect(),
            mean: numbers(&tensors, "mean", Some(&[dims]))?,
            ramp,
            common: list(&about, "common_words")?,
            terms: Terms::new(terms),
            trained,
            probe_vector,
        })
    }

    /// The base they were trained on, by name.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Entries of the base's vectors.
    pub(crate) fn dims(&self) -> usize {
        self.probe_vector.len()
    }

    /// SHA-256 of the file, in hexadecimal.
    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The sentence whose vector tells the base.
    pub(crate) fn probe(&self) -> &str {
        &self.probe
    }

    /// The categories with a trained head.
    #[cfg(test)]
    pub(crate) fn trained(&self) -> impl Iterator<Item = &str> {
        self.trained.iter().map(String::as_str)
    }

    /// Whether `vector`, a base's vector of [`Self::probe`], is that of the base of these heads.
    pub(crate) fn fit(&self, vector: &[f64]) -> bool {
        self.likeness(vector).is_some_and(|cosine| cosine >= SAME_PROBE)
    }

    /// Cosine with the probe of the file; `None` for vectors of another length or without direction.
    pub(super) fn likeness(&self, vector: &[f64]) -> Option<f64> {
        let lengths = norm(vector) * norm(&self.probe_vector);
        let comparable = vector.len() == self.dims() && lengths > 0.0;
        comparable.then(|| dot(vector, &self.probe_vector) / lengths)
    }

    /// The row of a category with a trained head.
    pub(super) fn row(&self, category: &str) -> Option<usize> {
        self.trained.iter().position(|name| name == category)
    }

    /// A category by the sentences of the project.
    pub(super) fn prototype(&self, category: &str) -> Option<&Prototype> {
        let found = self.prototypes.iter().find(|(name, _)| name == category);
        found.map(|(_, prototype)| prototype)
    }

    /// A prototype of one's own, from texts with their vectors; `None` without any direction, or
    /// if the texts have only common words.
    pub(super) fn defined(&self, texts: &[(String, Option<Vec<f64>>)]) -> Option<Prototype> {
        let units: Vec<&Vec<f64>> = texts.iter().filter_map(|(_, unit)| unit.as_ref()).collect();
        let from_mean = |(at, mean): (usize, &f64)| {
            units.iter().map(|unit| unit[at]).sum::<f64>() - mean * units.len() as f64
        };
        let direction: Vec<f64> = self.mean.iter().enumerate().map(from_mean).collect();
        let length = norm(&direction);
        let direction = direction.into_iter().map(|value| value / length).collect();
        let words: BTreeSet<String> = texts.iter().flat_map(|(text, _)| stems(text)).collect();
        let words: BTreeSet<String> = words.difference(&self.common).cloned().collect();
        let usable = length > 0.0 && !words.is_empty();
        usable.then_some(Prototype { direction, words, ramp: self.ramp })
    }

    /// The terms of a sentence, ascending.
    pub(super) fn terms(&self, sentence: &str) -> Vec<usize> {
        self.terms.of(sentence).into_iter().collect()
    }

    /// Probability of being about the category of a row.
    pub(super) fn about(&self, row: usize, unit: &[f64], terms: &[usize]) -> f64 {
        logistic(self.about.at(row, unit, terms))
    }

    /// How far a sentence is about what a prototype stands for, in [0, 1].
    ///
    /// `words` are the first letters of those of the sentence.
    pub(super) fn near(
        &self,
        Prototype { direction, words: wanted, ramp }: &Prototype,
        unit: &[f64],
        words: &BTreeSet<String>,
    ) -> f64 {
        if wanted.is_disjoint(words) {
            return 0.0;
        }
        let close: f64 =
            direction.iter().zip(unit).zip(&self.mean).map(|((p, x), m)| p * (x - m)).sum();
        ((close - ramp.low) / (ramp.high - ramp.low)).clamp(0.0, 1.0)
    }

    /// Probability of praise minus that of criticism.
    pub(super) fn polarity(&self, unit: &[f64], terms: &[usize]) -> f64 {
        let logits = [0, 1, 2].map(|row| self.polarity.at(row, unit, terms));
        let largest = logits.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let [criticism, neither, praise] = logits.map(|logit| (logit - largest).exp());
        (praise - criticism) / (criticism + neither + praise)
    }
}

/// `1 / (1 + e^-x)`, without overflow: the exponential is at most 1.
fn logistic(x: f64) -> f64 {
    let small = (-x.abs()).exp();
    if x >= 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) }
}

fn text(metadata: &HashMap<String, String>, key: &'static str) -> Result<String, AspectsError> {
    metadata.get(key).cloned().ok_or(AspectsError::Metadata { key })
}

fn list<T: DeserializeOwned>(
    metadata: &HashMap<String, String>,
    key: &'static str,
) -> Result<T, AspectsError> {
    serde_json::from_str(&text(metadata, key)?).map_err(|_| AspectsError::Metadata { key })
}

/// The finite numbers of a tensor, of one dimension where no shape is asked for.
fn numbers(
    tensors: &SafeTensors<'_>,
    tensor: &'static str,
    shape: Option<&[usize]>,
) -> Result<Vec<f64>, AspectsError> {
    let view = tensors.tensor(tensor).map_err(|source| AspectsError::NotHeads { source })?;
    let fits = shape.map_or(view.shape().len() == 1, |shape| view.shape() == shape);
    if view.dtype() != Dtype::F32 || !fits {
        return Err(AspectsError::Tensor { tensor });
    }
    let (values, _) = view.data().as_chunks::<4>();
    let values: Vec<f64> = values.iter().map(|&b| f64::from(f32::from_le_bytes(b))).collect();
    if values.iter().all(|value| value.is_finite()) {
        Ok(values)
    } else {
        Err(AspectsError::Tensor { tensor })
    }
}
