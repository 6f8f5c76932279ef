//! Rubrics: K questions whose answers lie in [-1, 1].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::verdict::Verdict;
use crate::error::{ErrorKind, Kinded};
use crate::llm::PromptError;
use crate::llm::form::{Domain, Field, folded};
use crate::llm::prompt::{Task, check_fields};

/// The rubrics that come with caz, by name.
const BUILT_IN: [(&str, &str); 3] = [
    ("aspects19", include_str!("../../prompts/rubrics/aspects19.toml")),
    ("aspects19-decomposed", include_str!("../../prompts/rubrics/aspects19-decomposed.toml")),
    ("crowd-answers", include_str!("../../prompts/rubrics/crowd-answers.toml")),
];

/// The rubric that is used when none is named.
pub(crate) const DEFAULT_RUBRIC: &str = "aspects19";

/// Why a rubric cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RubricError {
    /// No such name and no such file.
    #[error("there is no rubric `{name}`; there are {known}, or a path that ends in .toml")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The file cannot be read.
    #[error("cannot read the rubric `{path}`")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// The file is not TOML with the keys of a rubric.
    #[error("`{name}` is not a rubric")]
    Malformed {
        /// Name or path.
        name: String,
        /// What the reader said, with line and column.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// It needs either the values or the ends of an interval, inside [-1, 1].
    #[error("the rubric `{name}` needs `values`, or `min` and `max`, from -1 to 1")]
    Scale {
        /// Name or path.
        name: String,
    },
    /// It has no categories.
    #[error("the rubric `{name}` has no [[categories]]")]
    Empty {
        /// Name or path.
        name: String,
    },
    /// The categories do not work as fields.
    #[error(transparent)]
    Fields(#[from] PromptError),
}

impl Kinded for RubricError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unknown { .. } => ErrorKind::Usage,
            Self::Unreadable { .. } => ErrorKind::Missing,
            _ => ErrorKind::Input,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RubricFile {
    description: String,
    #[serde(default)]
    question: String,
    #[serde(default = "generic_prompt")]
    prompt: String,
    values: Option<Vec<f64>>,
    min: Option<f64>,
    max: Option<f64>,
    #[serde(default)]
    categories: Vec<Category>,
    /// A rubric that comes with caz whose categories these are.
    categories_of: Option<String>,
    #[serde(default)]
    steps: Vec<Step>,
}

/// A text that is asked for before the judgments, and thrown away: what they are to be made of.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    name: String,
    definition: String,
    most_words: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Category {
    name: String,
    definition: String,
}

fn generic_prompt() -> String {
    "judge-rubric".into()
}

/// K questions with one scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Rubric {
    /// Name, for files the name without folder and ending.
    pub name: String,
    /// What it is about, in a sentence.
    pub(crate) description: String,
    /// The prompt that asks it, unless another one is chosen.
    pub prompt: String,
    question: String,
    /// Texts that are asked for first.
    steps: Vec<Field>,
    fields: Vec<Field>,
    sha256: String,
}

impl Rubric {
    /// The names of the rubrics that come with caz, sorted.
    pub(crate) fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The text of the file of a rubric that comes with caz.
    pub(crate) fn source(name: &str) -> Option<&'static str> {
        BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
    }

    /// A rubric by its name, or from a file whose name ends in `.toml`.
    ///
    /// # Errors
    ///
    /// `RubricError`.
    pub fn load(name: &str) -> Result<Self, RubricError> {
        if let Some((name, source)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return Self::parse(name, source);
        }
        let path = Path::new(name);
        if path.extension().is_none_or(|ending| ending != "toml") {
            let known = Self::built_in_names().collect::<Vec<_>>().join(", ");
            return Err(RubricError::Unknown { name: name.to_owned(), known });
        }
        let source = fs::read_to_string(path)
            .map_err(|source| RubricError::Unreadable { path: path.to_owned(), source })?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Self::parse(&stem, &source)
    }

    /// A rubric from the text of its file.
    ///
    /// # Errors
    ///
    /// `RubricError`.
    pub fn parse(name: &str, source: &str) -> Result<Self, RubricError> {
        let file: RubricFile = toml::from_str(source).map_err(|source| RubricError::Malformed {
            name: name.to_owned(),
            source: Box::new(source),
        })?;
        let inside = |value: &f64| (-1.0..=1.0).contains(value);
        let domain = match (file.values, file.min, file.max) {
            (Some(values), None, None) if values.iter().all(inside) => Domain::Numbers { values },
            (None, Some(min), Some(max)) if inside(&min) && inside(&max) => {
                Domain::Interval { min, max }
            }
            _ => return Err(RubricError::Scale { name: name.to_owned() }),
        };
        let mut categories = file.categories;
        if let Some(other) = file.categories_of {
            let source = Self::source(&other).filter(|_| categories.is_empty());
            let unknown = || RubricError::Unknown {
                name: other.clone(),
                known: Self::built_in_names().collect::<Vec<_>>().join(", "),
            };
            categories = Self::parse(&other, source.ok_or_else(unknown)?)?
                .fields
                .into_iter()
                .map(|Field { name, definition, .. }| Category { name, definition })
                .collect();
        }
        if categories.is_empty() {
            return Err(RubricError::Empty { name: name.to_owned() });
        }
        let step = |step: Step| Field {
            name: step.name.trim().to_owned(),
            definition: step.definition,
            domain: Domain::Text { most_words: step.most_words },
        };
        let steps: Vec<Field> = file.steps.into_iter().map(step).collect();
        let fields: Vec<Field> = categories
            .into_iter()
            .map(|category| Field {
                name: category.name.trim().to_owned(),
                definition: category.definition,
                domain: domain.clone(),
            })
            .collect();
        check_fields(name, &[steps.as_slice(), &fields].concat())?;
        Ok(Self {
            name: name.to_owned(),
            description: file.description,
            prompt: file.prompt,
            question: file.question,
            steps,
            fields,
            sha256: crate::data::hexadecimal::hexadecimal(&Sha256::digest(source)),
        })
    }

    /// The questions, one field each.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The names of the categories, in the order of the file.
    pub fn categories(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// Number of categories.
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// SHA-256 of the file, in hexadecimal.
    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Where a category stands, by its words.
    pub(crate) fn position(&self, category: &str) -> Option<usize> {
        let wanted = folded(category);
        self.fields.iter().position(|field| folded(&field.name) == wanted)
    }

    /// The rubric as the task of a prompt.
    pub(crate) fn task(&self) -> Task {
        Task { question: Some(self.question.clone()), fields: self.fields.clone() }
    }

    /// The form of an answer that is written in full: the texts that are asked for first, then the
    /// questions.
    pub(crate) fn form(&self) -> Task {
        let fields = [self.steps.as_slice(), &self.fields].concat();
        Task { question: Some(self.question.clone()), fields }
    }

    /// The numbers of an answer to `Self::form`, in the order of the questions.
    pub(crate) fn numbers(&self, answer: &Verdict) -> Option<Vec<f64>> {
        let values = answer.values.get(self.steps.len()..)?.to_vec();
        Verdict { values }.numbers()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_rubric_has_its_19_categories() {
        let rubric = Rubric::load("aspects19").unwrap();
        // The list of methods.md section 4, which follows the paper's appendix H.
        let expected = "Clarity and Presentation, Related Work, Theory Soundness, \
            Experiment Design, Significance of the Problem, Novelty of Method, \
            Practicality of Method, Comparison to Previous Studies, \
            Implications of the Research, Reproducibility, Ethical Aspects, \
            Relevance to Conference, Experiment Execution, Scope and Generalizability, \
            Utility and Applicability, Defense Effectiveness, Real-world Applicability, \
            Algorithm Efficiency, Data Generation and Augmentation";
        assert_eq!(rubric.categories().collect::<Vec<_>>().join(", "), expected);
        assert!(rubric.fields().iter().all(|field| !field.definition.is_empty()));
        assert_eq!(rubric.position("real_world applicability"), Some(16));
        assert_eq!(rubric.position("Novelty"), None);
    }

    #[test]
    fn a_step_is_asked_for_first_and_thrown_away() {
        let plain = Rubric::load("aspects19").unwrap();
        let rubric = Rubric::load("aspects19-decomposed").unwrap();
        assert_eq!(rubric.fields(), plain.fields());
        let form = rubric.form();
        assert_eq!((form.fields.len(), form.fields[0].name.as_str()), (20, "judgments"));
        let question = form.question.unwrap();
        assert!(question.contains("questions to the authors"), "{question}");
        let answer = |judgments: &str| {
            let name = |category: &str| format!("\"{category}\":{}", category.len() % 3);
            let values: Vec<String> = rubric.categories().map(name).collect();
            format!("{{\"judgments\":\"{judgments}\",{}}}", values.join(",").replace(":2", ":-1"))
        };
        let read = crate::judge::parse_verdict(&answer("+ clear, - no baselines"), &form.fields);
        let expected: Vec<f64> =
            plain.categories().map(|category| [0.0, 1.0, -1.0][category.len() % 3]).collect();
        assert_eq!(rubric.numbers(&read.unwrap()), Some(expected));
        // Without the step the answer is not what was asked for.
        assert!(crate::judge::parse_verdict(&answer(""), &form.fields).is_err());
        let other = "description = \"d\"\nvalues = [0, 1]\ncategories_of = \"nothing\"\n";
        assert!(matches!(Rubric::parse("r", other), Err(RubricError::Unknown { .. })));
    }

    #[test]
    fn every_built_in_rubric_loads_with_its_prompt() {
        for name in Rubric::built_in_names() {
            let rubric = Rubric::load(name).unwrap();
            let prompt = crate::llm::Prompt::load(&rubric.prompt).unwrap();
            prompt.expect(crate::llm::PromptKind::Judge).unwrap();
        }
    }

    #[test]
    fn scales_and_categories_that_do_not_work_are_refused() {
        let parse = |text: &str| Rubric::parse("r", text).unwrap_err();
        let category = "[[categories]]\nname = \"a\"\ndefinition = \"b\"\n";
        let head = "description = \"d\"\n";
        for scale in ["", "values = [0, 2]\n", "min = -1\n", "values = [0, 1]\nmin = 0\nmax = 1\n"]
        {
            let error = parse(&format!("{head}{scale}{category}"));
            assert!(matches!(error, RubricError::Scale { .. }), "{scale}: {error}");
        }
        let error = parse(&format!("{head}min = 0\nmax = 1\n{category}{category}"));
        assert!(matches!(error, RubricError::Fields(_)), "{error}");
        assert!(matches!(parse("description = 1"), RubricError::Malformed { .. }));
        assert!(matches!(Rubric::load("aspects"), Err(RubricError::Unknown { .. })));
    }
}
