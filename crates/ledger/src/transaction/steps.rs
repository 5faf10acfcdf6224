//! From the changes that a caller wants to the steps that a transaction takes. Pure: it looks at
//! names and bytes, not at the disk; whether two names are on one device it is told.
//!
//! Every name has what stands there before and what shall stand there after; a step follows from
//! the two. That way renames may form chains or circles, and a file may make room for a directory:
//! what goes goes first, then directories are made, what comes comes last.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::disk::ancestors;
use crate::transaction::{FileChange, NewMode};
use crate::{LedgerRefusal, LedgerRule};

/// One step, still without slots, images and permission bits.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PlannedStep<'c> {
    Remove { path: &'c str, before: &'c [u8] },
    Move { path: &'c str, to: &'c str, before: &'c [u8] },
    Replace { path: &'c str, before: &'c [u8], after: PlannedFile<'c> },
    Create { path: &'c str, after: PlannedFile<'c> },
}

/// A file that shall be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlannedFile<'c> {
    pub(super) bytes: &'c [u8],
    pub(super) mode: NewMode,
    /// The name now of the file that it continues, whose owner and attributes it keeps.
    pub(super) predecessor: Option<&'c str>,
}

impl<'c> PlannedStep<'c> {
    /// The name that the step is about.
    pub(super) fn path(&self) -> &'c str {
        match self {
            PlannedStep::Remove { path, .. }
            | PlannedStep::Move { path, .. }
            | PlannedStep::Replace { path, .. }
            | PlannedStep::Create { path, .. } => path,
        }
    }

    /// The name that it makes, if it makes one.
    pub(super) fn created_path(&self) -> Option<&'c str> {
        match self {
            PlannedStep::Move { to, .. } => Some(to),
            PlannedStep::Create { path, .. } => Some(path),
            PlannedStep::Remove { .. } | PlannedStep::Replace { .. } => None,
        }
    }
}

/// The steps for `changes`, in their order: removals, moves, replacements, creations. `can_move` says whether a file can
/// get from one name to another as it is; where it cannot, its bytes are written there and it is removed here. What is
/// `restored` had its names before: whether they are one name elsewhere does not matter.
pub(super) fn plan_steps<'c>(
    changes: &'c [FileChange<'_>],
    restored: bool,
    can_move: &dyn Fn(&str, &str) -> bool,
) -> Result<Vec<PlannedStep<'c>>, Vec<LedgerRefusal>> {
    let mut before: BTreeMap<&str, &[u8]> = BTreeMap::new();
    let mut after: BTreeMap<&str, PlannedFile<'_>> = BTreeMap::new();
    let mut refusals = Vec::new();
    for change in changes {
        let (old, new) = (change.old_path().as_str(), change.path.as_str());
        let mut twice = false;
        if let Some(bytes) = &change.before {
            twice |= before.insert(old, bytes).is_some();
        }
        if let Some(file) = &change.after {
            let continues = change.before.as_ref().map(|_| old);
            twice |= after
                .insert(new, PlannedFile { bytes: &file.bytes, mode: file.mode, predecessor: continues })
                .is_some();
        }
        if twice {
            refusals.push(LedgerRefusal { path: new.to_string(), rule: LedgerRule::DuplicatePath });
        }
    }
    if !restored {
        refusals.extend(find_name_collisions(changes));
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let mut moves = find_moves(changes, &before, &after);
    moves.retain(|from, to| can_move(from, to));
    let moved_to: HashSet<&str> = moves.values().copied().collect();
    let mut steps = Vec::new();
    for (path, bytes) in &before {
        steps.push(match (moves.get(path), after.get(path)) {
            (Some(to), _) => PlannedStep::Move { path, to, before: bytes },
            (None, Some(new)) => PlannedStep::Replace { path, before: bytes, after: *new },
            (None, None) => PlannedStep::Remove { path, before: bytes },
        });
    }
    for (path, new) in &after {
        if !before.contains_key(path) && !moved_to.contains(path) {
            steps.push(PlannedStep::Create { path, after: *new });
        }
    }
    steps.sort_by_key(|step| match step {
        PlannedStep::Remove { .. } => 0,
        PlannedStep::Move { .. } => 1,
        PlannedStep::Replace { .. } => 2,
        PlannedStep::Create { .. } => 3,
    });
    Ok(steps)
}

/// Renames of a file as it is, from a name that nothing takes to one that nothing had, and that no
/// file has to make room for.
fn find_moves<'c>(
    changes: &'c [FileChange<'_>],
    before: &BTreeMap<&str, &[u8]>,
    after: &BTreeMap<&str, PlannedFile<'_>>,
) -> HashMap<&'c str, &'c str> {
    let mut moves = HashMap::new();
    for change in changes {
        let (old, new) = (change.old_path().as_str(), change.path.as_str());
        let as_it_is = change
            .after
            .as_ref()
            .is_some_and(|file| file.mode == NewMode::Keep && Some(&file.bytes) == change.before.as_ref());
        let in_the_way = |above| before.contains_key(above);
        // A file may take the name of the directory that this one is in, once that is empty.
        let makes_room = |above| after.contains_key(above);
        let becomes_directory = || {
            let below = format!("{old}/");
            after.range(below.as_str()..).next().is_some_and(|(name, _)| name.starts_with(&below))
        };
        if old != new
            && as_it_is
            && !after.contains_key(old)
            && !in_the_way(new)
            && !ancestors(new).any(in_the_way)
            && !ancestors(old).any(makes_room)
            && !becomes_directory()
        {
            moves.insert(old, new);
        }
    }
    moves
}

/// Names of the change that are the same name on some file systems.
fn find_name_collisions(changes: &[FileChange<'_>]) -> Vec<LedgerRefusal> {
    let mut folded: HashMap<String, &str> = HashMap::new();
    let mut refusals = Vec::new();
    for change in changes.iter().filter(|change| change.after.is_some()) {
        let name = change.path.as_str();
        match folded.insert(change.path.folded_key(), name) {
            Some(other) if other != name => refusals.push(LedgerRefusal {
                path: name.to_string(),
                rule: LedgerRule::NameCollision { other: other.to_string() },
            }),
            _ => {}
        }
    }
    refusals
}

#[cfg(test)]
mod tests {
    use relaycode_change::proposal::path::RelPath;

    use super::*;
    use crate::transaction::change::AfterContent;

    fn path(text: &str) -> RelPath {
        RelPath::parse(text).unwrap()
    }

    fn change<'a>(old: Option<(&str, &'a str)>, new: Option<(&str, &'a str)>) -> FileChange<'a> {
        let name = new.or(old).unwrap().0;
        FileChange {
            path: path(name),
            renamed_from: old.filter(|old| old.0 != name).map(|old| path(old.0)),
            before: old.map(|old| old.1.as_bytes().into()),
            after: new.map(|new| AfterContent { bytes: new.1.as_bytes().into(), mode: NewMode::Keep }),
            added: 0,
            removed: 0,
        }
    }

    fn shape(changes: &[FileChange<'_>]) -> Vec<String> {
        let steps = plan_steps(changes, false, &|_, _| true).unwrap();
        let text = |step: &PlannedStep<'_>| match step {
            PlannedStep::Remove { path, .. } => format!("remove {path}"),
            PlannedStep::Move { path, to, .. } => format!("move {path} {to}"),
            PlannedStep::Replace { path, .. } => format!("replace {path}"),
            PlannedStep::Create { path, .. } => format!("create {path}"),
        };
        steps.iter().map(text).collect()
    }

    #[test]
    fn what_goes_goes_first_and_what_comes_comes_last() {
        let changes = [
            change(None, Some(("a/b", "new"))),
            change(Some(("m", "1")), Some(("m", "2"))),
            change(Some(("a", "file")), None),
        ];
        assert_eq!(shape(&changes), ["remove a", "replace m", "create a/b"]);
    }

    #[test]
    fn a_rename_moves_the_file_itself_unless_it_changes() {
        assert_eq!(shape(&[change(Some(("a", "x")), Some(("b", "x")))]), ["move a b"]);
        assert_eq!(shape(&[change(Some(("a", "x")), Some(("b", "y")))]), ["remove a", "create b"]);
    }

    #[test]
    fn a_file_can_move_into_a_directory_of_its_own_name() {
        assert_eq!(shape(&[change(Some(("a", "x")), Some(("a/b", "x")))]), ["remove a", "create a/b"]);
        assert_eq!(shape(&[change(Some(("a/b", "x")), Some(("a", "x")))]), ["remove a/b", "create a"]);
    }

    #[test]
    fn a_file_goes_before_a_directory_takes_its_name() {
        let changes = [change(Some(("f", "x")), Some(("a", "x"))), change(None, Some(("f/g", "y")))];
        assert_eq!(shape(&changes), ["remove f", "create a", "create f/g"]);
    }

    #[test]
    fn renames_may_form_chains_and_circles() {
        let chain = [change(Some(("a", "1")), Some(("b", "1"))), change(Some(("b", "2")), Some(("c", "2")))];
        assert_eq!(shape(&chain), ["remove a", "replace b", "create c"]);
        let circle = [change(Some(("a", "1")), Some(("b", "1"))), change(Some(("b", "2")), Some(("a", "2")))];
        assert_eq!(shape(&circle), ["replace a", "replace b"]);
    }

    #[test]
    fn a_name_takes_part_once_and_not_in_two_spellings() {
        let twice = [change(None, Some(("a", "1"))), change(None, Some(("a", "2")))];
        assert_eq!(plan_steps(&twice, false, &|_, _| true).unwrap_err()[0].rule, LedgerRule::DuplicatePath);
        let twins = [change(None, Some(("a", "1"))), change(None, Some(("A", "2")))];
        assert!(matches!(
            plan_steps(&twins, false, &|_, _| true).unwrap_err()[0].rule,
            LedgerRule::NameCollision { .. }
        ));
        assert_eq!(plan_steps(&twins, true, &|_, _| true).unwrap().len(), 2);
    }
}
