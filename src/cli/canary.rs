//! `caz canary`: phrases hidden in papers, and the exact test for them in reviews.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use rand::SeedableRng;
use rand::rngs::SysRng;
use rand_chacha::ChaCha20Rng;
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::common::{Common, ending_of, pdfs_of};
use super::exit::{ExitStatus, UsageError};
use super::exports::ExportArgs;
use super::files::Identity;
use super::output::{check_output, emit, say, write_output};
use super::progress::open;
use crate::data::duplicates::Duplicates;
use crate::data::formula::{guarded, unguarded};
use crate::data::hexadecimal::hexadecimal;
use crate::data::import::Wanted;
use crate::data::items::{PAPER, check_names_differ, read_items};
use crate::data::nouns::{HAVE, counted, verb};
use crate::data::review_reader::read_reviews;
use crate::data::rows::{Column, NamedColumn};
use crate::data::source::{Format, Source};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::report::{Cell, CsvExporter, Exporter, Input, Report, Table, settings_map};
use crate::screen::reviews::small;
use crate::text::canary::{
    Dictionary, Instruction, MOST_PHRASES, Plan, PlannedPaper, check, hidden_in_pdf,
    hidden_in_text, in_pdf, instruction,
};

/// Hide phrases in papers, and find the reviews that repeat them
///
/// A phrase that only a language model could have read, in the paper's file, is evidence that the file
/// went through one: with an exact probability that it is chance. docs/canaries.md says what it proves
/// and what it does not.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz canary make papers/*.pdf --output plan.csv
         caz canary insert papers/*.pdf --plan plan.csv --output hidden/
         caz canary check reviews.jsonl --plan plan.csv")]
pub(super) struct CanaryArgs {
    #[command(subcommand)]
    command: CanaryCommand,
}

#[derive(Debug, Subcommand)]
enum CanaryCommand {
    Make(MakeArgs),
    Insert(InsertArgs),
    Check(CheckArgs),
}

/// Draw phrases for every paper; the plan is for your eyes only
///
/// The phrases are drawn with randomness of the operating system, so nobody can guess them. The SHA-256 of
/// the plan is printed: publish it before the reviews come, and you can prove later that nothing was changed.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz canary make papers/*.pdf --output plan.csv")]
struct MakeArgs {
    /// PDF files, named like the papers, folders of them, or a table with a column `paper`
    #[arg(required = true, value_name = "PAPERS")]
    papers: Vec<PathBuf>,
    /// Phrases of each paper
    #[arg(long, value_name = "N", default_value_t = 2)]
    phrases: usize,
    #[command(flatten)]
    dictionary: DictionaryArgs,
}

/// Write copies of PDF files, or of a table of tasks, with the request for the phrases in them, which no viewer
/// shows
///
/// In a table it goes into the column `text`: into HTML as an element of no size, into other text as characters
/// without a shape. The files that you name are not changed.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz canary insert papers/*.pdf --plan plan.csv --output hidden/")]
struct InsertArgs {
    /// PDF files, named like the papers of the plan, folders of them, or tables: columns `task` and `text`; none:
    /// what each paper's language model is to be told is printed, for a template of your own
    #[arg(value_name = "PAPERS")]
    papers: Vec<PathBuf>,
    #[command(flatten)]
    plan: PlanArgs,
}

/// Say which reviews have the phrases of their paper, and how likely that is by chance
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz canary check reviews.jsonl --plan plan.csv")]
struct CheckArgs {
    /// Reviews: paper, reviewer, text
    reviews: PathBuf,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    dictionary: DictionaryArgs,
    #[command(flatten)]
    exports: ExportArgs,
}

#[derive(Debug, Args)]
struct DictionaryArgs {
    /// Draw from the phrases in FILE, one a line [default: 104,976 that come with caz]
    #[arg(long, value_name = "FILE")]
    dictionary: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct PlanArgs {
    /// The plan that `canary make` wrote
    #[arg(long, value_name = "FILE")]
    plan: PathBuf,
}

impl DictionaryArgs {
    fn read(&self) -> Result<Dictionary> {
        let Some(path) = &self.dictionary else { return Ok(Dictionary::bundled()) };
        let text = fs::read_to_string(path)
            .with_context(|| format!("cannot read the dictionary `{}`", path.display()))?;
        Ok(Dictionary::from_lines(&text)?)
    }
}

/// Columns of a plan, the paper first.
const PLAN_COLUMNS: [&str; MOST_PHRASES + 1] = [
    "paper", "phrase_1", "phrase_2", "phrase_3", "phrase_4", "phrase_5", "phrase_6", "phrase_7",
    "phrase_8", "phrase_9",
];

impl PlanArgs {
    fn read(&self, common: &Common) -> Result<(Plan, Source)> {
        read_plan(&self.plan, common)
    }
}

/// The phrases of every paper.
pub(super) fn read_plan(path: &Path, common: &Common) -> Result<(Plan, Source)> {
    let source = open(path, common)?;
    let columns =
        PLAN_COLUMNS.map(|name| Column { name, synonyms: &[], required: name == "paper" });
    let named: Vec<NamedColumn<'_>> = columns.to_vec();
    let items = read_items(&source, &named)?;
    check_names_differ(&source, &PAPER, &items)?;
    let mut papers = Vec::with_capacity(items.len());
    for item in items {
        let mut fields = item.fields.into_iter();
        let paper = fields.next().flatten().unwrap_or_default().trim().to_owned();
        let phrases: Vec<String> = fields.flatten().collect();
        if phrases.is_empty() {
            let place = format!("{}:{}", source.name(), item.line);
            let message = format!("{place}: paper `{paper}` has no phrase; is this a plan?");
            return Err(Error::new(ErrorKind::Input, message));
        }
        papers.push(PlannedPaper { paper, phrases });
    }
    papers.sort_by(|a, b| a.paper.cmp(&b.paper));
    Ok((Plan { papers }, source))
}

/// Runs the command.
pub(super) fn run(args: &CanaryArgs, common: &Common) -> Result<ExitStatus> {
    match &args.command {
        CanaryCommand::Make(args) => make(args, common)?,
        CanaryCommand::Insert(args) => insert(args, common)?,
        CanaryCommand::Check(args) => emit(&checked(args, common)?, common)?,
    }
    Ok(ExitStatus::Done)
}

fn is_pdf(path: &Path) -> bool {
    ending_of(path).as_deref() == Some("pdf")
}

/// The name of the paper in a PDF file.
fn paper_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().trim().to_owned()
}

fn make(args: &MakeArgs, common: &Common) -> Result<()> {
    let Some(output) = &common.output else {
        let message = "name a file for the plan, which is secret; add --output plan.csv";
        return Err(UsageError(message.into()).into());
    };
    check_output(Some(output))?;
    if output.is_file() {
        // Of phrases that were drawn once, nothing else tells.
        let message = format!(
            "`{}` is there, and no plan can be made again; choose another name, or remove it",
            output.display()
        );
        return Err(UsageError(message).into());
    }
    let mut papers = BTreeSet::new();
    let files = with_folders(&args.papers)?;
    let mut named: BTreeMap<String, &Path> = BTreeMap::new();
    for path in &files {
        let names = if is_pdf(path) {
            fs::metadata(path).with_context(|| format!("cannot read `{}`", path.display()))?;
            let name = paper_of(path);
            if let Some(other) = named.insert(name.clone(), path).filter(|o| !is_same(o, path)) {
                let (one, two) = (other.display(), path.display());
                let message = format!(
                    "`{one}` and `{two}` are both named `{name}`; give every paper a name of its own"
                );
                return Err(Error::new(ErrorKind::Input, message));
            }
            vec![name]
        } else {
            let items = read_items(&open(path, common)?, &[PAPER])?;
            items.into_iter().filter_map(|item| item.fields[0].clone()).collect()
        };
        papers.extend(names.into_iter().map(|name| name.trim().to_owned()));
    }
    let count = papers.len();
    let mut random = ChaCha20Rng::try_from_rng(&mut SysRng).map_err(|error| {
        let message = format!("the operating system gives no random numbers: {error}");
        Error::new(ErrorKind::Missing, message)
    })?;
    let dictionary = args.dictionary.read()?;
    if !named.is_empty() {
        dictionary.phrases().iter().try_for_each(|phrase| in_pdf(phrase).map(drop))?;
    }
    let plan = Plan::draw(papers, &dictionary, args.phrases, &mut random)?;
    let mut table = Table::new(&PLAN_COLUMNS[..=args.phrases]);
    for paper in plan.papers {
        let cells = std::iter::once(paper.paper).chain(paper.phrases);
        table.push(cells.map(Cell::from).collect());
    }
    let mut bytes = Vec::new();
    CsvExporter.write(&report("canary make", &(), Vec::new(), table), &mut bytes)?;
    write_output(output, |out| out.write_all(&bytes))?;
    let sha256 = hexadecimal(&Sha256::digest(&bytes));
    say(
        common,
        &format!(
            "{} phrases for each of {count} papers, in `{}`, which only you can read. Keep it secret until the reviews are in. SHA-256, to publish beforehand: {sha256}",
            args.phrases,
            output.display()
        ),
    );
    Ok(())
}

fn insert(args: &InsertArgs, common: &Common) -> Result<()> {
    let (plan, _) = args.plan.read(common)?;
    if args.papers.is_empty() {
        let mut table = Table::new(&["paper", "instruction"]);
        for planned in &plan.papers {
            let text = instruction(Instruction::Rule, &planned.phrases);
            table.push(vec![planned.paper.clone().into(), text.into()]);
        }
        return emit(&report("canary insert", &(), Vec::new(), table), common);
    }
    let Some(folder) = &common.output else {
        let message = "name a folder for the copies with --output FOLDER";
        return Err(UsageError(message.into()).into());
    };
    let file =
        matches!(ending_of(folder).as_deref(), Some("csv" | "tsv" | "json" | "jsonl" | "pdf"));
    if file && !folder.is_dir() {
        let message = format!(
            "--output `{}` is the name of a file; name a folder for the copies",
            folder.display()
        );
        return Err(UsageError(message).into());
    }
    let papers = with_folders(&args.papers)?;
    let copies = copies_of(&papers, &args.plan.plan, folder)?;
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    let mut failed: Option<Error> = None;
    let mut written = 0_usize;
    for (path, copy) in papers.iter().zip(&copies) {
        let inserted = if is_pdf(path) {
            insert_one(path, &plan, copy)
        } else {
            open(path, common)
                .map_err(Error::from)
                .and_then(|source| insert_table(&source, &plan, copy))
        };
        match inserted {
            Ok(()) => written += 1,
            Err(error) => {
                say(common, &format!("error: `{}`: {error}", path.display()));
                failed.get_or_insert(error);
            }
        }
    }
    let all = papers.len();
    say(common, &format!("Wrote {written} of {all} papers to `{}`.", folder.display()));
    match failed {
        Some(error) => {
            Err(error.context(format!("{} of {all} papers were not written", all - written)))
        }
        None => Ok(()),
    }
}

fn planned<'a>(plan: &'a Plan, paper: &str) -> Result<&'a PlannedPaper> {
    let message = || format!("the plan has no paper `{paper}`");
    plan.of(paper).ok_or_else(|| Error::new(ErrorKind::Input, message()))
}

/// The files named, with those of folders in their place.
fn with_folders(papers: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let files = papers
        .iter()
        .map(|path| if path.is_dir() { pdfs_of(path) } else { Ok(vec![path.clone()]) });
    Ok(files.collect::<Result<Vec<_>>>()?.concat())
}

fn insert_one(path: &Path, plan: &Plan, copy: &Path) -> Result<()> {
    let planned = planned(plan, &paper_of(path))?;
    let bytes = fs::read(path).context("cannot read the file")?;
    let hidden = hidden_in_pdf(&bytes, &planned.phrases)?;
    write_output(copy, |out| out.write_all(&hidden))
}

/// Columns that may hold the text of a task.
const TEXTS: [&str; 5] = ["text", "question", "html", "content", "prompt"];

fn is_task(name: &str) -> bool {
    name == PAPER.name || PAPER.synonyms.contains(&name)
}

fn bad_table(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Input, what.to_string())
}

fn lacks_columns() -> Error {
    bad_table(format!("a table needs a column `task` and a column {}", TEXTS.join(" or ")))
}

/// A table of tasks with the request in the text of each; all else stays as it is, formulas guarded.
fn insert_table(source: &Source, plan: &Plan, copy: &Path) -> Result<()> {
    if std::str::from_utf8(&source.bytes).is_err() {
        return Err(bad_table("its characters are not UTF-8; save it as UTF-8"));
    }
    let hidden = match source.format {
        Format::JsonLines => hidden_in_lines(&source.bytes, plan)?,
        Format::Csv => hidden_in_cells(&source.bytes, b',', plan)?,
        Format::Tsv => hidden_in_cells(&source.bytes, b'\t', plan)?,
    };
    write_output(copy, |out| out.write_all(&hidden))
}

fn hidden_in_lines(lines: &[u8], plan: &Plan) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    for (at, line) in lines.enumerate() {
        let row = serde_json::from_slice::<Map<String, Value>>(line);
        let row = row.map_err(|error| bad_table(format!("row {}: {error}", at + 1)))?;
        let task = row.iter().find(|(name, _)| is_task(name));
        let task = task.and_then(|(_, task)| match task {
            Value::String(task) => Some(task.trim().to_owned()),
            Value::Number(task) => Some(task.to_string()),
            _ => None,
        });
        let phrases = &planned(plan, &task.ok_or_else(lacks_columns)?)?.phrases;
        let text = TEXTS.into_iter().find_map(|name| Some((name, row.get(name)?.as_str()?)));
        let (name, text) = text.ok_or_else(lacks_columns)?;
        let hidden = Value::from(hidden_in_text(text, phrases)?).to_string();
        // Written anew, a number of many digits would be another one.
        let place = place_of(line, name).ok_or_else(lacks_columns)?;
        copy.extend_from_slice(&line[..place.start]);
        copy.extend_from_slice(hidden.as_bytes());
        copy.extend_from_slice(&line[place.end..]);
        copy.push(b'\n');
    }
    Ok(copy)
}

/// Where the text of this name stands in an object of JSON, with its quotation marks; the last one, as the
/// reader takes it.
fn place_of(object: &[u8], name: &str) -> Option<Range<usize>> {
    let (mut at, mut depth, mut is_named) = (0, 0_usize, false);
    let mut place = None;
    while let Some(&byte) = object.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => is_named = false,
            b'"' => {
                while object.get(at).is_some_and(|&byte| byte != b'"') {
                    at += if object[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
                let string = object.get(start..at)?;
                let is_key = object[at..].trim_ascii_start().starts_with(b":");
                if depth == 1 && is_key {
                    is_named = serde_json::from_slice::<String>(string).is_ok_and(|s| s == name);
                } else if depth == 1 && is_named {
                    place = Some(start..at);
                }
            }
            _ => {}
        }
    }
    place
}

fn hidden_in_cells(table: &[u8], delimiter: u8, plan: &Plan) -> Result<Vec<u8>> {
    let mut rows = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(table);
    let header = rows.headers().map_err(bad_table)?.clone();
    let place = |wanted: &dyn Fn(&str) -> bool| {
        header.iter().position(|name| wanted(&name.trim().to_lowercase()))
    };
    let task = place(&is_task).ok_or_else(lacks_columns)?;
    let text = TEXTS.into_iter().find_map(|text| place(&|name| name == text));
    let text = text.ok_or_else(lacks_columns)?;
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    writer.write_record(&header).map_err(bad_table)?;
    for row in rows.records() {
        let row = row.map_err(bad_table)?;
        let phrases = &planned(plan, unguarded(row[task].trim()).trim())?.phrases;
        let hidden = hidden_in_text(unguarded(&row[text]), phrases)?;
        let cells = row
            .iter()
            .map(unguarded)
            .enumerate()
            .map(|(at, cell)| guarded(if at == text { &hidden } else { cell }).into_owned());
        writer.write_record(cells).map_err(bad_table)?;
    }
    writer.into_inner().map_err(bad_table)
}

/// Whether two paths lead to one file.
fn is_same(one: &Path, two: &Path) -> bool {
    Identity::of_input(one) == Identity::of_input(two)
}

/// Where the copy of each file goes: over nothing that is named on the command line, and each to a place of its
/// own.
fn copies_of(papers: &[PathBuf], plan: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let read = papers.iter().map(PathBuf::as_path).chain([plan]);
    let read: Vec<(Identity, &Path)> =
        read.filter_map(|path| Some((Identity::of_input(path)?, path))).collect();
    let mut taken: BTreeMap<PathBuf, &Path> = BTreeMap::new();
    let mut copies = Vec::with_capacity(papers.len());
    for path in papers {
        let copy = folder.join(path.file_name().unwrap_or_default());
        let there = Identity::of_input(&copy);
        if let Some((_, over)) = read.iter().find(|(known, _)| Some(known) == there.as_ref()) {
            let message = format!(
                "the copy of `{}` would be written over `{}`, which the command reads; choose \
                 another folder",
                path.display(),
                over.display()
            );
            return Err(UsageError(message).into());
        }
        if let Some(other) = taken.insert(copy.clone(), path).filter(|o| !is_same(o, path)) {
            let message = format!(
                "`{}` and `{}` would have one copy, `{}`; give them two names, or two folders in \
                 two runs",
                other.display(),
                path.display(),
                copy.display()
            );
            return Err(UsageError(message).into());
        }
        copies.push(copy);
    }
    Ok(copies)
}

#[derive(Debug, Serialize)]
struct CheckSettings {
    phrases_in_the_dictionary: usize,
    papers_in_the_plan: usize,
    plan_sha256: String,
}

fn checked(args: &CheckArgs, common: &Common) -> Result<Report> {
    let (plan, plan_source) = args.plan.read(common)?;
    let dictionary = args.dictionary.read()?;
    let mut opener = args.exports.opener()?;
    let source = opener.first(open(&args.reviews, common)?, Wanted::Reviews)?;
    // A phrase in any text that somebody wrote on a paper counts.
    let loaded = read_reviews(&source, &[], Duplicates::Join)?;
    let mut warnings = opener.finish()?.1;
    let set = &loaded.set;
    let texts: Vec<(&str, &str)> = set
        .reviews
        .iter()
        .map(|review| {
            (set.papers.name(review.paper), review.content.text.as_deref().unwrap_or_default())
        })
        .collect();
    let found = check(&plan, &dictionary, &texts)?;
    let mut rows: Vec<usize> = (0..texts.len()).collect();
    rows.sort_by(|&a, &b| {
        let key = |at: usize| {
            let review = &found.reviews[at];
            (
                std::cmp::Reverse((review.all_found(), review.found.len(), review.near.len())),
                review.planned == 0,
            )
        };
        key(a).cmp(&key(b)).then(a.cmp(&b))
    });
    let mut table =
        Table::new(&["paper", "reviewer", "phrases_found", "phrases_near", "p", "flag"]);
    for &row in &rows {
        let (review, in_set) = (&found.reviews[row], &set.reviews[row]);
        let flag = match (review.planned, review.all_found()) {
            (0, _) => "not_judged",
            (_, true) => "look",
            _ if review.found.is_empty() && review.near.is_empty() => "nothing_found",
            _ => "unsure",
        };
        table.push(vec![
            texts[row].0.into(),
            set.reviewers.name(in_set.reviewer).into(),
            review.found.len().into(),
            review.near.len().into(),
            review.p.into(),
            flag.into(),
        ]);
    }
    let planned = found.planned();
    let all = found.reviews.iter().filter(|review| review.all_found()).count();
    let some = found.reviews.iter().filter(|review| !review.found.is_empty()).count();
    let strangers = found.reviews.iter().filter(|review| review.of_other_papers > 0).count();
    table.set_headline(format!(
        "{all} of {} {} every phrase that was hidden in their paper, {} more {} some. By chance {} with every phrase would be expected, {} with any.",
        counted(planned, "review"), verb(all, HAVE), some - all, verb(some - all, HAVE), small(found.expected_all), small(found.expected_any),
    ));
    if strangers > 0 {
        warnings.push(crate::data::warning::Warning::new(
            "phrases_of_other_papers",
            strangers,
            format!(
                "{} {} phrases that were hidden in other papers: the phrases may be known, and then the \
                 probabilities here do not hold",
                counted(strangers, "review"),
                verb(strangers, HAVE)
            ),
        ));
    }
    warnings.extend(found.warnings(set, &plan));
    let settings = CheckSettings {
        phrases_in_the_dictionary: dictionary.phrases().len(),
        papers_in_the_plan: plan.papers.len(),
        plan_sha256: plan_source.sha256.clone(),
    };
    let inputs = vec![
        Input::new(&source, loaded.rows[0]),
        Input::new(&plan_source, plan.papers.len() as u64),
    ];
    let mut report = report("canary check", &settings, inputs, table);
    report.warnings = warnings;
    report.footer = vec![
        "p: the probability that a review written without sight of the phrases has as many of its paper's, given which phrases of the dictionary it has; exact, whatever people write. 0.000 is less than 0.0005: CSV and JSON have all digits.".into(),
        "look: the paper's file went through a language model on the way to this review, or the reviewer saw the hidden text (selected it, used a screen reader) and speaks of it. That a model wrote the review does not follow: ask, and read it.".into(),
    ];
    Ok(report)
}

fn report(
    command: &'static str,
    settings: &impl Serialize,
    inputs: Vec<Input>,
    table: Table,
) -> Report {
    Report {
        command,
        inputs,
        settings: settings_map(settings),
        table,
        warnings: Vec::new(),
        footer: Vec::new(),
        prose: None,
    }
}
