//! Opens an input: a file or standard input, plain or gzip, and finds out its format.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

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
#[cfg(any(unix, test))]
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
                (limit_of(standard_input().as_ref()), (Vec::new(), Sha256::new())),
            );
        }
        let file = File::open(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => DataError::Missing { path: path.to_owned() },
            _ => DataError::Unreadable { path: path.to_owned(), source },
        })?;
        let limit = limit_of(Some(&file));
        let bytes = file.metadata().map_or(0, |about| about.len().min(limit));
        #[cfg(unix)]
        if let Some(read) = usize::try_from(bytes).ok().and_then(|bytes| in_blocks(&file, bytes)) {
            return Self::limited(path, &file, (limit, read));
        }
        Self::limited(path, file, (limit, (Vec::new(), Sha256::new())))
    }

    /// Reads everything from `reader`; `path` is only for messages and for the format.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub fn from_reader(path: &Path, reader: impl Read) -> Result<Self, DataError> {
        Self::limited(path, reader, (MAX_INPUT_BYTES, (Vec::new(), Sha256::new())))
    }

    /// Reads what is left, after what `stored` has with its hash.
    fn limited(
        path: &Path,
        reader: impl Read,
        (limit, (mut stored, mut hash)): (u64, (Vec<u8>, Sha256)),
    ) -> Result<Self, DataError> {
        let too_large = |limit| DataError::TooLarge { path: path.to_owned(), limit };
        let read = stored.len();
        let left = (limit + 1).saturating_sub(read as u64);
        reader
            .take(left)
            .read_to_end(&mut stored)
            .map_err(|source| DataError::Unreadable { path: path.to_owned(), source })?;
        hash.update(&stored[read..]);
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

/// The first `count` bytes of a file with their hash, read on all cores; the file goes on behind them. `None` where
/// they are few, or cannot be read so: a file that is no longer as long is read from its start.
#[cfg(unix)]
fn in_blocks(file: &File, count: usize) -> Option<(Vec<u8>, Sha256)> {
    use std::collections::BTreeMap;
    use std::io::Seek;
    use std::os::unix::fs::FileExt;
    use std::sync::{Mutex, PoisonError};

    use rayon::prelude::*;

    if count < 2 * BLOCK_BYTES {
        return None;
    }
    let mut bytes = vec![0; count];
    let blocks = Mutex::new(bytes.chunks_mut(BLOCK_BYTES).enumerate());
    let read = Mutex::new(BTreeMap::<usize, &[u8]>::new());
    let hashed = Mutex::new((0, Sha256::new()));
    // Whoever has read a block hashes what is there in order, unless somebody is at it: one takes as long as the other.
    let hash = |(next, hash): &mut (usize, Sha256)| {
        while let Some(block) = { read.lock().unwrap_or_else(PoisonError::into_inner).remove(next) }
        {
            hash.update(block);
            *next += 1;
        }
    };
    let work = |_: usize| -> io::Result<()> {
        while let Some((number, block)) =
            { blocks.lock().unwrap_or_else(PoisonError::into_inner).next() }
        {
            file.read_exact_at(block, (number * BLOCK_BYTES) as u64)?;
            read.lock().unwrap_or_else(PoisonError::into_inner).insert(number, block);
            if let Ok(mut hashed) = hashed.try_lock() {
                hash(&mut hashed);
            }
        }
        Ok(())
    };
    (0..rayon::current_num_threads()).into_par_iter().try_for_each(work).ok()?;
    let mut hashed = hashed.into_inner().unwrap_or_else(PoisonError::into_inner);
    hash(&mut hashed);
    drop((blocks, read));
    let mut file = file;
    file.seek(io::SeekFrom::Start(count as u64)).ok()?;
    Some((bytes, hashed.1))
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
    use proptest::prelude::*;
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

    proptest! {
        #[test]
        fn what_is_read_and_hashed_in_blocks_is_what_there_is(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..8 * BLOCK_BYTES),
            longer in 0..2_usize,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("l.csv");
            std::fs::write(&path, &bytes).unwrap();
            #[cfg(unix)]
            {
                // A file may have been cut since its size was asked.
                let found = in_blocks(&File::open(&path).unwrap(), bytes.len() + longer);
                prop_assert_eq!(found.is_some(), bytes.len() >= 2 * BLOCK_BYTES && longer == 0);
            }
            let start: Vec<u8> = bytes.iter().copied().skip_while(|byte| *byte == 0xef).collect();
            std::fs::write(&path, &start).unwrap();
            prop_assume!(!start.starts_with(&[0x1f, 0x8b]));
            let source = Source::read(&path).unwrap();
            prop_assert_eq!(source.bytes, &start[..]);
            prop_assert_eq!(source.sha256, hexadecimal(&Sha256::digest(&start)));
        }

        #[test]
        fn what_a_file_grew_by_since_it_was_measured_is_read_too(count in 0..4 * BLOCK_BYTES) {
            let bytes: Vec<u8> = (0..4 * BLOCK_BYTES).map(|place| b"ab\n,"[place % 4]).collect();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("l.csv");
            std::fs::write(&path, &bytes).unwrap();
            let file = File::open(&path).unwrap();
            #[cfg(unix)]
            let start = in_blocks(&file, count).unwrap_or_default();
            #[cfg(not(unix))]
            let start = Default::default();
            let source = Source::limited(&path, &file, (MAX_INPUT_BYTES, start)).unwrap();
            prop_assert_eq!(source.sha256, hexadecimal(&Sha256::digest(&bytes)));
            prop_assert_eq!(source.bytes, bytes);
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
