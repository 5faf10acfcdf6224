//! What was typed while the agent works, and waits to be said: above the editor, so that nobody types it twice.
//!
//! ```text
//!   ↳ next: use the other client                                  Alt-Up takes it back
//!   ↳ then: and run the tests
//! ```

use crate::cards::CLOSE_COLUMNS;
use crate::layout::conversation_symbol::{ConversationSymbol, symbol};
use crate::layout::span_line::{SpanLine, shown};
use crate::theme::{ThemeStyle, ThemeToken};

/// Characters of what waits that are looked at.
const MAX_CHARS: usize = 1_000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueuedWords {
    /// Said as soon as possible.
    pub steering: Vec<String>,
    /// Said when the agent is done.
    pub follow_up: Vec<String>,
}

impl QueuedWords {
    pub fn len(&self) -> usize {
        self.steering.len() + self.follow_up.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// At most `most` lines. `take_back` is the key that takes them back, as people read it.
    pub fn lines(&self, take_back: &str, style: &ThemeStyle, width: usize, most: usize) -> Vec<String> {
        if self.is_empty() || most == 0 {
            return Vec::new();
        }
        let edge = if width < CLOSE_COLUMNS { "" } else { "  " };
        let sign = symbol(style, ConversationSymbol::Queued);
        let next = self.steering.iter().map(|words| ("next", words));
        let then = self.follow_up.iter().map(|words| ("then", words));
        let room = if self.len() <= most { most } else { most - 1 };
        let rows = next.chain(then).take(room);
        let mut lines: Vec<SpanLine> = rows
            .map(|(when, words)| {
                let words: String = words.trim().chars().take(MAX_CHARS).collect();
                let words: Vec<&str> = words.split_whitespace().collect();
                let words = shown(&style.output, &words.join(" ")).into_owned();
                SpanLine::painted(ThemeToken::Dim, format!("{edge}{sign} {when}: "))
                    .with(ThemeToken::Muted, words)
            })
            .collect();
        if self.len() > room {
            let dots = symbol(style, ConversationSymbol::Ellipsis);
            lines
                .push(SpanLine::painted(ThemeToken::Dim, format!("{edge}{dots} {} more", self.len() - room)));
        }
        let them = if self.len() == 1 { "it" } else { "them" };
        let hint = SpanLine::painted(ThemeToken::Dim, format!("{take_back} takes {them} back"));
        if let Some(first) = lines.first_mut()
            && first.cells() + hint.cells() + 2 <= width
            && let Some(line) = first.clone().justify(hint, width)
        {
            *first = line;
        }
        lines.into_iter().map(|line| line.clip(width, &style.output).paint(style)).collect()
    }
}
