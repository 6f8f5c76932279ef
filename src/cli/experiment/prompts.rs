//! `caz experiment prompts`: which prompt labels best?

use std::path::PathBuf;

use clap::Args;

use super::super::common::Common;
use super::super::exit::{ExitStatus, UsageError};
use super::super::exports::ExportArgs;
use super::super::output::{check_output, emit};
use super::super::page::PageArgs;
use super::super::progress::Terminal;
use super::super::reviews::DuplicatesChoice;
use crate::data::import::Wanted;
use crate::data::labellers::{ClusterSource, LabellerFiles};
use crate::data::source::Source;
use crate::error::Result;
use crate::metrics::agreement::bootstrap::DRAWS;
use crate::screen::agreement::prompts::{PromptStudySettings, page, study};
use crate::screen::agreement::{AgreementSettings, ScaleChoice};

/// Which prompt labels best, from recorded labels of several prompts
///
/// A prompt is named by the letters of its features, and after a slash by its wording: DNA, DNA/2,
/// none. R role, D description, N narrative, A aspects, M several judges imagined. Any other name
/// is a prompt of your own. No model is asked.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz experiment prompts labels.csv --gold gold.csv --scale 0..2 --binarize 1")]
pub(super) struct PromptsArgs {
    /// Labels: task, source, prompt, label
    labels: PathBuf,
    /// Labels to hold them against: task, label, optional worker (the majority counts)
    #[arg(long, value_name = "FILE")]
    gold: PathBuf,
    /// Length of the items, for the slope of the error: task, length
    #[arg(long, value_name = "FILE")]
    lengths: Option<PathBuf>,
    /// Which labels there are: LOW..HIGH, nominal, or A,B,C [default: numbers if gold is numbers]
    #[arg(long, value_name = "SCALE", allow_hyphen_values = true)]
    scale: Option<ScaleChoice>,
    /// Cut the scale: labels of at least K against the others
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    binarize: Option<f64>,
    /// Tasks that belong together, drawn as one: a file with task, cluster
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// Splits of the tasks in two behind the regret
    #[arg(long, value_name = "N", default_value_t = 1000)]
    splits: u32,
    /// Bootstrap draws behind every interval
    #[arg(long, value_name = "B", default_value_t = DRAWS, value_parser = clap::value_parser!(u32).range(2..))]
    bootstrap: u32,
    /// What to do with a second label of the same prompt for the same task
    #[arg(long, value_enum, default_value_t)]
    duplicates: DuplicatesChoice,
    #[command(flatten)]
    exports: ExportArgs,
    #[command(flatten)]
    page: PageArgs,
}

/// Runs the command.
pub(super) fn run(args: &PromptsArgs, common: &Common) -> Result<ExitStatus> {
    common.resolved_format()?;
    check_output(common.output.as_deref())?;
    args.page.check(common)?;
    if args.binarize.is_some_and(|cut| !cut.is_finite()) {
        return Err(UsageError("--binarize must be a finite number".into()).into());
    }
    let mut opener = args.exports.opener()?;
    let labels = opener.first(Source::read(&args.labels)?, Wanted::JudgedLabels)?;
    let gold = opener.beside(Source::read(&args.gold)?, Wanted::Gold)?;
    let read = |path: &PathBuf| Source::read(path);
    let lengths = args.lengths.as_ref().map(read).transpose()?;
    let clusters = args.cluster.as_ref().map(read).transpose()?;
    let files = LabellerFiles {
        labels: &labels,
        gold: Some(&gold),
        since: None,
        clusters: clusters.as_ref().map(ClusterSource::File),
    };
    let settings = PromptStudySettings {
        agreement: AgreementSettings {
            scale: args.scale.clone().unwrap_or(ScaleChoice::Auto),
            binarize: args.binarize,
            duplicates: args.duplicates.into(),
            import: args.exports.settings()?,
            draws: args.bootstrap,
            seed: common.seed,
            ..AgreementSettings::default()
        },
        splits: args.splits,
    };
    let mut report = study(&files, lengths.as_ref(), &settings, &Terminal::new(common))?;
    report.warnings.splice(0..0, opener.finish()?.1);
    args.page.write(common, &report, || Ok(page(&report)))?;
    emit(&report, common)?;
    Ok(ExitStatus::Done)
}
