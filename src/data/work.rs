//! One queue of numbered jobs for many threads, whose results come out in the order of the jobs.
//!
//! Jobs are begun in order, and one that was begun is finished. So whatever stops a run, a failure
//! or a request to stop, the jobs that were done are the first ones, and a later run can go on.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// What became of one item.
#[derive(Debug)]
pub enum Outcome<T, E> {
    /// It worked.
    Done(T),
    /// It failed; others may work.
    Failed(E),
    /// It was not begun, because the run was stopped.
    NotBegun,
}

/// Whether a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// With the next job.
    GoOn,
    /// No further job is begun; those under way are finished.
    Stop,
}

/// Work that nobody interrupts.
pub fn never() -> bool {
    false
}

/// Does `jobs` on at most `threads` threads, each with a `workspace` of its own that is made from
/// the number of the thread.
///
/// No further job is begun once `interrupted` or `after_failure` says so. `accept` gets every
/// result in the order of the jobs, as soon as those before it are there, and may stop the run,
/// too; results that follow are still handed to it. At most as many results wait in memory as
/// there are threads.
pub(crate) fn in_order<W, T: Send, E: Send>(
    jobs: Range<usize>,
    threads: usize,
    interrupted: &(dyn Fn() -> bool + Sync),
    workspace: impl Fn(usize) -> W + Sync,
    work: impl Fn(usize, &mut W) -> Result<T, E> + Sync,
    after_failure: impl Fn(&E) -> Next + Sync,
    accept: impl FnMut(Result<T, E>) -> Next + Send,
) {
    let threads = threads.clamp(1, jobs.len().max(1));
    let (next, stopped) = (AtomicUsize::new(jobs.start), AtomicBool::new(false));
    let sink = Mutex::new(Sink { next: jobs.start, waiting: BTreeMap::new(), accept });
    let take = || {
        if stopped.load(Ordering::Relaxed) || interrupted() {
            return None;
        }
        Some(next.fetch_add(1, Ordering::Relaxed)).filter(|job| *job < jobs.end)
    };
    let thread = |number: usize| {
        let mut workspace = workspace(number);
        while let Some(job) = take() {
            let result = work(job, &mut workspace);
            let fatal = result.as_ref().is_err_and(|error| after_failure(error) == Next::Stop);
            if fatal {
                stopped.store(true, Ordering::Relaxed);
            }
            let mut sink = sink.lock().unwrap_or_else(PoisonError::into_inner);
            if sink.take(job, result) == Next::Stop {
                stopped.store(true, Ordering::Relaxed);
            }
        }
    };
    if threads == 1 {
        return thread(0);
    }
    std::thread::scope(|scope| {
        let thread = &thread;
        for number in 0..threads {
            scope.spawn(move || thread(number));
        }
    });
}

/// Puts results in order.
struct Sink<R, F> {
    /// The job whose result is handed on next.
    next: usize,
    /// Results of which an earlier one is not there yet.
    waiting: BTreeMap<usize, R>,
    accept: F,
}

impl<R, F: FnMut(R) -> Next> Sink<R, F> {
    fn take(&mut self, job: usize, result: R) -> Next {
        self.waiting.insert(job, result);
        let mut go_on = Next::GoOn;
        while let Some(result) = self.waiting.remove(&self.next) {
            self.next += 1;
            if (self.accept)(result) == Next::Stop {
                go_on = Next::Stop;
            }
        }
        go_on
    }
}

/// Calls `work` for each of `items` items on `concurrency` threads.
///
/// The result has one outcome per item, in the order of the items, whatever the threads do. Once
/// `interrupted` says so, or `after_failure` says [`Next::Stop`], no further item is begun. The
/// item on which the run stopped is [`Outcome::Failed`].
pub fn run_all<T: Send, E: Send>(
    items: usize,
    concurrency: usize,
    interrupted: &(dyn Fn() -> bool + Sync),
    work: impl Fn(usize) -> Result<T, E> + Sync,
    after_failure: impl Fn(&E) -> Next + Sync,
) -> Vec<Outcome<T, E>> {
    let mut outcomes = Vec::with_capacity(items);
    let accept = |result| {
        outcomes.push(match result {
            Ok(value) => Outcome::Done(value),
            Err(error) => Outcome::Failed(error),
        });
        Next::GoOn
    };
    let work = |item: usize, (): &mut ()| work(item);
    in_order(0..items, concurrency, interrupted, |_| (), work, after_failure, accept);
    outcomes.resize_with(items, || Outcome::NotBegun);
    outcomes
}

/// The results of all `jobs`, or the first error in the order of the jobs.
///
/// # Errors
///
/// What `work` reports; after it no job is begun.
pub(crate) fn all_or_first_error<W, T: Send, E: Send>(
    jobs: usize,
    threads: usize,
    workspace: impl Fn() -> W + Sync,
    work: impl Fn(usize, &mut W) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let mut results = Vec::with_capacity(jobs);
    let accept = |result| {
        results.push(result);
        Next::GoOn
    };
    in_order(0..jobs, threads, &never, |_| workspace(), work, |_| Next::Stop, accept);
    results.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_item_is_worked_on_once_and_keeps_its_place(
            items in 0_usize..200, concurrency in 0_usize..20
        ) {
            let calls: Vec<AtomicUsize> = (0..items).map(|_| AtomicUsize::new(0)).collect();
            let outcomes = run_all(items, concurrency, &never, |index| {
                calls[index].fetch_add(1, Ordering::Relaxed);
                if index % 3 == 0 { Err(index) } else { Ok(index) }
            }, |_| Next::GoOn);
            prop_assert_eq!(outcomes.len(), items);
            prop_assert!(calls.iter().all(|calls| calls.load(Ordering::Relaxed) == 1));
            for (index, outcome) in outcomes.iter().enumerate() {
                match outcome {
                    Outcome::Done(value) => prop_assert!(*value == index && index % 3 != 0),
                    Outcome::Failed(value) => prop_assert!(*value == index && index % 3 == 0),
                    Outcome::NotBegun => prop_assert!(false, "item {} was left out", index),
                }
            }
        }

        #[test]
        fn whatever_stops_a_run_what_was_done_are_the_first_items(
            items in 0_usize..100, threads in 1_usize..9, stop in 0_usize..120, interrupt: bool
        ) {
            let done = AtomicUsize::new(0);
            let interrupted = || interrupt && done.load(Ordering::SeqCst) >= stop;
            let outcomes = run_all(items, threads, &interrupted, |item| {
                done.fetch_add(1, Ordering::SeqCst);
                if !interrupt && item == stop { Err(item) } else { Ok(item) }
            }, |_| Next::Stop);
            let begun = outcomes.iter().take_while(|o| !matches!(o, Outcome::NotBegun)).count();
            prop_assert!(outcomes[begun..].iter().all(|o| matches!(o, Outcome::NotBegun)));
            prop_assert_eq!(begun, done.load(Ordering::SeqCst));
            // Each thread may have one under way; where the one is that stops the run, all before
            // it are done.
            let bound = if interrupt { stop } else { stop + 1 };
            prop_assert!(begun >= bound.min(items) && begun <= items);
            if threads == 1 {
                prop_assert_eq!(begun, bound.min(items));
            }
        }
    }

    #[test]
    fn after_a_stop_no_further_item_is_begun() {
        let work = |index: usize| if index == 5 { Err(()) } else { Ok(index) };
        let outcomes = run_all(100, 1, &never, work, |()| Next::Stop);
        let begun = outcomes.iter().filter(|o| !matches!(o, Outcome::NotBegun)).count();
        assert_eq!(begun, 6);
        assert!(matches!(outcomes[5], Outcome::Failed(())));
    }

    #[test]
    fn results_come_in_order_of_the_jobs_whatever_the_threads() {
        for threads in [0, 1, 2, 7] {
            let square = |job: usize, count: &mut usize| {
                *count += 1;
                // Early jobs are the slow ones.
                std::thread::sleep(std::time::Duration::from_micros(500 / (job as u64 + 1)));
                Ok::<_, ()>(job * job)
            };
            let squares = all_or_first_error(50, threads, || 0_usize, square);
            assert_eq!(squares.unwrap(), (0..50).map(|job| job * job).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_error_is_returned() {
        for threads in [1, 3] {
            let work = |job: usize, (): &mut ()| if job >= 11 { Err(job) } else { Ok(job) };
            assert_eq!(all_or_first_error(20, threads, || (), work), Err(11));
        }
    }

    #[test]
    fn who_accepts_results_may_stop_the_run() {
        let mut accepted = Vec::new();
        let accept = |result: Result<usize, ()>| {
            accepted.extend(result);
            if accepted.len() == 4 { Next::Stop } else { Next::GoOn }
        };
        let work = |job: usize, (): &mut ()| Ok(job);
        in_order(10..30, 1, &never, |_| (), work, |()| Next::GoOn, accept);
        assert_eq!(accepted, [10, 11, 12, 13]);
    }
}
