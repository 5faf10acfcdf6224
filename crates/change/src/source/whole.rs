//! Replacing the whole text of a file while keeping how it is written.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{Eol, Piece, Source, Unencodable};

/// Where endings are mixed, old and new lines are aligned; past this many differing lines (old
/// and new together) only the common start and end are.
const ALIGNED_LINES: usize = 8_000;

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
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(lines).take_while(same).count();
    let tail = old[head..].iter().rev().zip(lines[head..].iter().rev()).take_while(same).count();
    let (old_middle, new_middle) = (&old[head..old.len() - tail], &lines[head..lines.len() - tail]);

    let mut pieces: Vec<Piece> = (0..head).map(Piece::Keep).collect();
    let operations = if old_middle.len() + new_middle.len() <= ALIGNED_LINES {
        capture_diff_slices(Algorithm::Myers, old_middle, new_middle)
    } else {
        vec![DiffOp::Replace {
            old_index: 0,
            old_len: old_middle.len(),
            new_index: 0,
            new_len: new_middle.len(),
        }]
    };
    for operation in operations {
        if let DiffOp::Equal { old_index, len, .. } = operation {
            pieces.extend((old_index..old_index + len).map(|index| Piece::Keep(head + index)));
            continue;
        }
        let replaced = operation.old_range();
        for (nth, index) in operation.new_range().enumerate() {
            let like = match replaced.len() {
                0 => (head + replaced.start).saturating_sub(1),
                count => head + replaced.start + nth.min(count - 1),
            };
            pieces.push(new(new_middle[index], like));
        }
    }
    pieces.extend((old.len() - tail..old.len()).map(Piece::Keep));
    pieces
}
