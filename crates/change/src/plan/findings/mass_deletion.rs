//! Much of a file, or many files, would be deleted. An answer that shortens a file drastically has more
//! often lost the rest than meant to remove it.
//!
//! A line counts as lost if neither the file nor another file of the plan has it afterwards, whatever its indentation:
//! text that is moved, re-indented or divided among files is not lost.

use std::collections::HashMap;

use super::{PlanCheck, lossy_text, text_lines};
use crate::plan::{FileChangeKind, FilePlan, FindingKind, PlanFinding};

/// Larger files are expected to keep at least half of their lines.
pub const LARGE_FILE_LINES: usize = 40;
/// More deleted files than this are a finding.
pub const DELETED_FILES: usize = 10;

pub(super) struct MassDeletionCheck;

impl PlanCheck for MassDeletionCheck {
    fn kind(&self) -> FindingKind {
        FindingKind::MassDeletion
    }

    fn check_all(&self, files: &[FilePlan], out: &mut Vec<PlanFinding>) {
        let finding = |file: &FilePlan, text| PlanFinding {
            kind: self.kind(),
            path: file.path.clone(),
            line: None,
            text,
        };
        let mut deleted = files.iter().filter(|file| file.change == FileChangeKind::Deleted);
        if let Some(first) = deleted.next() {
            let count = 1 + deleted.count();
            if count > DELETED_FILES {
                out.push(finding(first, format!("{count} files would be deleted, this one first")));
            }
        }
        let mut moved: Option<HashMap<String, isize>> = None;
        for file in files.iter().filter(|file| file.removed > LARGE_FILE_LINES / 2) {
            let Some(before) = file.before.as_deref().and_then(lossy_text) else { continue };
            // Whoever deletes a file says so.
            let Some(after) = file.after.as_deref().and_then(lossy_text) else { continue };
            let (had, has) = (text_lines(&before).count(), text_lines(&after).count());
            if had <= LARGE_FILE_LINES || file.removed * 2 <= had {
                continue;
            }
            let moved = moved.get_or_insert_with(|| moved_lines(files));
            let all = text_lines(&before).filter(|line| !line.trim().is_empty()).count();
            let gone = |(line, change): (String, isize)| {
                usize::try_from(-change - moved.get(&line).copied().unwrap_or(0)).unwrap_or(0)
            };
            let lost: usize = line_changes(file).into_iter().map(gone).sum();
            // As much new text in place of the old is a rewrite, unless nothing of the old is left.
            let shrinks = has * 4 < had * 3 || lost * 10 > all * 9;
            if lost * 2 > all && shrinks {
                let text = if has * 2 < had {
                    format!("of {had} lines {has} would be left")
                } else {
                    format!("of {all} lines {lost} would be gone")
                };
                out.push(finding(file, text));
            }
        }
    }
}

/// How often lines stand in files of the plan that did not have them so often before.
fn moved_lines(files: &[FilePlan]) -> HashMap<String, isize> {
    let mut moved = HashMap::new();
    for (line, change) in files.iter().flat_map(line_changes).filter(|(_, change)| *change > 0) {
        *moved.entry(line).or_default() += change;
    }
    moved
}

/// How much more often each line that is not blank stands in the file afterwards.
fn line_changes(file: &FilePlan) -> HashMap<String, isize> {
    let mut changes = HashMap::new();
    for (bytes, change) in [(&file.after, 1), (&file.before, -1)] {
        let text = bytes.as_deref().and_then(lossy_text).unwrap_or_default();
        for line in text_lines(&text).map(str::trim).filter(|line| !line.is_empty()) {
            *changes.entry(line.to_owned()).or_default() += change;
        }
    }
    changes
}
