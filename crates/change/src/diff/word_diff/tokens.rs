//! A line as tokens: words, runs of blanks, and every other character by itself. Together they are the
//! whole line. Equal tokens of one run have equal ids.

use std::collections::HashMap;
use std::ops::Range;

use super::LINE_BYTES;

/// Stands for the text of a token.
type TokenId = u32;

pub(super) struct LineTokens<'a> {
    text: &'a str,
    pub(super) ids: Vec<TokenId>,
    /// Where each token begins, and finally where the line ends.
    starts: Vec<usize>,
    /// The weight of each token by its id, sorted.
    sorted: Vec<(TokenId, u64)>,
    pub(super) weight: u64,
    /// Short enough to be compared at all.
    pub(super) comparable: bool,
}

impl<'a> LineTokens<'a> {
    pub(super) fn of(text: &'a str, numbers: &mut HashMap<&'a str, TokenId>) -> LineTokens<'a> {
        let comparable = text.len() <= LINE_BYTES;
        let starts = if comparable { starts(text) } else { vec![0] };
        let (mut ids, mut sorted) = (Vec::new(), Vec::new());
        for token in starts.windows(2).map(|at| &text[at[0]..at[1]]) {
            let next = TokenId::try_from(numbers.len()).unwrap_or(TokenId::MAX);
            let id = *numbers.entry(token).or_insert(next);
            ids.push(id);
            sorted.push((id, weight(token)));
        }
        let weight = sorted.iter().map(|(_, weight)| weight).sum();
        sorted.sort_unstable();
        LineTokens { text, ids, starts, sorted, weight, comparable }
    }

    /// The weight of the tokens that both lines have, in any order.
    pub(super) fn shared_weight(&self, other: &LineTokens) -> u64 {
        let (mut mine, mut theirs) = (self.sorted.iter().peekable(), other.sorted.iter().peekable());
        let mut shared = 0;
        while let (Some((a, weight)), Some((b, _))) = (mine.peek(), theirs.peek()) {
            if a <= b {
                mine.next();
            }
            if a >= b {
                theirs.next();
            }
            if a == b {
                shared += *weight;
            }
        }
        shared
    }

    /// The weight of some tokens, by position.
    pub(super) fn weight_of(&self, tokens: Range<usize>) -> u64 {
        tokens.map(|token| weight(&self.text[self.starts[token]..self.starts[token + 1]])).sum()
    }

    /// Adds the bytes of some tokens to `ranges`, joined with the last range if only blanks are between.
    pub(super) fn mark(&self, tokens: Range<usize>, ranges: &mut Vec<Range<usize>>) {
        let bytes = self.starts[tokens.start]..self.starts[tokens.end];
        match ranges.last_mut() {
            _ if bytes.is_empty() => {}
            Some(last) if self.text[last.end..bytes.start].chars().all(char::is_whitespace) => {
                last.end = bytes.end;
            }
            _ => ranges.push(bytes),
        }
    }
}

/// Words distinguish lines; brackets and commas are everywhere; blanks mean nothing.
fn weight(token: &str) -> u64 {
    match token.chars().next().map(TokenCharKind::of) {
        Some(TokenCharKind::Word | TokenCharKind::Sign) => 2 * token.len() as u64,
        Some(TokenCharKind::Other) => token.len() as u64,
        Some(TokenCharKind::Blank) | None => 0,
    }
}

/// What a character is to a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenCharKind {
    Word,
    /// A word by itself: scripts without blanks between words.
    Sign,
    Blank,
    Other,
}

impl TokenCharKind {
    fn of(c: char) -> TokenCharKind {
        match c {
            _ if c.is_whitespace() => TokenCharKind::Blank,
            '\u{2E80}'.. if c.is_alphanumeric() => TokenCharKind::Sign,
            _ if c == '_' || c.is_alphanumeric() => TokenCharKind::Word,
            _ => TokenCharKind::Other,
        }
    }
}

/// Where the tokens of a text begin, and where it ends.
fn starts(text: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut last = None;
    for (at, c) in text.char_indices() {
        let sort = TokenCharKind::of(c);
        // A combining mark stays with the character before it.
        if last.is_some() && is_mark(c) {
            continue;
        }
        if last != Some(sort) || matches!(sort, TokenCharKind::Sign | TokenCharKind::Other) {
            starts.push(at);
        }
        last = Some(sort);
    }
    starts.push(text.len());
    starts
}

fn is_mark(c: char) -> bool {
    !c.is_ascii() && relaycode_text::width::cells(c.encode_utf8(&mut [0; 4])) == 0
}
