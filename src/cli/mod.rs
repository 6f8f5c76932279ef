//! The command line: one file per subcommand; the only module that prints, reads environment
//! variables or decides exit codes.

mod agree;
#[cfg(feature = "llm")]
mod annotate;
mod assumptions;
#[cfg(feature = "hub")]
mod bert;
#[cfg(feature = "llm")]
mod cache;
mod canary;
mod common;
mod completions;
mod doctor;
mod embed;
mod embedding;
mod exit;
mod experiment;
mod exports;
pub(crate) mod files;
mod help;
mod import;
mod interruption;
#[cfg(feature = "llm")]
mod judge;
#[cfg(feature = "llm")]
mod judging;
mod keyed;
mod label_input;
mod labels;
#[cfg(feature = "llm")]
mod llm;
#[cfg(feature = "local")]
mod local_file;
mod meant;
mod mechanism_choice;
#[cfg(feature = "hub")]
mod models;
pub(crate) mod output;
mod page;
#[cfg(feature = "llm")]
mod pdf;
pub(crate) mod progress;
#[cfg(feature = "llm")]
mod prompts;
mod remedy;
mod review_input;
mod reviewer_args;
mod reviews;
mod shown_labels;
mod shown_reviews;
mod simulate;
mod spending;
mod terminal;
#[cfg(feature = "llm")]
mod waiting;
mod workers;

use crate::error::{Error, Result};
use clap::error::ErrorKind as ParseError;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

pub use self::common::Common;
pub use self::exit::{ExitStatus, PANICKED, UsageError, status_of};

/// Does this person's review or label add information beyond what an LLM already says?
///
/// caz scores people by what their answers share with their peers beyond what both share with an
/// LLM's answer to the same task. A score is a reason to look, never a verdict.
#[derive(Debug, Parser)]
#[command(name = "caz", version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Subcommand)]
enum Command {
    Reviews(reviews::ReviewsArgs),
    Labels(labels::ScoreLabelsArgs),
    Assumptions(assumptions::AssumptionsArgs),
    Agree(agree::AgreeArgs),
    Embed(embed::EmbedArgs),
    Import(import::ImportArgs),
    Canary(canary::CanaryArgs),
    Simulate(simulate::SimulateArgs),
    Experiment(experiment::ExperimentArgs),
    #[cfg(feature = "hub")]
    Models(models::ModelsArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
    /// Print the manual page, or write one page per command into the folder --output
    Man,
    #[cfg(feature = "llm")]
    Annotate(annotate::AnnotateArgs),
    #[cfg(feature = "llm")]
    Judge(Box<judge::JudgeArgs>),
    #[cfg(feature = "llm")]
    Prompts(prompts::PromptsArgs),
    #[cfg(feature = "llm")]
    Cache(cache::CacheArgs),
}

/// The whole program: parses the command line, runs it, says what went wrong.
pub fn main() -> ExitStatus {
    #[cfg(feature = "llm")]
    if let Some(status) = pdf::child() {
        return status;
    }
    program(help::arranged(Cli::command()), |cli: &Cli| &cli.common, run)
}

/// The command line as it was declared, for the test that walks all of it.
pub fn command() -> clap::Command {
    Cli::command()
}

/// A program with the flags of every command of caz: parses its command line as `command` says, runs it, ends
/// where Ctrl-C or a panic says so, and tells what went wrong.
pub fn program<C: FromArgMatches>(
    mut command: clap::Command,
    common: impl Fn(&C) -> &Common,
    run: impl FnOnce(&C) -> Result<ExitStatus>,
) -> ExitStatus {
    interruption::end_on_panic();
    let parsed = command.try_get_matches_from_mut(std::env::args_os()).and_then(|matches| {
        let cli = C::from_arg_matches(&matches)?;
        Ok((cli, matches))
    });
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return refused(&command, &error),
    };
    interruption::listen(common(&cli));
    match files::check(&matches).and_then(|()| run(&cli)) {
        Ok(status) => status,
        Err(error) => {
            let status = status_of(error.kind());
            if status != ExitStatus::Done {
                terminal::talk(&format!("error: {}", message_of(&error)));
            }
            if matches!(status, ExitStatus::BadInput | ExitStatus::Missing)
                && let Some(advice) = meant::of_input(&typed(), &matches)
            {
                terminal::talk(&terminal::shown(&format!("try: {advice}")));
            }
            status
        }
    }
}

/// What the parser has to say: help, the version, or what is wrong with the command line.
fn refused(known: &clap::Command, error: &clap::Error) -> ExitStatus {
    let text = error.to_string();
    if error.kind() == ParseError::MissingRequiredArgument
        && let Some(advice) = help::untangled(known.get_name(), &typed())
    {
        terminal::talk(&terminal::shown(&format!("error: {advice}")));
        return ExitStatus::Usage;
    }
    if error.use_stderr() && terminal::shown(&text) != text {
        // It quotes the command line, colours and all.
        terminal::talk(text.trim_end());
    } else {
        // A closed pipe is the reader's choice.
        let _ = error.print();
    }
    if error.kind() == ParseError::UnknownArgument
        && let Some(advice) = meant::renamed(&typed())
    {
        terminal::talk(&terminal::shown(&format!("try: {advice}")));
    }
    if error.use_stderr() { ExitStatus::Usage } else { ExitStatus::Done }
}

/// The words of the command line after the name of the program.
fn typed() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// What is wrong and what to do about it, on one line or a few.
pub(crate) fn message_of(error: &Error) -> String {
    error.advised(&remedy::phrase)
}

/// Runs a parsed command line.
///
/// # Errors
///
/// What the subcommand reports; [`status_of`] gives the exit code of its kind.
pub(crate) fn run(cli: &Cli) -> Result<ExitStatus> {
    let common = &cli.common;
    common.in_thread_pool(|| match &cli.command {
        Command::Reviews(args) => reviews::run(args, common),
        Command::Labels(args) => labels::run(args, common),
        Command::Assumptions(args) => assumptions::run(args, common),
        Command::Agree(args) => agree::run(args, common),
        Command::Embed(args) => embed::run(args, common),
        Command::Import(args) => import::run(args, common),
        Command::Canary(args) => canary::run(args, common),
        Command::Simulate(args) => simulate::run(args, common),
        Command::Experiment(args) => experiment::run(args, common),
        #[cfg(feature = "hub")]
        Command::Models(args) => models::run(args, common),
        Command::Doctor(args) => doctor::run(args, common),
        Command::Completions(args) => completions::completions(args, common),
        Command::Man => completions::man(common),
        #[cfg(feature = "llm")]
        Command::Annotate(args) => annotate::run(args, common),
        #[cfg(feature = "llm")]
        Command::Judge(args) => judge::run(args, common),
        #[cfg(feature = "llm")]
        Command::Prompts(args) => prompts::run(args, common),
        #[cfg(feature = "llm")]
        Command::Cache(args) => cache::run(args, common),
    })
}
