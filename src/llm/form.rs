//! The form of an answer: named fields, each with the values it may take.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// What a field may hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Domain {
    /// One of these labels.
    Labels {
        /// The labels, at least two.
        labels: Vec<String>,
    },
    /// One of these numbers.
    Numbers {
        /// The numbers, ascending.
        values: Vec<f64>,
    },
    /// Any number of an interval.
    Interval {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// A text that is not empty.
    Text {
        /// Its words at most, as the prompt says; a longer one is cut by whoever reads it.
        most_words: usize,
    },
}

impl Domain {
    /// The values in words, for prompts and messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Labels { labels } => {
                let quoted: Vec<String> =
                    labels.iter().map(|label| format!("\"{label}\"")).collect();
                quoted.join(" or ")
            }
            Self::Numbers { values } => {
                let numbers: Vec<String> = values.iter().map(f64::to_string).collect();
                numbers.join(" or ")
            }
            Self::Interval { min, max } => format!("a number from {min} to {max}"),
            Self::Text { most_words } => format!("a text of at most {most_words} words"),
        }
    }

    fn schema(&self) -> Value {
        match self {
            Self::Labels { labels } => json!({"type": "string", "enum": labels}),
            Self::Numbers { values } => {
                // Whole numbers are written without a fraction, as a model would write them.
                let whole = values.iter().all(|value| value.fract() == 0.0);
                #[expect(clippy::cast_possible_truncation, reason = "whole and small")]
                let values: Vec<Value> = values
                    .iter()
                    .map(|&value| if whole { json!(value as i64) } else { json!(value) })
                    .collect();
                json!({"type": if whole { "integer" } else { "number" }, "enum": values})
            }
            Self::Interval { min, max } => {
                json!({"type": "number", "minimum": min, "maximum": max})
            }
            Self::Text { .. } => json!({"type": "string"}),
        }
    }
}

/// One field of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// The key in the answer.
    pub name: String,
    /// What it means, in a sentence.
    #[serde(default)]
    pub(crate) definition: String,
    /// What it may hold.
    #[serde(flatten)]
    pub(crate) domain: Domain,
}

/// The JSON Schema of an object with exactly these fields.
pub(crate) fn json_schema(fields: &[Field]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.name.clone(), field.domain.schema())).collect();
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    })
}

/// How the answer is to be written, for the prompt.
pub(crate) fn describe_answer(fields: &[Field]) -> String {
    let lines: Vec<String> = fields
        .iter()
        .map(|field| format!("  {}: {}", Value::from(field.name.as_str()), field.domain.describe()))
        .collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}

/// A name as it is compared: lower case, with runs of spaces, `_` and `-` as one space. The minus before a
/// number and after a name stays: neither `- 1` is `1` nor `A-` is `A`.
pub(crate) fn folded(name: &str) -> String {
    let name = name.trim();
    if name.parse::<f64>().is_ok() {
        return name.to_lowercase();
    }
    let (minus, rest) = match name.strip_prefix(['-', '−']) {
        Some(number) if number.trim_start().parse::<f64>().is_ok() => ("-", number),
        _ => ("", name),
    };
    let is_marked = rest.ends_with('-') && !rest.ends_with("--") && !rest.ends_with(" -");
    let words = rest.split(|c: char| c.is_whitespace() || c == '_' || c == '-');
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    format!("{minus}{}{}", words.join(" "), if is_marked && !words.is_empty() { "-" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_demands_every_field_and_no_other() {
        let fields = [
            Field {
                name: "Novelty".into(),
                definition: String::new(),
                domain: Domain::Numbers { values: vec![-1.0, 0.0, 1.0] },
            },
            Field {
                name: "toxic".into(),
                definition: String::new(),
                domain: Domain::Labels { labels: vec!["yes".into(), "no".into()] },
            },
        ];
        assert_eq!(
            json_schema(&fields),
            json!({
                "type": "object",
                "properties": {
                    "Novelty": {"type": "integer", "enum": [-1, 0, 1]},
                    "toxic": {"type": "string", "enum": ["yes", "no"]}
                },
                "required": ["Novelty", "toxic"],
                "additionalProperties": false
            })
        );
        assert_eq!(
            describe_answer(&fields),
            "{\n  \"Novelty\": -1 or 0 or 1,\n  \"toxic\": \"yes\" or \"no\"\n}"
        );
    }

    #[test]
    fn names_are_compared_by_their_words() {
        assert_eq!(folded(" Real-world  Applicability_"), "real world applicability");
        assert_eq!(folded(" -1 "), "-1");
        assert_eq!(folded("- 1"), "-1");
        assert_eq!(folded("- yes"), "yes");
        assert_eq!([folded("A-"), folded("yes -"), folded("-")], ["a-", "yes", ""]);
        assert_ne!(folded("Novelty of Method"), folded("NoveltyofMethod"));
    }
}
