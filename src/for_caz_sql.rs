//! What the crate `caz-sql` uses beside the documented interface: what a score means is said in one place, here.
//! No promise goes with it: both crates have one version.

#[cfg(feature = "cli")]
pub use crate::cli::output::{check_output, emit, write_public_output, write_stdout};
#[cfg(feature = "cli")]
pub use crate::cli::program;
#[cfg(feature = "cli")]
pub use crate::cli::progress::{Terminal, doing};
use crate::data::answers::Answered;
pub use crate::data::excerpt::excerpt;
pub use crate::data::ids::alike;
pub use crate::data::interruption::Interrupted;
pub use crate::data::label_reader::LabelReading;
pub use crate::data::label_reader::{LABEL, SAMPLE, SOURCE, TASK, WORKER};
pub use crate::data::labels::MAX_LABELS;
pub use crate::data::parquet::MAGIC as PARQUET_MAGIC;
#[cfg(feature = "parquet")]
pub use crate::data::parquet::reading::{opened, row_group};
pub use crate::data::problem::{DataError, Problem, Problems};
pub use crate::data::rows::{Column, header};
pub use crate::data::source::stem_of;
pub use crate::data::z::by_name;
pub use crate::error::{Context, Kinded, Remedy};
pub use crate::mechanism::catalogue::build;
pub use crate::mechanism::dawid_skene::{convergence_warning, point};
pub use crate::mechanism::latent_class::{IMPOSSIBLE_BELOW, has_converged};
pub use crate::mechanism::minimum::keep_lowest;
pub use crate::mechanism::options::{EmSettings, MAX_ITERATIONS, MechanismOptions};
pub use crate::mechanism::scoring_function::Joint;
pub use crate::mechanism::strata::StratifiedMean;
pub use crate::mechanism::{Fit, MechanismError, Scores, WorkerScore};
pub use crate::report::settings_map;
pub use crate::screen::labels::report::{left_out, scope_of, table_of};
pub use crate::screen::labels::settings::MIN_TASKS;
pub use crate::stats::flag::FALSE_DISCOVERY_RATE;
pub use crate::stats::moments::Moments;

/// Whether the readers take a cell for the label that is written in it, and neither for nothing nor for a set.
pub fn is_one_label(cell: &str) -> bool {
    Answered::in_cell(cell) == Answered::Label(cell.to_owned())
}
