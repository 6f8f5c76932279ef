//! Experiments: what a mechanism can do on given data, by trial or by test.
//!
//! [`detection`], [`sample_size`] and [`multi_llm`] contaminate a crowd many times and ask how well
//! each mechanism of [`contenders`] tells the good workers from the others; [`trials`] runs them,
//! [`auc_summary`] says what came out. [`reviewers`] does the same for scores of texts, which
//! [`review_scores`] lists. [`assumptions`] tests whether conditioning can work at all.

pub mod assumptions;
pub mod auc_summary;
pub mod contenders;
pub mod detection;
pub mod multi_llm;
pub mod review_scores;
pub mod reviewers;
pub mod sample_size;
pub mod trials;
