//! A line being typed: its text, and what must be written so that the screen shows it.

use super::PromptKind;
use super::decode::InputKey;
use crate::{OutputStyle, cells};

/// Most bytes of an answer.
const LINE_BYTES: usize = 4_096;
/// Most bytes of something to be said, pasted text included.
const PROMPT_BYTES: usize = 256 << 10;

#[derive(Debug)]
pub(super) struct LineEditor {
    text: String,
    most: usize,
}

/// The effect of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineEditStep {
    /// Write this to the screen.
    Echo(String),
    Done,
    End,
}

impl LineEditor {
    pub(super) fn new(kind: PromptKind) -> LineEditor {
        let most = if kind == PromptKind::Words { PROMPT_BYTES } else { LINE_BYTES };
        LineEditor { text: String::new(), most }
    }

    /// Trimmed.
    pub(super) fn text(&self) -> &str {
        self.text.trim()
    }

    pub(super) fn apply_key(&mut self, key: InputKey, style: &OutputStyle) -> LineEditStep {
        match key {
            InputKey::Enter => LineEditStep::Done,
            InputKey::Ctrl('d') => LineEditStep::End,
            InputKey::Char(c) if self.text.len() < self.most => {
                self.text.push(c);
                LineEditStep::Echo(display_char(c, style))
            }
            InputKey::Backspace => LineEditStep::Echo(self.erase_last(1, style)),
            InputKey::Ctrl('u') => {
                let all = self.text.chars().count();
                LineEditStep::Echo(self.erase_last(all, style))
            }
            InputKey::Ctrl('w') => {
                let blanks = self.text.chars().rev().take_while(|c| c.is_whitespace()).count();
                let word = self.text.chars().rev().skip(blanks).take_while(|c| !c.is_whitespace()).count();
                LineEditStep::Echo(self.erase_last(blanks + word, style))
            }
            _ => LineEditStep::Echo(String::new()),
        }
    }

    /// Also on the screen.
    fn erase_last(&mut self, count: usize, style: &OutputStyle) -> String {
        let mut wide = 0;
        for _ in 0..count {
            let Some(c) = self.text.pop() else { break };
            wide += cells(&display_char(c, style));
        }
        "\u{8} \u{8}".repeat(wide)
    }
}

/// As the screen shows it.
fn display_char(c: char, style: &OutputStyle) -> String {
    style.safe(c.encode_utf8(&mut [0; 4])).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: OutputStyle = OutputStyle { color: false, utf8: true, width: Some(80) };

    fn typed(text: &str, line: &mut LineEditor) -> String {
        let keys = text.chars().map(|c| match c {
            '\u{7f}' => InputKey::Backspace,
            '\u{15}' => InputKey::Ctrl('u'),
            '\u{17}' => InputKey::Ctrl('w'),
            c => InputKey::Char(c),
        });
        let mut echo = String::new();
        for key in keys {
            match line.apply_key(key, &LOOK) {
                LineEditStep::Echo(more) => echo += &more,
                other => panic!("{other:?}"),
            }
        }
        echo
    }

    #[test]
    fn a_line_can_be_mended_while_it_is_typed() {
        let mut line = LineEditor::new(PromptKind::Question);
        assert_eq!(typed("n to\u{7f}he", &mut line), "n to\u{8} \u{8}he");
        assert_eq!(line.text(), "n the");
        typed(" tests  \u{17}\u{17}x", &mut line);
        assert_eq!(line.text(), "n x");
        typed("\u{15}y", &mut line);
        assert_eq!(line.text(), "y");
        assert_eq!(line.apply_key(InputKey::Enter, &LOOK), LineEditStep::Done);
    }

    #[test]
    fn wide_and_hostile_characters_are_taken_back_whole() {
        let mut line = LineEditor::new(PromptKind::Question);
        assert_eq!(typed("日\u{7f}", &mut line), "日\u{8} \u{8}\u{8} \u{8}");
        let echo = typed("\u{202e}", &mut line);
        assert!(!echo.contains('\u{202e}'));
        assert_eq!(cells(&echo) * 3, typed("\u{7f}", &mut line).len());
        assert_eq!(line.apply_key(InputKey::Ctrl('d'), &LOOK), LineEditStep::End);
    }
}
