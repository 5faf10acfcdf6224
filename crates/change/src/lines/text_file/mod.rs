//! A text file as lines that remember their bytes.
//!
//! The invariant: a kept line comes back with exactly its bytes, whatever the encoding, the line ending or
//! the byte order mark. Only new text is encoded, and only if the file's encoding can express it and reads
//! it back the same.
//!
//! ```
//! use relaycode_change::lines::text_file::{TextFile, TextFilePiece};
//!
//! let file = TextFile::decode_candidates(b"one\r\ntwo\nthree")?.remove(0);
//! let new = TextFilePiece::New { text: "ONE".into(), like: 0 };
//! let bytes = file.rebuild(&[new, TextFilePiece::Keep(1), TextFilePiece::Keep(2)], None)?;
//! assert_eq!(bytes, b"ONE\r\ntwo\nthree");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod decode;
mod encoding;
mod plausibility;
mod replace;

#[cfg(test)]
mod tests;

pub(crate) use decode::{line_ranges, returns_end_lines};

use std::ops::Range;

use encoding_rs::Encoding;
use serde::Serialize;

/// One decoding of one file.
#[derive(Debug, Clone)]
pub struct TextFile {
    encoding: &'static Encoding,
    /// Known rather than guessed.
    certain: bool,
    /// The file, byte order mark included.
    raw: Vec<u8>,
    /// Bytes of `raw` that are the byte order mark.
    bom_length: usize,
    /// Decoded, without the mark.
    text: String,
    lines: Vec<TextFileLine>,
    /// The most frequent line ending; `Lf` for a file without any.
    usual_ending: FileLineEnding,
}

/// Where a line stands, in the decoded text and in the bytes.
#[derive(Debug, Clone)]
struct TextFileLine {
    text: Range<usize>,
    /// Without the line ending.
    raw: Range<usize>,
    eol: FileLineEnding,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileLineEnding {
    /// The last line of a file without final newline.
    None,
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
    /// `\r`, in files that have no `\n` at all or visibly mix both.
    Cr,
}

/// A line of a new version of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextFilePiece {
    /// The line with this index (from 0), with its own bytes.
    Keep(usize),
    New {
        /// Without line ending. A `\n` inside makes it several lines.
        text: String,
        /// It ends like the line with this index; if that does not exist or has no ending, like most lines
        /// of the file.
        like: usize,
    },
}

/// Why a file cannot be read as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FileDecodeError {
    /// NUL bytes or other control characters that text does not have.
    #[error(
        "the file is binary, so no text in it can be found and replaced; a whole-file replacement, a deletion or a rename would work"
    )]
    Binary,
    /// A mark at the start promises an encoding that the rest does not follow.
    #[error("the file begins with a {0} mark but is not valid {0}; convert it, or replace it as a whole")]
    Broken(&'static str),
    /// Not UTF-8, and nothing else that could be written back unchanged.
    #[error(
        "the file's encoding is not known: it is not UTF-8, and no other encoding reads it and writes back the same bytes; convert it, or replace it as a whole"
    )]
    Unknown,
}

/// Why a new version of a file cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileEncodeError {
    /// The encoding lacks the character, or reads it back as another one.
    #[error("the file is {encoding}, which cannot express `{character}` (U+{:04X}); convert the file to UTF-8 first", u32::from(*character))]
    Character { character: char, encoding: &'static str },
    /// The encoding is a guess, and the text has characters that depend on it.
    #[error("the file is not UTF-8 and its encoding is not certain, so `{character}` (U+{:04X}) cannot be written safely; convert the file to UTF-8 first", u32::from(*character))]
    Uncertain {
        /// The first non-ASCII character.
        character: char,
    },
    /// A piece keeps a line that the file does not have.
    #[error("the file has no line {0}")]
    NoSuchLine(usize),
}

impl TextFile {
    /// In order, without line endings and byte order mark.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator + Clone {
        self.lines.iter().map(|line| self.text_of(line))
    }

    /// A line (from 0) without its ending; `None` past the end.
    pub fn line(&self, line: usize) -> Option<&str> {
        self.lines.get(line).map(|line| self.text_of(line))
    }

    /// A final newline does not begin another line.
    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// The whole decoded text with its own line endings, without byte order mark.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Of a line (from 0); `None` past the end.
    pub fn line_ending(&self, line: usize) -> FileLineEnding {
        self.lines.get(line).map_or(FileLineEnding::None, |line| line.eol)
    }

    pub fn encoding(&self) -> &'static str {
        self.encoding.name()
    }

    /// An empty file has no last line.
    pub fn ends_with_newline(&self) -> bool {
        self.lines.last().is_some_and(|line| line.eol != FileLineEnding::None)
    }

    /// Builds the file from `pieces`. `newline` forces whether the last line has an ending; `None`
    /// keeps it as it was, and an empty file gets one. The byte order mark stays.
    ///
    /// # Errors
    /// [`FileEncodeError`] if new text cannot be written in the file's encoding.
    pub fn rebuild(
        &self,
        pieces: &[TextFilePiece],
        newline: Option<bool>,
    ) -> Result<Vec<u8>, FileEncodeError> {
        let ends = newline.unwrap_or(self.lines.is_empty() || self.ends_with_newline());
        let mut out = Vec::with_capacity(self.raw.len() + self.raw.len() / 8);
        out.extend_from_slice(&self.raw[..self.bom_length]);
        for (index, piece) in pieces.iter().enumerate() {
            let eol = self.write_piece(piece, &mut out)?;
            if ends || index + 1 < pieces.len() {
                encoding::write_ascii(self.encoding, eol.as_str(), &mut out);
            }
        }
        Ok(out)
    }

    /// Writes a piece without its last line ending and returns that ending.
    fn write_piece(
        &self,
        piece: &TextFilePiece,
        out: &mut Vec<u8>,
    ) -> Result<FileLineEnding, FileEncodeError> {
        match piece {
            TextFilePiece::Keep(index) => {
                let line = self.lines.get(*index).ok_or(FileEncodeError::NoSuchLine(index + 1))?;
                out.extend_from_slice(&self.raw[line.raw.clone()]);
                Ok(match line.eol {
                    FileLineEnding::None => self.ending_like(index.wrapping_sub(1)),
                    eol => eol,
                })
            }
            TextFilePiece::New { text, like } => {
                let eol = self.ending_like(*like);
                for (number, part) in text.split('\n').enumerate() {
                    if number > 0 {
                        encoding::write_ascii(self.encoding, eol.as_str(), out);
                    }
                    encoding::write(self.encoding, part, out)?;
                }
                Ok(eol)
            }
        }
    }

    /// The ending of a line, or the usual one if it has none or does not exist.
    fn ending_like(&self, line: usize) -> FileLineEnding {
        match self.line_ending(line) {
            FileLineEnding::None => self.usual_ending,
            eol => eol,
        }
    }

    fn text_of(&self, line: &TextFileLine) -> &str {
        &self.text[line.text.clone()]
    }
}

impl FileLineEnding {
    pub fn as_str(self) -> &'static str {
        match self {
            FileLineEnding::None => "",
            FileLineEnding::Lf => "\n",
            FileLineEnding::CrLf => "\r\n",
            FileLineEnding::Cr => "\r",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            FileLineEnding::None => "no newline",
            FileLineEnding::Lf => "LF",
            FileLineEnding::CrLf => "CRLF",
            FileLineEnding::Cr => "CR",
        }
    }
}
