//! How well LLMs or people agree with gold labels, with people, or with each other.
//!
//! [`run()`] reads the labels and measures; the [`AgreementRun`] has the rows of the result, a
//! [`Report`](crate::report::Report) of them and, with the feature `html`, a page.
//! [`plan`] says how many items to label again.
//! [`rankings`] compares two rankings of the same runs, [`retrieval`] makes them of runs and labels.

mod alternative;
mod as_z;
mod best;
mod compare;
mod costs;
mod error;
mod group;
#[cfg(feature = "html")]
mod page;
mod panel;
pub mod plan;
pub mod prompts;
pub mod rankings;
mod reference;
mod report;
pub mod retrieval;
mod run;
mod settings;
mod work;

pub use self::alternative::AltResult;
pub use self::as_z::AsZSettings;
pub use self::best::{Best, Next};
pub use self::compare::{Change, Lost};
pub use self::error::AgreementError;
pub use self::panel::Panel;
pub use self::report::COLUMNS;
pub use self::run::{AgreementRun, Disagreement, Measured, run};
pub use self::settings::{
    AgreementSettings, AltTestSettings, Closeness, Compare, Cut, GoldBy, Outside, Relation,
    Requirement,
};
pub use self::work::Row;

#[cfg(test)]
mod tests;
