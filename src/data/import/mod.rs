//! Files as other systems write them, turned into caz's own rows. One file per format, each behind
//! `Importer`.
//!
//! A file is looked at (`peek`): its first bytes, the shape of its root, a required pair of keys or
//! its header; never its ending. What is in caz's own form passes as it is. Everything else becomes
//! JSON lines under caz's names, which the ordinary readers read, so that every rule about rows
//! stands in one place.
//!
//! What an LLM wrote inside an export goes to Z as a source of its own, never to the peers. What is
//! left out is counted by reason.

mod argilla;
mod bounded;
mod charset;
mod cmt;
mod doccano;
mod easychair;
mod elements;
mod error;
mod forms;
mod hotcrp_csv;
mod hotcrp_form;
mod hotcrp_json;
mod label_studio;
mod mturk;
mod note;
mod opener;
mod openreview;
mod output;
mod peek;
mod peerread;
mod people;
mod potato;
mod prodigy;
mod qualtrics;
mod records;
mod refused;
mod schema;
mod settings;
mod table;
mod text_fields;
mod toloka;
mod wide;

#[cfg(test)]
mod tests;

use self::charset::Charset;
pub(crate) use self::charset::decoded;
pub use self::error::ImportError;
pub use self::note::{ImportNote, Imports};
pub use self::opener::Opener;
use self::output::Output;
use self::peek::{Peek, Root};
pub use self::people::People;
pub use self::settings::{COLUMN_KEYS, ImportSettings, Wanted, Wide};
use super::near::folded;
use super::source::{Format, Places, Source};
use super::warning::Warning;

/// A file in caz's own form.
#[derive(Debug, Clone)]
pub struct Imported {
    /// Rows for what was wanted; its hash is that of the file as it was stored.
    pub source: Source,
    /// Rows by an LLM that the export held.
    pub llm: Option<Source>,
    /// What was done; `None` where the file was in caz's own form.
    pub note: Option<ImportNote>,
    /// What to know about it.
    pub warnings: Vec<Warning>,
}

/// What is asked of a file.
pub(super) struct Asked<'a> {
    wanted: Wanted,
    settings: &'a ImportSettings,
    /// Whether it stands beside the file that the settings are about.
    beside: bool,
    /// Columns of a table that are kept under their own names.
    keep: &'a [String],
}

/// A request to an importer.
struct Request<'a> {
    file: String,
    /// The name of the file without folders and endings.
    stem: String,
    wanted: Wanted,
    settings: &'a ImportSettings,
    keep: &'a [String],
}

/// A foreign format. Importers are tried in the order of [`IMPORTERS`].
trait Importer: Sync {
    /// The name as the user gives it.
    fn name(&self) -> &'static str;

    /// Whether the file is certainly of this format.
    fn detect(&self, peek: &Peek<'_>) -> bool;

    /// Whether such files hold rows of this kind.
    fn gives(&self, wanted: Wanted) -> bool {
        wanted.is_reviews() || wanted.is_labels()
    }

    /// Reads the file into rows.
    ///
    /// # Errors
    ///
    /// [`ImportError`] if the file is damaged or not what it should be.
    fn read(
        &self,
        peek: &Peek<'_>,
        request: &Request<'_>,
        output: &mut Output,
    ) -> Result<(), ImportError>;
}

/// Every format, the more particular before the more general.
const IMPORTERS: [&dyn Importer; 21] = [
    &openreview::OpenReview,
    &hotcrp_json::HotCrpRqc,
    &hotcrp_json::HotCrpJson,
    &hotcrp_form::HotCrpForm,
    &hotcrp_csv::HotCrpBatch,
    &hotcrp_csv::HotCrpCsv,
    &easychair::EasyChair,
    &cmt::Cmt,
    &label_studio::LabelStudio,
    &label_studio::LabelStudioTable,
    &prodigy::Prodigy,
    &doccano::Doccano,
    &argilla::Argilla,
    &potato::Potato,
    &mturk::MTurk,
    &toloka::Toloka,
    &qualtrics::Qualtrics,
    &peerread::PeerRead,
    &wide::WideTable,
    &table::AnyTable,
    &table::AnyJson,
];

/// Names of all formats.
pub fn formats() -> Vec<&'static str> {
    IMPORTERS.iter().map(|importer| importer.name()).collect()
}

/// The file in caz's own form: as it is if it is in it, else imported.
///
/// # Errors
///
/// [`ImportError`] if it is of no known form, refused by name, or damaged.
pub fn imported(
    source: Source,
    wanted: Wanted,
    settings: &ImportSettings,
) -> Result<Imported, ImportError> {
    settings.check()?;
    imported_as(source, &Asked { wanted, settings, beside: false, keep: &[] })
}

fn imported_as(mut source: Source, asked: &Asked<'_>) -> Result<Imported, ImportError> {
    source.has_nameable_columns = true;
    let file = source.name();
    let (bytes, charset) = decoded(&source.bytes);
    let mut warnings = Vec::new();
    if charset == Charset::Windows1252 {
        let message = format!("`{file}` is not UTF-8 and was read as Windows-1252");
        warnings.push(Warning::new("windows_1252", 1, message));
    }
    let peek = Peek::new(&bytes);
    let settings = if asked.beside {
        &asked.settings.beside(|name| peek.names().any(|other| folded(other) == folded(name)))
    } else {
        asked.settings
    };
    let request = Request {
        file: file.clone(),
        stem: source.stem(),
        wanted: asked.wanted,
        settings,
        keep: asked.keep,
    };
    let ordinary = charset == Charset::Utf8 && table::has_own_shape(&peek, &source);
    let ordinary = ordinary && settings.is_silent();
    if ordinary {
        let names: Vec<String> = match &peek.root {
            Root::Json { first, .. } => {
                first.iter().take(1).flat_map(|o| o.keys().cloned()).collect()
            }
            _ => peek.header().to_vec(),
        };
        if asked.wanted.is_known_by(&names) {
            return Ok(Imported { source, llm: None, note: None, warnings });
        }
    }
    refused::check(&file, &peek)?;
    let importer = match &settings.from {
        Some(name) => Some(named(name)?),
        None if settings.wide.is_some() => Some(&wide::WideTable as &dyn Importer),
        None => IMPORTERS
            .into_iter()
            .find(|importer| importer.gives(asked.wanted) && importer.detect(&peek)),
    };
    // Questions of a form are no columns.
    let asks = importer.is_some_and(|importer| !is_general(importer));
    let questions = ImportSettings { from: None, wide: None, ..asked.settings.clone() };
    let request = if asked.beside && asks && matches!(peek.root, Root::Json { .. }) {
        Request { settings: &questions, ..request }
    } else {
        request
    };
    let Some(importer) = importer else {
        // A list is never caz's own; one without a whole element has broken off.
        let is_list = peek.bytes.trim_ascii_start().starts_with(b"[");
        if is_list && let Err(broken) = elements::each_object(peek.bytes, &mut |_, _| true) {
            return Err(request.broken(broken));
        }
        return Ok(Imported { source, llm: None, note: None, warnings });
    };
    let mut output = Output::new(asked.wanted);
    let reading = source.listener.reading(1);
    match importer.read(&peek, &request, &mut output) {
        Ok(()) => {}
        // Of a table in caz's own shape the ordinary reader says what is missing, with the line.
        Err(ImportError::Columns { .. } | ImportError::Broken { .. })
            if ordinary && matches!(peek.root, Root::Table { .. }) && is_general(importer) =>
        {
            return Ok(Imported { source, llm: None, note: None, warnings });
        }
        Err(error) => return Err(error),
    }
    drop(reading);
    let format = importer.name();
    let by_line = matches!(peek.root, Root::Table { .. }) || elements::is_lines(peek.bytes);
    finished(&source, (format, by_line), &request, output, warnings)
}

/// The formats that are any table or JSON, by the names of columns.
const GENERAL: [&str; 2] = ["table", "json"];

fn is_general(importer: &dyn Importer) -> bool {
    GENERAL.contains(&importer.name())
}

/// What the rows of a file are most likely for, by its format or else by the names of its columns.
///
/// # Errors
///
/// [`ImportError::UnknownFormat`] if `settings` name one that there is not.
pub fn guessed(source: &Source, settings: &ImportSettings) -> Result<Wanted, ImportError> {
    let (bytes, _) = decoded(&source.bytes);
    let peek = Peek::new(&bytes);
    let importer = match &settings.from {
        Some(name) => Some(named(name)?),
        None if settings.wide.is_some() => return Ok(Wanted::Labels),
        None => IMPORTERS.into_iter().find(|importer| importer.detect(&peek)),
    };
    let name = importer.map_or("table", Importer::name);
    let of_reviews = ["openreview", "easychair", "cmt", "peerread"].contains(&name);
    if of_reviews || name.starts_with("hotcrp") {
        return Ok(Wanted::Reviews);
    }
    if !["table", "json"].contains(&name) {
        return Ok(Wanted::Labels);
    }
    let mapped = |key: &str| settings.columns.contains_key(key);
    Ok(schema::guessed(mapped, !settings.text_columns.is_empty(), peek.names()))
}

fn named(name: &str) -> Result<&'static dyn Importer, ImportError> {
    IMPORTERS.into_iter().find(|importer| importer.name() == name).ok_or_else(|| {
        ImportError::UnknownFormat { name: name.to_owned(), known: formats().join(", ") }
    })
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
        left_out: output.left_out,
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
    warnings.extend(many_left_out(&note));
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
/// then stand in the first of several rows alone.
fn many_left_out(note: &ImportNote) -> Option<Warning> {
    /// One row in so many.
    const MANY: u64 = 5;
    let left_out: u64 = note.left_out.values().sum();
    if note.format != "table" || MANY * left_out <= note.read {
        return None;
    }
    let message = format!(
        "{left_out} of {} rows of `{}` are left out since something is missing: were cells merged? give \
         every row all of its names",
        note.read, note.file,
    );
    let count = usize::try_from(left_out).unwrap_or(usize::MAX);
    Some(Warning::new("many_left_out", count, message))
}

impl Request<'_> {
    /// The column that the user named for the task of an object.
    fn task_of(&self, object: &elements::Object) -> Option<String> {
        let name = self.settings.columns.get("task")?;
        let data = object.get("data").and_then(|data| data.get(name));
        text_fields::name_of(object.get(name)).or_else(|| text_fields::name_of(data))
    }

    fn broken(&self, broken: elements::Broken) -> ImportError {
        ImportError::Broken {
            file: self.file.clone(),
            after: broken.after,
            message: broken.message,
        }
    }

    fn columns(&self, message: String) -> ImportError {
        ImportError::Columns { file: self.file.clone(), message }
    }
}

/// Whether JSON holds these keys in its first object.
fn first_has(peek: &Peek<'_>, keys: &[&str]) -> bool {
    match &peek.root {
        Root::Json { first, .. } => {
            first.first().is_some_and(|object| keys.iter().all(|key| object.contains_key(*key)))
        }
        _ => false,
    }
}
