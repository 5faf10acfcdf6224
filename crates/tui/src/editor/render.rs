//! The editor as lines: the rows around the cursor, a sign before them, and the place of the cursor.

use relaycode_text::width::cells;

use super::PromptEditor;
use super::boundaries::cluster_end;
use super::fragment::EditorSpanKind;
use super::layout::{EditorLayout, shown_cluster};
use super::search::HistorySearch;
use crate::OutputStyle;
use crate::theme::{ThemeStyle, ThemeToken};

/// Cells of the sign before each row.
const SIGN_CELLS: usize = 2;
/// Cells behind a row in which the cursor may stand.
const CURSOR_CELLS: usize = 1;

/// Row and column, both from 0.
pub type EditorCursor = (usize, usize);

impl PromptEditor {
    /// At most `max_rows` lines, none wider than `width`, and the cursor's place among them.
    pub fn lines(
        &mut self,
        style: &ThemeStyle,
        width: usize,
        max_rows: usize,
    ) -> (Vec<String>, EditorCursor) {
        let row_cells = width.saturating_sub(SIGN_CELLS + CURSOR_CELLS).max(1);
        let max_rows = max_rows.max(1);
        if let Some(search) = &self.search {
            return search_lines(search, style, width, max_rows);
        }
        if !self.layout.is_for(row_cells, style.output.utf8) {
            self.layout = EditorLayout::new(&self.text.text, row_cells, style.output.utf8);
        }
        if self.text.text.is_empty() {
            self.shown = 0..1;
            let text = style.paint(ThemeToken::Dim, &style.output.clip(&self.placeholder, row_cells));
            return (
                vec![format!("{}{text}", self.sign(style, 0, 0..1))],
                (0, SIGN_CELLS.min(width.saturating_sub(1))),
            );
        }
        let row = self.layout.row_of(self.cursor);
        self.scroll_to(row, max_rows);
        let shown = self.shown.clone();
        let lines = shown.clone().map(|row| {
            format!("{}{}", self.sign(style, row, shown.clone()), self.painted_row(style, row, row_cells))
        });
        let column = self.layout.column_of(&self.text.text, self.cursor).min(row_cells);
        (lines.collect(), (row - shown.start, (SIGN_CELLS + column).min(width.saturating_sub(1))))
    }

    /// As few rows as possible move, and no room below the text is wasted.
    fn scroll_to(&mut self, row: usize, max_rows: usize) {
        let count = self.layout.row_count();
        let rows = count.min(max_rows);
        let mut start = self.shown.start.min(row).min(count - rows);
        if row >= start + rows {
            start = row + 1 - rows;
        }
        self.shown = start..start + rows;
    }

    /// What stands before a row: the prompt, or that there is more above or below.
    fn sign(&self, style: &ThemeStyle, row: usize, shown: std::ops::Range<usize>) -> String {
        let utf8 = style.output.utf8;
        let is_more_above = row == shown.start && shown.start > 0;
        let is_more_below = row + 1 == shown.end && shown.end < self.layout.row_count();
        let (token, sign) = match (is_more_above, is_more_below) {
            (true, true) => (ThemeToken::Muted, if utf8 { "↕" } else { "|" }),
            (true, false) => (ThemeToken::Muted, if utf8 { "↑" } else { "^" }),
            (false, true) => (ThemeToken::Muted, if utf8 { "↓" } else { "v" }),
            _ if row == 0 && self.text.text.starts_with('!') && self.is_typed(0) => {
                (ThemeToken::BashMode, "!")
            }
            _ if row == 0 => (ThemeToken::Accent, if utf8 { "›" } else { ">" }),
            _ => return "  ".to_string(),
        };
        format!("{} ", style.paint(token, sign))
    }

    fn painted_row(&self, style: &ThemeStyle, row: usize, row_cells: usize) -> String {
        let text = &self.text.text;
        let range = self.layout.row(text, row);
        let mut line = String::new();
        let mut run = PaintedRun::default();
        let (mut at, mut column) = (range.start, 0);
        let mut spans = self.text.spans.iter().skip_while(|span| span.range.end <= range.start).peekable();
        while at < range.end {
            let end = cluster_end(text, at);
            while spans.next_if(|span| span.range.end <= at).is_some() {}
            let is_chip = spans
                .peek()
                .is_some_and(|span| span.range.start <= at && matches!(span.kind, EditorSpanKind::Chip(_)));
            let cluster = &text[at..end];
            let mut shown = shown_cluster(cluster, column, style.output.utf8);
            // A character may be wider than the whole row.
            if cells(&shown) > row_cells {
                shown = style.output.clip(&shown, row_cells).into();
            }
            let is_written_out = shown.starts_with('\\') && cluster != "\\";
            column += cells(&shown);
            if column <= row_cells {
                let token = match (is_chip, is_written_out) {
                    (true, _) => Some(ThemeToken::Accent),
                    (false, true) => Some(ThemeToken::Warning),
                    _ => None,
                };
                run.push(style, &mut line, token, &shown);
            }
            at = end;
        }
        run.flush(style, &mut line);
        line
    }
}

/// Characters side by side in the same colour.
#[derive(Default)]
struct PaintedRun {
    token: Option<ThemeToken>,
    text: String,
}

impl PaintedRun {
    fn push(&mut self, style: &ThemeStyle, line: &mut String, token: Option<ThemeToken>, text: &str) {
        if self.token != token {
            self.flush(style, line);
            self.token = token;
        }
        self.text.push_str(text);
    }

    fn flush(&mut self, style: &ThemeStyle, line: &mut String) {
        match self.token {
            Some(token) if !self.text.is_empty() => line.push_str(&style.paint(token, &self.text)),
            _ => line.push_str(&self.text),
        }
        self.text.clear();
    }
}

/// The hit, and below it the query with the cursor.
fn search_lines(
    search: &HistorySearch,
    style: &ThemeStyle,
    width: usize,
    max_rows: usize,
) -> (Vec<String>, EditorCursor) {
    let mut lines = Vec::new();
    let room = width.saturating_sub(SIGN_CELLS);
    if let Some(hit) = search.hit() {
        let all = hit.lines().count();
        let shown = all.min(max_rows.saturating_sub(1));
        for (index, line) in hit.lines().take(shown).enumerate() {
            let more = all - shown;
            if index + 1 == shown && more > 0 && shown > 1 {
                let sign = if style.output.utf8 { "…" } else { "..." };
                let text = style.output.clip(&format!("{sign} {} more lines", more + 1), room);
                lines.push(format!("  {}", style.paint(ThemeToken::Muted, &text)));
            } else {
                // Cut before it is escaped: a line may be very long.
                let head: String = line.chars().take(width * 2).collect();
                lines.push(format!("  {}", marked_line(style, &head, &search.query, room)));
            }
        }
    }
    let place = match search.hits.len() {
        0 if search.query.is_empty() => "no earlier prompts".to_string(),
        0 => "nothing found".to_string(),
        count => format!("{} of {count}", search.index + 1),
    };
    let label = "search: ";
    let query_room = width.saturating_sub(cells(label) + CURSOR_CELLS);
    let query = tail_cells(&style.output, &search.query, query_room);
    let typed = cells(label) + cells(&query);
    let mut line = format!("{}{query}", style.paint(ThemeToken::Accent, &style.output.clip(label, width)));
    let mut used = typed + CURSOR_CELLS;
    for hint in [place.as_str(), "Enter takes it", "Ctrl+R older", "Esc back"] {
        if used + 2 + cells(hint) > width {
            break;
        }
        line.push_str(&style.paint(ThemeToken::Muted, &format!("   {hint}")));
        used += 3 + cells(hint);
    }
    lines.push(line);
    let row = lines.len() - 1;
    (lines, (row, typed.min(width.saturating_sub(1))))
}

/// The end of a text that is safe, with at most `limit` cells.
fn tail_cells(output: &OutputStyle, text: &str, limit: usize) -> String {
    let safe = output.safe(text);
    let mut start = safe.len();
    for (index, _) in safe.char_indices().rev() {
        if cells(&safe[index..]) > limit {
            break;
        }
        start = index;
    }
    safe[start..].to_string()
}

/// A line with the words of `query` marked.
fn marked_line(style: &ThemeStyle, text: &str, query: &str, limit: usize) -> String {
    let shown = style.output.clip(text, limit);
    let lower = shown.to_ascii_lowercase();
    let mut marks: Vec<std::ops::Range<usize>> = Vec::new();
    for word in query.split_whitespace() {
        let word = word.to_ascii_lowercase();
        if let Some(at) = lower.find(&word) {
            marks.push(at..at + word.len());
        }
    }
    marks.sort_by_key(|mark| mark.start);
    let (mut line, mut reached) = (String::new(), 0);
    for mark in marks {
        if mark.start < reached {
            continue;
        }
        line.push_str(&shown[reached..mark.start]);
        line.push_str(&style.paint(ThemeToken::Accent, &shown[mark.clone()]));
        reached = mark.end;
    }
    line.push_str(&shown[reached..]);
    line
}
