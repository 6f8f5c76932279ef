//! The copy mixture: one iteration after the other, for all LLMs and all starts at once.
//!
//! An *attempt* is a start of one LLM. Every relation holds every class of every attempt, so that
//! all joins but those with an LLM that says nothing of a task are inner ones. The model, its
//! constants and its starts are in [`crate::mechanism::CopyMixture`].

mod beginning;
mod iteration;
mod scores;

pub(in crate::engine) use self::beginning::start;
pub(in crate::engine) use self::iteration::iteration;
#[cfg(feature = "distributed")]
pub(in crate::engine) use self::iteration::{left, over};
pub(in crate::engine::sql) use self::scores::best;
#[cfg(feature = "distributed")]
pub(in crate::engine) use self::scores::like_llm;
pub(in crate::engine) use self::scores::scores;
