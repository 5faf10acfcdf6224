//! Replaces the whole text of a file in its existing form.

use similar::DiffOp;

use super::{FileEncodeError, FileLineEnding, TextFile, TextFilePiece};
use crate::lines::align::diff_operations;

impl TextFile {
    /// Replaces the whole text by `text`, whose lines end in `\n`. Byte order mark, encoding and line endings
    /// stay; if the file mixes endings, unchanged lines keep theirs and new ones end like their neighbours. A
    /// file without final newline stays so.
    ///
    /// # Errors
    /// [`FileEncodeError`] if the text cannot be written in the file's encoding, or is not ASCII and
    /// the encoding is only a guess.
    pub fn encode_whole(&self, text: &str) -> Result<Vec<u8>, FileEncodeError> {
        if !self.certain
            && let Some(character) = text.chars().find(|c| !c.is_ascii())
        {
            return Err(FileEncodeError::Uncertain { character });
        }
        let text = match text.strip_prefix('\u{FEFF}') {
            Some(rest) if self.bom_length > 0 => rest,
            _ => text,
        };
        if text.is_empty() {
            return self.rebuild(&[], None);
        }
        let body = text.strip_suffix('\n');
        let lines = body.unwrap_or(text).split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        let lines: Vec<&str> = lines.collect();
        let open = !self.lines.is_empty() && !self.ends_with_newline();
        let pieces = match single_ending(self) {
            true => lines.iter().map(|line| new_piece(line, usize::MAX)).collect(),
            false => aligned_pieces(self, &lines),
        };
        self.rebuild(&pieces, Some(body.is_some() && !open))
    }
}

/// Whether all lines that end do so in the same way.
fn single_ending(source: &TextFile) -> bool {
    let mut endings = source.lines.iter().map(|line| line.eol);
    endings.all(|eol| eol == source.usual_ending || eol == FileLineEnding::None)
}

fn new_piece(text: &str, like: usize) -> TextFilePiece {
    TextFilePiece::New { text: text.to_owned(), like }
}

/// Unchanged lines are kept, new ones end like the line of the old file that they replace or follow.
fn aligned_pieces(source: &TextFile, lines: &[&str]) -> Vec<TextFilePiece> {
    let old: Vec<&str> = source.lines().collect();
    let mut pieces: Vec<TextFilePiece> = Vec::new();
    for operation in diff_operations(&old, lines) {
        if let DiffOp::Equal { old_index, len, .. } = operation {
            pieces.extend((old_index..old_index + len).map(TextFilePiece::Keep));
            continue;
        }
        let replaced = operation.old_range();
        for (nth, index) in operation.new_range().enumerate() {
            let like = match replaced.len() {
                0 => replaced.start.saturating_sub(1),
                count => replaced.start + nth.min(count - 1),
            };
            pieces.push(new_piece(lines[index], like));
        }
    }
    pieces
}
