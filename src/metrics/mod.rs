//! How well a score does what it should, given the truth; how well a labeller agrees with people;
//! how alike two rankings are; how good a ranking of documents is.

pub mod agreement;
pub mod alternative_annotator;
pub mod auc;
pub mod correlation;
pub mod rankings;
pub mod retrieval;
