//! The files of a simulation.

use crate::cli::common::Common;
use crate::cli::exit::UsageError;
use crate::cli::output::write_output;
use crate::error::{Context, Result};
use crate::report::Report;
use crate::simulate::run::SimulatedFile;

/// Writes the files of a simulation into the folder named by `--output`, made if it does not exist,
/// and gives the report.
pub(super) fn write(
    files: &[SimulatedFile<'_>],
    mut report: Report,
    common: &Common,
) -> Result<Report> {
    let Some(folder) = &common.output else {
        return Err(UsageError("name a folder for the files; add --output DIR".into()).into());
    };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    for file in files {
        write_output(&folder.join(file.name), |out| file.write(out))?;
    }
    let names: Vec<&str> = files.iter().map(|file| file.name).collect();
    let (last, first) = names.split_last().expect("every simulation has files");
    let wrote = format!("Wrote {} and {last} to {}.", first.join(", "), folder.display());
    let said = std::iter::once(wrote).chain(report.footer);
    report.footer = vec![said.collect::<Vec<_>>().join(" ")];
    Ok(report)
}
