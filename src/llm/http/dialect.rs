//! What a server is asked for, and for less once it refuses.
//!
//! Bodies have the types of async-openai, but for the temperature and the seed: its `f32` and `i64`
//! would send another number than was asked for.

use async_openai::types::chat::{
    ChatCompletionRequestAssistantMessage, ChatCompletionRequestMessage,
    ChatCompletionRequestSystemMessage, ChatCompletionRequestUserMessage,
    ChatCompletionStreamOptions, CreateChatCompletionRequest, ResponseFormat as WireFormat,
    ResponseFormatJsonSchema,
};
use serde::Serialize;

use crate::llm::chat::{ChatRequest, Message, ResponseFormat, Role};

/// How much of a response format to ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum FormatLevel {
    #[default]
    Schema,
    Object,
    Text,
}

/// Whether answers are asked for bit by bit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum StreamLevel {
    /// With what the answer cost in its last event.
    #[default]
    WithUsage,
    /// Without it, where servers do not know that wish.
    Plain,
    /// Whole, because that is wanted.
    NotWanted,
    /// Whole, because the server refuses.
    Refused,
}

/// What the server is asked for, beyond model, messages and a limit of tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Dialect {
    format: FormatLevel,
    stream: StreamLevel,
    new_token_limit: bool,
    no_temperature: bool,
    no_seed: bool,
}

/// A request for less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Less {
    /// What to ask for now.
    pub(super) dialect: Dialect,
    /// What the server cannot do if that helps.
    pub(super) lesson: Dialect,
}

/// The body of a request.
#[derive(Serialize)]
struct Body {
    #[serde(flatten)]
    request: CreateChatCompletionRequest,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

impl Dialect {
    /// Everything that we would like, or whole answers only.
    pub(super) fn new(stream: bool) -> Self {
        let stream = if stream { StreamLevel::WithUsage } else { StreamLevel::NotWanted };
        Self { stream, ..Self::default() }
    }

    /// The body of a request.
    pub(super) fn body(self, model: &str, request: &ChatRequest) -> String {
        let streams = self.asks_for_stream();
        let usage = ChatCompletionStreamOptions {
            include_usage: Some(true),
            ..ChatCompletionStreamOptions::default()
        };
        #[expect(deprecated, reason = "most servers know the limit by its old name only")]
        let wire = CreateChatCompletionRequest {
            model: model.to_owned(),
            messages: request.messages.iter().map(wire_message).collect(),
            max_tokens: (!self.new_token_limit).then_some(request.max_tokens),
            max_completion_tokens: self.new_token_limit.then_some(request.max_tokens),
            response_format: self.wire_format(&request.format),
            stream: streams.then_some(true),
            stream_options: (self.stream == StreamLevel::WithUsage).then_some(usage),
            ..CreateChatCompletionRequest::default()
        };
        let body = Body {
            request: wire,
            temperature: (!self.no_temperature).then_some(request.temperature),
            seed: (!self.no_seed).then_some(request.seed),
        };
        serde_json::to_string(&body).expect("a request is plain data")
    }

    /// The body of a request for one token and the `top` likeliest in its place.
    pub(super) fn body_for_choice(self, model: &str, request: &ChatRequest, top: u8) -> String {
        #[expect(deprecated, reason = "most servers know the limit by its old name only")]
        let wire = CreateChatCompletionRequest {
            model: model.to_owned(),
            messages: request.messages.iter().map(wire_message).collect(),
            max_tokens: (!self.new_token_limit).then_some(1),
            max_completion_tokens: self.new_token_limit.then_some(1),
            logprobs: Some(true),
            top_logprobs: Some(top),
            ..CreateChatCompletionRequest::default()
        };
        let temperature = (!self.no_temperature).then_some(request.temperature);
        let body = Body { request: wire, temperature, seed: None };
        serde_json::to_string(&body).expect("a request is plain data")
    }

    fn wire_format(self, format: &ResponseFormat) -> Option<WireFormat> {
        let ResponseFormat::JsonSchema { name, schema } = format else { return None };
        match self.format {
            FormatLevel::Schema => Some(WireFormat::JsonSchema {
                json_schema: ResponseFormatJsonSchema {
                    description: None,
                    name: name.clone(),
                    schema: schema.clone(),
                    strict: Some(true),
                },
            }),
            FormatLevel::Object => Some(WireFormat::JsonObject),
            FormatLevel::Text => None,
        }
    }

    /// The same with the form that requests want.
    pub(super) fn with_form(self) -> Self {
        Self { format: FormatLevel::Schema, ..self }
    }

    /// Whether a form is asked for where a request wants one.
    pub(super) fn asks_for_form(self) -> bool {
        self.format != FormatLevel::Text
    }

    /// Whether the answer is asked for bit by bit.
    pub(super) fn asks_for_stream(self) -> bool {
        matches!(self.stream, StreamLevel::WithUsage | StreamLevel::Plain)
    }

    /// What to ask for after the server refused this with `text`; `None` if less will not help.
    ///
    /// What the text names is given up. If it names nothing, the form is, level by level; then, with
    /// `may_stream_be_unknown`, the stream.
    pub(super) fn after_refusal(
        self,
        text: &str,
        request: &ChatRequest,
        may_stream_be_unknown: bool,
    ) -> Option<Less> {
        let text = text.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let named = |dialect| Some(Less { dialect, lesson: dialect });
        if says(&["context length", "maximum context", "context window", "too long"]) {
            return None;
        }
        if self.stream == StreamLevel::WithUsage && says(&["stream_options", "include_usage"]) {
            return named(Self { stream: StreamLevel::Plain, ..self });
        }
        if self.asks_for_stream() && names_streaming(&text) {
            return named(Self { stream: StreamLevel::Refused, ..self });
        }
        if !self.new_token_limit && says(&["max_completion_tokens"]) {
            return named(Self { new_token_limit: true, ..self });
        }
        if !self.no_temperature && says(&["temperature"]) {
            return named(Self { no_temperature: true, ..self });
        }
        if !self.no_seed && says(&["`seed`", "'seed'", "\"seed\"", "seed parameter", ": seed"]) {
            return named(Self { no_seed: true, ..self });
        }
        let wants_form = matches!(request.format, ResponseFormat::JsonSchema { .. });
        match self.format {
            FormatLevel::Schema if wants_form => {
                named(Self { format: FormatLevel::Object, ..self })
            }
            FormatLevel::Object if wants_form => named(Self { format: FormatLevel::Text, ..self }),
            _ if may_stream_be_unknown && self.asks_for_stream() => {
                let dialect = Self { stream: StreamLevel::Refused, ..self };
                // No form helped, so it was not the form.
                Some(Less { dialect, lesson: Self { format: FormatLevel::Schema, ..dialect } })
            }
            _ => None,
        }
    }

    /// Gives up whatever `other` gave up.
    pub(super) fn concede(&mut self, other: Self) {
        self.format = self.format.max(other.format);
        self.stream = self.stream.max(other.stream);
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
        let stream = (self.stream == StreamLevel::Refused)
            .then_some("no streams (it may be silent for no longer than a whole answer takes)");
        let temperature = self.no_temperature.then_some("no temperature (the server's own)");
        let seed = self.no_seed.then_some("no seed");
        [format, stream, temperature, seed].into_iter().flatten().collect()
    }
}

fn wire_message(message: &Message) -> ChatCompletionRequestMessage {
    let text = message.content.clone();
    match message.role {
        Role::System => ChatCompletionRequestSystemMessage::from(text).into(),
        Role::User => ChatCompletionRequestUserMessage::from(text).into(),
        Role::Assistant => ChatCompletionRequestAssistantMessage::from(text).into(),
    }
}

/// Whether a message in lower case speaks of streams, and not of an upstream server.
pub(super) fn names_streaming(text: &str) -> bool {
    text.match_indices("stream")
        .any(|(at, _)| !text[..at].chars().next_back().is_some_and(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn request(format: ResponseFormat) -> ChatRequest {
        ChatRequest {
            messages: vec![
                Message::new(Role::System, "be brief"),
                Message::new(Role::User, "12345678"),
                Message::new(Role::Assistant, "9"),
            ],
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

    fn body(dialect: Dialect, request: &ChatRequest) -> Value {
        serde_json::from_str(&dialect.body("m", request)).unwrap()
    }

    fn less(dialect: Dialect, text: &str, request: &ChatRequest) -> Option<Less> {
        dialect.after_refusal(text, request, true)
    }

    #[test]
    fn the_body_is_what_the_protocol_asks_for() {
        let mut expected = json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "12345678"},
                {"role": "assistant", "content": "9"},
            ],
            "temperature": 0.0,
            "seed": 5,
            "max_tokens": 9,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "verdict", "strict": true, "schema": {"type": "object"}}
            }
        });
        assert_eq!(body(Dialect::new(false), &request(schema())), expected);
        expected["stream"] = json!(true);
        expected["stream_options"] = json!({"include_usage": true});
        assert_eq!(body(Dialect::new(true), &request(schema())), expected);
        assert_eq!(Dialect::default(), Dialect::new(true));
    }

    #[test]
    fn numbers_are_sent_as_they_are() {
        for (temperature, seed) in [(0.7, u64::MAX), (0.1, 0), (1.0 / 3.0, 1 << 63), (1e-9, 7)] {
            let request = ChatRequest { temperature, seed, ..request(ResponseFormat::Text) };
            let sent = Dialect::default().body("m", &request);
            assert!(sent.contains(&format!("\"temperature\":{temperature:?}")), "{sent}");
            let read: Value = serde_json::from_str(&sent).unwrap();
            assert_eq!(read["temperature"].as_f64(), Some(temperature));
            assert_eq!(read["seed"].as_u64(), Some(seed));
        }
    }

    #[test]
    fn refusals_without_a_reason_lead_down_the_ladder_and_end() {
        let request = request(schema());
        let object = less(Dialect::default(), "unknown field", &request).unwrap();
        assert_eq!(
            body(object.dialect, &request)["response_format"],
            json!({"type": "json_object"})
        );
        let text = less(object.dialect, "unknown field", &request).unwrap();
        assert_eq!(body(text.dialect, &request).get("response_format"), None);
        assert_eq!(text.lesson, text.dialect);
        let whole = less(text.dialect, "unknown field", &request).unwrap();
        assert_eq!(body(whole.dialect, &request).get("stream"), None);
        // Had it been the form, it would have worked before.
        assert_eq!(body(whole.lesson, &request)["response_format"]["type"], json!("json_schema"));
        assert_eq!(less(whole.dialect, "unknown field", &request), None);
        assert_eq!(text.dialect.after_refusal("unknown field", &request, false), None);
    }

    #[test]
    fn named_parameters_are_given_up_one_by_one() {
        let request = request(schema());
        let refused =
            |text| body(less(Dialect::default(), text, &request).unwrap().dialect, &request);
        let body = refused("use 'max_completion_tokens' instead");
        assert_eq!(body["max_completion_tokens"], 9);
        assert_eq!(body.get("max_tokens"), None);
        let body = refused("`temperature` does not support 0");
        assert_eq!(body.get("temperature"), None);
        assert!(body.get("response_format").is_some());
        assert_eq!(refused("Unknown name \"seed\"").get("seed"), None);
        assert_eq!(less(Dialect::default(), "maximum context length", &request), None);
    }

    #[test]
    fn streams_are_given_up_where_they_are_named() {
        let request = request(schema());
        let refused =
            |text| body(less(Dialect::default(), text, &request).unwrap().dialect, &request);
        let plain = refused("Unrecognized request argument supplied: stream_options");
        assert_eq!((plain.get("stream_options"), &plain["stream"]), (None, &json!(true)));
        for text in ["Streaming is not supported", "your organization may not stream this model"] {
            let whole = refused(text);
            assert_eq!((whole.get("stream"), whole.get("stream_options")), (None, None), "{text}");
            assert!(whole.get("response_format").is_some());
        }
        let upstream = refused("upstream error");
        assert_eq!(upstream["stream"], json!(true));
    }
}
