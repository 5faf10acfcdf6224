//! Much of a file, or many files, would be deleted. An answer that shortens a file drastically has more
//! often lost the rest than meant to remove it.

use super::{CheckedFile, PlanCheck, text_lines};
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

    fn check(&self, file: &CheckedFile<'_>, out: &mut Vec<PlanFinding>) {
        let (Some(before), Some(after)) = (file.before, file.after) else {
            return;
        };
        let (had, has) = (text_lines(before).count(), text_lines(after).count());
        if had > LARGE_FILE_LINES && has * 2 < had {
            let text = format!("of {had} lines {has} would be left");
            out.push(file.finding(self.kind(), None, text));
        }
    }

    fn check_all(&self, files: &[FilePlan], out: &mut Vec<PlanFinding>) {
        let mut deleted = files.iter().filter(|file| file.change == FileChangeKind::Deleted);
        let Some(first) = deleted.next() else { return };
        let count = 1 + deleted.count();
        if count > DELETED_FILES {
            out.push(PlanFinding {
                kind: self.kind(),
                path: first.path.clone(),
                line: None,
                text: format!("{count} files would be deleted, this one first"),
            });
        }
    }
}
