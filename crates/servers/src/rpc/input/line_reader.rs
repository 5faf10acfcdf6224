//! Lines of a stream that may send anything. A line over [`MAX_LINE_BYTES`] is not kept: its beginning is, so that whoever sent it
//! can be told by its id, and reading goes on behind it. The last line counts without a line end.

use std::io::{ErrorKind, Read};

/// Bytes of a line. The largest image a model takes fits several times.
pub const MAX_LINE_BYTES: usize = 32 << 20;
/// What is kept of a line that is longer.
const HEAD_BYTES: usize = 4 << 10;
/// Bytes per read.
const CHUNK_BYTES: usize = 64 << 10;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InputLine {
    Whole(Vec<u8>),
    /// Its beginning, and how long it was.
    TooLong {
        head: Vec<u8>,
        bytes: u64,
    },
}

pub(crate) struct LineReader<R> {
    input: R,
    chunk: Vec<u8>,
    /// Where the unread rest of the chunk begins.
    at: usize,
}

impl<R: Read> LineReader<R> {
    pub(crate) fn new(input: R) -> LineReader<R> {
        LineReader { input, chunk: Vec::new(), at: 0 }
    }

    /// `None` at the end of the stream; one that cannot be read has ended.
    pub(crate) fn next_line(&mut self) -> Option<InputLine> {
        let (mut line, mut bytes) = (Vec::new(), 0_u64);
        loop {
            if self.at == self.chunk.len() && !self.fill() {
                return (bytes > 0).then(|| finish(line, bytes));
            }
            let rest = &self.chunk[self.at..];
            let end = memchr::memchr(b'\n', rest);
            let piece = &rest[..end.unwrap_or(rest.len())];
            bytes += piece.len() as u64;
            if bytes <= MAX_LINE_BYTES as u64 {
                line.extend_from_slice(piece);
            } else if line.len() > HEAD_BYTES {
                line.truncate(HEAD_BYTES);
                line.shrink_to_fit();
            }
            self.at += piece.len() + usize::from(end.is_some());
            if end.is_some() {
                return Some(finish(line, bytes));
            }
        }
    }

    /// Whether there is more.
    fn fill(&mut self) -> bool {
        self.chunk.resize(CHUNK_BYTES, 0);
        self.at = 0;
        loop {
            match self.input.read(&mut self.chunk) {
                Ok(read) => {
                    self.chunk.truncate(read);
                    return read > 0;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    self.chunk.clear();
                    return false;
                }
            }
        }
    }
}

fn finish(mut line: Vec<u8>, bytes: u64) -> InputLine {
    if bytes > MAX_LINE_BYTES as u64 {
        line.truncate(HEAD_BYTES);
        return InputLine::TooLong { head: line, bytes };
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    InputLine::Whole(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<InputLine> {
        let mut reader = LineReader::new(text);
        std::iter::from_fn(|| reader.next_line()).collect()
    }

    #[test]
    fn lines_end_with_a_line_end_or_the_stream() {
        let whole = |text: &str| InputLine::Whole(text.into());
        assert_eq!(lines(b"a\r\n\nbc"), [whole("a"), whole(""), whole("bc")]);
        assert_eq!(lines(b""), []);
    }

    #[test]
    fn the_longest_line_is_read_and_a_longer_one_is_passed_over() {
        let mut text = vec![b'x'; MAX_LINE_BYTES];
        text.extend_from_slice(b"\n{\"id\":7,");
        text.extend(vec![b'y'; MAX_LINE_BYTES]);
        text.extend_from_slice(b"\nz");
        let read = lines(&text);
        assert!(matches!(&read[0], InputLine::Whole(line) if line.len() == MAX_LINE_BYTES));
        let InputLine::TooLong { head, bytes } = &read[1] else { panic!("it was kept") };
        assert_eq!((head.len(), *bytes), (HEAD_BYTES, MAX_LINE_BYTES as u64 + 8));
        assert!(head.starts_with(b"{\"id\":7,"));
        assert_eq!(read[2], InputLine::Whole(b"z".to_vec()));
    }
}
