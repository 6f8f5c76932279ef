//! `config.json` and `generation_config.json`: the sizes of a model as transformers writes them.
//!
//! What transformers would compute differently is refused by name. Settings that are not there have
//! the value that transformers gives them.

use std::path::Path;

use serde_json::{Value, json};

use super::super::config::{Config, Family, Rotation};
use super::super::error::ModelError;
use super::json::Json;
use super::{CONFIG, GENERATION};

/// What is read from the two files.
#[derive(Debug)]
pub(super) struct FolderConfig {
    pub(super) config: Config,
    /// Rows of the embedding; the tokenizer may have fewer tokens.
    pub(super) vocabulary: usize,
    /// The embedding is the head, too.
    pub(super) is_tied: bool,
    /// What the frequencies of the rotations are divided by, one for each pair.
    pub(super) frequency_factors: Option<Vec<f32>>,
    /// Tokens that end an answer.
    pub(super) ends: Vec<u32>,
}

/// Settings that have to have one value, if they are there.
fn needed() -> [(&'static str, Value); 8] {
    [
        ("hidden_act", json!("silu")),
        ("attention_bias", json!(false)),
        ("mlp_bias", json!(false)),
        ("use_sliding_window", json!(false)),
        ("is_encoder_decoder", json!(false)),
        ("add_cross_attention", json!(false)),
        ("is_causal", json!(true)),
        ("partial_rotary_factor", json!(1.0)),
    ]
}

impl FolderConfig {
    /// Reads them, and refuses what would be computed differently.
    pub(super) fn read(folder: &Path) -> Result<Self, ModelError> {
        let file = Json::read(&folder.join(CONFIG))?;
        let family = Family::of(file.text("model_type")?).map_err(|fault| file.fault(fault))?;
        refuse_unknown(&file, family)?;
        let (hidden, heads) = (file.size("hidden_size")?, file.size("num_attention_heads")?);
        let key_heads = file.optional_size("num_key_value_heads")?.unwrap_or(heads);
        if !heads.is_multiple_of(key_heads) {
            let reason = format!("is {key_heads}, which does not divide {heads}");
            return Err(file.wrong("num_key_value_heads", reason));
        }
        let head = match (file.optional_size("head_dim")?, family) {
            (Some(head), _) => head,
            // There it does not follow from the others.
            (None, Family::Qwen3) => return Err(file.missing("head_dim")),
            (None, _) if hidden.is_multiple_of(heads) => hidden / heads,
            (None, _) => return Err(file.wrong("hidden_size", "is no multiple of the heads")),
        };
        if !head.is_multiple_of(2) {
            return Err(file.wrong("head_dim", format!("is {head}, an odd number")));
        }
        let epsilon = positive(&file, &file.value, "rms_norm_eps")?;
        let rotations = Rotations::read(&file, head)?;
        let config = Config {
            family,
            layers: file.size("num_hidden_layers")?,
            context: file.size("max_position_embeddings")?,
            hidden,
            inner: file.size("intermediate_size")?,
            heads,
            key_heads,
            head,
            epsilon: single(epsilon.ok_or_else(|| file.missing("rms_norm_eps"))?),
            rotation: Rotation::Halves,
            base: rotations.base,
        };
        let vocabulary = file.size("vocab_size")?;
        let mut ends = ends(&file, vocabulary)?;
        if let Some(generation) = Json::read_if_there(&folder.join(GENERATION))? {
            ends.extend(self::ends(&generation, vocabulary)?);
        }
        Ok(Self {
            config,
            vocabulary,
            is_tied: file.flag("tie_word_embeddings")?.unwrap_or(false),
            frequency_factors: rotations.factors,
            ends,
        })
    }
}

fn refuse_unknown(file: &Json, family: Family) -> Result<(), ModelError> {
    let task = match family {
        Family::Llama => "LlamaForCausalLM",
        Family::Qwen2 => "Qwen2ForCausalLM",
        Family::Qwen3 => "Qwen3ForCausalLM",
    };
    if let Some(tasks) = file.get("architectures")
        && *tasks != json!([task])
    {
        return Err(file.wrong("architectures", format!("is {tasks}; only {task} is supported")));
    }
    if let Some(quantised) = file.get("quantization_config") {
        let method = quantised["quant_method"].as_str().unwrap_or("a way that is not named");
        let reason = format!("says that weights are quantised by {method}, which is not supported");
        return Err(file.wrong("quantization_config", reason));
    }
    for (key, expected) in needed() {
        match file.get(key) {
            Some(value) if !same(value, &expected) => {
                let reason = format!("is {value}, which is not supported; {expected} is");
                return Err(file.wrong(key, reason));
            }
            _ => {}
        }
    }
    // Qwen's models name one that they do not use; others use it.
    if family == Family::Llama && file.get("sliding_window").is_some() {
        return Err(file.wrong("sliding_window", "is not supported"));
    }
    if let Some(types) = file.get("layer_types") {
        let known = |types: &Vec<Value>| types.iter().all(|kind| kind == "full_attention");
        if !types.as_array().is_some_and(known) {
            let reason = format!("is {types}; only full_attention is supported");
            return Err(file.wrong("layer_types", reason));
        }
    }
    Ok(())
}

/// Whether two values are the same, numbers by their size.
fn same(left: &Value, right: &Value) -> bool {
    left == right || left.as_f64().is_some_and(|left| Some(left) == right.as_f64())
}

/// A number above 0, if the key is there.
fn positive(file: &Json, within: &Value, key: &str) -> Result<Option<f64>, ModelError> {
    match within.get(key).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => match value.as_f64() {
            Some(number) if number > 0.0 && number.is_finite() => Ok(Some(number)),
            _ => Err(file.wrong(key, format!("is {value}, which is no number above 0"))),
        },
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the model computes in 32 bits")]
fn single(value: f64) -> f32 {
    value as f32
}

/// Ids of the tokens that end an answer: one, or a list.
fn ends(file: &Json, vocabulary: usize) -> Result<Vec<u32>, ModelError> {
    let key = "eos_token_id";
    let id = |value: &Value| {
        let id = value.as_u64().and_then(|id| u32::try_from(id).ok());
        id.filter(|id| (*id as usize) < vocabulary)
            .ok_or_else(|| file.wrong(key, format!("is {value}, which is no token")))
    };
    match file.get(key) {
        None => Ok(Vec::new()),
        Some(Value::Array(ids)) => ids.iter().map(id).collect(),
        Some(value) => Ok(vec![id(value)?]),
    }
}

/// How positions are told from each other.
struct Rotations {
    base: f64,
    factors: Option<Vec<f32>>,
}

impl Rotations {
    /// Reads `rope_parameters`, or `rope_theta` and `rope_scaling` of older versions.
    fn read(file: &Json, head: usize) -> Result<Self, ModelError> {
        let key = match (file.get("rope_parameters"), file.get("rope_scaling")) {
            (Some(new), Some(old)) if new != old => {
                return Err(file.wrong("rope_scaling", "is another than `rope_parameters`"));
            }
            (Some(_), _) => "rope_parameters",
            (None, _) => "rope_scaling",
        };
        let none = json!({});
        let scaling = file.get(key).unwrap_or(&none);
        let Some(entries) = scaling.as_object() else {
            return Err(file.wrong(key, "is no object"));
        };
        if entries.values().any(Value::is_object) {
            return Err(file.wrong(key, "differs from layer to layer, which is not supported"));
        }
        if let Some(part) = entries.get("partial_rotary_factor")
            && !part.is_null()
            && part.as_f64() != Some(1.0)
        {
            let reason = format!("has the partial_rotary_factor {part}, which is not supported");
            return Err(file.wrong(key, reason));
        }
        let base = match positive(file, scaling, "rope_theta")? {
            Some(base) => base,
            None => positive(file, &file.value, "rope_theta")?.unwrap_or(10_000.0),
        };
        let kind = [entries.get("rope_type"), entries.get("type")].into_iter().flatten().next();
        let factors = match kind.map(Value::as_str) {
            None | Some(Some("default")) => None,
            Some(Some("llama3")) => Some(llama3(file, (key, scaling), base, head)?),
            _ => {
                let kind = kind.unwrap_or(&Value::Null);
                let reason = format!("is of the type {kind}, which is not supported; llama3 is");
                return Err(file.wrong(key, reason));
            }
        };
        Ok(Self { base, factors })
    }
}

/// What the frequencies are divided by: waves that are longer than the text that the model first
/// learned from by `factor`, short ones by nothing, and those between by something between (Llama
/// 3.1; `_compute_llama3_parameters` of transformers).
fn llama3(
    file: &Json,
    (key, scaling): (&str, &Value),
    base: f64,
    head: usize,
) -> Result<Vec<f32>, ModelError> {
    let number = |name: &str| {
        positive(file, scaling, name)?
            .ok_or_else(|| file.wrong(key, format!("has no `{name}`, which llama3 needs")))
    };
    let factor = number("factor")?;
    let (low, high) = (number("low_freq_factor")?, number("high_freq_factor")?);
    let before = number("original_max_position_embeddings")?;
    if low >= high {
        return Err(file.wrong(key, "has a low_freq_factor that is not below high_freq_factor"));
    }
    let half = head / 2;
    let of_pair = |pair: usize| {
        let frequency = base.powf(-(pair as f64) / half as f64);
        let length = 2.0 * std::f64::consts::PI / frequency;
        let share = ((before / length - low) / (high - low)).clamp(0.0, 1.0);
        single(1.0 / ((1.0 - share) / factor + share))
    };
    Ok((0..half).map(of_pair).collect())
}
