//! Replaces the whole text of a file in its existing form.

use similar::DiffOp;

use super::{FileEncodeError, FileLineEnding, TextFile, TextFilePiece};
use crate::lines::align::diff_operations;

pub(super) fn encode_replacement(source: &TextFile, text: &str) -> Result<Vec<u8>, FileEncodeError> {
    if !source.certain
        && let Some(character) = text.chars().find(|c| !c.is_ascii())
    {
        return Err(FileEncodeError::Uncertain { character });
    }
    let text = match text.strip_prefix('\u{FEFF}') {
        Some(rest) if source.bom_length > 0 => rest,
        _ => text,
    };
    let (body, closed) = match text.strip_suffix('\n') {
        Some(body) => (body, true),
        None => (text, false),
    };
    if text.is_empty() {
        return source.rebuild(&[], None);
    }
    let lines: Vec<&str> = body.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    let open = !source.lines.is_empty() && !source.ends_with_newline();
    let pieces = match single_ending(source) {
        true => lines.iter().map(|line| new_piece(line, usize::MAX)).collect(),
        false => aligned_pieces(source, &lines),
    };
    source.rebuild(&pieces, Some(closed && !open))
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
