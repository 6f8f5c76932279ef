//! Encoders through candle as it is, one sequence at a time: without padding there is nothing that
//! could change a vector.
//!
//! ModernBERT: Warner et al. (2024), "Smarter, Better, Faster, Longer", <https://arxiv.org/abs/2412.13663>.
//! nomic-embed: Nussbaum et al. (2024), "Nomic Embed", <https://arxiv.org/abs/2402.01613>.
//! Qwen3-Embedding: Zhang et al. (2025), "Qwen3 Embedding", <https://arxiv.org/abs/2506.05176>.

use std::collections::HashMap;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::{modernbert, nomic_bert, qwen3};

use super::error::BertError;
use super::weights::Weights;

/// The sizes of an encoder that candle computes.
pub(super) enum CandleConfig {
    ModernBert(modernbert::Config),
    NomicBert(nomic_bert::Config),
    Qwen3(qwen3::Config),
}

enum Model {
    ModernBert(modernbert::ModernBert),
    NomicBert(nomic_bert::NomicBertModel),
    /// Attends to what came before alone.
    Qwen3(qwen3::Model),
}

/// A loaded encoder.
pub(super) struct CandleEncoder {
    model: Model,
    vocabulary: usize,
    hidden: usize,
    positions: usize,
}

/// The weights of a family: how their names begin, what candle wants before them, and how many there are.
struct Layout {
    stems: [&'static str; 3],
    prefix: &'static str,
    count: usize,
}

impl CandleConfig {
    fn layout(&self) -> Layout {
        match self {
            // Embedding and its norm, final norm, four projections and two norms per layer, without the
            // first attention norm.
            Self::ModernBert(config) => Layout {
                stems: ["embeddings.", "layers.", "final_norm."],
                prefix: "model.",
                count: 3 + 6 * config.num_hidden_layers - 1,
            },
            // Two embeddings and a norm of two, five projections and two norms of two per layer.
            Self::NomicBert(config) => Layout {
                stems: ["embeddings.", "emb_ln.", "encoder."],
                prefix: "",
                count: 3 + usize::from(config.type_vocab_size > 0) + 9 * config.n_layer,
            },
            // Embedding and final norm, seven projections and four norms per layer.
            Self::Qwen3(config) => Layout {
                stems: ["embed_tokens.", "layers.", "norm."],
                prefix: "model.",
                count: 2 + 11 * config.num_hidden_layers,
            },
        }
    }
}

impl CandleEncoder {
    pub(super) fn load(weights: &mut Weights, config: CandleConfig) -> Result<Self, BertError> {
        if let CandleConfig::ModernBert(config) = &config {
            // candle takes a missing norm for "this layer has none"; only the first layer has none.
            for layer in 0..config.num_hidden_layers {
                let name = format!("layers.{layer}.attn_norm.weight");
                if weights.has(&name) == (layer == 0) {
                    return Err(weights.unexpected(&name));
                }
            }
        }
        let Layout { stems, prefix, count } = config.layout();
        let mut tensors = HashMap::new();
        for name in weights.names() {
            // Angles that some checkpoints keep.
            let is_computed = name.ends_with("inv_freq");
            if stems.iter().any(|stem| name.starts_with(stem)) && !is_computed {
                let weight = weights.read(&name)?;
                let tensor = Tensor::from_vec(weight.values, weight.shape, &Device::Cpu);
                let tensor = tensor.map_err(|source| BertError::Forward { source })?;
                tensors.insert(format!("{prefix}{name}"), tensor);
            }
        }
        // A layer too many would silently compute another model.
        if tensors.len() != count {
            return Err(weights.unexpected("layers"));
        }
        let builder = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
        Self::build(builder, config).map_err(|source| BertError::Forward { source })
    }

    fn build(builder: VarBuilder<'_>, config: CandleConfig) -> candle_core::Result<Self> {
        Ok(match config {
            CandleConfig::ModernBert(config) => Self {
                model: Model::ModernBert(modernbert::ModernBert::load(builder, &config)?),
                vocabulary: config.vocab_size,
                hidden: config.hidden_size,
                positions: config.max_position_embeddings,
            },
            CandleConfig::NomicBert(config) => Self {
                model: Model::NomicBert(nomic_bert::NomicBertModel::load(builder, &config)?),
                vocabulary: config.vocab_size,
                hidden: config.n_embd,
                positions: config.n_positions,
            },
            CandleConfig::Qwen3(config) => Self {
                model: Model::Qwen3(qwen3::Model::new(&config, builder)?),
                vocabulary: config.vocab_size,
                hidden: config.hidden_size,
                positions: config.max_position_embeddings,
            },
        })
    }

    pub(super) fn hidden_size(&self) -> usize {
        self.hidden
    }

    pub(super) fn max_tokens(&self) -> usize {
        self.positions
    }

    /// The last hidden state of every token of `sequence`, row-major.
    pub(super) fn forward(&self, sequence: &[u32]) -> Result<Vec<f32>, BertError> {
        let vocabulary = self.vocabulary;
        if let Some(&id) = sequence.iter().find(|&&id| id as usize >= vocabulary) {
            return Err(BertError::TokenOutOfRange { id, vocabulary });
        }
        self.run(sequence).map_err(|source| BertError::Forward { source })
    }

    fn run(&self, sequence: &[u32]) -> candle_core::Result<Vec<f32>> {
        let ids = Tensor::new(sequence, &Device::Cpu)?.unsqueeze(0)?;
        let states = match &self.model {
            Model::ModernBert(model) => model.forward(&ids, &ids.ones_like()?)?,
            Model::NomicBert(model) => model.forward(&ids, None, None)?,
            // Weights are shared; what a copy remembers of a sequence goes with it.
            Model::Qwen3(model) => model.clone().forward(&ids, 0)?,
        };
        states.flatten_all()?.to_vec1()
    }
}
