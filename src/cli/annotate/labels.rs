//! `caz annotate labels`: labels of items by a language model.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde_json::{Map, Value, json};

use super::output::{Row, RowFormat};
use super::run::{Answered, Failure, Job};
use super::samples::{Question, Samples, check_samples, temperature};
use super::{RunArgs, read_task};
use crate::cli::common::Common;
use crate::cli::exit::{ExitStatus, UsageError};
use crate::cli::output::check_output;
use crate::data::items::{TASK, check_names_differ, read_items};
use crate::data::rows::Column;
use crate::data::source::Source;
use crate::judge::feedback::ask_until_readable;
use crate::judge::{InjectionDetector, Value as Answer, Verdict};
use crate::llm::form::{Field, json_schema};
use crate::llm::prompt::Task;
use crate::llm::{Prompt, PromptKind, ResponseFormat};
use crate::report::Input;

/// The texts that an item may have.
const TEXTS: [Column; 5] = [
    Column { name: "text", synonyms: &["comment", "content"], required: false },
    Column { name: "context", synonyms: &[], required: false },
    Column { name: "request", synonyms: &["prompt"], required: false },
    Column { name: "response_a", synonyms: &["a"], required: false },
    Column { name: "response_b", synonyms: &["b"], required: false },
];

/// Columns of the output: what `caz labels --z` reads.
const COLUMNS: [&str; 4] = ["task", "label", "source", "sample"];

/// Label items: a Z for `caz labels`
///
/// The output has task, label, source and sample. A prompt with several questions gives one row
/// for each, with the task named TASK/QUESTION; --question picks one and keeps the name.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz annotate labels comments.csv --prompt label-toxicity --question toxic \\
           --base-url http://localhost:8000/v1 --model llama-3.1-8b --output z.csv")]
pub(super) struct LabelsArgs {
    /// Items: a column `task` and the texts of the prompt (text, context, request, `response_a`,
    /// `response_b`)
    items: PathBuf,
    /// A prompt for labels, by name or path; see `caz prompts list`
    #[arg(long, value_name = "P")]
    prompt: String,
    /// Question and labels for the prompt label-generic: a TOML file
    #[arg(long, value_name = "FILE")]
    task: Option<PathBuf>,
    /// Write the answers to this question only
    #[arg(long, value_name = "NAME")]
    question: Option<String>,
    /// Independent answers per item
    #[arg(long, value_name = "N", default_value_t = 1)]
    samples: u32,
    /// Answers that may be asked for until one can be read
    #[arg(long, value_name = "N", default_value_t = 5)]
    turns: u32,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command.
pub(super) fn run(args: &LabelsArgs, common: &Common) -> Result<ExitStatus> {
    let format = RowFormat::of(common, RowFormat::Csv)?;
    check_output(common.output.as_deref())?;
    check_samples(args.samples)?;
    if args.turns == 0 {
        return Err(UsageError("--turns must be at least 1".into()).into());
    }
    let prompt = Prompt::load(&args.prompt)?.expect(PromptKind::Labels)?;
    let task = match &args.task {
        Some(path) => read_task(path)?,
        None => Task::default(),
    };
    let fields = fields_of(args, &prompt, &task)?;
    let kept = kept_field(args, &fields)?;
    let source = Source::read(&args.items)?;
    let schema: Vec<Column> = std::iter::once(TASK).chain(TEXTS).collect();
    let items = read_items(&source, &schema)?;
    check_names_differ(&source, &TASK, &items)?;
    let samples = Samples { columns: &schema, items: &items, count: args.samples };
    let question = Question {
        prompts: std::slice::from_ref(&prompt),
        task: &task,
        format: ResponseFormat::JsonSchema { name: "labels".into(), schema: json_schema(&fields) },
    };
    let requests = samples.requests(&question, &args.run, common)?;

    let connection = args.run.llm.connect(common, args.run.dry_run)?;
    let job = Job {
        command: "annotate labels",
        args: &args.run,
        common,
        connection: &connection,
        format,
        columns: &COLUMNS,
        input: Input::new(&source, items.len() as u64),
        settings: settings(args, &prompt),
        names: samples.names(),
    };
    if args.run.dry_run {
        return job.dry_run(&requests);
    }
    let model = connection.model.as_ref();
    let origin = args.run.source.clone().unwrap_or_else(|| model.model().to_owned());
    let outcomes = job.ask(|index| {
        let (read, turns) =
            ask_until_readable(model, requests[index].clone(), &fields, args.turns)?;
        let verdict = read.map_err(|problems| Failure::unreadable(&problems, turns))?;
        let origin = (origin.as_str(), samples.sample(index));
        let rows = rows(samples.name(index), &verdict, &fields, kept, origin);
        Ok(Answered { rows, extra: turns, failure: None })
    });
    let detector = InjectionDetector::new(fields.iter().map(|field| field.name.as_str()));
    let flagged = samples.suspicious(&detector);
    job.finish(outcomes, &flagged, |turns| turns_summary(turns, args.turns))
}

fn fields_of(args: &LabelsArgs, prompt: &Prompt, task: &Task) -> Result<Vec<Field>> {
    match (prompt.fields(), task.fields.as_slice()) {
        ([], []) => {
            let message = format!("the prompt `{}` needs --task FILE", args.prompt);
            Err(UsageError(message).into())
        }
        (own, []) => Ok(own.to_vec()),
        ([], given) => Ok(given.to_vec()),
        (_, _) => {
            let message = format!("the prompt `{}` has its own question; drop --task", args.prompt);
            Err(UsageError(message).into())
        }
    }
}

fn kept_field(args: &LabelsArgs, fields: &[Field]) -> Result<Option<usize>> {
    let Some(wanted) = &args.question else { return Ok((fields.len() == 1).then_some(0)) };
    let position = fields.iter().position(|field| field.name == *wanted);
    if position.is_none() {
        let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let message = format!("the prompt does not ask `{wanted}`; it asks {}", known.join(", "));
        return Err(UsageError(message).into());
    }
    Ok(position)
}

fn rows(
    task: &str,
    verdict: &Verdict,
    fields: &[Field],
    kept: Option<usize>,
    (source, sample): (&str, usize),
) -> Vec<Row> {
    let row = |task: String, value: &Answer| {
        let label = match value {
            Answer::Label(label) => label.clone(),
            Answer::Number(number) => number.to_string(),
        };
        let row = json!({"task": task, "label": label, "source": source, "sample": sample});
        row.as_object().cloned().unwrap_or_default()
    };
    match kept {
        Some(index) => vec![row(task.to_owned(), &verdict.values[index])],
        None => fields
            .iter()
            .zip(&verdict.values)
            .map(|(field, value)| row(format!("{task}/{}", field.name), value))
            .collect(),
    }
}

fn settings(args: &LabelsArgs, prompt: &Prompt) -> Map<String, Value> {
    let settings = json!({
        "prompt": args.prompt,
        "prompt_sha256": prompt.sha256(),
        "task": args.task.as_ref().map(|path| path.display().to_string()),
        "question": args.question,
        "samples": args.samples,
        "temperature": temperature(args.run.llm.temperature, args.samples),
        "max_tokens": args.run.llm.max_tokens.unwrap_or(prompt.max_tokens()),
        "turns": args.turns,
    });
    settings.as_object().cloned().unwrap_or_default()
}

/// Share of the answered items that took 1, 2, ... turns at most.
fn turns_summary(turns: &[u32], most: u32) -> Map<String, Value> {
    let share = |limit: u32| {
        let within = turns.iter().filter(|&&turns| turns <= limit).count();
        within as f64 / turns.len() as f64
    };
    let shares: Vec<f64> =
        if turns.is_empty() { Vec::new() } else { (1..=most).map(share).collect() };
    Map::from_iter([("answered_within_turns".to_owned(), json!(shares))])
}
