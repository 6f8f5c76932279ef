//! `caz annotate`: ask a language model for labels, reviews or judgments.

mod judgments;
mod labels;
mod output;
mod reviews;
mod run;
mod samples;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde::Deserialize;

use super::common::Common;
use super::exit::ExitStatus;
use super::llm::LlmArgs;
use crate::llm::form::Field;
use crate::llm::prompt::Task;

/// Make Z with a language model: labels of items, reviews of papers, judgments of reviews
///
/// Every answer is stored the moment it arrives. A run that was stopped, by Ctrl-C, a budget or a
/// crash, goes on where it was when the same command is given again. Texts are sent to the server
/// named by --base-url and nowhere else; nothing is sent with --dry-run, --replay or --offline.
#[derive(Debug, Args)]
pub(super) struct AnnotateArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Labels(labels::LabelsArgs),
    Reviews(reviews::ReviewsArgs),
    Judgments(Box<judgments::JudgmentsArgs>),
}

/// Flags of every kind of annotation.
#[derive(Debug, Args)]
struct RunArgs {
    /// Name of the source in the output [default: the model's name]
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Say how many requests and tokens it would take; send nothing
    #[arg(long)]
    dry_run: bool,
    /// List what failed in FILE, one JSON object a line
    /// [default: beside --output, ending in .errors.jsonl, if anything failed]
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
    /// More failures than this give exit code 1
    #[arg(long, value_name = "N", default_value_t = 0)]
    max_failed: u64,
    /// Write settings, counts, costs and suspicious texts to FILE as JSON
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    #[command(flatten)]
    llm: LlmArgs,
}

/// Runs the command.
pub(super) fn run(args: &AnnotateArgs, common: &Common) -> Result<ExitStatus> {
    match &args.what {
        What::Labels(args) => labels::run(args, common),
        What::Reviews(args) => reviews::run(args, common),
        What::Judgments(args) => judgments::run(args, common),
    }
}

/// A question and its labels, from the user's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskFile {
    question: String,
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default)]
    fields: Vec<Field>,
}

/// Reads a question with `labels`, or with several `[[fields]]`.
pub(super) fn read_task(path: &Path) -> Result<Task> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the task `{}`", path.display()))?;
    let file: TaskFile = toml::from_str(&text).with_context(|| {
        format!("`{}` is not a task: question, and labels or [[fields]]", path.display())
    })?;
    let mut fields = file.fields;
    if !file.labels.is_empty() {
        let domain = crate::llm::form::Domain::Labels { labels: file.labels };
        fields.insert(0, Field { name: "label".into(), definition: String::new(), domain });
    }
    crate::llm::prompt::check_fields(&path.display().to_string(), &fields)?;
    if fields.is_empty() {
        anyhow::bail!("the task `{}` has neither labels nor [[fields]]", path.display());
    }
    Ok(Task { question: Some(file.question), fields })
}
