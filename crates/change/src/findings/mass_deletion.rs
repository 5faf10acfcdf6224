//! Much of a file, or many files, would go. An answer that shortens a file drastically has more
//! often lost the rest than meant to remove it.

use super::{Check, Look, lines};
use crate::plan::{Change, FilePlan, Finding, FindingKind};

/// Files with more lines than this are expected to keep at least half of them.
pub const LARGE_FILE_LINES: usize = 40;
/// More deleted files than this are a finding.
pub const DELETED_FILES: usize = 10;

pub(super) struct MassDeletion;

impl Check for MassDeletion {
    fn kind(&self) -> FindingKind {
        FindingKind::MassDeletion
    }

    fn check(&self, file: &Look<'_>, out: &mut Vec<Finding>) {
        let (Some(before), Some(after)) = (file.before, file.after) else {
            return;
        };
        let (had, has) = (lines(before).count(), lines(after).count());
        if had > LARGE_FILE_LINES && has * 2 < had {
            let text = format!("of {had} lines {has} would be left");
            out.push(file.finding(self.kind(), None, text));
        }
    }

    fn check_all(&self, files: &[FilePlan], out: &mut Vec<Finding>) {
        let mut deleted = files.iter().filter(|file| file.change == Change::Deleted);
        let Some(first) = deleted.next() else { return };
        let count = 1 + deleted.count();
        if count > DELETED_FILES {
            out.push(Finding {
                kind: self.kind(),
                path: first.path.clone(),
                line: None,
                text: format!("{count} files would be deleted, this one first"),
            });
        }
    }
}
