//! A model in one GGUF file.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, Seek};
use std::path::{Path, PathBuf};

use candle_core::quantized::GgmlDType;

use super::READ_BYTES;
use super::config::Config;
use super::error::{ModelError, ModelFault};
use super::gguf::{Header, Stopped, bad};
use super::source::{Parts, Tensors};
use super::template::ChatTemplate;
use super::tokenizer::Tokenizer;
use super::weights::Weights;

/// A file whose header has been read.
#[derive(Debug)]
pub(super) struct GgufFile {
    path: PathBuf,
    pub(super) header: Header,
    pub(super) bytes: u64,
    reader: BufReader<File>,
    used: BTreeSet<String>,
}

impl GgufFile {
    /// Opens a file and reads its header.
    pub(super) fn open(path: &Path) -> Result<Self, ModelError> {
        let io = |source| ModelError::File { path: path.to_owned(), source };
        let file = File::open(path).map_err(io)?;
        let bytes = file.metadata().map_err(io)?.len();
        let mut reader = BufReader::with_capacity(READ_BYTES, file);
        let header = Header::read(&mut reader, bytes).map_err(|stopped| failed(path, stopped))?;
        reader.rewind().map_err(io)?;
        Ok(Self { path: path.to_owned(), header, bytes, reader, used: BTreeSet::new() })
    }

    /// The sizes of the model.
    pub(super) fn config(&self) -> Result<Config, ModelError> {
        Config::read(&self.header).map_err(|fault| self.fault(fault))
    }

    /// Reads all of it.
    pub(super) fn read(mut self) -> Result<Parts, ModelError> {
        let config = self.config()?;
        let tokenizer = Tokenizer::read(&self.header).map_err(|fault| self.fault(fault))?;
        let key = "tokenizer.chat_template";
        let source = self.header.text(key).map_err(|fault| self.fault(fault))?;
        let template = ChatTemplate::new(source, &tokenizer.first_text, &tokenizer.end_text)
            .map_err(|error| self.fault(bad(key, format!("cannot be read: {error}"))))?;
        self.header.forget_metadata();
        let weights = Weights::load(&mut self, &config, tokenizer.vocabulary())?;
        Ok(Parts { config, tokenizer, template, weights })
    }

    fn fault(&self, fault: ModelFault) -> ModelError {
        ModelError::Model { path: self.path.clone(), fault }
    }
}

impl Tensors for GgufFile {
    fn has(&self, name: &str) -> bool {
        self.header.tensors.contains_key(name)
    }

    fn load(&mut self, name: &str, expected: &[usize]) -> Result<(GgmlDType, Vec<u8>), ModelError> {
        self.used.insert(name.to_owned());
        let loaded = self.header.load(&mut self.reader, name, expected);
        loaded.map_err(|stopped| failed(&self.path, stopped))
    }

    fn wrong(&self, name: &str, fault: &dyn Fn(String) -> ModelFault) -> ModelError {
        self.fault(fault(name.to_owned()))
    }

    fn refuse_left_over(&self) -> Result<(), ModelError> {
        match self.header.tensors.keys().find(|name| !self.used.contains(*name)) {
            Some(name) => Err(self.fault(ModelFault::UnexpectedTensor { name: name.clone() })),
            None => Ok(()),
        }
    }
}

fn failed(path: &Path, stopped: Stopped) -> ModelError {
    match stopped {
        Stopped::Io(source) => ModelError::File { path: path.to_owned(), source },
        Stopped::Fault(fault) => ModelError::Model { path: path.to_owned(), fault },
    }
}
