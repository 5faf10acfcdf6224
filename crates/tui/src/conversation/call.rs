//! A call on its way: its arguments come, it waits, it runs and prints, it has ended.

use std::time::Instant;

use relaycode_tools::{ToolCard, ToolProgress};
use serde_json::Value;

use super::LiveClock;
use crate::cards::{CLOSE_COLUMNS, CallCard, call_title, duration_text, tail_lines, title_line};
use crate::human_size;
use crate::layout::conversation_symbol::{ConversationSymbol, spinner, symbol};
use crate::layout::span_line::{SpanLine, shown};
use crate::theme::{ThemeStyle, ThemeToken};

/// Lines of what a call prints that are shown while it runs.
const LIVE_TAIL: usize = 5;
/// Shorter runs do not say how long they take.
const MIN_SHOWN_MS: u64 = 1_000;

pub(super) struct CallBlock {
    /// Known once the answer is whole.
    pub(super) id: Option<String>,
    pub(super) tool: String,
    /// From its arguments.
    pub(super) title: String,
    pub(super) state: CallState,
}

pub(super) enum CallState {
    /// So many bytes of its arguments came.
    Writing {
        bytes: usize,
    },
    Waiting,
    Running {
        since: Instant,
        progress: ToolProgress,
    },
    Ended(Box<CallCard>),
}

impl CallBlock {
    pub(super) fn written(tool: &str) -> CallBlock {
        CallBlock {
            id: None,
            tool: tool.to_string(),
            title: tool.to_string(),
            state: CallState::Writing { bytes: 0 },
        }
    }

    pub(super) fn known(id: &str, tool: &str, arguments: &Value) -> CallBlock {
        let title = call_title(tool, arguments);
        CallBlock { id: Some(id.to_string()), tool: tool.to_string(), title, state: CallState::Waiting }
    }

    pub(super) fn is_ended(&self) -> bool {
        matches!(self.state, CallState::Ended(_))
    }

    pub(super) fn has_begun(&self) -> bool {
        matches!(self.state, CallState::Running { .. } | CallState::Ended(_))
    }

    pub(super) fn end(&mut self, is_error: bool, card: ToolCard) {
        let (tool, arguments_title) = (self.tool.clone(), self.title.clone());
        self.state = CallState::Ended(Box::new(CallCard { tool, arguments_title, is_error, card }));
    }

    /// As long as it has not ended.
    pub(super) fn live_lines(&self, clock: &LiveClock, style: &ThemeStyle, width: usize) -> Vec<SpanLine> {
        let edge = if width < CLOSE_COLUMNS { "" } else { "  " };
        let dim = |text: String| SpanLine::painted(ThemeToken::Dim, text);
        // Of the remarks beside it, the first stays longest.
        let mut beside = Vec::new();
        let sign = match &self.state {
            CallState::Writing { bytes } => {
                beside.extend((*bytes >= 500).then(|| dim(human_size(*bytes))));
                spinner(style, clock.elapsed_ms())
            }
            CallState::Waiting => {
                beside.push(dim("waits".to_string()));
                symbol(style, ConversationSymbol::TaskOpen)
            }
            CallState::Running { since, progress } => {
                let took = clock.now.saturating_duration_since(*since).as_millis();
                let took = u64::try_from(took).unwrap_or(u64::MAX);
                // Tenths would change with every picture.
                let text = if took < 10_000 { format!("{} s", took / 1_000) } else { duration_text(took) };
                beside.extend((took >= MIN_SHOWN_MS).then(|| dim(text)));
                let status: String = progress.status.trim().chars().take(200).collect();
                if !status.is_empty() {
                    beside.push(SpanLine::painted(ThemeToken::Muted, shown(&style.output, &status)));
                }
                spinner(style, clock.elapsed_ms())
            }
            CallState::Ended(_) => return Vec::new(),
        };
        let head = SpanLine::plain(edge)
            .with(ThemeToken::Accent, sign)
            .then(" ")
            .append(title_line(&self.title, style));
        let mut lines = vec![beside_or_cut(head, beside, style, width)];
        if let CallState::Running { progress, .. } = &self.state {
            lines.extend(tail_lines(&progress.tail, LIVE_TAIL, style, width));
        }
        lines
    }
}

fn beside_or_cut(head: SpanLine, mut beside: Vec<SpanLine>, style: &ThemeStyle, width: usize) -> SpanLine {
    let dot = format!(" {} ", symbol(style, ConversationSymbol::Dot));
    while !beside.is_empty() {
        let remarks = beside.iter().cloned();
        let all = remarks.reduce(|line, next| line.with(ThemeToken::Dim, dot.as_str()).append(next));
        let all = all.unwrap_or_default();
        let room = width.saturating_sub(all.cells() + 2);
        if room >= head.cells() || room >= width / 2 {
            return head.clip(room, &style.output).then("  ").append(all);
        }
        beside.pop();
    }
    head.clip(width, &style.output)
}
