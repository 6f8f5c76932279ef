//! The files of a simulation.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

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
    check_free(files, folder)?;
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

/// Refuses to write over what no simulation left: in a folder of somebody's own work `labels.csv` may be the
/// only copy. The same command may be run again.
fn check_free(files: &[SimulatedFile<'_>], folder: &Path) -> Result<()> {
    /// How the file of who did what begins, which only simulations write.
    const OF_SIMULATIONS: [&str; 2] = ["worker,kind", "reviewer,kind"];
    const MOST: u64 = 64;
    let taken = files.iter().map(|file| folder.join(file.name)).find(|path| path.exists());
    let Some(path) = taken else { return Ok(()) };
    let mut first = String::new();
    let truth = std::fs::File::open(folder.join("truth.csv"));
    let read = truth.and_then(|file| BufReader::new(file.take(MOST)).read_line(&mut first));
    if read.is_ok() && OF_SIMULATIONS.iter().any(|start| first.starts_with(start)) {
        return Ok(());
    }
    let message = format!(
        "`{}` is there, and no simulation left it; nothing was written: choose another folder",
        path.display()
    );
    Err(UsageError(message).into())
}
