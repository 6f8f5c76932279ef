//! Weights in safetensors files, one or several by an index.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use candle_core::quantized::GgmlDType;
use safetensors::Dtype;

use super::super::READ_BYTES;
use super::super::error::{ModelError, ModelFault};
use super::super::source::Tensors;
use super::json::Json;
use super::opened;
use crate::tensors::{Place, Unreadable, contents};

const SINGLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

const EMBEDDING: &str = "model.embed_tokens.weight";
const HEAD: &str = "lm_head.weight";

/// What transformers calls the parts of a layer, behind what GGUF files call them.
const PARTS: [(&str, &str); 11] = [
    ("attn_norm", "input_layernorm"),
    ("attn_q", "self_attn.q_proj"),
    ("attn_k", "self_attn.k_proj"),
    ("attn_v", "self_attn.v_proj"),
    ("attn_q_norm", "self_attn.q_norm"),
    ("attn_k_norm", "self_attn.k_norm"),
    ("attn_output", "self_attn.o_proj"),
    ("ffn_norm", "post_attention_layernorm"),
    ("ffn_gate", "mlp.gate_proj"),
    ("ffn_up", "mlp.up_proj"),
    ("ffn_down", "mlp.down_proj"),
];

/// What transformers calls a tensor of GGUF files; the same for what it does not have.
fn their_name(name: &str) -> String {
    match name {
        "token_embd.weight" => return EMBEDDING.to_owned(),
        "output_norm.weight" => return "model.norm.weight".to_owned(),
        "output.weight" => return HEAD.to_owned(),
        _ => {}
    }
    let found = || {
        let (layer, rest) = name.strip_prefix("blk.")?.split_once('.')?;
        let (part, kind) = rest.rsplit_once('.')?;
        let (_, theirs) = PARTS.iter().find(|(ours, _)| *ours == part)?;
        Some(format!("model.layers.{layer}.{theirs}.{kind}"))
    };
    found().unwrap_or_else(|| name.to_owned())
}

/// Which files hold the weights.
#[derive(Debug)]
pub(super) struct WeightFiles {
    pub(super) index: Option<PathBuf>,
    pub(super) shards: Vec<PathBuf>,
    /// The tensors that the index puts into each of `shards`.
    promised: Vec<Vec<String>>,
}

impl WeightFiles {
    /// One file, or else the files that an index names.
    pub(super) fn find(folder: &Path) -> Result<Self, ModelError> {
        let single = folder.join(SINGLE);
        let index = folder.join(INDEX);
        if single.exists() || !index.exists() {
            return Ok(Self { index: None, shards: vec![single], promised: vec![Vec::new()] });
        }
        let json = Json::read(&index)?;
        let key = "weight_map";
        let map = json.get(key).ok_or_else(|| json.missing(key))?;
        let map = map.as_object().ok_or_else(|| json.wrong(key, "is no object"))?;
        let mut shards: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (tensor, file) in map {
            let name = file.as_str().filter(|name| is_plain(name)).ok_or_else(|| {
                json.wrong(key, format!("names {file}, which is no safetensors file beside it"))
            })?;
            shards.entry(name).or_default().push(tensor.clone());
        }
        if shards.is_empty() {
            return Err(json.wrong(key, "names no file"));
        }
        let (shards, promised) =
            shards.into_iter().map(|(name, tensors)| (folder.join(name), tensors)).unzip();
        Ok(Self { index: Some(index), shards, promised })
    }
}

/// Whether this is the name of a file that lies beside the index, wherever it is read.
fn is_plain(name: &str) -> bool {
    let mut components = Path::new(name).components();
    matches!(components.next(), Some(Component::Normal(part)) if part == name)
        && components.next().is_none()
        && name.ends_with(".safetensors")
        && !name.starts_with('.')
        && !name.contains(['/', '\\', ':', '\0'])
}

/// The tensors of a folder.
#[derive(Debug)]
pub(super) struct Safetensors {
    /// What says which tensors there are.
    list: PathBuf,
    shards: Vec<PathBuf>,
    /// By the name that transformers has: which of the shards, and where in it.
    places: BTreeMap<String, (usize, Place)>,
    used: BTreeSet<String>,
    is_tied: bool,
}

impl Safetensors {
    /// Reads where the tensors lie, and checks the shape of the embedding, by which that of
    /// everything else is bounded.
    pub(super) fn open(
        folder: &Path,
        is_tied: bool,
        (vocabulary, hidden): (usize, usize),
    ) -> Result<Self, ModelError> {
        let files = WeightFiles::find(folder)?;
        let mut places: BTreeMap<String, (usize, Place)> = BTreeMap::new();
        for (number, (path, promised)) in files.shards.iter().zip(&files.promised).enumerate() {
            let fault = |fault| ModelError::Model { path: path.clone(), fault };
            let found = contents(&mut opened(path)?.0).map_err(|problem| match problem {
                Unreadable::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    fault(ModelFault::CutOff { what: "the header".into() })
                }
                Unreadable::Io(source) => ModelError::File { path: path.clone(), source },
                Unreadable::Damaged(reason) => fault(ModelFault::NotSafetensors { reason }),
            })?;
            if let Some(name) = promised.iter().find(|name| !found.contains_key(*name)) {
                return Err(fault(ModelFault::NotInShard { name: name.clone() }));
            }
            for (name, place) in found {
                if places.insert(name.clone(), (number, place)).is_some() {
                    return Err(fault(ModelFault::Duplicate { name }));
                }
            }
        }
        let list = files.index.unwrap_or_else(|| files.shards[0].clone());
        let used = BTreeSet::new();
        let mut tensors = Self { list, shards: files.shards, places, used, is_tied };
        tensors.place(EMBEDDING, &[vocabulary, hidden])?;
        if is_tied && tensors.places.contains_key(HEAD) {
            tensors.check_tied(&[vocabulary, hidden])?;
        }
        Ok(tensors)
    }

    fn fault(&self, shard: usize, fault: ModelFault) -> ModelError {
        ModelError::Model { path: self.shards[shard].clone(), fault }
    }

    /// Where a tensor is whose shape has to be `expected`, and how its numbers are written.
    fn place(
        &self,
        name: &str,
        expected: &[usize],
    ) -> Result<(usize, &Place, GgmlDType), ModelError> {
        let (shard, place) = self.places.get(name).ok_or_else(|| ModelError::Model {
            path: self.list.clone(),
            fault: ModelFault::MissingTensor { name: name.to_owned() },
        })?;
        if place.shape != expected {
            let (found, expected) = (place.shape.clone(), expected.to_vec());
            let name = name.to_owned();
            return Err(self.fault(*shard, ModelFault::TensorShape { name, found, expected }));
        }
        let kind = match place.dtype {
            Dtype::F32 => GgmlDType::F32,
            Dtype::F16 => GgmlDType::F16,
            Dtype::BF16 => GgmlDType::BF16,
            other => {
                let (name, kind) = (name.to_owned(), format!("{other:?}"));
                return Err(self.fault(*shard, ModelFault::NumberType { name, kind }));
            }
        };
        Ok((*shard, place, kind))
    }

    /// The file of a tensor, at its start.
    fn at(&self, shard: usize, place: &Place) -> Result<BufReader<File>, ModelError> {
        let path = &self.shards[shard];
        let (mut file, _) = opened(path)?;
        file.seek(SeekFrom::Start(place.start))
            .map_err(|source| ModelError::File { path: path.clone(), source })?;
        Ok(BufReader::with_capacity(READ_BYTES, file))
    }

    /// A head that is there and is not the embedding would be used by some programs and not by
    /// others.
    fn check_tied(&mut self, shape: &[usize]) -> Result<(), ModelError> {
        let (first, embedding, _) = self.place(EMBEDDING, shape)?;
        let (second, head, _) = self.place(HEAD, shape)?;
        let is_same = embedding.dtype == head.dtype && {
            let (left, right) = (self.at(first, embedding)?, self.at(second, head)?);
            let bytes = embedding.bytes as u64;
            same_bytes(left.take(bytes), right.take(bytes))
                .map_err(|source| ModelError::File { path: self.shards[second].clone(), source })?
        };
        if !is_same {
            return Err(self.fault(second, ModelFault::HeadNotTied { name: HEAD.to_owned() }));
        }
        self.used.insert(HEAD.to_owned());
        Ok(())
    }
}

/// Whether two readers give the same bytes.
fn same_bytes(mut left: impl Read, mut right: impl Read) -> io::Result<bool> {
    let (mut a, mut b) = (vec![0; READ_BYTES], vec![0; READ_BYTES]);
    loop {
        let read = left.read(&mut a)?;
        if read == 0 {
            return Ok(true);
        }
        right.read_exact(&mut b[..read])?;
        if a[..read] != b[..read] {
            return Ok(false);
        }
    }
}

impl Tensors for Safetensors {
    /// config.json decides: what it does not ask for is left over.
    fn has(&self, name: &str) -> bool {
        name == "output.weight" && !self.is_tied
    }

    fn load(&mut self, name: &str, expected: &[usize]) -> Result<(GgmlDType, Vec<u8>), ModelError> {
        let name = their_name(name);
        let (shard, place, kind) = self.place(&name, expected)?;
        let mut bytes = vec![0; place.bytes];
        let read = self.at(shard, place)?.read_exact(&mut bytes);
        read.map_err(|source| ModelError::File { path: self.shards[shard].clone(), source })?;
        self.used.insert(name);
        Ok((kind, bytes))
    }

    fn wrong(&self, name: &str, fault: &dyn Fn(String) -> ModelFault) -> ModelError {
        let name = their_name(name);
        let path = self.places.get(&name).map_or(&self.list, |(shard, _)| &self.shards[*shard]);
        ModelError::Model { path: path.clone(), fault: fault(name) }
    }

    /// Frequencies that old versions wrote are no weights: they follow from config.json.
    fn refuse_left_over(&self) -> Result<(), ModelError> {
        let is_left = |name: &str| {
            !self.used.contains(name) && !name.ends_with(".self_attn.rotary_emb.inv_freq")
        };
        match self.places.iter().find(|(name, _)| is_left(name)) {
            Some((name, (shard, _))) => {
                Err(self.fault(*shard, ModelFault::UnexpectedTensor { name: name.clone() }))
            }
            None => Ok(()),
        }
    }
}
