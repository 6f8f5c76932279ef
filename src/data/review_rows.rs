//! Reviews and Z for a run: from files, from readers, or from rows that are already in memory.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use serde::Serialize;

use super::duplicates::Duplicates;
use super::import::{ImportSettings, Imports, Opener, Wanted, read_people};
use super::input::Input;
use super::nouns::Nouns;
use super::people::People;
use super::problem::DataError;
use super::review_names::ReviewReading;
use super::review_reader::{LoadedReviews, ReviewSources, read_review_sources};
use super::reviews::ReviewSet;
use super::rows::header;
use super::source::{Source, json_lines};
use super::task_texts;
use super::warning::Warning;

/// Reviews and Z, checked together, and where they came from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Reviews {
    /// The reviews and Z.
    pub set: ReviewSet,
    /// The reviews, then every file of Z.
    pub inputs: Vec<Input>,
    /// What was dropped or is missing.
    pub warnings: Vec<Warning>,
    /// What was done with second reviews, and who is one person.
    pub reading: ReviewReading,
    /// How the files were read.
    pub imports: Imports,
}

/// The files of a run, from any system.
#[derive(Debug, Clone)]
pub struct ReviewFiles {
    /// Reviews by people.
    pub reviews: Source,
    /// Reviews of the same papers by LLMs.
    pub z: Vec<Source>,
    /// Who is behind anonymous ids; see [`People`].
    pub people: Option<Source>,
    /// What people and LLMs had before them: a task or paper, and its text. Where there is none, what the
    /// reviews' own file says of it is used.
    pub tasks: Option<Source>,
}

/// A review by a person. One of `text`, `vector` and `judgments` is needed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReviewRow {
    /// Name of the paper.
    pub paper: String,
    /// Name of the reviewer.
    pub reviewer: String,
    /// What was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A vector of the text: finite numbers, as many in every row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector: Option<Vec<f64>>,
    /// What the text says by category, from -1 to 1; the same categories in every row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judgments: Option<BTreeMap<String, f64>>,
}

impl ReviewRow {
    /// `reviewer` has reviewed `paper`; what was written is to be set.
    pub fn new(paper: impl Into<String>, reviewer: impl Into<String>) -> Self {
        Self { paper: paper.into(), reviewer: reviewer.into(), ..Self::default() }
    }
}

/// A review of a paper by an LLM, with the same content as a [`ReviewRow`].
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ZRow {
    /// Name of the paper.
    pub paper: String,
    /// Name of the LLM; `z` if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Tells several reviews of one LLM apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<String>,
    /// What was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A vector of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector: Option<Vec<f64>>,
    /// What the text says by category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judgments: Option<BTreeMap<String, f64>>,
}

impl ZRow {
    /// The LLM has reviewed `paper`; what was written is to be set.
    pub fn new(paper: impl Into<String>) -> Self {
        Self { paper: paper.into(), ..Self::default() }
    }
}

impl Reviews {
    /// Reads files in any of the formats of `super::rows` or of `super::import`; `-` is standard
    /// input.
    ///
    /// A second review of a paper by the same person is an error, see [`Self::from_exports`].
    ///
    /// # Errors
    ///
    /// [`DataError`] if a file cannot be read, or with every problem of every file.
    pub fn from_files<P: AsRef<Path>>(
        reviews: impl AsRef<Path>,
        z: &[P],
    ) -> Result<Self, DataError> {
        let reviews = Source::read(reviews.as_ref())?;
        let z = z.iter().map(|path| Source::read(path.as_ref())).collect::<Result<Vec<_>, _>>()?;
        let files = ReviewFiles { reviews, z, people: None, tasks: None };
        Self::from_exports(files, ImportSettings::default(), Duplicates::Error)
    }

    /// Reads from anything that can be read, each with the name it has in messages, as
    /// [`Self::from_files`] does.
    ///
    /// # Errors
    ///
    /// As [`Self::from_files`].
    pub fn from_readers<R: Read>(
        reviews: (&str, impl Read),
        z: impl IntoIterator<Item = (String, R)>,
    ) -> Result<Self, DataError> {
        let reviews = Source::from_reader(Path::new(reviews.0), reviews.1)?;
        let z = z.into_iter().map(|(name, reader)| Source::from_reader(Path::new(&name), reader));
        let z = z.collect::<Result<Vec<_>, _>>()?;
        let files = ReviewFiles { reviews, z, people: None, tasks: None };
        Self::from_exports(files, ImportSettings::default(), Duplicates::Error)
    }

    /// Takes rows that are already in memory, at least one of each kind.
    ///
    /// They are checked like the rows of files; messages number them from 1 and name them `reviews`
    /// and `z`. The inputs of the result have the hash of the rows as JSON lines, so that a result
    /// can be traced to them.
    ///
    /// # Errors
    ///
    /// [`DataError::Invalid`] with every problem.
    pub fn from_rows(
        reviews: impl IntoIterator<Item = ReviewRow>,
        z: impl IntoIterator<Item = ZRow>,
    ) -> Result<Self, DataError> {
        let reviews = json_lines("reviews", reviews)?;
        Self::from_sources(&reviews, &[json_lines("z", z)?], Duplicates::Error)
    }

    /// Takes inputs as any system writes them; what an LLM wrote inside the reviews is one more file
    /// of Z. Says which of two reviews of a paper by the same person counts, and who is one person.
    ///
    /// # Errors
    ///
    /// [`DataError`] if an input is of no known form, or with every problem of every input.
    #[expect(clippy::needless_pass_by_value, reason = "settings are a few words")]
    pub fn from_exports(
        files: ReviewFiles,
        settings: ImportSettings,
        reading: impl Into<ReviewReading>,
    ) -> Result<Self, DataError> {
        let mut opener = Opener::new(settings.clone());
        let columns = header(&files.reviews);
        let columns = columns.iter().chain(settings.columns.values()).map(String::as_str);
        let mut nouns = Nouns::of_columns(columns);
        let raw = files.tasks.is_none().then(|| files.reviews.clone());
        let reviews = opener.first(files.reviews, Wanted::Reviews)?;
        if let Some(of_system) = reviews.imported.as_ref().and_then(|p| Nouns::of_format(p.format))
        {
            nouns = of_system;
        }
        let mut z = opener.several(files.z, Wanted::LlmReviews)?;
        z.extend(opener.take_llm());
        let people = match &files.people {
            Some(source) => read_people(source)?,
            None => People::default(),
        };
        let asked = files.tasks.is_some();
        let tasks = match files.tasks {
            Some(source) => Some(opener.beside(source, Wanted::Papers)?),
            None => match raw {
                Some(raw) => task_texts::of_export(raw, &reviews, &settings)?,
                None => None,
            },
        };
        let tasks = tasks.as_ref().map(|source| (source, asked));
        let sources = ReviewSources { reviews: &reviews, z: &z, tasks, people: &people, nouns };
        let mut read = Self::joined(&sources, reading.into())?;
        read.inputs.extend(files.people.as_ref().map(|source| Input::new(source, people.rows)));
        let (imports, warnings) = opener.finish()?;
        Ok(Self { imports, warnings: [warnings, read.warnings].concat(), ..read })
    }

    /// Takes inputs in caz's own form, and says which of two reviews of a paper by the same person
    /// counts.
    ///
    /// # Errors
    ///
    /// [`DataError::Invalid`] with every problem of every input.
    pub fn from_sources(
        reviews: &Source,
        z: &[Source],
        reading: impl Into<ReviewReading>,
    ) -> Result<Self, DataError> {
        let (people, nouns) = (&People::default(), Nouns::Reviews);
        Self::joined(&ReviewSources { reviews, z, tasks: None, people, nouns }, reading.into())
    }

    fn joined(sources: &ReviewSources<'_>, reading: ReviewReading) -> Result<Self, DataError> {
        let loaded = read_review_sources(sources, reading)?;
        // The texts of an export are in the file of the reviews.
        let tasks = sources.tasks.filter(|(_, asked)| *asked).map(|(source, _)| source);
        let all = std::iter::once(sources.reviews).chain(sources.z).chain(tasks);
        let inputs =
            all.zip(&loaded.rows).map(|(source, &rows)| Input::new(source, rows)).collect();
        let LoadedReviews { set, warnings, .. } = loaded;
        Ok(Self { set, inputs, warnings, reading, imports: Imports::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review(paper: &str, reviewer: &str, vector: &[f64]) -> ReviewRow {
        let vector = Some(vector.to_vec());
        ReviewRow { paper: paper.into(), reviewer: reviewer.into(), vector, ..ReviewRow::default() }
    }

    fn z(paper: &str, vector: &[f64]) -> ZRow {
        ZRow { paper: paper.into(), vector: Some(vector.to_vec()), ..ZRow::default() }
    }

    #[test]
    fn rows_in_memory_files_and_readers_are_the_same_set() {
        let value = 0.1 + 0.2;
        let rows = [review("p", "a", &[value, -1e-300]), review("p", "b", &[1.0, 2.0])];
        let from_rows = Reviews::from_rows(rows, [z("p", &[0.0, 1.0])]).unwrap();
        assert_eq!(from_rows.set.reviews[0].content.vector, Some(vec![value, -1e-300]));
        assert_eq!(from_rows.set.sources.names(), ["z"]);
        assert_eq!((from_rows.inputs[0].path.as_str(), from_rows.inputs[0].rows), ("reviews", 2));

        let reviews = format!("paper,reviewer,vector\np,a,{value} -1e-300\np,b,1 2\n");
        let z = "paper,vector\np,0 1\n";
        let named = ("z.csv".to_owned(), z.as_bytes());
        let from_readers =
            Reviews::from_readers(("reviews.csv", reviews.as_bytes()), [named]).unwrap();
        assert_eq!(from_readers.set, from_rows.set);

        let folder = tempfile::tempdir().unwrap();
        let paths = ["reviews.csv", "z.csv"].map(|name| folder.path().join(name));
        std::fs::write(&paths[0], &reviews).unwrap();
        std::fs::write(&paths[1], z).unwrap();
        let from_files = Reviews::from_files(&paths[0], &paths[1..]).unwrap();
        assert_eq!(from_files.set, from_rows.set);
        assert_eq!(from_files.inputs[0].sha256, from_readers.inputs[0].sha256);
    }

    #[test]
    fn rows_are_checked_like_those_of_files() {
        let rows =
            [review("p", "a", &[1.0]), review("p", "", &[1.0]), review("q", "a", &[f64::NAN])];
        let broken = Reviews::from_rows([review("#REF!", "a", &[1.0])], []);
        let broken = broken.unwrap_err().to_string();
        assert!(broken.contains("reviews:1: column `paper`: is `#REF!`"), "{broken}");
        let error = Reviews::from_rows(rows, [z("p", &[1.0, 2.0])]).unwrap_err().to_string();
        assert!(error.starts_with("3 problems in the input"), "{error}");
        assert!(error.contains("reviews:2: column `reviewer`: is empty"), "{error}");
        assert!(error.contains("reviews:3: column `vector`: entry 1 is null"), "{error}");
        assert!(error.contains("z:1: column `vector`: has 2 numbers"), "{error}");
    }
}
