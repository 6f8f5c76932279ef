//! Labels of a crowd, of LLMs and the truth for a run: from files, from readers, or from rows that
//! are already in memory.

use std::io::Read;
use std::path::Path;

use serde::Serialize;

use super::duplicates::Duplicates;
use super::import::{ImportSettings, Imports, Opener, Wanted};
use super::input::Input;
use super::label_reader::{LabelFiles, LabelReading, WORKER, read_labels};
use super::labels::{Label, LabelTable};
use super::ordered_labels::LabelValues;
use super::problem::DataError;
use super::source::{Source, json_lines};
use super::times::Times;
use super::warning::Warning;
use super::z::ZLabels;

/// Labels of a crowd and of LLMs, checked together, and where they came from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Labels {
    /// The reports of the crowd.
    pub table: LabelTable,
    /// Z, under the numbers of the table.
    pub z: ZLabels,
    /// The true label of each task, by task number, where it is known.
    pub truth: Option<Vec<Option<Label>>>,
    /// The labels, every file of Z, the truth.
    pub inputs: Vec<Input>,
    /// What was dropped or is missing.
    pub warnings: Vec<Warning>,
    /// What was done with second labels and other spellings.
    pub reading: LabelReading,
    /// What was done to files of other systems.
    pub imports: Imports,
    /// Where the labels are on their scale, if they are `on_scale`.
    pub values: Option<LabelValues>,
    /// How long people worked, where the file of labels says it.
    pub times: Times,
}

/// One label by a person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LabelRow {
    /// Name of the task.
    pub task: String,
    /// Name of the worker.
    pub worker: String,
    /// What the worker says.
    pub label: String,
}

impl LabelRow {
    /// `worker` says that `task` has `label`.
    pub fn new(
        task: impl Into<String>,
        worker: impl Into<String>,
        label: impl Into<String>,
    ) -> Self {
        Self { task: task.into(), worker: worker.into(), label: label.into() }
    }
}

/// One label by an LLM.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ZLabelRow {
    /// Name of the task.
    pub task: String,
    /// What the LLM says.
    pub label: String,
    /// Name of the LLM; `z` if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Tells several answers of one LLM apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<String>,
}

impl ZLabelRow {
    /// The LLM says that `task` has `label`.
    pub fn new(task: impl Into<String>, label: impl Into<String>) -> Self {
        Self { task: task.into(), label: label.into(), source: None, sample: None }
    }
}

impl Labels {
    /// Reads files in any of the formats of `super::rows` or of `super::import`; `-` is standard
    /// input.
    ///
    /// `z` may be empty. A second label of a task by the same worker is an error; for another rule,
    /// or with a truth, see [`Self::from_exports`].
    ///
    /// # Errors
    ///
    /// [`DataError`] if a file cannot be read, or with every problem of every file.
    pub fn from_files<P: AsRef<Path>>(
        labels: impl AsRef<Path>,
        z: &[P],
    ) -> Result<Self, DataError> {
        let labels = Source::read(labels.as_ref())?;
        let z = z.iter().map(|path| Source::read(path.as_ref())).collect::<Result<Vec<_>, _>>()?;
        Self::from_exports((labels, z, None), ImportSettings::default(), Duplicates::Error)
    }

    /// Reads from anything that can be read, each with the name it has in messages, as
    /// [`Self::from_files`] does.
    ///
    /// # Errors
    ///
    /// As [`Self::from_files`].
    pub fn from_readers<R: Read>(
        labels: (&str, impl Read),
        z: impl IntoIterator<Item = (String, R)>,
    ) -> Result<Self, DataError> {
        let labels = Source::from_reader(Path::new(labels.0), labels.1)?;
        let z = z.into_iter().map(|(name, reader)| Source::from_reader(Path::new(&name), reader));
        let z = z.collect::<Result<Vec<_>, _>>()?;
        Self::from_exports((labels, z, None), ImportSettings::default(), Duplicates::Error)
    }

    /// Takes rows that are already in memory; `z` may be empty.
    ///
    /// They are checked like the rows of files; messages number them from 1 and name them `labels`
    /// and `z`. The inputs of the result have the hash of the rows as JSON lines, so that a result
    /// can be traced to them.
    ///
    /// # Errors
    ///
    /// [`DataError::Invalid`] with every problem.
    pub fn from_rows(
        labels: impl IntoIterator<Item = LabelRow>,
        z: impl IntoIterator<Item = ZLabelRow>,
    ) -> Result<Self, DataError> {
        let labels = json_lines("labels", labels)?;
        let mut z = z.into_iter().peekable();
        let z = if z.peek().is_some() { vec![json_lines("z", z)?] } else { Vec::new() };
        let files = LabelFiles { labels: &labels, z: &z, truth: None };
        Self::from_sources(&files, Duplicates::Error)
    }

    /// Takes labels, Z and the truth as any system writes them; what an LLM wrote inside the labels
    /// is one more file of Z. Says which of two labels of a task by the same worker counts and how
    /// labels are compared.
    ///
    /// # Errors
    ///
    /// [`DataError`] if an input is of no known form, or with every problem of every input.
    pub fn from_exports(
        (labels, z, truth): (Source, Vec<Source>, Option<Source>),
        settings: ImportSettings,
        reading: impl Into<LabelReading>,
    ) -> Result<Self, DataError> {
        let reading = reading.into();
        let mut opener = Opener::new(settings);
        opener.exact_labels(reading.exact_labels);
        let labels = opener.first(labels, Wanted::Labels)?;
        let mut z = opener.several(z, Wanted::LlmLabels)?;
        z.extend(opener.take_llm());
        let truth = truth.map(|source| opener.beside(source, Wanted::Truth)).transpose()?;
        let files = LabelFiles { labels: &labels, z: &z, truth: truth.as_ref() };
        let read = Self::from_sources(&files, reading)?;
        let (imports, warnings) = opener.finish()?;
        Ok(Self { imports, warnings: [warnings, read.warnings].concat(), ..read })
    }

    /// Takes inputs in caz's own form, and says which of two labels of a task by the same worker
    /// counts and how labels are compared.
    ///
    /// # Errors
    ///
    /// [`DataError::Invalid`] with every problem of every input.
    pub fn from_sources(
        files: &LabelFiles<'_>,
        reading: impl Into<LabelReading>,
    ) -> Result<Self, DataError> {
        let reading = reading.into();
        let loaded = read_labels(files, reading)?;
        let sources = std::iter::once(files.labels).chain(files.z).chain(files.truth);
        let times = Times::read(files.labels, WORKER);
        let mut warnings = loaded.warnings;
        warnings.extend(times.warning());
        let inputs = sources.zip(&loaded.rows).map(|(source, &rows)| Input::new(source, rows));
        Ok(Self {
            inputs: inputs.collect(),
            table: loaded.table,
            z: loaded.z,
            truth: loaded.truth,
            warnings,
            reading,
            imports: Imports::default(),
            values: None,
            times,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_memory_files_and_readers_are_the_same_labels() {
        let rows = [LabelRow::new("q", "a", "x"), LabelRow::new("q", "b", "y, z")];
        let from_rows = Labels::from_rows(rows, [ZLabelRow::new("q", "x")]).unwrap();
        assert_eq!(from_rows.z.sources[0].name, "z");
        assert_eq!((from_rows.inputs[0].path.as_str(), from_rows.inputs[0].rows), ("labels", 2));

        let labels = "task,worker,label\nq,a,x\nq,b,\"y, z\"\n";
        let z = "task,label\nq,x\n";
        let named = ("z.csv".to_owned(), z.as_bytes());
        let read = Labels::from_readers(("labels.csv", labels.as_bytes()), [named]).unwrap();
        assert_eq!((&read.table, &read.z), (&from_rows.table, &from_rows.z));

        let folder = tempfile::tempdir().unwrap();
        let paths = ["labels.csv", "z.csv"].map(|name| folder.path().join(name));
        std::fs::write(&paths[0], labels).unwrap();
        std::fs::write(&paths[1], z).unwrap();
        let from_files = Labels::from_files(&paths[0], &paths[1..]).unwrap();
        assert_eq!((&from_files.table, &from_files.z), (&from_rows.table, &from_rows.z));
        assert_eq!(from_files.inputs[1].sha256, read.inputs[1].sha256);
    }

    #[test]
    fn rows_of_empty_cells_below_a_table_are_no_rows() {
        let none: [(String, &[u8]); 0] = [];
        let read = |rows: &str| {
            let text = format!("task,worker,label\r\nq,a,x\r\nq,b,y\r\n{rows}");
            Labels::from_readers(("labels.csv", text.as_bytes()), none.clone())
        };
        let labels = read(",,\r\n , ,\r\n,,,\r\n").unwrap();
        assert_eq!((labels.inputs[0].rows, labels.table.report_count()), (2, 2));
        let error = read(",c,\r\n").unwrap_err().to_string();
        assert!(error.contains("labels.csv:4: column `task`: is empty"), "{error}");
    }

    #[test]
    fn the_error_of_a_spreadsheet_is_no_name() {
        let read = |labels: &str, z: &str| {
            let text = |rows: &str| format!("task,worker,label\nq,a,x\nq,b,y\n{rows}");
            let z = [("z.csv".to_owned(), format!("task,label\nq,x\n{z}"))];
            let z = z.each_ref().map(|(name, text)| (name.clone(), text.as_bytes()));
            Labels::from_readers(("labels.csv", text(labels).as_bytes()), z)
        };
        // Words for nothing may be names, and an error as a label is a label that is missing.
        let labels = read("null,nan,x\nr,c,x\nr,d,#REF!\n", "r,x\n").unwrap();
        assert_eq!(labels.table.report_count(), 4);
        for (labels, z, place) in [
            ("#REF!,c,x\n", "", "labels.csv:4: column `task`"),
            ("#REF!,c,\"x\"\"y\"\n", "", "labels.csv:4: column `task`"),
            ("r,#N/A,x\n", "", "labels.csv:4: column `worker`"),
            ("", "#NAME?,x\n", "z.csv:3: column `task`"),
        ] {
            let error = read(labels, z).unwrap_err().to_string();
            assert!(error.contains(&format!("{place}: is `#")), "{error}");
            assert!(error.contains("a spreadsheet"), "{error}");
        }
    }

    #[test]
    fn rows_are_checked_like_those_of_files() {
        let rows = [
            LabelRow::new("q", "a", "x"),
            LabelRow::new("q", "a", "y"),
            LabelRow::new("q", "", "x"),
        ];
        let error = Labels::from_rows(rows, []).unwrap_err().to_string();
        assert!(error.starts_with("2 problems in the input"), "{error}");
        assert!(error.contains("labels:2: worker `a` has a second label for `q`"), "{error}");
        assert!(error.contains("labels:3: column `worker`: is empty"), "{error}");
    }
}
