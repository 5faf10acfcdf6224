//! A place of a file as a unified diff: a sign before every line, tabs as they are.

use std::fmt::Write;

use relaycode_change::diff::{DiffHunk, Ending, words};

use super::paint::{pieces, tint, whole};
use super::{NO_NEWLINE, View};
use crate::look::Paint;

pub(super) fn write(out: &mut String, hunk: &DiffHunk, view: &View<'_>) {
    let look = view.look;
    let _ = writeln!(out, "{}", view.hunk_head(hunk));
    let words = if look.color { words(hunk) } else { Vec::new() };
    for (at, line) in hunk.lines.iter().enumerate() {
        let (sign, mark) = (line.kind.sign(), view.ending_mark(line));
        let paint = whole(line.kind);
        let text = match pieces(hunk, at, &words, view.colours) {
            None => tint(look, paint, &format!("{sign}{}{mark}", look.code(&line.text))),
            Some(pieces) => {
                let text: String =
                    pieces.iter().map(|piece| tint(look, piece.paint, &look.code(piece.text))).collect();
                tint(look, paint, &sign.to_string()) + &text + &tint(look, paint, mark)
            }
        };
        let _ = writeln!(out, "{text}");
        if line.ending == Ending::None {
            let _ = writeln!(out, "{}", look.paint(Paint::Dim, NO_NEWLINE));
        }
    }
}
