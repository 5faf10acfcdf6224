//! A line being typed: its text, and what must be written so that the screen shows it.

use std::ops::Range;

use super::PromptKind;
use super::decode::InputKey;
use crate::{OutputStyle, cells};

/// Most bytes of an answer.
const LINE_BYTES: usize = 4_096;
/// Most bytes of something to be said, pasted text included.
pub(crate) const PROMPT_BYTES: usize = 256 << 10;

#[derive(Debug)]
pub(super) struct LineEditor {
    text: String,
    most: usize,
    kind: PromptKind,
    /// Bytes that nobody typed at this prompt: what was pasted, or typed before.
    given: Vec<Range<usize>>,
}

/// What was said at a prompt for words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypedWords {
    text: String,
    given: Vec<Range<usize>>,
}

impl TypedWords {
    /// `given`: the bytes of `text` that nobody typed.
    pub fn new(text: String, given: Vec<Range<usize>>) -> TypedWords {
        TypedWords { text, given }
    }

    /// As it was typed; a blank in front counts.
    pub fn text(&self) -> &str {
        self.text.trim_end()
    }

    /// The words that were typed at the prompt from their first letter to their last: no pasted text is in them.
    pub fn typed(&self) -> impl Iterator<Item = &str> {
        let is_typed = |word: &&str| {
            let start = word.as_ptr().addr() - self.text.as_ptr().addr();
            self.given.iter().all(|given| given.end <= start || start + word.len() <= given.start)
        };
        self.text.split_whitespace().filter(is_typed)
    }
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
        LineEditor { text: String::new(), most, kind, given: Vec::new() }
    }

    pub(super) fn kind(&self) -> PromptKind {
        self.kind
    }

    pub(super) fn into_words(self) -> TypedWords {
        TypedWords { text: self.text, given: self.given }
    }

    /// Adds text that was not typed here; what of it is shown.
    pub(super) fn push_given(&mut self, text: &str, style: &OutputStyle) -> String {
        let start = self.text.len();
        let room = self.most.saturating_sub(start);
        let end = (0..=text.len().min(room)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        self.text.push_str(&text[..end]);
        self.given.push(start..self.text.len());
        text[..end].chars().map(|c| display_char(c, style)).collect()
    }

    /// Nothing was typed.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Trimmed.
    pub(super) fn text(&self) -> &str {
        self.text.trim()
    }

    pub(super) fn apply_key(&mut self, key: InputKey, style: &OutputStyle) -> LineEditStep {
        match key {
            InputKey::Enter => LineEditStep::Done,
            // What is being said is not lost by a slip.
            InputKey::Ctrl('d') if self.kind != PromptKind::Words || self.is_empty() => LineEditStep::End,
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
        let end = self.text.len();
        self.given.retain(|given| given.start < end);
        self.given.iter_mut().for_each(|given| given.end = given.end.min(end));
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

    #[test]
    fn words_that_were_pasted_even_in_part_are_not_typed() {
        let mut line = LineEditor::new(PromptKind::Words);
        typed(" /look @a @", &mut line);
        assert_eq!(line.push_given("etc @b\n@c", &LOOK), "etc @b\\n@c");
        typed("d @e", &mut line);
        assert_eq!(line.apply_key(InputKey::Ctrl('d'), &LOOK), LineEditStep::Echo(String::new()));
        let words = line.into_words();
        assert_eq!(words.text(), " /look @a @etc @b\n@cd @e");
        assert_eq!(words.typed().collect::<Vec<_>>(), ["/look", "@a", "@e"]);
        // What is erased is not known as pasted any more.
        let mut line = LineEditor::new(PromptKind::Words);
        line.push_given("@a", &LOOK);
        typed("\u{15}@a", &mut line);
        assert_eq!(line.into_words().typed().collect::<Vec<_>>(), ["@a"]);
        let mut line = LineEditor::new(PromptKind::Words);
        assert_eq!(line.apply_key(InputKey::Ctrl('d'), &LOOK), LineEditStep::End);
    }
}
