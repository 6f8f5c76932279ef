//! Rows of tables with a separator: CSV and TSV.

use std::borrow::Cow;

use super::{Field, FileProblems, MAX_RECORD_BYTES, NamedColumn, Row, bad_utf8, too_long};
use crate::data::formula::unguarded;
use crate::data::near::quotable;
use crate::data::reading::Reader;
use crate::data::source::Source;

/// Reads records as they stand: of any width, the header as one of them.
pub(in crate::data) fn reader_of(bytes: &[u8], delimiter: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .has_headers(false)
        .from_reader(bytes)
}

/// Rows of a file with a header.
pub(super) fn read_delimited(
    source: &Source,
    delimiter: u8,
    schema: &[NamedColumn<'_>],
    problems: &mut FileProblems<'_>,
    visit: &mut dyn FnMut(&Row<'_>, &mut FileProblems<'_>),
) -> u64 {
    let mut reader = reader_of(&source.bytes, delimiter);
    let mut record = csv::ByteRecord::new();
    // Reading from memory cannot fail and `flexible` accepts every width, so the only outcomes
    // are "a record" and "the end".
    if !matches!(reader.read_byte_record(&mut record), Ok(true)) {
        return 0;
    }
    let names: Vec<&[u8]> = record.iter().collect();
    let Some(header) = Header::of(&names, (source, delimiter), schema, problems) else { return 0 };

    let mut rows = 0;
    let mut lines = LineCounter::default();
    lines.record(&source.bytes, &reader);
    let progress = source.listener.reading(source.bytes.len());
    let mut reading = Reader::new(&*progress);
    while matches!(reader.read_byte_record(&mut record), Ok(true)) {
        let (line, bytes) = lines.record(&source.bytes, &reader);
        let line = source.place(line);
        reading.at(lines.offset);
        if bytes.len() > MAX_RECORD_BYTES {
            problems.report(Some(line), None, too_long(bytes.len()));
            continue;
        }
        if lines.offset >= source.bytes.len() && open_quote(bytes) {
            problems.report(
                Some(line),
                None,
                "a quote is opened here and never closed; close it, or double it inside a field",
            );
            continue;
        }
        let cells: Vec<&[u8]> = record.iter().collect();
        let is_blank = cells.iter().all(|cell| cell.trim_ascii().is_empty());
        // What was imported has lost what a spreadsheet left below it: empty cells are values there.
        if is_blank && (cells.len() == 1 || source.imported.is_none()) {
            continue;
        }
        let mut fields = Vec::with_capacity(schema.len());
        if header.decode(&cells, line, problems, &mut fields) {
            rows += 1;
            visit(&Row { line, fields: &fields }, problems);
        }
    }
    rows
}

/// Finds the line and the bytes of each record.
///
/// The csv crate's own line numbers are of the end of the record before, which is another line
/// after blank lines and after CRLF.
#[derive(Default)]
pub(in crate::data) struct LineCounter {
    offset: usize,
    newlines: u64,
}

impl LineCounter {
    /// Line (from 1) and bytes of the record that `reader` has just read.
    pub(in crate::data) fn record<'a>(
        &mut self,
        all: &'a [u8],
        reader: &csv::Reader<&[u8]>,
    ) -> (u64, &'a [u8]) {
        let end = usize::try_from(reader.position().byte()).unwrap_or(all.len()).min(all.len());
        let bytes = &all[self.offset..end];
        self.offset = end;
        let blank = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let newlines = |bytes: &[u8]| bytecount::count(bytes, b'\n') as u64;
        let line = self.newlines + newlines(&bytes[..blank]) + 1;
        self.newlines += newlines(bytes);
        (line, &bytes[blank..])
    }
}

/// Whether the bytes of a record that ends the file hold an odd number of quotes.
fn open_quote(bytes: &[u8]) -> bool {
    bytecount::count(bytes, b'"') % 2 == 1
}

/// Where the columns of a schema are.
struct Header<'a> {
    width: usize,
    positions: Vec<Option<usize>>,
    schema: &'a [NamedColumn<'a>],
}

impl<'s> Header<'s> {
    /// `None` if the header is unusable.
    fn of(
        header: &[&[u8]],
        (source, delimiter): (&Source, u8),
        schema: &'s [NamedColumn<'s>],
        problems: &mut FileProblems<'_>,
    ) -> Option<Self> {
        let names: Vec<Cow<'_, str>> =
            header.iter().map(|name| String::from_utf8_lossy(name)).collect();
        let mut usable = true;
        let mut positions = Vec::with_capacity(schema.len());
        for column in schema {
            let found: Vec<usize> =
                (0..names.len()).filter(|&index| column.matches(&names[index])).collect();
            if found.len() > 1 {
                let quoted = |&index: &usize| format!("`{}`", quotable(names[index].trim()));
                let candidates: Vec<String> = found.iter().map(quoted).collect();
                problems.report_ambiguous(1, column, &candidates);
                usable = false;
            }
            if found.is_empty() && column.required {
                if seems_headless(&source.bytes, delimiter) {
                    // The other columns are missing for the same reason.
                    problems.report_missing(column, &format!(", and {HEADLESS}"), &names);
                    return None;
                }
                problems.report_missing(column, "", &names);
                usable = false;
            }
            positions.push(found.first().copied());
        }
        usable.then_some(Self { width: names.len(), positions, schema })
    }

    /// The fields of a record; `false` if it is unusable.
    fn decode<'a>(
        &self,
        cells: &[&'a [u8]],
        line: u64,
        problems: &mut FileProblems<'_>,
        fields: &mut Vec<Field<'a>>,
    ) -> bool {
        if cells.len() != self.width {
            let message = format!(
                "the row has {} fields, the header has {}; \
                 put fields that contain the separator in double quotes",
                cells.len(),
                self.width
            );
            problems.report(Some(line), None, message);
            return false;
        }
        for (position, column) in self.positions.iter().zip(self.schema) {
            let Some(position) = *position else {
                fields.push(Field::Missing);
                continue;
            };
            match std::str::from_utf8(cells[position]) {
                Ok("") => fields.push(Field::Missing),
                Ok(text) => fields.push(Field::Text(Cow::Borrowed(unguarded(text)))),
                Err(error) => {
                    problems.report(Some(line), Some(column.name), bad_utf8(error.valid_up_to()));
                    return false;
                }
            }
        }
        true
    }
}

/// What is said of a file without a header.
pub(in crate::data) const HEADLESS: &str = "the file seems to have no header: what is in its first line is also in \
                                   others; write the names of the columns into a line before";

/// Whether most cells of the first line stand in their columns again.
pub(in crate::data) fn seems_headless(bytes: &[u8], delimiter: u8) -> bool {
    /// Rows that are looked at.
    const LOOKED_AT: usize = 1000;
    let mut reader = reader_of(bytes, delimiter);
    let mut records = reader.byte_records().take(LOOKED_AT).map_while(Result::ok);
    let Some(first) = records.next() else { return false };
    let mut again = vec![false; first.len()];
    for record in records.filter(|record| *record != first) {
        for (again, (a, b)) in again.iter_mut().zip(first.iter().zip(&record)) {
            *again |= a == b && !a.trim_ascii().is_empty();
        }
    }
    let count = again.iter().filter(|again| **again).count();
    count > 1 && 2 * count > first.len()
}
