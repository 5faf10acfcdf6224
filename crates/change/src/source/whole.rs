//! Replacing the whole text of a file while keeping how it is written.

use similar::DiffOp;

use super::{Eol, Piece, Source, Unencodable};
use crate::align::operations;

pub(super) fn encode(source: &Source, text: &str) -> Result<Vec<u8>, Unencodable> {
    if !source.certain
        && let Some(character) = text.chars().find(|c| !c.is_ascii())
    {
        return Err(Unencodable::Uncertain { character });
    }
    let text = match text.strip_prefix('\u{FEFF}') {
        Some(rest) if source.mark > 0 => rest,
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
        true => lines.iter().map(|line| new(line, usize::MAX)).collect(),
        false => aligned(source, &lines),
    };
    source.rebuild(&pieces, Some(closed && !open))
}

/// Whether all lines that end do so in the same way.
fn single_ending(source: &Source) -> bool {
    let mut endings = source.lines.iter().map(|line| line.eol);
    endings.all(|eol| eol == source.usual || eol == Eol::None)
}

fn new(text: &str, like: usize) -> Piece {
    Piece::New { text: text.to_owned(), like }
}

/// Unchanged lines are kept, new ones end like the line of the old file that they replace or
/// follow.
fn aligned(source: &Source, lines: &[&str]) -> Vec<Piece> {
    let old: Vec<&str> = source.lines().collect();
    let mut pieces: Vec<Piece> = Vec::new();
    for operation in operations(&old, lines) {
        if let DiffOp::Equal { old_index, len, .. } = operation {
            pieces.extend((old_index..old_index + len).map(Piece::Keep));
            continue;
        }
        let replaced = operation.old_range();
        for (nth, index) in operation.new_range().enumerate() {
            let like = match replaced.len() {
                0 => replaced.start.saturating_sub(1),
                count => replaced.start + nth.min(count - 1),
            };
            pieces.push(new(lines[index], like));
        }
    }
    pieces
}
