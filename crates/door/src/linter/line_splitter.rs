//! Output as lines: without colours and other escapes, cut at [`LINE_BYTES`], ended by a line feed or a
//! carriage return, whatever the pieces in which it arrives.

/// Bytes of a line that are looked at; the rest of it is dropped.
pub(super) const LINE_BYTES: usize = 64 * 1024;

/// Cuts a stream into lines.
#[derive(Default)]
pub(super) struct LineSplitter {
    line: Vec<u8>,
    escape: EscapeState,
    /// The last byte was a carriage return, which has ended the line already.
    returned: bool,
}

/// Where in an escape sequence the stream is.
#[derive(Default, Clone, Copy)]
enum EscapeState {
    #[default]
    None,
    /// After ESC.
    Started,
    /// `ESC [ …`, until a letter.
    Control,
    /// `ESC ] …`, until BEL or `ESC \`.
    Command,
    /// After an ESC in there.
    CommandEnd,
}

impl LineSplitter {
    pub(super) fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(&str)) {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            let plain = match self.escape {
                EscapeState::None => {
                    rest.iter().position(|byte| matches!(byte, b'\n' | b'\r' | 0x1b)).unwrap_or(rest.len())
                }
                _ => 0,
            };
            if plain > 0 {
                self.returned = false;
                let room = LINE_BYTES - self.line.len();
                self.line.extend_from_slice(&rest[..plain.min(room)]);
                rest = &rest[plain..];
                continue;
            }
            self.feed_control(*first, each);
            rest = &rest[1..];
        }
    }

    /// What is left when the stream ends.
    pub(super) fn finish(&mut self, each: &mut dyn FnMut(&str)) {
        if !self.line.is_empty() {
            self.end_line(each);
        }
    }

    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.line.len()
    }

    /// A line feed, a carriage return, an ESC, or a byte of an escape sequence. The end of a line ends a
    /// sequence too: one that never ends must not hide what follows.
    fn feed_control(&mut self, byte: u8, each: &mut dyn FnMut(&str)) {
        if matches!(byte, b'\n' | b'\r') {
            self.escape = EscapeState::None;
            if !(byte == b'\n' && self.returned) {
                self.end_line(each);
            }
            self.returned = byte == b'\r';
            return;
        }
        self.returned = false;
        self.escape = match (self.escape, byte) {
            (EscapeState::None, _) | (EscapeState::CommandEnd, 0x1b) => EscapeState::Started,
            (EscapeState::Started, b'[') => EscapeState::Control,
            (EscapeState::Started, b']') => EscapeState::Command,
            (EscapeState::Control, 0x40..=0x7e) | (EscapeState::Command, 0x07) => EscapeState::None,
            (EscapeState::Control, _) => EscapeState::Control,
            (EscapeState::Command, 0x1b) => EscapeState::CommandEnd,
            (EscapeState::Command, _) => EscapeState::Command,
            (EscapeState::Started | EscapeState::CommandEnd, _) => EscapeState::None,
        };
    }

    fn end_line(&mut self, each: &mut dyn FnMut(&str)) {
        each(String::from_utf8_lossy(&self.line).trim_end());
        self.line.clear();
    }
}
