//! What the tests of full-screen views look at.

use std::sync::Arc;

use relaycode_testkit::hostile_text;

use super::painted_row::painted_cells;
use crate::OutputStyle;
use crate::input::KeyPress;
use crate::theme::{ColorDepth, Theme, ThemeStyle};

/// Without colours.
pub(crate) fn plain_style() -> ThemeStyle {
    style(true)
}

pub(crate) fn ascii_style() -> ThemeStyle {
    style(false)
}

fn style(utf8: bool) -> ThemeStyle {
    let output = OutputStyle { color: false, utf8, width: None };
    ThemeStyle { output, theme: Arc::new(Theme::plain()), depth: ColorDepth::None }
}

/// The rows of a screen, each behind a bar, as many as it has.
pub(crate) fn framed(lines: &[String]) -> String {
    lines.iter().map(|line| format!("|{line}\n")).collect()
}

/// Keys as key files write them, with blanks between.
pub(crate) fn keys(text: &str) -> Vec<KeyPress> {
    text.split(' ').map(|key| key.parse().unwrap()).collect()
}

/// Text as it is typed.
pub(crate) fn typed(text: &str) -> Vec<KeyPress> {
    text.chars().map(KeyPress::char).collect()
}

/// The rows fit and hold nothing that a terminal obeys but colours and links.
#[track_caller]
pub(crate) fn check_rows(lines: &[String], width: usize, height: usize) {
    assert!(lines.len() <= height, "{} rows of {height}", lines.len());
    for line in lines {
        assert!(painted_cells(line) <= width, "{} cells of {width}: {line:?}", painted_cells(line));
        let without_links = without_links(line);
        let found = hostile_text::find_unsafe_char(&without_links, true);
        assert_eq!(found, None, "{line:?}");
    }
}

fn without_links(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\x1b]8;") {
        out.push_str(before);
        rest = after.split_once("\x1b\\").map_or("", |(_, rest)| rest);
    }
    out + rest
}

/// Sizes from the smallest screen on.
pub(crate) const SIZES: [(usize, usize); 9] =
    [(20, 5), (20, 3), (1, 1), (33, 8), (40, 12), (80, 24), (101, 10), (120, 40), (300, 20)];

/// Texts that try to get at the terminal.
pub(crate) fn hostile_texts() -> impl Iterator<Item = String> {
    (0..hostile_text::string_count()).step_by(41).map(hostile_text::hostile_string)
}
