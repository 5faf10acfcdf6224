//! The words of an answer as they come: what stands for a secret is replaced by it, and lines are given out as soon as they cannot
//! change any more.

use std::hash::{DefaultHasher, Hasher};
use std::time::Instant;

use super::plain_stream::PlainStream;
use crate::markdown::MarkdownStream;
use crate::theme::{ThemeStyle, ThemeToken};

/// Bytes of a word that waits for its end; a longer one is shown in pieces.
const MAX_WORD_BYTES: usize = 4_096;

/// Lines of a code block that are shown.
const MAX_CODE_LINES: usize = 200;

/// Gives back what stands for a secret.
pub type TextUnmask = Box<dyn Fn(&str) -> String + Send>;

/// How an answer becomes lines.
type AnswerLines = MarkdownStream;

fn answer_lines() -> AnswerLines {
    MarkdownStream::new().with_folded_code(MAX_CODE_LINES)
}

/// A text of an answer.
pub(super) struct AnswerText {
    lines: AnswerLines,
    words: HeldWords,
    is_open: bool,
    /// Something else than blank lines came.
    has_begun: bool,
}

/// What the model thought.
pub(super) struct ThoughtText {
    /// The text is shown, not only its length.
    pub(super) is_shown: bool,
    lines: PlainStream,
    words: HeldWords,
    is_open: bool,
    pub(super) count: usize,
    pub(super) began: Option<Instant>,
    pub(super) ended: Option<Instant>,
    /// Kept to be shown when asked for, bounded.
    pub(super) kept: String,
}

/// Bytes of a thought that can be unfolded later.
const MAX_THOUGHT_BYTES: usize = 256 << 10;

/// A word that has not ended: a placeholder may be in it, which is shown as what it stands for.
#[derive(Default)]
struct HeldWords {
    word: String,
    seen: usize,
    hash: DefaultHasher,
}

impl HeldWords {
    /// What can be shown of `delta` and of what was held back.
    fn push(&mut self, delta: &str, unmask: Option<&TextUnmask>) -> String {
        self.seen += delta.len();
        self.hash.write(delta.as_bytes());
        let Some(unmask) = unmask else { return delta.to_string() };
        self.word.push_str(delta);
        let end = self.word.rfind(char::is_whitespace);
        let end = end.map(|at| at + self.word[at..].chars().next().map_or(0, char::len_utf8));
        let end = end.unwrap_or(if self.word.len() > MAX_WORD_BYTES { self.word.len() } else { 0 });
        let rest = self.word.split_off(end);
        let whole = std::mem::replace(&mut self.word, rest);
        if whole.is_empty() { whole } else { unmask(&whole) }
    }

    fn finish(&mut self, unmask: Option<&TextUnmask>) -> String {
        let word = std::mem::take(&mut self.word);
        unmask.filter(|_| !word.is_empty()).map_or_else(String::new, |unmask| unmask(&word))
    }

    /// What of the whole text was not seen; `None`: the whole text is another.
    fn unseen<'t>(&self, whole: &'t str) -> Option<&'t str> {
        let (seen, rest) = (whole.get(..self.seen)?, whole.get(self.seen..)?);
        let mut hash = DefaultHasher::new();
        hash.write(seen.as_bytes());
        (hash.finish() == self.hash.finish()).then_some(rest)
    }
}

impl AnswerText {
    pub(super) fn new() -> AnswerText {
        AnswerText { lines: answer_lines(), words: HeldWords::default(), is_open: true, has_begun: false }
    }

    pub(super) fn push(&mut self, delta: &str, unmask: Option<&TextUnmask>) {
        let text = self.words.push(delta, unmask);
        self.show(&text);
    }

    fn show(&mut self, text: &str) {
        // An answer may begin with empty lines.
        let text = if self.has_begun { text } else { text.trim_start_matches(['\n', '\r']) };
        self.has_begun |= !text.trim().is_empty();
        if self.has_begun {
            self.lines.push(text);
        }
    }

    /// No more comes. `whole`: the text as the session has it; what was not seen of it is shown.
    pub(super) fn finish(&mut self, whole: Option<&str>, unmask: Option<&TextUnmask>) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        if let Some(rest) = whole.and_then(|whole| self.words.unseen(whole)).map(str::to_string) {
            self.push(&rest, unmask);
        }
        let last = self.words.finish(unmask);
        self.show(&last);
        self.lines.finish();
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    pub(super) fn is_blank(&self) -> bool {
        !self.has_begun
    }

    pub(super) fn take_finished(&mut self, style: &ThemeStyle, width: usize) -> Vec<String> {
        self.lines.take_finished(style, width)
    }

    pub(super) fn live(&self, style: &ThemeStyle, width: usize) -> Vec<String> {
        self.lines.live(style, width)
    }
}

impl ThoughtText {
    pub(super) fn new(is_shown: bool, began: Option<Instant>) -> ThoughtText {
        ThoughtText {
            is_shown,
            lines: PlainStream::new(ThemeToken::ThinkingText),
            words: HeldWords::default(),
            is_open: true,
            count: 0,
            began,
            ended: None,
            kept: String::new(),
        }
    }

    pub(super) fn push(&mut self, delta: &str, unmask: Option<&TextUnmask>) {
        let text = self.words.push(delta, unmask);
        self.show(&text);
    }

    fn show(&mut self, text: &str) {
        let in_word = self.kept.chars().next_back().is_some_and(|c| !c.is_whitespace());
        let begins_in_word = text.chars().next().is_some_and(|c| !c.is_whitespace());
        self.count += text.split_whitespace().count() - usize::from(in_word && begins_in_word);
        if self.kept.len() + text.len() <= MAX_THOUGHT_BYTES {
            self.kept.push_str(text);
        }
        if self.is_shown {
            self.lines.push(text);
        }
    }

    pub(super) fn finish(&mut self, whole: Option<&str>, unmask: Option<&TextUnmask>, now: Option<Instant>) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        if let Some(rest) = whole.and_then(|whole| self.words.unseen(whole)).map(str::to_string) {
            self.push(&rest, unmask);
        }
        let last = self.words.finish(unmask);
        self.show(&last);
        self.lines.finish();
        self.ended = now;
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    pub(super) fn take_finished(&mut self, style: &ThemeStyle, width: usize) -> Vec<String> {
        self.lines.take_finished(style, width)
    }

    pub(super) fn live(&self, style: &ThemeStyle, width: usize) -> Vec<String> {
        self.lines.live(style, width)
    }
}
