//! Tables: read from their rows, laid out so that they fit. Columns shrink from the widest on and cells wrap; where even
//! that does not help, each row becomes lines of their own with the column's name.

use super::block::{CellAlignment, MarkdownTable};
use super::inline::inline_spans;
use super::styled_spans::{SpanLine, SpanLook, StyledSpan, spans_width, widest_word, wrap_spans};
use crate::theme::{SymbolKey, ThemeStyle, ThemeToken};

/// Below this width a table is shown row by row.
const TABLE_WIDTH: usize = 40;
/// Narrowest column, unless its texts are shorter.
const COLUMN_CELLS: usize = 6;
/// A word up to this width is not broken if that can be helped.
const WORD_CELLS: usize = 24;
/// Most columns.
const COLUMNS: usize = 32;

/// A table, if the second line divides its head from its rows.
pub(super) fn begin(head: &str, divider: &str) -> Option<MarkdownTable> {
    let divider = divider.trim();
    if !divider.contains('-') || divider.chars().any(|c| !matches!(c, '|' | '-' | ':' | ' ')) {
        return None;
    }
    let marks = split_row(divider);
    let header = split_row(head.trim());
    let valid = |mark: &String| {
        let dashes = mark.trim().trim_start_matches(':').trim_end_matches(':');
        !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-')
    };
    if marks.len() != header.len() || marks.len() > COLUMNS || !marks.iter().all(valid) {
        return None;
    }
    let alignment =
        marks.iter().map(|mark| match (mark.trim().starts_with(':'), mark.trim().ends_with(':')) {
            (true, true) => CellAlignment::Center,
            (false, true) => CellAlignment::Right,
            _ => CellAlignment::Left,
        });
    Some(MarkdownTable { alignment: alignment.collect(), header, rows: Vec::new() })
}

/// Exactly as many cells as the head has; what is too much is in the last one.
pub(super) fn cells_of_row(text: &str, columns: usize) -> Vec<String> {
    let mut cells = split_row(text.trim());
    if cells.len() > columns {
        let rest = cells.split_off(columns.saturating_sub(1));
        cells.push(rest.join(" | "));
    }
    cells.resize(columns, String::new());
    cells
}

/// A bar divides cells unless a backslash comes before it.
fn split_row(text: &str) -> Vec<String> {
    let text = text.strip_prefix('|').unwrap_or(text);
    let mut cells = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let cell = cells.last_mut();
        match (c, cell) {
            ('\\', Some(cell)) if chars.peek() == Some(&'|') => {
                chars.next();
                cell.push('|');
            }
            ('|', _) if chars.peek().is_none() => {}
            ('|', _) => cells.push(String::new()),
            (c, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The lines of a table of at most `width` cells.
pub(super) fn lines(table: &MarkdownTable, style: &ThemeStyle, width: usize) -> Vec<String> {
    let bold = SpanLook { bold: true, ..SpanLook::default() };
    let spans = |cells: &[String], look: &SpanLook| -> Vec<Vec<StyledSpan>> {
        cells.iter().map(|cell| inline_spans(style, cell, look)).collect()
    };
    let head = spans(&table.header, &bold);
    let rows: Vec<Vec<Vec<StyledSpan>>> =
        table.rows.iter().map(|row| spans(row, &SpanLook::default())).collect();
    let bar = format!(" {} ", style.symbol(SymbolKey::ColumnBar));
    let bars = crate::cells(&bar) * head.len().saturating_sub(1);
    let natural: Vec<usize> = (0..head.len())
        .map(|at| rows.iter().chain([&head]).map(|row| spans_width(&row[at])).max().unwrap_or(0).max(1))
        .collect();
    let words: Vec<usize> = (0..head.len())
        .map(|at| {
            rows.iter().chain([&head]).map(|row| widest_word(&row[at])).max().unwrap_or(0).min(WORD_CELLS)
        })
        .collect();
    // Whole words if that fits, else whatever does.
    let fits = width.checked_sub(bars).and_then(|room| {
        shrink(&natural, &words, room).or_else(|| shrink(&natural, &vec![COLUMN_CELLS; head.len()], room))
    });
    let Some(columns) = fits.filter(|columns| width >= TABLE_WIDTH || *columns == natural) else {
        return stacked(&head, &rows, style, width);
    };
    let bar = style.paint(ThemeToken::MdQuoteBorder, &bar);
    let mut out = row_lines(&head, &columns, table, style, &bar);
    out.push(divider(&columns, style));
    for row in &rows {
        out.extend(row_lines(row, &columns, table, style, &bar));
    }
    out
}

fn divider(columns: &[usize], style: &ThemeStyle) -> String {
    let rule = style.symbol(SymbolKey::Rule);
    let cross = format!("{rule}{}{rule}", style.symbol(SymbolKey::Cross));
    let parts: Vec<String> = columns.iter().map(|cells| rule.repeat(*cells)).collect();
    style.paint(ThemeToken::MdHr, &parts.join(&cross))
}

/// Widths that fit into `room`: the widest columns give first, none more than to its least width. Nothing if that is
/// not enough.
fn shrink(natural: &[usize], least: &[usize], room: usize) -> Option<Vec<usize>> {
    let mut columns = natural.to_vec();
    let mut over = columns.iter().sum::<usize>().saturating_sub(room);
    while over > 0 {
        let givers = columns.iter_mut().zip(least).filter(|(cells, least)| **cells > **least);
        let (widest, _) = givers.max_by_key(|(cells, _)| **cells)?;
        *widest -= 1;
        over -= 1;
    }
    Some(columns)
}

fn row_lines(
    row: &[Vec<StyledSpan>],
    columns: &[usize],
    table: &MarkdownTable,
    style: &ThemeStyle,
    bar: &str,
) -> Vec<String> {
    let cells: Vec<Vec<SpanLine>> =
        row.iter().zip(columns).map(|(spans, cells)| wrap_spans(spans, *cells)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let line = |at: usize| -> String {
        let parts = cells.iter().zip(columns).zip(&table.alignment).map(|((lines, width), alignment)| {
            let (text, used) =
                lines.get(at).map_or((String::new(), 0), |line| (line.painted(style), line.cells));
            let room = width.saturating_sub(used);
            let left = match alignment {
                CellAlignment::Left => 0,
                CellAlignment::Center => room / 2,
                CellAlignment::Right => room,
            };
            format!("{}{text}{}", " ".repeat(left), " ".repeat(room - left))
        });
        parts.collect::<Vec<_>>().join(bar).trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

/// Row by row: each cell below the name of its column, or beside it where there is room.
fn stacked(
    head: &[Vec<StyledSpan>],
    rows: &[Vec<Vec<StyledSpan>>],
    style: &ThemeStyle,
    width: usize,
) -> Vec<String> {
    let mut out = Vec::new();
    if rows.is_empty() {
        for name in head {
            out.extend(wrap_spans(name, width).iter().map(|line| line.painted(style)));
        }
    }
    for (number, row) in rows.iter().enumerate() {
        if number > 0 {
            out.push(style.paint(ThemeToken::MdHr, &style.symbol(SymbolKey::Rule).repeat(width.min(8))));
        }
        for (name, cell) in head.iter().zip(row) {
            if spans_width(cell) == 0 {
                continue;
            }
            let mut line = name.clone();
            if spans_width(name) > 0 {
                let apart = widest_word(cell) + spans_width(name) + 2 > width;
                let between = if apart { ":\n" } else { ": " };
                line.push(StyledSpan { text: between.to_owned(), look: SpanLook::default() });
            }
            line.extend(cell.iter().cloned());
            out.extend(wrap_spans(&line, width).iter().map(|line| line.painted(style)));
        }
    }
    out
}
