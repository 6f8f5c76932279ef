//! When to ask again, and how long to wait first.

use std::time::{Duration, SystemTime};

use rand::Rng;

use crate::llm::error::ChatError;
use crate::stats::seed::stream;

/// How often and how patiently a request is repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    /// Most tries, the first included; at least 1.
    pub tries: u32,
    /// Longest wait before the second try; doubles with every further one.
    pub base: Duration,
    /// Longest wait that the doubling reaches.
    pub cap: Duration,
    /// Longest wait that a server may ask for with `Retry-After`.
    pub patience: Duration,
    /// Seed of the jitter.
    pub seed: u64,
}

impl Default for RetryPolicy {
    /// Five tries with waits of up to 1, 2, 4 and 8 s; a server may ask for up to 5 minutes.
    fn default() -> Self {
        Self {
            tries: 5,
            base: Duration::from_secs(1),
            cap: Duration::from_secs(30),
            patience: Duration::from_mins(5),
            seed: 0,
        }
    }
}

/// The outcome of one try.
#[derive(Debug)]
pub(super) enum Attempt<T> {
    /// There is an answer.
    Done(T),
    /// It may work later, not before `after` if the server said so.
    Again { error: ChatError, after: Option<Duration> },
    /// It will not work.
    Failed(ChatError),
}

impl RetryPolicy {
    /// The wait after failed try `tries` (from 1) of request `index`.
    ///
    /// `min(cap, base 2^(tries-1))` times a number from [0.5, 1), so that clients that failed
    /// together do not come back together. `Retry-After` is a lower bound: the wait is never
    /// shorter, and up to a tenth longer.
    pub(crate) fn wait(&self, tries: u32, index: u64, after: Option<Duration>) -> Duration {
        let mut generator = stream(self.seed, "retry jitter", index);
        generator.set_word_pos(u128::from(tries) * 2);
        // 53 bits make a uniform double in [0, 1).
        let uniform = (generator.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        if let Some(after) = after {
            after.mul_f64(1.0 + 0.1 * uniform)
        } else {
            let doubled = self.base.saturating_mul(2_u32.saturating_pow(tries - 1));
            doubled.min(self.cap).mul_f64(0.5 + 0.5 * uniform)
        }
    }

    /// Tries until there is an answer, a failure that no repetition helps, or no try is left.
    ///
    /// `attempt` gets the number of the try, from 1; `sleep` waits, or says that it was asked to
    /// stop.
    pub(super) fn run<T>(
        &self,
        index: u64,
        sleep: &dyn Fn(Duration) -> Result<(), ChatError>,
        mut attempt: impl FnMut(u32) -> Attempt<T>,
    ) -> Result<T, ChatError> {
        let mut tries = 1;
        loop {
            match attempt(tries) {
                Attempt::Done(answer) => return Ok(answer),
                Attempt::Failed(error) => return Err(error),
                Attempt::Again { error, .. } if tries >= self.tries => return Err(error),
                Attempt::Again { after, .. } => sleep(self.wait(tries, index, after))?,
            }
            tries += 1;
        }
    }
}

/// Whether a status may go away by itself: 408, 409, 429 and all of 5xx.
pub(super) fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}

/// The wait that a `Retry-After` header asks for: seconds, or a date (RFC 9110, 10.2.3).
///
/// A date that has passed means no wait, and a number too large for a wait the longest there is.
/// `None` if it is neither.
pub(super) fn parse_retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    /// Thirty years, which no patience reaches.
    const LONGEST: f64 = 1e9;
    let value = value.trim();
    // Not `inf`, `nan` or a sign.
    let digits = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if let (true, Ok(seconds)) = (digits, value.parse::<f64>()) {
        return Some(Duration::from_secs_f64(seconds.min(LONGEST)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn again(after: Option<u64>) -> Attempt<()> {
        let error = ChatError::BrokenAnswer { host: "h".into(), tries: 1 };
        Attempt::Again { error, after: after.map(Duration::from_secs) }
    }

    fn waits(policy: RetryPolicy, mut attempt: impl FnMut(u32) -> Attempt<()>) -> Vec<Duration> {
        let waits = RefCell::new(Vec::new());
        let sleep = |wait| {
            waits.borrow_mut().push(wait);
            Ok(())
        };
        let _ = policy.run(7, &sleep, &mut attempt);
        waits.into_inner()
    }

    #[test]
    fn five_tries_wait_four_times_and_the_waits_double_within_the_jitter() {
        let waits = waits(RetryPolicy::default(), |_| again(None));
        assert_eq!(waits.len(), 4);
        for (wait, longest) in waits.iter().zip([1.0, 2.0, 4.0, 8.0]) {
            let seconds = wait.as_secs_f64();
            assert!((0.5 * longest..longest).contains(&seconds), "{waits:?}");
        }
    }

    #[test]
    fn no_wait_exceeds_the_cap_however_many_tries() {
        let policy = RetryPolicy { tries: 100, ..RetryPolicy::default() };
        assert!(waits(policy, |_| again(None)).iter().all(|wait| *wait <= policy.cap));
    }

    #[test]
    fn retry_after_is_never_cut_short() {
        let waits = waits(RetryPolicy::default(), |_| again(Some(20)));
        assert_eq!(waits.len(), 4);
        assert!(waits.iter().all(|wait| (20.0..22.0).contains(&wait.as_secs_f64())), "{waits:?}");
    }

    #[test]
    fn success_and_hopeless_failures_end_the_tries() {
        let mut asked = 0;
        assert_eq!(
            waits(RetryPolicy::default(), |tries| {
                asked = tries;
                if tries < 3 { again(None) } else { Attempt::Done(()) }
            })
            .len(),
            2
        );
        assert_eq!(asked, 3);
        let failed = |_| Attempt::Failed(ChatError::Offline);
        assert!(waits(RetryPolicy::default(), failed).is_empty());
    }

    #[test]
    fn a_wait_that_is_broken_off_ends_the_tries() {
        let mut asked = 0;
        let outcome: Result<(), _> =
            RetryPolicy::default().run(7, &|_| Err(ChatError::Interrupted), |tries| {
                asked = tries;
                again(None)
            });
        assert!(matches!(outcome, Err(ChatError::Interrupted)));
        assert_eq!(asked, 1);
    }

    #[test]
    fn requests_that_fail_together_come_back_apart_and_runs_repeat() {
        let policy = RetryPolicy::default();
        assert_ne!(policy.wait(1, 1, None), policy.wait(1, 2, None));
        assert_ne!(policy.wait(1, 1, None) * 2, policy.wait(2, 1, None));
        assert_eq!(policy.wait(3, 1, None), policy.wait(3, 1, None));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let parse = |value: &str, now| parse_retry_after(value, now).map(|wait| wait.as_secs_f64());
        let now = httpdate::parse_http_date("Wed, 21 Oct 2015 07:28:00 GMT").unwrap();
        assert_eq!(parse(" 2 ", now), Some(2.0));
        assert_eq!(parse("0.5", now), Some(0.5));
        assert_eq!(parse("Wed, 21 Oct 2015 07:28:30 GMT", now), Some(30.0));
        assert_eq!(parse("Wed, 21 Oct 2015 07:27:00 GMT", now), Some(0.0));
        for bad in ["soon", "-1", "NaN", "inf", ""] {
            assert_eq!(parse(bad, now), None, "{bad}");
        }
    }

    #[test]
    fn a_wait_too_large_for_a_clock_is_a_long_wait_and_words_are_none() {
        let parse = |value: &str| parse_retry_after(value, SystemTime::now());
        let digits = "9".repeat(400);
        for long in ["999999999", "1000000000", "99999999999999999999", digits.as_str()] {
            assert!(parse(long).unwrap() > Duration::from_hours(250_000), "{long}");
        }
        for none in ["inf", "NaN", "-1", "1e3", "", ".", "soon"] {
            assert_eq!(parse(none), None, "{none}");
        }
    }

    #[test]
    fn only_statuses_that_may_go_away_are_transient() {
        let transient: Vec<u16> = (100..600).filter(|&status| is_transient(status)).collect();
        let expected: Vec<u16> = [408, 409, 429].into_iter().chain(500..600).collect();
        assert_eq!(transient, expected);
    }
}
