//! What a model folder says about itself: architecture, longest text, pooling.
//!
//! Everything that would change a vector and is not understood is refused.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::BertOptions;
use super::candle::CandleConfig;
#[cfg(feature = "hub")]
use super::error::FAMILIES;
use super::error::{BertError, families};
use super::json::JsonFile;
use crate::embed::settings::Pooling;

/// The `model_type` of a model folder.
#[cfg(feature = "hub")]
pub(in crate::embed) fn model_type(folder: &Path) -> Option<String> {
    let file = JsonFile::read(folder, "config.json").ok()?;
    file.text("model_type").ok().map(str::to_owned)
}

/// The `model_type` of a model folder if caz computes it; the rest of the config is not checked.
#[cfg(feature = "hub")]
pub(in crate::embed) fn supported_family(folder: &Path) -> Option<String> {
    // Language models are of this family, too; those that embed say how they pool.
    let pools = |family: &str| family != "qwen3" || folder.join("modules.json").is_file();
    model_type(folder).filter(|family| FAMILIES.contains(&family.as_str()) && pools(family))
}

/// The element-wise function between the two halves of the feed-forward block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    /// `x Φ(x)` with the exact normal distribution function, `gelu` in every config.
    GeluErf,
    /// The tanh approximation, `gelu_new`, `gelu_fast`, `gelu_pytorch_tanh`.
    GeluTanh,
    /// `max(x, 0)`.
    Relu,
}

/// Weight names and numbering that tell post-norm encoders apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// BERT: positions from 0.
    Bert,
    /// RoBERTa, XLM-R, CamemBERT: positions from the padding id + 1.
    Roberta {
        /// The padding token's id, which is also its position.
        padding: usize,
    },
    /// DistilBERT: its own weight names, no token types.
    DistilBert,
    /// `MPNet`: as RoBERTa without token types, and with biases by distance.
    MpNet {
        /// The id that is also its position.
        padding: usize,
    },
}

/// Sizes of an encoder with learned positions and layer norm after each block.
#[derive(Debug, Clone)]
pub(super) struct PostNormConfig {
    pub(super) layout: Layout,
    pub(super) vocabulary: usize,
    pub(super) hidden: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) intermediate: usize,
    pub(super) positions: usize,
    pub(super) token_types: usize,
    pub(super) activation: Activation,
    pub(super) layer_norm_epsilon: f32,
}

impl PostNormConfig {
    /// The longest sequence the position table has room for.
    pub(super) fn max_tokens(&self) -> usize {
        match self.layout {
            Layout::Roberta { padding } | Layout::MpNet { padding } => {
                self.positions.saturating_sub(padding + 1)
            }
            Layout::Bert | Layout::DistilBert => self.positions,
        }
    }
}

/// What config.json describes.
pub(super) enum Architecture {
    PostNorm(PostNormConfig),
    Candle(CandleConfig),
}

impl Architecture {
    pub(super) fn read(folder: &Path) -> Result<Self, BertError> {
        let file = JsonFile::read(folder, "config.json")?;
        match file.text("model_type")? {
            "bert" => bert(&file, Layout::Bert),
            "roberta" | "xlm-roberta" | "camembert" => {
                bert(&file, Layout::Roberta { padding: file.size("pad_token_id")? })
            }
            "mpnet" => mpnet(&file),
            "distilbert" => distilbert(&file),
            "modernbert" => modernbert(&file).map(Self::Candle),
            "nomic_bert" => nomic_bert(&file).map(Self::Candle),
            "qwen3" => qwen3(&file).map(Self::Candle),
            other => {
                let remedy = format!("use a {} model", families("or"));
                Err(file.unsupported("model_type", other, remedy))
            }
        }
    }
}

fn bert(file: &JsonFile, layout: Layout) -> Result<Architecture, BertError> {
    file.must_be("position_embedding_type", &json!("absolute"), "use a model with absolute ones")?;
    file.must_be("is_decoder", &json!(false), "use an encoder")?;
    file.must_be("add_cross_attention", &json!(false), "use an encoder")?;
    let hidden = file.size("hidden_size")?;
    file.must_be("embedding_size", &json!(hidden), "use a model without embedding projection")?;
    checked(
        file,
        PostNormConfig {
            layout,
            vocabulary: file.size("vocab_size")?,
            hidden,
            layers: file.size("num_hidden_layers")?,
            heads: file.size("num_attention_heads")?,
            intermediate: file.size("intermediate_size")?,
            positions: file.size("max_position_embeddings")?,
            token_types: file.size("type_vocab_size")?,
            activation: activation(file, "hidden_act")?,
            layer_norm_epsilon: single(file.number("layer_norm_eps")?),
        },
    )
}

fn mpnet(file: &JsonFile) -> Result<Architecture, BertError> {
    // The reference computes with this number whatever the config says.
    file.must_be("relative_attention_num_buckets", &json!(32), "use a model with 32")?;
    checked(
        file,
        PostNormConfig {
            // The reference has 1 for it whatever the config says.
            layout: Layout::MpNet { padding: 1 },
            vocabulary: file.size("vocab_size")?,
            hidden: file.size("hidden_size")?,
            layers: file.size("num_hidden_layers")?,
            heads: file.size("num_attention_heads")?,
            intermediate: file.size("intermediate_size")?,
            positions: file.size("max_position_embeddings")?,
            token_types: 0,
            activation: activation(file, "hidden_act")?,
            layer_norm_epsilon: single(file.number("layer_norm_eps")?),
        },
    )
}

fn distilbert(file: &JsonFile) -> Result<Architecture, BertError> {
    /// DistilBERT's config has no key for it; transformers hard-codes this value.
    const LAYER_NORM_EPSILON: f32 = 1e-12;
    checked(
        file,
        PostNormConfig {
            layout: Layout::DistilBert,
            vocabulary: file.size("vocab_size")?,
            hidden: file.size("dim")?,
            layers: file.size("n_layers")?,
            heads: file.size("n_heads")?,
            intermediate: file.size("hidden_dim")?,
            positions: file.size("max_position_embeddings")?,
            token_types: 0,
            activation: activation(file, "activation")?,
            layer_norm_epsilon: LAYER_NORM_EPSILON,
        },
    )
}

fn checked(file: &JsonFile, config: PostNormConfig) -> Result<Architecture, BertError> {
    if config.heads == 0 || !config.hidden.is_multiple_of(config.heads) {
        return Err(file.unsupported(
            "the number of attention heads",
            &config.heads,
            "it must divide the hidden size",
        ));
    }
    if config.max_tokens() == 0 {
        return Err(file.missing("max_position_embeddings"));
    }
    Ok(Architecture::PostNorm(config))
}

#[expect(clippy::cast_possible_truncation, reason = "models compute in single precision")]
fn single(value: f64) -> f32 {
    value as f32
}

fn activation(file: &JsonFile, key: &'static str) -> Result<Activation, BertError> {
    match file.text(key)? {
        "gelu" => Ok(Activation::GeluErf),
        "gelu_new" | "gelu_fast" | "gelu_pytorch_tanh" => Ok(Activation::GeluTanh),
        "relu" => Ok(Activation::Relu),
        other => Err(file.unsupported(
            key,
            other,
            "use a model with gelu, gelu_new, gelu_fast, gelu_pytorch_tanh or relu",
        )),
    }
}

/// Most numbers in a table of angles; the published models have half a million.
const MOST_ANGLES: usize = 1 << 26;

/// Reads ModernBERT's config as transformers 4 wrote it and as transformers 5 writes it, where
/// `rope_theta` moved into `rope_parameters`, `layer_norm_eps` is `norm_eps` and
/// `global_attn_every_n_layers` became a list of layer types.
fn modernbert(file: &JsonFile) -> Result<CandleConfig, BertError> {
    for key in ["attention_bias", "mlp_bias", "norm_bias"] {
        file.must_be(key, &json!(false), "use a model without biases")?;
    }
    // candle computes the erf form whatever the config says.
    file.must_be("hidden_activation", &json!("gelu"), "use a model with gelu")?;
    let layers = file.size("num_hidden_layers")?;
    let every = match file.optional_size("global_attn_every_n_layers")? {
        Some(every) => every,
        None => every_nth_layer_is_global(file, layers)?,
    };
    if every == 0 {
        return Err(file.missing("global_attn_every_n_layers"));
    }
    let layer_norm_eps = match file.get("norm_eps") {
        Some(_) => file.number("norm_eps")?,
        None => file.number("layer_norm_eps")?,
    };
    let pad_token_id = u32::try_from(file.size("pad_token_id")?);
    let (hidden_size, heads) = (file.size("hidden_size")?, file.size("num_attention_heads")?);
    let max_position_embeddings = file.size("max_position_embeddings")?;
    check_angles(file, max_position_embeddings, per_head(file, hidden_size, heads)?)?;
    Ok(CandleConfig::ModernBert(candle_transformers::models::modernbert::Config {
        vocab_size: file.size("vocab_size")?,
        hidden_size,
        num_hidden_layers: layers,
        num_attention_heads: heads,
        intermediate_size: file.size("intermediate_size")?,
        max_position_embeddings,
        layer_norm_eps,
        pad_token_id: pad_token_id.map_err(|_| file.missing("pad_token_id"))?,
        global_attn_every_n_layers: every,
        global_rope_theta: rope_theta(file, "global_rope_theta", Some("full_attention"))?,
        local_attention: file.size("local_attention")?,
        local_rope_theta: rope_theta(file, "local_rope_theta", Some("sliding_attention"))?,
        classifier_config: None,
    }))
}

/// Entries of a head.
fn per_head(file: &JsonFile, hidden: usize, heads: usize) -> Result<usize, BertError> {
    if heads == 0 || hidden == 0 || !hidden.is_multiple_of(heads) {
        return Err(file.absurd("num_attention_heads", heads));
    }
    Ok(hidden / heads)
}

/// Two tables of angles are made, whatever the weights say.
fn check_angles(file: &JsonFile, positions: usize, per_head: usize) -> Result<(), BertError> {
    if positions.saturating_mul(per_head) > MOST_ANGLES
        || per_head == 0
        || !per_head.is_multiple_of(2)
    {
        return Err(file.absurd("max_position_embeddings", positions));
    }
    Ok(())
}

/// Reads the config of nomic-embed as the model's own files have it (`n_embd`) and as transformers 5
/// writes it (`hidden_size`).
fn nomic_bert(file: &JsonFile) -> Result<CandleConfig, BertError> {
    let remedy = "use a model as nomic-embed-text-v1.5";
    for key in [
        "qkv_proj_bias",
        "mlp_fc1_bias",
        "mlp_fc2_bias",
        "prenorm",
        "causal",
        "parallel_block",
        "use_rms_norm",
        "rotary_emb_interleaved",
    ] {
        file.must_be(key, &json!(false), remedy)?;
    }
    for key in ["rotary_scaling_factor", "rotary_emb_scale_base"] {
        file.must_be(key, &Value::Null, remedy)?;
    }
    file.must_be("rotary_emb_fraction", &json!(1.0), remedy)?;
    file.must_be("moe_every_n_layers", &json!(0), remedy)?;
    file.must_be("activation_function", &json!("swiglu"), remedy)?;
    file.must_be("hidden_act", &json!("silu"), remedy)?;
    let size = |new, old| file.optional_size(new)?.map_or_else(|| file.size(old), Ok);
    let n_embd = size("hidden_size", "n_embd")?;
    let n_head = size("num_attention_heads", "n_head")?;
    let n_positions = size("max_position_embeddings", "n_positions")?;
    let per_head = per_head(file, n_embd, n_head)?;
    file.must_be("head_dim", &json!(per_head), remedy)?;
    check_angles(file, n_positions, per_head)?;
    Ok(CandleConfig::NomicBert(candle_transformers::models::nomic_bert::Config {
        vocab_size: file.size("vocab_size")?,
        n_embd,
        n_head,
        n_layer: size("num_hidden_layers", "n_layer")?,
        n_inner: size("intermediate_size", "n_inner")?,
        n_positions,
        type_vocab_size: file.size("type_vocab_size")?,
        layer_norm_epsilon: match file.get("layer_norm_eps") {
            Some(_) => file.number("layer_norm_eps")?,
            None => file.number("layer_norm_epsilon")?,
        },
        rotary_emb_base: rope_theta(file, "rotary_emb_base", None)?,
        model_type: None,
        ..Default::default()
    }))
}

fn qwen3(file: &JsonFile) -> Result<CandleConfig, BertError> {
    let remedy = "use a model as Qwen3-Embedding";
    for key in ["attention_bias", "use_sliding_window", "use_bidirectional_attention"] {
        file.must_be(key, &json!(false), remedy)?;
    }
    file.must_be("is_causal", &json!(true), remedy)?;
    file.must_be("rope_scaling", &Value::Null, remedy)?;
    file.must_be("hidden_act", &json!("silu"), remedy)?;
    let (heads, groups) = (file.size("num_attention_heads")?, file.size("num_key_value_heads")?);
    if groups == 0 || !heads.is_multiple_of(groups) {
        return Err(file.absurd("num_key_value_heads", groups));
    }
    let (positions, head_dim) = (file.size("max_position_embeddings")?, file.size("head_dim")?);
    check_angles(file, positions, head_dim)?;
    Ok(CandleConfig::Qwen3(candle_transformers::models::qwen3::Config {
        vocab_size: file.size("vocab_size")?,
        hidden_size: file.size("hidden_size")?,
        intermediate_size: file.size("intermediate_size")?,
        num_hidden_layers: file.size("num_hidden_layers")?,
        num_attention_heads: heads,
        head_dim,
        attention_bias: false,
        num_key_value_heads: groups,
        max_position_embeddings: positions,
        sliding_window: None,
        max_window_layers: 0,
        tie_word_embeddings: true,
        rope_theta: rope_theta(file, "rope_theta", None)?,
        rms_norm_eps: file.number("rms_norm_eps")?,
        use_sliding_window: false,
        hidden_act: candle_nn::Activation::Silu,
    }))
}

/// The `n` for which exactly the layers 0, n, 2n ... attend to the whole text.
fn every_nth_layer_is_global(file: &JsonFile, layers: usize) -> Result<usize, BertError> {
    let types = file.get("layer_types").and_then(Value::as_array);
    let types = types.ok_or_else(|| file.missing("global_attn_every_n_layers"))?;
    let global: Vec<bool> = types.iter().map(|kind| kind == "full_attention").collect();
    let known = types.iter().all(|kind| kind == "full_attention" || kind == "sliding_attention");
    (1..=layers.min(types.len()).max(1))
        .find(|every| {
            known
                && global.len() == layers
                && global.iter().enumerate().all(|(i, &is)| is == i.is_multiple_of(*every))
        })
        .ok_or_else(|| {
            let found = Value::from(types.clone());
            file.unsupported("layer_types", &found, "every n-th layer must be full_attention")
        })
}

/// The base of the angles, of one kind of layers where there are several.
fn rope_theta(file: &JsonFile, old: &'static str, kind: Option<&str>) -> Result<f64, BertError> {
    if file.get(old).is_some() {
        return file.number(old);
    }
    let parameters = file.get("rope_parameters");
    let parameters = parameters.and_then(|all| kind.map_or(Some(all), |kind| all.get(kind)));
    let parameters = parameters.ok_or_else(|| file.missing("rope_parameters"))?;
    match parameters.get("rope_type").and_then(Value::as_str) {
        Some("default") | None => {}
        Some(other) => {
            return Err(file.unsupported("rope_type", other, "use a model with default rope"));
        }
    }
    parameters
        .get("rope_theta")
        .and_then(Value::as_f64)
        .ok_or_else(|| file.missing("rope_parameters"))
}

/// What the sentence-transformers files add to the encoder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SentenceConfig {
    /// The most tokens of a text, special tokens included; `None` if no file says.
    pub(super) max_tokens: Option<usize>,
    /// Texts are lower-cased before tokenizing.
    pub(super) lowercase: bool,
    /// From the pooling module.
    pub(super) pooling: Pooling,
    /// Put before every text.
    pub(super) prompt: String,
    /// Folders of maps after pooling, in order.
    pub(super) dense: Vec<PathBuf>,
    /// How many entries of the vector count.
    pub(super) dims: Option<usize>,
}

impl SentenceConfig {
    /// Reads modules.json and what it points at; `options` replace pooling and prompt of the model.
    pub(super) fn read(folder: &Path, options: &BertOptions) -> Result<Self, BertError> {
        let (prompt, dims) = prompt_and_dims(folder, options.prompt_name.as_deref())?;
        let modules = Modules::read(folder)?;
        let pooling_file =
            modules.pooling.as_ref().map(|path| folder.join(path).join("config.json"));
        let pooling = match (options.pooling, &pooling_file) {
            (Some(pooling), _) => pooling,
            (None, Some(path)) => read_pooling(path)?,
            (None, None) => return Err(BertError::NoPooling { folder: folder.into() }),
        };
        if let Some(path) = pooling_file.filter(|_| !prompt.is_empty())
            && let Some(file) = JsonFile::read_if_there(&path)?
        {
            let remedy = "use a model that pools the tokens of its prompt, too";
            file.must_be("include_prompt", &json!(true), remedy)?;
        }
        let dense = modules.dense.iter().map(|path| folder.join(path)).collect();
        let mut config = Self { max_tokens: None, lowercase: false, pooling, prompt, dense, dims };
        let folder = &modules.transformer;
        if let Some(file) = JsonFile::read_if_there(&folder.join("sentence_bert_config.json"))? {
            config.max_tokens = file.optional_size("max_seq_length")?;
            config.lowercase = file.get("do_lower_case").is_some_and(|value| value == true);
        }
        if config.max_tokens.is_none() {
            config.max_tokens = tokenizer_limit(folder)?;
        }
        Ok(config)
    }
}

/// `model_max_length`, which is 1e30 where a tokenizer has no limit of its own.
fn tokenizer_limit(folder: &Path) -> Result<Option<usize>, BertError> {
    let file = JsonFile::read_if_there(&folder.join("tokenizer_config.json"))?;
    let limit = file.and_then(|file| file.get("model_max_length").and_then(Value::as_u64));
    Ok(limit.and_then(|limit| usize::try_from(limit).ok()))
}

/// The prompt that goes before every text, the one of a name or the model's default, and the number of
/// entries that count, where the model says.
fn prompt_and_dims(
    folder: &Path,
    asked: Option<&str>,
) -> Result<(String, Option<usize>), BertError> {
    let path = folder.join("config_sentence_transformers.json");
    let file = JsonFile::read_if_there(&path)?;
    let of = |key| file.as_ref().and_then(|file| file.get(key));
    let missing = |key| BertError::MissingKey { path: path.clone(), key };
    let prompts = of("prompts").and_then(Value::as_object);
    let named = |name: &str| prompts.and_then(|prompts| prompts.get(name)?.as_str());
    let prompt = match (asked, of("default_prompt_name")) {
        (Some(name), _) => named(name).ok_or_else(|| BertError::NoPrompt {
            folder: folder.into(),
            name: name.to_owned(),
            known: prompts.map_or(Vec::new(), |prompts| prompts.keys().cloned().collect()),
        })?,
        (None, Some(name)) => {
            name.as_str().and_then(named).ok_or_else(|| missing("default_prompt_name"))?
        }
        (None, None) => "",
    };
    let prompt = prompt.to_owned();
    let dims = file.as_ref().map(|file| file.optional_size("truncate_dim")).transpose()?.flatten();
    if dims == Some(0) {
        return Err(missing("truncate_dim"));
    }
    Ok((prompt, dims))
}

/// The folder of the transformer in a folder of sentence-transformers: itself, or `0_Transformer` in
/// old ones.
pub(in crate::embed) fn transformer_folder(folder: &Path) -> Result<PathBuf, BertError> {
    Modules::read(folder).map(|modules| modules.transformer)
}

/// Where modules.json puts the transformer and the pooling; without it the folder itself and nowhere.
struct Modules {
    transformer: PathBuf,
    pooling: Option<String>,
    dense: Vec<String>,
}

impl Modules {
    fn read(folder: &Path) -> Result<Self, BertError> {
        let Some(file) = JsonFile::read_if_there(&folder.join("modules.json"))? else {
            return Ok(Self { transformer: folder.to_owned(), pooling: None, dense: Vec::new() });
        };
        let list = file.value().as_array().ok_or_else(|| file.missing("type"))?;
        let (mut transformer, mut pooling, mut dense) = (folder.to_owned(), None, Vec::new());
        for module in list {
            let kind = module.get("type").and_then(Value::as_str);
            let path = module.get("path").and_then(Value::as_str);
            let (Some(kind), Some(path)) = (kind, path) else { return Err(file.missing("type")) };
            // The Python path of the class changed between versions, its name did not.
            match kind.rsplit('.').next() {
                // A path of its own is a folder beside that of the pooling, and leads to no other.
                Some("Transformer") if path.contains(['/', '\\']) || path.starts_with('.') => {
                    let remedy = "name a folder in the folder of the model";
                    return Err(file.unsupported("path", path, remedy));
                }
                Some("Transformer") => transformer = folder.join(path),
                Some("Pooling") => pooling = Some(path.to_owned()),
                Some("Dense") if pooling.is_some() => dense.push(path.to_owned()),
                // Vectors are normalized in any case.
                Some("Normalize") => {}
                _ => {
                    let remedy = "use a model of Transformer, Pooling, Dense and Normalize";
                    return Err(file.unsupported("type", kind, remedy));
                }
            }
        }
        Ok(Self { transformer, pooling, dense })
    }
}

/// Reads the pooling module's config, in the old form (one flag per mode) and the new (a name).
fn read_pooling(path: &Path) -> Result<Pooling, BertError> {
    const OLD_FLAGS: [(&str, &str); 6] = [
        ("pooling_mode_cls_token", "cls"),
        ("pooling_mode_mean_tokens", "mean"),
        ("pooling_mode_max_tokens", "max"),
        ("pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens"),
        ("pooling_mode_weightedmean_tokens", "weightedmean"),
        ("pooling_mode_lasttoken", "lasttoken"),
    ];
    let file = JsonFile::read_if_there(path)?
        .ok_or_else(|| BertError::MissingFile { folder: path.into(), wanted: "pooling config" })?;
    let modes: Vec<String> = match file.get("pooling_mode") {
        Some(Value::String(mode)) => vec![mode.clone()],
        Some(Value::Array(modes)) => {
            modes.iter().map(|mode| mode.as_str().unwrap_or_default().to_owned()).collect()
        }
        Some(_) => return Err(file.missing("pooling_mode")),
        None => OLD_FLAGS
            .iter()
            .filter(|(flag, _)| file.get(flag).is_some_and(|value| value == true))
            .map(|(_, mode)| (*mode).to_owned())
            .collect(),
    };
    match modes.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["mean"] => Ok(Pooling::Mean),
        ["cls"] => Ok(Pooling::Cls),
        ["max"] => Ok(Pooling::Max),
        ["lasttoken"] => Ok(Pooling::Last),
        [] => Err(file.missing("pooling_mode")),
        several => Err(file.unsupported(
            "pooling_mode",
            &several.join("+"),
            "choose mean, cls, max or last, or use another model",
        )),
    }
}
