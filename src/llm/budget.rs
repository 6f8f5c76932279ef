//! Limits on requests and tokens that no number of threads can overrun.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

use crate::data::interruption::Interruption;
use crate::llm::chat::Usage;
use crate::llm::error::ChatError;

/// How long to wait before looking whether to stop.
const LOOK: Duration = Duration::from_millis(50);

/// What was spent so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// Requests sent over the network, every try counted, or worked on by a model on this machine.
    pub requests: u64,
    /// Tokens read by the model.
    pub prompt_tokens: u64,
    /// Tokens written by the model.
    pub completion_tokens: u64,
}

impl Spent {
    /// Tokens read and written.
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }
}

#[derive(Debug, Default)]
struct State {
    spent: Spent,
    in_flight: u64,
    reserved_tokens: u64,
    /// Of requests under way that say how far they are.
    tokens_under_way: u64,
}

/// Counts requests and tokens and says when to stop.
///
/// A request reserves the most it can cost before it is sent: its estimated prompt and its
/// `max_tokens`. If the reservation does not fit while other requests are under way, it waits for
/// them, since most cost less than they reserved; if it does not fit and nothing is under way,
/// the budget is used up. So tokens overrun the limit only by the error of the estimate of a
/// prompt, and a budget with room left is never given up.
#[derive(Debug, Default)]
pub struct Budget {
    max_requests: Option<u64>,
    max_tokens: Option<u64>,
    state: Mutex<State>,
    settled: Condvar,
}

impl Budget {
    /// A budget; `None` is no limit.
    pub fn new(max_requests: Option<u64>, max_tokens: Option<u64>) -> Self {
        Self { max_requests, max_tokens, ..Self::default() }
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        self.lock().spent
    }

    /// The same, and at that moment the tokens read and written for answers that are not whole yet, where
    /// whoever writes them says so.
    pub(crate) fn spent_and_under_way(&self) -> (Spent, u64) {
        let state = self.lock();
        (state.spent, state.tokens_under_way)
    }

    /// Takes one request and up to `tokens` tokens out of the budget, waiting for others to
    /// settle if need be.
    ///
    /// # Errors
    ///
    /// [`ChatError::Budget`] if it does not fit, [`ChatError::Interrupted`] if it is asked to stop.
    pub(crate) fn reserve(
        &self,
        tokens: u64,
        interruption: &Interruption,
    ) -> Result<Reservation<'_>, ChatError> {
        let mut state = self.lock();
        loop {
            if interruption.requested() {
                return Err(ChatError::Interrupted);
            }
            if let Some(limit) = self.max_requests
                && state.spent.requests >= limit
            {
                return Err(ChatError::Budget { what: "requests", limit });
            }
            let Some(limit) = self.max_tokens else { break };
            let committed = state.spent.tokens().saturating_add(state.reserved_tokens);
            if committed.saturating_add(tokens) <= limit {
                break;
            }
            if state.in_flight == 0 {
                return Err(ChatError::Budget { what: "tokens", limit });
            }
            // Nobody wakes who waits when a stop is asked for.
            let waited = self.settled.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.spent.requests += 1;
        state.in_flight += 1;
        state.reserved_tokens += tokens;
        Ok(Reservation { budget: self, tokens, so_far: 0, usage: Usage::default() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Counters stay true even if a thread panicked between two of them.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is under way; settles when dropped.
pub(crate) struct Reservation<'a> {
    budget: &'a Budget,
    tokens: u64,
    so_far: u64,
    usage: Usage,
}

impl Reservation<'_> {
    /// So many tokens were read and written by now, which a model on this machine knows; for whoever
    /// watches, and nothing is spent by it.
    #[cfg(any(test, feature = "local"))]
    pub(crate) fn so_far(&mut self, tokens: u64) {
        let mut state = self.budget.lock();
        state.tokens_under_way = state.tokens_under_way - self.so_far + tokens;
        self.so_far = tokens;
    }

    /// The request cost `usage`; without this call it cost nothing.
    pub(crate) fn cost(mut self, usage: Usage) {
        self.usage = usage;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut state = self.budget.lock();
        state.in_flight -= 1;
        state.reserved_tokens -= self.tokens;
        state.tokens_under_way -= self.so_far;
        state.spent.prompt_tokens += self.usage.prompt_tokens;
        state.spent.completion_tokens += self.usage.completion_tokens;
        self.budget.settled.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn usage(prompt_tokens: u64, completion_tokens: u64) -> Usage {
        Usage { prompt_tokens, completion_tokens, estimated: false }
    }

    fn go_on() -> Interruption {
        Interruption::default()
    }

    #[test]
    fn who_waits_for_tokens_stops_when_asked_to() {
        let (budget, interruption) = (Budget::new(None, Some(100)), Interruption::default());
        let under_way = budget.reserve(100, &interruption).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| budget.reserve(1, &interruption).map(drop));
            interruption.request();
            assert!(matches!(waiting.join().unwrap(), Err(ChatError::Interrupted)));
        });
        drop(under_way);
        assert_eq!(budget.spent().requests, 1);
    }

    #[test]
    fn requests_stop_at_the_limit_whoever_asks() {
        let budget = Budget::new(Some(10), None);
        let allowed = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    while let Ok(reservation) = budget.reserve(1, &go_on()) {
                        allowed.fetch_add(1, Ordering::Relaxed);
                        reservation.cost(usage(1, 1));
                    }
                });
            }
        });
        assert_eq!(allowed.into_inner(), 10);
        assert_eq!(
            budget.spent(),
            Spent { requests: 10, prompt_tokens: 10, completion_tokens: 10 }
        );
    }

    #[test]
    fn tokens_never_exceed_the_limit_and_room_is_not_given_up() {
        // Each request reserves 50 and costs 20. Of 100 tokens: 20, 40, 60 are spent; a fourth
        // would commit 60 + 50 > 100, and nothing is under way, so three requests are made.
        let budget = Budget::new(None, Some(100));
        let made = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    while let Ok(reservation) = budget.reserve(50, &go_on()) {
                        std::thread::sleep(std::time::Duration::from_millis(2));
                        made.fetch_add(1, Ordering::Relaxed);
                        reservation.cost(usage(5, 15));
                    }
                });
            }
        });
        assert_eq!(made.into_inner(), 3);
        assert_eq!(budget.spent().tokens(), 60);
    }

    #[test]
    fn who_watches_sees_an_answer_grow_and_its_cost_once() {
        let budget = Budget::default();
        let (mut first, mut second) =
            (budget.reserve(100, &go_on()).unwrap(), budget.reserve(100, &go_on()).unwrap());
        first.so_far(30);
        second.so_far(40);
        first.so_far(31);
        let tokens = || {
            let (spent, under_way) = budget.spent_and_under_way();
            (spent.tokens(), under_way)
        };
        assert_eq!(tokens(), (0, 71));
        first.cost(usage(30, 2));
        assert_eq!(tokens(), (32, 40));
        // One that fails costs nothing.
        drop(second);
        assert_eq!(tokens(), (32, 0));
    }

    #[test]
    fn a_failed_request_costs_a_request_and_no_tokens() {
        let budget = Budget::new(Some(2), Some(100));
        drop(budget.reserve(100, &go_on()).unwrap());
        assert_eq!(budget.spent(), Spent { requests: 1, ..Spent::default() });
        drop(budget.reserve(100, &go_on()).unwrap());
        assert!(matches!(
            budget.reserve(1, &go_on()),
            Err(ChatError::Budget { what: "requests", limit: 2 })
        ));
    }
}
