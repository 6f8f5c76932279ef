//! Any server that speaks the chat completions protocol of `OpenAI`: vLLM, llama.cpp, Ollama, TGI,
//! `OpenAI` itself.
//!
//! Servers differ in what they take. A request starts with everything we would like; when the
//! server refuses it, it is asked for less: a JSON Schema, then any JSON object, then plain text;
//! an answer bit by bit, then a whole one; `max_tokens` under its newer name; no temperature or
//! seed where the model allows none. What worked once is used from then on, and
//! [`OpenAiModel::concessions`] says what was given up.

use std::sync::Mutex;

use super::answer;
use super::dialect::{Dialect, names_streaming};
use super::locked::lock;
use super::reply::Received;
use super::server::{Call, Server};
use super::settings::OpenAiSettings;
use crate::llm::chat::{ChatAnswer, ChatModel, ChatRequest, ResponseFormat};
use crate::llm::error::ChatError;

/// A chat model behind HTTP.
#[derive(Debug)]
pub struct OpenAiModel {
    server: Server,
    known: Mutex<Known>,
}

/// What is known of the server; of several, what all can do.
#[derive(Debug, Clone, Copy)]
struct Known {
    dialect: Dialect,
    /// Whether it answered a request for a form with this dialect.
    form_proven: bool,
    /// Whether it took a request for a stream.
    stream_proven: bool,
    /// How often it failed at a request for no stated reason, and answered when asked for less.
    strikes: u32,
    /// How many requests for a form came since it was given up for no stated reason; `None` if it was not,
    /// or was tried again.
    since_doubt: Option<u32>,
}

/// Requests after which a form that was given up for no stated reason is tried once more: the server may
/// have been starting.
const AGAIN_AFTER: u32 = 32;

/// Failures for no stated reason after which the form is given up: once may be chance.
const MOST_STRIKES: u32 = 2;

impl OpenAiModel {
    /// Prepares to talk to a server; sends nothing.
    ///
    /// # Errors
    ///
    /// [`ChatError::BadUrl`] and [`ChatError::BadProxy`].
    pub fn new(settings: OpenAiSettings) -> Result<Self, ChatError> {
        let known = Known {
            dialect: Dialect::new(settings.stream),
            form_proven: false,
            stream_proven: false,
            strikes: 0,
            since_doubt: None,
        };
        Ok(Self { server: Server::new(settings)?, known: Mutex::new(known) })
    }

    /// What the server was not able to do, in words, e.g. `no JSON Schema`; empty if nothing.
    pub fn concessions(&self) -> Vec<&'static str> {
        lock(&self.known).dialect.concessions()
    }

    /// Whom to ask.
    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    /// What the server is known to take.
    pub(super) fn known_dialect(&self) -> Dialect {
        lock(&self.known).dialect
    }

    /// Asks with the known dialect, and for less as long as the server refuses.
    ///
    /// Some servers fail with status 500 at a form that they do not know, or at a stream. So until
    /// these have worked, such a failure is not waited out: less is asked for at once. If that does
    /// not help either, the server is asked again as patiently as ever.
    fn negotiate(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        let wants_form = matches!(request.format, ResponseFormat::JsonSchema { .. });
        if wants_form && self.is_time_to_try_again() {
            let dialect = self.known_dialect().with_form();
            match self.ask(request, dialect, true) {
                Ok(answer) => {
                    let mut known = lock(&self.known);
                    known.dialect = known.dialect.with_form();
                    known.form_proven = true;
                    return Ok(answer);
                }
                Err(ChatError::Interrupted) => return Err(ChatError::Interrupted),
                // Given up for good; the request is sent as before.
                Err(_) => {}
            }
        }
        let known = *lock(&self.known);
        let unproven = |dialect: Dialect| {
            wants_form && !known.form_proven && dialect.asks_for_form()
                || !known.stream_proven && dialect.asks_for_stream()
        };
        let (mut dialect, mut lesson) = (known.dialect, known.dialect);
        let mut first_refusal = None;
        let mut unexplained = false;
        loop {
            let impatient = unproven(dialect);
            let error = match self.ask(request, dialect, impatient) {
                Ok(answer) => {
                    self.learn(lesson, dialect, wants_form, unexplained);
                    return Ok(answer);
                }
                // It says nothing about what is asked for.
                Err(ChatError::Interrupted) => return Err(ChatError::Interrupted),
                Err(error) => error,
            };
            let less = match &error {
                ChatError::Status { status, excerpt, .. }
                    if may_mean_less(*status, impatient, excerpt) =>
                {
                    unexplained |= *status == 500 && !names_a_feature(excerpt);
                    dialect.after_refusal(excerpt, request, !known.stream_proven)
                }
                _ => None,
            };
            match less {
                None if unexplained && impatient => {
                    // It fails at everything: not a matter of what is asked for.
                    return self.ask(request, known.dialect, false);
                }
                // It was asked patiently, for as little as can be.
                None if unexplained => return Err(error),
                // Once asking for less did not help, the first refusal says what is wrong.
                None => return Err(first_refusal.unwrap_or(error)),
                Some(less) => {
                    (dialect, lesson) = (less.dialect, less.lesson);
                    first_refusal.get_or_insert(error);
                }
            }
        }
    }

    /// Whether a form that was given up for no stated reason is to be tried with this request.
    fn is_time_to_try_again(&self) -> bool {
        let mut known = lock(&self.known);
        let Some(count) = known.since_doubt else { return false };
        known.since_doubt = (count + 1 < AGAIN_AFTER).then_some(count + 1);
        known.since_doubt.is_none()
    }

    /// Remembers what the server took: `taken`, and the `lesson` from what it refused before.
    fn learn(&self, lesson: Dialect, taken: Dialect, wanted_form: bool, unexplained: bool) {
        let mut known = lock(&self.known);
        if unexplained && known.strikes + 1 < MOST_STRIKES {
            known.strikes += 1;
            return;
        }
        let had_form = known.dialect.asks_for_form();
        known.dialect.concede(lesson);
        if unexplained && had_form && known.dialect != known.dialect.with_form() {
            known.since_doubt = Some(0);
        }
        // Once the form has failed and the stream has been given up for it, the form is open again.
        known.form_proven |= wanted_form && lesson == taken;
        known.stream_proven |= taken.asks_for_stream();
    }

    fn ask(
        &self,
        request: &ChatRequest,
        dialect: Dialect,
        impatient: bool,
    ) -> Result<ChatAnswer, ChatError> {
        let call = Call {
            impatient,
            path: "chat/completions",
            body: dialect.body(self.server.model(), request),
            reserve: request.estimated_prompt_tokens() + u64::from(request.max_tokens),
            unknown: |host, excerpt| ChatError::NotChat { host, excerpt },
        };
        self.server.ask(&call, |received| {
            let answer = match received {
                Received::Whole(reply) => answer::parse(reply, request)?,
                Received::Stream(stream) => stream.answer(request)?,
            };
            let usage = answer.usage;
            Ok((answer, usage))
        })
    }
}

impl ChatModel for OpenAiModel {
    fn model(&self) -> &str {
        self.server.model()
    }

    fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        if !request.questions().is_empty() {
            return self.choices(request);
        }
        let mut answer = self.negotiate(request)?;
        answer.text = self.server.without_key(answer.text);
        Ok(answer)
    }
}

/// Whether a status may mean that the server does not do all that it was asked for.
fn may_mean_less(status: u16, impatient: bool, text: &str) -> bool {
    match status {
        400 | 406 | 415 | 422 | 501 => true,
        500 => impatient,
        408 | 409 | 429 => false,
        402..500 => names_streaming(&text.to_lowercase()),
        _ => false,
    }
}

/// Whether a server's message speaks of what it was asked for beyond text.
fn names_a_feature(text: &str) -> bool {
    let text = text.to_lowercase();
    let form =
        ["response_format", "response format", "json_schema", "json_object", "schema", "grammar"];
    form.iter().any(|word| text.contains(word)) || names_streaming(&text)
}
