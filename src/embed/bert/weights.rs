//! The tensors of a model folder, read one at a time so that the file is never in memory twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use candle_core::pickle::PthTensors;
use candle_core::{DType, Device, Tensor};
use caz_gguf::tensors::{self, Unreadable, contents};
use safetensors::Dtype;

use super::error::BertError;
use super::json::JsonFile;

/// Weight files in the order they are looked for; an index names the shards of a split model.
const SAFETENSORS: &str = "model.safetensors";
const SAFETENSORS_INDEX: &str = "model.safetensors.index.json";
const PYTORCH: &str = "pytorch_model.bin";
const PYTORCH_INDEX: &str = "pytorch_model.bin.index.json";

const WANTED: &str = "model.safetensors or pytorch_model.bin";

/// Every model has exactly one of these; what stands before it is the model's prefix
/// (`bert.`, `roberta.`, `model.` ... or nothing).
const ANCHORS: [&str; 3] = [
    "embeddings.word_embeddings.weight",
    "embeddings.tok_embeddings.weight",
    "embed_tokens.weight",
];

/// A tensor in `f32`, row-major.
pub(super) struct Weight {
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f32>,
}

enum Place {
    Safetensors { file: usize, at: tensors::Place },
    Pytorch { file: usize, stored_name: String, shape: Vec<usize> },
}

enum WeightFile {
    Safetensors { path: PathBuf, file: File },
    Pytorch { path: PathBuf, tensors: PthTensors },
}

/// The weights of one encoder under their names without the model's prefix; heads are left out.
pub(super) struct Weights {
    folder: PathBuf,
    files: Vec<WeightFile>,
    places: BTreeMap<String, Place>,
    used: BTreeSet<String>,
}

impl Weights {
    /// The weights of an encoder: finds the files of `folder` and reads their tables of contents.
    pub(super) fn open(folder: &Path) -> Result<Self, BertError> {
        Self::named(folder, Self::prefix)
    }

    /// The weights of a map after pooling, under their own names.
    pub(super) fn open_map(folder: &Path) -> Result<Self, BertError> {
        Self::named(folder, |_, _| Ok(String::new()))
    }

    fn named(
        folder: &Path,
        prefix: impl FnOnce(&Self, &BTreeMap<String, Place>) -> Result<String, BertError>,
    ) -> Result<Self, BertError> {
        let mut weights = Self {
            folder: folder.into(),
            files: vec![],
            places: BTreeMap::new(),
            used: BTreeSet::new(),
        };
        let mut stored = BTreeMap::new();
        for path in weight_paths(folder)? {
            if path.extension().is_some_and(|extension| extension == "safetensors") {
                weights.open_safetensors(path, &mut stored)?;
            } else {
                weights.open_pytorch(path, &mut stored)?;
            }
        }
        let prefix = prefix(&weights, &stored)?;
        for (name, place) in stored {
            if let Some(name) = name.strip_prefix(&prefix) {
                // Checkpoints converted from TensorFlow call the layer norm's weights so.
                let name = name
                    .replace("LayerNorm.gamma", "LayerNorm.weight")
                    .replace("LayerNorm.beta", "LayerNorm.bias");
                weights.places.insert(name, place);
            }
        }
        Ok(weights)
    }

    fn open_safetensors(
        &mut self,
        path: PathBuf,
        stored: &mut BTreeMap<String, Place>,
    ) -> Result<(), BertError> {
        let unreadable = |source| BertError::Read { path: path.clone(), source };
        let mut file = File::open(&path).map_err(unreadable)?;
        let places = contents(&mut file).map_err(|problem| match problem {
            Unreadable::Io(source) => unreadable(source),
            Unreadable::Damaged(reason) => BertError::DamagedWeights { path: path.clone(), reason },
        })?;
        let number = self.files.len();
        stored.extend(
            places.into_iter().map(|(name, at)| (name, Place::Safetensors { file: number, at })),
        );
        self.files.push(WeightFile::Safetensors { path, file });
        Ok(())
    }

    fn open_pytorch(
        &mut self,
        path: PathBuf,
        stored: &mut BTreeMap<String, Place>,
    ) -> Result<(), BertError> {
        let tensors = PthTensors::new(&path, None)
            .map_err(|source| BertError::Weights { path: path.clone(), source })?;
        let total = std::fs::metadata(&path)
            .map_err(|source| BertError::Read { path: path.clone(), source })?
            .len();
        let infos: BTreeMap<&String, _> = tensors.tensor_infos().iter().collect();
        for (name, info) in infos {
            let shape = info.layout.dims().to_vec();
            // Tensors are stored as they are: none is larger than its file.
            let bytes = shape
                .iter()
                .try_fold(info.dtype.size_in_bytes() as u64, |all, &n| all.checked_mul(n as u64));
            if bytes.is_none_or(|bytes| bytes > total) {
                let reason = format!("`{name}` of shape {shape:?} is larger than the file");
                return Err(BertError::DamagedWeights { path, reason });
            }
            let stored_name = name.clone();
            let place = Place::Pytorch { file: self.files.len(), stored_name, shape };
            stored.insert(name.clone(), place);
        }
        self.files.push(WeightFile::Pytorch { path, tensors });
        Ok(())
    }

    fn prefix(&self, stored: &BTreeMap<String, Place>) -> Result<String, BertError> {
        let prefixes: Vec<&str> = stored
            .keys()
            .filter_map(|name| ANCHORS.iter().find_map(|anchor| name.strip_suffix(anchor)))
            .collect();
        match prefixes.as_slice() {
            [prefix] => Ok((*prefix).to_owned()),
            [] => Err(self.missing(ANCHORS[0])),
            // Two encoders in one file, e.g. an encoder-decoder.
            [_, second, ..] => Err(BertError::UnknownWeight {
                folder: self.folder.clone(),
                name: format!("{second}{}", ANCHORS[0]),
            }),
        }
    }

    fn missing(&self, name: &str) -> BertError {
        BertError::MissingWeight { folder: self.folder.clone(), name: name.to_owned() }
    }

    /// The error for a weight that is there and should not be, or the reverse.
    pub(super) fn unexpected(&self, name: &str) -> BertError {
        if self.has(name) {
            BertError::UnknownWeight { folder: self.folder.clone(), name: name.to_owned() }
        } else {
            self.missing(name)
        }
    }

    /// Whether there is a weight of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// The names of all weights, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        self.places.keys().cloned().collect()
    }

    /// Reads one tensor as `f32` and checks its shape.
    pub(super) fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, BertError> {
        // Before it is read: a table of contents may claim more than there is memory for.
        let found = match self.places.get(name) {
            Some(Place::Safetensors { at, .. }) => Some(at.shape.as_slice()),
            Some(Place::Pytorch { shape, .. }) => Some(shape.as_slice()),
            None => None,
        };
        if let Some(found) = found.filter(|found| *found != shape) {
            return Err(BertError::WeightShape {
                name: name.to_owned(),
                found: found.to_vec(),
                expected: shape.to_vec(),
            });
        }
        Ok(self.read(name)?.values)
    }

    /// Reads one tensor as `f32`, whatever its shape.
    pub(super) fn read(&mut self, name: &str) -> Result<Weight, BertError> {
        let place = self.places.get(name).ok_or_else(|| self.missing(name))?;
        self.used.insert(name.to_owned());
        match place {
            Place::Safetensors { file, at } => {
                let WeightFile::Safetensors { path, file } = &self.files[*file] else {
                    unreachable!("a place points into the file it was read from")
                };
                Ok(Weight { shape: at.shape.clone(), values: read_safetensor(file, path, at)? })
            }
            Place::Pytorch { file, stored_name, .. } => {
                let WeightFile::Pytorch { path, tensors } = &self.files[*file] else {
                    unreachable!("a place points into the file it was read from")
                };
                let undecodable = |source| BertError::Weights { path: path.clone(), source };
                let tensor = tensors.get(stored_name).map_err(undecodable)?;
                let tensor = tensor.ok_or_else(|| self.missing(name))?;
                Ok(Weight {
                    shape: tensor.dims().to_vec(),
                    values: tensor_values(&tensor).map_err(undecodable)?,
                })
            }
        }
    }

    /// Refuses weights below `stems` that nothing has read: they would change the result.
    pub(super) fn refuse_unused(&self, stems: &[&str]) -> Result<(), BertError> {
        let unused = self.places.keys().find(|name| {
            !self.used.contains(*name)
                && !name.ends_with("position_ids")
                && stems.iter().any(|stem| name.starts_with(stem))
        });
        match unused {
            Some(name) => {
                Err(BertError::UnknownWeight { folder: self.folder.clone(), name: name.clone() })
            }
            None => Ok(()),
        }
    }
}

fn read_safetensor(
    mut file: &File,
    path: &Path,
    at: &tensors::Place,
) -> Result<Vec<f32>, BertError> {
    let unreadable = |source| BertError::Read { path: path.into(), source };
    let mut bytes = vec![0; at.bytes];
    file.seek(SeekFrom::Start(at.start)).map_err(unreadable)?;
    file.read_exact(&mut bytes).map_err(unreadable)?;
    let dtype = match at.dtype {
        Dtype::F32 => {
            let (values, _) = bytes.as_chunks::<4>();
            return Ok(values.iter().map(|&value| f32::from_le_bytes(value)).collect());
        }
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        Dtype::F64 => DType::F64,
        // Position ids and other buffers; never asked for as weights.
        other => {
            let reason = format!("a weight is stored as {other:?}, not as a floating-point number");
            return Err(BertError::DamagedWeights { path: path.into(), reason });
        }
    };
    Tensor::from_raw_buffer(&bytes, dtype, &at.shape, &Device::Cpu)
        .and_then(|tensor| tensor_values(&tensor))
        .map_err(|source| BertError::Weights { path: path.into(), source })
}

fn tensor_values(tensor: &Tensor) -> candle_core::Result<Vec<f32>> {
    tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1()
}

/// The weight files of a folder: one file, or the shards named by its index.
pub(in crate::embed) fn weight_paths(folder: &Path) -> Result<Vec<PathBuf>, BertError> {
    for (single, index) in [(SAFETENSORS, SAFETENSORS_INDEX), (PYTORCH, PYTORCH_INDEX)] {
        let path = folder.join(single);
        if path.is_file() {
            return Ok(vec![path]);
        }
        if let Some(index) = JsonFile::read_if_there(&folder.join(index))? {
            return shard_names(&index)
                .map(|names| names.iter().map(|name| folder.join(name)).collect());
        }
    }
    Err(BertError::MissingFile { folder: folder.into(), wanted: WANTED })
}

/// The file names in a weight index, each once, sorted.
fn shard_names(index: &JsonFile) -> Result<BTreeSet<String>, BertError> {
    let map = index.get("weight_map").and_then(serde_json::Value::as_object);
    let map = map.ok_or_else(|| index.missing("weight_map"))?;
    map.values()
        .map(|name| match name.as_str() {
            // A name with a folder in it could point anywhere on the disk.
            Some(name) if !name.contains(['/', '\\']) && !name.starts_with('.') => {
                Ok(name.to_owned())
            }
            _ => Err(index.unsupported("weight_map", name, "shards must lie beside their index")),
        })
        .collect()
}
