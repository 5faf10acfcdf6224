//! A line that is being typed: what it says, and what has to be written so that the screen shows it.

use relaycode_text::width::cells;

use super::decode::Key;
use crate::look::Look;

/// Bytes of a line that are taken.
const LINE_BYTES: usize = 4_096;

/// A line on its way.
#[derive(Debug, Default)]
pub(super) struct Line {
    text: String,
}

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// This is to be written.
    Echo(String),
    /// The line is complete.
    Done,
    /// The end of input.
    End,
}

impl Line {
    /// What was typed, without blanks around it.
    pub(super) fn text(&self) -> &str {
        self.text.trim()
    }

    pub(super) fn key(&mut self, key: Key, look: &Look) -> Step {
        match key {
            Key::Enter => Step::Done,
            Key::Ctrl('d') => Step::End,
            Key::Char(c) if self.text.len() < LINE_BYTES => {
                self.text.push(c);
                Step::Echo(shown(c, look))
            }
            Key::Backspace => Step::Echo(self.rub_out(1, look)),
            Key::Ctrl('u') => {
                let all = self.text.chars().count();
                Step::Echo(self.rub_out(all, look))
            }
            Key::Ctrl('w') => {
                let blanks = self.text.chars().rev().take_while(|c| c.is_whitespace()).count();
                let word = self.text.chars().rev().skip(blanks).take_while(|c| !c.is_whitespace()).count();
                Step::Echo(self.rub_out(blanks + word, look))
            }
            _ => Step::Echo(String::new()),
        }
    }

    /// Takes the last characters away, on the screen as well.
    fn rub_out(&mut self, count: usize, look: &Look) -> String {
        let mut wide = 0;
        for _ in 0..count {
            let Some(c) = self.text.pop() else { break };
            wide += cells(&shown(c, look));
        }
        "\u{8} \u{8}".repeat(wide)
    }
}

/// A character as it is shown.
fn shown(c: char, look: &Look) -> String {
    look.safe(c.encode_utf8(&mut [0; 4])).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Look = Look { color: false, utf8: true, width: Some(80) };

    fn typed(text: &str, line: &mut Line) -> String {
        let keys = text.chars().map(|c| match c {
            '\u{7f}' => Key::Backspace,
            '\u{15}' => Key::Ctrl('u'),
            '\u{17}' => Key::Ctrl('w'),
            c => Key::Char(c),
        });
        let mut echo = String::new();
        for key in keys {
            match line.key(key, &LOOK) {
                Step::Echo(more) => echo += &more,
                other => panic!("{other:?}"),
            }
        }
        echo
    }

    #[test]
    fn a_line_can_be_mended_while_it_is_typed() {
        let mut line = Line::default();
        assert_eq!(typed("n to\u{7f}he", &mut line), "n to\u{8} \u{8}he");
        assert_eq!(line.text(), "n the");
        typed(" tests  \u{17}\u{17}x", &mut line);
        assert_eq!(line.text(), "n x");
        typed("\u{15}y", &mut line);
        assert_eq!(line.text(), "y");
        assert_eq!(line.key(Key::Enter, &LOOK), Step::Done);
    }

    #[test]
    fn wide_and_hostile_characters_are_taken_back_whole() {
        let mut line = Line::default();
        assert_eq!(typed("日\u{7f}", &mut line), "日\u{8} \u{8}\u{8} \u{8}");
        let echo = typed("\u{202e}", &mut line);
        assert!(!echo.contains('\u{202e}'));
        assert_eq!(cells(&echo) * 3, typed("\u{7f}", &mut line).len());
        assert_eq!(line.key(Key::Ctrl('d'), &LOOK), Step::End);
    }
}
