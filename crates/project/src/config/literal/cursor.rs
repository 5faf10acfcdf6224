//! A place in a text that moves one character at a time and counts lines and columns on its way, so that
//! asking for the place costs nothing.

use super::{ConfigPosition, LiteralError};

#[derive(Debug, Clone)]
pub(super) struct LiteralCursor<'a> {
    rest: &'a str,
    place: ConfigPosition,
}

impl<'a> LiteralCursor<'a> {
    pub(super) fn new(text: &'a str) -> LiteralCursor<'a> {
        LiteralCursor { rest: text, place: ConfigPosition { line: 1, column: 1 } }
    }

    pub(super) fn place(&self) -> ConfigPosition {
        self.place
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.rest.starts_with(text)
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        let ends_line = match c {
            '\n' => true,
            '\r' => !self.rest.starts_with('\n'),
            _ => false,
        };
        if ends_line {
            self.place = ConfigPosition { line: self.place.line + 1, column: 1 };
        } else {
            self.place.column += 1;
        }
        Some(c)
    }

    /// Steps over `c` if it is next.
    pub(super) fn eat(&mut self, c: char) -> bool {
        let there = self.peek() == Some(c);
        if there {
            self.bump();
        }
        there
    }

    /// Steps over blanks and comments.
    pub(super) fn skip_blanks(&mut self) -> Result<(), LiteralError> {
        loop {
            match self.peek() {
                Some(c) if c.is_whitespace() => {
                    self.bump();
                }
                Some('/') if self.starts_with("//") => self.skip_line(),
                Some('/') if self.starts_with("/*") => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    /// Steps to the end of the line, by the rules of JavaScript.
    pub(super) fn skip_line(&mut self) {
        while let Some(c) = self.peek() {
            if matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}') {
                return;
            }
            self.bump();
        }
    }

    fn skip_comment(&mut self) -> Result<(), LiteralError> {
        let opened = self.fault("this comment is not closed");
        self.bump();
        self.bump();
        while !self.starts_with("*/") {
            if self.bump().is_none() {
                return Err(opened);
            }
        }
        self.bump();
        self.bump();
        Ok(())
    }

    /// The name that begins here; empty if none does.
    pub(super) fn word(&mut self) -> &'a str {
        let all = self.rest;
        let begins = |c: char| c.is_alphabetic() || matches!(c, '_' | '$');
        if self.peek().is_some_and(begins) {
            while self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$')) {
                self.bump();
            }
        }
        &all[..all.len() - self.rest.len()]
    }

    pub(super) fn fault(&self, what: impl Into<String>) -> LiteralError {
        LiteralError { at: self.place, what: what.into(), computed: false }
    }

    pub(super) fn computed(&self, what: impl Into<String>) -> LiteralError {
        LiteralError { at: self.place, what: what.into(), computed: true }
    }
}
