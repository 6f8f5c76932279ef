//! `caz completions` and `caz man`: files for shells and readers.

use std::io::{self, Write};
use std::path::Path;

use crate::error::{Context, Result};
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use super::common::Common;
use super::exit::ExitStatus;
use super::help::arranged;
use super::output::{write_public_output, write_stdout};

/// Print the completion script of a shell
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Runs `caz completions`.
pub(super) fn completions(args: &CompletionsArgs, common: &Common) -> Result<ExitStatus> {
    let mut command = arranged(Cli::command());
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "caz", &mut script);
    match &common.output {
        Some(path) => write_public_output(path, |out| out.write_all(&script))?,
        None => write_stdout(|out| out.write_all(&script))?,
    }
    Ok(ExitStatus::Done)
}

/// What a code means, for the manual page.
const EXIT_CODES: &str = "\
.SH \"EXIT STATUS\"
.TS
tab(;);
l l.
0;done
1;done, but a gate that was set failed
2;the command line makes no sense
3;bad input data
4;a file, model or key is missing
5;network or server failed
130;interrupted
.TE
";

/// Runs `caz man`: one page for the program and all its commands, or one page for each in a folder.
pub(super) fn man(common: &Common) -> Result<ExitStatus> {
    let mut command = arranged(Cli::command());
    command.build();
    if let Some(folder) = &common.output {
        let name = folder.display();
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder `{name}`"))?;
        write_pages(&command, "caz", folder)?;
        return Ok(ExitStatus::Done);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    render_below(&command, "caz", &mut page)?;
    page.extend_from_slice(EXIT_CODES.as_bytes());
    write_stdout(|out| out.write_all(&page))?;
    Ok(ExitStatus::Done)
}

/// The commands of a command that are shown.
fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

fn render_below(command: &Command, path: &str, page: &mut Vec<u8>) -> io::Result<()> {
    for sub in shown(command) {
        let path = format!("{path} {}", sub.get_name());
        let man = clap_mangen::Man::new(sub.clone());
        writeln!(page, ".SH \"{}\"", path.to_uppercase())?;
        man.render_description_section(page)?;
        man.render_options_section(page)?;
        man.render_extra_section(page)?;
        render_below(sub, &path, page)?;
    }
    Ok(())
}

/// `caz.1`, `caz-reviews.1` and so on.
fn write_pages(command: &Command, name: &str, folder: &Path) -> Result<()> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    page.extend_from_slice(EXIT_CODES.as_bytes());
    write_public_output(&folder.join(format!("{name}.1")), |out| out.write_all(&page))?;
    for sub in shown(command) {
        write_pages(sub, &format!("{name}-{}", sub.get_name()), folder)?;
    }
    Ok(())
}
