//! Answers of the chat protocol, whole and streamed.
//!
//! The types are our own and demand little: of what the protocol promises, servers leave out
//! identifiers, times, indices, usage and reasons to finish, and put `null` where a text is due.

use serde::Deserialize;
use serde_json::Value;

use super::lenient;
use super::unreadable::Unreadable;
use crate::llm::chat::{ChatAnswer, ChatRequest, FinishReason, Usage, estimated_tokens};

/// A whole completion, or one event of a stream.
#[derive(Debug, Deserialize)]
struct Completion {
    choices: Option<Vec<Choice>>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Choice {
    index: Option<u64>,
    /// In a whole completion, and in a stream of one event.
    message: Option<WireMessage>,
    /// In a stream.
    delta: Option<WireMessage>,
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct WireMessage {
    content: Option<Content>,
    refusal: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Debug, Deserialize)]
struct Part {
    text: Option<String>,
}

impl Content {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts.into_iter().filter_map(|part| part.text).collect(),
        }
    }
}

/// The answer in a whole reply.
pub(super) fn parse(reply: &[u8], request: &ChatRequest) -> Result<ChatAnswer, Unreadable> {
    let completion: Completion = lenient::read(reply)?;
    let usage = lenient::usage(completion.usage.as_ref());
    let choice = completion.choices.unwrap_or_default().into_iter().next();
    let choice = choice.ok_or(Unreadable::Unknown)?;
    let message = choice.message.ok_or(Unreadable::Unknown)?;
    let mut parts = Parts { usage, finish: choice.finish_reason, ..Parts::default() };
    parts.add(message);
    Ok(parts.answer(request))
}

/// What an answer is made of.
#[derive(Debug, Default)]
struct Parts {
    text: String,
    refusal: String,
    finish: Option<String>,
    usage: Option<Usage>,
}

impl Parts {
    fn add(&mut self, message: WireMessage) {
        if let Some(content) = message.content {
            self.text.push_str(&content.into_text());
        }
        self.refusal.push_str(message.refusal.as_deref().unwrap_or_default());
    }

    fn answer(self, request: &ChatRequest) -> ChatAnswer {
        let refused = self.text.is_empty() && !self.refusal.is_empty();
        let text = if refused { self.refusal } else { self.text };
        let finish = match self.finish.as_deref() {
            _ if refused => FinishReason::ContentFilter,
            Some("stop" | "eos_token" | "stop_sequence") => FinishReason::Stop,
            Some("length") => FinishReason::Length,
            Some("content_filter") => FinishReason::ContentFilter,
            _ => FinishReason::Other,
        };
        let usage = self.usage.unwrap_or_else(|| Usage {
            prompt_tokens: request.estimated_prompt_tokens(),
            completion_tokens: estimated_tokens(&text),
            estimated: true,
        });
        ChatAnswer { text, finish, usage }
    }
}

/// A streamed answer as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    parts: Parts,
    /// Whether any event was part of a completion.
    begun: bool,
    /// Whether the server said that it was done.
    done: bool,
    fault: Option<Unreadable>,
}

impl Assembly {
    /// Takes the data of an event; says whether more can follow.
    pub(super) fn take(&mut self, data: &[u8]) -> bool {
        let data = data.trim_ascii();
        if data == b"[DONE]" {
            self.done = true;
            return false;
        }
        if data.is_empty() {
            return true;
        }
        let event: Completion = match lenient::read(data) {
            Ok(event) => event,
            // The last event of a stream that breaks is half an event.
            Err(fault) => {
                self.fault = Some(fault);
                return false;
            }
        };
        if let Some(error) = event.error {
            self.fault = Some(failure(&error));
            return false;
        }
        if event.usage.is_some() {
            self.parts.usage = lenient::usage(event.usage.as_ref());
        }
        let choices = event.choices.unwrap_or_default();
        self.begun |= !choices.is_empty();
        // One answer is asked for; a server that sends several numbers them.
        let first = choices.into_iter().find(|choice| choice.index.is_none_or(|index| index == 0));
        let Choice { message, delta, finish_reason, .. } = first.unwrap_or_default();
        if let Some(delta) = delta {
            self.parts.add(delta);
        } else if let Some(message) = message.filter(|_| self.parts.text.is_empty()) {
            self.parts.add(message);
        }
        if finish_reason.as_deref().is_some_and(|reason| !reason.is_empty()) {
            self.parts.finish = finish_reason;
        }
        true
    }

    /// Whether the answer is whole.
    pub(super) fn is_finished(&self) -> bool {
        self.fault.is_none() && (self.done || self.parts.finish.is_some())
    }

    /// Bytes that are held.
    pub(super) fn held(&self) -> usize {
        self.parts.text.len() + self.parts.refusal.len()
    }

    /// The answer.
    pub(super) fn answer(&self, request: &ChatRequest) -> Result<ChatAnswer, Unreadable> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        // The end is either said, or a connection broke and nobody noticed.
        if !self.is_finished() {
            return Err(Unreadable::CutOff);
        }
        if !self.begun {
            return Err(Unreadable::Unknown);
        }
        let Parts { text, refusal, finish, usage } = &self.parts;
        let parts = Parts {
            text: text.clone(),
            refusal: refusal.clone(),
            finish: finish.clone(),
            usage: *usage,
        };
        Ok(parts.answer(request))
    }

    /// The start of what came, for messages.
    pub(super) fn excerpt(&self) -> &[u8] {
        self.parts.text.as_bytes()
    }
}

/// A failure that came as an event, since the status had been sent.
fn failure(error: &Value) -> Unreadable {
    let number = |value: &Value| {
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        u16::try_from(number).ok().filter(|status| (400..600).contains(status))
    };
    let status = ["code", "status"].iter().find_map(|key| number(&error[*key])).unwrap_or(500);
    let text = match &error["message"] {
        Value::String(message) => message.clone(),
        _ => error.to_string(),
    };
    Unreadable::Failed { status, text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::chat::{Message, ResponseFormat, Role};

    fn request() -> ChatRequest {
        ChatRequest {
            messages: vec![Message::new(Role::User, "12345678")],
            temperature: 0.0,
            seed: 5,
            max_tokens: 9,
            format: ResponseFormat::Text,
            repeat: 3,
        }
    }

    fn parsed(body: &str) -> Result<ChatAnswer, Unreadable> {
        parse(body.as_bytes(), &request())
    }

    fn assembled(events: &[&str]) -> Result<ChatAnswer, Unreadable> {
        let mut assembly = Assembly::default();
        for event in events {
            if !assembly.take(event.as_bytes()) {
                break;
            }
        }
        assembly.answer(&request())
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
        // What cannot be is as good as missing.
        let bad = r#"{"choices":[{"message":{"content":null}}],"usage":{"prompt_tokens":-5,"completion_tokens":1e30}}"#;
        assert_eq!(parsed(bad), Ok(answer));
        let parts = r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"}]}}]}"#;
        assert_eq!(parsed(parts).unwrap().text, "a");
    }

    #[test]
    fn a_refusal_is_a_withheld_answer() {
        let refusal = r#"{"choices":[{"message":{"content":null,"refusal":"I can't."},"finish_reason":"stop"}]}"#;
        let answer = parsed(refusal).unwrap();
        assert_eq!(
            (answer.text.as_str(), answer.finish),
            ("I can't.", FinishReason::ContentFilter)
        );
        let streamed = [
            r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#,
            r#"{"choices":[{"delta":{"refusal":"I "}}]}"#,
            r#"{"choices":[{"delta":{"refusal":"can't."}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        ];
        let streamed = assembled(&streamed).unwrap();
        assert_eq!((streamed.text, streamed.finish), (answer.text, answer.finish));
    }

    #[test]
    fn an_early_end_is_told_from_something_else() {
        assert_eq!(parsed(r#"{"choices":[{"mess"#), Err(Unreadable::CutOff));
        for other in ["<html>", "{}", r#"{"choices":[]}"#, r#"{"error":{"message":"x"}}"#, "", "[]"]
        {
            assert_eq!(parsed(other), Err(Unreadable::Unknown), "{other}");
        }
    }

    #[test]
    fn a_stream_is_put_together_and_ends_when_the_server_says_so() {
        let say =
            |text: &str| format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#);
        let (a, b) = (say("Zo"), say("\u{eb}"));
        let stop = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
        let usage = r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#;
        let whole = assembled(&[&a, &b, stop, usage, "[DONE]", "never read"]).unwrap();
        let usage_found = Usage { prompt_tokens: 3, completion_tokens: 4, estimated: false };
        let expected = |finish, usage| ChatAnswer { text: "Zo\u{eb}".into(), finish, usage };
        assert_eq!(whole, expected(FinishReason::Stop, usage_found));
        // Either end will do; without one the connection broke.
        assert_eq!(assembled(&[&a, &b, stop]).unwrap().finish, FinishReason::Stop);
        assert_eq!(assembled(&[&a, &b, "[DONE]"]).unwrap().finish, FinishReason::Other);
        assert_eq!(assembled(&[&a, &b]), Err(Unreadable::CutOff));
        assert_eq!(assembled(&[&a, &b[..20]]), Err(Unreadable::CutOff));
        assert_eq!(assembled(&[]), Err(Unreadable::CutOff));
        assert_eq!(assembled(&["[DONE]"]), Err(Unreadable::Unknown));
        assert_eq!(assembled(&["<html>"]), Err(Unreadable::Unknown));
    }

    #[test]
    fn reasoning_other_choices_and_nulls_are_no_text() {
        let answer = assembled(&[
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":"hm"}}],"usage":null}"#,
            r#"{"choices":[{"index":1,"delta":{"content":"other"}},{"index":0,"delta":{"content":"a"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"b"}]},"finish_reason":""}]}"#,
            r#"{"choices":[{"index":0,"delta":null,"finish_reason":"length"}]}"#,
            r#"{"choices":null,"usage":{"prompt_tokens":1,"completion_tokens":2}}"#,
            "[DONE]",
        ])
        .unwrap();
        assert_eq!((answer.text.as_str(), answer.finish), ("ab", FinishReason::Length));
        assert_eq!(answer.usage.total(), 3);
    }

    #[test]
    fn a_whole_completion_may_come_as_one_event() {
        let event = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
        assert_eq!(assembled(&[event, "[DONE]"]).unwrap().text, "hi");
    }

    #[test]
    fn a_failure_in_the_middle_keeps_its_status() {
        let failed = |event: &str| match assembled(&[event]) {
            Err(Unreadable::Failed { status, text }) => (status, text),
            other => panic!("{other:?}"),
        };
        let vllm = r#"{"error":{"object":"error","message":"too long","type":"BadRequestError","code":400}}"#;
        assert_eq!(failed(vllm), (400, "too long".into()));
        assert_eq!(failed(r#"{"error":{"message":"m","code":"429"}}"#), (429, "m".into()));
        assert_eq!(failed(r#"{"error":"gone","choices":[]}"#), (500, "\"gone\"".into()));
    }
}
