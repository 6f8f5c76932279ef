//! The files in `prompts/` that come with caz, and what a prompt looks like filled in.

use std::collections::BTreeMap;

use super::pairs::{Criteria, Personas};
use super::rubric::Rubric;
use crate::error::Result;
use crate::llm::chat::Message;
use crate::llm::prompt::Task;
use crate::llm::{Prompt, PromptError, PromptKind};

/// A file that comes with caz.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// By which it is named.
    pub name: &'static str,
    /// What a prompt is for, or `rubric`, `criteria`, `personas`.
    pub kind: String,
    /// What it does, in a sentence.
    pub description: String,
    /// Hash of the file, hexadecimal.
    pub sha256: String,
}

/// All of them: prompts, rubrics, criteria, personas, each by name.
///
/// # Errors
///
/// If one of them cannot be read, which a test rules out.
pub(crate) fn pieces() -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    for name in Prompt::built_in_names() {
        let prompt = Prompt::load(name)?;
        let kind = format!("{:?}", prompt.kind()).to_lowercase();
        let description = prompt.description().to_owned();
        pieces.push(Piece { name, kind, description, sha256: prompt.sha256() });
    }
    for name in Rubric::built_in_names() {
        let rubric = Rubric::load(name)?;
        pieces.push(of(name, "rubric", &rubric.description, rubric.sha256()));
    }
    for name in Criteria::built_in_names() {
        let criteria = Criteria::load(name)?;
        pieces.push(of(name, "criteria", &criteria.description, criteria.sha256()));
    }
    for name in Personas::built_in_names() {
        let personas = Personas::load(name)?;
        pieces.push(of(name, "personas", &personas.description, personas.sha256()));
    }
    Ok(pieces)
}

fn of(name: &'static str, kind: &str, description: &str, sha256: &str) -> Piece {
    let (description, sha256) = (description.to_owned(), sha256.to_owned());
    Piece { name, kind: kind.to_owned(), description, sha256 }
}

/// The text of the file with this name; a prompt may be a path that ends in `.toml`.
///
/// # Errors
///
/// [`PromptError`] where no file of any kind has the name.
pub(crate) fn source(name: &str) -> Result<String, PromptError> {
    Prompt::load(name).map(|prompt| prompt.source().to_owned()).or_else(|error| {
        Rubric::source(name)
            .or_else(|| Criteria::source(name))
            .or_else(|| Personas::source(name))
            .map(str::to_owned)
            .ok_or(error)
    })
}

/// The questions that a prompt asks: those of `rubric` where one is named, else those of the
/// rubric or criteria that the prompt is used with by default.
///
/// # Errors
///
/// `super::RubricError` if `rubric` cannot be read.
pub(crate) fn questions(prompt: &Prompt, rubric: Option<&str>) -> Result<Task> {
    if let Some(rubric) = rubric {
        return Ok(Rubric::load(rubric)?.form());
    }
    Ok(match prompt.kind() {
        PromptKind::Judge => {
            let mut rubrics = Rubric::built_in_names().filter_map(|name| Rubric::load(name).ok());
            let own = rubrics.find(|rubric| rubric.prompt == prompt.name());
            own.map(|rubric| rubric.form()).unwrap_or_default()
        }
        PromptKind::Debate => {
            let criteria = Criteria::load("answers")?;
            let question = Some(criteria.question().to_owned());
            Task { question, fields: criteria.fields().to_vec() }
        }
        _ => Task::default(),
    })
}

/// The messages of `prompt` about the `given` texts by variable; a variable without a text shows
/// its description.
///
/// # Errors
///
/// [`PromptError::NoVariable`] for a text that the prompt does not take, and what
/// [`Prompt::render`] says.
pub(crate) fn preview(
    prompt: &Prompt,
    given: &[(String, String)],
    task: &Task,
) -> Result<Vec<Message>, PromptError> {
    let described = |(name, variable): (&String, &crate::llm::prompt::Variable)| {
        (name.clone(), format!("({})", variable.description))
    };
    let mut texts: BTreeMap<String, String> = prompt.variables().iter().map(described).collect();
    for (variable, text) in given {
        let Some(place) = texts.get_mut(variable) else {
            let known: Vec<&str> = prompt.variables().keys().map(String::as_str).collect();
            return Err(PromptError::NoVariable {
                name: prompt.name().to_owned(),
                variable: variable.clone(),
                known: known.join(", "),
            });
        };
        place.clone_from(text);
    }
    prompt.render(&texts, task)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_there_once_with_its_source() {
        let pieces = pieces().unwrap();
        for piece in &pieces {
            let text = source(piece.name).unwrap();
            assert!(!text.trim().is_empty() && !piece.description.is_empty(), "{}", piece.name);
            assert_eq!(piece.sha256.len(), 64, "{}", piece.name);
            assert_eq!(pieces.iter().filter(|other| other.name == piece.name).count(), 1);
        }
        for kind in ["labels", "review", "judge", "rubric", "criteria", "personas"] {
            assert!(pieces.iter().any(|piece| piece.kind == kind), "{kind}");
        }
        assert!(matches!(source("no-such-prompt"), Err(PromptError::Unknown { .. })));
    }

    #[test]
    fn a_preview_shows_descriptions_where_no_text_is_given() {
        let text = "kind = \"review\"\ndescription = \"d\"\nmax_tokens = 9\n[variables.paper]\n\
                    description = \"what was handed in\"\n[messages]\n\
                    system = \"Review. {{ fence_note }}\"\nuser = \"{{ paper }}\"\n";
        let prompt = Prompt::parse("own", text).unwrap();
        let shown = |given: &[(String, String)]| preview(&prompt, given, &Task::default());
        assert!(shown(&[]).unwrap()[1].content.contains("(what was handed in)"));
        let given = [("paper".to_owned(), "On graphs".to_owned())];
        assert!(shown(&given).unwrap()[1].content.contains("On graphs"));
        let wrong = shown(&[("title".to_owned(), "x".to_owned())]).unwrap_err();
        assert_eq!(wrong.to_string(), "the prompt `own` has no variable `title`; it has paper");
    }
}
