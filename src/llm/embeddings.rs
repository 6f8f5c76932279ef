//! Any server that speaks the embeddings protocol of `OpenAI`: vLLM, llama.cpp, Ollama, TEI,
//! `OpenAI` itself.

use serde::Deserialize;
use serde_json::{Value, json};

use super::chat::{Usage, estimated_tokens};
use super::error::ChatError;
use super::server::{Call, OpenAiSettings, Server, Unreadable};

/// A model that turns texts into vectors. Object-safe; shared between threads.
pub trait EmbeddingModel: Send + Sync {
    /// The model's name as the server knows it.
    fn model(&self) -> &str;

    /// One vector per text, in the order of `texts`, all of one length that is not 0, all entries
    /// finite; blocks until they are there.
    ///
    /// # Errors
    ///
    /// [`ChatError`] if there is no answer after all tries.
    fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f64>>, ChatError>;
}

/// An embedding model behind HTTP.
#[derive(Debug)]
pub struct OpenAiEmbeddings {
    server: Server,
}

impl OpenAiEmbeddings {
    /// Prepares to talk to a server; sends nothing.
    ///
    /// # Errors
    ///
    /// [`ChatError::BadUrl`] and [`ChatError::BadProxy`].
    pub fn new(settings: OpenAiSettings) -> Result<Self, ChatError> {
        Ok(Self { server: Server::new(settings)? })
    }
}

impl EmbeddingModel for OpenAiEmbeddings {
    fn model(&self) -> &str {
        self.server.model()
    }

    fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f64>>, ChatError> {
        let body = json!({
            "model": self.server.model(),
            "input": texts,
            // Some servers send base64 unless they are asked for numbers.
            "encoding_format": "float",
        });
        let estimate = texts.iter().map(|text| estimated_tokens(text)).sum();
        let call = Call {
            path: "embeddings",
            body: body.to_string(),
            reserve: estimate,
            unknown: |host, excerpt| ChatError::NotEmbeddings { host, excerpt },
        };
        self.server.ask(&call, |reply| {
            let (vectors, tokens) = parse(reply, texts.len())?;
            let usage = Usage {
                prompt_tokens: tokens.unwrap_or(estimate),
                completion_tokens: 0,
                estimated: tokens.is_none(),
            };
            Ok((vectors, usage))
        })
    }
}

#[derive(Deserialize)]
struct Reply {
    data: Vec<Item>,
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f64>,
}

#[derive(Deserialize)]
struct WireUsage {
    prompt_tokens: Option<u64>,
}

/// The vectors of a reply to `count` texts in the order of the texts, and the tokens they cost.
fn parse(reply: &[u8], count: usize) -> Result<(Vec<Vec<f64>>, Option<u64>), Unreadable> {
    // Two steps, as a wrong type inside must not look like an early end.
    let value: Value =
        serde_json::from_slice(reply).map_err(|error| Unreadable::from_json(&error, reply))?;
    let reply: Reply = serde_json::from_value(value).map_err(|_| Unreadable::Unknown)?;
    let mut vectors = vec![Vec::new(); count];
    for (place, item) in reply.data.into_iter().enumerate() {
        let slot = vectors.get_mut(item.index.unwrap_or(place)).ok_or(Unreadable::Unknown)?;
        if !slot.is_empty() || item.embedding.iter().any(|entry| !entry.is_finite()) {
            return Err(Unreadable::Unknown);
        }
        *slot = item.embedding;
    }
    let dims = vectors.first().map_or(0, Vec::len);
    if count > 0 && (dims == 0 || vectors.iter().any(|vector| vector.len() != dims)) {
        return Err(Unreadable::Unknown);
    }
    Ok((vectors, reply.usage.and_then(|usage| usage.prompt_tokens)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(reply: &Value, count: usize) -> Result<(Vec<Vec<f64>>, Option<u64>), Unreadable> {
        parse(reply.to_string().as_bytes(), count)
    }

    #[test]
    fn vectors_stand_in_the_order_of_the_texts_whatever_that_of_the_reply() {
        let reply = json!({
            "data": [{"index": 1, "embedding": [0.5, -1]}, {"index": 0, "embedding": [3, 4]}],
            "usage": {"prompt_tokens": 7, "total_tokens": 7},
        });
        let expected = vec![vec![3.0, 4.0], vec![0.5, -1.0]];
        assert_eq!(parsed(&reply, 2), Ok((expected, Some(7))));
    }

    #[test]
    fn without_numbers_the_order_is_that_of_the_reply() {
        let reply = json!({ "data": [{"embedding": [1]}, {"embedding": [2]}] });
        assert_eq!(parsed(&reply, 2), Ok((vec![vec![1.0], vec![2.0]], None)));
    }

    #[test]
    fn anything_but_one_vector_of_one_length_per_text_is_refused() {
        let vector = |index: usize, entries: Value| json!({"index": index, "embedding": entries});
        let replies = [
            json!({"data": [vector(0, json!([1]))]}),
            json!({"data": [vector(0, json!([1])), vector(0, json!([2]))]}),
            json!({"data": [vector(0, json!([1])), vector(2, json!([2]))]}),
            json!({"data": [vector(0, json!([1])), vector(1, json!([2, 3]))]}),
            json!({"data": [vector(0, json!([])), vector(1, json!([]))]}),
            json!({"data": [vector(0, json!([1])), vector(1, json!([null]))]}),
            json!({"data": [vector(0, json!([1])), vector(1, json!("AAAA"))]}),
            json!({"choices": []}),
        ];
        for reply in replies {
            assert_eq!(parsed(&reply, 2), Err(Unreadable::Unknown), "{reply}");
        }
        let too_large = br#"{"data": [{"embedding": [1]}, {"embedding": [1e999]}]}"#;
        assert_eq!(parse(too_large, 2), Err(Unreadable::Unknown));
    }

    #[test]
    fn a_reply_that_ends_early_is_asked_for_again() {
        assert_eq!(parse(br#"{"data": [{"embedding": [1, 2"#, 1), Err(Unreadable::CutOff));
        assert_eq!(parse(b"<html>", 1), Err(Unreadable::Unknown));
    }
}
