//! What is wrong with one file.

use super::NamedColumn;
use crate::data::near::{did_you_mean, listed};
use crate::data::problem::{Problem, Problems};
use crate::data::source::Source;
use crate::error::Remedy;

/// Collects problems of one file, so that messages need not repeat its name.
#[derive(Debug)]
pub(crate) struct FileProblems<'a> {
    file: String,
    has_nameable_columns: bool,
    problems: &'a mut Problems,
}

impl<'a> FileProblems<'a> {
    /// Problems of `source` go to `problems`.
    pub(crate) fn new(source: &Source, problems: &'a mut Problems) -> Self {
        let has_nameable_columns = source.has_nameable_columns;
        Self { file: source.name_in_messages(), has_nameable_columns, problems }
    }

    /// Reports a problem at a line and column, where known.
    pub(crate) fn report(
        &mut self,
        line: Option<u64>,
        column: Option<&str>,
        message: impl Into<String>,
    ) {
        self.push(line, column, message.into(), None);
    }

    /// Reports a problem of a line that a setting would solve.
    pub(crate) fn report_solvable(
        &mut self,
        line: u64,
        message: impl Into<String>,
        remedy: Remedy,
    ) {
        self.push(Some(line), None, message.into(), Some(remedy));
    }

    /// Reports that several columns of a line may be the one.
    pub(super) fn report_ambiguous(
        &mut self,
        line: u64,
        column: &NamedColumn<'_>,
        candidates: &[String],
    ) {
        let message = format!("{} both name it; keep one of them", candidates.join(" and "));
        let remedy = self.has_nameable_columns.then_some(Remedy::NameColumns);
        self.push(Some(line), Some(column.name), message, remedy);
    }

    /// Reports that a header has no such column, with what it has; `or` says what else would do.
    pub(in crate::data) fn report_missing<S: AsRef<str>>(
        &mut self,
        column: &NamedColumn<'_>,
        or: &str,
        names: &[S],
    ) {
        let known: Vec<&str> = [column.name].iter().chain(column.synonyms).copied().collect();
        let near = match did_you_mean(names, &known) {
            question if question.is_empty() => question,
            question => format!("; {question}"),
        };
        let header = listed(names);
        let message = format!("the header lacks {}{or}{near}; it has: {header}", column.names());
        let remedy = self.has_nameable_columns.then_some(Remedy::NameColumns);
        self.push(Some(1), Some(column.name), message, remedy);
    }

    /// How many problems all files have up to here.
    pub(super) fn total(&self) -> u64 {
        self.problems.total()
    }

    fn push(
        &mut self,
        line: Option<u64>,
        column: Option<&str>,
        message: String,
        remedy: Option<Remedy>,
    ) {
        let (file, column) = (self.file.clone(), column.map(str::to_owned));
        self.problems.push(Problem { file, line, column, message, remedy });
    }
}
