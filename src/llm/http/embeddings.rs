//! Any server that speaks the embeddings protocol of `OpenAI`: vLLM, llama.cpp, Ollama, TEI,
//! `OpenAI` itself.

use async_openai::types::embeddings::{CreateEmbeddingRequest, EmbeddingInput, EncodingFormat};
use serde::Deserialize;
use serde_json::Value;

use super::lenient;
use super::reply::Received;
use super::server::{Call, Server};
use super::settings::OpenAiSettings;
use super::token_vectors::TokenPooling;
use super::unreadable::Unreadable;
use crate::llm::chat::{Usage, estimated_tokens};
use crate::llm::embedding_model::EmbeddingModel;
use crate::llm::error::ChatError;

/// An embedding model behind HTTP.
#[derive(Debug)]
pub(crate) struct OpenAiEmbeddings {
    server: Server,
    pooling: Option<TokenPooling>,
}

impl OpenAiEmbeddings {
    /// Prepares to talk to a server; sends nothing.
    ///
    /// # Errors
    ///
    /// [`ChatError::BadUrl`] and [`ChatError::BadProxy`].
    pub(crate) fn new(settings: OpenAiSettings) -> Result<Self, ChatError> {
        Ok(Self { server: Server::new(settings)?, pooling: None })
    }

    /// The same, which makes one vector of those of tokens where the server does not pool. Without
    /// it these are an error.
    #[must_use]
    pub(crate) fn pooled(mut self, pooling: Option<TokenPooling>) -> Self {
        self.pooling = pooling;
        self
    }
}

impl EmbeddingModel for OpenAiEmbeddings {
    fn model(&self) -> &str {
        self.server.model()
    }

    fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f64>>, ChatError> {
        let estimate = texts.iter().map(|text| estimated_tokens(text)).sum();
        let call = Call {
            path: "embeddings",
            body: body(self.server.model(), texts),
            reserve: estimate,
            impatient: false,
            unknown: |host, excerpt| ChatError::NotEmbeddings { host, excerpt },
        };
        self.server.ask(&call, |received| {
            let Received::Whole(reply) = received else { return Err(Unreadable::Unknown) };
            let (vectors, tokens) = parse(reply, texts.len(), self.pooling)?;
            let usage = Usage {
                prompt_tokens: tokens.unwrap_or(estimate),
                completion_tokens: 0,
                estimated: tokens.is_none(),
            };
            Ok((vectors, usage))
        })
    }
}

/// The body of a request.
fn body(model: &str, texts: &[&str]) -> String {
    let request = CreateEmbeddingRequest {
        model: model.to_owned(),
        input: EmbeddingInput::StringArray(texts.iter().map(|&text| text.to_owned()).collect()),
        // Some servers send base64 unless they are asked for numbers.
        encoding_format: Some(EncodingFormat::Float),
        ..CreateEmbeddingRequest::default()
    };
    serde_json::to_string(&request).expect("a request is plain data")
}

#[derive(Deserialize)]
struct Reply {
    data: Vec<Item>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Embedding,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Embedding {
    Text(Vec<f64>),
    Tokens(Vec<Vec<f64>>),
}

/// The vectors of a reply to `count` texts in the order of the texts, and the tokens they cost.
fn parse(
    reply: &[u8],
    count: usize,
    pooling: Option<TokenPooling>,
) -> Result<(Vec<Vec<f64>>, Option<u64>), Unreadable> {
    let reply: Reply = lenient::read(reply)?;
    let mut vectors = vec![Vec::new(); count];
    for (place, item) in reply.data.into_iter().enumerate() {
        let slot = vectors.get_mut(item.index.unwrap_or(place)).ok_or(Unreadable::Unknown)?;
        let vector = match (item.embedding, pooling) {
            (Embedding::Text(vector), _) => vector,
            // A model that was made to write, behind a server that does not pool.
            (Embedding::Tokens(_), None) => return Err(Unreadable::TokenVectors),
            (Embedding::Tokens(tokens), Some(pooling)) => {
                pooling.pool(&tokens).ok_or(Unreadable::Unknown)?
            }
        };
        if !slot.is_empty() || vector.iter().any(|entry| !entry.is_finite()) {
            return Err(Unreadable::Unknown);
        }
        *slot = vector;
    }
    let dims = vectors.first().map_or(0, Vec::len);
    if count > 0 && (dims == 0 || vectors.iter().any(|vector| vector.len() != dims)) {
        return Err(Unreadable::Unknown);
    }
    Ok((vectors, reply.usage.and_then(|usage| usage.get("prompt_tokens")?.as_u64())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(reply: &Value, count: usize) -> Result<(Vec<Vec<f64>>, Option<u64>), Unreadable> {
        parse(reply.to_string().as_bytes(), count, None)
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
        assert_eq!(parse(too_large, 2, None), Err(Unreadable::Unknown));
    }

    #[test]
    fn one_vector_per_token_is_told_from_other_faults_or_pooled_where_that_is_wanted() {
        let reply = json!({"data": [{"index": 0, "embedding": [[1, 2], [3, 4]]}]});
        assert_eq!(parsed(&reply, 1), Err(Unreadable::TokenVectors));
        let pooled = |reply: &Value, pooling| {
            parse(reply.to_string().as_bytes(), 1, Some(pooling)).map(|(vectors, _)| vectors)
        };
        assert_eq!(pooled(&reply, TokenPooling::Mean), Ok(vec![vec![2.0, 3.0]]));
        assert_eq!(pooled(&reply, TokenPooling::First), Ok(vec![vec![1.0, 2.0]]));
        let ragged = json!({"data": [{"index": 0, "embedding": [[1, 2], [3]]}]});
        assert_eq!(pooled(&ragged, TokenPooling::Mean), Err(Unreadable::Unknown));
    }

    #[test]
    fn the_body_is_what_the_protocol_asks_for() {
        let sent: Value = serde_json::from_str(&body("m", &["a", "\u{e9}"])).unwrap();
        let expected = json!({"model": "m", "input": ["a", "\u{e9}"], "encoding_format": "float"});
        assert_eq!(sent, expected);
    }

    #[test]
    fn a_reply_that_ends_early_is_asked_for_again() {
        assert_eq!(parse(br#"{"data": [{"embedding": [1, 2"#, 1, None), Err(Unreadable::CutOff));
        assert_eq!(parse(b"<html>", 1, None), Err(Unreadable::Unknown));
    }
}
