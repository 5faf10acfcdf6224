//! A hunk as a unified diff: a sign before every line, tabs unchanged.

use std::fmt::Write;

use relaycode_change::diff::{DiffHunk, FileLineEnding, changed_words};

use super::paint::{paint_text, painted_spans, whole_line_paint};
use super::{DiffView, NO_NEWLINE};
use crate::PaintRole;

pub(super) fn write(out: &mut String, hunk: &DiffHunk, view: &DiffView<'_>) {
    let style = view.style;
    let _ = writeln!(out, "{}", view.hunk_head(hunk));
    let words = if style.color { changed_words(hunk) } else { Vec::new() };
    for (at, line) in hunk.lines.iter().enumerate() {
        let (sign, mark) = (line.kind.sign(), view.ending_mark(line));
        let paint = whole_line_paint(line.kind);
        let text = match painted_spans(hunk, at, &words, view.colours) {
            None => paint_text(style, paint, &format!("{sign}{}{mark}", style.code(&line.text))),
            Some(pieces) => {
                let pieces = pieces.iter();
                let text: String =
                    pieces.map(|piece| paint_text(style, piece.paint, &style.code(piece.text))).collect();
                paint_text(style, paint, &sign.to_string()) + &text + &paint_text(style, paint, mark)
            }
        };
        let _ = writeln!(out, "{text}");
        if line.ending == FileLineEnding::None {
            let _ = writeln!(out, "{}", style.paint(PaintRole::Dim, NO_NEWLINE));
        }
    }
}
