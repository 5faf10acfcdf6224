//! The diff of a plan, for eyes: unified, or side by side where there is room.
//!
//! Control characters are visible and a change of line endings alone is one sentence. Every line is shown
//! whole: what is too long for a column goes on in the next row. Signs say what comes and what goes, colours only
//! say it again. What `git apply` takes is `relaycode_change::diff::patch`.

mod paint;
mod side;
#[cfg(test)]
mod tests;
mod unified;

use std::fmt::Write;
use std::time::{Duration, Instant};

use relaycode_change::diff::{self, Content, DiffHunk, DiffLine, Ending, FileDiff, LineKind};
use relaycode_change::plan::{FilePlan, Plan};
use relaycode_change::proposal::Mode;

use self::paint::Colours;
use super::{number, size};
use crate::look::{Look, Paint, Sign};

/// Narrower terminals show unified diffs only.
pub const SIDE_COLUMNS: usize = 80;

/// Looking for the colours of all files of a plan takes at most this long; files after that have fewer.
const COLOUR_BUDGET: Duration = Duration::from_millis(500);

/// How the lines of a file before and after are arranged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Layout {
    /// Below each other.
    #[default]
    Unified,
    /// In two columns. A file that is new or goes has only one side and is shown unified, and so is everything
    /// on a terminal with less than [`SIDE_COLUMNS`]; that is said.
    SideBySide {
        /// The cells of the whole terminal.
        columns: usize,
    },
}

/// The diff of every file that changes, each after an empty line.
pub fn text(plan: &Plan, look: &Look) -> String {
    text_in(plan, Layout::Unified, look)
}

/// The same in a layout.
pub fn text_in(plan: &Plan, layout: Layout, look: &Look) -> String {
    let files = plan.files.iter().filter(|file| file.change != relaycode_change::plan::Change::Unchanged);
    let diffs: Vec<(&FilePlan, FileDiff)> = files.map(|file| (file, diff::of_file(file))).collect();
    let (layout, mut out) = settle(layout, look);
    let start = Instant::now();
    for (file, diff) in &diffs {
        let left = COLOUR_BUDGET.saturating_sub(start.elapsed());
        out += &laid_out(diff, &Colours::of(file, diff, left, look), layout, look);
    }
    out
}

/// The diff of one file, after an empty line. Without the file's content there are no colours of its language.
pub fn file(diff: &FileDiff, look: &Look) -> String {
    laid_out(diff, &Colours::default(), Layout::Unified, look)
}

/// The diff of one file (all of it, or some of its places) in a layout, after an empty line.
pub fn file_in(file: &FilePlan, diff: &FileDiff, layout: Layout, look: &Look) -> String {
    let (layout, remark) = settle(layout, look);
    remark + &laid_out(diff, &Colours::of(file, diff, COLOUR_BUDGET, look), layout, look)
}

/// The layout that fits, and a remark if it is another one than was asked for.
fn settle(layout: Layout, look: &Look) -> (Layout, String) {
    match layout {
        Layout::SideBySide { columns } if columns < SIDE_COLUMNS => {
            let remark = format!("unified: side by side needs {SIDE_COLUMNS} columns, there are {columns}");
            (Layout::Unified, format!("\n{}\n", look.paint(Paint::Dim, &look.wrap(&remark, 0))))
        }
        fits => (fits, String::new()),
    }
}

fn laid_out(diff: &FileDiff, colours: &Colours, layout: Layout, look: &Look) -> String {
    let mut out = String::from("\n");
    write_head(&mut out, diff, look);
    let Content::Text { hunks, endings } = &diff.content else {
        return out;
    };
    if endings.is_some_and(|change| change.only) {
        return out;
    }
    let view = View { colours, mark_endings: endings.is_some(), look };
    let one_sided = diff.mode_before.is_none() || diff.mode_after.is_none();
    match layout {
        Layout::SideBySide { columns } if !one_sided => side::write(&mut out, hunks, columns, &view),
        _ => hunks.iter().for_each(|hunk| unified::write(&mut out, hunk, &view)),
    }
    out
}

/// What the lines of a file are shown with.
struct View<'a> {
    colours: &'a Colours,
    mark_endings: bool,
    look: &'a Look,
}

impl View<'_> {
    /// The sign of a carriage return, where it is part of the change.
    fn ending_mark(&self, line: &DiffLine) -> &'static str {
        let shown = matches!(line.ending, Ending::Crlf | Ending::Cr) && line.kind != LineKind::Context;
        if shown && self.mark_endings { self.look.sign(Sign::CarriageReturn) } else { "" }
    }

    fn hunk_head(&self, hunk: &DiffHunk) -> String {
        let (old, new) = ((hunk.old_start, hunk.old_lines), (hunk.new_start, hunk.new_lines));
        self.look.paint(Paint::Dim, &format!("@@ -{},{} +{},{} @@", old.0, old.1, new.0, new.1))
    }
}

/// Stands below a last line that has no ending.
const NO_NEWLINE: &str = "\\ No newline at end of file";

fn write_head(out: &mut String, file: &FileDiff, look: &Look) {
    let new = look.safe(file.path.as_str());
    let old = file.renamed_from.as_ref().unwrap_or(&file.path);
    let old = look.safe(old.as_str());
    let before = match file.mode_before {
        Some(_) => format!("a/{old}"),
        None => "/dev/null".to_string(),
    };
    let after = match file.mode_after {
        Some(_) => format!("b/{new}"),
        None => "/dev/null".to_string(),
    };
    let head = format!("--- {before}\n+++ {after}");
    for line in head.lines() {
        let _ = writeln!(out, "{}", look.paint(Paint::Strong, line));
    }
    for sentence in sentences(file, look) {
        let _ = writeln!(out, "{}", look.paint(Paint::Dim, &sentence));
    }
}

/// What lines cannot show.
fn sentences(file: &FileDiff, look: &Look) -> Vec<String> {
    let arrow = look.sign(Sign::Arrow);
    let mut out = Vec::new();
    match (file.mode_before, file.mode_after) {
        (Some(Mode::Regular), Some(Mode::Executable)) => out.push("becomes executable".into()),
        (Some(Mode::Executable), Some(Mode::Regular)) => out.push("no longer executable".into()),
        _ => {}
    }
    match &file.content {
        Content::Same if file.renamed_from.is_some() => out.push("moved, content unchanged".into()),
        Content::Same if file.mode_before.is_none() => out.push("a new empty file".into()),
        Content::Same if file.mode_after.is_none() => out.push("it was empty".into()),
        Content::Same => {}
        Content::Binary { bytes_before, bytes_after } => {
            let (before, after) = (size(*bytes_before), size(*bytes_after));
            out.push(match (file.mode_before, file.mode_after) {
                (None, _) => format!("binary file, {after}"),
                (_, None) => format!("binary file, {before}"),
                _ => format!("binary file, {before} {arrow} {after}"),
            });
        }
        Content::Text { endings: Some(change), .. } => {
            let only = if change.only { "only " } else { "" };
            out.push(format!(
                "{only}the line endings of {} change, {} {arrow} {}",
                number(change.lines, "line"),
                change.from.name(),
                change.to.name()
            ));
        }
        Content::Text { endings: None, .. } => {}
    }
    out
}
