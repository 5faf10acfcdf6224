//! A plan's bytes, lent to the ledger while it puts them on disk: a change may be as large as memory allows
//! once, and is not held twice.
//!
//! Holds: when the loan ends, whatever came of it, the plan is as it was.

use relaycode_change::plan::Plan;
use relaycode_ledger::transaction::change::FileChange;

/// The changes of a plan, made of its own bytes.
pub(crate) struct PlanBytesGuard<'p> {
    plan: &'p mut Plan,
    /// Which file of the plan each change is.
    file_indexes: Vec<usize>,
    changes: Vec<FileChange>,
}

impl<'p> PlanBytesGuard<'p> {
    /// Takes the bytes out of the plan.
    pub(crate) fn new(plan: &'p mut Plan) -> PlanBytesGuard<'p> {
        let files = plan.files.iter_mut().enumerate();
        let (places, changes) =
            files.filter_map(|(at, file)| Some((at, FileChange::take_from(file)?))).unzip();
        PlanBytesGuard { plan, file_indexes: places, changes }
    }

    /// What the plan changes, as the ledger takes it.
    pub(crate) fn changes(&self) -> &[FileChange] {
        &self.changes
    }
}

impl Drop for PlanBytesGuard<'_> {
    fn drop(&mut self) {
        for (at, change) in self.file_indexes.iter().zip(self.changes.drain(..)) {
            if let Some(file) = self.plan.files.get_mut(*at) {
                file.before = change.before;
                file.after = change.after.map(|after| after.bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use relaycode_change::plan::tree::MemoryTree;
    use relaycode_change::plan::{NoSeenTexts, plan};
    use relaycode_change::proposal::limits::PlanLimits;
    use relaycode_change::proposal::path::RelPath;
    use relaycode_change::response;

    use super::*;

    #[test]
    fn a_plan_gets_back_what_it_lent() {
        let mut tree = MemoryTree::default();
        for (path, text) in [("a.txt", "1\n"), ("gone.txt", "2\n"), ("same.txt", "3\n")] {
            tree.insert(RelPath::parse(path).unwrap(), text);
        }
        let answer = "```text // a.txt\n9\n```\n```text // new.txt\n8\n```\n```text // same.txt\n3\n```\n\
                      ```text // gone.txt\n//TODO: delete this file\n```\n";
        let proposal = response::read(answer, &PlanLimits::default()).unwrap();
        let mut plan = plan(&proposal, &tree, &NoSeenTexts, &PlanLimits::default()).unwrap();
        let before = format!("{plan:?}");
        let copied: Vec<FileChange> = plan.files.iter().filter_map(FileChange::from_plan).collect();
        assert!(copied.len() >= 3 && copied.len() < plan.files.len());
        assert_eq!(PlanBytesGuard::new(&mut plan).changes(), copied);
        assert_eq!(format!("{plan:?}"), before);
    }
}
