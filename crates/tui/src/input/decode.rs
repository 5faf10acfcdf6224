//! Bytes of a terminal as keys and pasted text.
//!
//! Pasted text is never taken for keys: terminals that know bracketed paste mark it, and what comes in one
//! burst from one that does not is taken for a paste, too. It ends where the terminal says so; whatever comes
//! behind that in the same breath, also if it is read later, was not typed by anybody, and is dropped.

use std::time::Duration;

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKey {
    /// A character.
    Char(char),
    /// Enter.
    Enter,
    /// Takes the character before the cursor away.
    Backspace,
    /// A control key: `Ctrl('u')`.
    Ctrl(char),
    /// Escape alone.
    Escape,
    /// Anything else: arrows, function keys, sequences that nobody knows.
    Other,
}

/// What came from a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalInput {
    /// A key was pressed.
    Key(InputKey),
    /// Text was pasted.
    Paste(PastedText),
}

/// Text that was pasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastedText {
    /// The bytes, with line feeds between lines; at most [`PASTE_BYTES`].
    pub bytes: Vec<u8>,
    /// There was more.
    pub truncated: bool,
}

/// Bytes of a paste that are kept: an answer may have as many, and one more says that it has too many.
pub const PASTE_BYTES: usize = (4 << 20) + 1;
/// Bytes of a sequence before it is given up.
const SEQUENCE_BYTES: usize = 32;
/// After this long nothing more belongs to a burst, or to a sequence.
pub const BURST_TIMEOUT: Duration = Duration::from_millis(60);
/// After this long nothing more belongs to a paste that was marked, although its text said that it ends.
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
}

/// Reads bytes as they come.
#[derive(Debug, Default)]
pub struct InputDecoder {
    state: DecoderState,
    /// A character or sequence that is not complete.
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
    /// Behind the mark at a paste's end, until it is quiet.
    AfterPaste,
}

impl InputDecoder {
    /// Something has begun that is not complete: after this long without more, [`quiet`](Decoder::quiet) ends it.
    pub fn pending_timeout(&self) -> Option<Duration> {
        match self.state {
            DecoderState::Burst => Some(BURST_TIMEOUT),
            DecoderState::AfterPaste => Some(PASTE_END_TIMEOUT),
            DecoderState::Keys if !self.pending.is_empty() => Some(BURST_TIMEOUT),
            DecoderState::Keys | DecoderState::Bracketed => None,
        }
    }

    /// Between the marks of a paste.
    pub fn in_paste(&self) -> bool {
        self.state == DecoderState::Bracketed
    }

    /// Takes bytes that came together.
    pub fn feed(&mut self, bytes: &[u8], expect: ExpectedInput) -> Vec<TerminalInput> {
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

    /// Nothing came for a while: what has begun is complete.
    pub fn finish_pending(&mut self) -> Option<TerminalInput> {
        match self.state {
            DecoderState::Burst | DecoderState::AfterPaste => Some(self.take_paste()),
            DecoderState::Bracketed => None,
            DecoderState::Keys => {
                let alone = std::mem::take(&mut self.pending);
                match alone.as_slice() {
                    [] => None,
                    b"\x1b" => Some(TerminalInput::Key(InputKey::Escape)),
                    _ => Some(TerminalInput::Key(InputKey::Other)),
                }
            }
        }
    }

    /// What was typed up to now is forgotten, and what was pasted is not: a paste that is not complete goes on.
    pub fn discard_typed(&mut self) -> Option<TerminalInput> {
        match self.state {
            DecoderState::Bracketed => None,
            DecoderState::AfterPaste => Some(self.take_paste()),
            // Several lines at once were not typed, or it does not matter.
            DecoderState::Burst => Some(self.take_paste()).filter(|input| match input {
                TerminalInput::Paste(paste) => paste.bytes.trim_ascii().contains(&b'\n'),
                TerminalInput::Key(_) => false,
            }),
            DecoderState::Keys => {
                // The beginning of a mark is no key.
                if !PASTE_BEGIN.starts_with(&self.pending) {
                    self.pending.clear();
                }
                None
            }
        }
    }

    fn feed_keys(&mut self, bytes: &[u8], expect: ExpectedInput) -> Vec<TerminalInput> {
        let begun = std::mem::take(&mut self.pending);
        let all = [begun.as_slice(), bytes].concat();
        if let Some(at) = find(&all, PASTE_BEGIN) {
            // What was typed before it is lost in the paste's favour: nobody types and pastes in one breath.
            self.state = DecoderState::Bracketed;
            return self.feed_bracketed(&all[at + PASTE_BEGIN.len()..]);
        }
        if find(&all, PASTE_END).is_some() {
            // The end of a paste whose beginning was lost: nobody typed what stands before it, or behind.
            self.state = DecoderState::AfterPaste;
            self.truncated = true;
            return Vec::new();
        }
        if is_burst(&all, expect) {
            self.state = DecoderState::Burst;
            self.append_paste(&all);
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            match key(rest) {
                Some((key, length)) => {
                    found.push(TerminalInput::Key(key));
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

    fn feed_bracketed(&mut self, bytes: &[u8]) -> Vec<TerminalInput> {
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

    /// Only another paste counts.
    fn feed_after_paste(&mut self, bytes: &[u8]) -> Vec<TerminalInput> {
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
        // Room for the mark at the end, also where the text is cut.
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

    fn take_paste(&mut self) -> TerminalInput {
        self.state = DecoderState::Keys;
        self.pending.clear();
        let bytes = std::mem::take(&mut self.paste);
        let cut = std::mem::take(&mut self.truncated);
        let mut bytes = with_line_feeds(&bytes);
        bytes.truncate(PASTE_BYTES);
        TerminalInput::Paste(PastedText { bytes, truncated: cut })
    }
}

/// Terminals send Enter for the end of a line.
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

/// Whether bytes that came at once were pasted into a terminal that does not say so.
fn is_burst(bytes: &[u8], expect: ExpectedInput) -> bool {
    if bytes.contains(&0x1b) {
        // A long text with an escape in it is no key either; nor is what stands before one, but on a line.
        let before = expect == ExpectedInput::Keys && bytes[0] != 0x1b;
        return before || bytes.len() > SEQUENCE_BYTES;
    }
    let inner = bytes.strip_suffix(b"\r").or_else(|| bytes.strip_suffix(b"\n")).unwrap_or(bytes);
    let lines = inner.iter().any(|byte| matches!(byte, b'\r' | b'\n'));
    match expect {
        ExpectedInput::Line => lines,
        // A key that is held down repeats; nobody presses two at once.
        ExpectedInput::Keys => {
            let characters = String::from_utf8_lossy(bytes);
            let mut characters = characters.chars();
            let first = characters.next();
            characters.any(|other| Some(other) != first)
        }
    }
}

/// The first key, and its bytes; `None` if it is not complete.
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

/// A sequence that begins with an escape: what it means is of no interest here, only where it ends.
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
        b'O' => bytes.get(2).map(|_| (InputKey::Other, 3)),
        // Alt and a key.
        _ => Some((InputKey::Other, 2)),
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(decoder: &mut InputDecoder, bytes: &[u8]) -> Vec<TerminalInput> {
        decoder.feed(bytes, ExpectedInput::Keys)
    }

    fn paste(text: &str) -> TerminalInput {
        TerminalInput::Paste(PastedText { bytes: text.as_bytes().to_vec(), truncated: false })
    }

    #[test]
    fn single_keys_are_keys() {
        let cases: [(&[u8], InputKey); 9] = [
            (b"u", InputKey::Char('u')),
            ("ß".as_bytes(), InputKey::Char('ß')),
            (b"\r", InputKey::Enter),
            (b"\n", InputKey::Enter),
            (b"\x7f", InputKey::Backspace),
            (b"\x15", InputKey::Ctrl('u')),
            (b"\x1b[A", InputKey::Other),
            (b"\x1bOP", InputKey::Other),
            (b"\x1b[1;5D", InputKey::Other),
        ];
        for (bytes, key) in cases {
            assert_eq!(keys(&mut InputDecoder::default(), bytes), [TerminalInput::Key(key)], "{bytes:?}");
        }
        let mut decoder = InputDecoder::default();
        assert_eq!(keys(&mut decoder, b"\x1b"), []);
        assert_eq!(decoder.pending_timeout(), Some(BURST_TIMEOUT));
        assert_eq!(decoder.finish_pending(), Some(TerminalInput::Key(InputKey::Escape)));
    }

    #[test]
    fn what_is_marked_as_pasted_is_no_key_however_it_is_cut_into_pieces() {
        let bytes = b"\x1b[200~u\rq\r\ny\x1b[201~";
        for at in 0..=bytes.len() {
            let mut decoder = InputDecoder::default();
            let mut found = keys(&mut decoder, &bytes[..at]);
            found.extend(keys(&mut decoder, &bytes[at..]));
            found.extend(decoder.finish_pending());
            assert_eq!(found, [paste("u\nq\ny")], "cut at {at}");
        }
    }

    #[test]
    fn what_stands_behind_a_paste_in_the_same_burst_was_not_typed() {
        let mut decoder = InputDecoder::default();
        assert_eq!(keys(&mut decoder, b"\x1b[200~text\x1b[201~y\ru"), []);
        // Also when it is read later, unless some time has passed.
        assert_eq!(keys(&mut decoder, b"y\r"), []);
        assert_eq!(
            (decoder.pending_timeout(), decoder.finish_pending()),
            (Some(PASTE_END_TIMEOUT), Some(paste("text")))
        );
        assert_eq!(keys(&mut decoder, b"y"), [TerminalInput::Key(InputKey::Char('y'))]);
        // Two pastes are two, however close.
        let both = b"\x1b[200~a\x1b[201~y\r\x1b[200~b\x1b[201~";
        for at in 0..=both.len() {
            let mut found = keys(&mut decoder, &both[..at]);
            found.extend(keys(&mut decoder, &both[at..]));
            found.extend(decoder.finish_pending());
            assert_eq!(found, [paste("a"), paste("b")], "cut at {at}");
        }
    }

    #[test]
    fn the_end_of_a_paste_whose_beginning_was_lost_is_no_key() {
        for expect in [ExpectedInput::Keys, ExpectedInput::Line] {
            let mut decoder = InputDecoder::default();
            assert_eq!(decoder.feed(b"y\r\x1b[201~", expect), []);
            assert_eq!(decoder.feed(b"y\r", expect), []);
            assert_eq!(
                decoder.finish_pending(),
                Some(TerminalInput::Paste(PastedText { bytes: Vec::new(), truncated: true }))
            );
        }
        // Nor is a burst with an escape in it.
        assert_eq!(keys(&mut InputDecoder::default(), b"q\x1b[A"), []);
    }

    #[test]
    fn what_is_forgotten_was_typed_and_a_paste_goes_on() {
        let mut decoder = InputDecoder::default();
        keys(&mut decoder, b"\x1b[200~te");
        assert_eq!(decoder.discard_typed(), None);
        keys(&mut decoder, b"xt\x1b[201~");
        assert_eq!(decoder.discard_typed(), Some(paste("text")));
        keys(&mut decoder, b"yes\r");
        assert_eq!((decoder.discard_typed(), decoder.pending_timeout()), (None, None));
        keys(&mut decoder, b"one\rtwo\r");
        assert_eq!(decoder.discard_typed(), Some(paste("one\ntwo\n")));
        keys(&mut decoder, b"\x1b[2");
        assert_eq!(decoder.discard_typed(), None);
        keys(&mut decoder, b"00~a\x1b[201~");
        assert_eq!(decoder.finish_pending(), Some(paste("a")));
    }

    #[test]
    fn a_burst_without_marks_is_a_paste() {
        let mut decoder = InputDecoder::default();
        assert_eq!(keys(&mut decoder, b"Here is the change\ru\r"), []);
        assert_eq!(keys(&mut decoder, b"q"), []);
        assert_eq!(decoder.finish_pending(), Some(paste("Here is the change\nu\nq")));
        // A key that is held down is no paste.
        assert_eq!(keys(&mut decoder, b"uuu").len(), 3);
        // A line that comes at once may have been typed; two have not.
        assert_eq!(decoder.feed(b"n too long\r", ExpectedInput::Line).len(), 11);
        assert_eq!(decoder.feed(b"no\ry\r", ExpectedInput::Line), []);
        assert_eq!(decoder.finish_pending(), Some(paste("no\ny\n")));
    }

    #[test]
    fn a_paste_is_bounded_and_its_end_is_still_found() {
        let mut decoder = InputDecoder::default();
        keys(&mut decoder, PASTE_BEGIN);
        let piece = vec![b'a'; 1 << 20];
        for _ in 0..6 {
            assert_eq!(keys(&mut decoder, &piece), []);
        }
        assert_eq!(keys(&mut decoder, b"tail\x1b[201~"), []);
        let Some(TerminalInput::Paste(paste)) = decoder.finish_pending() else { panic!("no paste") };
        assert!(paste.truncated && paste.bytes.len() == PASTE_BYTES);
        assert_eq!(keys(&mut decoder, b"q"), [TerminalInput::Key(InputKey::Char('q'))]);
    }
}
