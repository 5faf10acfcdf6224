//! Notices a model that repeats itself for ever: the same calls with the same results, over and over, also in a round of a
//! few. A command whose output differs, or an edit between two runs of a test, is no repetition.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Turns of the longest round that is noticed.
const MAX_PERIOD: usize = 4;

pub(crate) struct RepetitionGuard {
    limit: usize,
    /// Digests of the latest turns.
    turns: VecDeque<u64>,
    told: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RepetitionVerdict {
    Fine,
    /// The model is told, once per series.
    Tell {
        times: usize,
    },
    End {
        times: usize,
    },
}

impl RepetitionGuard {
    pub(crate) fn new(limit: usize) -> RepetitionGuard {
        RepetitionGuard { limit: limit.max(2), turns: VecDeque::new(), told: false }
    }

    /// Takes a turn's calls and results, in any text form.
    pub(crate) fn record(&mut self, turn: impl Hash) -> RepetitionVerdict {
        let mut digest = DefaultHasher::new();
        turn.hash(&mut digest);
        if self.turns.len() >= 2 * self.limit * MAX_PERIOD {
            self.turns.pop_front();
        }
        self.turns.push_back(digest.finish());
        let times = (1..=MAX_PERIOD).map(|period| self.rounds(period)).max().unwrap_or(1);
        if times >= 2 * self.limit {
            return RepetitionVerdict::End { times };
        }
        if times < self.limit {
            self.told = false;
            return RepetitionVerdict::Fine;
        }
        match std::mem::replace(&mut self.told, true) {
            true => RepetitionVerdict::Fine,
            false => RepetitionVerdict::Tell { times },
        }
    }

    /// How often the last `period` turns came in a row.
    fn rounds(&self, period: usize) -> usize {
        let count = self.turns.len();
        let turn = |back: usize| self.turns.get(count - 1 - back);
        let same =
            (0..count.saturating_sub(period)).take_while(|back| turn(*back) == turn(back + period)).count();
        same / period + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(limit: usize, turns: &[u32]) -> Vec<RepetitionVerdict> {
        let mut guard = RepetitionGuard::new(limit);
        turns.iter().map(|turn| guard.record(turn)).collect()
    }

    #[test]
    fn the_model_is_told_once_and_then_the_run_ends() {
        use RepetitionVerdict::{End, Fine, Tell};
        let all = [Fine, Fine, Tell { times: 3 }, Fine, Fine, End { times: 6 }];
        assert_eq!(verdicts(3, &[7; 6]), all);
    }

    #[test]
    fn a_round_of_a_few_is_noticed_too() {
        let round: Vec<u32> = (0..18).map(|at| at % 3).collect();
        let all = verdicts(3, &round);
        assert_eq!(all[8], RepetitionVerdict::Tell { times: 3 });
        assert_eq!(all[17], RepetitionVerdict::End { times: 6 });
    }

    #[test]
    fn a_test_that_fails_alike_between_edits_is_no_repetition() {
        let turns: Vec<u32> = (0..60).map(|at| if at % 2 == 0 { 0 } else { at }).collect();
        assert!(verdicts(3, &turns).iter().all(|verdict| *verdict == RepetitionVerdict::Fine));
    }
}
