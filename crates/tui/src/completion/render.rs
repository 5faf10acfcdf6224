//! The list as lines: the chosen entry with a sign before it, matched letters in colour, its help beside it where there is room.

use relaycode_text::width::cells;

use super::{CompletionEntry, CompletionKind, CompletionPopup, MAX_ROWS, OpenCompletion};
use crate::theme::{ThemeStyle, ThemeToken};

/// Cells of the sign before an entry.
const SIGN_CELLS: usize = 2;
/// Cells that help needs beside an entry.
const MIN_HELP_CELLS: usize = 16;
/// Cells of the column of names and arguments.
const MAX_NAME_CELLS: usize = 32;

impl CompletionPopup {
    /// At most eight lines, the last of which may count the entries; none is wider than `width`; none while it is closed.
    pub fn lines(&mut self, style: &ThemeStyle, width: usize) -> Vec<String> {
        let Some(open) = &mut self.open else { return Vec::new() };
        let rows = match open.total > MAX_ROWS {
            true => open.entries.len().min(MAX_ROWS - 1),
            false => open.entries.len(),
        };
        let first = open.first.min(open.index).max((open.index + 1).saturating_sub(rows));
        open.first = first.min(open.entries.len() - rows);
        let shown = &open.entries[open.first..open.first + rows];
        let is_path = open.word.kind == CompletionKind::Path;
        let sign = if open.word.kind == CompletionKind::Command { "/" } else { "" };
        let name_cells = shown.iter().map(|entry| label_cells(style, entry, sign)).max().unwrap_or(0);
        let name_cells = name_cells.min(MAX_NAME_CELLS);
        let mut lines: Vec<String> = Vec::new();
        for (index, entry) in shown.iter().enumerate() {
            let is_chosen = open.first + index == open.index;
            let mark = match (is_chosen, style.output.utf8) {
                (true, true) => "▸ ",
                (true, false) => "> ",
                (false, _) => "  ",
            };
            let room = width.saturating_sub(SIGN_CELLS);
            let body = match is_path {
                true => marked_name(style, entry, "", room, true),
                false => command_line(style, entry, sign, room, name_cells),
            };
            let line = format!("{}{body}", style.paint(ThemeToken::Accent, mark));
            lines.push(if is_chosen { style.paint_on(ThemeToken::SelectedBg, &line) } else { line });
        }
        lines.extend(count_line(style, open, rows, width));
        lines
    }
}

/// `9 of 1,204`, if not all are shown.
fn count_line(style: &ThemeStyle, open: &OpenCompletion, rows: usize, width: usize) -> Option<String> {
    let text = format!("  {} of {}", open.index + 1, open.total);
    (open.total > rows).then(|| style.paint(ThemeToken::Muted, &style.output.clip(&text, width)))
}

fn label_cells(style: &ThemeStyle, entry: &CompletionEntry, sign: &str) -> usize {
    let arguments =
        if entry.arguments.is_empty() { 0 } else { 1 + cells(&style.output.safe(&entry.arguments)) };
    cells(sign) + cells(&style.output.safe(&entry.text)) + arguments
}

fn command_line(
    style: &ThemeStyle,
    entry: &CompletionEntry,
    sign: &str,
    room: usize,
    name_cells: usize,
) -> String {
    let has_help = room >= name_cells + 2 + MIN_HELP_CELLS && !entry.help.is_empty();
    let label_room = if has_help { name_cells } else { room };
    let name = marked_name(style, entry, sign, label_room, false);
    let name_used = (cells(sign) + cells(&style.output.safe(&entry.text))).min(label_room);
    let arguments_room = label_room.saturating_sub(name_used + 1);
    let arguments = match entry.arguments.is_empty() || arguments_room < 3 {
        true => String::new(),
        false => format!(" {}", style.output.clip(&entry.arguments, arguments_room)),
    };
    let used = name_used + cells(&arguments);
    let mut line = name + &style.paint(ThemeToken::Muted, &arguments);
    if has_help {
        let blanks = " ".repeat(name_cells + 2 - used.min(name_cells));
        let help = style.output.clip(&entry.help, room - name_cells - 2);
        line += &format!("{blanks}{}", style.paint(ThemeToken::Dim, &help));
    }
    line
}

/// The name with its matched letters in colour, cut to `limit` cells: a path in its middle, so that its end stays.
fn marked_name(
    style: &ThemeStyle,
    entry: &CompletionEntry,
    sign: &str,
    limit: usize,
    is_path: bool,
) -> String {
    let room = limit.saturating_sub(cells(sign));
    let safe = style.output.safe(&entry.text);
    if cells(&safe) > room || safe != entry.text {
        let short =
            if is_path { style.output.path(&entry.text, room) } else { style.output.clip(&entry.text, room) };
        return format!("{sign}{}", marked_short(style, &short, entry));
    }
    format!("{sign}{}", marked_letters(style, &entry.text, entry.positions.iter().copied()))
}

/// Marks in what is left of a name that was cut: letters that stand in its beginning or its end still.
fn marked_short(style: &ThemeStyle, short: &str, entry: &CompletionEntry) -> String {
    let head = short.bytes().zip(entry.text.bytes()).take_while(|(a, b)| a == b).count();
    let tail = short.bytes().rev().zip(entry.text.bytes().rev()).take_while(|(a, b)| a == b).count();
    let tail = tail.min(short.len() - head.min(short.len()));
    let from_end = entry.text.len().saturating_sub(tail);
    let kept = entry.positions.iter().filter_map(|at| match at {
        at if *at < head => Some(*at),
        at if *at >= from_end => Some(short.len() - (entry.text.len() - at)),
        _ => None,
    });
    marked_letters(style, short, kept.filter(|at| short.is_char_boundary(*at)))
}

fn marked_letters(style: &ThemeStyle, text: &str, positions: impl Iterator<Item = usize>) -> String {
    let mut positions = positions.peekable();
    let (mut line, mut run, mut is_marked) = (String::new(), String::new(), false);
    let mut flush = |run: &mut String, marked: bool| {
        let text = std::mem::take(run);
        line.push_str(&if marked && !text.is_empty() {
            style.paint(ThemeToken::Accent, &text)
        } else {
            text
        });
    };
    for (at, c) in text.char_indices() {
        while positions.next_if(|position| *position < at).is_some() {}
        let marks = positions.peek() == Some(&at);
        if marks != is_marked {
            flush(&mut run, is_marked);
            is_marked = marks;
        }
        run.push(c);
    }
    flush(&mut run, is_marked);
    line
}
