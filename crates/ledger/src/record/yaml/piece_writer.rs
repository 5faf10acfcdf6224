//! Text that goes on in large pieces: a record may hold megabytes, and it is written while others wait.

use std::fmt;
use std::io;

use relaycode_durable::atomic::PieceSink;

/// So many bytes go on together.
const PIECE: usize = 256 * 1024;

/// Collects text and puts it on in pieces of about [`PIECE`] bytes. Nothing is put after the first error.
pub(super) struct PieceWriter<'a, 'p> {
    piece: String,
    put: &'a mut PieceSink<'p>,
    error: Option<io::Error>,
}

impl<'a, 'p> PieceWriter<'a, 'p> {
    pub(super) fn new(put: &'a mut PieceSink<'p>) -> PieceWriter<'a, 'p> {
        PieceWriter { piece: String::new(), put, error: None }
    }

    /// Puts what is left.
    ///
    /// # Errors
    /// The first error of the sink.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.flush();
        self.error.map_or(Ok(()), Err)
    }

    /// What went wrong, if it was the sink.
    pub(super) fn into_error(self) -> Option<io::Error> {
        self.error
    }

    fn flush(&mut self) {
        if self.error.is_none() && !self.piece.is_empty() {
            self.error = (self.put)(self.piece.as_bytes()).err();
        }
        self.piece.clear();
    }
}

impl fmt::Write for PieceWriter<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.piece.push_str(text);
        if self.piece.len() >= PIECE {
            self.flush();
        }
        if self.error.is_some() { Err(fmt::Error) } else { Ok(()) }
    }
}
