//! `caz completions` and `caz man`: files for shells and readers.

use std::io::{self, Write};

use anyhow::Result;
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use super::exit::ExitStatus;

/// Print the completion script of a shell
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Runs `caz completions`.
pub(super) fn completions(args: &CompletionsArgs) -> Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "caz", &mut script);
    io::stdout().write_all(&script)?;
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

/// Runs `caz man`: one page for the program and all its subcommands.
pub(super) fn man() -> Result<ExitStatus> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        render_subcommand(subcommand, &mut page)?;
    }
    page.extend_from_slice(EXIT_CODES.as_bytes());
    io::stdout().write_all(&page)?;
    Ok(ExitStatus::Done)
}

fn render_subcommand(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let man = clap_mangen::Man::new(command.clone());
    writeln!(page, ".SH \"CAZ {}\"", command.get_name().to_uppercase())?;
    man.render_description_section(page)?;
    man.render_options_section(page)
}
