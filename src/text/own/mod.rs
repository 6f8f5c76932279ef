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
//! Each class of [`Class`] has a Student t density of these coordinates: that of the ghosts fitted to
//! them, that of own work by EM over reviewers. Reviews of one reviewer are independent given the
//! class; `P(own)` follows by Bayes. `docs/own.md` has the whole method and what was measured.
//!
//! # Use
//!
//! [`plant`] makes the ghosts; embed [`Planted::texts`] (or take a vector of your own for each of
//! [`Planted::origins`]), once per embedder; [`own_scores`] does the rest. [`tfidf_vectors`] is the
//! embedding that needs no model and is best of those measured.

mod class;
mod copied;
mod cut;
mod duplicates;
mod error;
mod features;
mod flags;
mod ghosts;
mod language;
mod model;
mod other_paper;
mod people_z;
mod prevalence;
mod result;
mod scene;
mod scores;
mod settings;
mod space;
mod venue;
mod verdict;
mod z_check;

pub use class::Class;
pub use copied::is_copied;
pub use cut::count_words;
pub use duplicates::{NearDuplicate, near_duplicates};
pub use error::OwnError;
pub use features::{Features, Similar};
pub use ghosts::{Planted, TextOrigin, plant};
pub use other_paper::OtherPaper;
pub use result::{
    Closest, GhostPoint, GhostRate, NotJudged, OwnFlag, OwnReview, OwnReviewer, OwnScores,
    OwnWarning, Passage, PlantedRates, Posterior, Prevalence, Share,
};
pub use scores::{own_scores, tfidf_vectors};
pub use settings::{ENOUGH_PAPERS, ENOUGH_REVIEWERS, OwnSettings};
pub use z_check::{TextChecks, UnusableZ, check_texts};

#[cfg(test)]
mod tests;
