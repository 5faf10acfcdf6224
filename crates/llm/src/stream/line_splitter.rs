//! Splits bytes into lines, in whatever chunks they come.
//!
//! Invariant: the lines are the same for every chunking, time is linear in the bytes, and no more than
//! [`MAX_FRAME_BYTES`] bytes wait for a line's end. Line ends are ASCII, so a line is decoded as a whole: a
//! character split over two chunks is one character, and invalid UTF-8 becomes U+FFFD.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use crate::failure::{ModelFailure, ModelResult};
use crate::wire::{AnswerFrame, FrameSink};

/// Most bytes of one line or one event.
pub const MAX_FRAME_BYTES: usize = 16 << 20;

/// Capacity that a buffer keeps after a line.
const ROOM_KEPT: usize = 64 << 10;

/// Takes lines, without their ends.
pub(crate) type LineSink<'s> = dyn FnMut(&str) -> ModelResult + 's;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnding {
    /// LF, CR, or CR LF: server-sent events.
    Any,
    /// LF alone; a CR before it is white space: JSON lines.
    LineFeed,
}

#[derive(Debug)]
pub(crate) struct LineSplitter {
    ends: LineEnding,
    /// The beginning of a line whose end has not come.
    open: Vec<u8>,
    /// The last byte was a CR that ended a line: an LF right after it belongs to it.
    after_return: bool,
    /// No line is complete yet: a byte order mark may precede the first.
    first: bool,
}

impl LineSplitter {
    pub(crate) fn new(ends: LineEnding) -> LineSplitter {
        LineSplitter { ends, open: Vec::new(), after_return: false, first: true }
    }

    /// `each` gets the lines that are now complete, without their ends.
    pub(crate) fn feed(&mut self, bytes: &[u8], each: &mut LineSink<'_>) -> ModelResult {
        let mut rest = bytes;
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = self.find_end(rest) {
            let (line, behind) = (&rest[..end], &rest[end + 1..]);
            let is_return = rest[end] == b'\r';
            self.line(line, each)?;
            rest = behind;
            if is_return {
                self.after_return = rest.is_empty();
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
        }
        self.check_size(rest.len())?;
        self.open.extend_from_slice(rest);
        Ok(())
    }

    /// `each` gets the last line, if it has no end.
    pub(crate) fn end(&mut self, each: &mut LineSink<'_>) -> ModelResult {
        if self.open.is_empty() { Ok(()) } else { self.line(b"", each) }
    }

    fn find_end(&self, bytes: &[u8]) -> Option<usize> {
        match self.ends {
            LineEnding::Any => memchr2(b'\n', b'\r', bytes),
            LineEnding::LineFeed => memchr(b'\n', bytes),
        }
    }

    /// Emits a line: the open part, and this.
    fn line(&mut self, rest: &[u8], each: &mut LineSink<'_>) -> ModelResult {
        self.check_size(rest.len())?;
        let first = std::mem::take(&mut self.first);
        if self.open.is_empty() {
            return each(&decode_line(rest, first));
        }
        self.open.extend_from_slice(rest);
        let result = each(&decode_line(&self.open, first));
        self.open.clear();
        self.open.shrink_to(ROOM_KEPT);
        result
    }

    fn check_size(&self, more: usize) -> ModelResult {
        if self.open.len() + more > MAX_FRAME_BYTES { Err(frame_too_large()) } else { Ok(()) }
    }
}

fn decode_line(line: &[u8], first: bool) -> Cow<'_, str> {
    let line = if first { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
    String::from_utf8_lossy(line)
}

pub(crate) fn frame_too_large() -> ModelFailure {
    let most = MAX_FRAME_BYTES >> 20;
    ModelFailure::too_large(format!(
        "the provider sent a piece of more than {most} MB; relay takes no such piece"
    ))
}

/// For an answer of one JSON text per line. Blank lines are skipped. A last line without an end counts.
#[derive(Debug)]
pub struct JsonLinesDecoder {
    cutter: LineSplitter,
}

impl Default for JsonLinesDecoder {
    fn default() -> JsonLinesDecoder {
        JsonLinesDecoder { cutter: LineSplitter::new(LineEnding::LineFeed) }
    }
}

impl JsonLinesDecoder {
    /// `each` gets the lines that are now complete.
    ///
    /// # Errors
    /// [`crate::FailureClass::TooLarge`], or the error of `each`.
    pub fn feed(&mut self, bytes: &[u8], each: &mut FrameSink<'_>) -> ModelResult {
        self.cutter.feed(bytes, &mut |line| frame(line, each))
    }

    /// `each` gets the last line, if it has no end.
    pub fn end(&mut self, each: &mut FrameSink<'_>) -> ModelResult {
        self.cutter.end(&mut |line| frame(line, each))
    }
}

fn frame(line: &str, each: &mut FrameSink<'_>) -> ModelResult {
    let data = line.trim();
    if data.is_empty() { Ok(()) } else { each(&AnswerFrame { name: "", data }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureClass;

    fn read(chunks: &[&[u8]]) -> Vec<String> {
        let mut out = Vec::new();
        let mut lines = JsonLinesDecoder::default();
        let mut each = |frame: &AnswerFrame<'_>| {
            out.push(frame.data.to_owned());
            Ok(())
        };
        for chunk in chunks {
            lines.feed(chunk, &mut each).unwrap();
        }
        lines.end(&mut each).unwrap();
        out
    }

    #[test]
    fn a_line_is_a_frame_wherever_it_was_cut() {
        let bytes = "\u{feff}{\"a\":\"é\"}\r\n\n  \r\n{\"b\":2}\n{\"c\":3}".as_bytes();
        let whole = read(&[bytes]);
        assert_eq!(whole, ["{\"a\":\"é\"}", "{\"b\":2}", "{\"c\":3}"]);
        for cut in 0..bytes.len() {
            assert_eq!(read(&[&bytes[..cut], &bytes[cut..]]), whole, "cut at {cut}");
        }
    }

    #[test]
    fn a_line_of_ten_megabytes_passes_and_one_beyond_the_bound_does_not() {
        let piece = vec![b'x'; 1 << 20];
        let mut lines = JsonLinesDecoder::default();
        let mut longest = 0;
        let mut each = |frame: &AnswerFrame<'_>| {
            longest = longest.max(frame.data.len());
            Ok(())
        };
        for _ in 0..10 {
            lines.feed(&piece, &mut each).unwrap();
        }
        lines.feed(b"\n", &mut each).unwrap();
        let failure = (0..17).find_map(|_| lines.feed(&piece, &mut each).err()).unwrap();
        assert_eq!(failure.class, FailureClass::TooLarge);
        assert_eq!(longest, 10 << 20);
    }
}
