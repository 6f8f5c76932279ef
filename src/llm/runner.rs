//! Works on many items at once and returns the results in the order of the items.

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

/// Whether the run goes on after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Other items may still work.
    GoOn,
    /// No other item would work; those under way are finished.
    Stop,
}

/// Calls `work` for each of `items` items on `concurrency` threads.
///
/// Items are begun in order; the result has one outcome per item, in the order of the items,
/// whatever the threads do. After the first failure for which `after_failure` says
/// [`Next::Stop`], no further item is begun. The item on which the run stopped is
/// [`Outcome::Failed`].
pub fn run_all<T: Send, E: Send>(
    items: usize,
    concurrency: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
    after_failure: impl Fn(&E) -> Next + Sync,
) -> Vec<Outcome<T, E>> {
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let slots: Vec<Mutex<Option<Outcome<T, E>>>> = (0..items).map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..concurrency.clamp(1, items.max(1)) {
            scope.spawn(|| {
                while !stopped.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(slot) = slots.get(index) else { break };
                    let outcome = match work(index) {
                        Ok(value) => Outcome::Done(value),
                        Err(error) => {
                            if after_failure(&error) == Next::Stop {
                                stopped.store(true, Ordering::Relaxed);
                            }
                            Outcome::Failed(error)
                        }
                    };
                    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
                }
            });
        }
    });
    slots
        .into_iter()
        .map(|slot| {
            let outcome = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
            outcome.unwrap_or(Outcome::NotBegun)
        })
        .collect()
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
            let outcomes = run_all(items, concurrency, |index| {
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
    }

    #[test]
    fn after_a_stop_no_further_item_is_begun() {
        let work = |index: usize| if index == 5 { Err(()) } else { Ok(index) };
        let outcomes = run_all(100, 1, work, |()| Next::Stop);
        let begun = outcomes.iter().filter(|o| !matches!(o, Outcome::NotBegun)).count();
        assert_eq!(begun, 6);
        assert!(matches!(outcomes[5], Outcome::Failed(())));
    }
}
