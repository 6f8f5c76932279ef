//! Reading the header of GGUF files of strangers.
//!
//! Format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>, versions 2 and 3. Every count
//! and length is held against what is left of the file before anything is allocated, so that memory
//! is bounded by the size of the file, and every tensor is checked to lie inside it. candle-core's
//! own reader keeps 32 bytes for every byte of an array and divides by an alignment of 0.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Seek, SeekFrom};

use candle_core::quantized::GgmlDType;

use super::error::ModelFault;

/// Entries of metadata and tensors at most; the largest models have about 1,500.
const MOST_ENTRIES: u64 = 1 << 16;

/// Bytes of a key or a tensor's name at most; the format allows 65,535.
const MOST_NAME_BYTES: u64 = 1 << 16;

/// Largest alignment, in bytes.
const MOST_ALIGNMENT: u64 = 1 << 20;

/// A value of the metadata. Lists that nothing here needs are not kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Integer(i128),
    Float(f64),
    Bool(bool),
    Text(String),
    Texts(Vec<String>),
    Integers(Vec<i64>),
    /// A list of numbers with fractions or of truth values.
    Skipped,
}

/// Where a tensor lies.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) kind: GgmlDType,
    /// Rows first.
    pub(super) shape: Vec<usize>,
    /// From the start of the file, in bytes.
    start: u64,
    bytes: usize,
}

/// What a file holds.
#[derive(Debug)]
pub(super) struct Header {
    metadata: BTreeMap<String, Value>,
    pub(super) tensors: BTreeMap<String, Entry>,
}

/// Why reading stopped.
#[derive(Debug)]
pub(super) enum Stopped {
    Io(io::Error),
    Fault(ModelFault),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return Self::Fault(ModelFault::CutOff { what: "the header".into() });
        }
        Self::Io(error)
    }
}

impl From<ModelFault> for Stopped {
    fn from(fault: ModelFault) -> Self {
        Self::Fault(fault)
    }
}

impl Header {
    /// Reads the header of a file of `size` bytes from its start.
    pub(super) fn read<R: BufRead + Seek>(reader: &mut R, size: u64) -> Result<Self, Stopped> {
        let mut file = Bounded { reader, left: size };
        if size < 4 || file.take::<4>()? != *b"GGUF" {
            return Err(ModelFault::NotGguf.into());
        }
        let version = file.u32()?;
        if !matches!(version, 2 | 3) {
            return Err(ModelFault::Version { version }.into());
        }
        let tensor_count = at_most("tensors", file.u64()?, MOST_ENTRIES)?;
        let entry_count = at_most("entries of metadata", file.u64()?, MOST_ENTRIES)?;
        let mut metadata = BTreeMap::new();
        for _ in 0..entry_count {
            let key = file.name()?;
            let kind = file.u32()?;
            let value = file.value(&key, kind)?;
            if metadata.insert(key.clone(), value).is_some() {
                return Err(ModelFault::Duplicate { name: key }.into());
            }
        }
        let mut tensors = BTreeMap::new();
        for _ in 0..tensor_count {
            let (name, entry) = file.tensor()?;
            if tensors.insert(name.clone(), entry).is_some() {
                return Err(ModelFault::Duplicate { name }.into());
            }
        }
        let bytes = size - file.left;
        let mut header = Self { metadata, tensors };
        header.place_tensors(bytes, size)?;
        Ok(header)
    }

    /// Turns offsets into places in the file, and checks that they are inside.
    fn place_tensors(&mut self, header_bytes: u64, size: u64) -> Result<(), ModelFault> {
        let alignment = match self.metadata.get("general.alignment") {
            None => 32,
            Some(Value::Integer(value)) => u64::try_from(*value).unwrap_or(0),
            Some(_) => 0,
        };
        if !alignment.is_power_of_two() || alignment > MOST_ALIGNMENT {
            let key = "general.alignment".to_owned();
            return Err(ModelFault::BadValue { key, reason: "is no power of two".into() });
        }
        let data = header_bytes.next_multiple_of(alignment);
        for (name, entry) in &mut self.tensors {
            let end = data
                .checked_add(entry.start)
                .and_then(|start| Some((start, start.checked_add(entry.bytes as u64)?)));
            match end {
                Some((start, end)) if end <= size => entry.start = start,
                _ => return Err(ModelFault::CutOff { what: format!("the tensor `{name}`") }),
            }
        }
        Ok(())
    }

    /// Sets a text, for tests.
    #[cfg(test)]
    pub(super) fn set_text(&mut self, key: &str, text: &str) {
        self.metadata.insert(key.to_owned(), Value::Text(text.to_owned()));
    }

    /// A value, if the key is there.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.metadata.get(key)
    }

    /// A text that has to be there.
    pub(super) fn text(&self, key: &str) -> Result<&str, ModelFault> {
        match self.get(key) {
            Some(Value::Text(text)) => Ok(text),
            Some(_) => Err(bad(key, "is no text")),
            None => Err(missing(key)),
        }
    }

    /// Forgets all but where tensors are: the lists of tokens take megabytes.
    pub(super) fn forget_metadata(&mut self) {
        self.metadata.clear();
    }

    /// A list of texts that has to be there.
    pub(super) fn texts(&self, key: &str) -> Result<&[String], ModelFault> {
        match self.get(key) {
            Some(Value::Texts(texts)) => Ok(texts),
            Some(_) => Err(bad(key, "is no list of texts")),
            None => Err(missing(key)),
        }
    }

    /// A whole number from 0 on, if the key is there.
    pub(super) fn count(&self, key: &str) -> Result<Option<usize>, ModelFault> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Integer(value)) => usize::try_from(*value)
                .map(Some)
                .map_err(|_| bad(key, "is no number that a model can have")),
            Some(_) => Err(bad(key, "is no whole number")),
        }
    }

    /// A number, if the key is there.
    pub(super) fn number(&self, key: &str) -> Result<Option<f64>, ModelFault> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Float(value)) if value.is_finite() => Ok(Some(*value)),
            Some(Value::Integer(value)) => Ok(Some(*value as f64)),
            Some(_) => Err(bad(key, "is no number")),
        }
    }

    /// A truth value, if the key is there.
    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>, ModelFault> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(*value)),
            Some(_) => Err(bad(key, "is neither true nor false")),
        }
    }

    /// Reads the type and the bytes of a tensor whose shape has to be `expected`, rows first.
    pub(super) fn load<R: BufRead + Seek>(
        &self,
        reader: &mut R,
        name: &str,
        expected: &[usize],
    ) -> Result<(GgmlDType, Vec<u8>), Stopped> {
        let entry = self
            .tensors
            .get(name)
            .ok_or_else(|| ModelFault::MissingTensor { name: name.to_owned() })?;
        if entry.shape != expected {
            let (name, expected) = (name.to_owned(), expected.to_vec());
            return Err(
                ModelFault::TensorShape { name, found: entry.shape.clone(), expected }.into()
            );
        }
        reader.seek(SeekFrom::Start(entry.start))?;
        let mut bytes = vec![0_u8; entry.bytes];
        reader.read_exact(&mut bytes)?;
        Ok((entry.kind, bytes))
    }
}

fn missing(key: &str) -> ModelFault {
    ModelFault::MissingKey { key: key.to_owned() }
}

pub(super) fn bad(key: &str, reason: impl Into<String>) -> ModelFault {
    ModelFault::BadValue { key: key.to_owned(), reason: reason.into() }
}

fn at_most(what: &'static str, count: u64, limit: u64) -> Result<u64, ModelFault> {
    if count > limit { Err(ModelFault::TooMany { what, count, limit }) } else { Ok(count) }
}

/// A reader that knows how much is left.
struct Bounded<'a, R> {
    reader: &'a mut R,
    left: u64,
}

impl<R: BufRead + Seek> Bounded<'_, R> {
    /// Fails unless `bytes` are left.
    fn need(&self, bytes: u64) -> Result<(), ModelFault> {
        if bytes > self.left {
            return Err(ModelFault::CutOff { what: "the header".into() });
        }
        Ok(())
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Stopped> {
        self.need(N as u64)?;
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes)?;
        self.left -= N as u64;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, Stopped> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn u64(&mut self) -> Result<u64, Stopped> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    /// A text; what is no UTF-8 in it is replaced, as other readers do.
    fn text(&mut self, longest: u64) -> Result<String, Stopped> {
        let length = self.u64()?;
        self.need(length)?;
        let length = at_most("bytes in one text", length, longest)?;
        let length = usize::try_from(length).map_err(|_| bad("a text", "is too long"))?;
        let mut bytes = vec![0; length];
        self.reader.read_exact(&mut bytes)?;
        self.left -= length as u64;
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn name(&mut self) -> Result<String, Stopped> {
        self.text(MOST_NAME_BYTES)
    }

    fn integer(&mut self, kind: u32) -> Result<Option<i64>, Stopped> {
        Ok(Some(match kind {
            0 => i64::from(u8::from_le_bytes(self.take()?)),
            1 => i64::from(i8::from_le_bytes(self.take()?)),
            2 => i64::from(u16::from_le_bytes(self.take()?)),
            3 => i64::from(i16::from_le_bytes(self.take()?)),
            4 => i64::from(self.u32()?),
            5 => i64::from(i32::from_le_bytes(self.take()?)),
            11 => i64::from_le_bytes(self.take()?),
            _ => return Ok(None),
        }))
    }

    fn value(&mut self, key: &str, kind: u32) -> Result<Value, Stopped> {
        if let Some(integer) = self.integer(kind)? {
            return Ok(Value::Integer(i128::from(integer)));
        }
        Ok(match kind {
            6 => Value::Float(f64::from(f32::from_le_bytes(self.take()?))),
            7 => match self.take::<1>()? {
                [0] => Value::Bool(false),
                [1] => Value::Bool(true),
                _ => return Err(bad(key, "is neither true nor false").into()),
            },
            8 => Value::Text(self.text(u64::MAX)?),
            9 => return self.list(key),
            10 => Value::Integer(i128::from(self.u64()?)),
            12 => Value::Float(f64::from_le_bytes(self.take()?)),
            _ => return Err(bad(key, format!("is of the unknown type {kind}")).into()),
        })
    }

    fn list(&mut self, key: &str) -> Result<Value, Stopped> {
        let kind = self.u32()?;
        let length = self.u64()?;
        // What one element takes at least.
        let bytes: u64 = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            8 | 10..=12 => 8,
            9 => return Err(bad(key, "is a list of lists").into()),
            _ => return Err(bad(key, format!("is a list of the unknown type {kind}")).into()),
        };
        let total = length.saturating_mul(bytes);
        self.need(total)?;
        match kind {
            8 => {
                let texts: Result<Vec<_>, _> = (0..length).map(|_| self.text(u64::MAX)).collect();
                Ok(Value::Texts(texts?))
            }
            0..=5 | 11 => {
                let mut integers = Vec::new();
                for _ in 0..length {
                    integers.extend(self.integer(kind)?);
                }
                Ok(Value::Integers(integers))
            }
            _ => {
                let step = i64::try_from(total).map_err(|_| bad(key, "is too long"))?;
                self.reader.seek_relative(step)?;
                self.left -= total;
                Ok(Value::Skipped)
            }
        }
    }

    fn tensor(&mut self) -> Result<(String, Entry), Stopped> {
        let name = self.name()?;
        let rank = self.u32()?;
        let shape_fault = |reason: &str| bad(&format!("the shape of `{name}`"), reason);
        if !(1..=4).contains(&rank) {
            return Err(shape_fault("does not have 1 to 4 dimensions").into());
        }
        let mut shape = Vec::new();
        for _ in 0..rank {
            let dimension = usize::try_from(self.u64()?)
                .ok()
                .filter(|dimension| *dimension > 0)
                .ok_or_else(|| shape_fault("holds what is no size"))?;
            shape.push(dimension);
        }
        shape.reverse();
        let number = self.u32()?;
        let kind =
            kind_of(number).ok_or_else(|| ModelFault::TensorType { name: name.clone(), number })?;
        let start = self.u64()?;
        let last = shape.last().copied().unwrap_or(0);
        if !last.is_multiple_of(kind.block_size()) {
            return Err(shape_fault("does not hold whole blocks").into());
        }
        let bytes = shape
            .iter()
            .try_fold(1_usize, |product, dimension| product.checked_mul(*dimension))
            .and_then(|elements| (elements / kind.block_size()).checked_mul(kind.type_size()))
            .ok_or_else(|| ModelFault::CutOff { what: format!("the tensor `{name}`") })?;
        Ok((name, Entry { kind, shape, start, bytes }))
    }
}

/// The type behind its number in a file.
fn kind_of(number: u32) -> Option<GgmlDType> {
    Some(match number {
        0 => GgmlDType::F32,
        1 => GgmlDType::F16,
        2 => GgmlDType::Q4_0,
        3 => GgmlDType::Q4_1,
        6 => GgmlDType::Q5_0,
        7 => GgmlDType::Q5_1,
        8 => GgmlDType::Q8_0,
        10 => GgmlDType::Q2K,
        11 => GgmlDType::Q3K,
        12 => GgmlDType::Q4K,
        13 => GgmlDType::Q5K,
        14 => GgmlDType::Q6K,
        30 => GgmlDType::BF16,
        _ => return None,
    })
}
