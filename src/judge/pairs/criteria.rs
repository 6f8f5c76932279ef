//! What answers are compared by, and who sits on the jury: files in TOML.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::data::hexadecimal::hexadecimal;
use crate::error::{ErrorKind, Kinded};
use crate::llm::PromptError;
use crate::llm::form::{Domain, Field, folded};
use crate::llm::prompt::check_fields;

const CRITERIA: [(&str, &str); 2] = [
    ("answers", include_str!("../../../prompts/criteria/answers.toml")),
    ("reviews", include_str!("../../../prompts/criteria/reviews.toml")),
];
const PERSONAS: [(&str, &str); 1] = [("jury", include_str!("../../../prompts/personas/jury.toml"))];

/// More people than any jury has.
const MOST_PERSONAS: usize = 99;

/// Why criteria or personas cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum CriteriaError {
    /// No such name and no such file.
    #[error("there are no {what} `{name}`; there are {known}, or a path that ends in .toml")]
    Unknown { what: &'static str, name: String, known: String },
    /// The file cannot be read.
    #[error("cannot read `{path}`")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// The file is not TOML with the right keys.
    #[error("`{name}` does not hold {what}")]
    Malformed {
        /// Criteria or personas.
        what: &'static str,
        /// Name or path.
        name: String,
        /// What the reader said, with line and column.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// The criteria do not work as fields.
    #[error(transparent)]
    Fields(#[from] PromptError),
    /// Nobody, too many, or two of one name.
    #[error("`{name}` needs 1 to {MOST_PERSONAS} personas with names that differ")]
    Personas { name: String },
}

impl Kinded for CriteriaError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unknown { .. } => ErrorKind::Usage,
            Self::Unreadable { .. } => ErrorKind::Missing,
            _ => ErrorKind::Input,
        }
    }
}

/// One thing that is scored.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Criterion {
    name: String,
    definition: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct CriteriaFile {
    description: String,
    question: String,
    min: f64,
    max: f64,
    criteria: Vec<Criterion>,
}

/// What two answers are compared by.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Criteria {
    /// Name, for files the name without folder and ending.
    pub name: String,
    /// What they are for, in a sentence.
    pub description: String,
    question: String,
    /// One per criterion and place, those of the first place first.
    fields: Vec<Field>,
    sha256: String,
}

impl Criteria {
    /// The names of the criteria that come with caz.
    pub(crate) fn built_in_names() -> impl Iterator<Item = &'static str> {
        CRITERIA.iter().map(|(name, _)| *name)
    }

    /// The text of a file that comes with caz.
    pub(crate) fn source(name: &str) -> Option<&'static str> {
        CRITERIA.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
    }

    /// Criteria by their name, or from a file whose name ends in `.toml`.
    ///
    /// # Errors
    ///
    /// [`CriteriaError`].
    pub(crate) fn load(name: &str) -> Result<Self, CriteriaError> {
        let (name, source) = text_of("criteria", name, &CRITERIA)?;
        Self::parse(&name, &source)
    }

    /// Criteria from the text of a file.
    ///
    /// # Errors
    ///
    /// [`CriteriaError`].
    pub(crate) fn parse(name: &str, source: &str) -> Result<Self, CriteriaError> {
        let file: CriteriaFile = parsed("criteria", name, source)?;
        let field = |place: &str, criterion: &Criterion| Field {
            name: format!("{place}_{}", folded(&criterion.name).replace(' ', "_")),
            definition: criterion.definition.clone(),
            domain: Domain::Interval { min: file.min, max: file.max },
        };
        let of = |place: &'static str| file.criteria.iter().map(move |c| field(place, c));
        let fields: Vec<Field> = of("first").chain(of("second")).collect();
        check_fields(name, &fields)?;
        if fields.is_empty() {
            let (name, reason) = (name.to_owned(), "there are no [[criteria]]".to_owned());
            return Err(PromptError::Fields { name, reason }.into());
        }
        let list: Vec<String> =
            file.criteria.iter().map(|c| format!("- {}: {}", c.name, c.definition)).collect();
        Ok(Self {
            name: name.to_owned(),
            description: file.description,
            question: format!(
                "{}\n\nThe criteria, each from {} (worst) to {} (best) for either answer:\n{}",
                file.question.trim(),
                file.min,
                file.max,
                list.join("\n")
            ),
            fields,
            sha256: hexadecimal(&Sha256::digest(source)),
        })
    }

    /// The question with the criteria.
    pub(crate) fn question(&self) -> &str {
        &self.question
    }

    /// What the judge fills in: one number per criterion and place, those of the first place first.
    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// SHA-256 of the file, in hexadecimal.
    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }
}

/// A member of the jury.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Persona {
    /// A short name, for results.
    pub name: String,
    /// Who it is, said to the model.
    pub who: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct PersonasFile {
    description: String,
    personas: Vec<Persona>,
}

/// A jury.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Personas {
    /// Name, for files the name without folder and ending.
    pub name: String,
    /// Who they are, in a sentence.
    pub description: String,
    /// Its members, at least one.
    pub members: Vec<Persona>,
    sha256: String,
}

impl Personas {
    /// The names of the juries that come with caz.
    pub(crate) fn built_in_names() -> impl Iterator<Item = &'static str> {
        PERSONAS.iter().map(|(name, _)| *name)
    }

    /// The text of a file that comes with caz.
    pub(crate) fn source(name: &str) -> Option<&'static str> {
        PERSONAS.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
    }

    /// A jury by its name, or from a file whose name ends in `.toml`.
    ///
    /// # Errors
    ///
    /// [`CriteriaError`].
    pub(crate) fn load(name: &str) -> Result<Self, CriteriaError> {
        let (name, source) = text_of("personas", name, &PERSONAS)?;
        Self::parse(&name, &source)
    }

    /// A jury from the text of a file.
    ///
    /// # Errors
    ///
    /// [`CriteriaError`].
    pub(crate) fn parse(name: &str, source: &str) -> Result<Self, CriteriaError> {
        let file: PersonasFile = parsed("personas", name, source)?;
        let mut names: Vec<String> = file.personas.iter().map(|p| folded(&p.name)).collect();
        names.sort();
        let distinct = names.windows(2).all(|pair| pair[0] != pair[1]);
        if names.is_empty() || names.len() > MOST_PERSONAS || !distinct {
            return Err(CriteriaError::Personas { name: name.to_owned() });
        }
        Ok(Self {
            name: name.to_owned(),
            description: file.description,
            members: file.personas,
            sha256: hexadecimal(&Sha256::digest(source)),
        })
    }

    /// SHA-256 of the file, in hexadecimal.
    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }
}

fn text_of(
    what: &'static str,
    name: &str,
    built_in: &[(&str, &str)],
) -> Result<(String, String), CriteriaError> {
    if let Some((name, source)) = built_in.iter().find(|(known, _)| *known == name) {
        return Ok(((*name).to_owned(), (*source).to_owned()));
    }
    let path = Path::new(name);
    if path.extension().is_none_or(|ending| ending != "toml") {
        let known = built_in.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        return Err(CriteriaError::Unknown { what, name: name.to_owned(), known });
    }
    let source = fs::read_to_string(path)
        .map_err(|source| CriteriaError::Unreadable { path: path.to_owned(), source })?;
    Ok((path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), source))
}

fn parsed<T: serde::de::DeserializeOwned>(
    what: &'static str,
    name: &str,
    source: &str,
) -> Result<T, CriteriaError> {
    toml::from_str(source).map_err(|source| CriteriaError::Malformed {
        what,
        name: name.to_owned(),
        source: Box::new(source),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_with_caz_can_be_used() {
        for name in Criteria::built_in_names() {
            let criteria = Criteria::load(name).unwrap();
            assert_eq!(criteria.fields().len(), 12, "{name}");
            assert_eq!(criteria.fields()[0].name, "first_relevance");
            assert!(criteria.question().contains("from 1 (worst) to 20 (best)"));
        }
        assert_eq!(Personas::load("jury").unwrap().members.len(), 5);
    }

    #[test]
    fn files_that_do_not_work_say_why() {
        let error = Criteria::load("nonsense").unwrap_err().to_string();
        assert!(error.contains("answers, reviews"), "{error}");
        let empty = "description = \"d\"\nquestion = \"q\"\nmin = 1\nmax = 2\ncriteria = []\n";
        assert!(matches!(Criteria::parse("x", empty), Err(CriteriaError::Fields(_))));
        let twice = "description = \"d\"\n[[personas]]\nname = \"a\"\nwho = \"x\"\n\
                     [[personas]]\nname = \"A\"\nwho = \"y\"\n";
        assert!(matches!(Personas::parse("x", twice), Err(CriteriaError::Personas { .. })));
        let error = Personas::load("none.toml").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Missing);
    }
}
