//! `caz annotate judgments`: what reviews say in each category of a rubric.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde_json::{Map, Value, json};

use super::RunArgs;
use super::output::{Row, RowFormat};
use super::run::{Answered, Failure, Job, named, suspicious};
use crate::cli::common::Common;
use crate::cli::exit::{ExitStatus, UsageError};
use crate::cli::judging::{FeedbackChoice, JudgeArgs};
use crate::cli::llm::Connection;
use crate::cli::output::check_output;
use crate::data::items::{ItemRow, read_items};
use crate::data::problem::Problems;
use crate::data::rows::{Column, FileProblems};
use crate::data::source::Source;
use crate::judge::rubric::DEFAULT_RUBRIC;
use crate::judge::{
    FeedbackLoop, InjectionDetector, Item, JudgeStrategy, Progression, Rubric, Transcript,
    parse_verdict,
};
use crate::report::Input;

/// What identifies a review; handed through to the output.
const IDS: [Column; 6] = [
    Column {
        name: "paper",
        synonyms: &["item", "submission", "forum", "paper_id"],
        required: false,
    },
    Column {
        name: "reviewer",
        synonyms: &["worker", "signature", "annotator", "reviewer_id"],
        required: false,
    },
    Column { name: "source", synonyms: &["model"], required: false },
    Column { name: "sample", synonyms: &[], required: false },
    Column { name: "task", synonyms: &["question_id"], required: false },
    Column { name: "id", synonyms: &[], required: false },
];
const TEXT: Column = Column { name: "text", synonyms: &["review", "comment"], required: true };
const JUDGMENTS: Column = Column { name: "judgments", synonyms: &["judgements"], required: true };

/// Columns of the output in CSV.
const COLUMNS: [&str; 9] =
    ["paper", "reviewer", "source", "sample", "task", "id", "judgments", "turns", "suspicious"];

/// Judge reviews by a rubric: vectors for `caz reviews --embedder given`
///
/// Reviews by people and by models alike. The output has the identifiers of the input, the
/// judgments by category, how many turns the judge needed, and what looks like an attempt to
/// steer the judge. Texts without a complete judgment are left out and listed as errors.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz annotate judgments reviews.jsonl --rubric aspects19 \\
           --base-url http://localhost:8000/v1 --model llama-3.1-8b --output judged.jsonl")]
pub(super) struct JudgmentsArgs {
    /// Texts: a column `text` and any of paper, reviewer, source, sample, task, id
    texts: PathBuf,
    /// A rubric by name or path; see `caz prompts list`
    #[arg(long, value_name = "RUBRIC", default_value = DEFAULT_RUBRIC)]
    rubric: String,
    /// Judgments known to be right, with the same identifiers: success is to equal them
    #[arg(long, value_name = "FILE")]
    gold: Option<PathBuf>,
    /// Show them to the feedback model, never to the judge
    #[arg(long, requires = "gold")]
    feedback_gold: bool,
    #[command(flatten)]
    judge: JudgeArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command.
pub(super) fn run(args: &JudgmentsArgs, common: &Common) -> Result<ExitStatus> {
    let format = RowFormat::of(common, RowFormat::JsonLines)?;
    check_output(common.output.as_deref())?;
    args.judge.check()?;
    if args.feedback_gold && args.judge.feedback == FeedbackChoice::None {
        return Err(UsageError("--feedback-gold needs --feedback binary or textual".into()).into());
    }
    let rubric = Rubric::load(&args.rubric)?;
    let source = Source::read(&args.texts)?;
    let schema: Vec<Column> = IDS.into_iter().chain([TEXT]).collect();
    let rows = read_items(&source, &schema)?;
    let gold = args.gold.as_ref().map(|path| read_gold(path, &rubric)).transpose()?;
    let items: Vec<Item> = rows
        .iter()
        .map(|row| Item {
            text: row.fields[IDS.len()].clone().unwrap_or_default(),
            gold: gold.as_ref().and_then(|gold| gold.get(&row.fields[..IDS.len()]).cloned()),
        })
        .collect();

    let connection = args.run.llm.connect(common, args.run.dry_run)?;
    let commenter = args.judge.commenter(&args.run.llm, common, &connection)?;
    let commenter = commenter.map(|model| (model, args.feedback_gold));
    let strategy = args.judge.strategy(&rubric, &args.run.llm, common, commenter)?;
    let detector = InjectionDetector::new(rubric.categories());
    let job = Job {
        command: "annotate judgments",
        args: &args.run,
        common,
        connection: &connection,
        format,
        columns: &COLUMNS,
        input: Input::new(&source, rows.len() as u64),
        settings: args.judge.settings(&rubric),
        names: rows.iter().map(name).collect(),
    };
    if args.run.dry_run {
        let requests: Result<Vec<_>, _> = items.iter().map(|item| strategy.request(item)).collect();
        return job.dry_run(&requests?);
    }
    let outcomes = job.ask(|index| {
        judged(&strategy, &items[index], &connection, (&rubric, &detector), &rows[index])
    });
    let flagged = suspicious(
        &detector,
        rows.iter().zip(&items).map(|(row, item)| (name(row), vec![item.text.as_str()])),
    );
    let turns = args.judge.turns;
    job.finish(outcomes, &flagged, |judged| summary(judged, turns))
}

/// One judged text.
struct Judged {
    transcript: Transcript,
    gold: Option<Vec<f64>>,
}

fn judged(
    strategy: &FeedbackLoop,
    item: &Item,
    connection: &Connection,
    (rubric, detector): (&Rubric, &InjectionDetector),
    row: &ItemRow,
) -> Result<Answered<Judged>, Failure> {
    let transcript = strategy.judge(item, connection.model.as_ref())?;
    let Some(values) = &transcript.values else {
        let problems = transcript.turns.last().map_or(&[][..], |turn| &turn.problems);
        #[expect(clippy::cast_possible_truncation, reason = "at most --turns, a u32")]
        let turns = transcript.turns.len() as u32;
        let failure = Failure::unreadable(problems, turns);
        let extra = Judged { gold: item.gold.clone(), transcript };
        return Ok(Answered { rows: Vec::new(), extra, failure: Some(failure) });
    };
    let judgments: Map<String, Value> = rubric
        .categories()
        .map(str::to_owned)
        .zip(values.iter().map(|value| plain_number(*value)))
        .collect();
    let mut out = name(row);
    out.insert("judgments".into(), Value::Object(judgments));
    out.insert("turns".into(), transcript.turns.len().into());
    let found = detector.inspect(&item.text);
    if !found.is_empty() {
        out.insert("suspicious".into(), json!(found));
    }
    let extra = Judged { gold: item.gold.clone(), transcript };
    Ok(Answered { rows: vec![out], extra, failure: None })
}

/// The identifiers of a row.
fn name(row: &ItemRow) -> Row {
    let pairs: Vec<(&str, Option<&str>)> = IDS
        .iter()
        .zip(&row.fields)
        .map(|(column, field)| (column.name, field.as_deref().map(str::trim)))
        .collect();
    named(&pairs)
}

/// Whole numbers without a fraction, as people write them.
fn plain_number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "judgments lie in [-1, 1]")]
    if value.fract() == 0.0 { Value::from(value as i64) } else { Value::from(value) }
}

type Identifiers = Vec<Option<String>>;

/// Judgments by the identifiers of their reviews; strict, as every answer.
fn read_gold(path: &std::path::Path, rubric: &Rubric) -> Result<HashMap<Identifiers, Vec<f64>>> {
    let source = Source::read(path)?;
    let schema: Vec<Column> = IDS.into_iter().chain([JUDGMENTS]).collect();
    let mut gold = HashMap::new();
    let mut problems = Problems::new();
    let mut file = FileProblems::new(&source, &mut problems);
    let mut rows = Vec::new();
    crate::data::rows::read_rows(&source, &schema, &mut file, &mut |row, _| {
        let ids: Identifiers =
            row.fields[..IDS.len()].iter().map(|id| id.as_name().map(Into::into)).collect();
        let text = match &row.fields[IDS.len()] {
            crate::data::rows::Field::Json(value) => value.to_string(),
            other => other.as_name().map(Into::into).unwrap_or_default(),
        };
        rows.push((row.line, ids, text));
    });
    for (line, ids, text) in rows {
        let values = parse_verdict(&text, rubric.fields()).map(|verdict| verdict.numbers());
        match values {
            Ok(Some(values)) => {
                if gold.insert(ids, values).is_some() {
                    file.report(Some(line), None, "the same identifiers stood in an earlier line");
                }
            }
            Ok(None) => {}
            Err(wrong) => {
                let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
                file.report(Some(line), Some("judgments"), wrong.join("; "));
            }
        }
    }
    problems.into_result()?;
    Ok(gold)
}

/// How far the setting gets with more turns, and against the known judgments, if there are any.
fn summary(judged: &[Judged], turns: u32) -> Map<String, Value> {
    let any: Vec<(&Transcript, Option<&[f64]>)> =
        judged.iter().map(|judged| (&judged.transcript, None)).collect();
    let known: Vec<(&Transcript, Option<&[f64]>)> = judged
        .iter()
        .filter(|judged| judged.gold.is_some())
        .map(|judged| (&judged.transcript, judged.gold.as_deref()))
        .collect();
    let mut summary = Map::new();
    summary.insert("readable".into(), json!(Progression::of(&any, turns)));
    if !known.is_empty() {
        summary.insert("right".into(), json!(Progression::of(&known, turns)));
    }
    let mut used = vec![0_u64; turns as usize];
    for judged in judged {
        if let Some(count) = used.get_mut(judged.transcript.turns.len().wrapping_sub(1)) {
            *count += 1;
        }
    }
    summary.insert("items_by_turns_used".into(), json!(used));
    summary
}
