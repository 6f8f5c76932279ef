//! The protocol: bodies of requests and replies.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::llm::chat::{
    ChatAnswer, ChatRequest, FinishReason, ResponseFormat, Usage, estimated_tokens,
};
use crate::llm::server::Unreadable;

/// How much of a response format to ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum FormatLevel {
    #[default]
    Schema,
    Object,
    Text,
}

/// What the server is asked for, beyond model, messages and a limit of tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Dialect {
    format: FormatLevel,
    new_token_limit: bool,
    no_temperature: bool,
    no_seed: bool,
}

impl Dialect {
    /// The body of a request.
    pub(super) fn body(self, model: &str, request: &ChatRequest, max_tokens: u32) -> Value {
        let mut body = Map::new();
        body.insert("model".into(), model.into());
        body.insert("messages".into(), json!(request.messages));
        if !self.no_temperature {
            body.insert("temperature".into(), request.temperature.into());
        }
        if !self.no_seed {
            body.insert("seed".into(), request.seed.into());
        }
        let limit = if self.new_token_limit { "max_completion_tokens" } else { "max_tokens" };
        body.insert(limit.into(), max_tokens.into());
        if let ResponseFormat::JsonSchema { name, schema } = &request.format {
            let format = match self.format {
                FormatLevel::Schema => Some(json!({
                    "type": "json_schema",
                    "json_schema": {"name": name, "strict": true, "schema": schema},
                })),
                FormatLevel::Object => Some(json!({"type": "json_object"})),
                FormatLevel::Text => None,
            };
            body.extend(format.map(|format| ("response_format".to_owned(), format)));
        }
        Value::Object(body)
    }

    /// What to ask for after the server refused this with `text`; `None` if less will not help.
    pub(super) fn after_refusal(self, text: &str, request: &ChatRequest) -> Option<Self> {
        let text = text.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if says(&["context length", "maximum context", "context window", "too long"]) {
            return None;
        }
        if !self.new_token_limit && says(&["max_completion_tokens"]) {
            return Some(Self { new_token_limit: true, ..self });
        }
        if !self.no_temperature && says(&["temperature"]) {
            return Some(Self { no_temperature: true, ..self });
        }
        if !self.no_seed && says(&["`seed`", "'seed'", "\"seed\"", "seed parameter", ": seed"]) {
            return Some(Self { no_seed: true, ..self });
        }
        if request.format == ResponseFormat::Text {
            return None;
        }
        let format = match self.format {
            FormatLevel::Schema => FormatLevel::Object,
            FormatLevel::Object => FormatLevel::Text,
            FormatLevel::Text => return None,
        };
        Some(Self { format, ..self })
    }

    /// Gives up whatever `other` gave up.
    pub(super) fn concede(&mut self, other: Self) {
        self.format = self.format.max(other.format);
        self.new_token_limit |= other.new_token_limit;
        self.no_temperature |= other.no_temperature;
        self.no_seed |= other.no_seed;
    }

    /// What was given up, in words.
    pub(super) fn concessions(self) -> Vec<&'static str> {
        let format = match self.format {
            FormatLevel::Schema => None,
            FormatLevel::Object => Some("no JSON Schema (a JSON object was asked for)"),
            FormatLevel::Text => Some("no response format (plain text was asked for)"),
        };
        let temperature = self.no_temperature.then_some("no temperature (the server's own)");
        let seed = self.no_seed.then_some("no seed");
        [format, temperature, seed].into_iter().flatten().collect()
    }
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct Choice {
    message: WireMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct WireMessage {
    content: Option<Content>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
}

#[derive(Deserialize)]
struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

/// The answer in a reply.
pub(super) fn parse(reply: &[u8], request: &ChatRequest) -> Result<ChatAnswer, Unreadable> {
    // Two steps, because an untagged part of the reply cannot tell an early end from a wrong type.
    let value: Value =
        serde_json::from_slice(reply).map_err(|error| Unreadable::from_json(&error, reply))?;
    let completion: Completion = serde_json::from_value(value).map_err(|_| Unreadable::Unknown)?;
    let choice = completion.choices.into_iter().next().ok_or(Unreadable::Unknown)?;
    let text = match choice.message.content {
        None => String::new(),
        Some(Content::Text(text)) => text,
        Some(Content::Parts(parts)) => parts.into_iter().filter_map(|part| part.text).collect(),
    };
    let finish = match choice.finish_reason.as_deref() {
        Some("stop" | "eos_token" | "stop_sequence") => FinishReason::Stop,
        Some("length") => FinishReason::Length,
        Some("content_filter") => FinishReason::ContentFilter,
        _ => FinishReason::Other,
    };
    let reported = completion.usage.and_then(|usage| {
        Some(Usage {
            prompt_tokens: usage.prompt_tokens?,
            completion_tokens: usage.completion_tokens?,
            estimated: false,
        })
    });
    let usage = reported.unwrap_or_else(|| Usage {
        prompt_tokens: request.estimated_prompt_tokens(),
        completion_tokens: estimated_tokens(&text),
        estimated: true,
    });
    Ok(ChatAnswer { text, finish, usage })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::chat::{Message, Role};

    fn request(format: ResponseFormat) -> ChatRequest {
        ChatRequest {
            messages: vec![Message::new(Role::User, "12345678")],
            temperature: 0.0,
            seed: 5,
            max_tokens: 9,
            format,
            repeat: 3,
        }
    }

    fn schema() -> ResponseFormat {
        ResponseFormat::JsonSchema { name: "verdict".into(), schema: json!({"type": "object"}) }
    }

    fn parsed(body: &str) -> Result<ChatAnswer, Unreadable> {
        parse(body.as_bytes(), &request(ResponseFormat::Text))
    }

    #[test]
    fn the_body_is_what_the_protocol_asks_for() {
        assert_eq!(
            Dialect::default().body("m", &request(schema()), 9),
            json!({
                "model": "m",
                "messages": [{"role": "user", "content": "12345678"}],
                "temperature": 0.0,
                "seed": 5,
                "max_tokens": 9,
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {
                        "name": "verdict", "strict": true, "schema": {"type": "object"}
                    }
                }
            })
        );
    }

    #[test]
    fn refusals_lead_down_the_ladder_and_end() {
        let request = request(schema());
        let object = Dialect::default().after_refusal("unknown field", &request).unwrap();
        assert_eq!(
            object.body("m", &request, 9)["response_format"],
            json!({"type": "json_object"})
        );
        let text = object.after_refusal("unknown field", &request).unwrap();
        assert_eq!(text.body("m", &request, 9).get("response_format"), None);
        assert_eq!(text.after_refusal("unknown field", &request), None);
    }

    #[test]
    fn named_parameters_are_given_up_one_by_one() {
        let request = request(schema());
        let refused = |text| Dialect::default().after_refusal(text, &request).unwrap();
        let body = refused("use 'max_completion_tokens' instead").body("m", &request, 9);
        assert_eq!(body["max_completion_tokens"], 9);
        assert_eq!(body.get("max_tokens"), None);
        let body = refused("`temperature` does not support 0").body("m", &request, 9);
        assert_eq!(body.get("temperature"), None);
        assert!(body.get("response_format").is_some());
        let body = refused("Unknown name \"seed\"").body("m", &request, 9);
        assert_eq!(body.get("seed"), None);
        assert_eq!(Dialect::default().after_refusal("maximum context length", &request), None);
    }

    #[test]
    fn a_completion_is_read_and_missing_usage_is_estimated_and_marked() {
        let answer = parsed(
            r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],
                "usage":{"prompt_tokens":3,"completion_tokens":4}}"#,
        )
        .unwrap();
        assert_eq!((answer.text.as_str(), answer.usage.total()), ("hi", 7));
        let answer = parsed(r#"{"choices":[{"message":{"content":null}}]}"#).unwrap();
        assert_eq!(answer.finish, FinishReason::Other);
        // 8 characters are 2 tokens, a message costs 4 more; the empty answer costs nothing.
        assert_eq!(answer.usage, Usage { prompt_tokens: 6, completion_tokens: 0, estimated: true });
        let parts = r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"}]}}]}"#;
        assert_eq!(parsed(parts).unwrap().text, "a");
    }

    #[test]
    fn an_early_end_is_told_from_something_else() {
        assert_eq!(parsed(r#"{"choices":[{"mess"#), Err(Unreadable::CutOff));
        for other in ["<html>", "{}", r#"{"choices":[]}"#, r#"{"error":{"message":"x"}}"#, "", "[]"]
        {
            assert_eq!(parsed(other), Err(Unreadable::Unknown), "{other}");
        }
    }
}
