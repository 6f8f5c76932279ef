//! The lean forward pass for encoders with learned positions and layer norm after each block:
//! BERT, RoBERTa, XLM-R, CamemBERT, DistilBERT, `MPNet`.
//!
//! Devlin et al. (2019), "BERT", NAACL, <https://arxiv.org/abs/1810.04805>; Vaswani et al. (2017)
//! section 3. Against a general tensor library it saves memory traffic: the tokens of a batch are
//! packed one after the other without padding, buffers are reused, biases are added in the pass
//! that applies GELU or layer norm, and weights are stored so that gemm need not repack them.
//! Attention runs per text, so no mask is needed and a vector cannot depend on its batch.

use caz_gguf::kernels::bf16::{Bf16, Bf16Weights, Rounded};
use caz_gguf::kernels::matmul::{Matrix, MatrixMut, multiply};

use super::config::{Layout, PostNormConfig};
use super::error::BertError;
use super::kernels::{Kernels, LayerNorm};
use super::weights::Weights;

/// `x W + b`; the weight is stored with shape `(inputs, outputs)`.
struct Linear {
    weight: Weight,
    bias: Vec<f32>,
}

enum Weight {
    F32(Vec<f32>),
    Bf16(Bf16, Bf16Weights),
}

struct Layer {
    /// Query, key and value side by side: `(hidden, 3 * hidden)`.
    query_key_value: Linear,
    attention_output: Linear,
    attention_norm: LayerNorm,
    up: Linear,
    down: Linear,
    output_norm: LayerNorm,
}

/// An encoder's weights, ready to run; shared by all threads.
pub(super) struct PostNormEncoder {
    config: PostNormConfig,
    word_embeddings: Vec<f32>,
    /// Position embeddings with the embedding of token type 0 added.
    position_embeddings: Vec<f32>,
    embedding_norm: LayerNorm,
    /// `MPNet`: what is added to the scores of a head by how far apart two tokens are, a row of heads
    /// for each of the [`DISTANCES`]; nothing of other layouts.
    distance_bias: Option<Vec<f32>>,
    layers: Vec<Layer>,
    kernels: Kernels,
}

/// Classes of distances between tokens, half of them before and half of them behind.
const DISTANCES: usize = 32;

/// The class of what stands so many tokens ahead of a token: exact for near ones, then logarithmic up
/// to 128 tokens. As in T5: Raffel et al. (2020), JMLR 21(140), section 2.1, in the single precision
/// of the reference.
fn distance(ahead: isize) -> usize {
    const SIDE: usize = DISTANCES / 2;
    const EXACT: usize = SIDE / 2;
    let far = ahead.unsigned_abs();
    let class = if far < EXACT {
        far
    } else {
        let share = (far as f32 / EXACT as f32).ln() / (128.0_f32 / EXACT as f32).ln();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "rounded down, from 0 to less than 100"
        )]
        let further = (share * (SIDE - EXACT) as f32) as usize;
        (EXACT + further).min(SIDE - 1)
    };
    if ahead > 0 { class + SIDE } else { class }
}

/// Buffers of one worker, kept from batch to batch.
#[derive(Default)]
pub(super) struct Workspace {
    hidden: Vec<f32>,
    query_key_value: Vec<f32>,
    context: Vec<f32>,
    update: Vec<f32>,
    intermediate: Vec<f32>,
    scores: Vec<f32>,
    rounded: Rounded,
}

/// The first `length` values of a buffer that grows when needed and never shrinks.
fn sized(buffer: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}

impl PostNormEncoder {
    /// With `bf16` the linear maps of the layers are computed from rounded numbers.
    pub(super) fn load(
        weights: &mut Weights,
        config: PostNormConfig,
        bf16: Option<Bf16>,
    ) -> Result<Self, BertError> {
        let hidden = config.hidden;
        let word_embeddings =
            weights.take("embeddings.word_embeddings.weight", &[config.vocabulary, hidden])?;
        let mut position_embeddings =
            weights.take("embeddings.position_embeddings.weight", &[config.positions, hidden])?;
        let kernels = Kernels::detect();
        if config.token_types > 0 {
            let shape = [config.token_types, hidden];
            let types = weights.take("embeddings.token_type_embeddings.weight", &shape)?;
            kernels.add_bias(&mut position_embeddings, &types[..hidden]);
        }
        let embedding_norm = layer_norm(weights, "embeddings.LayerNorm", &config)?;
        let layers = (0..config.layers)
            .map(|index| Layer::load(weights, index, &config, bf16))
            .collect::<Result<_, _>>()?;
        let distance_bias = match config.layout {
            Layout::MpNet { .. } => {
                let shape = [DISTANCES, config.heads];
                Some(weights.take("encoder.relative_attention_bias.weight", &shape)?)
            }
            _ => None,
        };
        weights.refuse_unused(&["embeddings.", "encoder.", "transformer."])?;
        Ok(Self {
            config,
            word_embeddings,
            position_embeddings,
            embedding_norm,
            distance_bias,
            layers,
            kernels,
        })
    }

    pub(super) fn hidden_size(&self) -> usize {
        self.config.hidden
    }

    /// The last hidden state of every token of `sequences`, packed in order, row-major.
    ///
    /// Every sequence must have 1 to `max_tokens` tokens.
    pub(super) fn forward<'w>(
        &self,
        sequences: &[&[u32]],
        workspace: &'w mut Workspace,
    ) -> Result<&'w [f32], BertError> {
        let tokens: usize = sequences.iter().map(|sequence| sequence.len()).sum();
        // gemm computes a single row by another method, with another rounding.
        let rows = tokens.max(2);
        let hidden = self.config.hidden;
        self.embed(sequences, sized(&mut workspace.hidden, rows * hidden))?;
        for layer in &self.layers {
            self.attention(layer, sequences, rows, workspace);
            self.feed_forward(layer, rows, workspace);
        }
        Ok(&workspace.hidden[..tokens * hidden])
    }

    fn embed(&self, sequences: &[&[u32]], states: &mut [f32]) -> Result<(), BertError> {
        let hidden = self.config.hidden;
        let mut rows = states.chunks_exact_mut(hidden);
        for sequence in sequences {
            let positions = positions(self.config.layout, sequence);
            for ((&id, position), row) in sequence.iter().zip(positions).zip(&mut rows) {
                let word = table_row(&self.word_embeddings, id as usize, hidden);
                let word = word
                    .ok_or(BertError::TokenOutOfRange { id, vocabulary: self.config.vocabulary })?;
                let position = table_row(&self.position_embeddings, position, hidden);
                let position = position.ok_or(BertError::SequenceLength {
                    tokens: sequence.len(),
                    limit: self.config.max_tokens(),
                })?;
                for ((value, word), position) in row.iter_mut().zip(word).zip(position) {
                    *value = word + position;
                }
            }
        }
        for row in rows {
            row.fill(0.0);
        }
        self.kernels.norm(states, &self.embedding_norm);
        Ok(())
    }

    /// `hidden = norm(hidden + attention(hidden))`.
    fn attention(
        &self,
        layer: &Layer,
        sequences: &[&[u32]],
        rows: usize,
        workspace: &mut Workspace,
    ) {
        let hidden = self.config.hidden;
        let states = &mut workspace.hidden[..rows * hidden];
        let packed = sized(&mut workspace.query_key_value, rows * 3 * hidden);
        let rounded = &mut workspace.rounded;
        project(packed, states, &layer.query_key_value, hidden, rounded);
        self.kernels.add_bias(packed, &layer.query_key_value.bias);
        let context = sized(&mut workspace.context, rows * hidden);
        let mut start = 0;
        for sequence in sequences {
            let end = start + sequence.len();
            self.attend(
                &packed[start * 3 * hidden..end * 3 * hidden],
                &mut context[start * hidden..end * hidden],
                &mut workspace.scores,
            );
            start = end;
        }
        // The padding row of a one-token batch.
        context[start * hidden..].fill(0.0);
        let update = sized(&mut workspace.update, rows * hidden);
        project(update, context, &layer.attention_output, hidden, rounded);
        self.kernels.add_norm(states, update, &layer.attention_output.bias, &layer.attention_norm);
    }

    /// `softmax(Q Kᵀ / √d) V` per head, for the tokens of one sequence.
    fn attend(&self, packed: &[f32], context: &mut [f32], scores: &mut Vec<f32>) {
        let hidden = self.config.hidden;
        let width = hidden / self.config.heads;
        let tokens = context.len() / hidden;
        let scale = 1.0 / (width as f32).sqrt();
        let scores = sized(scores, tokens * tokens);
        for head in 0..self.config.heads {
            let part = |which: usize| Matrix {
                values: &packed[which * hidden + head * width..],
                rows: tokens,
                columns: width,
                row_stride: 3 * hidden,
                column_stride: 1,
            };
            let mut product =
                MatrixMut { values: scores, rows: tokens, columns: tokens, row_stride: tokens };
            multiply(&mut product, part(0), part(1).transposed(), scale);
            if let Some(bias) = &self.distance_bias {
                let of_head: [f32; DISTANCES] =
                    std::array::from_fn(|class| bias[class * self.config.heads + head]);
                for (from, row) in scores.chunks_exact_mut(tokens).enumerate() {
                    for (to, score) in row.iter_mut().enumerate() {
                        *score += of_head[distance(to.cast_signed() - from.cast_signed())];
                    }
                }
            }
            self.kernels.softmax(scores, tokens);
            let mut product = MatrixMut {
                values: &mut context[head * width..],
                rows: tokens,
                columns: width,
                row_stride: hidden,
            };
            multiply(&mut product, Matrix::row_major(scores, tokens), part(2), 1.0);
        }
    }

    /// `hidden = norm(hidden + down(activation(up(hidden))))`.
    fn feed_forward(&self, layer: &Layer, rows: usize, workspace: &mut Workspace) {
        let hidden = self.config.hidden;
        let wide = self.config.intermediate;
        let states = &mut workspace.hidden[..rows * hidden];
        let intermediate = sized(&mut workspace.intermediate, rows * wide);
        let rounded = &mut workspace.rounded;
        project(intermediate, states, &layer.up, hidden, rounded);
        self.kernels.bias_activation(intermediate, &layer.up.bias, self.config.activation);
        let update = sized(&mut workspace.update, rows * hidden);
        project(update, intermediate, &layer.down, wide, rounded);
        self.kernels.add_norm(states, update, &layer.down.bias, &layer.output_norm);
    }
}

/// `output = input * weight`, without the bias; `input` has rows of `inputs` values.
fn project(
    output: &mut [f32],
    input: &[f32],
    linear: &Linear,
    inputs: usize,
    rounded: &mut Rounded,
) {
    let outputs = linear.bias.len();
    let weight = match &linear.weight {
        Weight::F32(weight) => Matrix::row_major(weight, outputs),
        Weight::Bf16(bf16, weight) => return bf16.multiply(output, input, weight, rounded),
    };
    let rows = input.len() / inputs;
    let mut product = MatrixMut { values: output, rows, columns: outputs, row_stride: outputs };
    multiply(&mut product, Matrix::row_major(input, inputs), weight, 1.0);
}

fn table_row(table: &[f32], index: usize, columns: usize) -> Option<&[f32]> {
    table.get(index * columns..(index + 1) * columns)
}

/// The position of every token. RoBERTa counts from padding + 1, and a padding token inside the
/// text stays at the padding position, as in transformers' `create_position_ids_from_input_ids`.
fn positions(layout: Layout, sequence: &[u32]) -> impl Iterator<Item = usize> {
    let padding = match layout {
        Layout::Roberta { padding } | Layout::MpNet { padding } => Some(padding),
        Layout::Bert | Layout::DistilBert => None,
    };
    let mut next = padding.map_or(0, |padding| padding + 1);
    sequence.iter().map(move |&id| {
        if let Some(padding) = padding
            && id as usize == padding
        {
            return padding;
        }
        next += 1;
        next - 1
    })
}

fn layer_norm(
    weights: &mut Weights,
    name: &str,
    config: &PostNormConfig,
) -> Result<LayerNorm, BertError> {
    Ok(LayerNorm {
        scale: weights.take(&format!("{name}.weight"), &[config.hidden])?,
        shift: weights.take(&format!("{name}.bias"), &[config.hidden])?,
        epsilon: config.layer_norm_epsilon,
    })
}

/// The names of a layer's weights below `encoder.layer.N.` or `transformer.layer.N.`.
struct Names {
    stem: &'static str,
    query_key_value: [&'static str; 3],
    attention_output: &'static str,
    attention_norm: &'static str,
    up: &'static str,
    down: &'static str,
    output_norm: &'static str,
}

const BERT_NAMES: Names = Names {
    stem: "encoder.layer",
    query_key_value: ["attention.self.query", "attention.self.key", "attention.self.value"],
    attention_output: "attention.output.dense",
    attention_norm: "attention.output.LayerNorm",
    up: "intermediate.dense",
    down: "output.dense",
    output_norm: "output.LayerNorm",
};

const DISTILBERT_NAMES: Names = Names {
    stem: "transformer.layer",
    query_key_value: ["attention.q_lin", "attention.k_lin", "attention.v_lin"],
    attention_output: "attention.out_lin",
    attention_norm: "sa_layer_norm",
    up: "ffn.lin1",
    down: "ffn.lin2",
    output_norm: "output_layer_norm",
};

const MPNET_NAMES: Names = Names {
    stem: "encoder.layer",
    query_key_value: ["attention.attn.q", "attention.attn.k", "attention.attn.v"],
    attention_output: "attention.attn.o",
    attention_norm: "attention.LayerNorm",
    up: "intermediate.dense",
    down: "output.dense",
    output_norm: "output.LayerNorm",
};

impl Layer {
    fn load(
        weights: &mut Weights,
        index: usize,
        config: &PostNormConfig,
        bf16: Option<Bf16>,
    ) -> Result<Self, BertError> {
        let names = match config.layout {
            Layout::Bert | Layout::Roberta { .. } => &BERT_NAMES,
            Layout::DistilBert => &DISTILBERT_NAMES,
            Layout::MpNet { .. } => &MPNET_NAMES,
        };
        let (hidden, wide) = (config.hidden, config.intermediate);
        let full = |name: &str| format!("{}.{index}.{name}", names.stem);
        let parts = names.query_key_value.map(full);
        let mut linear = |names: &[String], inputs, outputs| -> Result<Linear, BertError> {
            let (weight, bias) = linear(weights, names, inputs, outputs)?;
            let weight = match bf16 {
                None => Weight::F32(weight),
                Some(bf16) => Weight::Bf16(bf16, Bf16Weights::new(&weight, bias.len())),
            };
            Ok(Linear { weight, bias })
        };
        let query_key_value = linear(&parts, hidden, hidden)?;
        let attention_output = linear(&[full(names.attention_output)], hidden, hidden)?;
        let up = linear(&[full(names.up)], hidden, wide)?;
        let down = linear(&[full(names.down)], wide, hidden)?;
        Ok(Self {
            query_key_value,
            attention_output,
            attention_norm: layer_norm(weights, &full(names.attention_norm), config)?,
            up,
            down,
            output_norm: layer_norm(weights, &full(names.output_norm), config)?,
        })
    }
}

/// Reads one or several linear maps of equal shape, stored as `(outputs, inputs)`, side by side: the
/// weight of shape `(inputs, outputs)`, and the bias.
fn linear(
    weights: &mut Weights,
    names: &[String],
    inputs: usize,
    outputs: usize,
) -> Result<(Vec<f32>, Vec<f32>), BertError> {
    let columns = names.len() * outputs;
    let mut weight = vec![0.0; inputs * columns];
    let mut bias = Vec::with_capacity(columns);
    for (part, name) in names.iter().enumerate() {
        let stored = weights.take(&format!("{name}.weight"), &[outputs, inputs])?;
        for (output, row) in stored.chunks_exact(inputs).enumerate() {
            for (input, &value) in row.iter().enumerate() {
                weight[input * columns + part * outputs + output] = value;
            }
        }
        bias.extend(weights.take(&format!("{name}.bias"), &[outputs])?);
    }
    Ok((weight, bias))
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances_are_exact_up_to_seven_then_logarithmic_and_ahead_is_apart_from_behind() {
        let behind =
            [0, 1, 7, 8, 11, 12, 16, 23, 32, 64, 91, 128, 500].map(|far: isize| distance(-far));
        // 8 + floor(8 ln(n / 8) / ln 16): 8 to 11: 8, from 8 * 16^(k/8) on 8 + k.
        assert_eq!(behind, [0, 1, 7, 8, 8, 9, 10, 11, 12, 14, 15, 15, 15]);
        assert_eq!([1, 7, 8, 64, 500].map(distance), [17, 23, 24, 30, 31]);
    }
}
