//! The library from outside: against other implementations, on real models and real data.
//!
//! One program for all, because each costs a link of everything.

mod coverage_labels;
mod facade;
#[cfg(any(feature = "llm", feature = "bert"))]
mod fuzz;
mod messages;
#[cfg(feature = "bert")]
mod minilm;
mod models;
mod real_agreement;
mod real_answers;
#[cfg(feature = "bert")]
mod real_model;
mod real_own;
mod real_reviewers;
mod real_reviews;
mod tfidf;
#[cfg(feature = "bert")]
mod wordpiece;
