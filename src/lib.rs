//! caz: does this person's review or label add information beyond what an LLM already says?
//!
//! Scores people without ground truth by what their answers share with those of their peers beyond
//! what both share with an LLM's answer to the same task, after Zhang, Pang, Zhu and Liu,
//! *Evaluating LLM-Contaminated Crowdsourcing Data Without Ground Truth*, NeurIPS 2025.
//!
//! # The pipeline for reviews
//!
//! 1. `data::source` opens files, `data::reviews` reads reviews and Z and reports every problem.
//! 2. An [`embed::Embedder`] and `embed::pooling` make a vector of every text.
//! 3. `text::space` puts all vectors of a run into one, centered space.
//! 4. `text::projection` removes what the LLM says, `text::pairs` compares what is left.
//! 5. `text::score` averages per reviewer, `stats::flag` says what is worth a look.
//! 6. `text::explain` shows what a score is made of.
//!
//! # The pipeline for labels
//!
//! [`data::Labels`] are read or given, `screen::labels()` scores the workers by any
//! [`mechanism::MechanismName`], [`screen::assumptions()`] asks whether the assumptions hold.
//!
//! # What is public
//!
//! The names in this list, each once and without a path; what is not in it changes without notice. Settings and
//! rows may get further fields: begin with `default()` or `new()` and set what you need.
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
//! no network code, no database and no terminal. Scores and the built-in embedders need none. With `llm`,
//! [`embed()`](crate::embed()) asks any [`ChatModel`] or [`EmbeddingModel`] that a [`ModelSource`] gives.
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

// What one feature uses of another is of no use without it: what nobody uses is looked for where all are on.
#![cfg_attr(
    not(all(feature = "cli", feature = "llm", feature = "hub", feature = "local")),
    allow(dead_code, unreachable_pub, unused_imports)
)]

// First, so that all see it.
#[macro_use]
mod words;

#[cfg(feature = "http")]
mod annotate;
mod data;
mod embed;
mod error;
mod experiment;
mod judge;
mod llm;
mod mechanism;
mod metrics;
mod report;
mod screen;
mod simulate;
mod stats;
mod text;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod for_caz_sql;
#[doc(hidden)]
pub mod for_tests;

// What is asked.
pub use screen::agreement::run::{AgreementRun, run as agree};
pub use screen::agreement::settings::AgreementSettings;
pub use screen::agreement::work::Row as AgreementRow;
pub use screen::assumptions::{AssumptionsRun, AssumptionsSettings, assumptions};
pub use screen::labels::rows::{MechanismScores, WorkerRow};
pub use screen::labels::settings::LabelsSettings;
pub use screen::labels::{LabelsRun, labels};
pub use screen::reviews::reviews;
pub use screen::reviews::rows::{ReviewerRow, RowDetail};
pub use screen::reviews::run::ReviewsRun;
pub use screen::reviews::settings::{By, Centering, ReviewsSettings};
pub use screen::vectors::written::VectorFormat;
pub use screen::vectors::{VectorsRun, vectors as embed};

// What it is asked of.
pub use data::duplicates::Duplicates;
pub use data::input::Input;
pub use data::label_rows::{LabelRow, Labels, ZLabelRow};
pub use data::labellers::{ClusterSource, LabellerFiles};
pub use data::observer::{Observer, Silent};
pub use data::progress::Progress;
pub use data::review_rows::{ReviewRow, Reviews, ZRow};
pub use data::source::Source;
pub use data::warning::Warning;

// How.
pub use embed::catalogue::{LocalModels, ModelSource};
pub use embed::settings::{EmbedderSettings, EmbedderSpec, Granularity};
pub use mechanism::catalogue::MechanismName;
pub use mechanism::options::{LearnFrom, SeveralSources};
pub use mechanism::scoring_function::ScoringFunction;
pub use text::pairs::ZCombine;
pub use text::score::ScoreName;

// Language models.
#[cfg(feature = "llm")]
pub use embed::catalogue::Served;
pub use judge::settings::JudgeSettings;
pub use llm::chat::{
    ChatAnswer, ChatModel, ChatRequest, FinishReason, Message, ResponseFormat, Role, Usage,
};
#[cfg(feature = "llm")]
pub use llm::embedding_model::EmbeddingModel;
pub use llm::error::ChatError;

// What comes out.
pub use error::{Error, ErrorKind, Result};
pub use report::file::{Readers, write_file};
#[cfg(feature = "html")]
pub use report::html::render::HtmlExporter;
#[cfg(feature = "html")]
pub use report::html::review_details::ReviewText as ReportText;
pub use report::table::{Cell, Table};
pub use report::text::TextExporter;
pub use report::{Exporter, Report};
pub use stats::flag::{Flag, OwnFlag};
pub use stats::interval::Estimate;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
