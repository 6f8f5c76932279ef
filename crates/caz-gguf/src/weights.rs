//! The weights of a model, each checked for its shape.

use candle_core::quantized::GgmlDType;

use super::config::{Config, Family};
use super::error::{ModelError, ModelFault};
use super::gguf::bad;
use super::halves::{brain, half};
use super::matrix::Weight;
use super::source::Tensors;

/// A matrix with an optional bias.
#[derive(Debug)]
pub(super) struct Linear {
    pub(super) weight: Weight,
    pub(super) bias: Option<Vec<f32>>,
}

/// One layer. Queries are `(heads * head, hidden)`, keys and values `(key_heads * head, hidden)`.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) attention_norm: Vec<f32>,
    pub(super) query: Linear,
    pub(super) key: Linear,
    pub(super) value: Linear,
    pub(super) query_norm: Option<Vec<f32>>,
    pub(super) key_norm: Option<Vec<f32>>,
    pub(super) output: Weight,
    pub(super) inner_norm: Vec<f32>,
    pub(super) gate: Weight,
    pub(super) up: Weight,
    pub(super) down: Weight,
}

/// All of a model.
#[derive(Debug)]
pub(super) struct Weights {
    /// `(vocabulary, hidden)`.
    pub(super) embedding: Weight,
    pub(super) layers: Vec<Layer>,
    pub(super) last_norm: Vec<f32>,
    /// `(vocabulary, hidden)`; `None` if the embedding is used.
    pub(super) head: Option<Weight>,
    /// What the frequencies of the rotations are divided by, one for each pair.
    pub(super) frequency_factors: Option<Vec<f32>>,
}

impl Weights {
    /// Loads all tensors, and fails if one is missing or left over.
    pub(super) fn load<T: Tensors>(
        tensors: &mut T,
        config: &Config,
        vocabulary: usize,
    ) -> Result<Self, ModelError> {
        let mut file = Loader(tensors);
        let (hidden, inner) = (config.hidden, config.inner);
        let (queries, keys) = (config.heads * config.head, config.key_heads * config.head);
        let embedding = file.matrix("token_embd.weight", vocabulary, hidden)?;
        let mut layers = Vec::new();
        for layer in 0..config.layers {
            let name = |rest: &str| format!("blk.{layer}.{rest}");
            let head_norm = |file: &mut Loader<'_, T>, rest: &str| match config.family {
                Family::Qwen3 => file.vector(&name(rest), config.head).map(Some),
                Family::Llama | Family::Qwen2 => Ok(None),
            };
            layers.push(Layer {
                attention_norm: file.vector(&name("attn_norm.weight"), hidden)?,
                query: file.linear(&name("attn_q"), queries, hidden, config.family)?,
                key: file.linear(&name("attn_k"), keys, hidden, config.family)?,
                value: file.linear(&name("attn_v"), keys, hidden, config.family)?,
                query_norm: head_norm(&mut file, "attn_q_norm.weight")?,
                key_norm: head_norm(&mut file, "attn_k_norm.weight")?,
                output: file.matrix(&name("attn_output.weight"), hidden, queries)?,
                inner_norm: file.vector(&name("ffn_norm.weight"), hidden)?,
                gate: file.matrix(&name("ffn_gate.weight"), inner, hidden)?,
                up: file.matrix(&name("ffn_up.weight"), inner, hidden)?,
                down: file.matrix(&name("ffn_down.weight"), hidden, inner)?,
            });
        }
        let last_norm = file.vector("output_norm.weight", hidden)?;
        let head = if file.0.has("output.weight") {
            Some(file.matrix("output.weight", vocabulary, hidden)?)
        } else {
            None
        };
        let factors = "rope_freqs.weight";
        let frequency_factors = match config.family {
            Family::Llama if file.0.has(factors) => {
                let values = file.vector(factors, config.head / 2)?;
                if values.iter().any(|factor| *factor <= 0.0) {
                    let fault = |name: String| bad(&name, "holds what is not above 0");
                    return Err(file.0.wrong(factors, &fault));
                }
                Some(values)
            }
            _ => None,
        };
        file.0.refuse_left_over()?;
        Ok(Self { embedding, layers, last_norm, head, frequency_factors })
    }
}

/// Loads tensors as what they are for.
struct Loader<'a, T>(&'a mut T);

impl<T: Tensors> Loader<'_, T> {
    /// What is wrong with a tensor, in words.
    fn wrong(&self, name: &str, reason: &str) -> ModelError {
        self.0.wrong(name, &|name| ModelFault::Load { name, reason: reason.to_owned() })
    }

    fn matrix(&mut self, name: &str, rows: usize, columns: usize) -> Result<Weight, ModelError> {
        let (kind, bytes) = self.0.load(name, &[rows, columns])?;
        Weight::new(kind, bytes, rows, columns)
            .ok_or_else(|| self.wrong(name, "its rows are no multiple of 32"))
    }

    /// A vector as numbers, all of them finite.
    fn vector(&mut self, name: &str, length: usize) -> Result<Vec<f32>, ModelError> {
        let (kind, bytes) = self.0.load(name, &[length])?;
        let halves = || bytes.as_chunks().0.iter();
        let values: Vec<f32> = match kind {
            GgmlDType::F32 => {
                bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
            }
            GgmlDType::F16 => halves().map(|bytes| half(*bytes)).collect(),
            GgmlDType::BF16 => halves().map(|bytes| brain(*bytes)).collect(),
            _ => return Err(self.wrong(name, "vectors have to be numbers of 16 or 32 bits")),
        };
        if values.iter().any(|value| !value.is_finite()) {
            return Err(self.0.wrong(name, &|_| ModelFault::NotFinite));
        }
        Ok(values)
    }

    /// A matrix with the bias that its family has: always in qwen2, never in qwen3.
    fn linear(
        &mut self,
        name: &str,
        rows: usize,
        columns: usize,
        family: Family,
    ) -> Result<Linear, ModelError> {
        let weight = self.matrix(&format!("{name}.weight"), rows, columns)?;
        let bias = format!("{name}.bias");
        let has_bias = match family {
            Family::Llama => self.0.has(&bias),
            Family::Qwen2 => true,
            Family::Qwen3 => false,
        };
        let bias = if has_bias { Some(self.vector(&bias, rows)?) } else { None };
        Ok(Linear { weight, bias })
    }
}
