//! caz: does this person's review or label add information beyond what an LLM already says?

pub mod data;
pub mod experiment;
#[cfg(feature = "llm")]
pub mod judge;
#[cfg(feature = "llm")]
pub mod llm;
pub mod mechanism;
pub mod metrics;
pub mod report;
pub mod stats;
pub mod text;

#[cfg(feature = "cli")]
pub mod cli;
