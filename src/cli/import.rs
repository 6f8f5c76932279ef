//! `caz import`: exports of review systems and annotation tools as caz's own JSON lines.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Context, Error, ErrorKind, Result};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::common::{Common, OutputFormat, check_read_once};
use super::exit::{ExitStatus, UsageError};
use super::exports::ExportArgs;
use super::output::{beside, check_output, print, say, write_output};
use super::progress::open;
use crate::data::formula::guarded;
use crate::data::import::{
    ImportError, ImportSettings, Imported, Submissions, Wanted, guessed, has_rows, imported,
    left_out, taken,
};
use crate::data::items::{PAPER, read_items};
use crate::data::problem::DataError;
use crate::data::source::{Format, Source};
use crate::llm::paste::pasted;

/// Turn exports of other systems into caz's own JSON lines
///
/// Formats are recognised by their content. What an LLM wrote inside an export goes to a file of
/// its own beside the output, to be given as --z.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// Exports; several are joined
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Answers of an LLM as they were pasted from a chat window, for the tasks or papers in the only FILE (see
    /// `caz prompts render`): they become a Z. Each file is a source of its own
    #[arg(long, num_args = 1.., value_name = "TEXT")]
    z_chat: Vec<PathBuf>,
    #[command(flatten)]
    exports: ExportArgs,
    /// What the rows are for [default: what the files look like]
    #[arg(long = "for", value_enum, value_name = "WHAT")]
    wanted: Option<WantedChoice>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum WantedChoice {
    /// Reviews by people
    Reviews,
    /// Labels by people
    Labels,
    /// Reviews by LLMs
    ZReviews,
    /// Labels by LLMs
    ZLabels,
}

/// Runs the command.
pub(super) fn run(args: &ImportArgs, common: &Common) -> Result<ExitStatus> {
    let as_csv = is_csv(common)?;
    let settings = args.exports.settings()?;
    check_read_once(args.files.iter().chain(&args.z_chat))?;
    check_output(common.output.as_deref())?;
    if !args.z_chat.is_empty() {
        return z_of_chats(args, as_csv, common);
    }
    let mut rows = Vec::new();
    let mut llm = Vec::new();
    let mut of_systems = false;
    let mut foreign: Vec<(String, DataError)> = Vec::new();
    let sources = args
        .files
        .iter()
        .map(|file| open(file, common))
        .collect::<std::result::Result<Vec<_>, DataError>>()?;
    let lists: Vec<Option<Submissions>> = sources.iter().map(Submissions::of).collect();
    // Alone such a list is refused, with what is missing.
    let is_joined = lists.iter().any(Option::is_none);
    let submissions =
        lists.iter().flatten().cloned().reduce(Submissions::and).filter(|_| is_joined);
    let sources = sources.into_iter().zip(&lists);
    let sources = sources.filter(|(_, list)| !is_joined || list.is_none());
    let sources: Vec<Source> = sources.map(|(source, _)| source).collect();
    for source in sources {
        let settings = match &submissions {
            Some(list) => list.settings(&source, &settings),
            None => settings.clone(),
        };
        let wanted = match args.wanted {
            Some(WantedChoice::Reviews) => Wanted::Reviews,
            Some(WantedChoice::Labels) => Wanted::Labels,
            Some(WantedChoice::ZReviews) => Wanted::LlmReviews,
            Some(WantedChoice::ZLabels) => Wanted::LlmLabels,
            None => guessed(&source, &settings)?,
        };
        let name = source.name();
        let imported = match as_lines(source, wanted, &settings) {
            Ok(imported) => match &submissions {
                Some(list) => list.kept(imported),
                None => imported,
            },
            Err(error) if args.files.len() > 1 => {
                foreign.push((name, error));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        match &imported.note {
            Some(note) => say(common, &note.sentence()),
            None => say(common, &format!("`{}` is in caz's own form", imported.source.name())),
        }
        of_systems |= imported.note.is_some_and(|note| !["table", "json"].contains(&note.format));
        for warning in &imported.warnings {
            say(common, &format!("warning: {}", warning.message));
        }
        append(&mut rows, &imported.source.bytes);
        if let Some(source) = &imported.llm {
            append(&mut llm, &source.bytes);
        }
    }
    for (name, error) in foreign {
        // What is of no use to anybody, or no export where others are.
        let may_go = match &error {
            DataError::Import(error) => error.is_of_no_use() || (of_systems && !error.is_damage()),
            DataError::Invalid(_) => of_systems,
            _ => false,
        };
        if rows.is_empty() || !may_go {
            return Err(error.into());
        }
        say(common, &format!("warning: {}", left_out(&name, &error).message));
    }
    let Some(output) = &common.output else {
        if !llm.is_empty() {
            let message = "the files hold rows by an LLM, which go to a file of their own: name the \
                           output with --output";
            return Err(UsageError(message.into()).into());
        }
        print(|out| write_rows(&rows, as_csv, out))?;
        return Ok(ExitStatus::Done);
    };
    let z = z_beside(output).with_extension(if as_csv { "csv" } else { "jsonl" });
    if !llm.is_empty() && z.exists() && !output.exists() {
        // No run before this one has written it.
        let message = format!(
            "what an LLM wrote would go over `{}`, which is there; choose another --output",
            z.display()
        );
        return Err(UsageError(message).into());
    }
    write_output(output, |out| write_rows(&rows, as_csv, out))?;
    if !llm.is_empty() {
        write_output(&z, |out| write_rows(&llm, as_csv, out))?;
        say(common, &format!("what an LLM wrote is in `{}`; give it as --z", z.display()));
    }
    Ok(ExitStatus::Done)
}

/// Answers that were pasted back, as a Z.
fn z_of_chats(args: &ImportArgs, as_csv: bool, common: &Common) -> Result<ExitStatus> {
    let [items] = &args.files[..] else {
        let message =
            "with --z-chat name one file of tasks or papers: the numbers are those of its rows";
        return Err(UsageError(message.into()).into());
    };
    let items = read_items(&open(items, common)?, &[PAPER])?;
    let mut rows = Vec::new();
    for path in &args.z_chat {
        let name = path.display();
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read `{name}`"))?;
        let found = pasted(&text, items.len());
        let tell = |what: &str| say(common, &format!("warning: `{name}`{what}"));
        if !found.refused.is_empty() {
            let numbers = list(&found.refused);
            tell(&format!(": the model declines to answer number {numbers}, which is left out"));
        }
        if found.answers.iter().all(Vec::is_empty) {
            let message = format!(
                "`{name}` has no answer behind a line like `=== 1 ===`, with the number of its task"
            );
            return Err(Error::new(ErrorKind::Input, message));
        }
        if !found.strange.is_empty() {
            let (numbers, all) = (list(&found.strange), items.len());
            tell(&format!(": there are {all} items, none has the number {numbers}"));
        }
        let with = |is_meant: fn(usize) -> bool| -> Vec<usize> {
            let numbers = found.answers.iter().zip(1..);
            numbers.filter(|(of, _)| is_meant(of.len())).map(|(_, number)| number).collect()
        };
        let (none, several) = (with(|count| count == 0), with(|count| count > 1));
        if !none.is_empty() {
            tell(&format!(" has no answer for number {}", list(&none)));
        }
        if !several.is_empty() {
            let numbers = list(&several);
            tell(&format!(
                ": several answers have the number {numbers}; each is taken for a sample"
            ));
        }
        let source = path.file_stem().unwrap_or_default().to_string_lossy();
        for (item, answers) in items.iter().zip(&found.answers) {
            for (at, text) in answers.iter().enumerate() {
                let paper = item.fields[0].as_deref().unwrap_or_default().trim();
                let row = json!({"paper": paper, "source": source, "sample": at + 1, "text": text});
                append(&mut rows, row.to_string().as_bytes());
            }
        }
    }
    match &common.output {
        Some(output) => write_output(output, |out| write_rows(&rows, as_csv, out))?,
        None => print(|out| write_rows(&rows, as_csv, out))?,
    }
    Ok(ExitStatus::Done)
}

/// A few numbers, and how many more there are.
fn list(numbers: &[usize]) -> String {
    const SHOWN: usize = 10;
    let words: Vec<String> = numbers.iter().take(SHOWN).map(usize::to_string).collect();
    let more = numbers.len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    words.join(", ") + &rest
}

/// The file for rows by an LLM: `out.jsonl` -> `out.z.jsonl`.
pub(super) fn z_beside(output: &Path) -> PathBuf {
    beside(output, "z.jsonl")
}

/// A file as JSON lines, also where the ordinary readers would take it as it is.
fn as_lines(
    source: Source,
    wanted: Wanted,
    settings: &ImportSettings,
) -> Result<Imported, DataError> {
    if !has_rows(&source) {
        return Err(ImportError::empty(source.name(), wanted).into());
    }
    let first = imported(source, wanted, settings)?;
    if first.note.is_some() {
        return Ok(first);
    }
    // What only looks like caz's own is not called so.
    taken(&first.source, wanted)?;
    // Lines that are caz's own stay as they are, vectors and all.
    if first.source.format == Format::JsonLines {
        return Ok(first);
    }
    let from = Some("table".to_owned());
    Ok(imported(first.source, wanted, &ImportSettings { from, ..settings.clone() })?)
}

/// Whether rows are written as CSV: by `--format`, else by the ending of the output.
fn is_csv(common: &Common) -> Result<bool> {
    let ending = common.output.as_deref().and_then(OutputFormat::by_ending);
    match (common.format, ending) {
        (Some(OutputFormat::Csv), _) | (None, Some(OutputFormat::Csv)) => Ok(true),
        (Some(OutputFormat::Jsonl), _)
        | (None, Some(OutputFormat::Jsonl | OutputFormat::Json | OutputFormat::Table) | None) => {
            Ok(false)
        }
        _ => {
            let message = "rows are written as JSON lines or CSV: end --output in .jsonl or .csv";
            Err(UsageError(message.into()).into())
        }
    }
}

/// Rows that stand there as JSON lines: as they are, or as a table of all their keys.
fn write_rows(lines: &[u8], as_csv: bool, out: &mut dyn Write) -> io::Result<()> {
    const FIRST: [&str; 6] = ["paper", "reviewer", "task", "worker", "label", "text"];
    if !as_csv {
        return out.write_all(lines);
    }
    let rows = || {
        let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice::<Map<String, Value>>(line).unwrap_or_default())
    };
    let mut keys: Vec<String> = Vec::new();
    for key in rows().flat_map(|row| row.into_iter().map(|(key, _)| key).collect::<Vec<_>>()) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let place = |key: &String| FIRST.iter().position(|first| first == key).unwrap_or(FIRST.len());
    keys.sort_by_key(place);
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(&keys)?;
    for row in rows() {
        let cell = |key: &String| match row.get(key) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => guarded(text).into_owned(),
            Some(other) => other.to_string(),
        };
        writer.write_record(keys.iter().map(cell))?;
    }
    writer.flush()
}

/// Files may end without a line end.
fn append(lines: &mut Vec<u8>, more: &[u8]) {
    lines.extend_from_slice(more);
    if !lines.ends_with(b"\n") {
        lines.push(b'\n');
    }
}
