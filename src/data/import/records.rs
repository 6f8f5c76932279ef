//! The rows of a table, or of JSON whose objects are flat, by column name.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use rayon::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::elements::{Broken, each_object};
use super::error::ImportError;
use super::importer::Request;
use super::output::Output;
use super::peek::{Peek, Root};
use super::text_fields::TextFields;
use crate::data::answers::{Answered, is_spreadsheet_error, says_nothing, structure, text_of};
use crate::data::formula::unguarded;
use crate::data::near::{did_you_mean, folded, listed, quotable};
use crate::data::plain::{LEAST_PART_BYTES, places_of, split_at_lines};
use crate::data::rows::{LineCounter, reader_of, seems_headless};

/// The rows of a file.
pub(super) struct Records<'a> {
    request: &'a Request<'a>,
    /// One for every column, each another one.
    names: Vec<String>,
    /// As they stand in the header.
    written: Vec<String>,
}

/// One row.
pub(super) struct Record<'a> {
    names: &'a [String],
    cells: Vec<Option<String>>,
    /// Its line, or its number in a list.
    place: u64,
}

impl Record<'_> {
    /// A cell that is not blank, trimmed.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let position = self.names.iter().position(|other| other == name)?;
        let cell = self.cells[position].as_deref()?.trim();
        (!cell.is_empty()).then_some(cell)
    }

    /// A cell that names something: not the error of a spreadsheet.
    pub(super) fn name(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|cell| !is_spreadsheet_error(cell))
    }

    /// A cell that holds a text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|text| !says_nothing(text))
    }

    /// The cells of the columns whose names begin so, without that beginning: what a task is about.
    pub(super) fn starting<'b>(
        &'b self,
        start: &'b str,
    ) -> impl Iterator<Item = (&'b str, Value)> + 'b {
        self.names
            .iter()
            .filter_map(move |name| Some((name.strip_prefix(start)?, Value::from(self.get(name)?))))
    }
}

/// A name of its own for every column: by its place where it has none or that of another one.
fn told_apart(written: &[String]) -> Vec<String> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    written.iter().for_each(|name| *times.entry(name.trim()).or_default() += 1);
    let named = |(place, name): (usize, &String)| match (name.trim(), times[name.trim()]) {
        ("", _) => format!("column {}", place + 1),
        (_, 1) => name.clone(),
        (name, _) => format!("{name} (column {})", place + 1),
    };
    written.iter().enumerate().map(named).collect()
}

impl<'a> Records<'a> {
    pub(super) fn of(request: &'a Request<'a>) -> Result<Self, ImportError> {
        let written = match &request.peek.root {
            Root::Table { header, .. } => header.clone(),
            Root::Json { .. } => {
                let mut names: Vec<String> = Vec::new();
                let mut known: HashSet<String> = HashSet::new();
                let read = each_object(request.peek.bytes, &mut |_, object| {
                    for name in object.keys().filter(|name| !known.contains(*name)) {
                        names.push(name.clone());
                    }
                    known.extend(names[known.len()..].iter().cloned());
                    true
                });
                read.map_err(|broken| request.broken(broken))?;
                names
            }
            _ => Vec::new(),
        };
        Ok(Self { request, names: told_apart(&written), written })
    }

    /// The rows of a table with a row for each answer, and the columns of its task and its worker: those
    /// that the user names, else the usual ones.
    pub(super) fn by(
        request: &'a Request<'a>,
        [task, worker]: [&str; 2],
    ) -> Result<(Self, String, String), ImportError> {
        let records = Self::of(request)?;
        let task = records.column(request.task(), task)?;
        let worker = records.column(request.worker(), worker)?;
        Ok((records, task, worker))
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether the first line is a row like any other.
    pub(super) fn is_headless(&self) -> bool {
        match self.request.peek.root {
            Root::Table { delimiter, .. } => seems_headless(self.request.peek.bytes, delimiter),
            _ => false,
        }
    }

    /// The columns whose name in the header is this one.
    pub(super) fn called(&self, is_it: impl Fn(&str) -> bool) -> Vec<String> {
        let both = self.names.iter().zip(&self.written);
        both.filter(|(_, written)| is_it(written)).map(|(name, _)| name.clone()).collect()
    }

    /// The column that the user calls so, whatever the case and punctuation.
    pub(super) fn named(&self, asked: &str) -> Result<String, ImportError> {
        if let Some(exact) = self.names.iter().find(|name| *name == asked) {
            return Ok(exact.clone());
        }
        let exact = self.called(|name| name == asked);
        let found = if exact.is_empty() {
            self.called(|name| folded(name) == folded(asked))
        } else {
            exact
        };
        match found.as_slice() {
            [one] => Ok(one.clone()),
            [] => Err(self.request.columns(format!(
                "there is no column `{}`{}; there are {}",
                quotable(asked),
                hint(&did_you_mean(&self.names, &[&folded(asked)])),
                listed(&self.names)
            ))),
            several => Err(self.request.columns(format!(
                "several columns are called `{}`; name one of {}",
                quotable(asked),
                listed(several)
            ))),
        }
    }

    /// The column that the user named, else the usual one.
    pub(super) fn column(&self, asked: Option<&str>, usual: &str) -> Result<String, ImportError> {
        asked.map_or_else(|| Ok(usual.to_owned()), |asked| self.named(asked))
    }

    /// What is answered in a cell: a label, or for reviews a text.
    pub(super) fn answer(&self, record: &Record<'_>, name: &str) -> Answered {
        let Some(cell) = record.get(name) else { return Answered::Nothing };
        if !self.request.wanted.is_reviews() {
            return Answered::in_cell(cell);
        }
        match structure(cell) {
            Some(list @ Value::Array(_)) => text_of(&list),
            _ if says_nothing(cell) => Answered::Nothing,
            _ => Answered::Label(cell.to_owned()),
        }
    }

    /// Every row; counts them, and those that end early.
    pub(super) fn each(
        &self,
        output: &mut Output,
        mut visit: impl FnMut(&Record<'_>, &mut Output),
    ) -> Result<(), ImportError> {
        let (short, skipped) = self.rows(&mut |record| {
            output.begin(record.place);
            visit(record, output);
            true
        })?;
        output.short += short;
        self.request.whole(Ok(skipped), output)
    }

    /// Looks at rows before they are read, as long as `visit` says; damage is reported when they are.
    pub(super) fn look(&self, visit: &mut dyn FnMut(&Record<'_>) -> bool) {
        let _ = self.rows(visit);
    }

    /// Hands over the rows, and says how many ended early, and how many elements were no rows.
    fn rows(&self, visit: &mut dyn FnMut(&Record<'_>) -> bool) -> Result<(u64, u64), ImportError> {
        let Root::Table { delimiter, .. } = self.request.peek.root else {
            let read = each_object(self.request.peek.bytes, &mut |place, object| {
                let cells = self.written.iter().map(|name| cell_of(object.get(name))).collect();
                visit(&Record { names: &self.names, cells, place: place.0 })
            });
            return read.map(|skipped| (0, skipped)).map_err(|broken| self.request.broken(broken));
        };
        let mut reader = reader_of(self.request.peek.bytes, delimiter);
        let mut record = csv::ByteRecord::new();
        let broken = |after, message| Err(self.request.broken(Broken { after, message }));
        if let Some(line) = open_quote(self.request.peek.bytes, delimiter) {
            let line = line + self.request.peek.lines_before;
            return broken(0, format!("the quote that opens in line {line} is not closed"));
        }
        let mut lines = LineCounter::default();
        let mut widths = Widths::new(self.names.len());
        let (mut after, mut is_header) = (0, true);
        while matches!(reader.read_byte_record(&mut record), Ok(true)) {
            let (line, bytes) = lines.record(self.request.peek.bytes, &reader);
            let line = line + self.request.peek.lines_before;
            if std::mem::take(&mut is_header) {
                continue;
            }
            if record.len() == 1 && record[0].iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let is_cut = !bytes.ends_with(b"\n") && !bytes.ends_with(b"\r");
            if let Some(question) = widths.see(&record, is_cut) {
                let message = format!(
                    "the row in line {line} has {} cells and the header {}; {question}",
                    record.len(),
                    self.names.len()
                );
                return broken(after, message);
            }
            after += 1;
            let mut cells: Vec<Option<String>> = record
                .iter()
                .map(|cell| Some(unguarded(&String::from_utf8_lossy(cell)).to_owned()))
                .collect();
            cells.resize(self.names.len(), None);
            if !visit(&Record { names: &self.names, cells, place: line }) {
                break;
            }
        }
        Ok((widths.short, 0))
    }

    /// The columns that make the text: those asked for, else those that hold prose, without `about`.
    /// Lists and objects are no prose, however long: they hold vectors, judgments, probabilities.
    pub(super) fn text_fields(&self, about: &[&str]) -> Result<Vec<String>, ImportError> {
        let asked = self.request.text_columns();
        if !asked.is_empty() {
            return asked.iter().map(|name| self.named(name)).collect();
        }
        let mut lengths = TextFields::default();
        // A row that breaks off is reported when the rows are read for good.
        self.look(&mut |record| {
            for name in &self.names {
                if !about.contains(&name.as_str())
                    && let Some(text) = record.text(name)
                    && !is_structure(text)
                {
                    lengths.see(name, text);
                }
            }
            true
        });
        Ok(lengths.chosen(&[]))
    }

    /// Every column as its cells are.
    pub(super) fn portraits(&self, task: Option<&str>) -> Vec<Portrait> {
        let mut portraits: Vec<Portrait> = self
            .names
            .iter()
            .map(|name| Portrait { name: name.clone(), ..Portrait::default() })
            .collect();
        let mut first_of_task: HashMap<u64, Vec<u64>> = HashMap::new();
        self.look(&mut |record| {
            let digests: Vec<u64> =
                self.names.iter().map(|name| digest(&record.get(name))).collect();
            let known = task.and_then(|task| record.get(task)).map(|task| digest(&task));
            let first = known.and_then(|task| match first_of_task.entry(task) {
                std::collections::hash_map::Entry::Occupied(entry) => Some(entry.into_mut()),
                std::collections::hash_map::Entry::Vacant(entry) => {
                    entry.insert(digests.clone());
                    None
                }
            });
            for (index, portrait) in portraits.iter_mut().enumerate() {
                if let Some(cell) = record.get(&self.names[index]) {
                    portrait.filled += 1;
                    portrait.seen.insert(digests[index]);
                    portrait.prose += u64::from(cell.chars().nth(PROSE).is_some());
                    portrait.numbers += u64::from(cell.parse::<f64>().is_ok());
                    portrait.times += u64::from(is_time(cell));
                }
                if let Some(first) = &first {
                    portrait.repeated += 1;
                    portrait.differs += u64::from(digests[index] != first[index]);
                }
            }
            true
        });
        portraits
    }

    /// The column that the user names, or else the one besides `about` that holds answers: it differs within a task, as what was asked
    /// about a task does not. An error that names the candidates where there is not exactly one.
    pub(super) fn only_answer(&self, task: &str, about: &[&str]) -> Result<String, ImportError> {
        if let Some(asked) = self.request.answer() {
            return self.named(asked);
        }
        let reviews = self.request.wanted.is_reviews();
        let is_about = |name: &str| about.contains(&name) || name == task;
        let portraits = self.portraits(Some(task));
        let others: Vec<&Portrait> = portraits
            .iter()
            .filter(|column| !is_about(&column.name) && column.filled > 0 && !column.is_time())
            .filter(|column| !reviews || !column.is_number())
            .collect();
        let is_repeated = others.iter().any(|column| column.repeated > 0);
        let may: Vec<&Portrait> =
            others.iter().copied().filter(|column| !is_repeated || column.differs > 0).collect();
        let likely: Vec<&Portrait> =
            may.iter().copied().filter(|column| column.has_few() != reviews).collect();
        let chosen = if likely.is_empty() { may } else { likely };
        let key = self.request.answer_key();
        match chosen.as_slice() {
            [one] if is_repeated || one.has_few() != reviews => Ok(one.name.clone()),
            [] => Err(self.request.columns(format!(
                "no column holds what people answered: none differs between those who had the same \
                 task; name it as the column `{key}`; there are {}",
                listed(&self.names)
            ))),
            several => Err(self.request.columns(format!(
                "several columns may hold the answers; name one as the column `{key}`: {}",
                listed(&several.iter().map(|column| &column.name).collect::<Vec<_>>())
            ))),
        }
    }
}

/// Characters above which a cell is prose.
const PROSE: usize = 100;

/// What the cells of a column look like.
#[derive(Debug, Clone, Default)]
pub(super) struct Portrait {
    pub(super) name: String,
    /// Cells that are not blank.
    pub(super) filled: u64,
    /// Digests of different cells, since they may be long texts.
    pub(super) seen: HashSet<u64>,
    prose: u64,
    numbers: u64,
    times: u64,
    /// Rows whose task an earlier row had, and those of them where the cell is another one.
    pub(super) repeated: u64,
    pub(super) differs: u64,
}

impl Portrait {
    /// Whether there are few different cells: answers out of a few, and no texts.
    pub(super) fn has_few(&self) -> bool {
        /// More different values than this share of the rows are texts and not answers.
        const MOST_DIFFERENT: f64 = 0.5;
        self.filled > 0 && (self.seen.len() as f64) <= MOST_DIFFERENT * self.filled as f64
    }

    /// Whether every cell is a time.
    pub(super) fn is_time(&self) -> bool {
        self.filled > 0 && self.times == self.filled
    }

    /// Whether no two rows have the same cell.
    pub(super) fn is_different_everywhere(&self) -> bool {
        self.seen.len() as u64 == self.filled
    }

    /// Whether every cell is a number.
    pub(super) fn is_number(&self) -> bool {
        self.filled > 0 && self.numbers == self.filled
    }

    /// Whether most cells are prose.
    pub(super) fn is_prose(&self) -> bool {
        2 * self.prose > self.filled
    }
}

/// Whether a cell is a date with the time of day, as programs write them.
pub(super) fn is_time(cell: &str) -> bool {
    let has_date = |separator: char| {
        let mut parts = cell.splitn(3, separator);
        let digits = |part: Option<&str>| {
            part.is_some_and(|part| {
                (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
            })
        };
        digits(parts.next())
            && digits(parts.next())
            && parts.next().is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let has_clock = cell.split([' ', 'T']).any(|part| {
        let mut parts = part.split(':');
        let short = |part: Option<&str>| {
            part.is_some_and(|part| {
                (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
            })
        };
        short(parts.next())
            && parts.next().is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    cell.len() < 40 && has_clock && ['-', '/', '.'].iter().any(|separator| has_date(*separator))
}

/// Whether a table has a row without its last cells.
pub(super) fn ends_early(peek: &Peek<'_>) -> bool {
    let Root::Table { header, delimiter } = &peek.root else { return false };
    if memchr::memchr(b'"', peek.bytes).is_none() {
        let parts = split_at_lines(peek.bytes, rayon::current_num_threads(), LEAST_PART_BYTES);
        let has_short = |part| {
            !has_cells_of_whole_lines(part, *delimiter, header.len())
                && has_short_line(part, *delimiter, header.len())
        };
        return parts.into_par_iter().any(has_short);
    }
    let mut reader = reader_of(peek.bytes, *delimiter);
    let mut record = csv::ByteRecord::new();
    while matches!(reader.read_byte_record(&mut record), Ok(true)) {
        let is_blank = record.len() == 1 && record[0].iter().all(u8::is_ascii_whitespace);
        if record.len() < header.len() && !is_blank {
            return true;
        }
    }
    false
}

/// Whether there are as many cells as if every line were whole, which takes a fraction of the time of a look at each
/// line. Where one line is short then and another one long, the file is damaged, and whoever reads it says so.
fn has_cells_of_whole_lines(bytes: &[u8], delimiter: u8, width: usize) -> bool {
    // As much at a time as stays at hand for the second look.
    let counts = bytes
        .chunks(1 << 15)
        .map(|block| [b'\n', delimiter].map(|byte| memchr::memchr_iter(byte, block).count()));
    let [ends, delimiters] = counts.fold([0, 0], |sum, next| [sum[0] + next[0], sum[1] + next[1]]);
    let lines = ends + usize::from(!bytes.ends_with(b"\n"));
    delimiters == lines * width.saturating_sub(1)
}

/// Whether a line that is not blank has fewer cells, where no cell is quoted.
fn has_short_line(bytes: &[u8], delimiter: u8, width: usize) -> bool {
    let (mut start, mut cells) = (0, 1);
    let ends = places_of([delimiter, b'\n'], bytes);
    ends.chain([bytes.len()]).any(|end| {
        if bytes.get(end) == Some(&delimiter) {
            cells += 1;
            return false;
        }
        let is_short = cells < width && !bytes[start..end].iter().all(u8::is_ascii_whitespace);
        (start, cells) = (end + 1, 1);
        is_short
    })
}

/// Rows whose widths are not that of the header.
///
/// Spreadsheets and Mechanical Turk leave out the last cells of a row where they are empty. A row that
/// is too wide is damaged, as is a last row that breaks off where no other ends as early; and two short
/// rows that make one are a line break in a text without quotes.
struct Widths {
    header: usize,
    short: u64,
    /// Cells of the shortest row so far.
    least: usize,
    /// Cells of the row before, if it was short.
    before: Option<usize>,
    /// Whether the first cell of a whole row had white space in it.
    first_has_space: bool,
}

impl Widths {
    fn new(header: usize) -> Self {
        Self { header, short: 0, least: header, before: None, first_has_space: false }
    }

    /// What may be wrong with a row, if something is.
    fn see(&mut self, record: &csv::ByteRecord, is_cut: bool) -> Option<&'static str> {
        let cells = record.len();
        let has_space = || record[0].iter().any(u8::is_ascii_whitespace);
        if cells > self.header {
            return Some("is a quote missing?");
        }
        if cells == self.header {
            self.first_has_space |= has_space();
            self.before = None;
            return None;
        }
        if is_cut && cells < self.least {
            return Some("does the file break off?");
        }
        let halves = self.before.is_some_and(|before| before + cells == self.header + 1);
        if halves && has_space() && !self.first_has_space {
            return Some("is there a line break in a text without quotes?");
        }
        self.short += 1;
        self.least = self.least.min(cells);
        self.before = Some(cells);
        None
    }
}

/// A question in brackets, if there is one.
pub(super) fn hint(question: &str) -> String {
    if question.is_empty() { String::new() } else { format!(" ({question})") }
}

fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Whether a cell is a list or an object of JSON.
fn is_structure(cell: &str) -> bool {
    cell.starts_with(['[', '{']) && serde_json::from_str::<IgnoredAny>(cell).is_ok()
}

/// The line of a quote that opens a cell and is never closed.
fn open_quote(bytes: &[u8], delimiter: u8) -> Option<u64> {
    let (mut line, mut opened, mut at_start) = (1, None, true);
    let mut bytes = bytes.iter().peekable();
    while let Some(&byte) = bytes.next() {
        line += u64::from(byte == b'\n');
        match opened {
            Some(_) if byte == b'"' && bytes.next_if_eq(&&b'"').is_none() => opened = None,
            None if byte == b'"' && at_start => opened = Some(line),
            _ => {}
        }
        at_start = byte == delimiter || byte == b'\n' || byte == b'\r';
    }
    opened
}

/// A JSON value as a cell: text as it is, numbers and booleans as written, lists as JSON.
fn cell_of(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn where_no_line_is_too_long_the_count_of_cells_tells_of_short_ones(
            widths in proptest::collection::vec(1..=3_usize, 1..40),
            ends in proptest::bool::ANY,
        ) {
            let lines: Vec<String> = widths.iter().map(|width| vec!["é"; *width].join(",")).collect();
            let text = lines.join("\n") + if ends { "\n" } else { "" };
            let has_short = widths.iter().any(|width| *width < 3);
            proptest::prop_assert_eq!(has_cells_of_whole_lines(text.as_bytes(), b',', 3), !has_short);
            proptest::prop_assert_eq!(has_short_line(text.as_bytes(), b',', 3), has_short);
        }
    }
}
