//! Prompts as data: TOML files with Jinja templates.
//!
//! A file names its variables; every one of them holds text from strangers and reaches the
//! template inside a [`Fence`], so a template cannot insert it bare. A template that uses a
//! variable must state the rule about fences (`{{ fence_note }}`), or the file is refused. What
//! the user decides (the question, the fields of the answer) is inserted as it is.

mod error;
mod kind;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::chat::{Message, Role};
use super::fence::Fence;
use super::form::{Domain, Field, describe_answer, folded};
use super::template::rendered;
use crate::data::hexadecimal::hexadecimal;

pub(crate) use self::error::PromptError;
pub(crate) use self::kind::PromptKind;

/// The prompts that come with caz, by name.
const BUILT_IN: [(&str, &str); 23] = [
    ("answer-1", include_str!("../../prompts/answer-1.toml")),
    ("answer-2", include_str!("../../prompts/answer-2.toml")),
    ("answer-3", include_str!("../../prompts/answer-3.toml")),
    ("debate-judge", include_str!("../../prompts/debate-judge.toml")),
    ("debate-juror", include_str!("../../prompts/debate-juror.toml")),
    ("debate-more-advocate", include_str!("../../prompts/debate-more-advocate.toml")),
    ("debate-more-case", include_str!("../../prompts/debate-more-case.toml")),
    ("debate-samre-advocate", include_str!("../../prompts/debate-samre-advocate.toml")),
    ("debate-samre-judge", include_str!("../../prompts/debate-samre-judge.toml")),
    ("debate-summary", include_str!("../../prompts/debate-summary.toml")),
    ("feedback-binary", include_str!("../../prompts/feedback-binary.toml")),
    ("feedback-textual", include_str!("../../prompts/feedback-textual.toml")),
    ("judge-aspects19", include_str!("../../prompts/judge-aspects19.toml")),
    ("judge-choice", include_str!("../../prompts/judge-choice.toml")),
    ("judge-rubric", include_str!("../../prompts/judge-rubric.toml")),
    ("label-generic", include_str!("../../prompts/label-generic.toml")),
    ("label-preference", include_str!("../../prompts/label-preference.toml")),
    ("label-relevance", include_str!("../../prompts/label-relevance.toml")),
    ("label-relevance-figure1", include_str!("../../prompts/label-relevance-figure1.toml")),
    ("label-toxicity", include_str!("../../prompts/label-toxicity.toml")),
    ("review-1", include_str!("../../prompts/review-1.toml")),
    ("review-2", include_str!("../../prompts/review-2.toml")),
    ("review-3", include_str!("../../prompts/review-3.toml")),
];

/// What caz gives to every template beside the texts.
const RESERVED: [&str; 5] = ["question", "fields", "answer_format", "fence_note", "features"];

/// Letters of features, in the order in which they stand in names.
pub(crate) const FEATURES: [char; 5] = ['R', 'D', 'N', 'A', 'M'];

/// Most judges that one answer may imagine.
const MOST_JUDGES: u32 = 20;

/// A text that a prompt takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// What it holds.
    pub(crate) description: String,
    /// Whether the prompt works without it.
    #[serde(default)]
    pub(crate) optional: bool,
}

/// Something that can be switched on in a prompt: R role, D description, N narrative, A aspects, M
/// several judges imagined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Feature {
    /// What it does.
    pub description: String,
    /// The text that it shows: one of the optional variables of the prompt.
    #[serde(default)]
    pub variable: Option<String>,
    /// Fields that are asked before the prompt's own.
    #[serde(default)]
    pub fields: Vec<Field>,
    /// Judges that are imagined in one answer; each gives all fields.
    #[serde(default)]
    pub judges: Option<u32>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Templates {
    system: String,
    user: String,
}

/// A prompt file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PromptFile {
    kind: PromptKind,
    description: String,
    max_tokens: u32,
    /// Of the answers, unless the user says otherwise.
    #[serde(default)]
    temperature: Option<f64>,
    variables: BTreeMap<String, Variable>,
    #[serde(default)]
    question: String,
    /// Other wordings of the question.
    #[serde(default)]
    wordings: Vec<String>,
    #[serde(default)]
    fields: Vec<Field>,
    /// By their letters.
    #[serde(default)]
    features: BTreeMap<String, Feature>,
    messages: Templates,
}

/// A prompt ready to be rendered.
#[derive(Debug, Clone)]
pub struct Prompt {
    name: String,
    source: String,
    file: PromptFile,
    /// Features that are switched on.
    on: BTreeSet<char>,
}

/// What the user decides about a prompt, as opposed to the texts it is about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Task {
    /// The question, if the prompt does not have its own.
    pub(crate) question: Option<String>,
    /// The fields of the answer, if the prompt does not have its own.
    pub fields: Vec<Field>,
}

impl Prompt {
    /// The names of the prompts that come with caz, sorted.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// A prompt by its name, or from a file whose name ends in `.toml`.
    ///
    /// # Errors
    ///
    /// `PromptError`.
    pub fn load(name: &str) -> Result<Self, PromptError> {
        if let Some((name, source)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return Self::parse(name, source);
        }
        let path = Path::new(name);
        if path.extension().is_none_or(|ending| ending != "toml") {
            return Err(PromptError::Unknown { name: name.to_owned() });
        }
        let source = fs::read_to_string(path)
            .map_err(|source| PromptError::Unreadable { path: path.to_owned(), source })?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Self::parse(&stem, &source)
    }

    /// A prompt from the text of its file.
    ///
    /// # Errors
    ///
    /// `PromptError`.
    pub fn parse(name: &str, source: &str) -> Result<Self, PromptError> {
        let file: PromptFile = toml::from_str(source).map_err(|source| PromptError::Malformed {
            name: name.to_owned(),
            source: Box::new(source),
        })?;
        check_fields(name, &file.fields)?;
        check_features(name, &file)?;
        if file.temperature.is_some_and(|t| !(0.0..=2.0).contains(&t)) {
            let reason = "`temperature` is not from 0 to 2".to_owned();
            return Err(PromptError::Fields { name: name.to_owned(), reason });
        }
        if let Some(variable) = RESERVED.iter().find(|name| file.variables.contains_key(**name)) {
            let variable = (*variable).to_owned();
            return Err(PromptError::ReservedName { name: name.to_owned(), variable });
        }
        let templates = [&file.messages.system, &file.messages.user];
        if !file.variables.is_empty() && !templates.iter().any(|t| t.contains("fence_note")) {
            return Err(PromptError::NoFenceNote { name: name.to_owned() });
        }
        Ok(Self { name: name.to_owned(), source: source.to_owned(), file, on: BTreeSet::new() })
    }

    /// `self`, if it is for `wanted`.
    ///
    /// # Errors
    ///
    /// `PromptError::Kind`.
    pub(crate) fn expect(self, wanted: PromptKind) -> Result<Self, PromptError> {
        if self.file.kind == wanted {
            return Ok(self);
        }
        Err(PromptError::Kind { name: self.name, found: self.file.kind, wanted })
    }

    /// The name, for files the name without folder and ending.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The text of the file.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// SHA-256 of the file, in hexadecimal.
    pub(crate) fn sha256(&self) -> String {
        hexadecimal(&Sha256::digest(&self.source))
    }

    /// What it asks for.
    pub(crate) fn kind(&self) -> PromptKind {
        self.file.kind
    }

    /// What it is for, in a sentence.
    pub(crate) fn description(&self) -> &str {
        &self.file.description
    }

    /// Most tokens of an answer, unless the user says otherwise.
    pub(crate) fn max_tokens(&self) -> u32 {
        self.file.max_tokens
    }

    /// The temperature of an answer, unless the user says otherwise; most prompts leave it to the command.
    pub(crate) fn temperature(&self) -> Option<f64> {
        self.file.temperature
    }

    /// The texts it takes, by name.
    pub fn variables(&self) -> &BTreeMap<String, Variable> {
        &self.file.variables
    }

    /// The fields of the answer that the file fixes; empty if they come with the task.
    pub(crate) fn fields(&self) -> &[Field] {
        &self.file.fields
    }

    /// Letters of the features that can be switched on, in the order of [`FEATURES`].
    pub(crate) fn feature_letters(&self) -> impl Iterator<Item = char> {
        FEATURES.into_iter().filter(|letter| self.feature(*letter).is_some())
    }

    fn feature(&self, letter: char) -> Option<&Feature> {
        self.file.features.get(letter.encode_utf8(&mut [0; 4]) as &str)
    }

    /// Wordings of the question.
    pub(crate) fn wordings(&self) -> &[String] {
        &self.file.wordings
    }

    /// The same with another question.
    #[must_use]
    pub(crate) fn with_question(mut self, question: &str) -> Self {
        question.clone_into(&mut self.file.question);
        self
    }

    /// The same with these features and no others, and the fields whose mean is the label: the last
    /// one that the file has, of every judge that is imagined.
    ///
    /// # Errors
    ///
    /// [`PromptError::Fields`] for a feature that the prompt does not have.
    pub(crate) fn with_features(
        &self,
        letters: &[char],
    ) -> Result<(Self, Vec<usize>), PromptError> {
        let mut fields = Vec::new();
        let mut judges = None;
        for &letter in letters {
            let Some(feature) = self.feature(letter) else {
                let reason = format!("there is no feature `{letter}`");
                return Err(PromptError::Fields { name: self.name.clone(), reason });
            };
            fields.extend(feature.fields.clone());
            judges = judges.or(feature.judges);
        }
        // A prompt with features is switched anew from its file, whatever is on already.
        let own = Self::parse(&self.name, &self.source)?.file.fields;
        fields.extend(own);
        let counts = fields.len().saturating_sub(1);
        let mut prompt = self.clone();
        prompt.on = letters.iter().copied().collect();
        let Some(judges) = judges else {
            prompt.file.fields = fields;
            return Ok((prompt, vec![counts]));
        };
        let of_judge = |judge: u32| {
            fields.iter().map(move |field| Field {
                name: format!("judge_{judge}_{}", field.name),
                ..field.clone()
            })
        };
        prompt.file.fields = (1..=judges).flat_map(of_judge).collect();
        let kept = (0..judges as usize).map(|judge| judge * fields.len() + counts).collect();
        Ok((prompt, kept))
    }

    /// Whether a text of this name is needed: always, or for a feature that is on.
    pub(crate) fn shows(&self, variable: &str) -> bool {
        let needed = self.file.variables.get(variable).is_some_and(|about| !about.optional);
        let of_feature = |letter: &char| {
            self.feature(*letter).is_some_and(|f| f.variable.as_deref() == Some(variable))
        };
        needed || self.on.iter().any(of_feature)
    }

    /// The messages about `texts`, which may hold variables that the prompt does not use.
    ///
    /// # Errors
    ///
    /// `PromptError::MissingText`, `PromptError::Template` and `PromptError::Fields`.
    pub fn render(
        &self,
        texts: &BTreeMap<String, String>,
        task: &Task,
    ) -> Result<Vec<Message>, PromptError> {
        check_fields(&self.name, &task.fields)?;
        let mut used = BTreeMap::new();
        for (variable, about) in &self.file.variables {
            match texts.get(variable).filter(|text| !text.trim().is_empty()) {
                Some(text) => drop(used.insert(variable.as_str(), text.as_str())),
                None if about.optional => {}
                None => {
                    return Err(PromptError::MissingText {
                        name: self.name.clone(),
                        variable: variable.clone(),
                        description: about.description.clone(),
                    });
                }
            }
        }
        let bare: Vec<&str> = used.values().copied().collect();
        let fence = Fence::around(&bare);
        let fenced: BTreeMap<&str, String> = self
            .file
            .variables
            .keys()
            .map(|name| {
                let text = used.get(name.as_str()).map(|text| fence.wrap(name, text));
                (name.as_str(), text.unwrap_or_default())
            })
            .collect();
        let fields = if task.fields.is_empty() { &self.file.fields } else { &task.fields };
        let question = task.question.as_ref().unwrap_or(&self.file.question);
        let features: BTreeMap<&str, bool> = self
            .file
            .features
            .keys()
            .map(|letter| (letter.as_str(), letter.chars().any(|letter| self.on.contains(&letter))))
            .collect();
        let own = context! {
            question,
            features => Serde(&features),
            fields => Serde(fields),
            answer_format => describe_answer(fields),
            fence_note => fence.note(),
        };
        let values = context! { ..own, ..minijinja::Value::from(Serde(&fenced)) };
        let system = self.render_one(&self.file.messages.system, &values)?;
        let user = self.render_one(&self.file.messages.user, &values)?;
        Ok(vec![Message::new(Role::System, system), Message::new(Role::User, user)])
    }

    fn render_one(&self, template: &str, values: &minijinja::Value) -> Result<String, PromptError> {
        rendered(template, values).map_err(|source| PromptError::Template {
            name: self.name.clone(),
            source: Box::new(source),
        })
    }
}

/// Features have letters that names of prompts can hold, and what they add has to fit.
fn check_features(name: &str, file: &PromptFile) -> Result<(), PromptError> {
    let fail = |reason: String| Err(PromptError::Fields { name: name.to_owned(), reason });
    for (letter, feature) in &file.features {
        if !FEATURES.iter().any(|known| letter.chars().eq([*known])) {
            return fail(format!("`{letter}` is no feature; they are R, D, N, A and M"));
        }
        let variable = feature.variable.as_ref();
        if variable.is_some_and(|v| !file.variables.get(v).is_some_and(|about| about.optional)) {
            return fail(format!("the feature {letter} shows a text that is no optional variable"));
        }
        check_fields(name, &[feature.fields.as_slice(), &file.fields].concat())?;
        let Some(judges) = feature.judges else { continue };
        let grades = file.fields.last().map(|field| &field.domain);
        if !matches!(grades, Some(Domain::Numbers { .. })) || !(2..=MOST_JUDGES).contains(&judges) {
            let reason = format!(
                "the feature {letter} imagines from 2 to {MOST_JUDGES} judges, whose last field has numbers"
            );
            return fail(reason);
        }
    }
    if file.features.is_empty() || !file.fields.is_empty() {
        return Ok(());
    }
    fail("a prompt with features has fields of its own".into())
}

/// Fields must be told apart by name, and labels by their words, or answers could be misread.
pub(crate) fn check_fields(name: &str, fields: &[Field]) -> Result<(), PromptError> {
    let fail = |reason: String| Err(PromptError::Fields { name: name.to_owned(), reason });
    let distinct = |mut names: Vec<String>| {
        names.sort();
        let empty = names.iter().any(String::is_empty);
        !empty && names.windows(2).all(|pair| pair[0] != pair[1])
    };
    if !distinct(fields.iter().map(|field| folded(&field.name)).collect()) {
        return fail("two names are alike, or one is empty".into());
    }
    for field in fields {
        let what = &field.name;
        match &field.domain {
            Domain::Labels { labels } => {
                if labels.len() < 2 || !distinct(labels.iter().map(|l| folded(l)).collect()) {
                    return fail(format!("`{what}` needs two or more labels that differ"));
                }
            }
            Domain::Numbers { values } => {
                let ascending = values.is_sorted_by(|a, b| a < b);
                if values.len() < 2 || !ascending || values.iter().any(|v| !v.is_finite()) {
                    return fail(format!("`{what}` needs two or more numbers in ascending order"));
                }
            }
            Domain::Interval { min, max } => {
                if !(min.is_finite() && max.is_finite() && min < max) {
                    return fail(format!("`{what}` needs a `min` below its `max`"));
                }
            }
            Domain::Text { most_words } => {
                if *most_words == 0 {
                    return fail(format!("`{what}` needs at least one word"));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
