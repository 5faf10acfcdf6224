//! What a person has to know of what commands did: what cannot be undone, what is not recorded, what was made where git looks for
//! something to run. Told at once, and again at the end of the run.

use std::sync::{Mutex, PoisonError};

/// Sentences that are kept.
const MAX_WARNINGS: usize = 50;

/// Commands in the background add theirs, too.
#[derive(Debug, Default)]
pub struct ToolWarnings {
    state: Mutex<WarningState>,
}

#[derive(Debug, Default)]
struct WarningState {
    all: Vec<String>,
    /// How many of them were told.
    told: usize,
}

impl ToolWarnings {
    pub(crate) fn add(&self, sentence: String) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.all.len() < MAX_WARNINGS && !state.all.contains(&sentence) {
            state.all.push(sentence);
        }
    }

    /// Those that were not told yet.
    pub fn take_new(&self) -> Vec<String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let new = state.all[state.told..].to_vec();
        state.told = state.all.len();
        new
    }

    /// All since the last look at the end of a run.
    pub fn take_all(&self) -> Vec<String> {
        std::mem::take(&mut *self.state.lock().unwrap_or_else(PoisonError::into_inner)).all
    }
}
