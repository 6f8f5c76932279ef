//! What people and LLM had before them: the text of a task, the abstract of a paper. It is nobody's work.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::content::{CONTENT_COLUMNS, Content, ContentReader};
use super::ids::Ids;
use super::import::{ImportError, ImportSettings, Imported, Wanted, imported};
use super::near::{folded, listed, quotable};
use super::nouns::Nouns;
use super::problem::Problems;
use super::rows::{Column, Field, FileProblems, NamedColumn, header, read_rows};
use super::source::Source;
use super::warning::{Warning, first_names};

/// The column of a file of reviews that has it too.
pub(crate) const TASK_TEXT: Column =
    Column { name: "task_text", synonyms: &["abstract", "paper_abstract"], required: false };

/// Names of the column that says of which task a row is, the likelier first.
const NAMES: [&str; 16] = [
    "paper",
    "task",
    "item",
    "submission",
    "forum",
    "paper_id",
    "task_id",
    "item_id",
    "question_id",
    "example",
    "unit",
    "submission_id",
    "pid",
    "hitid",
    "id",
    "name",
];

/// Fewer words in a cell are no text but a name, a number or an address.
const FEWEST_WORDS: usize = 3;

/// Texts by the number of the paper, as they are gathered.
#[derive(Debug, Default)]
pub(super) struct TaskTexts {
    texts: BTreeMap<u32, BTreeSet<String>>,
    vectors: BTreeMap<u32, Vec<f64>>,
    /// Names that are not among those of papers.
    unknown: BTreeSet<String>,
    /// Where they come from, for the note.
    from: String,
}

impl TaskTexts {
    /// The text beside a review.
    pub(super) fn see(&mut self, paper: u32, text: &str) {
        let texts = self.texts.entry(paper).or_default();
        if !texts.contains(text) {
            texts.insert(text.to_owned());
        }
    }

    /// Says where texts come from: columns of a file.
    pub(super) fn from(&mut self, what: String) {
        self.from = what;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.vectors.is_empty()
    }

    /// Whether as many differ as there are reviews, on most papers with several: then the column is not
    /// of papers.
    pub(super) fn differ(&self, reviews_of: &BTreeMap<u32, usize>) -> bool {
        let several = self.texts.iter().filter(|(paper, _)| reviews_of.get(paper) > Some(&1));
        let (mut all, mut different) = (0, 0);
        for (paper, texts) in several {
            all += 1;
            different += usize::from(reviews_of[paper] == texts.len());
        }
        2 * different > all
    }

    /// Reads a file of tasks; returns the number of its rows.
    pub(super) fn read(
        &mut self,
        source: &Source,
        papers: &Ids,
        contents: &mut ContentReader,
        problems: &mut Problems,
    ) -> u64 {
        let columns = header(source);
        let mut problems = FileProblems::new(source, problems);
        let named = |wanted: &&str| columns.iter().position(|name| folded(name) == **wanted);
        let Some(name) = NAMES.iter().find_map(named) else {
            if !columns.is_empty() {
                let paper = Column { name: "paper", synonyms: &["task", "item"], required: true };
                problems.report_missing(&paper, "", &columns);
            }
            return read_rows(source, &[], &mut problems, &mut |_, _| {});
        };
        let [text, vector, judgments] = CONTENT_COLUMNS;
        let text = [TASK_TEXT, text].into_iter().find_map(|column| {
            columns.iter().find(|name| column.matches(name)).map(String::as_str)
        });
        let has_vector = columns.iter().any(|name| vector.matches(name));
        let optional = |name| NamedColumn { name, synonyms: &[], required: false };
        let mut schema = vec![NamedColumn { required: true, ..optional(columns[name].as_str()) }];
        let is_content = text.is_some() || has_vector;
        if is_content {
            schema.extend([optional(text.unwrap_or("text")), vector, judgments]);
        } else {
            let others = columns.iter().enumerate().filter(|(place, _)| *place != name);
            schema.extend(others.map(|(_, other)| optional(other.as_str())));
        }
        if self.from.is_empty() {
            self.from = format!("`{}`", source.name());
        }
        let name = schema[0];
        read_rows(source, &schema, &mut problems, &mut |row, problems| {
            let Some(paper) = row.name(0, &name, problems) else { return };
            let Some(number) = papers.get(&paper) else {
                self.unknown.insert(paper.into());
                return;
            };
            let cells = &row.fields[1..];
            if !is_content {
                let cells = cells.iter().filter_map(Field::as_text).map(str::trim);
                let prose = cells.filter(|cell| cell.split_whitespace().count() >= FEWEST_WORDS);
                let text = prose.collect::<Vec<_>>().join("\n\n");
                if !text.is_empty() {
                    self.see(number, &text);
                }
                return;
            }
            // A task without a text is counted in the end, and no problem.
            if cells.iter().all(Field::is_missing) {
                return;
            }
            let Some(content) = contents.read(row, 1, problems) else { return };
            if let Some(text) = content.text {
                self.see(number, &text);
            }
            if let Some(vector) = content.vector {
                self.vectors.insert(number, vector);
            }
        })
    }

    /// Refuses a file that was given for it and is of no use.
    pub(super) fn check(&self, source: &Source, papers: &Ids, problems: &mut Problems) {
        let (Some(unknown), true) = (self.unknown.first(), self.is_empty()) else { return };
        let Some(known) = papers.names().first() else { return };
        let message = format!(
            "none of {} tasks is one that somebody wrote about: they are named like `{}` here and like \
             `{}` in the reviews; name them alike in both",
            self.unknown.len(),
            quotable(unknown),
            quotable(known)
        );
        FileProblems::new(source, problems).report(None, None, message);
    }

    /// What is wrong with texts beside vectors alone, or with vectors beside texts.
    pub(super) fn unlike(&self, reviews_have_texts: bool) -> Option<&'static str> {
        if self.is_empty() {
            None
        } else if !reviews_have_texts && self.vectors.is_empty() {
            Some(
                "the reviews are vectors and the tasks texts, which cannot be taken out of them: give \
                 vectors of the tasks by the same embedder, or texts of all",
            )
        } else if reviews_have_texts && self.texts.is_empty() {
            Some(
                "the reviews are texts and the tasks vectors, which cannot be taken out of them: give \
                 the texts of the tasks",
            )
        } else {
            None
        }
    }

    /// What to say of them.
    pub(super) fn warnings(&self, papers: &Ids, nouns: Nouns) -> Vec<Warning> {
        if self.is_empty() {
            return Vec::new();
        }
        let has = |paper: u32| self.texts.contains_key(&paper) || self.vectors.contains_key(&paper);
        let without: Vec<&str> = (0..)
            .zip(papers.names())
            .filter(|(paper, _)| !has(*paper))
            .map(|(_, name)| name.as_str())
            .collect();
        let count = papers.len() - without.len();
        let of = nouns.things(papers.len());
        let mut warnings = vec![Warning::new(
            "task_texts",
            count,
            format!(
                "what {count} of {of} say themselves ({}) is taken out of every text before own \
                 compares them",
                self.from
            ),
        )];
        if !without.is_empty() {
            let message = format!(
                "{} of {of} have no task text and are used without: {}",
                without.len(),
                first_names(&without)
            );
            warnings.push(Warning::new("tasks_without_text", without.len(), message));
        }
        if !self.unknown.is_empty() {
            let unknown: Vec<&String> = self.unknown.iter().collect();
            let message = format!(
                "{} task texts are of {}s that nobody wrote about: {}",
                unknown.len(),
                nouns.thing(),
                first_names(&unknown)
            );
            warnings.push(Warning::new("tasks_unknown", unknown.len(), message));
        }
        warnings
    }

    /// One entry per paper, or none at all. Several texts of one are all its text.
    pub(super) fn into_contents(mut self, papers: usize) -> Vec<Option<Content>> {
        if self.is_empty() {
            return Vec::new();
        }
        let papers = u32::try_from(papers).unwrap_or(u32::MAX);
        let content = |paper| {
            let texts = self.texts.remove(&paper).unwrap_or_default();
            let text = texts.into_iter().collect::<Vec<_>>().join("\n\n");
            let (text, vector) =
                (Some(text).filter(|t| !t.is_empty()), self.vectors.remove(&paper));
            (text.is_some() || vector.is_some()).then(|| Content {
                text,
                vector,
                ..Content::default()
            })
        };
        (0..papers).map(content).collect()
    }
}

/// The texts that the export of the reviews has besides them: submissions with their abstracts, inputs
/// of tasks. `read` is the file as it was read.
///
/// # Errors
///
/// [`ImportError::Columns`] if the user names an input that no task has.
pub(super) fn of_export(
    raw: Source,
    read: &Source,
    settings: &ImportSettings,
) -> Result<Option<Source>, ImportError> {
    let asked = settings.columns.get("task_text");
    match (all_of_export(raw, read, settings), asked) {
        (Some(source), Some(asked)) => only(source, asked).map(Some),
        (found, _) => Ok(found),
    }
}

/// The texts of tasks in one of their inputs, called with or without what systems write before its name.
fn only(mut source: Source, asked: &str) -> Result<Source, ImportError> {
    let plain = ["Input.", "INPUT:"].iter().find_map(|start| asked.strip_prefix(start));
    let plain = plain.unwrap_or(asked);
    let mut names = BTreeSet::new();
    let (mut bytes, mut found) = (Vec::new(), false);
    for line in source.bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let row: Map<String, Value> = serde_json::from_slice(line).unwrap_or_default();
        let is_it = |key: &str| key == asked || key == plain;
        found |= row.keys().any(|key| is_it(key));
        let is_name = |key: &str| ["task", "paper"].contains(&key);
        names.extend(row.keys().filter(|key| !is_name(key)).cloned());
        let kept = row.into_iter().filter(|(key, _)| is_name(key) || is_it(key)).collect();
        bytes.extend_from_slice(Value::Object(kept).to_string().as_bytes());
        bytes.push(b'\n');
    }
    if !found {
        let names: Vec<String> = names.into_iter().collect();
        return Err(ImportError::Columns {
            file: source.name(),
            message: format!(
                "no task has an input `{}`; there are {}",
                quotable(asked),
                listed(&names)
            ),
        });
    }
    source.bytes = bytes;
    Ok(source)
}

fn all_of_export(raw: Source, read: &Source, settings: &ImportSettings) -> Option<Source> {
    let format = read.imported.as_ref()?.format;
    let wanted = match format {
        "table" | "json" | "wide" => return None,
        "openreview" | "hotcrp-json" | "hotcrp-rqc" => Wanted::Papers,
        _ if Nouns::of_format(format) == Some(Nouns::Answers) => Wanted::Items,
        _ => return None,
    };
    // Columns of the answers are no concern of the tasks.
    let columns = settings.columns.iter().filter(|(key, _)| *key == "task");
    let columns = columns.map(|(key, name)| (key.clone(), name.clone())).collect();
    let from = Some(format.to_owned());
    let settings = ImportSettings { from, columns, ..Default::default() };
    let Ok(Imported { source, note: Some(note), .. }) = imported(raw, wanted, &settings) else {
        return None;
    };
    (note.format == format).then_some(source)
}
