//! What a file is, by its first bytes, the shape of its root and its header; never by its ending.

use std::collections::BTreeSet;

use super::charset;
use super::elements::{Object, each_object};
use super::wrapping::{Wrapping, wrapping};
use crate::data::rows::reader_of;

/// Objects that are looked at to tell a format.
const LOOKED_AT: usize = 3;

/// The outermost shape of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Root {
    /// JSON, with its first objects, the keys of the object that they are in, if they are in one, and how.
    Json { first: Vec<Object>, around: Vec<String>, wrapping: Option<Wrapping> },
    /// Separated values with a header.
    Table { header: Vec<String>, delimiter: u8 },
    /// XML.
    Xml,
    /// A ZIP archive: .xlsx, .docx, or several files.
    Zip,
    /// Something that caz does not read, by name.
    Binary(&'static str),
    /// Lines of text without a header.
    Text,
    /// Nothing.
    Empty,
}

/// A file as importers see it to tell whether it is theirs.
#[derive(Debug, Clone)]
pub(super) struct Peek<'a> {
    /// The content as UTF-8, byte order mark and `sep=` line removed; the stored bytes of what is
    /// no text.
    pub(super) bytes: &'a [u8],
    pub(super) root: Root,
    /// Lines of the file before `bytes`.
    pub(super) lines_before: u64,
}

/// First bytes of what is refused by name.
const MAGIC: [(&[u8], &str); 4] = [
    (b"%PDF", "PDF"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file (.xls, .doc)"),
    (b"{\\rtf", "RTF"),
    (b"SQLite format 3", "an SQLite database"),
];

impl<'a> Peek<'a> {
    /// Looks at a file whose characters are UTF-8 already (see [`charset::decoded`]).
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let (bytes, delimiter) = charset::without_separator_line(bytes);
        let lines_before = u64::from(delimiter.is_some());
        Self { bytes, root: root_of(bytes, delimiter), lines_before }
    }

    /// The names of the columns of a table, or the keys of the first objects.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let keys = self.objects().iter().flat_map(|object| object.keys());
        self.header().iter().chain(keys).map(String::as_str)
    }

    /// The first objects of JSON, else none.
    pub(super) fn objects(&self) -> &[Object] {
        match &self.root {
            Root::Json { first, .. } => first,
            _ => &[],
        }
    }

    /// Whether JSON holds these keys in its first object.
    pub(super) fn first_has(&self, keys: &[&str]) -> bool {
        self.objects().first().is_some_and(|row| keys.iter().all(|key| row.contains_key(*key)))
    }

    /// Keys around the list, e.g. `hotcrp_version`.
    pub(super) fn has_around(&self, key: &str) -> bool {
        matches!(&self.root, Root::Json { around, .. } if around.iter().any(|other| other == key))
    }

    /// The header of a table, else nothing.
    pub(super) fn header(&self) -> &[String] {
        match &self.root {
            Root::Table { header, .. } => header,
            _ => &[],
        }
    }

    /// Whether two columns have one name, which only their places tell apart.
    pub(super) fn has_doubled_names(&self) -> bool {
        let names: BTreeSet<&String> = self.header().iter().collect();
        names.len() < self.header().len()
    }

    /// Whether the header has all of these names, exactly.
    pub(super) fn has_columns(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.header().iter().any(|column| column == name))
    }

    /// Whether the header has a name that starts so.
    pub(super) fn has_column_that_starts(&self, start: &str) -> bool {
        self.header().iter().any(|column| column.starts_with(start))
    }
}

fn root_of(bytes: &[u8], delimiter: Option<u8>) -> Root {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
    let Some(start) = start else { return Root::Empty };
    let rest = &bytes[start..];
    if let Some((_, name)) = MAGIC.iter().find(|(magic, _)| rest.starts_with(magic)) {
        return Root::Binary(name);
    }
    if rest.starts_with(b"PK\x03\x04") {
        return Root::Zip;
    }
    match rest[0] {
        b'{' | b'[' => {
            let mut first = Vec::new();
            // Whether the file is whole is for the importer to find out.
            let _ = each_object(rest, &mut |_, object| {
                first.push(object);
                first.len() < LOOKED_AT
            });
            let found = (rest[0] == b'{').then(|| wrapping(rest));
            let (wrapping, around) =
                found.map_or((None, Vec::new()), |(how, keys)| (Some(how), keys));
            Root::Json { first, around, wrapping }
        }
        b'<' => Root::Xml,
        _ => table(rest, delimiter),
    }
}

/// The header line under the separator that splits it best; text if no separator splits it.
fn table(bytes: &[u8], stated: Option<u8>) -> Root {
    let delimiter = stated.unwrap_or_else(|| delimiter_of(bytes));
    let mut reader = reader_of(bytes, delimiter);
    let mut record = csv::ByteRecord::new();
    if !matches!(reader.read_byte_record(&mut record), Ok(true)) {
        return Root::Empty;
    }
    if record.len() < 2 {
        return Root::Text;
    }
    let header =
        record.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect();
    Root::Table { header, delimiter }
}

/// The separator that is found most often in the first lines, in as many as possible; comma where
/// none is found.
///
/// Separators inside quotes do not count. A semicolon or a tab beats a comma that only stands
/// inside some cells because it splits every line into the same number of cells.
pub(super) fn delimiter_of(bytes: &[u8]) -> u8 {
    const LINES: usize = 20;
    let mut best = (b',', 0_usize);
    for delimiter in [b',', b';', b'\t', b'|'] {
        let counts = counts_by_record(bytes, delimiter, LINES);
        let Some(&first) = counts.first() else { continue };
        if first == 0 {
            continue;
        }
        // Cells of the header, if most records have as many; a stray separator in the header
        // alone is worth little.
        let same = counts.iter().filter(|&&count| count == first).count();
        let worth = if same * 2 > counts.len() { 1000 + first } else { first };
        if worth > best.1 {
            best = (delimiter, worth);
        }
    }
    best.0
}

fn counts_by_record(bytes: &[u8], delimiter: u8, records: usize) -> Vec<usize> {
    let mut counts = Vec::new();
    let (mut count, mut quoted, mut begun) = (0, false, false);
    for &byte in bytes {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => {
                if begun {
                    counts.push(count);
                }
                (count, begun) = (0, false);
                if counts.len() == records {
                    return counts;
                }
                continue;
            }
            _ if byte == delimiter && !quoted => count += 1,
            _ => {}
        }
        begun |= !byte.is_ascii_whitespace();
    }
    if begun && !quoted {
        counts.push(count);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_found_by_counting_outside_quotes() {
        assert_eq!(delimiter_of(b"a,b\n1,2\n"), b',');
        assert_eq!(
            delimiter_of(b"paper;reviewer;text\n1;a;\"good, clear, new\"\n2;b;bad, old\n"),
            b';'
        );
        assert_eq!(delimiter_of(b"a\tb\n1\t2,5\n"), b'\t');
        assert_eq!(delimiter_of(b"\"a;b\",c\n\"1;2\",3\n"), b',');
        assert_eq!(delimiter_of(b"one column"), b',');
    }

    #[test]
    fn roots_are_told_by_content() {
        let root = |bytes: &[u8]| Peek::new(bytes).root;
        assert!(matches!(root(b" [ {\"a\":1} ]"), Root::Json { first, .. } if first.len() == 1));
        assert_eq!(root(b"%PDF-1.7"), Root::Binary("PDF"));
        assert_eq!(root(b"PK\x03\x04..."), Root::Zip);
        assert_eq!(root(b"<?xml version"), Root::Xml);
        assert_eq!(root(b"  \n"), Root::Empty);
        assert_eq!(root(b"just words"), Root::Text);
        assert!(matches!(root(b"a;b\n1;2"), Root::Table { delimiter: b';', .. }));
    }

    #[test]
    fn keys_around_the_list_are_seen_and_those_inside_are_not() {
        let peek = Peek::new(
            b"{\"hotcrp_version\": \"3\", \"papers\": [{\"pid\": 1, \"x\": {\"y\": 2}}], \"z\": 1}",
        );
        assert!(
            peek.has_around("hotcrp_version") && peek.has_around("z") && peek.has_around("papers")
        );
        assert!(!peek.has_around("pid") && !peek.has_around("y"));
        assert_eq!(peek.objects()[0]["pid"], 1);
    }
}
