//! `own`: is this the reviewer's own work? Ghosts planted in the chair's own data.
//!
//! A score without a scale does not help a chair. So texts that nobody wrote for their slot
//! (ghosts) are put into every slot of the venue at hand, and what a reviewer handed in is compared
//! with where people and ghosts stand. Nobody's label is used and nothing is trained elsewhere.
//!
//! A text `V` in the slot of reviewer `i` on paper `p` has two coordinates in every space of
//! vectors, minus the mean of the reviews and scaled to length 1:
//!
//! ```text
//! peers(V) = mean cos(V, other reviews of p) - mean cos(V, reviews of other papers)
//! z(V)     = mean over sources s of [ cos(V, Z_sp) - mean over other papers p' of cos(V, Z_sp') ]
//! ```
//!
//! Of long texts that do not quote the task `z` is the mean of the same by words and by pairs of neighbouring words.
//!
//! Each class of [`Class`] has a Student t density of these coordinates: that of the ghosts fitted to
//! them, that of own work by EM over reviewers. Reviews of one reviewer are independent given the
//! class; `P(own)` follows by Bayes. `docs/own.md` has the whole method and what was measured.
//!
//! # Use
//!
//! [`plant`] makes the ghosts; embed [`Planted::texts`] (or take a vector of your own for each),
//! once per embedder; [`own_scores`] does the rest. [`tfidf_vectors`] is the embedding that needs no
//! model and is best of those measured.

mod class;
mod copied;
mod cut;
mod duplicates;
mod error;
mod features;
mod flags;
pub(crate) mod ghosts;
mod language;
mod model;
mod other_paper;
mod people_z;
mod prevalence;
mod result;
mod scene;
pub(crate) mod scores;
pub(crate) mod settings;
mod space;
mod venue;
mod verdict;
mod warnings;
pub(crate) mod z_check;

pub(crate) use class::Class;
pub(crate) use copied::is_copied;
pub(crate) use cut::has_fewer_words;
pub(crate) use duplicates::NearDuplicate;
#[cfg(test)]
pub(crate) use duplicates::near_duplicates;
#[cfg(test)]
pub(crate) use error::OwnError;
pub(crate) use features::Features;
pub(crate) use ghosts::{Planted, plant};
pub(crate) use other_paper::OtherPaper;
pub(crate) use result::{
    Closest, GhostRate, NotJudged, OwnFlag, OwnReview, OwnReviewer, OwnScores, Posterior,
    Prevalence, Share,
};
pub(crate) use scores::{own_scores, tfidf_vectors};
pub(crate) use settings::{ENOUGH_PAPERS, ENOUGH_REVIEWERS, OwnSettings};
pub(crate) use z_check::{TextChecks, UnusableZ, check_texts};

#[cfg(test)]
mod tests;
