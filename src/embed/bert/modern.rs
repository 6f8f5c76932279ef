//! ModernBERT through candle as it is, one sequence at a time: without padding there is nothing
//! that could change a vector.
//!
//! Warner et al. (2024), "Smarter, Better, Faster, Longer", <https://arxiv.org/abs/2412.13663>.

use std::collections::HashMap;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::modernbert::{Config, ModernBert};

use super::error::BertError;
use super::weights::Weights;

/// A loaded ModernBERT encoder.
pub(super) struct ModernBertEncoder {
    model: ModernBert,
    config: Config,
}

impl ModernBertEncoder {
    pub(super) fn load(weights: &mut Weights, config: Config) -> Result<Self, BertError> {
        // candle takes a missing norm for "this layer has none"; only the first layer has none.
        for layer in 0..config.num_hidden_layers {
            let name = format!("layers.{layer}.attn_norm.weight");
            if weights.has(&name) == (layer == 0) {
                return Err(weights.unexpected(&name));
            }
        }
        let mut tensors = HashMap::new();
        for name in weights.names() {
            if ["embeddings.", "layers.", "final_norm."].iter().any(|stem| name.starts_with(stem)) {
                let weight = weights.read(&name)?;
                let tensor = Tensor::from_vec(weight.values, weight.shape, &Device::Cpu)
                    .map_err(|source| BertError::Forward { source })?;
                tensors.insert(format!("model.{name}"), tensor);
            }
        }
        let unread = tensors.len();
        let builder = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
        let model =
            ModernBert::load(builder, &config).map_err(|source| BertError::Forward { source })?;
        // Embedding and its norm, final norm, four projections and two norms per layer, without
        // the first attention norm.
        if unread != 3 + 6 * config.num_hidden_layers - 1 {
            return Err(weights.unexpected("layers"));
        }
        Ok(Self { model, config })
    }

    pub(super) fn hidden_size(&self) -> usize {
        self.config.hidden_size
    }

    pub(super) fn max_tokens(&self) -> usize {
        self.config.max_position_embeddings
    }

    /// The last hidden state of every token of `sequence`, row-major.
    pub(super) fn forward(&self, sequence: &[u32]) -> Result<Vec<f32>, BertError> {
        let vocabulary = self.config.vocab_size;
        if let Some(&id) = sequence.iter().find(|&&id| id as usize >= vocabulary) {
            return Err(BertError::TokenOutOfRange { id, vocabulary });
        }
        self.run(sequence).map_err(|source| BertError::Forward { source })
    }

    fn run(&self, sequence: &[u32]) -> candle_core::Result<Vec<f32>> {
        let ids = Tensor::new(sequence, &Device::Cpu)?.unsqueeze(0)?;
        let mask = ids.ones_like()?;
        self.model.forward(&ids, &mask)?.flatten_all()?.to_vec1()
    }
}
