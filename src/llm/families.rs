//! The families of language models that run on this machine.

/// Their names: `model_type` in config.json, `general.architecture` in GGUF files.
pub(crate) const FAMILIES: [&str; 3] = ["llama", "qwen2", "qwen3"];
