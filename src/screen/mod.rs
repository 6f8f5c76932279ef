//! What a user asks for, as a library: data and settings in, a run out that gives scores, evidence,
//! warnings, a report and a page.
//!
//! Nothing here prints, reads the environment or ends the process. Whoever asks hears of progress by
//! an [`Observer`](crate::data::observer::Observer) and hands in models behind servers as a
//! [`ModelSource`](crate::embed::catalogue::ModelSource). A run owns all it needs and can be sent to
//! another thread and kept.

pub(crate) mod agreement;
pub(crate) mod assumptions;
pub(crate) mod labels;
pub(crate) mod reviews;
pub(crate) mod vectors;
mod workers;
mod z_of_crowd;

pub(crate) use self::assumptions::{AssumptionsSettings, assumptions};
pub(crate) use self::labels::LabelsRun;
pub(crate) use self::reviews::{Asking, ReviewsRun, ReviewsSettings, Sentences, reviews_with};
pub(crate) use crate::text::score::ScoreName;

/// A sentence that closes every page about people.
#[cfg(feature = "html")]
pub(crate) const NOT_A_VERDICT: &str = "A flag is a reason to look, never a verdict: open a person, read what there is, and decide by \
     reading.";

/// What is said where nobody is flagged: that nobody stands out takes that somebody was looked at.
#[cfg(feature = "html")]
fn nobody<'a>(flags: impl Iterator<Item = Option<&'a str>> + Clone) -> &'static str {
    let judged = |flag: &str| !matches!(flag, "not_judged" | "too_few");
    let known = flags.flatten();
    let has = |wanted: &str| known.clone().any(|flag| flag == wanted);
    if known.clone().next().is_none() {
        "This score flags nobody; look at the lowest ranks"
    } else if !known.clone().any(judged) {
        "Nobody could be judged"
    } else if has("unsure") {
        "Nobody is flagged; some are unsure"
    } else if has("inconclusive") {
        "Nobody is flagged, and of some these data cannot tell"
    } else {
        "Nobody stands out"
    }
}
