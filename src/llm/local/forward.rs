//! Reading tokens: the forward pass of the llama family, and what it remembers.
//!
//! ```text
//! x = embed(ids);  per layer:  h = rms(x);  q, k, v = W h (+ bias)  (rms per head)  rotated
//!   x += Wo softmax(q k' / sqrt(head) + causal) v
//!   h = rms(x);  x += down(silu(gate h) * up h)
//! ```
//!
//! Formulas: Touvron et al. (2023), arXiv 2302.13971; rotations: Su et al., arXiv 2104.09864; the
//! angles are computed in 64 bits. Every entry of every product is one sum in a fixed order, so the
//! number of threads changes no result.

use candle_core::{D, DType, Device, Module, Tensor};
use candle_nn::{ops, rotary_emb};

use super::config::{Config, Family};
use super::error::LocalError;
use super::weights::{Linear, Weights};

/// Tokens that are read at once: bounds the memory for attention, and how long a request to stop
/// waits.
pub(super) const CHUNK: usize = 256;

/// What was read so far: keys and values of every layer, `(key_heads, capacity, head)`.
#[derive(Debug, Default)]
pub(super) struct Memory {
    layers: Vec<(Tensor, Tensor)>,
    tokens: usize,
    /// Tokens that there is room for.
    capacity: usize,
}

impl Memory {
    /// Tokens read so far.
    pub(super) fn tokens(&self) -> usize {
        self.tokens
    }

    /// Forgets all but the first tokens.
    pub(super) fn forget_behind(&mut self, tokens: usize) {
        self.tokens = self.tokens.min(tokens);
    }

    /// Makes room for `more` tokens.
    fn reserve(&mut self, more: usize, config: &Config) -> candle_core::Result<()> {
        let needed = self.tokens + more;
        if needed <= self.capacity {
            return Ok(());
        }
        let capacity = needed.max(self.capacity * 3 / 2).next_multiple_of(64);
        let shape = (config.key_heads, capacity, config.head);
        let grown = |old: Option<&Tensor>| -> candle_core::Result<Tensor> {
            let new = Tensor::zeros(shape, DType::F32, &Device::Cpu)?;
            if let Some(old) = old.filter(|_| self.tokens > 0) {
                new.slice_set(&old.narrow(1, 0, self.tokens)?.contiguous()?, 1, 0)?;
            }
            Ok(new)
        };
        self.layers = (0..config.layers)
            .map(|layer| {
                let old = self.layers.get(layer);
                Ok((grown(old.map(|(keys, _)| keys))?, grown(old.map(|(_, values)| values))?))
            })
            .collect::<candle_core::Result<_>>()?;
        self.capacity = capacity;
        Ok(())
    }
}

/// A model that reads tokens.
#[derive(Debug)]
pub(super) struct Network {
    pub(super) config: Config,
    pub(super) weights: Weights,
}

impl Network {
    /// Reads `ids` behind what `memory` holds, at most [`CHUNK`] at once, and returns the states of
    /// the last layer, normalised, `(ids, hidden)`.
    ///
    /// # Panics
    ///
    /// If there are no `ids`: a bug of the caller.
    pub(super) fn read(&self, ids: &[u32], memory: &mut Memory) -> Result<Tensor, LocalError> {
        assert!(!ids.is_empty() && ids.len() <= CHUNK, "{} tokens at once", ids.len());
        Ok(self.states(ids, memory)?)
    }

    /// Log-odds of every token to come next, from one row of [`Self::read`].
    pub(super) fn logits(&self, states: &Tensor, row: usize) -> Result<Vec<f32>, LocalError> {
        let head = self.weights.head.as_ref().unwrap_or(&self.weights.embedding);
        let logits = head.forward(&states.narrow(0, row, 1)?)?.squeeze(0)?.to_vec1::<f32>()?;
        if logits.iter().any(|logit| !logit.is_finite()) {
            return Err(LocalError::NotFinite);
        }
        Ok(logits)
    }

    fn states(&self, ids: &[u32], memory: &mut Memory) -> candle_core::Result<Tensor> {
        let (config, rows) = (&self.config, ids.len());
        let before = memory.tokens();
        memory.reserve(rows, config)?;
        let rotations = self.rotations(before, rows)?;
        let all = before + rows;
        let mask = causal(before, rows)?;
        let mut x = self.weights.embedding.embedding(&Tensor::new(ids, &Device::Cpu)?)?;
        for (index, layer) in self.weights.layers.iter().enumerate() {
            let h = ops::rms_norm(&x, &layer.attention_norm, config.epsilon)?;
            let query = self.heads(&layer.query, &h, layer.query_norm.as_ref(), config.heads)?;
            let key = self.heads(&layer.key, &h, layer.key_norm.as_ref(), config.key_heads)?;
            let value = self.heads(&layer.value, &h, None, config.key_heads)?;
            let (keys, values) = &memory.layers[index];
            keys.slice_set(&self.rotate(&key, &rotations)?, 1, before)?;
            values.slice_set(&value, 1, before)?;
            let (keys, values) = (keys.narrow(1, 0, all)?, values.narrow(1, 0, all)?);
            let query = self.rotate(&query, &rotations)?;
            let attended = attend(&query, &keys, &values, (mask.as_ref(), config))?;
            x = (x + layer.output.forward(&attended)?)?;
            let h = ops::rms_norm(&x, &layer.inner_norm, config.epsilon)?;
            let gate = layer.gate.forward(&h)?.silu()?;
            x = (x + layer.down.forward(&(gate * layer.up.forward(&h)?)?)?)?;
        }
        memory.tokens = all;
        ops::rms_norm(&x, &self.weights.last_norm, config.epsilon)
    }

    /// `(heads, rows, head)` from `(rows, hidden)`.
    fn heads(
        &self,
        linear: &Linear,
        h: &Tensor,
        norm: Option<&Tensor>,
        heads: usize,
    ) -> candle_core::Result<Tensor> {
        let mut y = linear.weight.forward(h)?;
        if let Some(bias) = &linear.bias {
            y = y.broadcast_add(bias)?;
        }
        let mut y = y.reshape((h.dim(0)?, heads, self.config.head))?;
        if let Some(norm) = norm {
            y = ops::rms_norm(&y, norm, self.config.epsilon)?;
        }
        y.transpose(0, 1)?.contiguous()
    }

    fn rotate(&self, x: &Tensor, (cos, sin): &(Tensor, Tensor)) -> candle_core::Result<Tensor> {
        let x = x.unsqueeze(0)?;
        let rotated = match self.config.family {
            Family::Llama => rotary_emb::rope_i(&x, cos, sin),
            Family::Qwen2 | Family::Qwen3 => rotary_emb::rope(&x, cos, sin),
        };
        rotated?.squeeze(0)
    }

    /// Cosines and sines of the angles of `rows` positions from `first` on, `(rows, head / 2)`.
    fn rotations(&self, first: usize, rows: usize) -> candle_core::Result<(Tensor, Tensor)> {
        let half = self.config.head / 2;
        let frequencies: Vec<f64> = (0..half)
            .map(|pair| {
                let frequency = self.config.base.powf(-(pair as f64) / half as f64);
                let factors = self.weights.frequency_factors.as_ref();
                frequency / factors.map_or(1.0, |factors| f64::from(factors[pair]))
            })
            .collect();
        let angles: Vec<f64> = (first..first + rows)
            .flat_map(|position| frequencies.iter().map(move |each| each * position as f64))
            .collect();
        #[expect(clippy::cast_possible_truncation, reason = "the model computes in 32 bits")]
        let table = |function: fn(f64) -> f64| {
            let values: Vec<f32> = angles.iter().map(|angle| function(*angle) as f32).collect();
            Tensor::from_vec(values, (rows, half), &Device::Cpu)
        };
        Ok((table(f64::cos)?, table(f64::sin)?))
    }
}

/// What row `i` of `rows` behind `before` tokens may not see, as `-inf`; `None` for a single row.
fn causal(before: usize, rows: usize) -> candle_core::Result<Option<Tensor>> {
    if rows == 1 {
        return Ok(None);
    }
    let all = before + rows;
    let mut values = vec![0.0; rows * all];
    for (row, seen) in values.chunks_exact_mut(all).enumerate() {
        seen[before + row + 1..].fill(f32::NEG_INFINITY);
    }
    Tensor::from_vec(values, (rows, all), &Device::Cpu).map(Some)
}

/// Attention of `query` `(heads, rows, head)` over keys and values `(key_heads, tokens, head)`,
/// `(rows, heads * head)`.
fn attend(
    query: &Tensor,
    keys: &Tensor,
    values: &Tensor,
    (mask, config): (Option<&Tensor>, &Config),
) -> candle_core::Result<Tensor> {
    let (rows, group) = (query.dim(1)?, config.heads / config.key_heads);
    // The heads that share keys stand next to each other: one product for all of them.
    let query = (query * (1.0 / (config.head as f64).sqrt()))?;
    let query = query.reshape((config.key_heads, group * rows, config.head))?;
    let mut scores = query.matmul(&keys.transpose(1, 2)?)?;
    if let Some(mask) = mask {
        let all = scores.dim(D::Minus1)?;
        let by_row = scores.reshape((config.heads, rows, all))?.broadcast_add(mask)?;
        scores = by_row.reshape((config.key_heads, group * rows, all))?;
    }
    let sum = ops::softmax_last_dim(&scores)?.matmul(values)?;
    let by_head = sum.reshape((config.heads, rows, config.head))?;
    by_head.transpose(0, 1)?.reshape((rows, config.heads * config.head))
}
