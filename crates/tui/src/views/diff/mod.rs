//! The diff of a plan, for people: unified, or side by side if there is room.
//!
//! Control characters are visible, and a mere change of line endings is one sentence. Every line is shown
//! whole: one too long for a column continues in the next row. Signs mark added and removed lines, colours
//! only repeat it. For `git apply` there is `relaycode_change::diff::patch`.

mod paint;
mod side_by_side;
#[cfg(test)]
mod tests;
mod unified;

use std::fmt::Write;
use std::time::{Duration, Instant};

use relaycode_change::diff::{self, DiffContent, DiffHunk, DiffLine, DiffLineKind, FileDiff, FileLineEnding};
use relaycode_change::plan::{FilePlan, Plan};
use relaycode_change::proposal::GitFileMode;

use self::paint::SyntaxColours;
use crate::{Glyph, OutputStyle, PaintRole, human_size, pluralize};

/// Narrower terminals show unified diffs only.
pub const SIDE_COLUMNS: usize = 80;

/// Syntax colours for all files of a plan take at most this long; later files have fewer.
const COLOUR_BUDGET: Duration = Duration::from_millis(500);

/// How the lines before and after are arranged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DiffLayout {
    /// Below each other.
    #[default]
    Unified,
    /// In two columns. An added or deleted file has only one side and is shown unified, as is everything on
    /// a terminal with fewer than [`SIDE_COLUMNS`] columns, with a remark.
    SideBySide {
        /// Cells of the whole terminal.
        columns: usize,
    },
}

/// Every changed file, each after an empty line.
pub fn text(plan: &Plan, style: &OutputStyle) -> String {
    text_with_layout(plan, DiffLayout::Unified, style)
}

pub fn text_with_layout(plan: &Plan, layout: DiffLayout, style: &OutputStyle) -> String {
    let files =
        plan.files.iter().filter(|file| file.change != relaycode_change::plan::FileChangeKind::Unchanged);
    let (layout, mut out) = choose_layout(layout, style);
    let start = Instant::now();
    for file in files {
        let (diff, left) = (diff::diff_file(file), COLOUR_BUDGET.saturating_sub(start.elapsed()));
        out += &render_file(&diff, &SyntaxColours::for_diff(file, &diff, left, style), layout, style);
    }
    out
}

/// Files (all of each, or some of its hunks) in a layout, each after an empty line.
pub fn files_text<'a>(
    files: impl IntoIterator<Item = (&'a FilePlan, &'a FileDiff)>,
    layout: DiffLayout,
    style: &OutputStyle,
) -> String {
    let (layout, remark) = choose_layout(layout, style);
    files
        .into_iter()
        .fold(remark, |out, (file, diff)| out + &file_text_with_layout(file, diff, layout, style))
}

/// One file (all of it, or some of its hunks) in a layout, after an empty line.
pub fn file_text_with_layout(
    file: &FilePlan,
    diff: &FileDiff,
    layout: DiffLayout,
    style: &OutputStyle,
) -> String {
    let (layout, remark) = choose_layout(layout, style);
    remark + &render_file(diff, &SyntaxColours::for_diff(file, diff, COLOUR_BUDGET, style), layout, style)
}

/// The layout that fits, and a remark if it is not the requested one.
pub fn choose_layout(layout: DiffLayout, style: &OutputStyle) -> (DiffLayout, String) {
    match layout {
        DiffLayout::SideBySide { columns } if columns < SIDE_COLUMNS => {
            let remark = format!("unified: side by side needs {SIDE_COLUMNS} columns, there are {columns}");
            (DiffLayout::Unified, format!("\n{}\n", style.paint(PaintRole::Dim, &style.wrap(&remark, 0))))
        }
        fits => (fits, String::new()),
    }
}

fn render_file(diff: &FileDiff, colours: &SyntaxColours, layout: DiffLayout, style: &OutputStyle) -> String {
    let mut out = String::from("\n");
    write_head(&mut out, diff, style);
    let DiffContent::Text { hunks, endings } = &diff.content else {
        return out;
    };
    if endings.is_some_and(|change| change.only) {
        return out;
    }
    let view = DiffView { colours, mark_endings: endings.is_some(), style };
    let one_sided = diff.mode_before.is_none() || diff.mode_after.is_none();
    match layout {
        DiffLayout::SideBySide { columns } if !one_sided => {
            side_by_side::write(&mut out, hunks, columns, &view);
        }
        _ => hunks.iter().for_each(|hunk| unified::write(&mut out, hunk, &view)),
    }
    out
}

/// What rendering the lines of a file needs.
struct DiffView<'a> {
    colours: &'a SyntaxColours,
    mark_endings: bool,
    style: &'a OutputStyle,
}

impl DiffView<'_> {
    /// Shows a carriage return that is part of the change.
    fn ending_mark(&self, line: &DiffLine) -> &'static str {
        let shown = matches!(line.ending, FileLineEnding::CrLf | FileLineEnding::Cr)
            && line.kind != DiffLineKind::Context;
        if shown && self.mark_endings { self.style.glyph(Glyph::CarriageReturn) } else { "" }
    }

    fn hunk_head(&self, hunk: &DiffHunk) -> String {
        let (old, new) = ((hunk.old_start, hunk.old_lines), (hunk.new_start, hunk.new_lines));
        self.style.paint(PaintRole::Dim, &format!("@@ -{},{} +{},{} @@", old.0, old.1, new.0, new.1))
    }
}

/// Printed below a last line without a line end.
const NO_NEWLINE: &str = "\\ No newline at end of file";

fn write_head(out: &mut String, file: &FileDiff, style: &OutputStyle) {
    let new = style.safe(file.path.as_str());
    let old = file.renamed_from.as_ref().unwrap_or(&file.path);
    let old = style.safe(old.as_str());
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
        let _ = writeln!(out, "{}", style.paint(PaintRole::Strong, line));
    }
    for sentence in sentences(file, style) {
        let _ = writeln!(out, "{}", style.paint(PaintRole::Dim, &sentence));
    }
}

/// What lines cannot show.
fn sentences(file: &FileDiff, style: &OutputStyle) -> Vec<String> {
    let arrow = style.glyph(Glyph::Arrow);
    let mut out = Vec::new();
    match (file.mode_before, file.mode_after) {
        (Some(GitFileMode::Regular), Some(GitFileMode::Executable)) => out.push("becomes executable".into()),
        (Some(GitFileMode::Executable), Some(GitFileMode::Regular)) => {
            out.push("no longer executable".into());
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
