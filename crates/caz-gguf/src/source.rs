//! What a model is read from: the seam between the formats of files and the rest.

use std::path::Path;

use candle_core::quantized::GgmlDType;

use super::config::Config;
use super::error::{ModelError, ModelFault};
use super::folder;
use super::gguf_file::GgufFile;
use super::template::ChatTemplate;
use super::tokenizer::Tokenizer;
use super::weights::Weights;

/// A model that has been read.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) config: Config,
    pub(super) tokenizer: Tokenizer,
    pub(super) template: ChatTemplate,
    pub(super) weights: Weights,
}

impl Parts {
    /// Reads the model of a GGUF file or of a folder.
    pub(super) fn read(path: &Path) -> Result<Self, ModelError> {
        if path.is_dir() { folder::read(path) } else { GgufFile::open(path)?.read() }
    }
}

/// Tensors under the names that they have in GGUF files, whatever the files at hand call them.
pub(super) trait Tensors {
    /// Whether there is such a tensor.
    fn has(&self, name: &str) -> bool;

    /// Reads the type and the bytes of a tensor whose shape has to be `expected`, rows first.
    fn load(&mut self, name: &str, expected: &[usize]) -> Result<(GgmlDType, Vec<u8>), ModelError>;

    /// What is wrong with a tensor, given the name that its file has for it.
    fn wrong(&self, name: &str, fault: &dyn Fn(String) -> ModelFault) -> ModelError;

    /// Fails if a tensor was not read: leaving it out would change answers.
    fn refuse_left_over(&self) -> Result<(), ModelError>;
}
