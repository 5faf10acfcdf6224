//! How often and when a request is retried.
//!
//! Two budgets: one for requests that never became a stream, one for streams that broke before anything was
//! seen of them. Waits double from attempt to attempt, with some jitter so that many do not come at once,
//! and a provider's hint makes them longer, never shorter. Invariant: only transient failures are retried,
//! and a wait is never longer than [`RetryBudget::max_delay`]: if a provider asks for more, the user is
//! told at once.

use std::time::Duration;

use crate::failure::{ModelFailure, ModelResult};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryBudget {
    /// `requestMaxRetries`: retries before a stream is there. The first attempt is not counted.
    pub request_max_retries: u32,
    /// `streamMaxRetries`: retries of a stream of which nothing was seen.
    pub stream_max_retries: u32,
    /// `maxRetries`: both together.
    pub max_retries: u32,
    /// `baseDelayMs`: the first wait.
    pub base_delay: Duration,
    /// `maxDelayMs`: the longest wait.
    pub max_delay: Duration,
}

impl Default for RetryBudget {
    fn default() -> RetryBudget {
        RetryBudget {
            request_max_retries: 5,
            stream_max_retries: 5,
            max_retries: u32::MAX,
            base_delay: Duration::from_millis(2000),
            max_delay: Duration::from_millis(300_000),
        }
    }
}

impl RetryBudget {
    /// No retries.
    pub const NONE: RetryBudget = {
        let delay = Duration::ZERO;
        RetryBudget {
            request_max_retries: 0,
            stream_max_retries: 0,
            max_retries: 0,
            base_delay: delay,
            max_delay: delay,
        }
    };
}

/// Where it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryPhase {
    /// Before there was a stream.
    Request,
    /// In a stream of which nothing was seen.
    Stream,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryAttempt {
    /// From 1.
    pub attempt: u32,
    pub max_attempts: u32,
    pub wait: Duration,
}

/// What is left of a budget.
#[derive(Debug, Clone)]
pub struct RetryCounter {
    budget: RetryBudget,
    requests: u32,
    streams: u32,
}

impl RetryCounter {
    pub fn new(budget: RetryBudget) -> RetryCounter {
        RetryCounter { budget, requests: 0, streams: 0 }
    }

    /// Whether to retry. `chance` is between 0 and 1.
    ///
    /// # Errors
    /// The failure to end with: the given one, with the wait in its message if that is why there is no
    /// retry.
    pub fn next_attempt(
        &mut self,
        phase: RetryPhase,
        failure: &ModelFailure,
        chance: f64,
    ) -> ModelResult<RetryAttempt> {
        let (here, elsewhere, of) = match phase {
            RetryPhase::Request => (self.requests, self.streams, self.budget.request_max_retries),
            RetryPhase::Stream => (self.streams, self.requests, self.budget.stream_max_retries),
        };
        let of = of.min(self.budget.max_retries.saturating_sub(elsewhere));
        if !failure.class.is_transient() {
            return Err(failure.clone());
        }
        if here >= of {
            let asked = self.requests + self.streams + 1;
            let mut told = failure.clone();
            if asked > 1 {
                told.message = format!("{} (asked {asked} times)", told.message);
            }
            return Err(told);
        }
        if let Some(hint) = failure.retry_after
            && hint > self.budget.max_delay
        {
            let mut told = failure.clone();
            let most = format_wait(self.budget.max_delay);
            told.message = format!(
                "{}. It asks to wait {}, longer than the {most} that relay waits by itself: try again then",
                told.message.trim_end_matches('.'),
                format_wait(hint)
            );
            return Err(told);
        }
        match phase {
            RetryPhase::Request => self.requests += 1,
            RetryPhase::Stream => self.streams += 1,
        }
        let attempt = here + 1;
        // Attempts in either phase make the next wait longer.
        let before = self.requests + self.streams - 1;
        let wait = delay(&self.budget, before, chance).max(failure.retry_after.unwrap_or_default());

        Ok(RetryAttempt { attempt, max_attempts: of, wait })
    }
}

/// Between three quarters of the doubled delay and all of it.
fn delay(budget: &RetryBudget, before: u32, chance: f64) -> Duration {
    let factor = 1u32.checked_shl(before).unwrap_or(u32::MAX);
    let full = budget.base_delay.saturating_mul(factor).min(budget.max_delay);
    full.mul_f64(0.75 + 0.25 * chance.clamp(0.0, 1.0))
}

/// For people: `45 s`, `12 min`, `5 h 20 min`, `3 days`.
pub fn format_wait(span: Duration) -> String {
    let seconds = span.as_secs() + u64::from(span.subsec_nanos() > 0);
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds.div_ceil(60)),
        7200..=172_799 => {
            let minutes = seconds.div_ceil(60);
            format!("{} h {} min", minutes / 60, minutes % 60)
        }
        _ => format!("{} days", seconds.div_ceil(86400)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureClass;

    fn waits(failure: &ModelFailure, phase: RetryPhase, chance: f64) -> Vec<u128> {
        let mut retries = RetryCounter::new(RetryBudget::default());
        std::iter::from_fn(|| retries.next_attempt(phase, failure, chance).ok())
            .map(|again| again.wait.as_millis())
            .collect()
    }

    #[test]
    fn waits_double_and_the_budget_counts_retries() {
        let failure = ModelFailure::new(FailureClass::Server, "x");
        assert_eq!(waits(&failure, RetryPhase::Request, 1.0), [2000, 4000, 8000, 16000, 32000]);
        assert_eq!(waits(&failure, RetryPhase::Stream, 0.0), [1500, 3000, 6000, 12000, 24000]);
    }

    #[test]
    fn all_retries_together_are_bounded_whatever_the_reason() {
        let failure = ModelFailure::new(FailureClass::Server, "x");
        let mut retries = RetryCounter::new(RetryBudget { max_retries: 3, ..RetryBudget::default() });
        let mut next =
            |phase| retries.next_attempt(phase, &failure, 0.5).map(|again| again.max_attempts).ok();
        assert_eq!(next(RetryPhase::Request), Some(3));
        assert_eq!(next(RetryPhase::Stream), Some(2));
        assert_eq!(next(RetryPhase::Request), Some(2));
        assert_eq!((next(RetryPhase::Request), next(RetryPhase::Stream)), (None, None));
    }

    #[test]
    fn a_hint_makes_a_wait_longer_and_never_shorter() {
        let mut failure = ModelFailure::new(FailureClass::RateLimit, "x");
        failure.retry_after = Some(Duration::from_secs(5));
        assert_eq!(waits(&failure, RetryPhase::Request, 1.0), [5000, 5000, 8000, 16000, 32000]);
    }

    #[test]
    fn a_hint_beyond_the_longest_wait_ends_it_and_is_told() {
        let mut failure =
            ModelFailure::new(FailureClass::RateLimit, "example takes no more requests for now.");
        failure.retry_after = Some(Duration::from_secs(5 * 3600 + 20 * 60));
        let told = RetryCounter::new(RetryBudget::default())
            .next_attempt(RetryPhase::Request, &failure, 0.5)
            .unwrap_err();
        assert!(told.message.contains("wait 5 h 20 min, longer than the 5 min that"), "{told}");
        assert_eq!(told.class, FailureClass::RateLimit);
    }

    #[test]
    fn what_waiting_cannot_mend_is_never_tried_again() {
        use FailureClass::*;
        for class in [
            Auth,
            Forbidden,
            NotFound,
            BadRequest,
            ContextOverflow,
            Quota,
            TooLarge,
            Refused,
            Config,
            Aborted,
        ] {
            assert!(waits(&ModelFailure::new(class, "x"), RetryPhase::Request, 0.5).is_empty(), "{class:?}");
        }
        for class in [RateLimit, Overloaded, Server, Network, Timeout, Malformed] {
            assert_eq!(waits(&ModelFailure::new(class, "x"), RetryPhase::Stream, 0.5).len(), 5, "{class:?}");
        }
    }

    #[test]
    fn huge_numbers_of_retries_do_not_overflow() {
        let budget = RetryBudget { request_max_retries: u32::MAX, ..RetryBudget::default() };
        assert_eq!(delay(&budget, 4_000_000_000, 1.0), budget.max_delay);
    }
}
