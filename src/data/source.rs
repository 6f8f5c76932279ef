//! Opens an input: a file or standard input, plain or gzip, and finds out its format.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};

use super::hexadecimal::hexadecimal;
use super::problem::DataError;
use super::reading::Listener;
use super::{npz, parquet};

/// Largest input after decompression; a guard against compressed bombs, far above real files.
pub(crate) const MAX_INPUT_BYTES: u64 = 8 << 30;

/// What a compressed input may unpack to, whatever its size: less is no danger.
const HARMLESS_BYTES: u64 = 64 << 20;

/// Bytes that are read and then hashed at a time.
const BLOCK_BYTES: usize = if cfg!(test) { 1 << 10 } else { 1 << 22 };

/// How many times larger than the file its content may be beyond that. Tables of labels reach 30;
/// one byte repeated reaches 1030.
const MAX_RATIO: u64 = 200;

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
    pub(crate) sha256: String,
    /// The content, decompressed, without a byte order mark.
    pub bytes: Vec<u8>,
    /// The format, from the file name, else from the first bytes.
    pub format: Format,
    /// Where the rows stood, if they come from a file of another system.
    pub(crate) imported: Option<Places>,
    /// Whether the user can say which column is which, for what messages advise.
    pub(crate) has_nameable_columns: bool,
    /// Who hears how far the reading of the rows is.
    pub(crate) listener: Listener,
}

/// Where the rows of a source stood in the file that they were imported from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// The format of that file.
    pub format: &'static str,
    /// Whether places are lines; else they count the elements of a list.
    pub by_line: bool,
    /// One place per row, from 1.
    pub rows: Vec<u64>,
}

impl Source {
    /// Reads a file, or standard input for `-`.
    ///
    /// Gzip is recognised by its first two bytes, so the name does not matter.
    ///
    /// # Errors
    ///
    /// [`DataError`] if the input is missing, unreadable, damaged or larger than
    /// `MAX_INPUT_BYTES`.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        if path == Path::new("-") {
            return Self::limited(
                path,
                io::stdin().lock(),
                (limit_of(standard_input().as_ref()), 0),
            );
        }
        let file = File::open(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => DataError::Missing { path: path.to_owned() },
            _ => DataError::Unreadable { path: path.to_owned(), source },
        })?;
        let limit = limit_of(Some(&file));
        let bytes = file.metadata().map_or(0, |about| about.len().min(limit));
        Self::limited(path, file, (limit, bytes))
    }

    /// Reads everything from `reader`; `path` is only for messages and for the format.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub fn from_reader(path: &Path, reader: impl Read) -> Result<Self, DataError> {
        Self::limited(path, reader, (MAX_INPUT_BYTES, 0))
    }

    /// `bytes` is how many are expected.
    fn limited(
        path: &Path,
        reader: impl Read,
        (limit, bytes): (u64, u64),
    ) -> Result<Self, DataError> {
        let too_large = |limit| DataError::TooLarge { path: path.to_owned(), limit };
        let (stored, hash) = hashed(reader.take(limit + 1), usize::try_from(bytes).unwrap_or(0))
            .map_err(|source| DataError::Unreadable { path: path.to_owned(), source })?;
        if stored.len() as u64 > limit {
            return Err(too_large(limit));
        }
        let sha256 = hexadecimal(&hash.finalize());
        let mut bytes =
            if stored.starts_with(&[0x1f, 0x8b]) { unpacked(path, &stored)? } else { stored };
        if bytes.len() as u64 > MAX_INPUT_BYTES {
            return Err(too_large(MAX_INPUT_BYTES));
        }
        if bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        let format = format_of_name(path).unwrap_or_else(|| format_of_content(&bytes));
        let source = Self {
            path: path.to_owned(),
            sha256,
            bytes,
            format,
            imported: None,
            has_nameable_columns: false,
            listener: Listener::default(),
        };
        npz::unfolded(parquet::unfolded(source)?)
    }

    /// The same, of which `listener` hears how far the reading of the rows is.
    #[must_use]
    pub(crate) fn heard_by(self, listener: Listener) -> Self {
        Self { listener, ..self }
    }

    /// The path as the user named it.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The path, and what numbers in messages count where they do not count lines.
    pub(super) fn name_in_messages(&self) -> String {
        match &self.imported {
            Some(places) if !places.by_line => {
                format!("{} (rows of {})", self.name(), places.format)
            }
            _ => self.name(),
        }
    }

    /// Where a line of the content stood in the file as it was stored.
    pub(super) fn place(&self, line: u64) -> u64 {
        let place = self.imported.as_ref().and_then(|places| {
            places.rows.get(usize::try_from(line.checked_sub(1)?).ok()?).copied()
        });
        place.unwrap_or(line)
    }

    /// File name without folders and endings, e.g. `z` for `runs/z.jsonl.gz`; `stdin` for `-`.
    pub(crate) fn stem(&self) -> String {
        stem_of(&self.path)
    }
}

/// What is read of a file; of a device, which may have no end (`/dev/zero`), less.
fn limit_of(file: Option<&File>) -> u64 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = file.and_then(|file| file.metadata().ok()).map(|about| about.file_type());
        if kind.is_some_and(|kind| kind.is_char_device()) {
            return HARMLESS_BYTES;
        }
    }
    #[cfg(not(unix))]
    let _ = file;
    MAX_INPUT_BYTES
}

#[cfg(unix)]
fn standard_input() -> Option<File> {
    use std::os::fd::AsFd;
    io::stdin().as_fd().try_clone_to_owned().ok().map(File::from)
}

#[cfg(not(unix))]
fn standard_input() -> Option<File> {
    None
}

/// The name of a file without folder and endings: what an LLM is called whose labels it holds.
pub fn stem_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').find(|part| !part.is_empty()).unwrap_or("z");
    if stem == "-" { "stdin".into() } else { stem.into() }
}

/// Reads everything, of which so many bytes are expected, and hashes it beside that: it takes as long.
fn hashed(mut reader: impl Read, expected: usize) -> io::Result<(Vec<u8>, Sha256)> {
    let mut hash = Sha256::new();
    let mut bytes = vec![0; if expected < 2 * BLOCK_BYTES { 0 } else { expected }];
    let mut rest = &mut bytes[..];
    let (block_read, blocks) = mpsc::channel::<&[u8]>();
    rayon::in_place_scope(|scope| {
        if !rest.is_empty() {
            scope.spawn(|_| blocks.into_iter().for_each(|block| hash.update(block)));
        }
        while !rest.is_empty() {
            let room = rest.len().min(BLOCK_BYTES);
            let count = match reader.read(&mut rest[..room]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                count => count?,
            };
            if count == 0 {
                break;
            }
            let (block, others) = std::mem::take(&mut rest).split_at_mut(count);
            // Whoever hashes takes all of them.
            let _ = block_read.send(block);
            rest = others;
        }
        drop(block_read);
        io::Result::Ok(())
    })?;
    let unread = rest.len();
    let read = bytes.len() - unread;
    bytes.truncate(read);
    reader.read_to_end(&mut bytes)?;
    hash.update(&bytes[read..]);
    Ok((bytes, hash))
}

/// The content of a gzip file, within limits.
fn unpacked(path: &Path, stored: &[u8]) -> Result<Vec<u8>, DataError> {
    let stored_bytes = stored.len() as u64;
    let limit = MAX_INPUT_BYTES.min(HARMLESS_BYTES.max(stored_bytes.saturating_mul(MAX_RATIO)));
    let mut decoded = Vec::new();
    let mut content = MultiGzDecoder::new(stored).take(limit + 1);
    let mut read = content.by_ref().take(HARMLESS_BYTES).read_to_end(&mut decoded);
    if read.is_ok() && decoded.len() as u64 == HARMLESS_BYTES {
        // Counted before it is kept: what is refused takes no more memory than what is harmless.
        let rest = io::copy(&mut content, &mut io::sink());
        if let Ok(rest) = rest
            && rest + HARMLESS_BYTES > limit
        {
            return Err(DataError::UnpacksTooLarge { path: path.to_owned(), stored_bytes, limit });
        }
        decoded.reserve_exact(usize::try_from(rest.unwrap_or(0)).unwrap_or(0));
        decoded.clear();
        read = MultiGzDecoder::new(stored).take(limit + 1).read_to_end(&mut decoded);
    }
    if decoded.len() as u64 > limit {
        return Err(DataError::UnpacksTooLarge { path: path.to_owned(), stored_bytes, limit });
    }
    match read {
        Ok(_) => Ok(decoded),
        Err(source) => Err(DataError::BrokenGzip {
            path: path.to_owned(),
            decoded: decoded.len() as u64,
            source,
        }),
    }
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

/// The rows as a file of JSON lines would hold them.
pub(super) fn json_lines<T: serde::Serialize>(
    name: &str,
    rows: impl IntoIterator<Item = T>,
) -> Result<Source, DataError> {
    let mut bytes = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut bytes, &row).expect("rows are plain data");
        bytes.push(b'\n');
    }
    let mut source = Source::from_reader(Path::new(&format!("{name}.jsonl")), bytes.as_slice())?;
    source.path = name.into();
    Ok(source)
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
        assert_eq!(source.sha256, hexadecimal(&Sha256::digest(&stored)));
    }

    proptest::proptest! {
        #[test]
        fn what_is_read_and_hashed_in_blocks_is_what_there_is(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..8 * BLOCK_BYTES),
            expected in 0..8 * BLOCK_BYTES,
            most in 1..2 * BLOCK_BYTES,
        ) {
            // As few at a time as a pipe may give; and the file may have changed since its size was asked.
            let reader = InPieces(&bytes, most);
            let (read, hash) = hashed(reader, expected).unwrap();
            proptest::prop_assert_eq!(&read, &bytes);
            proptest::prop_assert_eq!(hash.finalize(), Sha256::digest(&bytes));
        }
    }

    /// Gives at most so many bytes at a time.
    struct InPieces<'a>(&'a [u8], usize);

    impl Read for InPieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let room = buffer.len().min(self.1);
            self.0.read(&mut buffer[..room])
        }
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
    fn a_bomb_is_refused_for_what_it_is_and_a_dense_table_is_not() {
        // 200 MB of one line in some 600 kB.
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let line = b"a,b\n".repeat(1 << 18);
        (0..200).for_each(|_| encoder.write_all(&line).unwrap());
        let stored = encoder.finish().unwrap();
        let error = read("t.csv.gz", &stored).unwrap_err();
        assert!(matches!(error, DataError::UnpacksTooLarge { .. }), "{error}");
        let message = error.to_string();
        assert!(
            message.contains("unpacks to more than") && !message.contains("again"),
            "{message}"
        );
        // 60 MB is little enough to be let through, however small the file.
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        (0..57).for_each(|_| encoder.write_all(&line).unwrap());
        assert_eq!(read("t.csv.gz", &encoder.finish().unwrap()).unwrap().bytes.len(), 57 << 20);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_without_an_end_is_refused_early() {
        let error = Source::read(Path::new("/dev/zero")).unwrap_err();
        assert!(matches!(error, DataError::TooLarge { limit: HARMLESS_BYTES, .. }), "{error}");
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
