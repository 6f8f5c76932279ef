//! Experiments: what a mechanism can do on given data, by trial or by test.
//!
//! [`crowd`] and [`reviews`] are whole runs: settings and data in, a run with table, raw trials,
//! figures and page out. What they are made of: [`detection`], [`sample_size`] and [`multi_llm`]
//! contaminate a crowd many times and ask how well each mechanism of [`contenders`] tells the good
//! workers from the others; [`reviewers`] does the same for scores of texts, which
//! [`crate::text::scorer`] lists; [`trials`] runs them, [`auc_summary`] says what came out.
//! [`own_calibration`] and [`own_labels`] ask whether flags keep their promise. [`assumptions`] tests whether
//! conditioning can work at all. [`judges`] and [`feedback`] measure judges of pairs and models that
//! are given feedback, from recorded verdicts and runs.

pub mod assumptions;
pub mod auc_summary;
pub mod contenders;
pub mod crowd;
pub mod detection;
pub mod embeddings;
pub mod feedback;
pub mod figures;
pub mod judges;
pub mod multi_llm;
pub mod own_calibration;
pub mod own_labels;
#[cfg(feature = "html")]
mod page;
pub mod planted_copies;
pub mod reviewers;
pub mod reviews;
pub mod sample_size;
pub mod trials;
