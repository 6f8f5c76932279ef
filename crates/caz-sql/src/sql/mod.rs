//! The plan as SQL: every query of [`Engine`](super::Engine) from join, group by, count, sum, case.
//!
//! A query is a list of [`Step`]s, each a relation with a name that later ones use. The relations
//! below all are `labels(task, worker, label)` and `z(task, label, source, sample)`. Counts are
//! integers, so that engines differ in the last digits of two sums only: terms and shares.
//!
//! One file per kind of query: `crowd`, `correlated`, `pairs`, `dawid_skene`.

mod correlated;
mod crowd;
pub(super) mod dawid_skene;
mod dialect;
mod pairs;
mod text;

#[cfg(feature = "datafusion")]
pub(super) use self::correlated::{given_agreements, pairs, reports, sizes, terms, terms_name};
#[cfg(feature = "datafusion")]
pub(super) use self::crowd::{majority, workers};
pub use self::dialect::Dialect;
#[cfg(feature = "datafusion")]
pub(super) use self::pairs::{covered, output_agreement};
#[cfg(feature = "datafusion")]
pub(super) use self::text::quoted;
pub use self::text::{Files, Script, TableFile, script};

/// A relation of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// What it holds, in a line.
    pub about: &'static str,
    /// Whether it is worth keeping: several steps read it, or it costs much.
    pub kept: bool,
    /// The query.
    pub select: String,
}

impl Step {
    fn view(name: impl Into<String>, about: &'static str, select: String) -> Self {
        Self { name: name.into(), about, kept: false, select }
    }

    fn table(name: impl Into<String>, about: &'static str, select: String) -> Self {
        Self { name: name.into(), about, kept: true, select }
    }
}
