//! The diff of a plan, for eyes: unified, or side by side where there is room.
//!
//! Control characters are visible and a change of line endings alone is one sentence. Every line is shown
//! whole: what is too long for a column goes on in the next row. Signs say what comes and what goes, colours only
//! say it again. What `git apply` takes is `relaycode_change::diff::patch`.

mod paint;
mod side_by_side;
#[cfg(test)]
mod tests;
mod unified;

use std::fmt::Write;
use std::time::{Duration, Instant};

use relaycode_change::diff::{self, DiffContent, DiffHunk, DiffLine, DiffLineEnding, DiffLineKind, FileDiff};
use relaycode_change::plan::{FilePlan, Plan};
use relaycode_change::proposal::GitFileMode;

use self::paint::SyntaxColours;
use crate::layout::style::{Glyph, OutputStyle, PaintRole};
use crate::{human_size, pluralize};

/// Narrower terminals show unified diffs only.
pub const SIDE_COLUMNS: usize = 80;

/// Looking for the colours of all files of a plan takes at most this long; files after that have fewer.
const COLOUR_BUDGET: Duration = Duration::from_millis(500);

/// How the lines of a file before and after are arranged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DiffLayout {
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
pub fn text(plan: &Plan, look: &OutputStyle) -> String {
    text_with_layout(plan, DiffLayout::Unified, look)
}

/// The same in a layout.
pub fn text_with_layout(plan: &Plan, layout: DiffLayout, look: &OutputStyle) -> String {
    let files =
        plan.files.iter().filter(|file| file.change != relaycode_change::plan::FileChangeKind::Unchanged);
    let diffs: Vec<(&FilePlan, FileDiff)> = files.map(|file| (file, diff::diff_file(file))).collect();
    let (layout, mut out) = choose_layout(layout, look);
    let start = Instant::now();
    for (file, diff) in &diffs {
        let left = COLOUR_BUDGET.saturating_sub(start.elapsed());
        out += &render_file(diff, &SyntaxColours::for_diff(file, diff, left, look), layout, look);
    }
    out
}

/// The diff of one file, after an empty line. Without the file's content there are no colours of its language.
pub fn file_text(diff: &FileDiff, look: &OutputStyle) -> String {
    render_file(diff, &SyntaxColours::default(), DiffLayout::Unified, look)
}

/// The diff of one file (all of it, or some of its places) in a layout, after an empty line.
pub fn file_text_with_layout(
    file: &FilePlan,
    diff: &FileDiff,
    layout: DiffLayout,
    look: &OutputStyle,
) -> String {
    let (layout, remark) = choose_layout(layout, look);
    remark + &render_file(diff, &SyntaxColours::for_diff(file, diff, COLOUR_BUDGET, look), layout, look)
}

/// The layout that fits, and a remark if it is another one than was asked for.
fn choose_layout(layout: DiffLayout, look: &OutputStyle) -> (DiffLayout, String) {
    match layout {
        DiffLayout::SideBySide { columns } if columns < SIDE_COLUMNS => {
            let remark = format!("unified: side by side needs {SIDE_COLUMNS} columns, there are {columns}");
            (DiffLayout::Unified, format!("\n{}\n", look.paint(PaintRole::Dim, &look.wrap(&remark, 0))))
        }
        fits => (fits, String::new()),
    }
}

fn render_file(diff: &FileDiff, colours: &SyntaxColours, layout: DiffLayout, look: &OutputStyle) -> String {
    let mut out = String::from("\n");
    write_head(&mut out, diff, look);
    let DiffContent::Text { hunks, endings } = &diff.content else {
        return out;
    };
    if endings.is_some_and(|change| change.only) {
        return out;
    }
    let view = DiffView { colours, mark_endings: endings.is_some(), look };
    let one_sided = diff.mode_before.is_none() || diff.mode_after.is_none();
    match layout {
        DiffLayout::SideBySide { columns } if !one_sided => {
            side_by_side::write(&mut out, hunks, columns, &view)
        }
        _ => hunks.iter().for_each(|hunk| unified::write(&mut out, hunk, &view)),
    }
    out
}

/// What the lines of a file are shown with.
struct DiffView<'a> {
    colours: &'a SyntaxColours,
    mark_endings: bool,
    look: &'a OutputStyle,
}

impl DiffView<'_> {
    /// The sign of a carriage return, where it is part of the change.
    fn ending_mark(&self, line: &DiffLine) -> &'static str {
        let shown = matches!(line.ending, DiffLineEnding::Crlf | DiffLineEnding::Cr)
            && line.kind != DiffLineKind::Context;
        if shown && self.mark_endings { self.look.glyph(Glyph::CarriageReturn) } else { "" }
    }

    fn hunk_head(&self, hunk: &DiffHunk) -> String {
        let (old, new) = ((hunk.old_start, hunk.old_lines), (hunk.new_start, hunk.new_lines));
        self.look.paint(PaintRole::Dim, &format!("@@ -{},{} +{},{} @@", old.0, old.1, new.0, new.1))
    }
}

/// Stands below a last line that has no ending.
const NO_NEWLINE: &str = "\\ No newline at end of file";

fn write_head(out: &mut String, file: &FileDiff, look: &OutputStyle) {
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
        let _ = writeln!(out, "{}", look.paint(PaintRole::Strong, line));
    }
    for sentence in sentences(file, look) {
        let _ = writeln!(out, "{}", look.paint(PaintRole::Dim, &sentence));
    }
}

/// What lines cannot show.
fn sentences(file: &FileDiff, look: &OutputStyle) -> Vec<String> {
    let arrow = look.glyph(Glyph::Arrow);
    let mut out = Vec::new();
    match (file.mode_before, file.mode_after) {
        (Some(GitFileMode::Regular), Some(GitFileMode::Executable)) => out.push("becomes executable".into()),
        (Some(GitFileMode::Executable), Some(GitFileMode::Regular)) => {
            out.push("no longer executable".into())
        }
        _ => {}
    }
    match &file.content {
        DiffContent::Same if file.renamed_from.is_some() => out.push("moved, content unchanged".into()),
        DiffContent::Same if file.mode_before.is_none() => out.push("a new empty file".into()),
        DiffContent::Same if file.mode_after.is_none() => out.push("it was empty".into()),
        DiffContent::Same => {}
        DiffContent::Binary { bytes_before, bytes_after } => {
            let (before, after) = (human_size(*bytes_before), human_size(*bytes_after));
            out.push(match (file.mode_before, file.mode_after) {
                (None, _) => format!("binary file, {after}"),
                (_, None) => format!("binary file, {before}"),
                _ => format!("binary file, {before} {arrow} {after}"),
            });
        }
        DiffContent::Text { endings: Some(change), .. } => {
            let only = if change.only { "only " } else { "" };
            out.push(format!(
                "{only}the line endings of {} change, {} {arrow} {}",
                pluralize(change.lines, "line"),
                change.from.name(),
                change.to.name()
            ));
        }
        DiffContent::Text { endings: None, .. } => {}
    }
    out
}
