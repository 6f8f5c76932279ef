//! Reading tokens: the forward pass of the llama family, and what it remembers.
//!
//! ```text
//! x = embed(ids);  per layer:  h = rms(x);  q, k, v = W h (+ bias)  (rms per head)  rotated
//!   x += Wo softmax(q k' / sqrt(head) + causal) v
//!   h = rms(x);  x += down(silu(gate h) * up h)
//! ```
//!
//! Formulas: Touvron et al. (2023), arXiv 2302.13971; rotations: Su et al., arXiv 2104.09864; the
//! angles are computed in 64 bits. Weights are decoded to 32 bits as they are needed and inputs are
//! not rounded, so that what is computed is what the file says. Keys and values alone are rounded to
//! 16 bits, wherever they are used, as llama.cpp does: they are most of the memory. Numbers stand
//! feature by feature, see [`super::matrix`].

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::config::{Config, Rotation};
use super::elements::{attend_one, rms_norm, silu_times, softmax};
use super::error::ModelError;
use super::halves::{Half, Kept, Rows, round};
use super::matrix::{Weight, combined_products, products};
use super::weights::{Layer, Linear, Weights};
use crate::kernels::matmul::{Matrix, MatrixMut, multiply};

/// Tokens that are read at once: bounds the memory for attention, and how long a request to stop
/// waits.
pub const CHUNK: usize = 256;

/// What was read so far: keys and values of every layer, rows of `key_heads * head`.
#[derive(Debug, Clone)]
pub(super) struct Memory<K = Half> {
    layers: Vec<(Rows<K>, Rows<K>)>,
    tokens: usize,
    /// What the last piece was computed in, for the next one.
    scratch: Scratch,
}

impl<K> Default for Memory<K> {
    fn default() -> Self {
        Self { layers: Vec::new(), tokens: 0, scratch: Scratch::default() }
    }
}

impl<K: Kept> Memory<K> {
    /// Tokens read so far.
    pub(super) fn tokens(&self) -> usize {
        self.tokens
    }

    /// Forgets all but the first tokens.
    pub(super) fn forget_behind(&mut self, tokens: usize) {
        if tokens < self.tokens {
            for (keys, values) in &mut self.layers {
                keys.truncate(tokens);
                values.truncate(tokens);
            }
            self.tokens = tokens;
        }
    }
}

/// States of the last layer, normalised: `(hidden, tokens)`.
#[derive(Debug)]
pub struct States {
    values: Vec<f32>,
    tokens: usize,
}

impl States {
    /// The place of the last token.
    pub fn last(&self) -> usize {
        self.tokens - 1
    }

    /// Those at some places, `(hidden, places)`.
    fn at(&self, places: &[usize]) -> Vec<f32> {
        let rows = self.values.chunks_exact(self.tokens);
        rows.flat_map(|row| places.iter().map(|place| row[*place])).collect()
    }
}

/// `sum e^odds` as its largest term and the rest relative to it, so that nothing overflows.
#[derive(Debug, Clone, Copy)]
struct Total {
    most: f64,
    sum: f64,
}

impl Total {
    fn of(odds: impl Iterator<Item = f64> + Clone) -> Self {
        let most = odds.clone().fold(f64::NEG_INFINITY, f64::max);
        Self { most, sum: odds.map(|odds| (odds - most).exp()).sum() }
    }

    /// `ln` of all of them together.
    fn ln(totals: impl Iterator<Item = Self> + Clone) -> f64 {
        let most = totals.clone().map(|total| total.most).fold(f64::NEG_INFINITY, f64::max);
        most + totals.map(|total| total.sum * (total.most - most).exp()).sum::<f64>().ln()
    }
}

/// What is computed on the way. Taken once for all layers and pieces: memory that is freed and taken
/// again all the time in other sizes adds up to more than is ever needed.
#[derive(Debug, Clone, Default)]
struct Scratch {
    h: Vec<f32>,
    query: Vec<f32>,
    key: Vec<f32>,
    value: Vec<f32>,
    /// What is attended to, then what is inside the second half of a layer.
    inner: Vec<f32>,
    /// What a layer remembers, `(tokens, key_heads * head)`.
    keys: Vec<f32>,
    values: Vec<f32>,
}

/// A model that reads tokens.
#[derive(Debug)]
pub(super) struct Network {
    pub(super) config: Config,
    pub(super) weights: Weights,
}

/// Texts that are read together, each as if it alone followed what is remembered.
struct Batch<'a> {
    parts: &'a [&'a [u32]],
    tokens: usize,
    /// Tokens of what is remembered.
    before: usize,
    /// Cosines and sines of each pair's angles, `(head / 2, tokens)`.
    rotations: (Vec<f32>, Vec<f32>),
}

impl Network {
    /// Reads `ids` behind what `memory` holds, at most [`CHUNK`] at once, and remembers them.
    ///
    /// # Panics
    ///
    /// If there are no `ids`, or too many: a bug of the caller.
    pub(super) fn read<K: Kept>(&self, ids: &[u32], memory: &mut Memory<K>) -> States {
        self.states(&[ids], memory, true)
    }

    /// Reads each of `parts` behind what `memory` holds, at most [`CHUNK`] tokens together, and
    /// remembers none. The states are those of one part after the other.
    ///
    /// # Panics
    ///
    /// If there are no tokens, or too many: a bug of the caller.
    pub(super) fn peek<K: Kept>(&self, parts: &[&[u32]], memory: &mut Memory<K>) -> States {
        self.states(parts, memory, false)
    }

    /// Log-odds of every token to come next, after the token at this place.
    pub(super) fn logits(&self, states: &States, place: usize) -> Result<Vec<f32>, ModelError> {
        let mut values = Vec::new();
        products([(self.head(), &mut values)], &states.at(&[place]), 1);
        if values.iter().any(|logit| !logit.is_finite()) {
            return Err(ModelError::NotFinite);
        }
        Ok(values)
    }

    /// Log-probabilities of the `wanted` tokens to come next, after each of the tokens at these
    /// places, in 64 bits. Odds of a whole vocabulary are never held for more than some rows.
    pub(super) fn log_probabilities(
        &self,
        states: &States,
        places: &[usize],
        wanted: &[BTreeSet<u32>],
    ) -> Result<Vec<BTreeMap<u32, f64>>, ModelError> {
        let count = places.len();
        let parts = self.head().map_products(&states.at(places), count, |first, odds| {
            if odds.iter().any(|odds| !odds.is_finite()) {
                return None;
            }
            let of_place = |place: usize| odds[place..].iter().step_by(count).copied();
            let totals: Vec<Total> =
                (0..count).map(|place| Total::of(of_place(place).map(f64::from))).collect();
            let found: Vec<(usize, u32, f64)> = wanted
                .iter()
                .enumerate()
                .flat_map(|(place, ids)| ids.iter().map(move |id| (place, *id)))
                .filter_map(|(place, id)| {
                    let row = (id as usize).checked_sub(first)?;
                    Some((place, id, f64::from(*odds.get(row * count + place)?)))
                })
                .collect();
            Some((totals, found))
        });
        let parts: Vec<_> =
            parts.into_iter().collect::<Option<_>>().ok_or(ModelError::NotFinite)?;
        let total = |place: usize| Total::ln(parts.iter().map(|(totals, _)| totals[place]));
        let totals: Vec<f64> = (0..count).map(total).collect();
        let mut log_probabilities = vec![BTreeMap::new(); count];
        for (place, id, odds) in parts.into_iter().flat_map(|(_, found)| found) {
            log_probabilities[place].insert(id, odds - totals[place]);
        }
        Ok(log_probabilities)
    }

    /// What makes odds of states.
    fn head(&self) -> &Weight {
        self.weights.head.as_ref().unwrap_or(&self.weights.embedding)
    }

    fn states<K: Kept>(&self, parts: &[&[u32]], memory: &mut Memory<K>, keep: bool) -> States {
        let config = &self.config;
        let tokens: usize = parts.iter().map(|part| part.len()).sum();
        assert!((1..=CHUNK).contains(&tokens), "{tokens} tokens at once");
        let before = memory.tokens;
        let rotations = self.rotations(before, parts, tokens);
        let batch = Batch { parts, tokens, before, rotations };
        memory.layers.resize_with(config.layers, Default::default);
        let mut x = vec![0.0; config.hidden * tokens];
        for (token, id) in parts.iter().copied().flatten().enumerate() {
            let embedding = self.weights.embedding.row(*id as usize);
            for (x, value) in x[token..].iter_mut().step_by(tokens).zip(embedding) {
                *x = value;
            }
        }
        let Memory { layers, scratch, .. } = memory;
        for (layer, rows) in self.weights.layers.iter().zip(layers) {
            self.layer(&mut x, layer, rows, scratch, (&batch, keep));
        }
        if keep {
            memory.tokens += tokens;
        }
        rms_norm(&mut x, &self.weights.last_norm, config.epsilon, tokens);
        States { values: x, tokens }
    }

    fn layer<K: Kept>(
        &self,
        x: &mut [f32],
        layer: &Layer,
        memory: &mut (Rows<K>, Rows<K>),
        scratch: &mut Scratch,
        (batch, keep): (&Batch<'_>, bool),
    ) {
        let (config, tokens) = (&self.config, batch.tokens);
        let Scratch { h, query, key, value, inner, keys, values } = scratch;
        h.clear();
        h.extend_from_slice(x);
        rms_norm(h, &layer.attention_norm, config.epsilon, tokens);
        let [of_query, of_key, of_value] =
            [&layer.query, &layer.key, &layer.value].map(|linear| &linear.weight);
        products(
            [(of_query, &mut *query), (of_key, &mut *key), (of_value, &mut *value)],
            h,
            tokens,
        );
        for (linear, y) in
            [(&layer.query, &mut *query), (&layer.key, &mut *key), (&layer.value, &mut *value)]
        {
            add_bias(y, linear, tokens);
        }
        for (norm, y) in [(&layer.query_norm, &mut *query), (&layer.key_norm, &mut *key)] {
            for head in y.chunks_exact_mut(config.head * tokens) {
                if let Some(norm) = norm {
                    rms_norm(head, norm, config.epsilon, tokens);
                }
                self.rotate(head, batch);
            }
        }
        if keep {
            memory.0.append(key, tokens);
            memory.1.append(value, tokens);
        } else {
            // As they would be remembered, so that a text has the same numbers either way.
            round::<K>(key);
            round::<K>(value);
        }
        rayon::join(|| memory.0.decode(keys), || memory.1.decode(values));
        let own = (!keep).then_some((&key[..], &value[..]));
        inner.clear();
        inner.resize(config.heads * config.head * tokens, 0.0);
        attend(config, query, (keys, values), own, batch, inner);
        products([(&layer.output, &mut *h)], inner, tokens);
        add(x, h);
        h.copy_from_slice(x);
        rms_norm(h, &layer.inner_norm, config.epsilon, tokens);
        combined_products(&layer.gate, &layer.up, h, tokens, (silu_times, inner));
        products([(&layer.down, &mut *h)], inner, tokens);
        add(x, h);
    }

    /// Rotates a head's pairs, neighbours or halves, by the angles of their positions.
    fn rotate(&self, head: &mut [f32], batch: &Batch<'_>) {
        let (tokens, half) = (batch.tokens, self.config.head / 2);
        let (cos, sin) = &batch.rotations;
        for pair in 0..half {
            let (first, second) = match self.config.rotation {
                Rotation::Neighbours => (2 * pair, 2 * pair + 1),
                Rotation::Halves => (pair, pair + half),
            };
            let (left, right) = head.split_at_mut(second * tokens);
            let angles = cos[pair * tokens..].iter().zip(&sin[pair * tokens..]);
            let pairs = left[first * tokens..][..tokens].iter_mut().zip(&mut right[..tokens]);
            for ((a, b), (cos, sin)) in pairs.zip(angles) {
                (*a, *b) = (*a * cos - *b * sin, *a * sin + *b * cos);
            }
        }
    }

    fn rotations(&self, before: usize, parts: &[&[u32]], tokens: usize) -> (Vec<f32>, Vec<f32>) {
        let half = self.config.head / 2;
        let positions: Vec<f64> = parts
            .iter()
            .flat_map(|part| (before..before + part.len()).map(|position| position as f64))
            .collect();
        let (mut cos, mut sin) =
            (Vec::with_capacity(half * tokens), Vec::with_capacity(half * tokens));
        for pair in 0..half {
            let frequency = self.config.base.powf(-(pair as f64) / half as f64);
            let factors = self.weights.frequency_factors.as_ref();
            let frequency = frequency / factors.map_or(1.0, |factors| f64::from(factors[pair]));
            for position in &positions {
                let (s, c) = (frequency * position).sin_cos();
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "32 bits is what is computed in"
                )]
                {
                    cos.push(c as f32);
                    sin.push(s as f32);
                }
            }
        }
        (cos, sin)
    }
}

fn add_bias(y: &mut [f32], linear: &Linear, tokens: usize) {
    if let Some(bias) = &linear.bias {
        for (row, bias) in y.chunks_exact_mut(tokens).zip(bias) {
            row.iter_mut().for_each(|y| *y += bias);
        }
    }
}

fn add(x: &mut [f32], y: &[f32]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += y;
    }
}

thread_local! {
    /// Weights of a head's attention.
    static SCORES: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

/// Attention of `query` over what is remembered and, behind it, over each part's `own` keys and
/// values where these are not remembered; writes `(heads * head, tokens)`.
fn attend(
    config: &Config,
    query: &[f32],
    (keys, values): (&[f32], &[f32]),
    own: Option<(&[f32], &[f32])>,
    batch: &Batch<'_>,
    attended: &mut [f32],
) {
    let (head, tokens, before) = (config.head, batch.tokens, batch.before);
    let width = config.key_heads * head;
    let known = keys.len() / width;
    let longest = own.map_or(0, |_| batch.parts.iter().map(|part| part.len()).max().unwrap_or(0));
    let stride = known + longest;
    let scale = 1.0 / (head as f32).sqrt();
    let group = config.heads / config.key_heads;
    let of_head = |(number, out): (usize, &mut [f32])| {
        let key_head = number / group;
        // (tokens, head) of this head's queries.
        let query = Matrix {
            values: &query[number * head * tokens..],
            rows: tokens,
            columns: head,
            row_stride: 1,
            column_stride: tokens,
        };
        // (known, head) of what is remembered.
        let start = (key_head * head).min(keys.len());
        let of_memory = |values| Matrix {
            values,
            rows: known,
            columns: head,
            row_stride: width,
            column_stride: 1,
        };
        if tokens == 1 && own.is_none() {
            let columns = start..start + head;
            attend_one(query.values, (keys, values), (width, columns), scale, out);
            return;
        }
        let mut scores = SCORES.take();
        scores.clear();
        scores.resize(tokens * stride, 0.0);
        if known > 0 {
            let mut product =
                MatrixMut { values: &mut scores, rows: tokens, columns: known, row_stride: stride };
            multiply(&mut product, query, of_memory(&keys[start..]).transposed(), scale);
        }
        let mut first = 0;
        for part in batch.parts {
            let length = part.len();
            if let Some((keys, _)) = own {
                let query = Matrix { values: &query.values[first..], rows: length, ..query };
                let mut product = MatrixMut {
                    values: &mut scores[first * stride + known..],
                    rows: length,
                    columns: length,
                    row_stride: stride,
                };
                let keys = Matrix {
                    values: &keys[key_head * head * tokens + first..],
                    rows: head,
                    columns: length,
                    row_stride: tokens,
                    column_stride: 1,
                };
                multiply(&mut product, query, keys, scale);
            }
            for (place, row) in
                scores[first * stride..].chunks_exact_mut(stride).take(length).enumerate()
            {
                let (seen, unseen) = row.split_at_mut(before + place + 1);
                softmax(seen);
                unseen.fill(0.0);
            }
            first += length;
        }
        // (tokens, known) of the weights, and their products with the values.
        if known > 0 {
            let mut product =
                MatrixMut { values: out, rows: head, columns: tokens, row_stride: tokens };
            let weights = Matrix {
                values: &scores,
                rows: tokens,
                columns: known,
                row_stride: stride,
                column_stride: 1,
            };
            let values = of_memory(&values[start..]).transposed();
            multiply(&mut product, values, weights.transposed(), 1.0);
        }
        if let Some((_, values)) = own {
            add_own(out, &scores[known..], &values[key_head * head * tokens..], (batch, stride));
        }
        SCORES.set(scores);
    };
    attended.par_chunks_mut(head * tokens).enumerate().for_each(of_head);
}

/// Adds to a head's `out` each part's own values by their weights, which stand in rows of `stride`.
fn add_own(out: &mut [f32], weights: &[f32], values: &[f32], (batch, stride): (&Batch<'_>, usize)) {
    let tokens = batch.tokens;
    let head = out.len() / tokens;
    let mut first = 0;
    for part in batch.parts {
        let length = part.len();
        let mut of_part = vec![0.0; head * length];
        let mut product =
            MatrixMut { values: &mut of_part, rows: head, columns: length, row_stride: length };
        let values = Matrix {
            values: &values[first..],
            rows: head,
            columns: length,
            row_stride: tokens,
            column_stride: 1,
        };
        let weights = Matrix {
            values: &weights[first * stride..],
            rows: length,
            columns: length,
            row_stride: stride,
            column_stride: 1,
        };
        multiply(&mut product, values, weights.transposed(), 1.0);
        for (out, of_part) in out.chunks_exact_mut(tokens).zip(of_part.chunks_exact(length)) {
            add(&mut out[first..first + length], of_part);
        }
        first += length;
    }
}
