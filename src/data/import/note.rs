//! What importing did, in words and for results.

use std::collections::BTreeMap;

use serde::Serialize;

use super::settings::ImportSettings;
use crate::data::nouns::counted;
use crate::data::warning::Warning;

/// What importing did to a file that was not in caz's own form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ImportNote {
    /// The file as the user named it.
    pub file: String,
    /// The format it was read as.
    pub format: &'static str,
    /// Rows, notes or reviews in the file.
    pub read: u64,
    /// Rows for the people.
    pub people: u64,
    /// Rows for Z, written by an LLM.
    pub llm: u64,
    /// Rows that these stand in, where a row may have several.
    #[serde(skip)]
    pub answered: Option<u64>,
    /// What was left out, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// Rows without their last cells, which count as empty.
    #[serde(skip_serializing_if = "is_zero")]
    pub short_rows: u64,
    /// Fields that were joined to a text, or that hold the answer, in this order.
    pub text_fields: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ImportNote {
    /// What was done, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let mut text = format!("`{}` was read as {}: ", self.file, self.format);
        let all = counted(self.read, "row");
        let is = |count: u64| if count == 1 { "is" } else { "are" };
        let rows = match self.answered {
            Some(answered) if answered < self.read => format!("{answered} of {all}"),
            _ => all.clone(),
        };
        let several = |count: u64| count > self.answered.unwrap_or(self.read);
        text.push_str(&match (self.people, self.llm) {
            (people, 0) if several(people) => format!("{people} answers of people in {rows}"),
            (0, llm) if several(llm) => format!("{llm} answers of an LLM in {rows}"),
            (people, 0) => format!("{people} of {all} {} by people", is(people)),
            (0, llm) => format!("{llm} of {all} {} by an LLM", is(llm)),
            (people, llm) => {
                format!("{people} of {all} {} by people, {llm} by an LLM", is(people))
            }
        });
        for (reason, count) in &self.left_out {
            text.push_str(&format!("; {count} left out: {reason}"));
        }
        if self.short_rows > 0 {
            let rows = counted(self.short_rows, "row");
            let ends = if self.short_rows == 1 { "ends" } else { "end" };
            text.push_str(&format!("; {rows} {ends} early: the last cells are empty"));
        }
        if !self.text_fields.is_empty() {
            text.push_str(&format!("; read from {}", self.text_fields.join(", ")));
        }
        text
    }

    /// The sentence among the warnings of a result, counting the rows that were used.
    pub(crate) fn warning(&self) -> Warning {
        Warning {
            code: "imported",
            count: self.people + self.llm,
            message: self.sentence(),
            remedy: None,
        }
    }
}

/// How the files of a run were read: part of its settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Imports {
    /// What was said about them.
    #[serde(flatten)]
    pub settings: ImportSettings,
    /// What was done to those of other systems.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) imported: Vec<ImportNote>,
}
