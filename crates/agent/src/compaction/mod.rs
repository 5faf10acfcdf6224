//! Making room in a conversation: what is cut, what is kept word for word, and what stands for the rest. Pure: nothing here asks
//! a model, and nothing here can fail for lack of room.
//!
//! Invariant: whatever is built here has a budget in tokens and keeps to it, however large its input is. What a model writes is
//! only ever a part of a summary; what has to survive (the user's words, lists of tasks, files) does not pass through a model.
//!
//! | module | for |
//! |---|---|
//! | [`budget`] | when a context is full, and how much of what may stand in it afterwards |
//! | [`cut`] | where the kept end of a conversation begins |
//! | [`outputs`] | old outputs of tools that are cut to a line |
//! | [`excerpt`] | a conversation as bounded text, for whoever sums it up |
//! | [`user_words`] | what the user said, word for word |
//! | [`summary`] | the whole text that stands for what was cut |
//! | [`without_model`] | a summary that no model writes: the last resort |

pub mod budget;
pub mod cut;
pub mod excerpt;
pub mod files;
pub mod outputs;
pub mod summary;
pub mod user_words;
pub mod without_model;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `compaction.*` and `contextPromotion.enabled` of the user's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionSettings {
    /// Room is made by itself; a request that the model refuses as too long is repeated in any case.
    pub enabled: bool,
    /// Of the window, in place of the usual threshold.
    pub threshold_percent: Option<u64>,
    /// In place of both.
    pub threshold_tokens: Option<u64>,
    /// Kept free for the answer.
    pub reserve_tokens: u64,
    /// Of the end of the conversation that stays as it is.
    pub keep_recent_tokens: u64,
    /// The agent goes on by itself after room was made in the middle of its work.
    pub auto_continue: bool,
    /// Room is made between two requests of a turn, too.
    pub mid_turn: bool,
    /// Old outputs of tools are cut first.
    pub prune: bool,
    /// A model with a larger window goes on, where one is configured.
    pub promote: bool,
    /// Room is made while nobody says anything, from so many tokens on.
    pub idle_tokens: Option<u64>,
}

impl CompactionReason {
    /// As events and programs call it.
    pub fn name(self) -> &'static str {
        match self {
            CompactionReason::Threshold => "threshold",
            CompactionReason::Overflow => "overflow",
            CompactionReason::Manual => "manual",
            CompactionReason::Idle => "idle",
        }
    }
}

impl Default for CompactionSettings {
    fn default() -> CompactionSettings {
        CompactionSettings {
            enabled: true,
            threshold_percent: None,
            threshold_tokens: None,
            reserve_tokens: 16_384,
            keep_recent_tokens: 20_000,
            auto_continue: true,
            mid_turn: true,
            prune: true,
            promote: true,
            idle_tokens: None,
        }
    }
}

/// Why room is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompactionReason {
    /// The context is nearly full.
    Threshold,
    /// The model refused a request as too long.
    Overflow,
    /// Somebody wants it.
    Manual,
    /// Nobody said anything for a while.
    Idle,
}

/// How room was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompactionAction {
    /// Old outputs of tools were cut.
    Pruned,
    /// A model with a larger window goes on.
    Promoted,
    /// A model summed up what was said.
    Summarized,
    /// No model could; relay did by itself.
    SummarizedByRule,
    /// There was nothing to gain.
    Nothing,
    /// It was stopped; everything is as before.
    Aborted,
    /// A program was against it; everything is as before.
    Cancelled,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct CompactionOutcome {
    pub action: CompactionAction,
    pub tokens_before: u64,
    pub tokens_after: u64,
    /// The session's entry that says so.
    pub entry_id: Option<String>,
    /// Why no model summed it up, or why nothing was done.
    pub error: Option<String>,
}

/// At most so many characters, the beginning; what is left out is counted.
pub(crate) fn clip_text(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_string(),
        Some((end, _)) => format!("{} (… {} more characters)", &text[..end], text[end..].chars().count()),
    }
}
