//! The table of contents of a safetensors file of a stranger.
//!
//! Format: <https://huggingface.co/docs/safetensors>. Lengths are held against that of the file before
//! anything is allocated, and every tensor lies inside it and has the bytes that its shape takes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};

use safetensors::Dtype;
use safetensors::tensor::Metadata;

/// Longest table of contents; that of a model with a thousand tensors has 100 kB.
const MOST_HEADER_BYTES: u64 = 100_000_000;

/// Where a tensor lies.
#[derive(Debug, Clone)]
pub struct Place {
    pub dtype: Dtype,
    /// Rows first.
    pub shape: Vec<usize>,
    /// From the start of the file, in bytes.
    pub start: u64,
    pub bytes: usize,
}

/// Why a table of contents cannot be read.
#[derive(Debug)]
pub enum Unreadable {
    /// The system says so.
    Io(io::Error),
    /// It is none, in words.
    Damaged(String),
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The tensors of a file by their names, from its start.
pub fn contents(file: &mut File) -> Result<BTreeMap<String, Place>, Unreadable> {
    let damaged = Unreadable::Damaged;
    let total = file.metadata()?.len();
    let mut length = [0; 8];
    file.read_exact(&mut length)?;
    let header_end = u64::from_le_bytes(length)
        .checked_add(8)
        .filter(|&end| end <= total)
        .ok_or_else(|| damaged("its header is longer than the file".to_owned()))?;
    if header_end > MOST_HEADER_BYTES {
        return Err(damaged(format!("its header has {header_end} bytes")));
    }
    let mut header = vec![0; usize::try_from(header_end - 8).unwrap_or(usize::MAX)];
    file.read_exact(&mut header)?;
    let metadata: Metadata =
        serde_json::from_slice(&header).map_err(|error| damaged(error.to_string()))?;
    let expected = header_end.saturating_add(metadata.data_len() as u64);
    if expected != total {
        return Err(damaged(format!("it has {total} bytes instead of {expected}")));
    }
    let mut places = BTreeMap::new();
    for name in metadata.offset_keys() {
        let Some(info) = metadata.info(&name) else { continue };
        let (start, end) = info.data_offsets;
        let (dtype, shape) = (info.dtype, info.shape.clone());
        let (start, bytes) = (header_end + start as u64, end - start);
        places.insert(name, Place { dtype, shape, start, bytes });
    }
    Ok(places)
}
