//! Opens an input: a file or standard input, plain or gzip, and finds out its format.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};

use super::problem::DataError;

/// Largest input after decompression; a guard against compressed bombs, far above real files.
pub const MAX_INPUT_BYTES: u64 = 8 << 30;

/// The formats of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a header line.
    Csv,
    /// Tab-separated values with a header line.
    Tsv,
    /// One JSON object per line.
    JsonLines,
}

/// An input read into memory, decompressed, with its identity.
#[derive(Debug, Clone)]
pub struct Source {
    /// The path as the user named it, `-` for standard input.
    pub path: PathBuf,
    /// SHA-256 of the bytes as stored (compressed if they were), lower-case hexadecimal.
    pub sha256: String,
    /// The content, decompressed, without a byte order mark.
    pub bytes: Vec<u8>,
    /// The format, from the file name, else from the first bytes.
    pub format: Format,
}

impl Source {
    /// Reads a file, or standard input for `-`.
    ///
    /// Gzip is recognised by its first two bytes, so the name does not matter.
    ///
    /// # Errors
    ///
    /// [`DataError`] if the input is missing, unreadable, damaged or larger than
    /// [`MAX_INPUT_BYTES`].
    pub fn read(path: &Path) -> Result<Self, DataError> {
        if path == Path::new("-") {
            return Self::from_reader(path, io::stdin().lock());
        }
        let file = File::open(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => DataError::Missing { path: path.to_owned() },
            _ => DataError::Unreadable { path: path.to_owned(), source },
        })?;
        Self::from_reader(path, file)
    }

    /// Reads everything from `reader`; `path` is only for messages and for the format.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub fn from_reader(path: &Path, reader: impl Read) -> Result<Self, DataError> {
        let mut stored = Vec::new();
        let too_large = || DataError::TooLarge { path: path.to_owned(), limit: MAX_INPUT_BYTES };
        reader
            .take(MAX_INPUT_BYTES + 1)
            .read_to_end(&mut stored)
            .map_err(|source| DataError::Unreadable { path: path.to_owned(), source })?;
        if stored.len() as u64 > MAX_INPUT_BYTES {
            return Err(too_large());
        }
        let sha256 = hex(&Sha256::digest(&stored));
        let mut bytes = if stored.starts_with(&[0x1f, 0x8b]) {
            let mut decoded = Vec::new();
            MultiGzDecoder::new(stored.as_slice())
                .take(MAX_INPUT_BYTES + 1)
                .read_to_end(&mut decoded)
                .map_err(|source| DataError::BrokenGzip {
                    path: path.to_owned(),
                    decoded: decoded.len() as u64,
                    source,
                })?;
            decoded
        } else {
            stored
        };
        if bytes.len() as u64 > MAX_INPUT_BYTES {
            return Err(too_large());
        }
        if bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        let format = format_of_name(path).unwrap_or_else(|| format_of_content(&bytes));
        Ok(Self { path: path.to_owned(), sha256, bytes, format })
    }

    /// The path as the user named it.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// File name without folders and endings, e.g. `z` for `runs/z.jsonl.gz`; `stdin` for `-`.
    pub fn stem(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.split('.').find(|part| !part.is_empty()).unwrap_or("z");
        if stem == "-" { "stdin".into() } else { stem.into() }
    }
}

fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::with_capacity(2 * digest.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn format_of_name(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    match name.rsplit_once('.')?.1 {
        "csv" => Some(Format::Csv),
        "tsv" | "tab" => Some(Format::Tsv),
        "jsonl" | "ndjson" | "json" => Some(Format::JsonLines),
        _ => None,
    }
}

/// A first line that starts an object is JSON; otherwise a tab in the header means TSV.
fn format_of_content(bytes: &[u8]) -> Format {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    let header = bytes[start..].split(|&byte| byte == b'\n').next().unwrap_or_default();
    if matches!(header.first(), Some(b'{' | b'[')) {
        Format::JsonLines
    } else if header.contains(&b'\t') {
        Format::Tsv
    } else {
        Format::Csv
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn read(name: &str, bytes: &[u8]) -> Result<Source, DataError> {
        Source::from_reader(Path::new(name), bytes)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn format_follows_the_name_then_the_content() {
        let format = |name: &str, bytes: &[u8]| read(name, bytes).unwrap().format;
        assert_eq!(format("a.CSV", b"{"), Format::Csv);
        assert_eq!(format("a.tsv.gz", b"x"), Format::Tsv);
        assert_eq!(format("-", b" \n{\"a\":1}"), Format::JsonLines);
        assert_eq!(format("-", b"a\tb\n"), Format::Tsv);
        assert_eq!(format("noext", b"a,b\n"), Format::Csv);
    }

    #[test]
    fn gzip_is_decoded_and_hashed_as_stored() {
        let stored = gzip(b"a,b\n1,2\n");
        let source = read("t.csv", &stored).unwrap();
        assert_eq!(source.bytes, b"a,b\n1,2\n");
        assert_eq!(source.sha256, hex(&Sha256::digest(&stored)));
    }

    #[test]
    fn known_sha256_of_abc() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(
            read("t.csv", b"abc").unwrap().sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn truncated_gzip_says_so() {
        let stored = gzip(&b"a,b\n1,2\n".repeat(1000));
        let error = read("t.csv.gz", &stored[..stored.len() - 10]).unwrap_err();
        assert!(error.to_string().contains("not a complete gzip file"), "{error}");
    }

    #[test]
    fn byte_order_mark_is_dropped() {
        assert_eq!(read("t.csv", b"\xef\xbb\xbfa,b\n").unwrap().bytes, b"a,b\n");
    }

    #[test]
    fn missing_file_is_named() {
        let error = Source::read(Path::new("no/such.csv")).unwrap_err();
        assert!(matches!(error, DataError::Missing { .. }), "{error}");
    }

    #[test]
    fn stem_drops_folders_and_endings() {
        let stem = |name: &str| read(name, b"x").unwrap().stem();
        assert_eq!(stem("runs/gpt4.jsonl.gz"), "gpt4");
        assert_eq!(stem("-"), "stdin");
    }
}
