//! Reads a file of any system: what it is, who reads it, and what came of it.

use super::catalogue::{ForeignFormat, found, is_general, named};
use super::charset::{Charset, decoded};
use super::elements::{self, without_nan};
use super::error::ImportError;
use super::importer::Request;
use super::note::ImportNote;
use super::output::{self, Output};
use super::peek::{Peek, Root};
use super::records::ends_early;
use super::refused;
use super::schema;
use super::settings::{ImportSettings, Wanted};
use super::table;
use crate::data::answers::Answered;
use crate::data::near::folded;
use crate::data::nouns::{ARE, counted, verb};
use crate::data::problem::{DataError, Problems};
use crate::data::rows::{Column, FileProblems, read_rows};
use crate::data::source::{Format, Places, Source};
use crate::data::warning::Warning;

/// A file in caz's own form.
#[derive(Debug, Clone)]
pub(crate) struct Imported {
    /// Rows for what was wanted; its hash is that of the file as it was stored.
    pub source: Source,
    /// Rows by an LLM that the export held.
    pub llm: Option<Source>,
    /// What was done; `None` where the file was left to the ordinary readers as it is.
    pub note: Option<ImportNote>,
    /// What to know about it.
    pub warnings: Vec<Warning>,
}

/// What is asked of a file.
pub(super) struct Asked<'a> {
    pub(super) wanted: Wanted,
    pub(super) settings: &'a ImportSettings,
    /// Whether it stands beside the file that the settings are about.
    pub(super) beside: bool,
    /// Columns of a table that are kept under their own names.
    pub(super) keep: &'a [String],
    /// Whether a word for nothing is a label like any other.
    pub(super) exact: bool,
}

/// The file in caz's own form: as it is if it is in it, else imported.
///
/// # Errors
///
/// [`ImportError`] if it is of no known form, refused by name, or damaged.
pub(crate) fn imported(
    source: Source,
    wanted: Wanted,
    settings: &ImportSettings,
) -> Result<Imported, ImportError> {
    settings.check()?;
    imported_as(source, &Asked { wanted, settings, beside: false, keep: &[], exact: false })
}

/// How many rows of a file in caz's own form there are for what is wanted.
///
/// # Errors
///
/// [`DataError::Invalid`] if it is not in that form, with every problem.
pub(crate) fn taken(source: &Source, wanted: Wanted) -> Result<u64, DataError> {
    let columns = schema::columns(wanted);
    let (required, content): (Vec<Column>, Vec<Column>) = columns;
    let all = [&required[..], &content[..]].concat();
    let mut problems = Problems::new();
    let mut file = FileProblems::new(source, &mut problems);
    let rows = read_rows(source, &all, &mut file, &mut |row, problems| {
        let content = &row.fields[required.len()..];
        for (field, column) in row.fields.iter().zip(&required) {
            if !field.is_missing()
                && matches!(field.answered(), Answered::Structure | Answered::Spans)
            {
                let message = "is a list or an object; write a text or a number";
                problems.report(Some(row.line), Some(column.name), message);
            }
        }
        if !content.is_empty() && content.iter().all(super::super::rows::Field::is_missing) {
            let message = "the row has no text, `vector` or `judgments`";
            problems.report(Some(row.line), None, message);
        }
    });
    problems.into_result()?;
    Ok(rows)
}

pub(super) fn imported_as(mut source: Source, asked: &Asked<'_>) -> Result<Imported, ImportError> {
    source.has_nameable_columns = true;
    let file = source.name();
    refused::check_charset(&file, &source.bytes)?;
    let (bytes, charset) = decoded(&source.bytes);
    let mut warnings = Vec::new();
    if charset == Charset::Windows1252 {
        let message = format!("`{file}` is not UTF-8 and was read as Windows-1252");
        warnings.push(Warning::new("windows_1252", 1, message));
    }
    let (bytes, not_numbers) = without_nan(bytes);
    if not_numbers > 0 {
        let message = format!(
            "{} of `{file}` {} NaN or infinite, which counts as missing",
            counted(not_numbers, "value"),
            verb(not_numbers, ARE)
        );
        warnings.push(Warning::new("not_a_number", not_numbers, message));
    }
    let peek = Peek::new(&bytes);
    let is_z = asked.wanted.is_llm();
    let beside;
    let mut settings = asked.settings;
    if asked.beside {
        let has = |name: &str| peek.names().any(|other| folded(other) == folded(name));
        beside = asked.settings.beside(is_z, has);
        settings = &beside;
    }
    let own_shape = charset == Charset::Utf8
        && not_numbers == 0
        && table::has_own_shape(&peek, &source)
        && settings.is_silent();
    let mut request = Request {
        file: file.clone(),
        peek: &peek,
        stem: source.stem(),
        wanted: asked.wanted,
        settings,
        keep: asked.keep,
    };
    if own_shape && !ends_early(&peek) {
        let names: Vec<String> = match &peek.root {
            Root::Json { first, .. } => {
                first.iter().take(1).flat_map(|o| o.keys().cloned()).collect()
            }
            _ => peek.header().to_vec(),
        };
        if asked.wanted.is_known_by(&names) {
            warnings.extend(table::own_answer(&request)?);
            return Ok(Imported { source, llm: None, note: None, warnings });
        }
    }
    refused::check(&file, &peek)?;
    let chosen = match &settings.from {
        Some(name) => Some(named(name)?),
        None if settings.wide.is_some() => Some(named("wide")?),
        None => found(&peek, Some(asked.wanted)),
    };
    let Some(ForeignFormat { name: format, importer, .. }) = chosen else {
        return Ok(Imported { source, llm: None, note: None, warnings });
    };
    // Questions of a form are no columns.
    let questions;
    if asked.beside && !is_general(format) && matches!(peek.root, Root::Json { .. }) {
        questions = asked.settings.beside(is_z, |_| true);
        request.settings = &questions;
    }
    if is_general(format) {
        // A list without a whole element has broken off, or has none.
        if peek.objects().is_empty()
            && let Err(broken) = elements::each_object(peek.bytes, &mut |_, _| true)
            && matches!(peek.root, Root::Json { .. })
        {
            return Err(request.broken(broken));
        }
        refused::check_rows(&file, &peek)?;
    }
    check_answer_columns(&request, format)?;
    let mut output = Output::new(asked.wanted, asked.exact);
    let reading = source.listener.reading(1);
    match importer.read(&request, &mut output) {
        Ok(()) => {}
        // Of a table in caz's own shape the ordinary reader says what is missing, with the line.
        Err(ImportError::Columns { .. } | ImportError::Broken { .. })
            if own_shape
                && matches!(peek.root, Root::Table { .. })
                && is_general(format)
                && !peek.has_doubled_names()
                && !asked.wanted.is_known_better(peek.header()) =>
        {
            return Ok(Imported { source, llm: None, note: None, warnings });
        }
        Err(error) => return Err(error),
    }
    drop(reading);
    let by_line = matches!(peek.root, Root::Table { .. }) || elements::is_lines(peek.bytes);
    finished(&source, (format, by_line), &request, output, warnings)
}

/// Refuses columns of answers where the format has none beside each other.
fn check_answer_columns(request: &Request<'_>, format: &str) -> Result<(), ImportError> {
    const WIDE: [&str; 5] = ["wide", "qualtrics", "limesurvey", "surveymonkey", "google-forms"];
    if request.settings.answer_columns.is_empty() || WIDE.contains(&format) {
        return Ok(());
    }
    let message =
        format!("it was read as {format}, which has no columns of answers beside each other");
    Err(ImportError::Wide { file: request.file.clone(), message })
}

/// Whether there is more than nothing, or the header of a table.
pub(crate) fn has_rows(source: &Source) -> bool {
    let lines = source.bytes.split(|&byte| byte == b'\n');
    let filled = lines.filter(|line| !line.iter().all(u8::is_ascii_whitespace)).take(2).count();
    let is_table = || matches!(Peek::new(&decoded(&source.bytes).0).root, Root::Table { .. });
    filled > 1 || (filled == 1 && !is_table())
}

/// What the rows of a file are most likely for, by its format or else by the names of its columns.
///
/// # Errors
///
/// [`ImportError::UnknownFormat`] if `settings` name one that there is not.
pub(crate) fn guessed(source: &Source, settings: &ImportSettings) -> Result<Wanted, ImportError> {
    let (bytes, _) = decoded(&source.bytes);
    let (bytes, _) = without_nan(bytes);
    let peek = Peek::new(&bytes);
    let format = match &settings.from {
        Some(name) => Some(named(name)?),
        None if settings.wide.is_some() => return Ok(Wanted::Labels),
        None => found(&peek, None),
    };
    let name = format.map_or("table", |format| format.name);
    let of_reviews = ["openreview", "easychair", "cmt", "peerread"].contains(&name);
    if of_reviews || name.starts_with("hotcrp") {
        return Ok(Wanted::Reviews);
    }
    if !is_general(name) {
        return Ok(Wanted::Labels);
    }
    let mapped = |key: &str| settings.columns.contains_key(key);
    Ok(schema::guessed(mapped, !settings.text_columns.is_empty(), peek.names()))
}

/// The rows as sources, and the note.
fn finished(
    source: &Source,
    (format, by_line): (&'static str, bool),
    request: &Request<'_>,
    mut output: Output,
    mut warnings: Vec<Warning>,
) -> Result<Imported, ImportError> {
    let wanted = request.wanted;
    if output.spans > 0 {
        return Err(ImportError::Refused {
            file: request.file.clone(),
            what: format!(
                "an export of {format} in which people marked places (spans), several a task"
            ),
            instead:
                "caz compares one answer a task: name a question about the whole task, or make a \
                      table with a row for each place (task, worker, label)"
                    .into(),
        });
    }
    // An export that is given as Z counts by what is by an LLM; where it marks nothing, as a whole.
    let marked = wanted.is_llm() && output.llm.count() > 0;
    let (rows, llm) = if marked {
        if output.people.count() > 0 {
            *output.left_out.entry("rows by people".into()).or_default() += output.people.count();
        }
        (output.llm, None)
    } else {
        (output.people, Some(output.llm).filter(|llm| llm.count() > 0))
    };
    // Potato holds no reviews and HotCRP no labels, whatever is asked for.
    let other = match (wanted.is_reviews(), wanted.is_labels(), output.gave) {
        (true, _, output::Gave { reviews: false, labels: true }) => Some("it holds labels"),
        (_, true, output::Gave { reviews: true, labels: false }) => Some("it holds reviews"),
        _ => None,
    };
    let nothing = |hint: String| ImportError::Nothing {
        file: request.file.clone(),
        format,
        wanted: wanted.noun(),
        hint,
    };
    if let Some(hint) = other {
        return Err(nothing(hint.to_owned()));
    }
    let is_z = marked || (wanted.is_llm() && wanted != Wanted::JudgedLabels);
    let by_llm = if is_z { rows.count() } else { 0 };
    let note = ImportNote {
        file: request.file.clone(),
        format,
        read: output.read,
        people: rows.count() - by_llm,
        llm: by_llm + llm.as_ref().map_or(0, output::Lines::count),
        answered: output.answered,
        left_out: output.left_out,
        short_rows: output.short,
        text_fields: output.text_fields,
    };
    if rows.count() == 0 {
        return Err(nothing(if note.left_out.is_empty() {
            "is it an export of another kind?".to_owned()
        } else {
            let reasons: Vec<String> =
                note.left_out.iter().map(|(why, count)| format!("{count} {why}")).collect();
            format!("left out: {}", reasons.join(", "))
        }));
    }
    warnings.extend(output.warnings);
    warnings.extend(many_left_out(&note, output.spreadsheet_errors));
    let as_source = |lines: output::Lines| Source {
        path: source.path.clone(),
        sha256: source.sha256.clone(),
        bytes: lines.bytes,
        format: Format::JsonLines,
        imported: Some(Places { format, by_line, rows: lines.places }),
        has_nameable_columns: true,
        listener: source.listener.clone(),
    };
    Ok(Imported { source: as_source(rows), llm: llm.map(as_source), note: Some(note), warnings })
}

/// That much of a table is left out for want of a name or a text, as where cells were merged: the names
/// then stand in the first of several rows alone; or where a spreadsheet could not compute them.
fn many_left_out(note: &ImportNote, errors: u64) -> Option<Warning> {
    /// One row in so many.
    const MANY: u64 = 5;
    let lacking = note.left_out.iter().filter(|(reason, _)| *reason != table::EMPTY);
    let left_out: u64 = lacking.map(|(_, count)| count).sum();
    if note.format != "table" || MANY * left_out <= note.read {
        return None;
    }
    let why = if errors > 0 {
        format!(
            "{errors} hold an error of a spreadsheet, such as `#REF!`; mend it there, and save the \
             table again"
        )
    } else {
        "were cells merged? give every row all of its names".to_owned()
    };
    let message = format!(
        "{left_out} of {} rows of `{}` are left out since something is missing: {why}",
        note.read, note.file,
    );
    let count = usize::try_from(left_out).unwrap_or(usize::MAX);
    Some(Warning::new("many_left_out", count, message))
}
