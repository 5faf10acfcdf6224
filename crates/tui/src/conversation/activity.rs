//! What the agent does at the moment, in a few words: for the status line, and as a line of its own where nothing else moves.

use std::time::{Duration, Instant};

use relaycode_agent::AgentEvent;
use relaycode_agent::event::MessageUpdate;

use super::LiveClock;
use crate::cards::{CLOSE_COLUMNS, duration_text};
use crate::layout::conversation_symbol::{ConversationSymbol, spinner, symbol};
use crate::layout::span_line::{SpanLine, shown};
use crate::theme::{ThemeStyle, ThemeToken};

/// A wait that is shorter says no time.
const MIN_SHOWN: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationActivity {
    Idle,
    /// The model has said nothing yet.
    Waiting {
        since: Instant,
    },
    Thinking {
        since: Instant,
    },
    Writing {
        since: Instant,
    },
    /// Tools run.
    Working {
        since: Instant,
    },
    /// It is tried again.
    Retrying {
        until: Instant,
    },
    /// Room is made.
    Compacting {
        since: Instant,
    },
    /// The project's own check runs.
    Checking {
        command: String,
        since: Instant,
    },
    /// Somebody has to answer.
    Asking {
        since: Instant,
    },
}

impl ConversationActivity {
    pub(super) fn apply(&mut self, event: &AgentEvent, now: Instant) {
        let since = now;
        *self = match event {
            AgentEvent::AgentStart { .. } | AgentEvent::TurnStart { .. } | AgentEvent::MessageStart => {
                match self {
                    ConversationActivity::Waiting { since } => {
                        ConversationActivity::Waiting { since: *since }
                    }
                    _ => ConversationActivity::Waiting { since },
                }
            }
            AgentEvent::MessageUpdate { update } => match (update, &*self) {
                (MessageUpdate::ThinkingDelta { .. }, ConversationActivity::Thinking { .. })
                | (
                    MessageUpdate::TextDelta { .. }
                    | MessageUpdate::ToolcallStart { .. }
                    | MessageUpdate::ToolcallDelta { .. },
                    ConversationActivity::Writing { .. },
                ) => return,
                (MessageUpdate::ThinkingDelta { .. }, _) => ConversationActivity::Thinking { since },
                _ => ConversationActivity::Writing { since },
            },
            AgentEvent::ToolExecutionStart { .. } => match self {
                ConversationActivity::Working { .. } => return,
                _ => ConversationActivity::Working { since },
            },
            AgentEvent::RequestRetry { delay_ms, .. } | AgentEvent::AutoRetryStart { delay_ms, .. } => {
                ConversationActivity::Retrying { until: now + Duration::from_millis(*delay_ms) }
            }
            AgentEvent::AutoCompactionStart { .. } => ConversationActivity::Compacting { since },
            AgentEvent::AutoCompactionEnd { .. } => ConversationActivity::Waiting { since },
            AgentEvent::ProjectCheckStart { command } => {
                ConversationActivity::Checking { command: command.clone(), since }
            }
            AgentEvent::ProjectCheckEnd { .. } => ConversationActivity::Waiting { since },
            AgentEvent::QuestionAsked { .. } => ConversationActivity::Asking { since },
            AgentEvent::QuestionAnswered { .. } => ConversationActivity::Working { since },
            AgentEvent::AgentEnd { .. } => ConversationActivity::Idle,
            _ => return,
        };
    }

    pub fn is_idle(&self) -> bool {
        *self == ConversationActivity::Idle
    }

    /// Whether its words or its spinner change by themselves. A question waits without moving.
    pub fn is_animated(&self) -> bool {
        !matches!(self, ConversationActivity::Idle | ConversationActivity::Asking { .. })
    }

    /// `thinking · 12 s`. Foreign text may be in it. Empty if nothing is done.
    pub fn text(&self, now: Instant) -> String {
        let timed = |what: &str, since: Instant| {
            let took = now.saturating_duration_since(since);
            let seconds = u64::try_from(took.as_millis() / 1_000 * 1_000).unwrap_or(u64::MAX);
            match took < MIN_SHOWN {
                true => what.to_string(),
                false => format!("{what}, {}", duration_text(seconds).replace(".0 s", " s")),
            }
        };
        match self {
            ConversationActivity::Idle => String::new(),
            ConversationActivity::Waiting { since } => timed("waiting for the model", *since),
            ConversationActivity::Thinking { since } => timed("thinking", *since),
            ConversationActivity::Writing { since } => timed("writing", *since),
            ConversationActivity::Working { since } => timed("working", *since),
            ConversationActivity::Retrying { until } => {
                let left = until.saturating_duration_since(now).as_millis().div_ceil(1_000);
                if left == 0 { "trying again".to_string() } else { format!("trying again in {left} s") }
            }
            ConversationActivity::Compacting { since } => timed("summing up the conversation", *since),
            ConversationActivity::Checking { command, since } => {
                let command: String = command.chars().take(200).collect();
                timed(&format!("checking with `{command}`"), *since)
            }
            ConversationActivity::Asking { .. } => "waiting for your answer".to_string(),
        }
    }

    /// As a line of its own, where no block shows it.
    pub(super) fn waiting_line(
        &self,
        is_block_shown: bool,
        clock: &LiveClock,
        style: &ThemeStyle,
        width: usize,
    ) -> Option<String> {
        let is_told = match self {
            ConversationActivity::Retrying { .. }
            | ConversationActivity::Compacting { .. }
            | ConversationActivity::Checking { .. } => true,
            ConversationActivity::Idle | ConversationActivity::Asking { .. } => false,
            _ => !is_block_shown,
        };
        if !is_told {
            return None;
        }
        let edge = if width < CLOSE_COLUMNS { "" } else { "  " };
        let text = self.text(clock.now);
        let dot = symbol(style, ConversationSymbol::Dot);
        let line = SpanLine::plain(edge)
            .with(ThemeToken::Accent, spinner(style, clock.elapsed_ms()))
            .with(ThemeToken::Muted, format!(" {}", shown(&style.output, &text)));
        let hint = SpanLine::painted(ThemeToken::Dim, format!(" {dot} Esc stops"));
        let line = if line.cells() + hint.cells() <= width { line.append(hint) } else { line };
        Some(line.clip(width, &style.output).paint(style))
    }
}
