//! What cannot be looked at is never said to be gone, and what can be recorded can be read.

use relaycode_snapshot::{EntryKind, ImageLocation, KnownTree, TreeDifference};

use super::*;
use crate::record::DirectoryModeChange;
use crate::recording::adopt::ChangedTree;
use crate::recording::compare::RecordingDifferences;
use crate::recording::walk::IgnoredPaths;
use crate::recording::{RecordingWalkBounds, SecuredTree, compare, walk};

/// The tree, of which so many names are looked at that are not known.
fn seen(ledger: &Ledger, known: Option<&SecuredTree>, most: usize) -> walk::RecordingTree {
    let later = IgnoredPaths::default();
    let known = known.map(|known| KnownTree::beyond_cap(&known.tree));
    let bounds =
        RecordingWalkBounds { ignored_paths: &later, known, most, own_directory: None, began: (i64::MAX, 0) };
    walk::walk(&ledger.root, &bounds).unwrap()
}

fn secured(tree: walk::RecordingTree) -> SecuredTree {
    let mut secured = SecuredTree::new(tree.snapshot);
    secured.images = secured.tree.ids().map(|id| (id, ImageLocation::Packed(0))).collect();
    secured.blind = secured.tree.unread().map(|(path, _)| walk::path_text(&path)).collect();
    secured
}

fn compared<'t>(before: &'t SecuredTree, now: &'t walk::RecordingTree) -> RecordingDifferences<'t> {
    let difference = TreeDifference::between(&before.tree, &now.snapshot);
    compare::compare(&ChangedTree { before, now, ignored: &before.ignored }, &difference, |_| false)
}

/// How many files there are, and of which directories how many names were not looked at.
fn counts(secured: &SecuredTree) -> (usize, Vec<(String, usize)>) {
    let tree = &secured.tree;
    let files = tree.ids().filter(|id| tree.stat(*id).kind == EntryKind::File).count();
    (files, tree.partial().map(|(path, names)| (walk::path_text(&path), names)).collect())
}

#[test]
fn what_was_there_is_looked_at_however_much_came() {
    let project = Project::new(&[("aa/keep.txt", b"k\n", 0o644), ("zz/gone.txt", b"g\n", 0o644)]);
    let ledger = project.ledger();
    let before = secured(seen(&ledger, None, ENTRIES));
    fs::remove_file(project.path("zz/gone.txt")).unwrap();
    for n in 0..50 {
        project.put(&format!("new{n}"), b"n");
        project.put(&format!("aa/new{n}"), b"n");
    }
    let now = seen(&ledger, Some(&before), 10);
    let found = compared(&before, &now);
    let gone: Vec<&str> =
        found.files.iter().filter(|file| file.now.is_none()).map(|file| file.path.as_str()).collect();
    assert_eq!(gone, ["zz/gone.txt"]);
    assert!(found.removed.is_empty());
    assert_eq!(found.files.iter().filter(|file| file.before.is_none()).count(), 10);
    let left: usize = found
        .left
        .into_sorted()
        .filter(|left| left.reason.contains("not looked at"))
        .map(|left| left.files)
        .sum();
    assert_eq!(left, 90, "every one that was not looked at is counted");
}

#[test]
fn what_was_not_looked_at_before_is_not_taken_for_new() {
    let project = Project::new(&[]);
    for n in 0..20 {
        project.put(&format!("d/{n:02}"), b"x");
    }
    let ledger = project.ledger();
    let before = secured(seen(&ledger, None, 6));
    assert_eq!(counts(&before), (5, vec![("d".to_string(), 15)]));
    let now = seen(&ledger, Some(&before), ENTRIES);
    let found = compared(&before, &now);
    assert!(found.files.is_empty(), "it was all there");
    assert!(why(&found.left.into_sorted().collect::<Vec<_>>(), "d/").contains("not known"));
}

#[test]
fn a_directory_that_cannot_be_looked_into_any_more_is_named_and_nothing_in_it_is_gone() {
    let project = Project::new(&[("a", b"a\n", 0o644), ("d/b", b"b\n", 0o644), ("d/e/c", b"c\n", 0o644)]);
    let ledger = project.ledger();
    let before = secured(seen(&ledger, None, ENTRIES));
    // As an ordinary user sees it; root sees everything.
    let mut now = seen(&ledger, Some(&before), ENTRIES);
    let shut = now.snapshot.find(b"d").unwrap();
    now.snapshot.set_unread(shut, "it cannot be read: no".into());
    fs::remove_dir_all(project.path("d/e")).unwrap();
    let found = compared(&before, &now);
    assert!(found.files.is_empty() && found.removed.is_empty());
    assert_eq!(why(&found.left.into_sorted().collect::<Vec<_>>(), "d/"), "it cannot be read: no");
}

#[test]
fn a_directory_that_became_unreadable_takes_nothing_with_it() {
    let project = Project::new(&[("a", b"a\n", 0o644), ("d/b", b"b\n", 0o644)]);
    let ledger = project.ledger();
    let recording = secure(&ledger, &[]);
    project.mode("d", 0o000);
    let adopted = adopt(recording);
    project.mode("d", 0o755);
    let record = adopted.committed.unwrap().record;
    assert!(record.result.is_empty() && record.removed_directories.is_empty());
    let bits = DirectoryModeChange { path: "d".into(), before: 0o755, after: 0o000 };
    assert_eq!(record.directory_modes, [bits]);
}
