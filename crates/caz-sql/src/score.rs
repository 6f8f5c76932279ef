//! `caz-sql score`: the labels stay where they are, and an engine counts.

use std::path::PathBuf;

use caz::Result;
#[cfg(not(feature = "datafusion"))]
use caz::cli::UsageError;
use caz::cli::{Common, ExitStatus};
use caz::for_caz_sql::{FALSE_DISCOVERY_RATE, MIN_TASKS};
use clap::Args;

use super::PlanArgs;

/// Score crowd workers by labels that do not fit in memory
///
/// Reads Parquet, CSV and TSV, folders of Parquet files, and s3://, gs://, az://.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  caz-sql score labels/ --z z.parquet --mechanism ca_z,neg_z --memory-limit 4GB -o scores.parquet
  caz-sql score s3://bucket/labels/ --z s3://bucket/z.parquet --scheduler host:50050 -o scores.csv")]
pub(super) struct ScoreArgs {
    #[command(flatten)]
    plan: PlanArgs,
    /// Fewer tasks behind a score than this give the flag too_few
    #[arg(long, value_name = "N", default_value_t = MIN_TASKS)]
    min_tasks: usize,
    /// False discovery rate of the flag informative
    #[arg(long, value_name = "F", default_value_t = FALSE_DISCOVERY_RATE)]
    fdr: f64,
    /// Bound of the flag uninformative [default: a quarter of the median score]
    #[arg(long, value_name = "F")]
    margin: Option<f64>,
    /// Compare labels as they are written: case, spaces and Unicode forms count, NaN is a label
    #[arg(long)]
    exact_labels: bool,
    /// Bytes that are held in memory before the rest goes to disk, e.g. 4GB
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    memory_limit: Option<usize>,
    /// Count on the Ballista cluster with this scheduler
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "memory_limit")]
    scheduler: Option<String>,
    /// Folder that this machine and all executors share, where ds keeps what it counts; removed in the end
    #[arg(long, value_name = "FOLDER", requires = "scheduler")]
    shared_folder: Option<PathBuf>,
}

/// What a double counts one by one.
const MOST_BYTES: f64 = 9_007_199_254_740_992.0;

/// A number of bytes: `4GB`, `1.5GiB`, `1000000`.
fn bytes(text: &str) -> Result<usize, String> {
    let wrong = || "it is a number of bytes such as 4GB, 1.5GB or 512MiB".to_owned();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit: u32 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" | "g" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let bytes = (number * f64::from(unit)).floor();
    if !(1.0..=MOST_BYTES).contains(&bytes) {
        return Err("it is out of range".into());
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 1 to 2^53"
    )]
    let bytes = bytes as usize;
    Ok(bytes)
}

/// Scores by the engine asked for.
#[cfg(feature = "datafusion")]
pub(super) fn run(args: &ScoreArgs, common: &Common) -> Result<ExitStatus> {
    use std::path::Path;

    use caz::cli::UsageError;
    use caz::for_caz_sql::{LabelReading, Terminal, check_output, doing, emit};
    use caz::{LabelsSettings, LearnFrom};
    use caz_sql::{Place, Session, labels_by_engine};

    common.resolved_format()?;
    check_output(common.output.as_deref())?;
    let plan = &args.plan;
    if plan.z.iter().chain([&plan.labels]).any(|path| path == Path::new("-")) {
        return Err(UsageError("an engine reads files, not standard input".into()).into());
    }
    let fits = args.scheduler.is_none() || args.shared_folder.is_some();
    let mut settings = LabelsSettings::default();
    settings.mechanism = plan.mechanisms(fits)?;
    settings.min_tasks = args.min_tasks;
    settings.fdr = args.fdr;
    settings.margin = args.margin;
    settings.learn_from = LearnFrom::All;
    settings.max_iterations = plan.max_iterations;
    settings.seed = common.seed;
    let (place, engine) = match &args.scheduler {
        Some(_) if common.offline => {
            let message = "--offline forbids the connection to a cluster";
            return Err(UsageError(message.into()).into());
        }
        Some(scheduler) => {
            let shared = args.shared_folder.clone();
            let place = Place::Ballista { scheduler: scheduler.clone(), shared };
            (place, format!("ballista://{scheduler}"))
        }
        None => (Place::Here { memory_limit: args.memory_limit }, "datafusion".to_owned()),
    };
    let reading = LabelReading { exact_labels: args.exact_labels, ..LabelReading::default() };
    let terminal = Terminal::new(common);
    let mut session = doing(common, "reading", || {
        Session::open(&plan.labels, &plan.z, args.exact_labels, place, &terminal)
    })?;
    let run = labels_by_engine(&mut session, &settings, &terminal)?;
    let inputs = session.inputs().to_vec();
    emit(&run.report(inputs, &engine, reading), common)?;
    Ok(ExitStatus::Done)
}

/// Says what is missing.
#[cfg(not(feature = "datafusion"))]
pub(super) fn run(_args: &ScoreArgs, _common: &Common) -> Result<ExitStatus> {
    let message = "this build of caz-sql only prints the plan; build it with the feature `datafusion` (`ballista` \
                   for a cluster), or give what caz-sql print says to an engine of your own";
    Err(UsageError(message.into()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read() {
        assert_eq!(bytes("4GB"), Ok(4_000_000_000));
        assert_eq!(bytes("1.5GB"), Ok(1_500_000_000));
        assert_eq!(bytes("0.5 GiB"), Ok(1 << 29));
        assert_eq!(bytes("512 MiB"), Ok(512 << 20));
        assert_eq!(bytes("7"), Ok(7));
        for text in
            ["", "GB", "-1", "4 parsecs", "0", "0.4", ".", "1.2.3GB", "99999999999999999999GB"]
        {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
