//! How often a clipboard changes: a person copies now and then, a program gone wild does not.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// This many changes within [`STORM_WINDOW`] are a storm.
pub const STORM_CHANGES: usize = 5;
pub const STORM_WINDOW: Duration = Duration::from_secs(1);
/// How often the clipboard is read in a storm.
pub const STORM_PAUSE: Duration = Duration::from_millis(300);

#[derive(Debug, Default)]
pub struct ClipboardRate {
    recent: VecDeque<Instant>,
    storm: bool,
}

/// What a change is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StormState {
    Calm,
    /// The storm began with this change.
    Started,
    /// The storm goes on.
    Ongoing,
}

impl ClipboardRate {
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
