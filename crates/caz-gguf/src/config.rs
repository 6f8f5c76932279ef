//! The sizes of a model, and how they are read from the metadata of a GGUF file.

use super::error::ModelFault;
use super::gguf::{Header, bad};

/// Largest size that any single dimension may have: far above every model, and small enough that
/// products of two do not overflow.
pub(super) const MOST: usize = 1 << 24;

/// Names of the families that are implemented: `model_type` in config.json, `general.architecture` in
/// GGUF files.
pub const FAMILIES: [&str; 3] = ["llama", "qwen2", "qwen3"];

/// The families that are implemented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Nothing of what follows.
    Llama,
    /// Biases on queries, keys and values.
    Qwen2,
    /// Queries and keys are normalised per head.
    Qwen3,
}

impl Family {
    /// The family of a name, which is the same in GGUF files and in config.json.
    pub(super) fn of(name: &str) -> Result<Self, ModelFault> {
        let known = [Self::Llama, Self::Qwen2, Self::Qwen3];
        let family = known.into_iter().find(|family| family.name() == name);
        family.ok_or_else(|| ModelFault::Architecture { name: name.to_owned() })
    }

    pub(super) fn name(self) -> &'static str {
        FAMILIES[self as usize]
    }
}

/// Which values of a head are rotated together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rotation {
    /// Neighbours.
    Neighbours,
    /// One of the first half with one of the second.
    Halves,
}

/// The sizes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Config {
    pub(super) family: Family,
    pub(super) layers: usize,
    /// Tokens that the model was trained to read.
    pub(super) context: usize,
    pub(super) hidden: usize,
    pub(super) inner: usize,
    pub(super) heads: usize,
    pub(super) key_heads: usize,
    /// Length of a head's queries, keys and values.
    pub(super) head: usize,
    pub(super) epsilon: f32,
    pub(super) rotation: Rotation,
    /// Base of the rotations' frequencies.
    pub(super) base: f64,
}

impl Config {
    /// Bytes that each token takes while it is remembered.
    pub(super) fn bytes_per_token(&self) -> usize {
        let values = self.layers.saturating_mul(2 * self.key_heads * self.head);
        values.saturating_mul(size_of::<u16>())
    }

    /// Reads them, and refuses what would be computed differently.
    pub(super) fn read(header: &Header) -> Result<Self, ModelFault> {
        let name = header.text("general.architecture")?;
        let family = Family::of(name)?;
        let key = |rest: &str| format!("{name}.{rest}");
        let optional = |rest: &str| {
            let key = key(rest);
            let value = header.count(&key)?;
            match value {
                Some(value) if value == 0 || value > MOST => {
                    Err(bad(&key, format!("is {value}, which no model has")))
                }
                _ => Ok(value),
            }
        };
        let size =
            |rest: &str| optional(rest)?.ok_or_else(|| ModelFault::MissingKey { key: key(rest) });
        let (hidden, heads) = (size("embedding_length")?, size("attention.head_count")?);
        let key_heads = optional("attention.head_count_kv")?.unwrap_or(heads);
        if !heads.is_multiple_of(key_heads) {
            return Err(bad(
                &key("attention.head_count_kv"),
                format!("is {key_heads}, which does not divide {heads}"),
            ));
        }
        let head = match optional("attention.key_length")? {
            Some(head) => head,
            None if hidden.is_multiple_of(heads) => hidden / heads,
            None => return Err(bad(&key("embedding_length"), "is no multiple of the heads")),
        };
        let values = optional("attention.value_length")?.unwrap_or(head);
        let rotated = optional("rope.dimension_count")?.unwrap_or(head);
        for (rest, length) in
            [("attention.value_length", values), ("rope.dimension_count", rotated)]
        {
            if length != head {
                let reason = format!("is {length}, and only the {head} of a key are supported");
                return Err(bad(&key(rest), reason));
            }
        }
        if !head.is_multiple_of(2) {
            return Err(bad(&key("attention.key_length"), format!("is {head}, an odd number")));
        }
        let scaling = key("rope.scaling.type");
        match header.get(&scaling) {
            None => {}
            Some(_) if header.text(&scaling)? == "none" => {}
            Some(_) => {
                let reason = format!("is `{}`, which is not supported", header.text(&scaling)?);
                return Err(bad(&scaling, reason));
            }
        }
        for unsupported in ["expert_count", "attention.sliding_window"] {
            let key = key(unsupported);
            if header.count(&key)?.is_some_and(|count| count > 0) {
                return Err(bad(&key, "is not supported"));
            }
        }
        if header.count("split.count")?.is_some_and(|count| count > 1) {
            return Err(bad("split.count", "says that this is a part of a model; join the parts"));
        }
        let epsilon = key("attention.layer_norm_rms_epsilon");
        let value = positive(header, &epsilon)?.ok_or(ModelFault::MissingKey { key: epsilon })?;
        #[expect(clippy::cast_possible_truncation, reason = "the model computes in 32 bits")]
        let epsilon = value as f32;
        let base = key("rope.freq_base");
        Ok(Self {
            family,
            layers: size("block_count")?,
            context: size("context_length")?,
            hidden,
            inner: size("feed_forward_length")?,
            heads,
            key_heads,
            head,
            epsilon,
            // Files of the family llama have their rows in an order of their own.
            rotation: match family {
                Family::Llama => Rotation::Neighbours,
                Family::Qwen2 | Family::Qwen3 => Rotation::Halves,
            },
            base: positive(header, &base)?.unwrap_or(10_000.0),
        })
    }
}

fn positive(header: &Header, key: &str) -> Result<Option<f64>, ModelFault> {
    match header.number(key)? {
        Some(value) if value <= 0.0 => Err(bad(key, "is not above 0")),
        value => Ok(value),
    }
}
