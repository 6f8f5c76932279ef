//! What LLMs or the truth say of the tasks of a crowd.

use super::{Numbers, Take, as_text, read_in_parts, usual_parts};
use crate::data::answers::is_spreadsheet_error;
use crate::data::ids::{Ids, Place};
use crate::data::rows::Column;
use crate::data::source::{Format, Source};

/// What one row says of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::data) struct Given<'a> {
    /// Number of the task, or the name of one that is not known.
    pub(in crate::data) task: Result<u32, &'a str>,
    pub(in crate::data) label: &'a str,
    pub(in crate::data) source: Option<&'a str>,
    pub(in crate::data) sample: Option<&'a str>,
    pub(in crate::data) line: u64,
}

/// Reads a table whose columns are a task, a label and, unless `schema` ends there, a source and a sample; `visit`
/// sees the rows in the order of the file. Returns how many there are. `None`, and nothing seen, if the file is not
/// plain.
pub(in crate::data) fn read_plain_given<const N: usize>(
    source: &Source,
    schema: &[Column; N],
    tasks: &Ids,
    visit: &mut dyn FnMut(Given<'_>),
) -> Option<u64> {
    let parts = read_in_parts(source, schema, &|| Part::of(tasks), usual_parts())?;
    let rows: usize = parts.iter().map(|part| part.rows.len()).sum();
    let mut unknown = parts.iter().flat_map(|part| &part.unknown.names);
    if rows == 0 || unknown.any(|name| is_spreadsheet_error(as_text(name))) {
        return None;
    }
    let mut first = if source.format == Format::JsonLines { 1 } else { 2 };
    for part in parts {
        let texts = |numbers: &Numbers<'_>| -> Vec<String> {
            numbers.names.iter().map(|name| as_text(name).to_owned()).collect()
        };
        let [unknown, labels, sources, samples] =
            [&part.unknown, &part.labels, &part.sources, &part.samples].map(texts);
        let optional = |names: &'_ [String], number: u32| {
            Some(number as usize).filter(|&number| !names[number].is_empty())
        };
        for row in &part.rows {
            visit(Given {
                task: row.task.map_err(|number| unknown[number as usize].as_str()),
                label: &labels[row.label as usize],
                source: optional(&sources, row.source).map(|number| sources[number].as_str()),
                sample: optional(&samples, row.sample).map(|number| samples[number].as_str()),
                line: source.place(first + u64::from(row.line)),
            });
        }
        first += u64::from(part.lines);
    }
    Some(rows as u64)
}

/// Rows of one part of the file, under numbers of its own but for known tasks.
struct Part<'a, 't> {
    tasks: &'t Ids,
    last: Place,
    unknown: Numbers<'a>,
    labels: Numbers<'a>,
    /// The empty name stands for none.
    sources: Numbers<'a>,
    samples: Numbers<'a>,
    rows: Vec<Row>,
    lines: u32,
}

struct Row {
    task: Result<u32, u32>,
    label: u32,
    source: u32,
    sample: u32,
    line: u32,
}

impl<'t> Part<'_, 't> {
    fn of(tasks: &'t Ids) -> Self {
        Self {
            tasks,
            last: Place::default(),
            unknown: Numbers::default(),
            labels: Numbers::default(),
            sources: Numbers::default(),
            samples: Numbers::default(),
            rows: Vec::new(),
            lines: 0,
        }
    }
}

impl<'a, const N: usize> Take<'a, N> for Part<'a, '_> {
    fn take(&mut self, fields: [Option<&'a [u8]>; N], line: u32) -> Option<()> {
        let field = |place: usize| fields.get(place).copied().flatten();
        let name = field(0)?;
        let known = self.tasks.get_after(as_text(name), &mut self.last);
        self.rows.push(Row {
            task: known.ok_or_else(|| self.unknown.number(name)),
            label: self.labels.number(field(1)?),
            source: self.sources.number(field(2).unwrap_or_default()),
            sample: self.samples.number(field(3).unwrap_or_default()),
            line,
        });
        Some(())
    }

    fn finish(self, lines: u32) -> Option<Self> {
        Some(Self { lines, ..self })
    }
}
