//! caz: does this person's review or label add information beyond what an LLM already says?
//!
//! Scores people without ground truth by what their answers share with those of their peers beyond
//! what both share with an LLM's answer to the same task, after Zhang, Pang, Zhu and Liu,
//! *Evaluating LLM-Contaminated Crowdsourcing Data Without Ground Truth*, NeurIPS 2025.
//!
//! # The pipeline for reviews
//!
//! 1. [`data::source`] opens files, [`data::reviews`] reads reviews and Z and reports every problem.
//! 2. An [`embed::Embedder`] and [`embed::pooling`] make a vector of every text.
//! 3. [`text::space`] puts all vectors of a run into one, centered space.
//! 4. [`text::projection`] removes what the LLM says, [`text::pairs`] compares what is left.
//! 5. [`text::score`] averages per reviewer, [`stats::flag`] says what is worth a look.
//! 6. [`text::explain`] shows what a score is made of.
//!
//! # The pipeline for labels
//!
//! [`data::Labels`] are read or given, [`screen::labels()`] scores the workers by any
//! [`mechanism::MechanismName`], [`screen::assumptions()`] asks whether the assumptions hold.
//!
//! # Layers
//!
//! `data -> stats -> { mechanism, embed -> text, metrics } -> simulate -> experiment`,
//! `data -> llm -> judge -> annotate` and `report -> screen -> cli`. A module uses only what stands to
//! its left; only `cli` prints, reads environment variables or decides exit codes.
//!
//! # Features
//!
//! Each is a capability; those up to `cli` are on by default, and without any of them the library has
//! no network code, no database and no terminal. Scores, the built-in embedders, and the judges over any
//! [`llm::ChatModel`] need none.
//!
//! | feature | what it adds |
//! |---|---|
//! | `bert` | transformer encoders from a folder |
//! | `hub` | downloads from the Hugging Face hub, and its cache; turns on `bert` |
//! | `http` | chat and embedding models behind a server |
//! | `local` | language models in GGUF and safetensors files, run on this machine by `caz-gguf` |
//! | `cache` | the cache of answers, one `SQLite` file |
//! | `llm` | `http` and `cache` |
//! | `html` | the report as one HTML file |
//! | `cli` | the command line; turns on `html` |
//! | `parquet` | tables in Parquet files; off by default |
//!
//! # Missing values
//!
//! What is undefined is `None`, an empty cell or `null`; never 0 and never NaN.

#[cfg(feature = "http")]
pub mod annotate;
pub mod data;
pub mod embed;
pub mod error;
pub mod experiment;
pub mod judge;
pub mod llm;
pub mod mechanism;
pub mod metrics;
pub mod report;
pub mod screen;
pub mod simulate;
pub mod stats;
pub mod text;

#[cfg(feature = "cli")]
pub mod cli;
#[doc(hidden)]
pub mod for_caz_sql;

pub use error::{Error, ErrorKind};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
