//! How long a friend is waited for: until somebody breaks it off, its time is over, nothing was heard for too long, or
//! it does nothing but try to reach its server.
//!
//! Invariant: that a friend tries again is no sign of life. It may do so for ever; it is not waited for that long.

use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::turn::Limits;

/// How often it is looked whether to go on.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// How long a friend may do nothing but try to reach its server.
pub(crate) const UNREACHABLE: Duration = Duration::from_secs(10);

/// The clock of one turn.
#[derive(Debug)]
pub(crate) struct Clock<'t> {
    friend: &'t str,
    limits: Limits,
    alive: Instant,
    /// Since when it has only tried to reach its server, and what it said.
    trying: Option<(Instant, String)>,
}

impl<'t> Clock<'t> {
    pub(crate) fn new(friend: &'t str, limits: Limits) -> Clock<'t> {
        Clock { friend, limits, alive: Instant::now(), trying: None }
    }

    /// It did something.
    pub(crate) fn lives(&mut self) {
        self.alive = Instant::now();
        self.trying = None;
    }

    /// It is to be silent for so long by our own wish; at most for what is left.
    pub(crate) fn waits(&mut self, silent: Duration) {
        self.alive = Instant::now() + silent.min(self.left());
    }

    /// It tries to reach its server, once more, and gets no answer.
    pub(crate) fn tries(&mut self, said: &str) {
        self.trying.get_or_insert_with(|| (Instant::now(), said.to_string()));
    }

    /// Its server answered, whatever it said.
    pub(crate) fn reached(&mut self) {
        self.trying = None;
    }

    /// What is left of the whole time.
    pub(crate) fn left(&self) -> Duration {
        self.limits.left()
    }

    /// Why it is not waited for any longer, with its last words.
    pub(crate) fn over(
        &self,
        stop: &dyn Fn() -> bool,
        last_words: impl FnOnce() -> String,
    ) -> Option<Failure> {
        let friend = self.friend.to_string();
        if stop() {
            return Some(Failure::Cancelled { friend });
        }
        let total = self.left().is_zero();
        let idle = self.alive.elapsed() >= self.limits.idle;
        match &self.trying {
            // Whichever limit came first: the cause is known.
            Some((since, said)) if total || idle || since.elapsed() >= UNREACHABLE => {
                Some(Failure::Unreachable { friend, said: said.clone() })
            }
            None if total => {
                let after = self.limits.total;
                Some(Failure::TimedOut { friend, after, idle: false, said: last_words() })
            }
            None if idle => {
                let after = self.limits.idle;
                Some(Failure::TimedOut { friend, after, idle: true, said: last_words() })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock of a turn that began so long ago.
    fn clock(ago: Duration) -> Clock<'static> {
        let minute = Duration::from_secs(60);
        let mut clock = Clock::new("codex", Limits::new(2 * minute, minute));
        clock.limits.began -= ago;
        clock.alive -= ago;
        clock
    }

    fn over(clock: &Clock<'_>) -> Option<String> {
        clock.over(&|| false, || "its last words".to_string()).map(|failure| failure.to_string())
    }

    #[test]
    fn a_turn_is_broken_off_by_whichever_limit_comes_first() {
        assert_eq!(over(&clock(Duration::from_secs(59))), None);
        let said = "codex timed out after 60 s without a sign of life: its last words";
        assert_eq!(over(&clock(Duration::from_secs(61))).as_deref(), Some(said));
        let said = "codex timed out after 120 s: its last words";
        assert_eq!(over(&clock(Duration::from_secs(121))).as_deref(), Some(said));
        let stopped = clock(Duration::ZERO).over(&|| true, String::new);
        assert!(matches!(stopped, Some(Failure::Cancelled { .. })));
        let mut waits = clock(Duration::from_secs(61));
        waits.waits(Duration::from_secs(1));
        assert_eq!(over(&waits), None);
    }

    #[test]
    fn one_that_only_tries_to_reach_its_server_is_not_waited_for() {
        let mut clock = clock(Duration::ZERO);
        clock.tries("refused");
        assert_eq!(over(&clock), None);
        clock.trying.as_mut().unwrap().0 -= UNREACHABLE;
        clock.tries("and again");
        assert_eq!(over(&clock).as_deref(), Some("codex cannot reach its server: refused"));
        clock.reached();
        assert_eq!(over(&clock), None);
        clock.tries("refused");
        clock.limits.total = Duration::ZERO;
        assert!(matches!(clock.over(&|| false, String::new), Some(Failure::Unreachable { .. })));
    }
}
