//! From the changes that a caller wants to the steps that a transaction takes. Pure: it looks at
//! names and bytes, not at the disk.
//!
//! Every name has what stands there before and what shall stand there after; a step follows from
//! the two. That way renames may form chains or circles, and a file may make room for a directory:
//! what goes goes first, then directories are made, what comes comes last.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::change::{FileChange, NewMode};
use crate::error::{Refusal, Rule};
use crate::paths::ancestors;

/// One step, still without slots, images and permission bits.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted<'c> {
    Remove { path: &'c str, before: &'c [u8] },
    Move { path: &'c str, to: &'c str, before: &'c [u8] },
    Replace { path: &'c str, before: &'c [u8], after: New<'c> },
    Create { path: &'c str, after: New<'c> },
}

/// A file that shall be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct New<'c> {
    pub(super) bytes: &'c [u8],
    pub(super) mode: NewMode,
    /// The name now of the file that it continues, whose owner and attributes it keeps.
    pub(super) continues: Option<&'c str>,
}

impl<'c> Wanted<'c> {
    /// The name that the step is about.
    pub(super) fn path(&self) -> &'c str {
        match self {
            Wanted::Remove { path, .. }
            | Wanted::Move { path, .. }
            | Wanted::Replace { path, .. }
            | Wanted::Create { path, .. } => path,
        }
    }

    /// The name that it makes, if it makes one.
    pub(super) fn made(&self) -> Option<&'c str> {
        match self {
            Wanted::Move { to, .. } => Some(to),
            Wanted::Create { path, .. } => Some(path),
            Wanted::Remove { .. } | Wanted::Replace { .. } => None,
        }
    }
}

/// The steps for `changes`, in their order: removals, moves, replacements, creations.
pub(super) fn of(changes: &[FileChange]) -> Result<Vec<Wanted<'_>>, Vec<Refusal>> {
    let mut before: BTreeMap<&str, &[u8]> = BTreeMap::new();
    let mut after: BTreeMap<&str, New<'_>> = BTreeMap::new();
    let mut refusals = Vec::new();
    for change in changes {
        let (old, new) = (change.old_path().as_str(), change.path.as_str());
        let mut twice = false;
        if let Some(bytes) = &change.before {
            twice |= before.insert(old, bytes).is_some();
        }
        if let Some(file) = &change.after {
            let continues = change.before.as_ref().map(|_| old);
            twice |= after.insert(new, New { bytes: &file.bytes, mode: file.mode, continues }).is_some();
        }
        if twice {
            refusals.push(Refusal { path: new.to_string(), rule: Rule::Twice });
        }
    }
    refusals.extend(twins(changes));
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let moves = moves(changes, &before, &after);
    let moved_to: HashSet<&str> = moves.values().copied().collect();
    let mut steps = Vec::new();
    for (path, bytes) in &before {
        steps.push(match (moves.get(path), after.get(path)) {
            (Some(to), _) => Wanted::Move { path, to, before: bytes },
            (None, Some(new)) => Wanted::Replace { path, before: bytes, after: *new },
            (None, None) => Wanted::Remove { path, before: bytes },
        });
    }
    for (path, new) in &after {
        if !before.contains_key(path) && !moved_to.contains(path) {
            steps.push(Wanted::Create { path, after: *new });
        }
    }
    steps.sort_by_key(|step| match step {
        Wanted::Remove { .. } => 0,
        Wanted::Move { .. } => 1,
        Wanted::Replace { .. } => 2,
        Wanted::Create { .. } => 3,
    });
    Ok(steps)
}

/// Renames of a file as it is, from a name that nothing takes to one that nothing had, and that no
/// file has to make room for.
fn moves<'c>(
    changes: &'c [FileChange],
    before: &BTreeMap<&str, &[u8]>,
    after: &BTreeMap<&str, New<'_>>,
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
        if old != new
            && as_it_is
            && !after.contains_key(old)
            && !in_the_way(new)
            && !ancestors(new).any(in_the_way)
            && !ancestors(old).any(makes_room)
        {
            moves.insert(old, new);
        }
    }
    moves
}

/// Names of the change that are one name on some file systems.
fn twins(changes: &[FileChange]) -> Vec<Refusal> {
    let mut folded: HashMap<String, &str> = HashMap::new();
    let mut refusals = Vec::new();
    for change in changes.iter().filter(|change| change.after.is_some()) {
        let name = change.path.as_str();
        match folded.insert(change.path.folded(), name) {
            Some(other) if other != name => refusals
                .push(Refusal { path: name.to_string(), rule: Rule::Twin { other: other.to_string() } }),
            _ => {}
        }
    }
    refusals
}

#[cfg(test)]
mod tests {
    use relaycode_change::path::RelPath;

    use super::*;
    use crate::change::After;

    fn path(text: &str) -> RelPath {
        RelPath::parse(text).unwrap()
    }

    fn change(old: Option<(&str, &str)>, new: Option<(&str, &str)>) -> FileChange {
        let name = new.or(old).unwrap().0;
        FileChange {
            path: path(name),
            renamed_from: old.filter(|old| old.0 != name).map(|old| path(old.0)),
            before: old.map(|old| old.1.into()),
            after: new.map(|new| After { bytes: new.1.into(), mode: NewMode::Keep }),
            added: 0,
            removed: 0,
        }
    }

    fn shape(changes: &[FileChange]) -> Vec<String> {
        let steps = of(changes).unwrap();
        let text = |step: &Wanted<'_>| match step {
            Wanted::Remove { path, .. } => format!("remove {path}"),
            Wanted::Move { path, to, .. } => format!("move {path} {to}"),
            Wanted::Replace { path, .. } => format!("replace {path}"),
            Wanted::Create { path, .. } => format!("create {path}"),
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
    fn renames_may_form_chains_and_circles() {
        let chain = [change(Some(("a", "1")), Some(("b", "1"))), change(Some(("b", "2")), Some(("c", "2")))];
        assert_eq!(shape(&chain), ["remove a", "replace b", "create c"]);
        let circle = [change(Some(("a", "1")), Some(("b", "1"))), change(Some(("b", "2")), Some(("a", "2")))];
        assert_eq!(shape(&circle), ["replace a", "replace b"]);
    }

    #[test]
    fn a_name_takes_part_once_and_not_in_two_spellings() {
        let twice = [change(None, Some(("a", "1"))), change(None, Some(("a", "2")))];
        assert_eq!(of(&twice).unwrap_err()[0].rule, Rule::Twice);
        let twins = [change(None, Some(("a", "1"))), change(None, Some(("A", "2")))];
        assert!(matches!(of(&twins).unwrap_err()[0].rule, Rule::Twin { .. }));
    }
}
