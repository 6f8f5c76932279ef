//! Simulations as a whole: settings in; tables, files and a report out.

mod crowd;
mod labels;
mod reviews;

use std::io::{self, Write};

pub(crate) use self::crowd::{CrowdSettings, read_matrices};
pub(crate) use self::labels::LabelsSettings;
pub(crate) use self::reviews::ReviewsSettings;
use crate::data::formula::guarded;
use crate::data::labels::LabelTable;

/// What writes a whole file.
type Writes<'a> = dyn Fn(&mut dyn Write) -> io::Result<()> + 'a;

/// A file of a simulation; it is written when it is asked for.
pub(crate) struct SimulatedFile<'a> {
    /// Its name, ending included.
    pub name: &'static str,
    write: Box<Writes<'a>>,
}

impl<'a> SimulatedFile<'a> {
    fn new(name: &'static str, write: impl Fn(&mut dyn Write) -> io::Result<()> + 'a) -> Self {
        Self { name, write: Box::new(write) }
    }

    /// Writes the whole file.
    ///
    /// # Errors
    ///
    /// What `out` reports.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        (self.write)(out)
    }
}

/// Rows of text as CSV.
fn write_rows<R: AsRef<[String]>>(
    out: &mut dyn Write,
    header: &[&str],
    rows: impl Iterator<Item = R>,
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(header)?;
    for row in rows {
        writer.write_record(row.as_ref().iter().map(|cell| guarded(cell).into_owned()))?;
    }
    writer.flush()
}

/// `task,worker,label`, by task, then by worker.
fn write_labels(out: &mut dyn Write, table: &LabelTable) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["task", "worker", "label"])?;
    for report in table.reports() {
        let names = [
            table.tasks().name(report.task),
            table.workers().name(report.worker),
            table.labels().name(u32::from(report.label)),
        ];
        writer.write_record(names.map(|name| guarded(name).into_owned()))?;
    }
    writer.flush()
}
