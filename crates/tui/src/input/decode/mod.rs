//! Turns a terminal's bytes into keys and pasted text.
//!
//! Pasted text is never taken for keys: terminals that know bracketed paste mark it, and a burst from one
//! that does not counts as a paste, too. A paste ends where the terminal says so; bytes right behind it,
//! even if they are read later, were not typed by anybody, and are dropped.

#[cfg(test)]
mod tests;

use std::time::Duration;

use super::key_press::{KeyCode, KeyPress};
use super::key_sequence::{SequenceMeaning, meaning};
use super::terminal_reply::TerminalReply;

/// A key as questions and `relay watch` see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKey {
    Char(char),
    Enter,
    Backspace,
    /// `Ctrl('u')`.
    Ctrl(char),
    /// Escape alone.
    Escape,
    /// Arrows, function keys, unknown sequences.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalInput {
    Key(InputKey),
    Paste(PastedText),
}

/// What a terminal sent, as the conversation sees it; a key also as questions do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodedInput {
    /// `press` is `None` for keys that relay does not know.
    Key {
        key: InputKey,
        press: Option<KeyPress>,
    },
    Paste(PastedText),
    /// The window is looked at, or not any more.
    Focus(bool),
    Reply(TerminalReply),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastedText {
    /// With line feeds between lines; at most [`PASTE_BYTES`].
    pub bytes: Vec<u8>,
    /// There was more.
    pub truncated: bool,
}

/// Bytes kept of a paste: as many as an answer may have, plus one that shows it has too many.
pub const PASTE_BYTES: usize = (4 << 20) + 1;
/// Longest escape sequence; a longer one is given up.
const SEQUENCE_BYTES: usize = 32;
/// Longest reply that is a string.
const REPLY_BYTES: usize = 1_024;
/// After this long nothing more belongs to a burst or a sequence.
pub const BURST_TIMEOUT: Duration = Duration::from_millis(60);
/// After this long nothing more belongs to a marked paste whose end was seen.
pub const PASTE_END_TIMEOUT: Duration = Duration::from_millis(20);

const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// How bursts are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedInput {
    /// Single keys: more than one different character at once is a paste.
    Keys,
    /// A line: a burst that is one line, finished or not, may have been typed.
    Line,
    /// Anything a person types into a conversation, also fast: only several lines at once are a paste.
    Conversation,
}

#[derive(Debug, Default)]
pub struct InputDecoder {
    state: DecoderState,
    /// An incomplete character or sequence.
    pending: Vec<u8>,
    paste: Vec<u8>,
    truncated: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum DecoderState {
    #[default]
    Keys,
    /// Between the marks of a paste.
    Bracketed,
    /// A burst without marks, until it is quiet.
    Burst,
    /// After the end mark of a paste, until it is quiet.
    AfterPaste,
}

impl InputDecoder {
    /// Something incomplete has begun: after this long without more, call [`InputDecoder::finish_pending`].
    pub fn pending_timeout(&self) -> Option<Duration> {
        match self.state {
            DecoderState::Burst => Some(BURST_TIMEOUT),
            DecoderState::AfterPaste => Some(PASTE_END_TIMEOUT),
            DecoderState::Keys if !self.pending.is_empty() => Some(BURST_TIMEOUT),
            DecoderState::Keys | DecoderState::Bracketed => None,
        }
    }

    pub fn in_paste(&self) -> bool {
        self.state == DecoderState::Bracketed
    }

    /// `bytes` arrived together.
    pub fn feed(&mut self, bytes: &[u8], expect: ExpectedInput) -> Vec<TerminalInput> {
        self.decode(bytes, expect).into_iter().map(TerminalInput::from).collect()
    }

    /// Nothing came for a while: whatever has begun is complete.
    pub fn finish_pending(&mut self) -> Option<TerminalInput> {
        self.finish().pop().map(TerminalInput::from)
    }

    /// `bytes` arrived together.
    pub fn decode(&mut self, bytes: &[u8], expect: ExpectedInput) -> Vec<DecodedInput> {
        match self.state {
            DecoderState::Bracketed => self.feed_bracketed(bytes),
            DecoderState::Burst => {
                self.append_paste(bytes);
                Vec::new()
            }
            DecoderState::AfterPaste => self.feed_after_paste(bytes),
            DecoderState::Keys => self.feed_keys(bytes, expect),
        }
    }

    /// Nothing came for a while: whatever has begun is complete.
    pub fn finish(&mut self) -> Vec<DecodedInput> {
        match self.state {
            DecoderState::Burst | DecoderState::AfterPaste => vec![self.take_paste()],
            DecoderState::Bracketed => Vec::new(),
            DecoderState::Keys => {
                let alone = std::mem::take(&mut self.pending);
                match alone.as_slice() {
                    [] => Vec::new(),
                    b"\x1b" => decoded(&alone, InputKey::Escape),
                    // Escape and a key, where more might have followed.
                    [0x1b, _] => decoded(&alone, InputKey::Other),
                    _ => vec![DecodedInput::Key { key: InputKey::Other, press: None }],
                }
            }
        }
    }

    /// Drops what was typed so far, but no paste: an incomplete one goes on.
    pub fn discard_typed(&mut self) -> Option<TerminalInput> {
        match self.state {
            DecoderState::Bracketed => None,
            DecoderState::AfterPaste => Some(self.take_paste().into()),
            // Several lines at once were not typed, or it does not matter.
            DecoderState::Burst => Some(self.take_paste().into()).filter(|input| match input {
                TerminalInput::Paste(paste) => paste.bytes.trim_ascii().contains(&b'\n'),
                TerminalInput::Key(_) => false,
            }),
            DecoderState::Keys => {
                // The beginning of a mark is not a key.
                if !PASTE_BEGIN.starts_with(&self.pending) {
                    self.pending.clear();
                }
                None
            }
        }
    }

    fn feed_keys(&mut self, bytes: &[u8], expect: ExpectedInput) -> Vec<DecodedInput> {
        let begun = std::mem::take(&mut self.pending);
        let all = [begun.as_slice(), bytes].concat();
        if let Some(at) = find(&all, PASTE_BEGIN) {
            // Keys typed just before a question's paste are lost: nobody types and pastes at once.
            let mut found = match expect {
                ExpectedInput::Conversation => self.split_keys(&all[..at]),
                ExpectedInput::Keys | ExpectedInput::Line => Vec::new(),
            };
            self.pending.clear();
            self.state = DecoderState::Bracketed;
            found.extend(self.feed_bracketed(&all[at + PASTE_BEGIN.len()..]));
            return found;
        }
        if find(&all, PASTE_END).is_some() {
            // The end of a paste whose beginning was lost: nobody typed the bytes around it.
            self.state = DecoderState::AfterPaste;
            self.truncated = true;
            return Vec::new();
        }
        if is_burst(&all, expect) {
            self.state = DecoderState::Burst;
            self.append_paste(&all);
            return Vec::new();
        }
        self.split_keys(&all)
    }

    /// What is incomplete waits.
    fn split_keys(&mut self, bytes: &[u8]) -> Vec<DecodedInput> {
        let mut found = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            match key(rest) {
                Some((key, length)) => {
                    found.extend(decoded(&rest[..length], key));
                    rest = &rest[length..];
                }
                None => {
                    self.pending = rest.to_vec();
                    break;
                }
            }
        }
        found
    }

    fn feed_bracketed(&mut self, bytes: &[u8]) -> Vec<DecodedInput> {
        // The mark may have come in two parts.
        let kept = self.paste.len();
        let overlap = kept.min(PASTE_END.len() - 1);
        let tail = [&self.paste[kept - overlap..], bytes].concat();
        match find(&tail, PASTE_END) {
            Some(at) => {
                self.paste.truncate(kept - overlap);
                self.append_paste(&tail[..at]);
                self.state = DecoderState::AfterPaste;
                self.feed_after_paste(&tail[at + PASTE_END.len()..])
            }
            None => {
                self.append_paste(bytes);
                Vec::new()
            }
        }
    }

    /// Ignores everything but another paste.
    fn feed_after_paste(&mut self, bytes: &[u8]) -> Vec<DecodedInput> {
        let begun = std::mem::take(&mut self.pending);
        let all = [begun.as_slice(), bytes].concat();
        let Some(at) = find(&all, PASTE_BEGIN) else {
            // The mark may come in two parts.
            self.pending = all[all.len().saturating_sub(PASTE_BEGIN.len() - 1)..].to_vec();
            return Vec::new();
        };
        let mut found = vec![self.take_paste()];
        self.state = DecoderState::Bracketed;
        found.extend(self.feed_bracketed(&all[at + PASTE_BEGIN.len()..]));
        found
    }

    fn append_paste(&mut self, bytes: &[u8]) {
        // Room for the end mark, even where the text is cut.
        let room = (PASTE_BYTES + PASTE_END.len()).saturating_sub(self.paste.len());
        if bytes.len() > room {
            self.truncated = true;
            // The newest bytes stay at the end, so that the mark is found.
            let from = self.paste.len().min(PASTE_BYTES);
            self.paste.truncate(from);
            let tail = &bytes[bytes.len().saturating_sub(PASTE_END.len())..];
            self.paste.extend_from_slice(tail);
        } else {
            self.paste.extend_from_slice(bytes);
        }
    }

    fn take_paste(&mut self) -> DecodedInput {
        self.state = DecoderState::Keys;
        self.pending.clear();
        let bytes = std::mem::take(&mut self.paste);
        let cut = std::mem::take(&mut self.truncated);
        let mut bytes = with_line_feeds(&bytes);
        bytes.truncate(PASTE_BYTES);
        DecodedInput::Paste(PastedText { bytes, truncated: cut })
    }
}

impl From<DecodedInput> for TerminalInput {
    fn from(input: DecodedInput) -> TerminalInput {
        match input {
            DecodedInput::Key { key, .. } => TerminalInput::Key(key),
            DecodedInput::Paste(paste) => TerminalInput::Paste(paste),
            DecodedInput::Focus(_) | DecodedInput::Reply(_) => TerminalInput::Key(InputKey::Other),
        }
    }
}

fn decoded(bytes: &[u8], key: InputKey) -> Vec<DecodedInput> {
    match meaning(bytes) {
        SequenceMeaning::Press(press) => vec![DecodedInput::Key { key, press: Some(press) }],
        SequenceMeaning::TwoEscapes => {
            let press = Some(KeyPress::plain(KeyCode::Escape));
            let escape = DecodedInput::Key { key: InputKey::Escape, press };
            vec![escape.clone(), escape]
        }
        SequenceMeaning::Focus(has_it) => vec![DecodedInput::Focus(has_it)],
        SequenceMeaning::Reply(reply) => vec![DecodedInput::Reply(reply)],
        SequenceMeaning::Unknown => vec![DecodedInput::Key { key, press: None }],
    }
}

/// In a paste, terminals send Enter (CR) for a line end.
fn with_line_feeds(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte == b'\r' {
            rest.next_if_eq(&b'\n');
            out.push(b'\n');
        } else {
            out.push(byte);
        }
    }
    out
}

/// Whether bytes that came at once were pasted into a terminal without bracketed paste.
fn is_burst(bytes: &[u8], expect: ExpectedInput) -> bool {
    if expect == ExpectedInput::Conversation {
        // A held Enter is none, nor is a line that was typed ahead.
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let after = bytes.iter().position(is_end).map(|at| &bytes[at..]);
        return after
            .is_some_and(|after| after.iter().any(|byte| !is_end(byte) && *byte >= 0x20 && *byte != 0x7f))
            && !bytes.starts_with(b"\x1b");
    }
    if bytes.contains(&0x1b) {
        // A long text with an escape in it is not a key either; nor, except in a line, is what comes before
        // one.
        let before = expect == ExpectedInput::Keys && bytes[0] != 0x1b;
        return before || bytes.len() > SEQUENCE_BYTES;
    }
    let inner = bytes.strip_suffix(b"\r").or_else(|| bytes.strip_suffix(b"\n")).unwrap_or(bytes);
    let lines = inner.iter().any(|byte| matches!(byte, b'\r' | b'\n'));
    match expect {
        ExpectedInput::Line => lines,
        // A held key repeats; nobody presses two at once.
        ExpectedInput::Keys | ExpectedInput::Conversation => {
            let characters = String::from_utf8_lossy(bytes);
            let mut characters = characters.chars();
            let first = characters.next();
            characters.any(|other| Some(other) != first)
        }
    }
}

/// The first key and its length in bytes; `None` if it is incomplete.
fn key(bytes: &[u8]) -> Option<(InputKey, usize)> {
    let first = *bytes.first()?;
    Some(match first {
        b'\r' | b'\n' => (InputKey::Enter, 1),
        0x7f | 0x08 => (InputKey::Backspace, 1),
        0x1b => return sequence(bytes),
        0x01..=0x1a => (InputKey::Ctrl(char::from(first + b'a' - 1)), 1),
        0x00 | 0x1c..=0x1f => (InputKey::Other, 1),
        0x20..=0x7e => (InputKey::Char(char::from(first)), 1),
        _ => return character(bytes),
    })
}

/// A character of several bytes.
fn character(bytes: &[u8]) -> Option<(InputKey, usize)> {
    let length = match bytes[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Some((InputKey::Other, 1)),
    };
    let bytes = bytes.get(..length)?;
    match std::str::from_utf8(bytes).ok().and_then(|text| text.chars().next()) {
        Some(c) => Some((InputKey::Char(c), length)),
        None => Some((InputKey::Other, 1)),
    }
}

/// An escape sequence: where it ends.
fn sequence(bytes: &[u8]) -> Option<(InputKey, usize)> {
    match bytes.get(1)? {
        b'[' => {
            let end = bytes[2..].iter().position(|byte| (0x40..=0x7e).contains(byte));
            match end {
                Some(end) => Some((InputKey::Other, end + 3)),
                None if bytes.len() > SEQUENCE_BYTES => Some((InputKey::Other, bytes.len())),
                None => None,
            }
        }
        b'O' => match bytes.get(2)? {
            b'1'..=b'9' => bytes.get(3).map(|_| (InputKey::Other, 4)),
            _ => Some((InputKey::Other, 3)),
        },
        // A string.
        b']' | b'P' | b'_' | b'^' | b'X' => {
            let rest = &bytes[2..];
            let bell = memchr::memchr(0x07, rest).map(|at| at + 3);
            let end = find(rest, b"\x1b\\").map(|at| at + 4);
            match bell.into_iter().chain(end).min() {
                Some(end) => Some((InputKey::Other, end)),
                None if bytes.len() > REPLY_BYTES => Some((InputKey::Other, bytes.len())),
                None => None,
            }
        }
        // Escape twice, or Alt and a sequence.
        0x1b => match bytes.get(2)? {
            b'[' | b'O' => sequence(&bytes[1..]).map(|(key, length)| (key, length + 1)),
            _ => Some((InputKey::Other, 2)),
        },
        // Alt and a key.
        _ => key(&bytes[1..]).map(|(_, length)| (InputKey::Other, length + 1)),
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, what)
}
