//! Several servers of one model: which one is asked next.
//!
//! The one with the fewest requests under way, and of these the one that was asked least. One that
//! broke off, was silent or failed is left to itself for a while, longer each time, as long as there
//! is another one; then a request is its trial.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::locked::lock;

/// How long a server is left to itself after its first failure; doubles with every further one.
const FIRST_REST: Duration = Duration::from_secs(5);

/// The longest rest.
const LONGEST_REST: Duration = Duration::from_mins(2);

/// What is known of a server.
#[derive(Debug, Clone, Default)]
struct State {
    under_way: usize,
    asked: u64,
    /// Failures in a row.
    failures: u32,
    rests_until: Option<Instant>,
    /// Until when it asked everyone to wait.
    not_before: Option<Instant>,
}

/// The servers by their numbers.
#[derive(Debug)]
pub(super) struct Places {
    states: Mutex<Vec<State>>,
}

/// A request under way to a server; over when dropped.
#[derive(Debug)]
pub(super) struct Taken<'a> {
    places: &'a Places,
    /// Number of the server.
    pub(super) place: usize,
    /// How long it asks to be waited for.
    pub(super) wait: Duration,
}

impl Places {
    /// This many servers, of which nothing is known.
    pub(super) fn new(count: usize) -> Self {
        Self { states: Mutex::new(vec![State::default(); count]) }
    }

    /// The server to ask now.
    pub(super) fn take(&self) -> Taken<'_> {
        let now = Instant::now();
        let mut states = lock(&self.states);
        let ready = |state: &State| ready_in(state, now);
        let place = (0..states.len())
            .min_by_key(|&place| {
                let state = &states[place];
                (ready(state), state.under_way, state.asked, place)
            })
            .unwrap_or_default();
        let state = &mut states[place];
        state.under_way += 1;
        state.asked += 1;
        let wait = left(state.not_before, now);
        Taken { places: self, place, wait }
    }

    /// Whether another server than `place` can be asked at once.
    pub(super) fn has_another(&self, place: usize) -> bool {
        let now = Instant::now();
        let states = lock(&self.states);
        let mut others = states.iter().enumerate().filter(|(number, _)| *number != place);
        others.any(|(_, state)| ready_in(state, now).is_zero())
    }

    /// The server answered.
    pub(super) fn answered(&self, place: usize) {
        let state = &mut lock(&self.states)[place];
        (state.failures, state.rests_until) = (0, None);
    }

    /// The server failed.
    pub(super) fn failed(&self, place: usize) {
        let now = Instant::now();
        let state = &mut lock(&self.states)[place];
        // Requests that were under way together fail together.
        if left(state.rests_until, now).is_zero() {
            let rest = FIRST_REST.saturating_mul(2_u32.saturating_pow(state.failures));
            state.failures = state.failures.saturating_add(1);
            state.rests_until = Some(now + rest.min(LONGEST_REST));
        }
    }

    /// The server asks everyone to wait.
    pub(super) fn asks_to_wait(&self, place: usize, wait: Duration) {
        let until = Instant::now() + wait;
        let state = &mut lock(&self.states)[place];
        state.not_before = Some(state.not_before.map_or(until, |earlier| earlier.max(until)));
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        lock(&self.places.states)[self.place].under_way -= 1;
    }
}

fn ready_in(state: &State, now: Instant) -> Duration {
    left(state.rests_until, now).max(left(state.not_before, now))
}

fn left(until: Option<Instant>, now: Instant) -> Duration {
    until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_spread_and_what_fails_is_left_alone() {
        let places = Places::new(3);
        let numbers = |taken: &[Taken]| taken.iter().map(|taken| taken.place).collect::<Vec<_>>();
        let taken: Vec<Taken> = (0..6).map(|_| places.take()).collect();
        assert_eq!(numbers(&taken), [0, 1, 2, 0, 1, 2]);
        drop(taken);
        places.failed(1);
        assert!(places.has_another(0) && places.has_another(1));
        let taken: Vec<Taken> = (0..4).map(|_| places.take()).collect();
        assert_eq!(numbers(&taken), [0, 2, 0, 2]);
        drop(taken);
        places.answered(1);
        // It was asked least by now.
        assert_eq!(places.take().place, 1);
    }

    #[test]
    fn a_faster_server_gets_more() {
        let places = Places::new(2);
        let slow = places.take();
        for _ in 0..5 {
            assert_eq!(places.take().place, 1 - slow.place);
        }
    }

    #[test]
    fn where_all_have_failed_the_one_that_is_back_first_is_asked() {
        let places = Places::new(2);
        places.failed(0);
        places.failed(1);
        places.failed(1);
        assert!(!places.has_another(0));
        let taken = places.take();
        assert_eq!((taken.place, taken.wait), (0, Duration::ZERO));
    }

    #[test]
    fn one_that_asks_to_wait_is_waited_for_only_if_there_is_no_other() {
        let one = Places::new(1);
        one.asks_to_wait(0, Duration::from_mins(1));
        one.asks_to_wait(0, Duration::from_secs(5));
        assert!(one.take().wait > Duration::from_secs(50));
        let two = Places::new(2);
        two.asks_to_wait(0, Duration::from_mins(1));
        let taken = two.take();
        assert_eq!((taken.place, taken.wait), (1, Duration::ZERO));
        assert_eq!(two.take().place, 1, "though it has a request under way");
    }
}
