//! A place of a file as a unified diff: a sign before every line, tabs as they are.

use std::fmt::Write;

use relaycode_change::diff::{DiffHunk, DiffLineEnding, changed_words};

use super::paint::{paint_text, painted_spans, whole_line_paint};
use super::{DiffView, NO_NEWLINE};
use crate::layout::style::PaintRole;

pub(super) fn write(out: &mut String, hunk: &DiffHunk, view: &DiffView<'_>) {
    let look = view.look;
    let _ = writeln!(out, "{}", view.hunk_head(hunk));
    let words = if look.color { changed_words(hunk) } else { Vec::new() };
    for (at, line) in hunk.lines.iter().enumerate() {
        let (sign, mark) = (line.kind.sign(), view.ending_mark(line));
        let paint = whole_line_paint(line.kind);
        let text = match painted_spans(hunk, at, &words, view.colours) {
            None => paint_text(look, paint, &format!("{sign}{}{mark}", look.code(&line.text))),
            Some(pieces) => {
                let text: String = pieces
                    .iter()
                    .map(|piece| paint_text(look, piece.paint, &look.code(piece.text)))
                    .collect();
                paint_text(look, paint, &sign.to_string()) + &text + &paint_text(look, paint, mark)
            }
        };
        let _ = writeln!(out, "{text}");
        if line.ending == DiffLineEnding::None {
            let _ = writeln!(out, "{}", look.paint(PaintRole::Dim, NO_NEWLINE));
        }
    }
}
