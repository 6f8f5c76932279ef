//! Models behind servers that speak the protocol of `OpenAI` over HTTP.
//!
//! The transport is our own, on blocking sockets: replies are bounded, silence is limited and not
//! the length of an answer, `Retry-After` is obeyed, keys stay hidden. What is sent has the types
//! of async-openai; what comes back is read by types of our own, since servers leave out much of
//! what the protocol demands.

pub(crate) mod chat;
pub(crate) mod embeddings;
pub(crate) mod retry;
pub(crate) mod secret;
pub(crate) mod settings;

mod address;
mod answer;
mod choices;
mod dialect;
mod events;
mod exchange;
mod lenient;
mod locked;
mod places;
mod reply;
mod server;
mod token_vectors;
mod unreadable;

pub(crate) use self::{
    address::check_address, chat::OpenAiModel, embeddings::OpenAiEmbeddings, retry::RetryPolicy,
    secret::ApiKey, settings::OpenAiSettings, token_vectors::TokenPooling,
};
