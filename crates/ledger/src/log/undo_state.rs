//! Whether a transaction is still in: told by what newer reverts take back, whole or only some files of it. A revert that
//! was itself taken back does not count.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;

use super::index::IndexLine;
use crate::{Ledger, LedgerResult, TxId};

/// Whether a transaction is still in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum UndoState {
    #[default]
    In,
    /// The files of these names were taken back, and others are still in.
    Partly(BTreeSet<String>),
    Undone,
}

/// What newer reverts took back. What somebody else wrote takes nothing back that is this checkout's own.
#[derive(Default)]
pub(crate) struct RevertedIds {
    by_own: RevertedFiles,
    by_others: RevertedFiles,
}

#[derive(Default)]
struct RevertedFiles {
    whole: HashSet<TxId>,
    /// The names of the files, where only those were taken back.
    parts: HashMap<TxId, BTreeSet<String>>,
}

impl RevertedIds {
    /// Takes in the next older line; says whether it is still in.
    pub(crate) fn observe_line(&mut self, line: &IndexLine) -> UndoState {
        let state = self.state(line);
        let back = if line.unsealed { &mut self.by_others } else { &mut self.by_own };
        match &state {
            UndoState::Undone => {}
            UndoState::In if line.revert_paths.is_empty() => {
                back.whole.extend(line.revert_of.iter().copied());
            }
            UndoState::In => back.add_parts(&line.revert_of, &line.revert_paths),
            UndoState::Partly(names) => {
                let files = line.paths.iter().map(|path| path.new_and_old());
                let left = files.filter(|(new, old)| !contains(names, new, *old));
                let names: Vec<String> =
                    left.flat_map(|(new, old)| [Some(new), old]).flatten().map(str::to_string).collect();
                back.add_parts(&line.revert_of, &names);
            }
        }
        state
    }

    fn state(&self, line: &IndexLine) -> UndoState {
        let by_others = line.unsealed.then_some(&self.by_others);
        let taken_back = || [Some(&self.by_own), by_others].into_iter().flatten();
        let Some(id) = line.uuid.filter(|_| !line.undone) else {
            return if line.undone { UndoState::Undone } else { UndoState::In };
        };
        if taken_back().any(|back| back.whole.contains(&id)) {
            return UndoState::Undone;
        }
        let names: BTreeSet<String> =
            taken_back().filter_map(|back| back.parts.get(&id)).flatten().cloned().collect();
        if names.is_empty() {
            return UndoState::In;
        }
        let mut files = line.paths.iter().map(|path| path.new_and_old());
        let all = !line.more_paths && files.all(|(new, old)| contains(&names, new, old));
        if all { UndoState::Undone } else { UndoState::Partly(names) }
    }
}

impl RevertedFiles {
    fn add_parts(&mut self, ids: &[TxId], names: &[String]) {
        for id in ids {
            self.parts.entry(*id).or_default().extend(names.iter().cloned());
        }
    }
}

/// Whether a file is among these names, by its name after or before.
fn contains(names: &BTreeSet<String>, new: &str, old: Option<&str>) -> bool {
    names.contains(new) || old.is_some_and(|old| names.contains(old))
}

impl Ledger {
    /// Whether these transactions are still in; those that are not in the ledger are left out.
    ///
    /// # Errors
    /// The system's.
    pub fn undo_states(&self, ids: &[TxId]) -> LedgerResult<HashMap<TxId, UndoState>> {
        let wanted: HashSet<TxId> = ids.iter().copied().collect();
        self.with_index(|index| {
            let mut reverted = RevertedIds::default();
            let mut states = HashMap::new();
            index.for_each_newest_first(&mut |line| {
                let state = reverted.observe_line(&line);
                if let Some(id) = line.uuid.filter(|id| wanted.contains(id) && !states.contains_key(id)) {
                    states.insert(id, state);
                }
                if states.len() == wanted.len() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            Ok(states)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::index::IndexLine;
    use crate::record::tests::{id, plain};
    use crate::record::{FileRecord, Record};

    /// A change of these files.
    fn change(number: u32, paths: &[&str]) -> Record {
        let file = |path: &&str| FileRecord { path: path.to_string(), ..FileRecord::default() };
        Record { result: paths.iter().map(file).collect(), ..plain(number) }
    }

    /// What takes `of` back: whole, or only these files.
    fn revert(number: u32, of: u32, paths: &[&str], only: bool) -> Record {
        let names = paths.iter().filter(|_| only).map(ToString::to_string).collect();
        Record { revert_of: vec![id(of)], revert_paths: names, ..change(number, paths) }
    }

    /// The states of these records, which are given oldest first, in their order.
    fn states(records: &[Record]) -> Vec<UndoState> {
        let mut reverted = RevertedIds::default();
        let newest_first = records.iter().rev();
        let mut states: Vec<UndoState> = newest_first
            .map(|record| reverted.observe_line(&IndexLine::from_record(record, false, None)))
            .collect();
        states.reverse();
        states
    }

    fn partly(names: &[&str]) -> UndoState {
        UndoState::Partly(names.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_revert_of_one_file_leaves_the_rest_in() {
        use UndoState::{In, Undone};
        let mut log = vec![change(1, &["a", "b"]), revert(2, 1, &["a"], true)];
        assert_eq!(states(&log), [partly(&["a"]), In]);
        log.push(revert(3, 1, &["b"], true));
        assert_eq!(states(&log), [Undone, In, In], "all parts are the whole");
        log.push(revert(4, 2, &["a"], false));
        assert_eq!(states(&log), [partly(&["b"]), Undone, In, In]);
    }

    #[test]
    fn an_undo_of_which_a_file_was_brought_back_counts_for_the_rest() {
        use UndoState::In;
        let log = [change(1, &["a", "b"]), revert(2, 1, &["a", "b"], false), revert(3, 2, &["a"], true)];
        assert_eq!(states(&log), [partly(&["b"]), partly(&["a"]), In]);
    }
}
