//! caz: does this person's review or label add information beyond what an LLM already says?
//!
//! Scores people without ground truth by what their answers share with those of their peers beyond
//! what both share with an LLM's answer to the same task, after Zhang, Pang, Zhu and Liu,
//! *Evaluating LLM-Contaminated Crowdsourcing Data Without Ground Truth*, NeurIPS 2025.
//!
//! # The pipeline for reviews
//!
//! 1. [`data::source`] opens files, [`data::reviews`] reads reviews and Z and reports every problem.
//! 2. An [`text::embed::Embedder`] and [`text::pooling`] make a vector of every text.
//! 3. [`text::space`] puts all vectors of a run into one, centered space.
//! 4. [`text::projection`] removes what the LLM says, [`text::pairs`] compares what is left.
//! 5. [`text::score`] averages per reviewer, [`stats::flag`] says what is worth a look.
//! 6. [`text::explain`] shows what a score is made of.
//!
//! # The pipeline for labels
//!
//! [`data::labels`] holds the reports, a [`mechanism::Mechanism`] scores the workers;
//! [`experiment`] asks whether the assumptions hold.
//!
//! # Layers
//!
//! `data -> stats -> { mechanism, text, metrics } -> experiment -> report -> cli` and
//! `data -> llm -> judge -> text::embed`. A module uses only what stands to its left; only `cli`
//! prints, reads environment variables or decides exit codes.
//!
//! # Features
//!
//! `cli` (default): the command line. `bert` (default): transformer encoders and the Hugging Face
//! hub. `llm` (default): LLMs over HTTP. Without any of them the library has no network code.
//!
//! # Missing values
//!
//! What is undefined is `None`, an empty cell or `null`; never 0 and never NaN.

pub mod data;
pub mod experiment;
#[cfg(feature = "llm")]
pub mod judge;
#[cfg(feature = "llm")]
pub mod llm;
pub mod mechanism;
pub mod metrics;
pub mod report;
pub mod simulate;
pub mod stats;
pub mod text;

#[cfg(feature = "cli")]
pub mod cli;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
