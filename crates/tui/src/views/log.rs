//! The ledger as a list, newest first.
//!
//! ```text
//!   1   9d04aa31  now         undo       1 file   +1 −3      undoes: fix: typo
//!   2   3f9c1e2a  2 min ago   clipboard  3 files  +24 −5     feat: round totals to cents
//!   3 ↩ 77e2d910  yesterday   clipboard  1 file   +3 −1      fix: typo
//! ```

use relaycode_ledger::log::PROMPT_GROUP as PROMPT;
use relaycode_ledger::{LogEntry, LogTransaction, SET_ASIDE_ORIGIN, TxId};
use serde::Serialize;

use crate::{Glyph, OutputStyle, PaintRole, StyledText, cells, clock, line_counts, narrow, pluralize};

/// One line of the list.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogRow {
    /// Accepted by `relay show` and `relay revert`, like the id.
    pub index: usize,
    /// The transaction or the group; `None` if the record is too damaged to tell.
    pub id: Option<String>,
    /// How many characters of the id are its own; more than eight where others begin alike.
    #[serde(skip)]
    pub short: usize,
    /// The transactions, newest first: one, or those of a group.
    pub members: Vec<String>,
    /// How many of them are somebody's edits.
    #[serde(skip)]
    pub edits: usize,
    /// ISO 8601 in UTC.
    pub created_at: String,
    pub origin: String,
    pub files: usize,
    pub added: usize,
    pub removed: usize,
    /// Its title.
    pub summary: String,
    pub undone: bool,
    /// Some of it was taken back.
    pub partly_undone: bool,
    pub revertible: bool,
    /// Your relay did not write it here, and you did not accept it yet.
    pub foreign: bool,
    /// A group that nobody finished.
    pub interrupted: bool,
    pub revert_of: Vec<TxId>,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
}

impl LogRow {
    pub fn from_entry(entry: &LogEntry) -> LogRow {
        let all = &entry.members;
        // What relay set aside of a command is part of it, and no edit of anybody's.
        let edits = || all.iter().filter(|item| item.origin != SET_ASIDE_ORIGIN);
        let members: Vec<&LogTransaction> =
            if edits().count() == 0 { all.iter().collect() } else { edits().collect() };
        let newest = members.first();
        let sum = |count: fn(&LogTransaction) -> usize| {
            members.iter().copied().map(count).fold(0, usize::saturating_add)
        };
        LogRow {
            index: entry.position,
            id: entry.group.clone().or_else(|| newest?.id.map(|id| id.to_string())),
            short: SHORT,
            edits: members.len(),
            members: all.iter().filter_map(|item| item.id).map(|id| id.to_string()).collect(),
            created_at: newest.map(|item| item.created_at.clone()).unwrap_or_default(),
            origin: newest.map(|item| item.origin.clone()).unwrap_or_default(),
            files: entry.files,
            added: sum(|item| item.added),
            removed: sum(|item| item.removed),
            summary: entry.title().to_string(),
            undone: members.iter().all(|item| item.undone),
            foreign: all.iter().any(|item| item.foreign && item.damage.is_none()),
            partly_undone: members.iter().any(|item| item.undone || item.partly_undone)
                && !members.iter().all(|item| item.undone),
            interrupted: entry.interrupted,
            revertible: all.iter().all(|item| item.revertible),
            revert_of: members.iter().flat_map(|item| item.revert_of.clone()).collect(),
            damage: all.iter().find_map(|item| item.damage.clone()),
        }
    }
}

impl LogRow {
    fn short_id(&self) -> String {
        let id = self.id.as_deref().unwrap_or_default();
        // A prompt goes by its digits: what stands before them is the same for all.
        id.strip_prefix(PROMPT).unwrap_or(id).chars().take(self.short).collect()
    }
}

/// The rows, and how many more there are out of `total`. `any`: the ledger has entries, though perhaps none
/// that match.
pub fn text(rows: &[LogRow], total: usize, any: bool, style: &OutputStyle) -> String {
    if total == 0 {
        let fits = "nothing in the log fits that; `relay log` lists it all\n";
        return style.wrap(if any { fits } else { "nothing has been applied here yet\n" }, 2);
    }
    let lines: Vec<LogLine> = rows.iter().map(|row| LogLine::from_row(row, style)).collect();
    let index = rows.iter().map(|row| row.index.to_string().len()).max().unwrap_or(0).max(2);
    let widest = |at: usize| lines.iter().map(|line| line.columns[at].cells).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(widest);
    let id_cells = rows.iter().map(|row| row.short).max().unwrap_or(SHORT);
    let fits = |line: &LogLine| line.least(index, id_cells, &widths) <= style.columns();
    let stacked = style.is_narrow() && !lines.iter().all(fits);
    let mut out = String::new();
    for (row, line) in rows.iter().zip(lines) {
        out += &match stacked {
            true => line.stacked(row, index, style),
            false => line.laid_out(row.index, (index, id_cells), &widths, style),
        };
    }
    let more = total.saturating_sub(rows.len());
    if more > 0 {
        let text = format!("and {more} more; `relay log -n {total}` lists them all");
        out += &format!("{}\n", style.paint(PaintRole::Dim, &style.wrap(&text, 2)));
    }
    out
}

/// An id and a summary on each line, for scripts and narrow places.
pub fn oneline(rows: &[LogRow], style: &OutputStyle) -> String {
    let mut out = String::new();
    for row in rows {
        let id = row.short_id();
        let mark = if row.undone { format!("{} ", style.glyph(Glyph::Reverted)) } else { String::new() };
        let start = format!("{} {mark}", style.clip(&id, row.short));
        let room = if style.is_narrow() { style.columns().saturating_sub(cells(&start)) } else { usize::MAX };
        let line = format!("{start}{}", style.clip(&style.title(&summary(row)), room));
        out += &format!("{}\n", line.trim_end());
    }
    out
}

struct LogLine {
    mark: &'static str,
    id: StyledText,
    /// The time, the origin, how many files, how many lines.
    columns: [StyledText; 4],
    summary: String,
    /// After the summary.
    tail: Vec<String>,
}

impl LogLine {
    fn from_row(row: &LogRow, style: &OutputStyle) -> LogLine {
        /// Most cells of an origin that relay did not choose.
        const ORIGIN: usize = 12;
        /// Most cells of a time; anything longer is not a time.
        const TIME: usize = 14;
        let mut tail = Vec::new();
        if row.edits > 1 {
            tail.push(pluralize(row.edits, "edit"));
        }
        if row.interrupted {
            tail.push("interrupted".to_string());
        }
        if row.foreign {
            tail.push("not written by your relay".to_string());
        }
        if row.partly_undone {
            tail.push("partly undone".to_string());
        }
        if !row.revertible && row.damage.is_none() {
            tail.push("can no longer be undone".to_string());
        }
        LogLine {
            mark: match row {
                LogRow { damage: Some(_), .. } => "!",
                LogRow { undone: true, .. } => style.glyph(Glyph::Reverted),
                LogRow { foreign: true, .. } => "!",
                _ => " ",
            },
            id: StyledText::plain(&style.clip(&row.short_id(), row.short)),
            columns: [
                StyledText::painted(style, PaintRole::Dim, &style.clip(&clock::ago(&row.created_at), TIME)),
                StyledText::plain(&style.clip(&row.origin, ORIGIN)),
                StyledText::plain(&pluralize(row.files, "file")),
                line_counts(style, row.added, row.removed),
            ],
            summary: style.title(&summary(row)).into_owned(),
            tail,
        }
    }

    /// Least cells of a row whose summary still says something.
    fn least(&self, index: usize, id_cells: usize, widths: &[usize; 4]) -> usize {
        /// Cells of such a summary.
        const SAYING: usize = 20;
        /// The mark and the gaps between the columns.
        const BETWEEN: usize = 4 + 5 * 2;
        let tail: usize = self.tail.iter().map(|text| cells(text) + 3).sum();
        let columns = index + id_cells + widths.iter().sum::<usize>();
        BETWEEN + columns + cells(&self.summary).min(SAYING) + tail
    }

    /// With the summary and whatever else does not fit below the row.
    fn stacked(self, row: &LogRow, index_cells: usize, style: &OutputStyle) -> String {
        let lead = StyledText::plain(&format!("{:>width$} {} ", row.index, self.mark, width = index_cells));
        let indent = lead.cells;
        let [time, origin, files, counts] = self.columns;
        let columns = [self.id, time, origin, files, counts];
        let mut out = narrow::flow_parts(style, lead, indent, 2, &columns);
        let edge = || StyledText::plain(&" ".repeat(indent));
        if row.damage.is_some() {
            // It appears nowhere else.
            let said = style.safe(&self.summary).into_owned();
            out += &(style.wrap(&format!("{}{said}", edge().text), indent) + "\n");
        } else if !self.summary.trim().is_empty() {
            out += &narrow::title_rows(style, edge(), indent, &self.summary);
        }
        if !self.tail.is_empty() {
            let tail = narrow::painted_words(style, PaintRole::Dim, &self.tail.join(", "));
            out += &narrow::flow_parts(style, edge(), indent, 1, &tail);
        }
        out
    }

    fn laid_out(
        self,
        number: usize,
        (index, id_cells): (usize, usize),
        widths: &[usize; 4],
        style: &OutputStyle,
    ) -> String {
        /// A summary is never cut shorter than this.
        const SHORTEST: usize = 12;
        let number = format!("{number:>width$}", width = index + 1);
        let start = StyledText::plain(&format!("{number} {} ", self.mark)).append(&self.id.padded(id_cells));
        let gap = StyledText::plain("  ");
        let columns = self.columns.into_iter().zip(widths).map(|(part, width)| part.padded(*width));
        let start = columns.fold(start, |line, part| line.append(&gap).append(&part)).append(&gap);
        let tail = self.tail.join(", ");
        let before_tail = if tail.is_empty() { "" } else { "   " };
        // Without a terminal lines may be long.
        let room = style.width.map_or(usize::MAX, |width| {
            width.saturating_sub(start.cells + before_tail.len() + tail.len()).max(SHORTEST)
        });
        let summary = style.clip(&self.summary, room);
        let line = format!("{}{summary}{before_tail}{}", start.text, style.paint(PaintRole::Dim, &tail));
        format!("{}\n", line.trim_end())
    }
}

/// Digits of an id shown to people, if no more are needed.
const SHORT: usize = 8;

/// What it was about, in a few words.
fn summary(row: &LogRow) -> String {
    if let Some(damage) = &row.damage {
        return format!("cannot be read: {damage}");
    }
    row.summary.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: OutputStyle = OutputStyle { color: false, utf8: true, width: Some(80) };

    fn row(index: usize, id: &str, summary: &str) -> LogRow {
        LogRow {
            index,
            id: Some(id.to_string()),
            short: SHORT,
            members: vec![id.to_string()],
            edits: 1,
            created_at: "before clocks".into(),
            origin: "agent".into(),
            files: 1,
            added: 120,
            removed: 33,
            summary: summary.into(),
            undone: false,
            foreign: false,
            partly_undone: false,
            interrupted: false,
            revertible: true,
            revert_of: Vec::new(),
            damage: None,
        }
    }

    #[test]
    fn groups_lost_contents_and_damage_are_told() {
        let group = LogRow {
            members: vec!["a".into(), "b".into(), "c".into()],
            edits: 3,
            files: 12,
            ..row(1, "a81b07c4-turn", "add retry to the client and to everything else that calls it")
        };
        let lost = LogRow { revertible: false, removed: 0, ..row(2, "3f9c1e2a", "old") };
        let damaged = LogRow { id: None, damage: Some("cut off".into()), ..row(3, "", "") };
        let expected = [
            "  1   a81b07c4  before clocks  agent  12 files  +120 −33  add retry t…   3 edits",
            "  2   3f9c1e2a  before clocks  agent  1 file    +120      old   can no longer be undone",
            "  3 !           before clocks  agent  1 file    +120 −33  cannot be read: cut o…",
            "and 4 more; `relay log -n 7` lists them all",
        ];
        let out = text(&[group, lost, damaged], 7, true, &PLAIN);
        assert_eq!(out.lines().collect::<Vec<_>>(), expected);
    }
}
