//! A model that takes its time: an answer that was cut off is asked for once more with twice the tokens.
//!
//! Each of the two is a request of its own, so that around a cache the first is not paid for again where the
//! second does not come: a budget is used up, the run is interrupted, the connection is lost.

use std::sync::Arc;

use super::chat::{ChatAnswer, ChatModel, ChatRequest, FinishReason};
use super::error::ChatError;

/// Around another model.
pub struct LongerModel(Arc<dyn ChatModel>);

/// The request for twice the tokens.
pub(crate) fn longer(request: &ChatRequest) -> ChatRequest {
    ChatRequest { max_tokens: request.max_tokens.saturating_mul(2), ..request.clone() }
}

impl LongerModel {
    /// Around `inner`.
    pub fn new(inner: Arc<dyn ChatModel>) -> Self {
        Self(inner)
    }
}

impl ChatModel for LongerModel {
    fn model(&self) -> &str {
        self.0.model()
    }

    /// The usage is that of both answers. Where more tokens are refused, the cut answer is what there is.
    fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        let first = self.0.complete(request)?;
        if first.finish != FinishReason::Length {
            return Ok(first);
        }
        match self.0.complete(&longer(request)) {
            Ok(second) => Ok(ChatAnswer { usage: first.usage.plus(second.usage), ..second }),
            Err(error) if says_no(&error) => Ok(first),
            Err(error) => Err(error),
        }
    }

    fn reject(&self, request: &ChatRequest) -> Result<(), ChatError> {
        self.0.reject(&longer(request))?;
        self.0.reject(request)
    }

    fn keeps(&self, request: &ChatRequest) -> Result<bool, ChatError> {
        self.0.keeps(request)
    }
}

/// Whether no later run will get another answer: the server does not take so long a request, or nobody is asked.
fn says_no(error: &ChatError) -> bool {
    match error {
        ChatError::Status { status, .. } => matches!(status, 400 | 413 | 422),
        ChatError::Offline => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::llm::{ResponseFormat, Usage};

    /// Answers what its function says of the tokens, and notes them.
    struct Told<F>(F, Mutex<Vec<u32>>);

    impl<F: Fn(u32) -> Result<FinishReason, ChatError> + Send + Sync> ChatModel for Told<F> {
        fn model(&self) -> &'static str {
            "m"
        }

        fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
            self.1.lock().unwrap().push(request.max_tokens);
            let finish = (self.0)(request.max_tokens)?;
            let usage = Usage { prompt_tokens: 3, completion_tokens: 4, estimated: false };
            Ok(ChatAnswer { text: format!("{} tokens", request.max_tokens), finish, usage })
        }
    }

    fn asked(
        says: impl Fn(u32) -> Result<FinishReason, ChatError> + Send + Sync + 'static,
    ) -> (Result<ChatAnswer, ChatError>, Vec<u32>) {
        let inner = Arc::new(Told(says, Mutex::default()));
        let request = ChatRequest {
            messages: Vec::new(),
            temperature: 0.0,
            seed: 0,
            max_tokens: 50,
            format: ResponseFormat::Text,
            repeat: 0,
        };
        let answer = LongerModel::new(Arc::clone(&inner) as Arc<dyn ChatModel>).complete(&request);
        let tokens = inner.1.lock().unwrap().clone();
        (answer, tokens)
    }

    fn refused(status: u16) -> ChatError {
        let (host, excerpt) = ("h".into(), "context length".into());
        ChatError::Status { host, status, meaning: "refused", tries: 1, excerpt }
    }

    #[test]
    fn a_cut_answer_is_asked_for_once_more_and_both_are_paid_for() {
        use FinishReason::{Length, Stop};
        let (answer, tokens) = asked(|tokens| Ok(if tokens < 100 { Length } else { Stop }));
        let answer = answer.unwrap();
        assert_eq!((answer.text.as_str(), answer.finish), ("100 tokens", Stop));
        assert_eq!((tokens, answer.usage.total()), (vec![50, 100], 14));
        let (answer, tokens) = asked(|_| Ok(Length));
        assert_eq!((answer.unwrap().finish, tokens), (Length, vec![50, 100]));
        let (answer, tokens) = asked(|_| Ok(Stop));
        assert_eq!((answer.unwrap().usage.total(), tokens), (7, vec![50]));
    }

    #[test]
    fn where_more_tokens_are_refused_the_cut_answer_stays_and_other_failures_are_said() {
        let cut_then = |error: fn() -> ChatError| {
            asked(move |tokens| if tokens < 100 { Ok(FinishReason::Length) } else { Err(error()) })
                .0
        };
        let answer = cut_then(|| refused(400)).unwrap();
        assert_eq!((answer.text.as_str(), answer.usage.total()), ("50 tokens", 7));
        assert!(cut_then(|| ChatError::Offline).is_ok());
        assert!(matches!(cut_then(|| refused(500)), Err(ChatError::Status { status: 500, .. })));
        assert!(matches!(cut_then(|| ChatError::Interrupted), Err(ChatError::Interrupted)));
    }
}
