//! How often a clipboard changes: a person copies now and then, a program that went wild does not.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// So many changes within [`WITHIN`] are a storm.
pub const CHANGES: usize = 5;
/// … within this time.
pub const WITHIN: Duration = Duration::from_secs(1);
/// In a storm the clipboard is looked at this often.
pub const PAUSE: Duration = Duration::from_millis(300);

/// Counts changes.
#[derive(Debug, Default)]
pub struct Rate {
    recent: VecDeque<Instant>,
    storm: bool,
}

/// What a change is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    /// Nothing special.
    Calm,
    /// A storm began with it.
    Begins,
    /// A storm goes on.
    Storm,
}

impl Rate {
    /// The clipboard changed.
    pub fn change(&mut self, now: Instant) -> Weather {
        while self.recent.front().is_some_and(|first| now.duration_since(*first) >= WITHIN) {
            self.recent.pop_front();
        }
        if self.recent.is_empty() {
            self.storm = false;
        }
        self.recent.push_back(now);
        match (self.storm, self.recent.len() >= CHANGES) {
            (false, false) => Weather::Calm,
            (false, true) => {
                self.storm = true;
                Weather::Begins
            }
            (true, _) => Weather::Storm,
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
        let mut rate = Rate::default();
        // Somebody who copies twice a second.
        for beat in 0..20 {
            assert_eq!(rate.change(at(beat * 500)), Weather::Calm);
        }
        let mut rate = Rate::default();
        let seen: Vec<Weather> = (0..6).map(|beat| rate.change(at(beat * 10))).collect();
        assert_eq!(seen[3..], [Weather::Calm, Weather::Begins, Weather::Storm]);
        assert_eq!(rate.change(at(500)), Weather::Storm);
        assert_eq!(rate.change(at(3_000)), Weather::Calm);
    }
}
