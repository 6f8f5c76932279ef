//! `Dense` of sentence-transformers: a map after pooling.

use std::path::Path;

use super::error::BertError;
use super::json::JsonFile;
use super::weights::Weights;

/// `activation(W x + b)`.
#[derive(Debug)]
pub(super) struct Dense {
    inputs: usize,
    /// Row by row, one per output.
    weight: Vec<f32>,
    bias: Vec<f32>,
    tanh: bool,
}

impl Dense {
    /// Reads the folder of the module, for vectors of `inputs` entries.
    pub(super) fn load(folder: &Path, inputs: usize) -> Result<Self, BertError> {
        let file = JsonFile::read(folder, "config.json")?;
        if file.size("in_features")? != inputs {
            return Err(file.missing("in_features"));
        }
        let outputs = file.size("out_features")?;
        let tanh = match file.text("activation_function")?.rsplit('.').next() {
            Some("Identity") => false,
            Some("Tanh") => true,
            other => {
                let remedy = "use a model with Identity or Tanh";
                let found = other.unwrap_or_default();
                return Err(file.unsupported("activation_function", found, remedy));
            }
        };
        let mut weights = Weights::open_map(folder)?;
        let weight = weights.take("linear.weight", &[outputs, inputs])?;
        let has_bias = file.get("bias").is_none_or(|value| value == true);
        let bias =
            if has_bias { weights.take("linear.bias", &[outputs])? } else { vec![0.0; outputs] };
        Ok(Self { inputs, weight, bias, tanh })
    }

    /// Entries of what it gives.
    pub(super) fn outputs(&self) -> usize {
        self.bias.len()
    }

    pub(super) fn apply(&self, vector: &[f32]) -> Vec<f32> {
        let rows = self.weight.chunks_exact(self.inputs).zip(&self.bias);
        let sums = rows.map(|(row, bias)| {
            row.iter().zip(vector).fold(*bias, |sum, (weight, value)| sum + weight * value)
        });
        if self.tanh { sums.map(f32::tanh).collect() } else { sums.collect() }
    }
}
