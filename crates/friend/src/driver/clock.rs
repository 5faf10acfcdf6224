//! How long a friend is waited for: until somebody breaks it off, its time is over, nothing was heard for too long, or
//! it does nothing but try to reach its server.
//!
//! Invariant: that a friend tries again is no sign of life. It may do so for ever; it is not waited for that long.

use std::time::{Duration, Instant};

use crate::{FriendFailure, TurnLimits};

pub(crate) const TICK: Duration = Duration::from_millis(50);

/// How long a friend may do nothing but try to reach its server.
pub(crate) const UNREACHABLE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct TurnClock<'t> {
    friend: &'t str,
    limits: TurnLimits,
    last_activity: Instant,
    /// Since when it has only tried to reach its server, and what it said.
    retrying_since: Option<(Instant, String)>,
}

impl<'t> TurnClock<'t> {
    pub(crate) fn new(friend: &'t str, limits: TurnLimits) -> TurnClock<'t> {
        TurnClock { friend, limits, last_activity: Instant::now(), retrying_since: None }
    }

    pub(crate) fn mark_alive(&mut self) {
        self.last_activity = Instant::now();
        self.retrying_since = None;
    }

    /// It is to be silent for so long by our own wish; at most for what is left.
    pub(crate) fn allow_silence(&mut self, silent: Duration) {
        self.last_activity = Instant::now() + silent.min(self.remaining());
    }

    /// It tries to reach its server, once more, and gets no answer.
    pub(crate) fn mark_retrying(&mut self, said: &str) {
        self.retrying_since.get_or_insert_with(|| (Instant::now(), said.to_string()));
    }

    pub(crate) fn mark_reached(&mut self) {
        self.retrying_since = None;
    }

    pub(crate) fn remaining(&self) -> Duration {
        self.limits.remaining()
    }

    /// Why it is not waited for any longer, with its last words.
    pub(crate) fn check_expired(
        &self,
        stop: &dyn Fn() -> bool,
        last_words: impl FnOnce() -> String,
    ) -> Option<FriendFailure> {
        let friend = self.friend.to_string();
        if stop() {
            return Some(FriendFailure::Cancelled { friend });
        }
        let total = self.remaining().is_zero();
        let idle = self.last_activity.elapsed() >= self.limits.idle;
        match &self.retrying_since {
            // Whichever limit came first: the cause is known.
            Some((since, said)) if total || idle || since.elapsed() >= UNREACHABLE => {
                Some(FriendFailure::Unreachable { friend, said: said.clone() })
            }
            None if total || idle => {
                let after = if total { self.limits.total } else { self.limits.idle };
                Some(FriendFailure::TimedOut { friend, after, idle: !total, said: last_words() })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(ago: Duration) -> TurnClock<'static> {
        let minute = Duration::from_secs(60);
        let mut clock = TurnClock::new("codex", TurnLimits::new(2 * minute, minute));
        clock.limits.started_at -= ago;
        clock.last_activity -= ago;
        clock
    }

    fn over(clock: &TurnClock<'_>) -> Option<String> {
        clock.check_expired(&|| false, || "its last words".to_string()).map(|failure| failure.to_string())
    }

    #[test]
    fn a_turn_is_broken_off_by_whichever_limit_comes_first() {
        assert_eq!(over(&clock(Duration::from_secs(59))), None);
        let said = "codex timed out after 60 s without a sign of life: its last words";
        assert_eq!(over(&clock(Duration::from_secs(61))).as_deref(), Some(said));
        let said = "codex timed out after 120 s: its last words";
        assert_eq!(over(&clock(Duration::from_secs(121))).as_deref(), Some(said));
        let stopped = clock(Duration::ZERO).check_expired(&|| true, String::new);
        assert!(matches!(stopped, Some(FriendFailure::Cancelled { .. })));
        let mut waits = clock(Duration::from_secs(61));
        waits.allow_silence(Duration::from_secs(1));
        assert_eq!(over(&waits), None);
    }

    #[test]
    fn one_that_only_tries_to_reach_its_server_is_not_waited_for() {
        let mut clock = clock(Duration::ZERO);
        clock.mark_retrying("refused");
        assert_eq!(over(&clock), None);
        clock.retrying_since.as_mut().unwrap().0 -= UNREACHABLE;
        clock.mark_retrying("and again");
        assert_eq!(over(&clock).as_deref(), Some("codex cannot reach its server: refused"));
        clock.mark_reached();
        assert_eq!(over(&clock), None);
        clock.mark_retrying("refused");
        clock.limits.total = Duration::ZERO;
        assert!(matches!(
            clock.check_expired(&|| false, String::new),
            Some(FriendFailure::Unreachable { .. })
        ));
    }
}
