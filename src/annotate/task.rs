//! A question and its labels, from the user's file.

use std::path::Path;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::data::hexadecimal::hexadecimal;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::llm::form::{Domain, Field};
use crate::llm::prompt::{Task, check_fields};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskFile {
    question: String,
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default)]
    fields: Vec<Field>,
}

/// Reads a question with `labels`, or with several `[[fields]]`, from TOML; with the SHA-256 of the
/// file, lower-case hexadecimal.
///
/// # Errors
///
/// If the file cannot be read, or is no such question.
pub(crate) fn read_task(path: &Path) -> Result<(Task, String)> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the task `{}`", path.display()))?;
    let file: TaskFile = toml::from_str(&text).map_err(|error| {
        let what =
            format!("`{}` is not a task: question, and labels or [[fields]]", path.display());
        Error::of(ErrorKind::Input, error).context(what)
    })?;
    let mut fields = file.fields;
    if !file.labels.is_empty() {
        let domain = Domain::Labels { labels: file.labels };
        fields.insert(0, Field { name: "label".into(), definition: String::new(), domain });
    }
    check_fields(&path.display().to_string(), &fields)?;
    if fields.is_empty() {
        let path = path.display();
        let message = format!("the task `{path}` has neither labels nor [[fields]]");
        return Err(Error::new(ErrorKind::Input, message));
    }
    let sha256 = hexadecimal(&Sha256::digest(&text));
    Ok((Task { question: Some(file.question), fields }, sha256))
}
