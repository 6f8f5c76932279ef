//! Replies as real servers send them, recorded or written down from their documentation, and what
//! each must be read as.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use async_openai::types::chat::CreateChatCompletionResponse;
use caz::for_tests::{OpenAiModel, OpenAiSettings};
use caz::{ChatError, ChatModel, FinishReason};

use crate::server::{Reply, Server};
use crate::transport::{request, settings};

/// What a reply is.
enum Expected {
    /// An answer: its text, why it ends, and its tokens if the server gave them.
    Answer(&'static str, FinishReason, Option<u64>),
    /// A failure with this status and these words.
    Status(u16, &'static str),
}

use Expected::{Answer, Status};
use FinishReason::{ContentFilter, Length, Stop};

/// File, status of the reply, what it must be read as.
const REPLIES: [(&str, u16, Expected); 20] = [
    (
        "llama.cpp-whole.json",
        200,
        Answer("Hello, welcome to my little corner of the world.", Stop, Some(48)),
    ),
    ("llama.cpp-stream.sse", 200, Answer("Hello, welcome to", Length, Some(40))),
    ("llama.cpp-schema.json", 200, Answer("{\n  \"a\": \"y", Length, Some(48))),
    ("llama.cpp-loading.json", 503, Status(503, "Loading model")),
    ("llama.cpp-unknown-form.json", 400, Status(400, "response_format type")),
    ("openai-stream.sse", 200, Answer("Hi", Stop, Some(11))),
    (
        "openai-refusal.json",
        200,
        Answer("I'm sorry, I can't help with that.", ContentFilter, Some(19)),
    ),
    ("openai-token-limit.json", 400, Status(400, "max_completion_tokens")),
    ("openai-stream-not-allowed.json", 400, Status(400, "must be verified to stream")),
    ("vllm-reasoning.sse", 200, Answer("Hi", Stop, Some(14))),
    ("vllm-failure.sse", 200, Status(400, "maximum context length")),
    ("ollama-stream.sse", 200, Answer("Hi", Stop, None)),
    ("tgi-stream.sse", 200, Answer("Hi", Stop, Some(11))),
    ("tgi-error.json", 422, Status(422, "Grammar error")),
    ("lm-studio-failure.sse", 200, Status(500, "has crashed")),
    ("lm-studio-no-form.json", 400, Status(400, "response_format.type")),
    ("openrouter-stream.sse", 200, Answer("Hi", Stop, Some(11))),
    ("azure-stream.sse", 200, Answer("Hi", ContentFilter, None)),
    ("mistral-thinking.json", 200, Answer("Hi", Stop, Some(11))),
    ("no-done-stream.sse", 200, Answer("Hi", Stop, Some(11))),
];

/// Whole completions that have all that the types of async-openai demand. The others are why
/// answers are read by types of our own.
const FIT: [&str; 3] = ["llama.cpp-whole.json", "llama.cpp-schema.json", "openai-refusal.json"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/servers")
}

#[test]
fn every_recorded_reply_is_read_as_what_it_is() {
    for (file, status, expected) in &REPLIES {
        let body = fs::read_to_string(folder().join(file)).unwrap();
        let status = *status;
        let server = Server::start(move |_| Reply::Status(status, vec![], body.clone()));
        let mut settings: OpenAiSettings = settings(&server.url());
        // Neither asked for again, nor for less: this is about reading.
        settings.retry.tries = 1;
        settings.stream = false;
        match (OpenAiModel::new(settings).unwrap().complete(&request("x")), expected) {
            (Ok(answer), Answer(text, finish, tokens)) => {
                assert_eq!((answer.text.as_str(), answer.finish), (*text, *finish), "{file}");
                let found = (!answer.usage.estimated).then(|| answer.usage.total());
                assert_eq!(found, *tokens, "{file}");
            }
            (Err(ChatError::Status { status, excerpt, .. }), Status(code, words)) => {
                assert_eq!(status, *code, "{file}");
                assert!(excerpt.contains(words), "{file}: {excerpt}");
            }
            (other, _) => panic!("{file}: {other:?}"),
        }
    }
}

#[test]
fn no_reply_is_left_out_and_those_that_fit_the_types_of_requests_are_listed() {
    let listed: BTreeSet<&str> = REPLIES.iter().map(|(file, ..)| *file).collect();
    let mut found = BTreeSet::new();
    let mut fit = BTreeSet::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name == "README.md" {
            continue;
        }
        let body = fs::read(&path).unwrap();
        if serde_json::from_slice::<CreateChatCompletionResponse>(&body).is_ok() {
            fit.insert(name.clone());
        }
        found.insert(name);
    }
    assert_eq!(found.iter().map(String::as_str).collect::<BTreeSet<_>>(), listed);
    assert_eq!(fit.iter().map(String::as_str).collect::<BTreeSet<_>>(), BTreeSet::from(FIT));
}
