//! What is wrong with an input: collected, counted, and reported together.
//!
//! Reading never stops at the first problem: a chair who repairs a file wants the whole list.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use crate::error::{ErrorKind, Kinded, Remedy};

/// How many problems are shown in full; the rest are only counted.
pub(crate) const SHOWN_PROBLEMS: usize = 10;

/// One thing wrong at one place, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file as the user named it, `-` for standard input.
    pub file: String,
    /// Line in the file, from 1; `None` if it concerns the whole file.
    pub line: Option<u64>,
    /// Name of the column or JSON key; `None` if it concerns the whole line.
    pub column: Option<String>,
    /// What is wrong, with the values, and what to do about the data.
    pub message: String,
    /// A setting that would help; the command line says it with its flags.
    pub remedy: Option<Remedy>,
}

impl Problem {
    /// The problem, and after it what would help in the words of `phrase`.
    fn advised(&self, phrase: &dyn Fn(Remedy) -> &'static str) -> String {
        match self.remedy {
            Some(remedy) => format!("{self}; {}", phrase(remedy)),
            None => self.to_string(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", one_line(&self.file))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ": column `{}`", one_line(column))?;
        }
        write!(f, ": {}", one_line(&self.message))
    }
}

/// The text on one line: what it quotes may hold line ends, which would look like another problem.
fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\r']) {
        Cow::Owned(text.replace('\n', "\\n").replace('\r', "\\r"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Collects problems: keeps the first `SHOWN_PROBLEMS` and counts all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    shown: Vec<Problem>,
    total: u64,
}

impl Problems {
    /// Nothing wrong so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a problem; kept in full while there are fewer than `SHOWN_PROBLEMS`.
    pub fn push(&mut self, problem: Problem) {
        self.total += 1;
        if self.shown.len() < SHOWN_PROBLEMS {
            self.shown.push(problem);
        }
    }

    /// The first problems, in the order found.
    #[cfg(test)]
    pub(crate) fn shown(&self) -> &[Problem] {
        &self.shown
    }

    /// How many problems there were, shown or not.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Whether nothing is wrong.
    pub(crate) fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The list as it is printed, with what would help in the words of `phrase`.
    pub(crate) fn advised(&self, phrase: &dyn Fn(Remedy) -> &'static str) -> String {
        self.list(|problem| problem.advised(phrase))
    }

    fn list(&self, say: impl Fn(&Problem) -> String) -> String {
        let noun = if self.total == 1 { "problem" } else { "problems" };
        let mut list = format!("{} {noun} in the input:", self.total);
        for problem in &self.shown {
            list += &format!("\n  {}", say(problem));
        }
        let hidden = self.total - self.shown.len() as u64;
        if hidden > 0 {
            list += &format!("\n  ... and {hidden} more");
        }
        list
    }

    /// `Ok` if nothing is wrong.
    ///
    /// # Errors
    ///
    /// [`DataError::Invalid`] with all that was collected.
    pub fn into_result(self) -> Result<(), DataError> {
        if self.is_empty() { Ok(()) } else { Err(DataError::Invalid(self)) }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.list(Problem::to_string))
    }
}

/// Why an input could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The file does not exist.
    #[error("no such file: `{path}`; check the name and the folder you are in")]
    Missing {
        /// The path as given.
        path: PathBuf,
    },
    /// The file exists but cannot be read.
    #[error("cannot read `{path}`")]
    Unreadable {
        /// The path as given.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: std::io::Error,
    },
    /// Compressed data end early or are damaged.
    #[error(
        "`{path}` is not a complete gzip file ({decoded} bytes could be decoded); \
         copy or download it again"
    )]
    BrokenGzip {
        /// The path as given.
        path: PathBuf,
        /// How many bytes came out before the damage.
        decoded: u64,
        /// What the decoder said.
        #[source]
        source: std::io::Error,
    },
    /// More data than caz is willing to hold in memory.
    #[error("`{path}` holds more than {limit} bytes of data; split it into several runs")]
    TooLarge {
        /// The path as given.
        path: PathBuf,
        /// The limit in bytes, after decompression.
        limit: u64,
    },
    /// Compressed data unpack to far more than any table.
    #[error(
        "`{path}` has {stored_bytes} bytes and unpacks to more than {limit}, which no table does; \
         unpack it and look at it"
    )]
    UnpacksTooLarge {
        /// The path as given.
        path: PathBuf,
        /// The size of the file.
        stored_bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The build has no reader of Parquet.
    #[error(
        "`{path}` is a Parquet file, which this build of caz does not read; build it with the \
         feature `parquet`, or write the table as CSV"
    )]
    NeedsParquet {
        /// The path as given.
        path: PathBuf,
    },
    /// A Parquet file is damaged, as a whole or in one row group.
    #[error("`{path}` is {}: {reason}; copy or write it again", damage(*row_group))]
    BrokenParquet {
        /// The path as given.
        path: PathBuf,
        /// The row group, from 1.
        row_group: Option<usize>,
        /// What the decoder said.
        reason: String,
    },
    /// A file of `NumPy` arrays cannot be read.
    #[error("`{path}` cannot be read: {reason}")]
    BrokenNpz {
        /// The path as given.
        path: PathBuf,
        /// What is wrong, in words.
        reason: String,
    },
    /// A column of a Parquet file holds what no table of caz has.
    #[error(
        "`{path}`: column `{column}` holds {kind}; write it as text, numbers or lists of numbers"
    )]
    ParquetColumn {
        /// The path as given.
        path: PathBuf,
        /// The column.
        column: String,
        /// The type of its values.
        kind: String,
    },
    /// The content breaks the format.
    #[error("{0}")]
    Invalid(Problems),
    /// A file of another system cannot be imported.
    #[error(transparent)]
    Import(#[from] super::import::ImportError),
}

fn damage(row_group: Option<usize>) -> String {
    match row_group {
        Some(group) => format!("damaged in row group {group}"),
        None => "a damaged Parquet file".into(),
    }
}

impl Kinded for DataError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Missing { .. } => ErrorKind::Missing,
            Self::Import(error) => error.kind(),
            _ => ErrorKind::Input,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Import(error) => error.remedy(),
            _ => None,
        }
    }

    /// Each problem of an input has a remedy of its own.
    fn advised(&self, phrase: &dyn Fn(Remedy) -> &'static str) -> String {
        match self {
            Self::Invalid(problems) => problems.advised(phrase),
            other => other.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(line: u64) -> Problem {
        Problem {
            file: "a.csv".into(),
            line: Some(line),
            column: Some("text".into()),
            message: "is empty; write the review or drop the row".into(),
            remedy: None,
        }
    }

    #[test]
    fn a_problem_names_file_line_and_column() {
        assert_eq!(
            problem(3).to_string(),
            "a.csv:3: column `text`: is empty; write the review or drop the row"
        );
    }

    #[test]
    fn what_would_help_is_said_by_whoever_prints() {
        let mut problems = Problems::new();
        problems.push(problem(3));
        problems.push(Problem { remedy: Some(Remedy::ChooseDuplicates), ..problem(4) });
        let text = problems.advised(&|remedy| {
            assert_eq!(remedy, Remedy::ChooseDuplicates);
            "choose"
        });
        assert!(text.ends_with("drop the row; choose"), "{text}");
        assert_eq!(text.replace("; choose", ""), problems.to_string());
        let error = crate::error::Error::from(DataError::Invalid(problems)).context("reading");
        assert_eq!(error.advised(&|_| "choose"), format!("reading: {text}"));
    }

    #[test]
    fn ten_problems_are_shown_and_all_are_counted() {
        let mut problems = Problems::new();
        (1..=12).for_each(|line| problems.push(problem(line)));
        assert_eq!(problems.shown().len(), 10);
        let text = problems.to_string();
        assert!(text.starts_with("12 problems in the input:\n  a.csv:1:"), "{text}");
        assert!(text.ends_with("... and 2 more"), "{text}");
    }
}
