//! The folder of a simulation.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::super::common::Common;
use super::super::exit::UsageError;
use super::super::output::write_output;
use crate::data::labels::LabelTable;

/// The folder named by `--output`, made if it does not exist.
pub(super) fn output_folder(common: &Common) -> Result<PathBuf> {
    let Some(folder) = &common.output else {
        return Err(UsageError("name a folder for the files; add --output DIR".into()).into());
    };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    Ok(folder.clone())
}

/// The flags with the summary going to standard output, as `--output` is taken by the folder.
pub(super) fn to_stdout(common: &Common) -> Common {
    Common { output: None, ..common.clone() }
}

/// Writes rows of text as CSV.
pub(super) fn write_rows<R: AsRef<[String]>>(
    path: &Path,
    header: &[&str],
    rows: impl Iterator<Item = R>,
) -> Result<()> {
    write_output(path, |out| {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(header)?;
        for row in rows {
            writer.write_record(row.as_ref())?;
        }
        writer.flush()
    })
}

/// Writes `task,worker,label`, by task, then by worker.
pub(super) fn write_labels(path: &Path, table: &LabelTable) -> Result<()> {
    write_output(path, |out| label_rows(table, out))
}

fn label_rows(table: &LabelTable, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["task", "worker", "label"])?;
    for report in table.reports() {
        writer.write_record([
            table.tasks().name(report.task),
            table.workers().name(report.worker),
            table.labels().name(u32::from(report.label)),
        ])?;
    }
    writer.flush()
}
