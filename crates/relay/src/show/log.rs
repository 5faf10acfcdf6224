//! The ledger as a list, newest first.
//!
//! ```text
//!   1   9d04aa31  now         revert     1 file   +1 −3      reverts 77e2d910
//!   2   3f9c1e2a  2 min ago   clipboard  3 files  +24 −5     feat: round totals to cents
//!   3 ↩ 77e2d910  yesterday   clipboard  1 file   +3 −1      fix: typo
//! ```

use super::{Part, counts, number};
use crate::clock;
use crate::stub::{Entry, Page};
use crate::terminal::{Look, Paint, Sign};

/// The entries of a page, and how many more there are.
pub(crate) fn text(page: &Page, look: &Look) -> String {
    if page.total == 0 {
        return "nothing was applied here yet\n".to_string();
    }
    let rows: Vec<Row> = page.entries.iter().map(|entry| Row::of(entry, look)).collect();
    let widest = |cells: fn(&Row) -> usize| rows.iter().map(cells).max().unwrap_or(0);
    let widths = Widths {
        index: rows.len().to_string().len().max(2),
        time: widest(|row| row.time.cells),
        origin: widest(|row| row.origin.cells),
        files: widest(|row| row.files.cells),
        counts: widest(|row| row.counts.cells),
    };
    let mut out = String::new();
    for (at, row) in rows.into_iter().enumerate() {
        out += &line(at + 1, row, &widths, look);
    }
    let more = page.total.saturating_sub(page.entries.len());
    if more > 0 {
        let all = page.total;
        let text = format!("and {more} more; `relay log -n {all}` lists them all");
        out += &format!("{}\n", look.paint(Paint::Dim, &text));
    }
    out
}

struct Row {
    mark: &'static str,
    id: String,
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

impl Row {
    fn of(entry: &Entry, look: &Look) -> Row {
        /// Cells of a name that relay did not choose.
        const ORIGIN: usize = 12;
        let mut tail = Vec::new();
        if entry.members.len() > 1 {
            tail.push(number(entry.members.len(), "edit"));
        }
        if !entry.revertible {
            tail.push("can no longer be reverted".to_string());
        }
        Row {
            mark: if entry.undone { look.sign(Sign::Reverted) } else { " " },
            id: look.clip(&entry.id, SHORT),
            time: Part::painted(look, Paint::Dim, &clock::ago(&entry.created_at)),
            origin: Part::plain(&look.clip(&entry.origin, ORIGIN)),
            files: Part::plain(&number(entry.files, "file")),
            counts: counts(look, entry.added, entry.removed),
            summary: summary(entry),
            tail,
        }
    }
}

/// Digits of an id that people see.
const SHORT: usize = 8;

/// What it was about, in a few words.
fn summary(entry: &Entry) -> String {
    let first = entry.summary.lines().map(str::trim).find(|line| !line.is_empty());
    match (first, entry.revert_of.as_slice()) {
        (_, [one]) => format!("reverts {}", one.short()),
        (_, [first, rest @ ..]) => format!("reverts {} and {} more", first.short(), rest.len()),
        (Some(line), []) => line.to_string(),
        (None, []) => String::new(),
    }
}

fn line(index: usize, row: Row, widths: &Widths, look: &Look) -> String {
    let index = format!("{index:>width$}", width = widths.index + 1);
    let time = row.time.padded(widths.time);
    let origin = row.origin.padded(widths.origin);
    let files = row.files.padded(widths.files);
    let counts = row.counts.padded(widths.counts);
    let taken = index.len() + 3 + SHORT + 8 + time.cells + origin.cells + files.cells + counts.cells + 2;
    let tail = row.tail.join(", ");
    let gap = if tail.is_empty() { "" } else { "   " };
    // Without a terminal lines may be long.
    let room = look
        .width
        .map_or(usize::MAX, |width| width.saturating_sub(taken + gap.len() + tail.len()).max(SHORTEST));
    let summary = look.clip(&row.summary, room);
    let tail = look.paint(Paint::Dim, &tail);
    let line = format!(
        "{index} {} {}  {}  {}  {}  {}  {summary}{gap}{tail}",
        row.mark, row.id, time.text, origin.text, files.text, counts.text
    );
    format!("{}\n", line.trim_end())
}

/// A summary is never cut shorter than this.
const SHORTEST: usize = 12;
