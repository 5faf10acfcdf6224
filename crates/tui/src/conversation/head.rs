//! The first lines of a conversation: what this is, where the project stands, what to do next. Without a model: how to get one.
//!
//! ```text
//! relay 0.2 · my-app · main, 2 changed · sonnet-5 · workspace
//!   last  add retry to the client · 1 h ago
//!   ! 1 change waits for your answer: `relay apply`
//!   next  say what to do · /help lists commands
//! ```

use crate::layout::conversation_symbol::{ConversationSymbol, symbol};
use crate::layout::span_line::{SpanLine, shown};
use crate::theme::{ThemeStyle, ThemeToken};

/// Changes that are named.
const MAX_CHANGES: usize = 3;
const MAX_LINES: usize = 8;
const MAX_CHARS: usize = 400;

/// Everything in it may quote foreign text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConversationHead {
    /// Parts of the first line: `relay 0.2`, the project, its branch, the model, the access. Empty ones are left out.
    pub parts: Vec<String>,
    /// The latest changes, newest first: title, and when.
    pub last_changes: Vec<(String, String)>,
    /// What waits for somebody, in sentences.
    pub waiting: Vec<String>,
    /// What to do next, in sentences.
    pub next: Vec<String>,
    /// There is no model: ways to get one, each a command and what it does.
    pub ways_to_a_model: Vec<(String, String)>,
}

impl ConversationHead {
    pub(super) fn lines(&self, style: &ThemeStyle, width: usize) -> Vec<String> {
        let text = |text: &str| {
            let cut: String = text.chars().take(MAX_CHARS).collect();
            let cut = if style.output.utf8 { cut } else { cut.replace('·', "-") };
            shown(&style.output, cut.trim()).into_owned()
        };
        let dot = format!(" {} ", symbol(style, ConversationSymbol::Dot));
        let mut lines =
            vec![first_line(&self.parts.iter().map(|part| text(part)).collect::<Vec<_>>(), &dot, width)];
        let label = |name: &str| SpanLine::plain("  ").with(ThemeToken::Muted, name).padded(8);
        let below = SpanLine::plain(" ".repeat(8));
        for (at, (title, when)) in self.last_changes.iter().take(MAX_CHANGES).enumerate() {
            let lead = if at == 0 { label("last") } else { below.clone() };
            let when = SpanLine::painted(ThemeToken::Dim, format!("{dot}{}", text(when)));
            let room = width.saturating_sub(when.cells());
            lines.push(
                lead.then(text(title)).clip(room, &style.output).append(when).clip(width, &style.output),
            );
        }
        for sentence in self.waiting.iter().take(MAX_LINES) {
            let lead = SpanLine::plain("  ")
                .with(ThemeToken::Warning, symbol(style, ConversationSymbol::Attention))
                .then(" ");
            lines.extend(lead.then(text(sentence)).wrap(width, &SpanLine::plain("    ")));
        }
        if !self.ways_to_a_model.is_empty() {
            let lead = SpanLine::plain("  ")
                .with(ThemeToken::Warning, symbol(style, ConversationSymbol::Attention))
                .then(" ");
            lines.extend(
                lead.then("There is no model yet. Any of these gets you one:")
                    .wrap(width, &SpanLine::plain("    ")),
            );
            let widest = self
                .ways_to_a_model
                .iter()
                .map(|(command, _)| text(command).chars().count())
                .max()
                .unwrap_or(0);
            for (command, does) in self.ways_to_a_model.iter().take(MAX_LINES) {
                let lead = SpanLine::plain("    ").with(ThemeToken::Accent, text(command));
                let column = 4 + widest + 2;
                if column + 24 <= width {
                    let lead = lead.padded(column);
                    lines.extend(lead.then(text(does)).wrap(width, &SpanLine::plain(" ".repeat(column))));
                } else {
                    lines.extend(lead.wrap(width, &SpanLine::plain("      ")));
                    let below = SpanLine::plain("      ");
                    lines.extend(below.clone().with(ThemeToken::Muted, text(does)).wrap(width, &below));
                }
            }
        }
        for (at, sentence) in self.next.iter().take(MAX_LINES).enumerate() {
            let lead = if at == 0 { label("next") } else { below.clone() };
            lines.extend(lead.then(text(sentence)).wrap(width, &below));
        }
        lines.into_iter().map(|line| line.clip(width, &style.output).paint(style)).collect()
    }
}

/// As many parts as have room; the first always.
fn first_line(parts: &[String], dot: &str, width: usize) -> SpanLine {
    let mut line = SpanLine::default();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if line.is_empty() {
            line = SpanLine::painted(ThemeToken::Accent, part);
            continue;
        }
        let longer = line.clone().with(ThemeToken::Dim, dot).with(ThemeToken::Muted, part);
        if longer.cells() <= width {
            line = longer;
        }
    }
    line
}
