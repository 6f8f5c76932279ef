//! `caz labels --engine`: the labels stay where they are, and an engine counts.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::ScoreLabelsArgs;
use crate::cli::common::Common;
use crate::cli::exit::{ExitStatus, UsageError};
use crate::error::Result;

/// Where the labels are counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum EngineChoice {
    /// In the memory of this process, all at once.
    #[default]
    Local,
    /// By `DataFusion` in this process.
    DataFusion,
    /// On a Ballista cluster with this scheduler, host and port.
    Ballista(String),
}

impl FromStr for EngineChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "local" => Ok(Self::Local),
            "datafusion" => Ok(Self::DataFusion),
            _ => match text.strip_prefix("ballista://") {
                Some(address) if !address.is_empty() && !address.contains('/') => {
                    Ok(Self::Ballista(address.to_owned()))
                }
                _ => Err("it is local, datafusion or ballista://HOST:PORT".into()),
            },
        }
    }
}

impl std::fmt::Display for EngineChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Local => f.write_str("local"),
            Self::DataFusion => f.write_str("datafusion"),
            Self::Ballista(address) => write!(f, "ballista://{address}"),
        }
    }
}

/// What a double counts one by one.
const MOST_BYTES: f64 = 9_007_199_254_740_992.0;

/// A number of bytes: `4GB`, `1.5GiB`, `1000000`.
pub(super) fn bytes(text: &str) -> Result<usize, String> {
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
#[cfg(feature = "distributed")]
pub(super) fn run(args: &ScoreLabelsArgs, common: &Common) -> Result<ExitStatus> {
    use crate::cli::output::{check_output, emit};
    use crate::cli::progress::{Terminal, doing};
    use crate::engine::{Place, Session};
    use crate::screen::labels::{LabelsSettings, labels_by_engine};

    common.resolved_format()?;
    check_output(common.output.as_deref())?;
    args.check_plan()?;
    check_files(args)?;
    let place = match &args.engine {
        EngineChoice::Ballista(scheduler) => {
            if common.offline {
                let message = "--offline forbids the connection to a cluster";
                return Err(UsageError(message.into()).into());
            }
            Place::Ballista { scheduler: scheduler.clone(), shared: args.shared_folder.clone() }
        }
        _ => Place::Here { memory_limit: args.memory_limit },
    };
    let reading = crate::data::label_reader::LabelReading::from(args.reading);
    let settings = LabelsSettings { mechanism: args.planned(), ..args.settings(common.seed) };
    let terminal = Terminal::new(common);
    let mut session = doing(common, "reading", || {
        Session::open(&args.labels, &args.z, reading.exact_labels, place, &terminal)
    })?;
    let run = labels_by_engine(&mut session, &settings, &terminal)?;
    let inputs = session.inputs().to_vec();
    emit(&run.report(inputs, &args.engine.to_string(), reading), common)?;
    Ok(ExitStatus::Done)
}

/// Says what is missing.
#[cfg(not(feature = "distributed"))]
pub(super) fn run(args: &ScoreLabelsArgs, _common: &Common) -> Result<ExitStatus> {
    args.check_plan()?;
    check_files(args)?;
    let message = format!(
        "this build of caz has no engine {}; build it with the feature `distributed` (`ballista` for a \
         cluster), or print the plan for an engine of your own: --print-sql",
        args.engine
    );
    Err(UsageError(message).into())
}

fn check_files(args: &ScoreLabelsArgs) -> Result<()> {
    let files = [&args.labels].into_iter().chain(&args.z);
    if files.map(PathBuf::as_path).any(|path| path == Path::new("-")) {
        return Err(UsageError("an engine reads files, not standard input".into()).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_and_bytes_are_read() {
        for text in ["local", "datafusion", "ballista://host:50050"] {
            assert_eq!(text.parse::<EngineChoice>().unwrap().to_string(), text);
        }
        for text in ["", "spark", "ballista://", "ballista://host:1/path"] {
            assert!(text.parse::<EngineChoice>().is_err(), "{text}");
        }
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
