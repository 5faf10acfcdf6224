//! Output as lines: without colours and other escapes, cut at [`LINE_BYTES`], ended by a line feed or a
//! carriage return, whatever the pieces in which it arrives.

/// Bytes of a line that are looked at; the rest of it is dropped.
pub(super) const LINE_BYTES: usize = 64 * 1024;

/// Cuts a stream into lines.
#[derive(Default)]
pub(super) struct Lines {
    line: Vec<u8>,
    escape: Escape,
    /// The last byte was a carriage return, which has ended the line already.
    returned: bool,
}

/// Where in an escape sequence the stream is.
#[derive(Default, Clone, Copy)]
enum Escape {
    #[default]
    None,
    /// After ESC.
    Begun,
    /// `ESC [ …`, until a letter.
    Control,
    /// `ESC ] …`, until BEL or `ESC \`.
    Command,
    /// After an ESC in there.
    CommandEnd,
}

impl Lines {
    pub(super) fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(&str)) {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            let plain = match self.escape {
                Escape::None => {
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
            self.special(*first, each);
            rest = &rest[1..];
        }
    }

    /// What is left when the stream ends.
    pub(super) fn end(&mut self, each: &mut dyn FnMut(&str)) {
        if !self.line.is_empty() {
            self.line_ends(each);
        }
    }

    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.line.len()
    }

    /// A line feed, a carriage return, an ESC, or a byte of an escape sequence. The end of a line ends a
    /// sequence too: one that never ends must not hide what follows.
    fn special(&mut self, byte: u8, each: &mut dyn FnMut(&str)) {
        if matches!(byte, b'\n' | b'\r') {
            self.escape = Escape::None;
            if !(byte == b'\n' && self.returned) {
                self.line_ends(each);
            }
            self.returned = byte == b'\r';
            return;
        }
        self.returned = false;
        self.escape = match (self.escape, byte) {
            (Escape::None, _) | (Escape::CommandEnd, 0x1b) => Escape::Begun,
            (Escape::Begun, b'[') => Escape::Control,
            (Escape::Begun, b']') => Escape::Command,
            (Escape::Control, 0x40..=0x7e) | (Escape::Command, 0x07) => Escape::None,
            (Escape::Control, _) => Escape::Control,
            (Escape::Command, 0x1b) => Escape::CommandEnd,
            (Escape::Command, _) => Escape::Command,
            (Escape::Begun | Escape::CommandEnd, _) => Escape::None,
        };
    }

    fn line_ends(&mut self, each: &mut dyn FnMut(&str)) {
        each(String::from_utf8_lossy(&self.line).trim_end());
        self.line.clear();
    }
}
