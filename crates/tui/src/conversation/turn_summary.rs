//! The line at the end of a turn: what it changed, what it cost, and how to take it back.
//!
//! ```text
//!   1 change, 2 files +58 −4 · 21k tokens, $0.06 · `/undo` takes it back
//! ```

use super::notice::short_count;
use crate::cards::{CLOSE_COLUMNS, counts};
use crate::layout::conversation_symbol::{ConversationSymbol, symbol};
use crate::layout::span_line::SpanLine;
use crate::pluralize;
use crate::theme::{ThemeStyle, ThemeToken};

/// Sums below half a cent are not worth a word.
const MIN_SHOWN_COST: f64 = 0.005;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TurnSummary {
    /// Entries of the log.
    pub changes: usize,
    /// What they are made of.
    pub edits: usize,
    pub files: usize,
    pub added: usize,
    pub removed: usize,
    /// Read and written by the model.
    pub tokens: u64,
    /// US dollars.
    pub cost: f64,
    /// Of the model's window.
    pub context_percent: Option<u64>,
    /// `/undo` takes the changes back.
    pub is_undoable: bool,
}

impl TurnSummary {
    pub fn is_empty(&self) -> bool {
        self.changes == 0 && self.tokens == 0
    }

    pub(super) fn lines(&self, style: &ThemeStyle, width: usize) -> Vec<SpanLine> {
        let edge = if width < CLOSE_COLUMNS { "" } else { "  " };
        let dot = format!(" {} ", symbol(style, ConversationSymbol::Dot));
        let mut parts = Vec::new();
        if self.changes > 0 {
            let what = format!("{}, {}", pluralize(self.changes, "change"), pluralize(self.files, "file"));
            let part = SpanLine::painted(ThemeToken::Dim, what);
            parts.push(match self.added + self.removed {
                0 => part,
                _ => part.then(" ").append(counts(self.added, self.removed, style)),
            });
        }
        if self.tokens > 0 {
            let cost = cost_text(self.cost).map(|cost| format!(", {cost}")).unwrap_or_default();
            let text = format!("{} tokens{cost}", short_count(self.tokens));
            parts.push(SpanLine::painted(ThemeToken::Dim, text));
        }
        if self.is_undoable && self.changes > 0 {
            let them = if self.changes == 1 { "it" } else { "them" };
            parts.push(SpanLine::painted(ThemeToken::Dim, format!("`/undo` takes {them} back")));
        }
        let mut lines: Vec<SpanLine> = Vec::new();
        for part in parts {
            match lines.last_mut() {
                Some(line) if line.cells() + dot.chars().count() + part.cells() <= width => {
                    *line = std::mem::take(line).with(ThemeToken::Dim, dot.as_str()).append(part);
                }
                _ => lines.extend(
                    SpanLine::plain(edge).append(part).wrap(width, &SpanLine::plain(format!("{edge}  "))),
                ),
            }
        }
        lines
    }
}

/// `$0.06`; nothing for what costs nothing.
pub(crate) fn cost_text(cost: f64) -> Option<String> {
    (cost.is_finite() && cost >= MIN_SHOWN_COST).then(|| format!("${cost:.2}"))
}
