//! Runs many seeded trials on all threads, and keeps those that are finished.
//!
//! A trial is one repetition at one point of a grid. It draws all its random numbers from streams
//! of its own ([`TrialId::stream`]), so that the order in which threads reach it does not matter.
//! Trials are numbered repetition by repetition, all points of a repetition together, so that
//! more repetitions only append and an unfinished run covers the points evenly.
//!
//! With a [`TrialLog`] every finished trial is appended to a file, in the order of the trials: a
//! finished trial waits in memory until those before it are finished, at most as many as there
//! are threads. However a run ends, the file holds the first trials and a later run can go on;
//! the bytes are those of a run that was not interrupted.

mod grid;
mod log;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::data::progress::Progress;
use crate::data::work::{Next, in_order};
use crate::error::{ErrorKind, Kinded, Remedy};

pub(crate) use self::grid::{TrialGrid, TrialId};
pub(crate) use self::log::{LogError, TrialFile, TrialLog};

/// Why trials could not be run or kept. `E` is what a trial reports.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError<E: Kinded> {
    /// A trial failed; of several the first.
    #[error("trial {repetition} at point {point} of the grid failed")]
    Trial {
        /// Repetition, from 0.
        repetition: u32,
        /// Point of the grid, from 0.
        point: u32,
        /// What it reported.
        #[source]
        source: E,
    },
    /// The log could not be used.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The run was asked to stop; the finished trials are in the log, if there is one.
    #[error("interrupted after {finished} of {trials} trials")]
    Interrupted {
        /// Trials that are finished.
        finished: u64,
        /// Trials that were asked for.
        trials: u64,
    },
    /// The system gave no threads.
    #[error("cannot start threads")]
    Threads {
        /// What the system said.
        #[source]
        source: rayon::ThreadPoolBuildError,
    },
}

impl<E: Kinded> Kinded for TrialError<E> {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Trial { source, .. } => source.kind(),
            Self::Log(error) => error.kind(),
            Self::Interrupted { .. } => ErrorKind::Interrupted,
            Self::Threads { .. } => ErrorKind::Usage,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Trial { source, .. } => source.remedy(),
            Self::Log(error) => error.remedy(),
            Self::Interrupted { .. } => None,
            Self::Threads { .. } => Some(Remedy::FewerThreads),
        }
    }
}

/// Runs all trials of `grid` that `log` does not hold yet, on the threads of the current rayon
/// pool, and returns the results of all, repetition by repetition.
///
/// `trial` must depend on its [`TrialId`] alone. What it runs in parallel itself runs on one
/// thread. `progress` hears of each trial, of those in the log at once.
///
/// # Errors
///
/// [`TrialError::Trial`] with the first trial that failed; those before it are in the log.
/// [`TrialError::Log`] if the log cannot be read or written. [`TrialError::Interrupted`] if
/// `progress` asked to stop.
pub(crate) fn run_trials<T, E>(
    grid: TrialGrid,
    log: Option<TrialLog>,
    progress: &dyn Progress,
    trial: impl Fn(TrialId) -> Result<T, E> + Sync,
) -> Result<Vec<T>, TrialError<E>>
where
    T: Serialize + DeserializeOwned + Send,
    E: Kinded,
{
    let mut log = log;
    let mut results: Vec<T> =
        log.as_ref().map(|log| log.read(grid)).transpose()?.unwrap_or_default();
    progress.advance(results.len() as u64);
    let jobs = results.len()..usize::try_from(grid.trials()).unwrap_or(usize::MAX);
    let threads = rayon::current_num_threads().clamp(1, jobs.len().max(1));
    // A pool of one thread each: a thread that waits for a part of its trial in a common pool would
    // start other trials, and its own would finish last.
    let pools = (0..threads)
        .map(|_| rayon::ThreadPoolBuilder::new().num_threads(1).build())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| TrialError::Threads { source })?;
    let work = |job: usize, pool: &mut &rayon::ThreadPool| {
        let result = pool.install(|| trial(grid.id(job as u64)));
        progress.advance(1);
        result
    };
    let mut failed = None;
    let accept = |result: Result<T, E>| {
        let id = grid.id(results.len() as u64);
        match result {
            // Those that were under way when the run failed.
            _ if failed.is_some() => {}
            Err(source) => {
                let TrialId { repetition, point } = id;
                failed = Some(TrialError::Trial { repetition, point, source });
            }
            Ok(result) => {
                let logged = log.as_mut().map_or(Ok(()), |log| log.append(id, &result));
                failed = logged.err().map(TrialError::from);
                results.push(result);
            }
        }
        if failed.is_some() { Next::Stop } else { Next::GoOn }
    };
    let interrupted = || progress.interrupted();
    in_order(jobs, threads, &interrupted, |n| &pools[n], work, |_| Next::Stop, accept);
    match failed {
        Some(error) => Err(error),
        None if (results.len() as u64) < grid.trials() => {
            let finished = results.len() as u64;
            Err(TrialError::Interrupted { finished, trials: grid.trials() })
        }
        None => Ok(results),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::data::progress::NoProgress;
    use rand::RngExt;
    use serde_json::json;

    #[derive(Debug, thiserror::Error)]
    #[error("bad luck")]
    struct BadLuck;

    impl Kinded for BadLuck {
        fn kind(&self) -> ErrorKind {
            ErrorKind::Input
        }
    }

    const GRID: TrialGrid = TrialGrid { points: 3, repetitions: 40 };

    #[expect(clippy::unnecessary_wraps, reason = "trials may fail")]
    fn draw(id: TrialId) -> Result<f64, BadLuck> {
        Ok(id.stream(7, "test").random_range(0.0..1.0))
    }

    fn run(log: Option<TrialLog>, grid: TrialGrid, threads: usize) -> Vec<f64> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run_trials(grid, log, &NoProgress, draw)).unwrap()
    }

    fn open(path: &Path, resume: bool) -> Result<TrialLog, LogError> {
        TrialLog::open(path, &json!({ "seed": 7, "settings": { "share": 0.1 } }), resume)
    }

    #[test]
    fn trials_are_distinct_and_ordered_by_repetition() {
        let results = run(None, GRID, 1);
        assert_eq!(results.len(), 120);
        let id = TrialId { repetition: 2, point: 1 };
        assert_eq!(results[7].to_bits(), draw(id).unwrap().to_bits());
        let mut sorted = results;
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn the_file_has_the_same_bytes_for_any_threads_interruption_and_growth() {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("whole.jsonl");
        let expected = run(Some(open(&whole, false).unwrap()), GRID, 1);
        let bytes = std::fs::read(&whole).unwrap();

        let threads = folder.path().join("threads.jsonl");
        assert_eq!(run(Some(open(&threads, false).unwrap()), GRID, 4), expected);
        assert_eq!(std::fs::read(&threads).unwrap(), bytes);

        for cut in [0, 10, bytes.len() / 3, bytes.len() - 1, bytes.len()] {
            let path = folder.path().join(format!("cut{cut}.jsonl"));
            std::fs::write(&path, &bytes[..cut]).unwrap();
            assert_eq!(run(Some(open(&path, true).unwrap()), GRID, 3), expected, "{cut}");
            assert_eq!(std::fs::read(&path).unwrap(), bytes, "{cut}");
        }

        let grown = folder.path().join("grown.jsonl");
        let less = TrialGrid { repetitions: 10, ..GRID };
        assert_eq!(run(Some(open(&grown, false).unwrap()), less, 2), expected[..30]);
        assert_eq!(run(Some(open(&grown, true).unwrap()), GRID, 2), expected);
        assert_eq!(std::fs::read(&grown).unwrap(), bytes);
        assert_eq!(run(Some(open(&grown, true).unwrap()), less, 2), expected[..30]);
        assert_eq!(std::fs::read(&grown).unwrap(), bytes);
    }

    #[test]
    fn finished_trials_are_read_and_not_run_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let expected = run(Some(open(&path, false).unwrap()), GRID, 1);
        let log = open(&path, true).unwrap();
        assert_eq!(log.finished(), 120);
        let never = |_| -> Result<f64, BadLuck> { Err(BadLuck) };
        assert_eq!(run_trials(GRID, Some(log), &NoProgress, never).unwrap(), expected);
    }

    #[test]
    fn the_first_failure_is_reported_and_earlier_trials_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let log = open(&path, false).unwrap();
        let failing = |id: TrialId| if id.repetition >= 5 { Err(BadLuck) } else { draw(id) };
        let error = run_trials(GRID, Some(log), &NoProgress, failing).unwrap_err();
        assert!(matches!(error, TrialError::Trial { repetition: 5, point: 0, .. }), "{error}");
        assert_eq!(open(&path, true).unwrap().finished(), 15);
    }

    /// Asks to stop after some trials.
    struct Impatient {
        seen: std::sync::atomic::AtomicU64,
        patience: u64,
    }

    impl Progress for Impatient {
        fn advance(&self, items: u64) {
            self.seen.fetch_add(items, std::sync::atomic::Ordering::SeqCst);
        }

        fn interrupted(&self) -> bool {
            self.seen.load(std::sync::atomic::Ordering::SeqCst) >= self.patience
        }
    }

    #[test]
    fn an_interrupted_run_keeps_the_first_trials_and_goes_on_to_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("whole.jsonl");
        let expected = run(Some(open(&whole, false).unwrap()), GRID, 2);
        let path = folder.path().join("t.jsonl");
        let stopping = Impatient { seen: 0.into(), patience: 17 };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let log = open(&path, false).unwrap();
        let error = pool.install(|| run_trials(GRID, Some(log), &stopping, draw)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        let TrialError::Interrupted { finished, trials: 120 } = error else { panic!("{error}") };
        assert!((17..=19).contains(&finished), "one under way per thread: {finished}");
        let log = open(&path, true).unwrap();
        assert_eq!(log.finished() as u64, finished);
        assert_eq!(run(Some(log), GRID, 2), expected);
        assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&whole).unwrap());
    }

    #[test]
    fn a_changed_line_is_named_and_its_trial_run_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let expected = run(Some(open(&path, false).unwrap()), GRID, 1);
        let whole = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = whole.lines().collect();
        // A digit of a result, a line cut short, one that is no JSON, and one without a sum.
        let result = lines[5].rfind(|c: char| c.is_ascii_digit()).unwrap();
        let mut changed = lines[5].to_owned();
        let other = if changed[result..].starts_with('7') { "8" } else { "7" };
        changed.replace_range(result..=result, other);
        for bad in [changed.as_str(), &lines[5][..20], "x", "", "{\"repetition\":1}"] {
            let damaged = [&lines[..5], &[bad], &lines[6..]].concat().join("\n");
            std::fs::write(&path, format!("{damaged}\n")).unwrap();
            let log = open(&path, true).unwrap();
            assert_eq!(log.finished(), 4);
            let warning = log.damaged().unwrap().message;
            assert!(warning.contains("line 6"), "{warning}");
            assert_eq!(run(Some(log), GRID, 2), expected);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
        }
        assert!(open(&path, true).unwrap().damaged().is_none());
    }

    #[test]
    fn files_of_other_runs_are_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        run(Some(open(&path, false).unwrap()), GRID, 1);
        let bytes = std::fs::read(&path).unwrap();
        assert!(matches!(open(&path, false), Err(LogError::Exists { .. })));
        let other = json!({ "seed": 7, "settings": { "share": 0.2 } });
        let error = TrialLog::open(&path, &other, true).unwrap_err();
        assert!(matches!(&error, LogError::OtherRun { field, .. } if field == "settings"));
        let log = open(&path, true).unwrap();
        let fewer = TrialGrid { points: 2, ..GRID };
        let error = run_trials(fewer, Some(log), &NoProgress, draw).unwrap_err();
        assert!(matches!(error, TrialError::Log(LogError::NotATrial { line: 4, .. })), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }

    #[test]
    fn no_points_and_no_repetitions_give_no_trials() {
        assert!(run(None, TrialGrid { points: 0, repetitions: 5 }, 2).is_empty());
        assert!(run(None, TrialGrid { points: 2, repetitions: 0 }, 2).is_empty());
    }
}
