//! Colours of code that comes line by line. The only state is what is open at the end of a line: a comment, a string, a
//! tag. One pass over each line, whatever it holds.

use super::language::{StringForm, SyntaxFamily, SyntaxRules};
use super::{CODE_LINE_BYTES, CodeLanguage, CodeSpan};
use crate::theme::ThemeToken;

/// Nobody reads what is further right, and what is open there is not looked for.
const SCANNED_BYTES: usize = 16 << 10;
/// Deepest nesting of comments that is counted.
const COMMENT_DEPTH: u8 = 200;
/// Most `#` around a raw string.
const RAW_HASHES: usize = 32;

/// Types that many languages have, as far as they are written small.
const SMALL_TYPES: &str = " bool boolean byte char double error f32 f64 float i128 i16 i32 i64 i8 int int16 int32 int64 int8 isize long number \
     object rune short signed size_t ssize_t str string u128 u16 u32 u64 u8 uint uint16 uint32 uint64 uint8 uintptr unsigned usize void any \
     unknown never bytes dict list set tuple float32 float64 complex128 symbol bigint ";

/// Words that stand for a value or the thing itself.
const CONSTANTS: &str =
    " true false null nil none None True False undefined self this super Self crate NULL nullptr iota ";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenAtLineEnd {
    Nothing,
    Comment(u8),
    String(StringForm),
    /// `r##"`, with so many `#`.
    RawString(u8),
    Tag,
}

/// What colours the lines of one piece of code, from its first line on. Clones are cheap.
#[derive(Debug, Clone)]
pub struct CodeScanner {
    language: Option<CodeLanguage>,
    open: OpenAtLineEnd,
}

impl CodeScanner {
    /// Without a language every line is plain.
    pub fn new(language: Option<CodeLanguage>) -> CodeScanner {
        CodeScanner { language, open: OpenAtLineEnd::Nothing }
    }

    /// The colours of the next line, without its ending.
    pub fn next_line(&mut self, line: &str) -> Vec<CodeSpan> {
        let Some(language) = &self.language else { return Vec::new() };
        let rules = language.rules;
        let most = SCANNED_BYTES.min(line.len());
        let line = &line[..(0..=most).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0)];
        if rules.family == SyntaxFamily::Diff {
            return diff_line_token(line).map(|token| vec![(0..line.len(), token)]).unwrap_or_default();
        }
        let mut pass = LinePass { line, at: 0, spans: Vec::new(), language, rules, open: self.open };
        pass.run();
        self.open = pass.open;
        pass.spans
    }
}

/// The colour of a whole line of a unified diff.
pub fn diff_line_token(line: &str) -> Option<ThemeToken> {
    match line.as_bytes().first()? {
        _ if line.starts_with("+++") || line.starts_with("---") => Some(ThemeToken::ToolTitle),
        _ if line.starts_with("@@") => Some(ThemeToken::Accent),
        b'+' => Some(ThemeToken::ToolDiffAdded),
        b'-' => Some(ThemeToken::ToolDiffRemoved),
        _ => Some(ThemeToken::ToolDiffContext),
    }
}

struct LinePass<'a> {
    line: &'a str,
    at: usize,
    spans: Vec<CodeSpan>,
    language: &'a CodeLanguage,
    rules: &'static SyntaxRules,
    open: OpenAtLineEnd,
}

impl<'a> LinePass<'a> {
    fn run(&mut self) {
        match self.open {
            OpenAtLineEnd::Nothing => {}
            OpenAtLineEnd::Comment(depth) => self.comment(0, depth),
            OpenAtLineEnd::String(form) => self.string(0, form),
            OpenAtLineEnd::RawString(hashes) => self.raw_string(0, hashes),
            OpenAtLineEnd::Tag => {}
        }
        while self.at < self.line.len() {
            self.step();
        }
    }

    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    fn span(&mut self, from: usize, token: ThemeToken) {
        // A colour counts for what begins within the limit, and ends there.
        let to = self.at.min(CODE_LINE_BYTES);
        if from >= to || !self.line.is_char_boundary(to) {
            return;
        }
        match self.spans.last_mut() {
            Some((bytes, last)) if *last == token && bytes.end == from => bytes.end = to,
            _ => self.spans.push((from..to, token)),
        }
    }

    fn step(&mut self) {
        let (start, rest) = (self.at, self.rest());
        let Some(first) = rest.chars().next() else { return };
        if first.is_whitespace() {
            self.at += first.len_utf8();
            return;
        }
        if let Some((open, _)) = self.rules.block_comment
            && rest.starts_with(open)
        {
            self.at += open.len();
            return self.comment(start, 1);
        }
        if self.rules.line_comments.iter().any(|mark| rest.starts_with(mark)) && self.may_begin_comment() {
            self.at = self.line.len();
            return self.span(start, ThemeToken::SyntaxComment);
        }
        if self.rules.family == SyntaxFamily::Markup && self.open != OpenAtLineEnd::Tag {
            return self.markup_text(first);
        }
        if self.rules.rust && self.rust_quote(rest) {
            return;
        }
        if let Some(form) = self.rules.strings.iter().find(|form| rest.starts_with(form.open)) {
            self.at += form.open.len();
            return self.string(start, *form);
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        if is_word_char(first) || matches!(first, '$' | '@') {
            return self.word(first);
        }
        self.at += first.len_utf8();
        if self.open == OpenAtLineEnd::Tag && first == '>' {
            self.open = OpenAtLineEnd::Nothing;
        }
        let token = match first {
            '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | '.' => ThemeToken::SyntaxPunctuation,
            ':' if self.rules.family == SyntaxFamily::Data => ThemeToken::SyntaxPunctuation,
            _ if first.is_ascii_punctuation() => ThemeToken::SyntaxOperator,
            _ => return,
        };
        self.span(start, token);
    }

    /// `#` is a comment only where a word could begin: not in `$#` or `a#b`.
    fn may_begin_comment(&self) -> bool {
        let mark = self.line.as_bytes()[self.at];
        let before = self.line[..self.at].chars().next_back();
        !matches!(mark, b'#' | b';')
            || before
                .is_none_or(|c| c.is_whitespace() || (self.rules.family == SyntaxFamily::Code && c != '$'))
    }

    fn comment(&mut self, start: usize, mut depth: u8) {
        let Some((open, close)) = self.rules.block_comment else { return };
        loop {
            let rest = self.rest();
            let Some(end) = rest.find(close) else { break };
            let inner = rest.find(open).filter(|inner| self.rules.nested_comments && *inner < end);
            if let Some(inner) = inner {
                self.at += inner + open.len();
                depth = depth.saturating_add(1).min(COMMENT_DEPTH);
                continue;
            }
            self.at += end + close.len();
            depth -= 1;
            if depth == 0 {
                self.open = OpenAtLineEnd::Nothing;
                return self.span(start, ThemeToken::SyntaxComment);
            }
        }
        if self.rules.nested_comments {
            let more = self.rest().matches(open).count();
            depth = depth.saturating_add(u8::try_from(more).unwrap_or(COMMENT_DEPTH)).min(COMMENT_DEPTH);
        }
        self.at = self.line.len();
        self.open = OpenAtLineEnd::Comment(depth);
        self.span(start, ThemeToken::SyntaxComment);
    }

    fn string(&mut self, start: usize, form: StringForm) {
        let was_tag = self.open == OpenAtLineEnd::Tag || self.rules.family == SyntaxFamily::Markup;
        let bytes = self.line.as_bytes();
        loop {
            let Some(&byte) = bytes.get(self.at) else {
                // An escape may have taken the end of the line.
                self.at = self.line.len();
                self.open = if form.multiline { OpenAtLineEnd::String(form) } else { OpenAtLineEnd::Nothing };
                return self.span(start, ThemeToken::SyntaxString);
            };
            if form.escapes && byte == b'\\' {
                self.at += 1;
                self.at += self.rest().chars().next().map_or(0, char::len_utf8);
            } else if bytes[self.at..].starts_with(form.close.as_bytes()) {
                self.at += form.close.len();
                break;
            } else {
                self.at += 1;
            }
        }
        self.open = if was_tag { OpenAtLineEnd::Tag } else { OpenAtLineEnd::Nothing };
        let is_key = self.rules.family == SyntaxFamily::Data && self.rest().trim_start().starts_with(':');
        self.span(start, if is_key { ThemeToken::SyntaxFunction } else { ThemeToken::SyntaxString });
    }

    fn raw_string(&mut self, start: usize, hashes: u8) {
        let close = format!("\"{}", "#".repeat(usize::from(hashes)));
        match self.rest().find(&close) {
            Some(end) => {
                self.at += end + close.len();
                self.open = OpenAtLineEnd::Nothing;
            }
            None => {
                self.at = self.line.len();
                self.open = OpenAtLineEnd::RawString(hashes);
            }
        }
        self.span(start, ThemeToken::SyntaxString);
    }

    /// Characters, lifetimes and raw strings of Rust; `false` if there is none.
    fn rust_quote(&mut self, rest: &str) -> bool {
        let start = self.at;
        let raw =
            rest.strip_prefix("br").or_else(|| rest.strip_prefix("cr")).or_else(|| rest.strip_prefix('r'));
        if let Some(raw) = raw {
            let hashes = raw.bytes().take_while(|byte| *byte == b'#').count();
            if hashes <= RAW_HASHES && raw[hashes..].starts_with('"') {
                self.at += rest.len() - raw.len() + hashes + 1;
                self.raw_string(start, u8::try_from(hashes).unwrap_or(0));
                return true;
            }
        }
        let Some(quoted) = rest.strip_prefix('\'') else { return false };
        let mut chars = quoted.chars();
        let inner = match chars.next() {
            // `'\''`, `'\u{1f}'`
            Some('\\') => {
                quoted.get(2..).and_then(|more| more.find('\'')).map(|end| end + 2).filter(|end| *end < 12)
            }
            Some(c) if chars.next() == Some('\'') => Some(c.len_utf8()),
            _ => None,
        };
        match inner {
            Some(length) => {
                self.at += length + 2;
                self.span(start, ThemeToken::SyntaxString);
            }
            None => {
                self.at += 1 + quoted.find(|c| !is_word_char(c)).unwrap_or(quoted.len());
                self.span(start, ThemeToken::SyntaxType);
            }
        }
        true
    }

    fn number(&mut self) {
        let start = self.at;
        let bytes = self.line.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            let goes_on = byte.is_ascii_alphanumeric()
                || byte == b'_'
                || (byte == b'.' && bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit))
                || (matches!(byte, b'+' | b'-')
                    && matches!(bytes[self.at - 1], b'e' | b'E')
                    && !self.line[start..].starts_with("0x"));
            if !goes_on {
                break;
            }
            self.at += 1;
        }
        // In data a date or a version is no number.
        self.span(start, ThemeToken::SyntaxNumber);
    }

    fn word(&mut self, first: char) {
        let start = self.at;
        let dashes = self.rules.family != SyntaxFamily::Code;
        let rest = self.rest();
        let length = rest[first.len_utf8()..]
            .find(|c| !(is_word_char(c) || (dashes && c == '-')))
            .map_or(rest.len(), |end| end + first.len_utf8());
        self.at += length;
        let (word, behind) = rest.split_at(length);
        let token = match self.rules.family {
            SyntaxFamily::Code => self.code_word(start, word, behind),
            SyntaxFamily::Shell => self.shell_word(start, word),
            SyntaxFamily::Markup => Some(ThemeToken::SyntaxFunction),
            SyntaxFamily::Data => data_word(word, behind),
            SyntaxFamily::Diff => None,
        };
        if let Some(token) = token {
            self.span(start, token);
        }
    }

    fn is_keyword(&self, word: &str) -> bool {
        let words = &self.language.words;
        words.contains(word) || (self.rules.any_case && words.contains(word.to_ascii_lowercase().as_str()))
    }

    fn code_word(&self, start: usize, word: &str, behind: &str) -> Option<ThemeToken> {
        let is_member = self.line[..start].ends_with('.') && !self.line[..start].ends_with("..");
        let is_call = behind.starts_with('(') || (self.rules.rust && behind.starts_with("!("));
        if word.starts_with('@') {
            return Some(ThemeToken::SyntaxFunction);
        }
        if is_within(CONSTANTS, word) && !is_member {
            return Some(ThemeToken::SyntaxKeyword);
        }
        if is_within(SMALL_TYPES, word) && !is_call && !is_member {
            return Some(ThemeToken::SyntaxType);
        }
        if !is_member && self.is_keyword(word) {
            return Some(ThemeToken::SyntaxKeyword);
        }
        if is_call || (self.rules.rust && behind.starts_with('!') && !behind.starts_with("!=")) {
            return Some(ThemeToken::SyntaxFunction);
        }
        let mut chars = word.chars();
        let is_type = chars.next().is_some_and(char::is_uppercase) && chars.any(char::is_lowercase);
        Some(if is_type { ThemeToken::SyntaxType } else { ThemeToken::SyntaxVariable })
    }

    /// The first word of a command is what is called; options and arguments stay plain.
    fn shell_word(&mut self, start: usize, word: &str) -> Option<ThemeToken> {
        if word.starts_with('$') {
            return Some(ThemeToken::SyntaxVariable);
        }
        if self.is_keyword(word) {
            return Some(ThemeToken::SyntaxKeyword);
        }
        let before = self.line[..start].trim_end();
        let begins = before.is_empty()
            || before.ends_with(['|', ';', '(', '&', '$', '`'])
            || ["do", "then", "else", "sudo", "exec", "!"].iter().any(|word| before.ends_with(word));
        if begins && self.rest().starts_with('=') {
            return Some(ThemeToken::SyntaxVariable);
        }
        begins.then_some(ThemeToken::SyntaxFunction)
    }

    /// Text between tags, up to the next tag or comment.
    fn markup_text(&mut self, first: char) {
        let start = self.at;
        if first == '<' {
            let rest = self.rest();
            let name = rest[1..].trim_start_matches(['/', '!', '?']);
            let lead = rest.len() - name.len();
            let end = name.find(|c: char| !(is_word_char(c) || matches!(c, '-' | ':'))).unwrap_or(name.len());
            if end > 0 {
                self.at += lead;
                self.span(start, ThemeToken::SyntaxPunctuation);
                let from = self.at;
                self.at += end;
                self.span(from, ThemeToken::SyntaxKeyword);
                self.open = OpenAtLineEnd::Tag;
                return;
            }
        }
        self.at += first.len_utf8();
        self.at += self.rest().find('<').unwrap_or(self.rest().len());
    }
}

/// A word before a colon or an equals sign is a key.
fn data_word(word: &str, behind: &str) -> Option<ThemeToken> {
    let behind = behind.trim_start();
    if behind.starts_with('=')
        || behind.strip_prefix(':').is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    {
        return Some(ThemeToken::SyntaxFunction);
    }
    if word.starts_with('@') || is_within(" true false null yes no on off none important ", word) {
        return Some(ThemeToken::SyntaxKeyword);
    }
    None
}

fn is_within(list: &str, word: &str) -> bool {
    // Between blanks; a word holds none.
    list.match_indices(word).any(|(at, _)| {
        list.as_bytes().get(at.wrapping_sub(1)) == Some(&b' ')
            && list.as_bytes().get(at + word.len()) == Some(&b' ')
    })
}

fn is_word_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}
