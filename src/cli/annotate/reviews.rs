//! `caz annotate reviews`: reviews of papers by a language model.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde_json::{Map, Value, json};

use super::RunArgs;
use super::output::RowFormat;
use super::run::{Answered, Failure, Job};
use super::samples::{Question, Samples, check_samples, temperature};
use crate::cli::common::Common;
use crate::cli::exit::ExitStatus;
use crate::cli::output::check_output;
use crate::data::items::{ItemRow, PAPER, check_names_differ, read_items};
use crate::data::problem::{DataError, Problems};
use crate::data::rows::{Column, FileProblems};
use crate::data::source::Source;
use crate::judge::InjectionDetector;
use crate::llm::prompt::Task;
use crate::llm::{ChatAnswer, FinishReason, Prompt, PromptKind, ResponseFormat, without_reasoning};
use crate::report::Input;

/// What a paper may have.
const TEXTS: [Column; 3] = [
    Column { name: "title", synonyms: &[], required: false },
    Column { name: "abstract", synonyms: &["summary"], required: false },
    Column { name: "text", synonyms: &["content", "body"], required: false },
];

/// Columns of the output: what `caz reviews --z` reads.
const COLUMNS: [&str; 4] = ["paper", "source", "sample", "text"];

/// The wordings that samples take in turn unless a prompt is named.
const WORDINGS: [&str; 3] = ["review-1", "review-2", "review-3"];

/// Review papers: a Z for `caz reviews`
///
/// The output has paper, source, sample and text. Unless --prompt names a wording, sample 1 uses
/// the prompt review-1, sample 2 review-2, sample 3 review-3, sample 4 review-1 again, and so on.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz annotate reviews papers.jsonl --samples 3 \\
           --base-url http://localhost:8000/v1 --model llama-3.1-8b --output z.jsonl")]
pub(super) struct ReviewsArgs {
    /// Papers: a column `paper` and one or more of title, abstract, text
    papers: PathBuf,
    /// A prompt for reviews, by name or path; see `caz prompts list`
    #[arg(long, value_name = "P")]
    prompt: Option<String>,
    /// Independent reviews per paper
    #[arg(long, value_name = "N", default_value_t = 1)]
    samples: u32,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command.
pub(super) fn run(args: &ReviewsArgs, common: &Common) -> Result<ExitStatus> {
    let format = RowFormat::of(common, RowFormat::JsonLines)?;
    check_output(common.output.as_deref())?;
    check_samples(args.samples)?;
    let prompts = prompts(args)?;
    let source = Source::read(&args.papers)?;
    let schema: Vec<Column> = std::iter::once(PAPER).chain(TEXTS).collect();
    let papers = read_items(&source, &schema)?;
    check_names_differ(&source, &PAPER, &papers)?;
    check_texts(&source, &papers)?;
    let samples = Samples { columns: &schema, items: &papers, count: args.samples };
    let question =
        Question { prompts: &prompts, task: &Task::default(), format: ResponseFormat::Text };
    let requests = samples.requests(&question, &args.run, common)?;

    let connection = args.run.llm.connect(common, args.run.dry_run)?;
    let job = Job {
        command: "annotate reviews",
        args: &args.run,
        common,
        connection: &connection,
        format,
        columns: &COLUMNS,
        input: Input::new(&source, papers.len() as u64),
        settings: settings(args, &prompts),
        names: samples.names(),
    };
    if args.run.dry_run {
        return job.dry_run(&requests);
    }
    let model = connection.model.as_ref();
    let origin = args.run.source.clone().unwrap_or_else(|| model.model().to_owned());
    let outcomes = job.ask(|index| {
        let text = review(&model.complete(&requests[index])?)?;
        let row = json!({
            "paper": samples.name(index),
            "source": origin,
            "sample": samples.sample(index),
            "text": text,
        });
        let row = row.as_object().cloned().unwrap_or_default();
        Ok(Answered { rows: vec![row], extra: (), failure: None })
    });
    let flagged = samples.suspicious(&InjectionDetector::new([]));
    job.finish(outcomes, &flagged, |_| Map::new())
}

fn prompts(args: &ReviewsArgs) -> Result<Vec<Prompt>> {
    let names: Vec<&str> = match &args.prompt {
        Some(name) => vec![name],
        None => WORDINGS.iter().copied().take(args.samples as usize).collect(),
    };
    names.into_iter().map(|name| Ok(Prompt::load(name)?.expect(PromptKind::Review)?)).collect()
}

/// A paper without any text would be reviewed out of thin air.
fn check_texts(source: &Source, papers: &[ItemRow]) -> Result<(), DataError> {
    let mut problems = Problems::new();
    let mut file = FileProblems::new(source, &mut problems);
    for paper in papers.iter().filter(|paper| paper.fields[1..].iter().all(Option::is_none)) {
        let message = "the paper has no title, abstract or text; give it at least one";
        file.report(Some(paper.line), None, message);
    }
    problems.into_result()
}

/// The review in an answer; one that was cut off is no review.
fn review(answer: &ChatAnswer) -> Result<String, Failure> {
    let fail = |kind, message: &str| Err(Failure::Unusable { kind, message: message.into() });
    match answer.finish {
        FinishReason::Length => fail("cut_off", "the review was cut off twice; raise --max-tokens"),
        FinishReason::ContentFilter => fail("withheld", "the server withheld the review"),
        FinishReason::Stop | FinishReason::Other => match without_reasoning(&answer.text) {
            Some(text) if !text.is_empty() => Ok(text.to_owned()),
            _ => fail("empty", "the answer is empty"),
        },
    }
}

fn settings(args: &ReviewsArgs, prompts: &[Prompt]) -> Map<String, Value> {
    let names: Vec<&str> = prompts.iter().map(Prompt::name).collect();
    let hashes: Vec<String> = prompts.iter().map(Prompt::sha256).collect();
    let settings = json!({
        "prompts": names,
        "prompts_sha256": hashes,
        "samples": args.samples,
        "temperature": temperature(args.run.llm.temperature, args.samples),
    });
    settings.as_object().cloned().unwrap_or_default()
}
