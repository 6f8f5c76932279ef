//! Handing work to threads: what is computed together, and by whom.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::error::BertError;

/// Groups sequences of similar length, longest first, into batches of at most `batch_tokens`
/// tokens (one sequence at least). Returns positions in `lengths`.
///
/// Longest first, so that no thread starts a long batch when the others are done.
pub(super) fn batches(lengths: &[usize], batch_tokens: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(lengths[index]));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut tokens = usize::MAX;
    for index in order {
        tokens = tokens.saturating_add(lengths[index]);
        match batches.last_mut() {
            Some(batch) if tokens <= batch_tokens => batch.push(index),
            _ => {
                batches.push(vec![index]);
                tokens = lengths[index];
            }
        }
    }
    batches
}

/// Runs `jobs` jobs on at most `threads` threads, each with its own workspace, and returns their
/// results in order of the jobs. After an error no new job is started.
pub(super) fn run<W, T: Send>(
    threads: usize,
    jobs: usize,
    workspace: impl Fn() -> W + Sync,
    job: impl Fn(usize, &mut W) -> Result<T, BertError> + Sync,
) -> Result<Vec<T>, BertError> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let work = || {
        let mut workspace = workspace();
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= jobs || failed.load(Ordering::Relaxed) {
                return done;
            }
            let result = job(index, &mut workspace);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.push((index, result));
        }
    };
    let mut done = if threads.min(jobs) <= 1 {
        work()
    } else {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.min(jobs)).map(|_| scope.spawn(work)).collect();
            let mut done = Vec::with_capacity(jobs);
            for worker in workers {
                match worker.join() {
                    Ok(of_worker) => done.extend(of_worker),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            done
        })
    };
    done.sort_by_key(|&(index, _)| index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn batches_hold_every_sequence_once_and_respect_the_limit(
            lengths in prop::collection::vec(1_usize..600, 0..80), limit in 1_usize..1000,
        ) {
            let batches = batches(&lengths, limit);
            let mut members: Vec<usize> = batches.concat();
            members.sort_unstable();
            prop_assert_eq!(members, (0..lengths.len()).collect::<Vec<_>>());
            for batch in &batches {
                let tokens: usize = batch.iter().map(|&member| lengths[member]).sum();
                prop_assert!(tokens <= limit || batch.len() == 1);
            }
        }
    }

    #[test]
    fn results_come_in_order_of_the_jobs_whatever_the_threads() {
        for threads in [0, 1, 2, 7] {
            let squares = run(
                threads,
                50,
                || 0_usize,
                |job, count| {
                    *count += 1;
                    Ok(job * job)
                },
            );
            assert_eq!(squares.unwrap(), (0..50).map(|job| job * job).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_error_is_returned() {
        let result: Result<Vec<usize>, _> = run(
            3,
            20,
            || (),
            |job, ()| if job == 11 { Err(BertError::NotFinite) } else { Ok(job) },
        );
        assert!(matches!(result, Err(BertError::NotFinite)));
    }
}
