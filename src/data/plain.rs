//! A fast way through large separated files that use nothing but separators and line ends.
//!
//! Ten million rows are read on all cores, names being numbered as they are met. Whatever is
//! unusual (a quote, a row of another width, an empty field, bad UTF-8, a lone carriage return)
//! makes the whole file go through [`super::rows`] instead, which is slower and can say what is
//! wrong where. Both give the same rows.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use memchr::{memchr, memchr2_iter};
use rayon::prelude::*;

use super::labels::{Label, LabelNames, LabelReport, MAX_LABELS};
use super::progress::Progress;
use super::reading::Reader;
use super::rows::{Column, MAX_RECORD_BYTES};
use super::source::{Format, Source};

/// Fewest bytes that are worth a thread.
const LEAST_PART_BYTES: usize = 1 << 18;

/// Columns of a report, in this order: task, worker, label.
const COLUMNS: usize = 3;

/// Reads reports; `None` if the file is not plain.
pub(super) fn read_plain_reports(
    source: &Source,
    schema: &[Column; COLUMNS],
) -> Option<(LabelNames, Vec<LabelReport>)> {
    let delimiter = match source.format {
        Format::Csv => b',',
        Format::Tsv => b'\t',
        Format::JsonLines => return None,
    };
    let (header, body) = source.bytes.split_at(memchr(b'\n', &source.bytes)? + 1);
    let layout = Layout::of_header(header, delimiter, schema)?;
    let parts = split_at_lines(body, rayon::current_num_threads());
    let progress = source.listener.reading(source.bytes.len());
    let parts: Vec<Part> =
        parts.into_par_iter().map(|part| layout.read(part, &*progress)).collect::<Option<_>>()?;
    merge(parts)
}

/// Where the columns are.
struct Layout {
    delimiter: u8,
    width: usize,
    positions: [usize; COLUMNS],
}

impl Layout {
    /// `None` if a column is missing or named twice, which is for the slow reader to explain.
    fn of_header(header: &[u8], delimiter: u8, schema: &[Column; COLUMNS]) -> Option<Self> {
        if header.contains(&b'"') {
            return None;
        }
        let header = std::str::from_utf8(header).ok()?.trim_end_matches(['\r', '\n']);
        if header.contains('\r') {
            return None;
        }
        let names: Vec<&str> = header.split(char::from(delimiter)).collect();
        let mut positions = [0; COLUMNS];
        for (position, column) in positions.iter_mut().zip(schema) {
            let mut found = (0..names.len()).filter(|&index| column.matches(names[index]));
            *position = found.next()?;
            if found.next().is_some() {
                return None;
            }
        }
        Some(Self { delimiter, width: names.len(), positions })
    }

    /// Reads whole lines.
    fn read<'a>(&self, bytes: &'a [u8], progress: &dyn Progress) -> Option<Part<'a>> {
        if memchr(b'"', bytes).is_some() || std::str::from_utf8(bytes).is_err() {
            return None;
        }
        let carriage_returns = memchr(b'\r', bytes).is_some();
        let mut part = Part::default();
        let mut reading = Reader::new(progress);
        let mut fields = vec![&bytes[..0]; self.width];
        let (mut start, mut line_start, mut field) = (0, 0, 0);
        let ends = memchr2_iter(self.delimiter, b'\n', bytes);
        // The last line may lack its line end.
        let last = (!bytes.ends_with(b"\n")).then_some(bytes.len());
        for end in ends.chain(last) {
            *fields.get_mut(field)? = &bytes[start..end];
            start = end + 1;
            if bytes.get(end) == Some(&self.delimiter) {
                field += 1;
                continue;
            }
            if end - line_start > MAX_RECORD_BYTES {
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
                let [task, worker, label] =
                    self.positions.map(|position| trimmed(fields[position]));
                part.push(task?, worker?, label?);
            }
            (line_start, field) = (start, 0);
            reading.at(start);
        }
        Some(part)
    }
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
        && last.is_ascii_graphic()
    {
        return Some(field);
    }
    let text = std::str::from_utf8(field).ok()?.trim();
    (!text.is_empty()).then_some(text.as_bytes())
}

/// Reports of one part of the file, under numbers of its own.
#[derive(Default)]
struct Part<'a> {
    tasks: Numbers<'a>,
    workers: Numbers<'a>,
    labels: Numbers<'a>,
    /// Task, worker and label.
    reports: Vec<[u32; COLUMNS]>,
}

impl<'a> Part<'a> {
    fn push(&mut self, task: &'a [u8], worker: &'a [u8], label: &'a [u8]) {
        let report =
            [self.tasks.number(task), self.workers.number(worker), self.labels.number(label)];
        self.reports.push(report);
    }
}

/// Names within one part, borrowed from the file.
#[derive(Default)]
struct Numbers<'a> {
    names: Vec<&'a [u8]>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    last: u32,
}

impl<'a> Numbers<'a> {
    fn number(&mut self, name: &'a [u8]) -> u32 {
        // Files are often sorted, so the name is often that of the row before.
        if self.names.get(self.last as usize) == Some(&name) {
            return self.last;
        }
        let hash = self.hasher.hash_one(name);
        let found = self.index.find(hash, |&id| self.names[id as usize] == name);
        self.last = found.copied().unwrap_or_else(|| {
            let id = u32::try_from(self.names.len()).expect("a part has fewer than 2^32 names");
            self.names.push(name);
            let (names, hasher) = (&self.names, &self.hasher);
            self.index.insert_unique(hash, id, |&id| hasher.hash_one(names[id as usize]));
            id
        });
        self.last
    }
}

/// Joins the parts in file order, so that names are numbered by first appearance in the file.
fn merge(parts: Vec<Part<'_>>) -> Option<(LabelNames, Vec<LabelReport>)> {
    let mut names = LabelNames::default();
    let mut reports = Vec::with_capacity(parts.iter().map(|part| part.reports.len()).sum());
    for part in parts {
        let tasks = global(&part.tasks, |name| names.tasks.intern(name))?;
        let workers = global(&part.workers, |name| names.workers.intern(name))?;
        let labels = global(&part.labels, |name| names.labels.intern(name))?;
        if names.labels.len() > MAX_LABELS {
            return None;
        }
        reports.extend(part.reports.into_iter().map(|[task, worker, label]| LabelReport {
            task: tasks[task as usize],
            worker: workers[worker as usize],
            label: labels[label as usize] as Label,
        }));
    }
    (!reports.is_empty() && u32::try_from(reports.len()).is_ok()).then_some((names, reports))
}

fn global(numbers: &Numbers<'_>, mut intern: impl FnMut(&str) -> u32) -> Option<Vec<u32>> {
    numbers.names.iter().map(|name| std::str::from_utf8(name).ok().map(&mut intern)).collect()
}

/// Splits a file into about `count` parts of whole lines.
fn split_at_lines(mut bytes: &[u8], count: usize) -> Vec<&[u8]> {
    let size = (bytes.len() / count.max(1)).max(LEAST_PART_BYTES);
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
    use super::*;

    #[test]
    fn parts_are_whole_lines_and_nothing_is_lost() {
        let bytes: Vec<u8> = (0..200_000).flat_map(|n| format!("{n}\n").into_bytes()).collect();
        let parts = split_at_lines(&bytes, 4);
        assert_eq!(parts.len(), 4);
        assert!(parts.iter().all(|part| part.ends_with(b"\n")));
        assert_eq!(parts.concat(), bytes);
    }
}
