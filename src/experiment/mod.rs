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

pub(crate) mod assumptions;
pub(crate) mod auc_summary;
pub(crate) mod contenders;
pub(crate) mod crowd;
pub(crate) mod detection;
pub(crate) mod embeddings;
pub(crate) mod feedback;
pub(crate) mod figures;
pub(crate) mod judges;
pub(crate) mod multi_llm;
pub(crate) mod own_calibration;
pub(crate) mod own_labels;
#[cfg(feature = "html")]
mod page;
pub(crate) mod planted_copies;
pub(crate) mod reviewers;
pub(crate) mod reviews;
pub(crate) mod sample_size;
pub(crate) mod trials;
