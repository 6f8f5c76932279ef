//! Vectors with identifiers in a file of `NumPy` arrays (`numpy.savez`): `vector` has a row of numbers per
//! text; or `judgments` has one, and `categories` the names of its columns; any other array has one
//! name or number per text. The rows become JSON lines, which every reader of vectors reads.
//!
//! Formats: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>, APPNOTE.TXT of
//! PKWARE, version 6.3, sections 4.3.7, 4.3.12 and 4.3.16.

use std::io::{self, Read, Write};

use flate2::Crc;
use flate2::read::DeflateDecoder;
use serde_json::{Map, Value};

use super::problem::DataError;
use super::source::{Format, MAX_INPUT_BYTES, Places, Source};

/// How members of a zip file, its directory, and the end of it begin.
const MEMBER: &[u8; 4] = b"PK\x03\x04";
const ENTRY: &[u8; 4] = b"PK\x01\x02";
const END: &[u8; 4] = b"PK\x05\x06";

/// How an array begins.
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Names of an array of vectors.
const VECTORS: [&str; 4] = ["vector", "vectors", "embedding", "embeddings"];

/// An array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Array {
    /// Numbers in rows of equal length.
    Numbers {
        /// Entries of a row.
        dims: usize,
        /// Row by row.
        values: Vec<f64>,
    },
    /// One text per row.
    Texts(Vec<String>),
}

/// Writes arrays with their names as `numpy.savez` does, without compression.
///
/// # Errors
///
/// What `out` reports, and for an array of more than 4 GB.
pub(crate) fn write(arrays: &[(&str, Array)], out: &mut dyn Write) -> io::Result<()> {
    let (mut directory, mut at) = (Vec::new(), 0_u32);
    let number = |length: usize| u32::try_from(length).map_err(io::Error::other);
    for (name, array) in arrays {
        let mut bytes = Vec::new();
        write_array(array, &mut bytes)?;
        let name = format!("{name}.npy");
        let mut crc = Crc::new();
        crc.update(&bytes);
        // Version 2.0, no flags, stored, 1 January 1980, so that the same vectors give the same bytes.
        let mut about = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        about.extend(crc.sum().to_le_bytes());
        let length = number(bytes.len())?;
        about.extend([length, length].map(u32::to_le_bytes).concat());
        about.extend(number(name.len())?.to_le_bytes());
        out.write_all(MEMBER)?;
        out.write_all(&about)?;
        out.write_all(name.as_bytes())?;
        out.write_all(&bytes)?;
        directory.extend(ENTRY);
        directory.extend([20, 0]);
        directory.extend(&about);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
        let written = number(MEMBER.len() + about.len() + name.len() + bytes.len())?;
        at = at.checked_add(written).ok_or_else(|| io::Error::other("the file is too large"))?;
    }
    out.write_all(&directory)?;
    let count = u16::try_from(arrays.len()).map_err(io::Error::other)?.to_le_bytes();
    out.write_all(END)?;
    out.write_all(&[0; 4])?;
    out.write_all(&[count, count].concat())?;
    out.write_all(&number(directory.len())?.to_le_bytes())?;
    out.write_all(&at.to_le_bytes())?;
    out.write_all(&[0, 0])
}

/// NPY format version 1.0, C order: little-endian 64-bit floats, or texts of 32-bit characters.
///
/// # Errors
///
/// What `out` reports.
pub(crate) fn write_array(array: &Array, out: &mut dyn Write) -> io::Result<()> {
    const PREFIX: usize = 10; // magic, version and the length of the header
    let longest = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max();
    let (kind, shape) = match array {
        Array::Numbers { dims, values } => {
            ("<f8".to_owned(), format!("({}, {dims})", values.len() / dims.max(&1)))
        }
        Array::Texts(texts) => {
            (format!("<U{}", longest(texts).unwrap_or(0).max(1)), format!("({},)", texts.len()))
        }
    };
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    while !(PREFIX + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&u16::try_from(header.len()).map_err(io::Error::other)?.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    match array {
        Array::Numbers { values, .. } => {
            values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))
        }
        Array::Texts(texts) => {
            let longest = longest(texts).unwrap_or(0).max(1);
            for text in texts {
                let padded = text.chars().map(u32::from).chain(std::iter::repeat(0));
                for character in padded.take(longest) {
                    out.write_all(&character.to_le_bytes())?;
                }
            }
            Ok(())
        }
    }
}

/// The rows of a file of arrays as lines of text; anything else as it is, but for one array, which names
/// nothing.
///
/// # Errors
///
/// [`DataError::BrokenNpz`].
pub(super) fn unfolded(source: Source) -> Result<Source, DataError> {
    if source.bytes.starts_with(MAGIC) {
        let reason =
            "it is one array, without names; write .npz, which has an array for each identifier";
        return Err(DataError::BrokenNpz { path: source.path, reason: reason.into() });
    }
    let ending = source.path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npz"));
    if !ending || !source.bytes.starts_with(b"PK") {
        return Ok(source);
    }
    let arrays = read(&source.bytes).and_then(|arrays| lines(&arrays));
    let broken = |reason| DataError::BrokenNpz { path: source.path.clone(), reason };
    let (bytes, rows) = arrays.map_err(broken)?;
    let imported = Some(Places { format: "NumPy", by_line: false, rows: (1..=rows).collect() });
    Ok(Source { bytes, format: Format::JsonLines, imported, ..source })
}

/// The arrays of a file with their names.
fn read(bytes: &[u8]) -> Result<Vec<(String, Array)>, String> {
    let cut = || "it is cut off".to_owned();
    let short = |at: usize| -> Result<usize, String> {
        let two = bytes.get(at..at + 2).and_then(<[u8]>::first_chunk).ok_or_else(cut)?;
        Ok(u16::from_le_bytes(*two).into())
    };
    let long = |at: usize| -> Result<usize, String> {
        let four = bytes.get(at..at + 4).and_then(<[u8]>::first_chunk).ok_or_else(cut)?;
        Ok(u32::from_le_bytes(*four) as usize)
    };
    let end = bytes.windows(4).rposition(|window| window == END).ok_or_else(cut)?;
    let (count, mut at) = (short(end + 10)?, long(end + 16)?);
    let mut arrays = Vec::new();
    let mut total = 0;
    for _ in 0..count {
        if bytes.get(at..at + 4) != Some(ENTRY) {
            return Err(cut());
        }
        let (method, crc, stored, size) =
            (short(at + 10)?, long(at + 16)?, long(at + 20)?, long(at + 24)?);
        let (name, extra, comment) = (short(at + 28)?, short(at + 30)?, short(at + 32)?);
        let member = long(at + 42)?;
        let file = bytes.get(at + 46..at + 46 + name).ok_or_else(cut)?;
        let file = String::from_utf8_lossy(file);
        at += 46 + name + extra + comment;
        total += size as u64;
        if total > MAX_INPUT_BYTES {
            return Err("it unpacks to more than caz reads".to_owned());
        }
        let start = member + 30 + short(member + 26)? + short(member + 28)?;
        let content = bytes.get(start..start.saturating_add(stored)).ok_or_else(cut)?;
        let content = match method {
            0 => content.to_vec(),
            8 => {
                let mut unpacked = Vec::new();
                let mut decoder = DeflateDecoder::new(content).take(size as u64 + 1);
                decoder.read_to_end(&mut unpacked).map_err(|error| error.to_string())?;
                unpacked
            }
            other => return Err(format!("`{file}` is packed by method {other}")),
        };
        let mut sum = Crc::new();
        sum.update(&content);
        if content.len() != size || sum.sum() as usize != crc {
            return Err(format!("`{file}` is damaged"));
        }
        let name = file.strip_suffix(".npy").unwrap_or(&file).to_owned();
        let array = read_array(&content).map_err(|reason| format!("array `{name}`: {reason}"))?;
        arrays.push((name, array));
    }
    Ok(arrays)
}

/// One array of one or two dimensions.
fn read_array(bytes: &[u8]) -> Result<Array, String> {
    let no = || "it is not an array of NumPy".to_owned();
    let version = bytes.strip_prefix(MAGIC).and_then(|rest| rest.first()).ok_or_else(no)?;
    let (length, from): (usize, usize) = match (version, bytes.get(8..12)) {
        (1, Some(&[a, b, ..])) => (usize::from(u16::from_le_bytes([a, b])), 10),
        (2 | 3, Some(&[a, b, c, d])) => (u32::from_le_bytes([a, b, c, d]) as usize, 12),
        _ => return Err(no()),
    };
    let header = bytes.get(from..from.saturating_add(length)).ok_or_else(no)?;
    let header = str::from_utf8(header).map_err(|_| no())?;
    let after =
        |key: &str| header.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim_start());
    let descr = after("descr").and_then(|rest| rest.strip_prefix('\'')?.split('\'').next());
    let descr = descr.ok_or_else(|| "records are no vectors".to_owned())?;
    let by_column = after("fortran_order").is_some_and(|rest| rest.starts_with("True"));
    let shape = after("shape").and_then(|rest| rest.strip_prefix('(')?.split(')').next());
    let shape: Vec<usize> = shape
        .ok_or_else(no)?
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().map_err(|_| no()))
        .collect::<Result<_, _>>()?;
    let (rows, dims) = match *shape.as_slice() {
        [rows] => (rows, 1),
        [rows, dims] => (rows, dims),
        _ => return Err(format!("it has {} dimensions", shape.len())),
    };
    let data = &bytes[from + length..];
    let count = rows.checked_mul(dims).ok_or_else(no)?;
    let width = |width: usize| {
        let fits = count.checked_mul(width) == Some(data.len());
        fits.then_some(()).ok_or_else(|| "it has not as many entries as it says".to_owned())
    };
    macro_rules! numbers {
        ($number:ty, $value:expr) => {{
            width(size_of::<$number>())?;
            let (entries, _) = data.as_chunks();
            let value = |place: usize| $value(<$number>::from_le_bytes(entries[place]));
            let at = |place: usize| {
                if by_column { place % dims * rows + place / dims } else { place }
            };
            Array::Numbers { dims, values: (0..count).map(at).map(value).collect() }
        }};
    }
    let array = match descr {
        "<f8" => numbers!(f64, std::convert::identity),
        "<f4" => numbers!(f32, f64::from),
        "<f2" => numbers!(u16, of_half),
        "<i8" => numbers!(i64, |value: i64| value as f64),
        "<i4" => numbers!(i32, f64::from),
        "|i1" => numbers!(i8, f64::from),
        _ => match descr.strip_prefix("<U").map(str::parse::<usize>) {
            Some(Ok(characters)) if shape.len() == 1 => {
                width(4 * characters)?;
                let text = |row: usize| -> Result<String, String> {
                    let (entries, _) = data[4 * characters * row..][..4 * characters].as_chunks();
                    let characters = entries.iter().map(|&entry| u32::from_le_bytes(entry));
                    let read = characters.map(|code| char::from_u32(code).ok_or_else(no));
                    let text: String = read.collect::<Result<_, _>>()?;
                    Ok(text.trim_end_matches('\0').to_owned())
                };
                Array::Texts((0..rows).map(text).collect::<Result<_, _>>()?)
            }
            _ => {
                return Err(format!(
                    "entries `{descr}` are not read; use 32- or 64-bit numbers, or texts, as .astype(str) \
                     makes them"
                ));
            }
        },
    };
    Ok(array)
}

/// The number that 16 bits stand for, IEEE 754 binary16.
fn of_half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
    let size = match exponent {
        0 => fraction * 2.0_f64.powi(-14),
        31 if fraction > 0.0 => f64::NAN,
        31 => f64::INFINITY,
        _ => (1.0 + fraction) * 2.0_f64.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// The arrays as JSON lines, and their number.
fn lines(arrays: &[(String, Array)]) -> Result<(Vec<u8>, u64), String> {
    let texts = |wanted: &str| {
        let found = arrays.iter().find(|(name, _)| name == wanted);
        found.and_then(|(_, array)| match array {
            Array::Texts(texts) => Some(texts),
            Array::Numbers { .. } => None,
        })
    };
    let is_content = |name: &str| VECTORS.contains(&name) || name == "judgments";
    let content = arrays.iter().find_map(|(name, array)| match array {
        Array::Numbers { dims, values } if is_content(name) => Some((name, *dims, values)),
        _ => None,
    });
    let Some((name, dims, values)) = content else {
        return Err("it has no array `vector` of numbers".to_owned());
    };
    let categories = match (name.as_str(), texts("categories")) {
        ("judgments", Some(categories)) if categories.len() == dims => Some(categories),
        ("judgments", _) => return Err("it has not a name in `categories` per judgment".to_owned()),
        _ => None,
    };
    if dims == 0 {
        return Err("its vectors have no entries".to_owned());
    }
    let rows = values.len() / dims;
    let mut lines = Vec::new();
    for (row, vector) in values.chunks_exact(dims).enumerate() {
        let mut object = Map::new();
        for (name, array) in
            arrays.iter().filter(|(name, _)| !is_content(name) && name != "categories")
        {
            let value = match array {
                Array::Texts(texts) if texts.len() == rows => Value::from(texts[row].as_str()),
                #[expect(clippy::cast_possible_truncation, reason = "names that are whole numbers")]
                Array::Numbers { dims: 1, values } if values.len() == rows => {
                    let value = values[row];
                    if value.fract() == 0.0 { (value as i64).into() } else { value.into() }
                }
                _ => {
                    return Err(format!(
                        "array `{name}` has not one entry per vector, of which there are {rows}"
                    ));
                }
            };
            if value != "" {
                object.insert(name.clone(), value);
            }
        }
        if let Some(entry) = vector.iter().find(|entry| !entry.is_finite()) {
            return Err(format!("vector {} has the entry {entry}", row + 1));
        }
        let entries = vector.iter().map(|&entry| Value::from(entry));
        match categories {
            None => object.insert("vector".into(), entries.collect()),
            Some(names) => object.insert(
                "judgments".into(),
                Value::Object(names.iter().cloned().zip(entries).collect()),
            ),
        };
        serde_json::to_writer(&mut lines, &object).map_err(|error| error.to_string())?;
        lines.push(b'\n');
    }
    Ok((lines, rows as u64))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn source(bytes: &[u8]) -> Result<String, DataError> {
        let source = Source::from_reader(Path::new("v.npz"), bytes)?;
        Ok(String::from_utf8(source.bytes).unwrap())
    }

    fn arrays() -> Vec<(&'static str, Array)> {
        vec![
            ("paper", Array::Texts(vec!["p1".into(), "ü2".into()])),
            ("sample", Array::Texts(vec![String::new(), "b".into()])),
            ("vector", Array::Numbers { dims: 2, values: vec![1.0, -0.5, 1e-300, 3.0] }),
        ]
    }

    #[test]
    fn what_is_written_is_read_back_as_lines() {
        let mut bytes = Vec::new();
        write(&arrays(), &mut bytes).unwrap();
        let expected = "{\"paper\":\"p1\",\"vector\":[1.0,-0.5]}\n\
                        {\"paper\":\"ü2\",\"sample\":\"b\",\"vector\":[1e-300,3.0]}\n";
        assert_eq!(source(&bytes).unwrap(), expected);
        let judgments = [
            ("judgments", Array::Numbers { dims: 2, values: vec![1.0, 0.0] }),
            ("categories", Array::Texts(vec!["a".into(), "b".into()])),
        ];
        let mut bytes = Vec::new();
        write(&judgments, &mut bytes).unwrap();
        assert_eq!(source(&bytes).unwrap(), "{\"judgments\":{\"a\":1.0,\"b\":0.0}}\n");
    }

    #[test]
    fn files_of_numpy_are_read_packed_or_not() {
        // numpy.savez and numpy.savez_compressed, of NumPy 2: id of i8, vector of f4.
        for name in ["stored", "packed"] {
            let path = format!("{}/tests/fixtures/{name}.npz", env!("CARGO_MANIFEST_DIR"));
            let text = source(&std::fs::read(path).unwrap()).unwrap();
            let expected = "{\"id\":7,\"paper\":\"a\",\"vector\":[0.5,2.0]}\n\
                            {\"id\":-8,\"paper\":\"bc\",\"vector\":[0.25,-1.0]}\n";
            assert_eq!(text, expected, "{name}");
        }
    }

    #[test]
    fn columns_after_each_other_and_halves_are_read() {
        // numpy.array([[1, -2, 0.1], [65504, 6e-8, 0]], dtype="f2", order="F"): 0.1 is 1638.25 / 2^14 and
        // rounds to 1638 / 2^14, 6e-8 to the smallest number, 2^-24.
        let header = "{'descr': '<f2', 'fortran_order': True, 'shape': (2, 3), }\n";
        let halves: [u16; 6] = [0x3c00, 0x7bff, 0xc000, 0x0001, 0x2e66, 0x0000];
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(halves.map(u16::to_le_bytes).concat());
        let values = vec![1.0, -2.0, 1638.0 / 16384.0, 65504.0, 2.0_f64.powi(-24), 0.0];
        assert_eq!(read_array(&bytes).unwrap(), Array::Numbers { dims: 3, values });
        let alone = Source::from_reader(Path::new("v.npy"), bytes.as_slice()).unwrap_err();
        assert!(alone.to_string().contains("without names; write .npz"), "{alone}");
    }

    #[test]
    fn what_cannot_be_read_is_an_error_with_the_reason() {
        let written = |arrays: &[(&str, Array)]| {
            let mut bytes = Vec::new();
            write(arrays, &mut bytes).unwrap();
            bytes
        };
        let said = |bytes: &[u8]| source(bytes).unwrap_err().to_string();
        let whole = written(&arrays());
        for cut in [30, 100, whole.len() - 30] {
            assert!(said(&whole[..cut]).contains("cut off"), "{}", said(&whole[..cut]));
        }
        let mut damaged = whole.clone();
        let at = whole.windows(8).position(|bytes| bytes == 3.0_f64.to_le_bytes()).unwrap();
        damaged[at] ^= 1;
        assert!(said(&damaged).contains("`vector.npy` is damaged"), "{}", said(&damaged));
        assert!(said(&written(&arrays()[..2])).contains("no array `vector`"));
        let numbers = |values| ("vector", Array::Numbers { dims: 1, values });
        let error = said(&written(&[numbers(vec![1.0, f64::NAN])]));
        assert!(error.contains("vector 2 has the entry NaN"), "{error}");
        let error = said(&written(&[arrays()[0].clone(), numbers(vec![1.0])]));
        assert!(error.contains("array `paper` has not one entry per vector"), "{error}");
    }
}
