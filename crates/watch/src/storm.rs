//! How often a clipboard changes: a person copies now and then, a program that went wild does not.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// So many changes within [`STORM_WINDOW`] are a storm.
pub const STORM_CHANGES: usize = 5;
/// … within this time.
pub const STORM_WINDOW: Duration = Duration::from_secs(1);
/// In a storm the clipboard is looked at this often.
pub const STORM_PAUSE: Duration = Duration::from_millis(300);

/// Counts changes.
#[derive(Debug, Default)]
pub struct ClipboardRate {
    recent: VecDeque<Instant>,
    storm: bool,
}

/// What a change is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StormState {
    /// Nothing special.
    Calm,
    /// A storm began with it.
    Started,
    /// A storm goes on.
    Ongoing,
}

impl ClipboardRate {
    /// The clipboard changed.
    pub fn record_change(&mut self, now: Instant) -> StormState {
        while self.recent.front().is_some_and(|first| now.duration_since(*first) >= STORM_WINDOW) {
            self.recent.pop_front();
        }
        if self.recent.is_empty() {
            self.storm = false;
        }
        self.recent.push_back(now);
        match (self.storm, self.recent.len() >= STORM_CHANGES) {
            (false, false) => StormState::Calm,
            (false, true) => {
                self.storm = true;
                StormState::Started
            }
            (true, _) => StormState::Ongoing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_begins_with_many_changes_and_ends_with_a_pause() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut rate = ClipboardRate::default();
        // Somebody who copies twice a second.
        for beat in 0..20 {
            assert_eq!(rate.record_change(at(beat * 500)), StormState::Calm);
        }
        let mut rate = ClipboardRate::default();
        let seen: Vec<StormState> = (0..6).map(|beat| rate.record_change(at(beat * 10))).collect();
        assert_eq!(seen[3..], [StormState::Calm, StormState::Started, StormState::Ongoing]);
        assert_eq!(rate.record_change(at(500)), StormState::Ongoing);
        assert_eq!(rate.record_change(at(3_000)), StormState::Calm);
    }
}
