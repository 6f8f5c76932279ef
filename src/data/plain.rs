//! A fast way through large files that use nothing but separators, quotes around fields and line ends, or
//! JSON lines of flat objects.
//!
//! Ten million rows are read on all cores, names being numbered as they are met and then in their
//! order. Whatever is unusual (an escape, a line end in quotes, a row of another width, an empty field, the
//! error of a spreadsheet for a name, bad UTF-8, a lone carriage return) makes the whole file go through [`super::rows`] instead, which is slower and
//! can say what is wrong where. Both give the same rows.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

mod given;
mod json_lines;
mod places;

pub(super) use given::{Given, read_plain_given};
pub(super) use places::places_of;

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use memchr::{memchr, memchr2, memchr3};
use rayon::prelude::*;

use super::answers::is_spreadsheet_error;
use super::formula::unguarded;
use super::ids::{Ids, keys_in_order, whole};
use super::labels::{Label, LabelNames, LabelReport, MAX_LABELS};
use super::progress::Progress;
use super::reading::Reader;
use super::rows::{Column, MAX_RECORD_BYTES};
use super::source::{Format, Source};

/// Fewest bytes that are worth a thread.
pub(super) const LEAST_PART_BYTES: usize = 1 << 18;

/// Takes the fields of the rows of one part of a file, one after another.
trait Take<'a, const N: usize>: Sized + Send {
    /// What the columns of a row hold, without white space around it, and its line within the part, from 0.
    /// `None` where it cannot go on this way.
    fn take(&mut self, fields: [Option<&'a [u8]>; N], line: u32) -> Option<()>;

    /// After the last row of the part, which has so many lines.
    fn finish(self, lines: u32) -> Option<Self>;
}

/// Reads reports, in the order of the file, in parts; tasks, workers and labels are numbered in the order
/// of their names. `None` if the file is not plain.
pub(super) fn read_plain_reports(
    source: &Source,
    schema: &[Column; 3],
) -> Option<(LabelNames, Vec<Vec<LabelReport>>)> {
    merge(read_in_parts(source, schema, &Part::default, usual_parts())?)
}

/// How many parts, and how large they are at least.
fn usual_parts() -> (usize, usize) {
    (rayon::current_num_threads(), LEAST_PART_BYTES)
}

fn read_in_parts<'a, const N: usize, T: Take<'a, N>>(
    source: &'a Source,
    schema: &[Column; N],
    new: &(impl Fn() -> T + Sync),
    (count, least_bytes): (usize, usize),
) -> Option<Vec<T>> {
    let progress = source.listener.reading(source.bytes.len());
    let in_parts = |bytes: &'a [u8], read: &(dyn Fn(&'a [u8]) -> Option<T> + Sync)| {
        let parts = split_at_lines(bytes, count, least_bytes).into_par_iter();
        parts.map(|part| std::str::from_utf8(part).ok().and_then(|_| read(part))).collect()
    };
    let delimiter = match source.format {
        Format::Csv => b',',
        Format::Tsv => b'\t',
        Format::JsonLines => {
            return in_parts(&source.bytes, &|part| {
                json_lines::read(part, schema, new(), &*progress)
            });
        }
    };
    let (header, body) = source.bytes.split_at(memchr(b'\n', &source.bytes)? + 1);
    let layout = Layout::of_header(header, delimiter, schema)?;
    in_parts(body, &|part| layout.read(part, new(), &*progress))
}

/// Where the columns are.
struct Layout<'s, const N: usize> {
    delimiter: u8,
    width: usize,
    schema: &'s [Column; N],
    positions: [Option<usize>; N],
}

impl<'s, const N: usize> Layout<'s, N> {
    /// `None` if a column is missing or named twice, which is for the slow reader to explain.
    fn of_header(header: &[u8], delimiter: u8, schema: &'s [Column; N]) -> Option<Self> {
        let header = std::str::from_utf8(header).ok()?.trim_end_matches(['\r', '\n']);
        if header.contains('\r') {
            return None;
        }
        let names = quoted_fields(header.as_bytes(), delimiter).map(|field| Some(field?.0));
        let names: Vec<&[u8]> = names.collect::<Option<_>>()?;
        let positions = positions(&names, schema)?;
        Some(Self { delimiter, width: names.len(), schema, positions })
    }

    /// Reads whole lines of UTF-8.
    fn read<'a, T: Take<'a, N>>(
        &self,
        bytes: &'a [u8],
        part: T,
        progress: &dyn Progress,
    ) -> Option<T> {
        if memchr(b'"', bytes).is_some() {
            let fields = quoted_fields(bytes, self.delimiter);
            return self.read_fields((bytes, fields), part, progress);
        }
        // The last line may lack its line end.
        let last = (!bytes.ends_with(b"\n")).then_some(bytes.len());
        let mut start = 0;
        let fields = places_of([self.delimiter, b'\n'], bytes).chain(last).map(|end| {
            let field = &bytes[start..end];
            start = end + 1;
            Some((field, end))
        });
        self.read_fields((bytes, fields), part, progress)
    }

    /// Reads fields of whole lines, each with the place where it ends.
    fn read_fields<'a, T: Take<'a, N>>(
        &self,
        (bytes, all): (&'a [u8], impl Iterator<Item = Option<(&'a [u8], usize)>>),
        mut part: T,
        progress: &dyn Progress,
    ) -> Option<T> {
        let carriage_returns = memchr(b'\r', bytes).is_some();
        let mut reading = Reader::new(progress);
        let mut fields = vec![&bytes[..0]; self.width];
        let (mut line_start, mut field, mut line) = (0, 0, 0);
        for found in all {
            let (text, end) = found?;
            *fields.get_mut(field)? = text;
            if bytes.get(end) == Some(&self.delimiter) {
                field += 1;
                continue;
            }
            if end - line_start >= MAX_RECORD_BYTES {
                return None;
            }
            if carriage_returns && !without_carriage_return(&mut fields[..=field]) {
                return None;
            }
            let blank = field == 0 && fields[0].iter().all(u8::is_ascii_whitespace);
            if !blank {
                if field + 1 != self.width {
                    return None;
                }
                // Not by `map` of arrays, which is a call for every cell.
                let mut cells = [None; N];
                for (cell, position) in cells.iter_mut().zip(self.positions) {
                    *cell = position.and_then(|position| trimmed(fields[position]));
                }
                part.take(complete(cells, self.schema)?, line)?;
            }
            (line_start, field, line) = (end + 1, 0, line + 1);
            reading.at(line_start);
        }
        part.finish(line)
    }
}

/// The fields; `None` if one is missing that must be there.
fn complete<'a, const N: usize>(
    fields: [Option<&'a [u8]>; N],
    schema: &[Column; N],
) -> Option<[Option<&'a [u8]>; N]> {
    let is_complete = fields.iter().zip(schema).all(|(field, c)| field.is_some() || !c.required);
    is_complete.then_some(fields)
}

/// Where among `names` the columns are; `None` if one is named twice, or missing that must be there.
fn positions<const N: usize>(names: &[&[u8]], schema: &[Column; N]) -> Option<[Option<usize>; N]> {
    let mut positions = [None; N];
    for (position, column) in positions.iter_mut().zip(schema) {
        let is_column = |&place: &usize| {
            std::str::from_utf8(names[place]).is_ok_and(|name| column.matches(name))
        };
        let mut found = (0..names.len()).filter(is_column);
        *position = found.next();
        if found.next().is_some() || (position.is_none() && column.required) {
            return None;
        }
    }
    Some(positions)
}

/// Fields, some of them in quotes that hold neither quote nor line end, and where each ends; `None` for any other
/// quote, and then whatever.
fn quoted_fields(bytes: &[u8], delimiter: u8) -> impl Iterator<Item = Option<(&[u8], usize)>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(start..)?;
        if rest.is_empty() && bytes.ends_with(b"\n") {
            return None;
        }
        let found = quoted_field(rest, delimiter).map(|(field, length)| (field, start + length));
        start = found.map_or(bytes.len(), |(_, end)| end) + 1;
        Some(found)
    })
}

/// The first field, and where it ends.
fn quoted_field(bytes: &[u8], delimiter: u8) -> Option<(&[u8], usize)> {
    let Some(quoted) = bytes.strip_prefix(b"\"") else {
        let end = memchr3(delimiter, b'\n', b'"', bytes).unwrap_or(bytes.len());
        return (bytes.get(end) != Some(&b'"')).then(|| (&bytes[..end], end));
    };
    let field = &quoted[..memchr(b'"', quoted)?];
    if memchr2(b'\n', b'\r', field).is_some() {
        return None;
    }
    let after = &quoted[field.len() + 1..];
    let carriage_return = usize::from(after.starts_with(b"\r\n"));
    let is_end = after.get(carriage_return).is_none_or(|&b| b == delimiter || b == b'\n');
    is_end.then_some((field, field.len() + 2 + carriage_return))
}

/// Removes the carriage return before a line end; `false` if there is another one.
fn without_carriage_return(fields: &mut [&[u8]]) -> bool {
    if let Some(last) = fields.last_mut() {
        *last = last.strip_suffix(b"\r").unwrap_or(last);
    }
    fields.iter().all(|field| memchr(b'\r', field).is_none())
}

/// The field without white space around it; `None` if nothing is left.
fn trimmed(field: &[u8]) -> Option<&[u8]> {
    if let [first, .., last] | [first @ last] = field
        && first.is_ascii_graphic()
        && *first != b'\''
        && last.is_ascii_graphic()
    {
        return Some(field);
    }
    let text = unguarded(std::str::from_utf8(field).ok()?).trim();
    (!text.is_empty()).then_some(text.as_bytes())
}

/// Reports of one part of the file, under numbers of its own.
#[derive(Default)]
struct Part<'a> {
    tasks: Numbers<'a>,
    workers: Numbers<'a>,
    labels: Numbers<'a>,
    waiting: Vec<[&'a [u8]; 3]>,
    /// In blocks, so that none is copied when there are more.
    reports: Vec<Vec<LabelReport>>,
}

/// Rows whose names are looked up together, column by column: where they come in any order, the processor
/// then waits for the memory of several at a time.
const TOGETHER: usize = 64;

/// Reports that are kept side by side.
const BLOCK: usize = if cfg!(test) { TOGETHER } else { 1 << 16 };

impl<'a> Take<'a, 3> for Part<'a> {
    fn take(&mut self, fields: [Option<&'a [u8]>; 3], _: u32) -> Option<()> {
        let [Some(task), Some(worker), Some(label)] = fields else { return None };
        self.waiting.push([task, worker, label]);
        if self.waiting.len() < TOGETHER { Some(()) } else { self.number() }
    }

    fn finish(mut self, _: u32) -> Option<Self> {
        self.number()?;
        Some(self)
    }
}

impl Part<'_> {
    /// `None` where there are too many labels.
    fn number(&mut self) -> Option<()> {
        let mut numbers = [[0; 3]; TOGETHER];
        let columns = [&mut self.tasks, &mut self.workers, &mut self.labels];
        for (place, column) in columns.into_iter().enumerate() {
            let names = self.waiting.iter().map(|row| row[place]);
            column.number_all(names, numbers.iter_mut().map(|row| &mut row[place]));
        }
        let block = match self.reports.last_mut() {
            Some(block) if block.len() + TOGETHER <= BLOCK => block,
            _ => self.reports.push_mut(Vec::with_capacity(BLOCK)),
        };
        for &[task, worker, label] in &numbers[..self.waiting.len()] {
            let label = Label::try_from(label).ok()?;
            block.push(LabelReport { task, worker, label });
        }
        self.waiting.clear();
        Some(())
    }
}

/// Names within one part, borrowed from the file.
struct Numbers<'a> {
    names: Vec<&'a [u8]>,
    /// Of each name [`short`], or its hash, and its number: most are compared without a look elsewhere.
    index: HashTable<(u64, u32)>,
    hasher: DefaultHashBuilder,
    /// Names that were met last, by [`recent_place`]; at first a key that no short name has.
    recent: [(u64, u32); RECENT],
}

impl Default for Numbers<'_> {
    fn default() -> Self {
        let (names, index, hasher) = (Vec::new(), HashTable::new(), DefaultHashBuilder::default());
        Self { names, index, hasher, recent: [(LONG, 0); RECENT] }
    }
}

/// Keys from here on are hashes of names that are too long for [`short`].
const LONG: u64 = 0xff << 56;

/// Files are often sorted, and labels are few: so many names are at hand without a look into the index.
const RECENT: usize = 16;

/// Where the key of a short name is among the recent ones.
fn recent_place(key: u64) -> usize {
    // Fibonacci hashing: the highest bits of a product depend on all of the key.
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60) as usize
}

impl<'a> Numbers<'a> {
    /// The numbers of at most [`TOGETHER`] names.
    fn number_all<'n>(
        &mut self,
        names: impl Iterator<Item = &'a [u8]> + Clone,
        numbers: impl Iterator<Item = &'n mut u32>,
    ) {
        let mut keys = [0; TOGETHER];
        keys.iter_mut().zip(names.clone()).for_each(|(key, name)| *key = self.key(name));
        for ((number, key), name) in numbers.zip(keys).zip(names) {
            *number = self.number_of(name, key);
        }
    }

    fn number(&mut self, name: &'a [u8]) -> u32 {
        self.number_of(name, self.key(name))
    }

    fn key(&self, name: &[u8]) -> u64 {
        short(name).unwrap_or_else(|| self.hasher.hash_one(name) | LONG)
    }

    fn number_of(&mut self, name: &'a [u8], key: u64) -> u32 {
        let place = recent_place(key);
        let (recent, id) = self.recent[place];
        let names = &self.names;
        // No text is looked at for a short name: for the empty one that alone takes a tenth of a microsecond.
        let is_name = |id: u32| names.get(id as usize).is_some_and(|known| *known == name);
        let same = |&(other, id): &(u64, u32)| other == key && (key < LONG || is_name(id));
        if same(&(recent, id)) {
            return id;
        }
        let hash = self.hasher.hash_one(key);
        let found = if let Some(&found) = self.index.find(hash, same) {
            found
        } else {
            let id = u32::try_from(names.len()).expect("a part has fewer than 2^32 names");
            self.names.push(name);
            let hasher = &self.hasher;
            self.index.insert_unique(hash, (key, id), |&(key, _)| hasher.hash_one(key));
            (key, id)
        };
        self.recent[place] = found;
        found.1
    }
}

/// A name of at most seven bytes as a number that no other name has, with its length in the highest byte.
fn short(name: &[u8]) -> Option<u64> {
    let value = match *name {
        [] => 0,
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c] => u64::from(u32::from_le_bytes([a, b, c, 0])),
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e] => u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]),
        [a, b, c, d, e, f] => u64::from_le_bytes([a, b, c, d, e, f, 0, 0]),
        [a, b, c, d, e, f, g] => u64::from_le_bytes([a, b, c, d, e, f, g, 0]),
        _ => return None,
    };
    Some(value | (name.len() as u64) << 56)
}

/// Gives the names of all parts numbers in their order.
fn merge(parts: Vec<Part<'_>>) -> Option<(LabelNames, Vec<Vec<LabelReport>>)> {
    let (mut names, mut reports) = ([const { Vec::new() }; 3], Vec::new());
    for part in parts {
        let of_part = [part.tasks, part.workers, part.labels].map(|numbers| numbers.names);
        names.iter_mut().zip(of_part).for_each(|(all, of_part)| all.push(of_part));
        reports.push(part.reports);
    }
    let count: usize = reports.iter().flatten().map(Vec::len).sum();
    if count == 0 || u32::try_from(count).is_err() {
        return None;
    }
    let [tasks, workers, labels] = names;
    let ((tasks, of_tasks), (workers, of_workers)) =
        rayon::join(|| joined(tasks), || joined(workers));
    let (labels, of_labels) = joined(labels);
    let is_unusual = |names: &[String]| names.iter().any(|name| is_spreadsheet_error(name));
    if labels.len() > MAX_LABELS || is_unusual(&tasks) || is_unusual(&workers) {
        return None;
    }
    let renumber = || {
        reports.par_iter_mut().enumerate().for_each(|(part, blocks)| {
            let (tasks, workers, labels) = (&of_tasks[part], &of_workers[part], &of_labels[part]);
            blocks.par_iter_mut().flatten_iter().for_each(|report| {
                report.task = tasks[report.task as usize];
                report.worker = workers[report.worker as usize];
                report.label = labels[usize::from(report.label)] as Label;
            });
        });
    };
    let ids = || [tasks, workers, labels].map(Ids::of_distinct);
    let ([tasks, workers, labels], ()) = rayon::join(ids, renumber);
    Some((LabelNames { tasks, workers, labels }, reports.into_iter().flatten().collect()))
}

/// All names of all parts in their order, and the new number of each, by part.
fn joined(parts: Vec<Vec<&[u8]>>) -> (Vec<String>, Vec<Vec<u32>>) {
    let names: Vec<&[u8]> = parts.iter().flatten().copied().collect();
    let mut new = vec![0; names.len()];
    let mut distinct: Vec<&[u8]> = Vec::with_capacity(names.len());
    let mut last = None;
    for (key, place) in keys_in_order(&names) {
        let name = names[place as usize];
        let is_known = last == Some(key) && (whole(key) || distinct.last() == Some(&name));
        if !is_known {
            distinct.push(name);
        }
        last = Some(key);
        new[place as usize] = distinct.len() as u32 - 1;
    }
    let mut rest = new.as_slice();
    let of_parts = parts.iter().map(|part| {
        let (of_part, others) = rest.split_at(part.len());
        rest = others;
        of_part.to_vec()
    });
    let of_parts = of_parts.collect();
    drop((names, parts));
    (distinct.par_iter().map(|name| as_text(name).to_owned()).collect(), of_parts)
}

/// Bytes of a part as text.
fn as_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the part is UTF-8")
}

/// Splits a file into about `count` parts of whole lines.
pub(super) fn split_at_lines(mut bytes: &[u8], count: usize, least_bytes: usize) -> Vec<&[u8]> {
    let size = (bytes.len() / count.max(1)).max(least_bytes);
    let mut parts = Vec::with_capacity(count + 1);
    while bytes.len() > size {
        let Some(end) = memchr(b'\n', &bytes[size..]) else { break };
        let (part, rest) = bytes.split_at(size + end + 1);
        parts.push(part);
        bytes = rest;
    }
    if !bytes.is_empty() {
        parts.push(bytes);
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use proptest::prelude::*;

    use super::super::label_reader::{LABEL, TASK, WORKER};
    use super::*;

    proptest! {
        #[test]
        fn however_many_parts_there_are_the_reports_are_those_of_the_lines(
            rows in prop::collection::vec(
                ("[ab]{1,9}|task [0-9]{1,2}", "[a-c]{1,3}|worker-of-a-long-name-[0-9]", "[x-z]|é"),
                1..400,
            ),
            parts in 1..6_usize,
        ) {
            let lines = rows.iter().map(|(q, w, l)| format!("{q},{w},{l}\n"));
            let text = format!("task,worker,label\n{}", lines.collect::<String>());
            let source = Source::from_reader(Path::new("l.csv"), text.as_bytes()).unwrap();
            let reports =
                read_in_parts(&source, &[TASK, WORKER, LABEL], &Part::default, (parts, 16)).unwrap();
            let (names, reports) = merge(reports).unwrap();
            let distinct: BTreeSet<&String> = rows.iter().map(|row| &row.0).collect();
            prop_assert!(distinct.iter().copied().eq(names.tasks.names()));
            let got = reports.iter().flatten().map(|report| {
                let label = names.labels.name(u32::from(report.label));
                (names.tasks.name(report.task), names.workers.name(report.worker), label)
            });
            let want = rows.iter().map(|(q, w, l)| (q.as_str(), w.as_str(), l.as_str()));
            prop_assert!(got.eq(want));
            for (number, name) in (0..).zip(names.tasks.names()) {
                prop_assert_eq!(names.tasks.get(name), Some(number));
            }
        }
    }

    #[test]
    fn short_names_have_different_keys_and_long_ones_none() {
        let names = ["", "\0", "a", "a\0", "ab", "aba", "abab", "ababa", "ababab", "abababa", "é"];
        let keys: BTreeSet<Option<u64>> = names.iter().map(|name| short(name.as_bytes())).collect();
        assert_eq!(keys.len(), names.len());
        assert!(keys.iter().all(|key| key.is_some_and(|key| key < LONG)));
        assert_eq!(short(b"abababab"), None);
    }

    #[test]
    fn parts_are_whole_lines_and_nothing_is_lost() {
        let bytes: Vec<u8> = (0..200_000).flat_map(|n| format!("{n}\n").into_bytes()).collect();
        let parts = split_at_lines(&bytes, 4, LEAST_PART_BYTES);
        assert_eq!(parts.len(), 4);
        assert!(parts.iter().all(|part| part.ends_with(b"\n")));
        assert_eq!(parts.concat(), bytes);
    }
}
