//! How well a score does what it should, given the truth; how well a labeller agrees with people;
//! how alike two rankings are; how good a ranking of documents is.

pub(crate) mod agreement;
pub(crate) mod alternative_annotator;
pub(crate) mod auc;
pub(crate) mod correlation;
pub(crate) mod rankings;
pub(crate) mod retrieval;
