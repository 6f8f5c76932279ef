//! Where the answers of a model go that a study is then made of.

use super::super::common::{Common, OutputFormat};
use super::super::exit::UsageError;
use super::super::files::OutputFile;
use super::super::output::check_output;
use crate::error::Result;

/// What a run that asks for answers is told in place of what the command line says of the study:
/// the answers go to `answers`, from where they are read again. A dry run has no other output.
/// `what` the answers are is for messages.
pub(super) fn in_place_of_a_study(
    answers: Option<&OutputFile>,
    what: &str,
    dry_run: bool,
    common: &Common,
) -> Result<Common> {
    check_output(answers.map(AsRef::as_ref))?;
    let ending = answers.and_then(|path| OutputFormat::by_ending(path));
    let is_readable = matches!(ending, Some(OutputFormat::Csv | OutputFormat::Jsonl));
    if !is_readable && !dry_run {
        let message = format!(
            "say where the {what} go, from where a study can be made of them again: --answers \
             FILE, which ends in .csv or .jsonl"
        );
        return Err(UsageError(message).into());
    }
    let tells = |format: &OutputFormat| {
        dry_run && !matches!(format, OutputFormat::Table | OutputFormat::Markdown)
    };
    let format = common.format.filter(tells);
    let output = answers.filter(|_| !dry_run).cloned();
    Ok(Common { format, output, ..common.clone() })
}
