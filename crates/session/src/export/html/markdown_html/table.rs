//! Tables: a row of names, a row of dashes, and rows for as long as lines have bars.

use super::inline;
use super::line::{begins_block, indent, is_blank};

/// Most columns; a wider table is text.
const MAX_COLUMNS: usize = 64;

/// Writes the table that begins here and returns the lines after it; `None` if none begins.
pub(super) fn push<'a, 'b>(out: &mut String, lines: &'b [&'a str]) -> Option<&'b [&'a str]> {
    let [names, dashes, ..] = lines else { return None };
    if !names.contains('|') || !is_dashes(dashes) {
        return None;
    }
    let columns = cells(names);
    if columns.len() > MAX_COLUMNS || columns.len() != cells(dashes).len() {
        return None;
    }
    out.push_str("<div class=\"wide\" tabindex=\"0\"><table><thead>");
    row(out, &columns, "th");
    out.push_str("</thead><tbody>");
    let rows = lines[2..]
        .iter()
        .take_while(|line| line.contains('|') && !is_blank(line) && !begins_block(line))
        .count();
    for line in &lines[2..2 + rows] {
        row(out, &cells(line), "td");
    }
    out.push_str("</tbody></table></div>\n");
    Some(&lines[2 + rows..])
}

fn row(out: &mut String, cells: &[String], tag: &str) {
    out.push_str("<tr>");
    for cell in cells {
        out.push_str(&format!("<{tag}>"));
        inline::push(out, cell);
        out.push_str(&format!("</{tag}>"));
    }
    out.push_str("</tr>");
}

fn is_dashes(line: &str) -> bool {
    let known = line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'));
    indent(line) < 4 && known && line.contains('|') && cells(line).iter().all(|cell| cell.contains('-'))
}

/// The cells between the bars; a bar after a backslash or in code is text.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let (mut cells, mut cell, mut code, mut escaped) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '|' if escaped => {
                cell.pop();
                cell.push('|');
            }
            '|' if !code => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            _ => cell.push(c),
        }
        code ^= c == '`';
        escaped = c == '\\' && !escaped;
    }
    if !cell.trim().is_empty() {
        cells.push(cell.trim().to_owned());
    }
    cells
}
