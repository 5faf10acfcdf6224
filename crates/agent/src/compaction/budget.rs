//! When a context is full, and how the room is shared out afterwards.

use super::CompactionSettings;

/// Less room than this is not shared out any further.
const MIN_ROOM: u64 = 256;

/// From so many tokens on a context is full. Of a small window half is used in any case.
pub fn threshold(window: u64, settings: &CompactionSettings) -> u64 {
    if let Some(tokens) = settings.threshold_tokens {
        return tokens.min(window);
    }
    if let Some(percent) = settings.threshold_percent {
        return window / 100 * percent + window % 100 * percent / 100;
    }
    let reserve = (window / 100 * 15).max(settings.reserve_tokens);
    window.saturating_sub(reserve).max(window / 2)
}

/// Tokens that each part may have once room was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactionBudget {
    /// What is kept word for word beside the user's words: tasks, goals, files.
    pub kept: u64,
    /// What the user said: up to 30 % of the window.
    pub words: u64,
    /// What a model writes.
    pub summary: u64,
    /// The end of the conversation.
    pub tail: u64,
    /// The last step, if it alone is more than `tail`: the model has not read its results yet, so they stay if the window holds them.
    pub last_step: u64,
    /// All of it.
    pub room: u64,
}

impl CompactionBudget {
    /// For a window of so many tokens of which the system prompt and the tools take `head`, and what is kept word for word wants
    /// `kept`.
    pub fn new(window: u64, head: u64, kept: u64, settings: &CompactionSettings) -> CompactionBudget {
        let full = threshold(window, settings);
        let room = (full / 5 * 4).saturating_sub(head).max(MIN_ROOM);
        let kept = kept.min(room / 2);
        let rest = room - kept;
        let words = (window / 10 * 3).min(rest / 2);
        let summary = (settings.reserve_tokens / 5 * 4).min(rest / 6);
        let tail = settings.keep_recent_tokens.min(rest / 5);
        let last_step = (window / 100 * 85).saturating_sub(head + kept + words + summary);
        CompactionBudget { kept, words, summary, tail, last_step, room }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_the_window_less_what_the_answer_needs() {
        let usual = CompactionSettings::default();
        assert_eq!(threshold(200_000, &usual), 170_000);
        assert_eq!(threshold(100_000, &usual), 83_616);
        assert_eq!(threshold(8_000, &usual), 4_000, "a small window is not given up to the answer");
        assert_eq!(threshold(0, &usual), 0);
        let percent = CompactionSettings { threshold_percent: Some(50), ..usual };
        assert_eq!(threshold(200_000, &percent), 100_000);
        assert_eq!(threshold(150, &percent), 75);
        let tokens = CompactionSettings { threshold_tokens: Some(7_000), ..percent };
        assert_eq!((threshold(200_000, &tokens), threshold(5_000, &tokens)), (7_000, 5_000));
    }

    #[test]
    fn the_parts_fit_whatever_the_window_is() {
        let settings = CompactionSettings::default();
        for window in [0, 100, 3_000, 8_192, 32_000, 200_000, 1_000_000, u64::MAX / 2] {
            for (head, kept) in [(0, 0), (500, 100), (40_000, 1_000_000)] {
                let budget = CompactionBudget::new(window, head, kept, &settings);
                let parts = budget.kept + budget.words + budget.summary;
                assert!(parts + budget.tail <= budget.room, "{window} {head} {kept}: {budget:?}");
                let with_step = head + parts + budget.last_step;
                assert!(with_step <= window || budget.last_step == 0, "{window} {head} {kept}: {budget:?}");
                assert!(budget.words <= window / 10 * 3 && budget.kept <= kept);
            }
        }
        let large = CompactionBudget::new(200_000, 10_000, 0, &settings);
        assert_eq!((large.words, large.tail), (60_000, 20_000));
    }
}
