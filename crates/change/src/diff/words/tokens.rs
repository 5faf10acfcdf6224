//! A line as tokens: words, runs of blanks, and every other character by itself. Together they are the
//! whole line. Equal tokens of one run have equal numbers.

use std::collections::HashMap;
use std::ops::Range;

use super::LINE_BYTES;

/// The number that stands for a text of a token.
type Id = u32;

/// The tokens of one line.
pub(super) struct Tokens<'a> {
    text: &'a str,
    /// What the tokens are.
    pub(super) ids: Vec<Id>,
    /// Where each begins, and after the last one, where the line ends.
    starts: Vec<usize>,
    /// The weight of each token, by its number, rising.
    sorted: Vec<(Id, u64)>,
    /// The weight of all of them.
    pub(super) weight: u64,
    /// Whether the line is short enough to be compared at all.
    pub(super) comparable: bool,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(text: &'a str, numbers: &mut HashMap<&'a str, Id>) -> Tokens<'a> {
        let comparable = text.len() <= LINE_BYTES;
        let starts = if comparable { starts(text) } else { vec![0] };
        let ids: Vec<Id> = starts
            .windows(2)
            .map(|at| {
                let next = Id::try_from(numbers.len()).unwrap_or(Id::MAX);
                *numbers.entry(&text[at[0]..at[1]]).or_insert(next)
            })
            .collect();
        let mut sorted: Vec<(Id, u64)> =
            starts.windows(2).zip(&ids).map(|(at, id)| (*id, weight(&text[at[0]..at[1]]))).collect();
        let weight = sorted.iter().map(|(_, weight)| weight).sum();
        sorted.sort_unstable();
        Tokens { text, ids, starts, sorted, weight, comparable }
    }

    /// The weight of the tokens that both lines have, in whatever order.
    pub(super) fn shared_weight(&self, other: &Tokens) -> u64 {
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

    /// The weight of some tokens, by their positions.
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

/// Words tell lines apart; brackets and commas are everywhere; blanks say nothing.
fn weight(token: &str) -> u64 {
    match token.chars().next().map(Sort::of) {
        Some(Sort::Word | Sort::Sign) => 2 * token.len() as u64,
        Some(Sort::Other) => token.len() as u64,
        Some(Sort::Blank) | None => 0,
    }
}

/// What a character is to a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// Part of a word.
    Word,
    /// A word by itself: scripts without blanks between words.
    Sign,
    Blank,
    Other,
}

impl Sort {
    fn of(c: char) -> Sort {
        match c {
            _ if c.is_whitespace() => Sort::Blank,
            '\u{2E80}'.. if c.is_alphanumeric() => Sort::Sign,
            '_' => Sort::Word,
            _ if c.is_alphanumeric() => Sort::Word,
            _ => Sort::Other,
        }
    }
}

/// Where the tokens of a text begin, and where it ends.
fn starts(text: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut last = None;
    for (at, c) in text.char_indices() {
        let sort = Sort::of(c);
        // A mark that stands on the character before it is never torn from it.
        let joins = last.is_some() && is_mark(c);
        let goes_on = last == Some(sort) && matches!(sort, Sort::Word | Sort::Blank);
        if joins {
            continue;
        }
        if !goes_on {
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
