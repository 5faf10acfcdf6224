//! The ledger as a list, newest first.
//!
//! ```text
//!   1   9d04aa31  now         revert     1 file   +1 −3      reverts 77e2d910
//!   2   3f9c1e2a  2 min ago   clipboard  3 files  +24 −5     feat: round totals to cents
//!   3 ↩ 77e2d910  yesterday   clipboard  1 file   +3 −1      fix: typo
//! ```

use super::{Part, counts, number};
use crate::clock;
use crate::commands::log::Row;
use crate::terminal::{Look, Paint, Sign};

/// The rows, and how many more there are than these.
pub(crate) fn text(rows: &[Row], total: usize, look: &Look) -> String {
    if total == 0 {
        return "nothing was applied here yet\n".to_string();
    }
    let lines: Vec<Line> = rows.iter().map(|row| Line::of(row, look)).collect();
    let widest = |cells: fn(&Line) -> usize| lines.iter().map(cells).max().unwrap_or(0);
    let widths = Widths {
        index: lines.len().to_string().len().max(2),
        time: widest(|line| line.time.cells),
        origin: widest(|line| line.origin.cells),
        files: widest(|line| line.files.cells),
        counts: widest(|line| line.counts.cells),
    };
    let mut out = String::new();
    for (row, line) in rows.iter().zip(lines) {
        out += &line.laid_out(row.index, &widths, look);
    }
    let more = total.saturating_sub(rows.len());
    if more > 0 {
        let text = format!("and {more} more; `relay log -n {total}` lists them all");
        out += &format!("{}\n", look.paint(Paint::Dim, &text));
    }
    out
}

/// The parts of a line.
struct Line {
    mark: &'static str,
    id: Part,
    time: Part,
    origin: Part,
    files: Part,
    counts: Part,
    summary: String,
    /// Said behind the summary.
    tail: Vec<String>,
}

struct Widths {
    index: usize,
    time: usize,
    origin: usize,
    files: usize,
    counts: usize,
}

impl Line {
    fn of(row: &Row, look: &Look) -> Line {
        /// Cells of a name that relay did not choose.
        const ORIGIN: usize = 12;
        let mut tail = Vec::new();
        if row.members.len() > 1 {
            tail.push(number(row.members.len(), "edit"));
        }
        if !row.revertible && row.damage.is_none() {
            tail.push("can no longer be reverted".to_string());
        }
        let id: String = row.id.iter().flat_map(|id| id.chars()).take(SHORT).collect();
        Line {
            mark: match row {
                Row { damage: Some(_), .. } => "!",
                Row { undone: true, .. } => look.sign(Sign::Reverted),
                _ => " ",
            },
            id: Part::plain(&look.safe(&id)).padded(SHORT),
            time: Part::painted(look, Paint::Dim, &look.safe(&clock::ago(&row.created_at))),
            origin: Part::plain(&look.clip(&row.origin, ORIGIN)),
            files: Part::plain(&number(row.files, "file")),
            counts: counts(look, row.added, row.removed),
            summary: summary(row),
            tail,
        }
    }

    fn laid_out(self, index: usize, widths: &Widths, look: &Look) -> String {
        /// A summary is never cut shorter than this.
        const SHORTEST: usize = 12;
        let index = format!("{index:>width$}", width = widths.index + 1);
        let start = Part::plain(&format!("{index} {} ", self.mark)).then(&self.id);
        let columns = [
            self.time.padded(widths.time),
            self.origin.padded(widths.origin),
            self.files.padded(widths.files),
            self.counts.padded(widths.counts),
        ];
        let gap = Part::plain("  ");
        let start = columns.iter().fold(start, |line, part| line.then(&gap).then(part)).then(&gap);
        let tail = self.tail.join(", ");
        let before_tail = if tail.is_empty() { "" } else { "   " };
        // Without a terminal lines may be long.
        let room = look.width.map_or(usize::MAX, |width| {
            width.saturating_sub(start.cells + before_tail.len() + tail.len()).max(SHORTEST)
        });
        let summary = look.clip(&self.summary, room);
        let line = format!("{}{summary}{before_tail}{}", start.text, look.paint(Paint::Dim, &tail));
        format!("{}\n", line.trim_end())
    }
}

/// Digits of an id that people see.
const SHORT: usize = 8;

/// What it was about, in a few words.
fn summary(row: &Row) -> String {
    if let Some(damage) = &row.damage {
        return format!("cannot be read: {damage}");
    }
    match row.revert_of.as_slice() {
        [] => row.summary.clone(),
        [one] => format!("reverts {}", one.short()),
        [first, rest @ ..] => format!("reverts {} and {} more", first.short(), rest.len()),
    }
}
