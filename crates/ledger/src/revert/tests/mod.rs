//! Reverts of a project in memory: by example here, by law in `laws`.

mod memory_project;
mod properties;
mod walks;

use memory_project::{World, change, create, delete, path, rename};

use super::*;
use crate::record::RecordedOperation;
use crate::{ConflictRegion, FileConflict};

fn conflicts(result: LedgerResult<RevertPlan>) -> Vec<FileConflict> {
    match result {
        Err(LedgerError::RevertConflict(conflicts)) => conflicts,
        other => panic!("no conflict: {other:?}"),
    }
}

fn reason(result: LedgerResult<RevertPlan>) -> String {
    let conflicts = conflicts(result);
    assert_eq!(conflicts.len(), 1, "{conflicts:?}");
    let conflict = &conflicts[0];
    assert!(conflict.regions.is_empty());
    format!("{} {}", conflict.path, conflict.reason.clone().unwrap())
}

fn not_revertible(result: LedgerResult<RevertPlan>) -> String {
    match result {
        Err(LedgerError::NotRevertible { reason, .. }) => reason,
        other => panic!("revertible: {other:?}"),
    }
}

#[test]
fn a_file_as_it_was_left_gets_its_bytes_and_bits_back() {
    let mut world = World::with(&[("a", "one\r\ntwo", 0o640)]);
    let record = world.commit(&[change(&world, "a", "1\n2\n", 0o755)]);
    let reversal = world.plan(&[&record]).unwrap();
    assert_eq!((reversal.changes[0].added, reversal.changes[0].removed), (2, 2));
    assert_eq!(reversal.reverts, [record.uuid]);
    world.commit(&reversal.changes);
    assert_eq!(world.file("a"), Some(("one\r\ntwo", 0o640)));
    let again = world.plan(&[&record]).unwrap();
    assert!(again.changes.is_empty());
    assert_eq!(again.unchanged, ["a"]);
}

#[test]
fn later_edits_are_kept_and_counted() {
    let mut world = World::with(&[("a", "1\n2\n3\n4\n5\n6\n7\n", 0o644)]);
    let record = world.commit(&[change(&world, "a", "1\n2\n3\nfour\n5\n6\n7\n", 0o644)]);
    world.write("a", "0\n1\n2\n3\nfour\n5\n6\nseven\n", 0o600);
    let reversal = world.plan(&[&record]).unwrap();
    assert_eq!(reversal.kept_edits, [KeptEdits { path: "a".into(), edits: 2 }]);
    world.commit(&reversal.changes);
    assert_eq!(world.file("a"), Some(("0\n1\n2\n3\n4\n5\n6\nseven\n", 0o600)));
    assert_eq!(world.plan(&[&record]).unwrap().unchanged, ["a"], "undone, though the file has other edits");
}

#[test]
fn edits_of_the_same_lines_conflict_and_say_where() {
    let mut world = World::with(&[("a", "1\n2\n3\n", 0o644), ("b", "x\n", 0o644), ("c", "c\n", 0o644)]);
    let edits = [
        change(&world, "a", "1\ntwo\n3\n", 0o644),
        change(&world, "b", "y\n", 0o644),
        change(&world, "c", "d\n", 0o644),
    ];
    let record = world.commit(&edits);
    world.write("a", "0\n0\n1\nTWO\n3\n", 0o644);
    world.write("b", "z\n", 0o644);
    let conflicts = conflicts(world.plan(&[&record]));
    assert_eq!(conflicts.iter().map(|conflict| conflict.path.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let region = ConflictRegion { line: 4, now: vec!["TWO".into()], reverted: vec!["2".into()] };
    assert_eq!(conflicts[0].regions, [region]);
}

#[test]
fn conflicts_of_an_older_transaction_are_located_in_the_file_as_it_is() {
    let mut world = World::with(&[("a", "1\n2\n3\n4\n5\n", 0o644)]);
    let first = world.commit(&[change(&world, "a", "1\n2\n3\n4\nfive\n", 0o644)]);
    let second = world.commit(&[rename(&world, "a", "b", "0\n0\n1\n2\n3\n4\nfive\n", 0o644)]);
    world.write("b", "0\n0\n1\n2\n3\n4\nFIVE\n", 0o644);
    let conflicts = conflicts(world.plan(&[&second, &first]));
    assert_eq!((conflicts[0].path.as_str(), conflicts[0].regions[0].line), ("b", 7));
}

#[test]
fn a_conflict_lists_no_more_than_a_person_reads() {
    let numbered = |sign: &str| -> String {
        let region = |n| format!("{n}\n{}", format!("{}{sign}\n", "x".repeat(300)).repeat(20));
        (0..30).map(region).collect()
    };
    let mut world = World::with(&[("a", &numbered("1"), 0o644)]);
    let record = world.commit(&[change(&world, "a", &numbered("2"), 0o644)]);
    world.write("a", &numbered("3"), 0o644);
    let conflict = conflicts(world.plan(&[&record])).remove(0);
    assert_eq!(conflict.regions.len(), REGIONS_LISTED);
    assert_eq!(conflict.regions[0].now.len(), LINES_LISTED + 1);
    assert_eq!(conflict.regions[0].now[LINES_LISTED], "… 8 more lines");
    assert_eq!(conflict.regions[0].now[0].len(), LINE_CHARS);
}

#[test]
fn markers_are_written_where_they_are_wanted() {
    let mut world = World::with(&[("a", "1\n2\n3\n", 0o644), ("b", "\0", 0o644)]);
    let record =
        world.commit(&[change(&world, "a", "1\ntwo\n3\n", 0o644), change(&world, "b", "\0\0", 0o644)]);
    world.write("a", "1\nTWO\n3\n", 0o644);
    let options = RevertOptions { markers: true, ..RevertOptions::default() };
    let reversal = world.plan_with(&[&record], &options).unwrap();
    assert_eq!(reversal.notes, ["a: 1 conflict is marked in it"]);
    assert_eq!(reversal.conflict_marked, ["a"]);
    world.write("b", "\0\0\0", 0o644);
    let refused = reason(world.plan_with(&[&record], &options));
    assert!(refused.starts_with("b changed since") && refused.contains("not text"), "{refused}");
    world.write("b", "\0\0", 0o644);
    world.commit(&reversal.changes);
    let id = record.uuid.short();
    let marked =
        format!("1\n<<<<<<< now\nTWO\n||||||| written by {id}\ntwo\n=======\n2\n>>>>>>> before {id}\n3\n");
    assert_eq!(world.file("a"), Some((marked.as_str(), 0o644)));
}

#[test]
fn permission_bits_are_decided_apart_from_the_bytes() {
    let mut world = World::with(&[("a", "1\n", 0o644), ("b", "1\n", 0o644), ("c", "1\n", 0o644)]);
    let edits = [
        change(&world, "a", "2\n", 0o644),
        change(&world, "b", "2\n", 0o755),
        change(&world, "c", "1\n", 0o755),
    ];
    let record = world.commit(&edits);
    world.write("a", "2\n", 0o600);
    world.write("b", "2\n", 0o700);
    world.write("c", "1\nmine\n", 0o755);
    let reversal = world.plan(&[&record]).unwrap();
    assert_eq!(reversal.notes, ["b keeps the permission bits 0700 that it was given later"]);
    assert_eq!(reversal.kept_edits, [KeptEdits { path: "c".into(), edits: 1 }]);
    world.commit(&reversal.changes);
    assert_eq!(world.file("a"), Some(("1\n", 0o600)));
    assert_eq!(world.file("b"), Some(("1\n", 0o700)));
    assert_eq!(world.file("c"), Some(("1\nmine\n", 0o644)));
}

#[test]
fn created_files_go_unless_somebody_added_to_them() {
    let mut world = World::default();
    let mut record = world.commit(&[create("d/e/a", "1\n2\n", 0o644), create("d/b", "b", 0o644)]);
    record.made_directories = vec!["d".into(), "d/e".into(), "../x".into()];
    let reversal = world.plan(&[&record]).unwrap();
    assert_eq!(reversal.made_directories_to_remove, ["d/e", "d"]);
    assert!(reversal.changes.iter().all(|change| change.after.is_none()));
    let one = RevertOptions { file: Some(path("d/e/a")), ..RevertOptions::default() };
    assert_eq!(world.plan_with(&[&record], &one).unwrap().made_directories_to_remove, ["d/e", "d"]);

    world.write("d/e/a", "2\n", 0o755);
    world.remove("d/b");
    let reversal = world.plan(&[&record]).unwrap();
    assert_eq!((reversal.changes.len(), reversal.unchanged), (1, vec!["d/b".to_string()]));
    world.write("d/e/a", "1\n2\n3\n", 0o644);
    let reason = reason(world.plan(&[&record]));
    assert!(reason.starts_with("d/e/a was created by ") && reason.contains("changed since"), "{reason}");
}

#[test]
fn deleted_files_come_back_unless_their_place_is_taken() {
    let mut world = World::with(&[("a", "1\n", 0o755)]);
    let record = world.commit(&[delete(&world, "a")]);
    let reversal = world.plan(&[&record]).unwrap();
    world.write("a", "other\n", 0o644);
    let taken = reason(world.plan(&[&record]));
    assert!(taken.contains("another file stands there now"), "{taken}");
    world.remove("a");
    world.block("a");
    assert_eq!(reason(world.plan(&[&record])), "a is a directory, not a regular file");
    world.unblock("a");
    world.commit(&reversal.changes);
    assert_eq!(world.file("a"), Some(("1\n", 0o755)));
    assert_eq!(world.plan(&[&record]).unwrap().unchanged, ["a"]);
}

#[test]
fn renamed_files_move_back_with_their_later_edits() {
    let mut world = World::with(&[("a", "1\n2\n3\n", 0o644)]);
    let record = world.commit(&[rename(&world, "a", "b", "one\n2\n3\n", 0o644)]);
    world.write("b", "one\n2\nthree\n", 0o644);
    let reversal = world.plan(&[&record]).unwrap();
    assert_eq!(reversal.changes[0].renamed_from, Some(path("b")));
    assert_eq!(reversal.kept_edits, [KeptEdits { path: "a".into(), edits: 1 }]);

    world.write("a", "new\n", 0o644);
    let taken = reason(world.plan(&[&record]));
    assert!(taken.starts_with("a was renamed by ") && taken.contains("has its old name now"), "{taken}");
    world.remove("a");
    world.commit(&reversal.changes);
    assert_eq!(world.file("a"), Some(("1\n2\nthree\n", 0o644)));
    assert_eq!(world.file("b"), None);
    let gone = reason(world.plan(&[&record]));
    assert!(gone.starts_with("b was renamed by ") && gone.contains("from a but no longer exists"), "{gone}");
    world.write("a", "1\n2\n3\n", 0o644);
    assert_eq!(world.plan(&[&record]).unwrap().unchanged, ["a"]);
}

#[test]
fn files_that_changed_places_change_them_back() {
    let mut world = World::with(&[("a", "1", 0o644), ("b", "2", 0o755)]);
    let record = world.record(&[rename(&world, "a", "b", "1", 0o644), rename(&world, "b", "a", "2", 0o755)]);
    world.write("a", "2", 0o755);
    world.write("b", "1", 0o644);
    let reversal = world.plan(&[&record]).unwrap();
    world.commit(&reversal.changes);
    assert_eq!((world.file("a"), world.file("b")), (Some(("1", 0o644)), Some(("2", 0o755))));
}

#[test]
fn a_name_that_was_given_to_another_file_is_given_back() {
    let mut world = World::with(&[("a", "1", 0o644)]);
    let record = world.record(&[rename(&world, "a", "b", "1", 0o644), create("a", "new", 0o644)]);
    world.write("a", "new", 0o644);
    world.write("b", "1", 0o644);
    let reversal = world.plan(&[&record]).unwrap();
    world.commit(&reversal.changes);
    assert_eq!((world.file("a"), world.file("b")), (Some(("1", 0o644)), None));

    let mut world = World::with(&[("a", "1", 0o644), ("b", "2", 0o755)]);
    let record = world.record(&[delete(&world, "a"), rename(&world, "b", "a", "2", 0o755)]);
    world.write("a", "2", 0o755);
    world.remove("b");
    let reversal = world.plan(&[&record]).unwrap();
    world.commit(&reversal.changes);
    assert_eq!((world.file("a"), world.file("b")), (Some(("1", 0o644)), Some(("2", 0o755))));
}

#[test]
fn a_file_that_only_moves_back_is_not_written() {
    let mut world = World::with(&[("a", "1", 0o644)]);
    let record = world.commit(&[rename(&world, "a", "b", "1", 0o644)]);
    world.write("b", "edited", 0o600);
    let reversal = world.plan(&[&record]).unwrap();
    assert_eq!(reversal.changes[0].after.as_ref().unwrap().mode, crate::transaction::change::NewMode::Keep);
    world.commit(&reversal.changes);
    assert_eq!(world.file("a"), Some(("edited", 0o600)));
}

#[test]
fn a_group_is_taken_back_as_one() {
    let mut world = World::with(&[("a", "1\n2\n3\n4\n5\n", 0o644)]);
    let first = world.commit(&[change(&world, "a", "one\n2\n3\n4\n5\n", 0o644), create("n", "n", 0o644)]);
    let second = world.commit(&[rename(&world, "a", "b", "one\n2\nthree\n4\n5\n", 0o644)]);
    let third =
        world.commit(&[rename(&world, "b", "c", "one\n2\nthree\n4\n5\n", 0o644), delete(&world, "n")]);
    world.write("c", "one\n2\nthree\n4\n5\nmine\n", 0o644);
    let records = [&third, &second, &first];
    let reversal = world.plan(&records).unwrap();
    assert_eq!(reversal.changes.len(), 1, "the file that came and went is not touched: {reversal:?}");
    assert_eq!(reversal.changes[0].renamed_from, Some(path("c")));
    assert_eq!(reversal.kept_edits, [KeptEdits { path: "a".into(), edits: 1 }]);
    for name in ["a", "b", "c"] {
        let options = RevertOptions { file: Some(path(name)), ..RevertOptions::default() };
        assert_eq!(world.plan_with(&records, &options).unwrap().changes, reversal.changes, "{name}");
    }
    world.commit(&reversal.changes);
    assert_eq!(world.file("a"), Some(("1\n2\n3\n4\n5\nmine\n", 0o644)));
}

#[test]
fn one_file_can_be_asked_for() {
    let mut world = World::with(&[("a", "1", 0o644), ("b", "1", 0o644)]);
    let record = world.commit(&[rename(&world, "a", "c", "2", 0o644), change(&world, "b", "2", 0o644)]);
    let file = |name: &str| RevertOptions { file: Some(path(name)), ..RevertOptions::default() };
    for name in ["a", "c"] {
        let reversal = world.plan_with(&[&record], &file(name)).unwrap();
        assert_eq!(reversal.changes.len(), 1);
        assert_eq!(reversal.changes[0].path, path("a"));
    }
    let unknown = not_revertible(world.plan_with(&[&record], &file("d")));
    assert_eq!(unknown, "it did not change d; its files are b, c");
}

#[test]
fn the_disk_is_read_without_following_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = tempfile::TempDir::new().unwrap();
    std::fs::write(dir.path().join("a"), "1\n").unwrap();
    std::fs::set_permissions(dir.path().join("a"), std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("a", dir.path().join("link")).unwrap();
    let real = std::sync::Arc::new(relaycode_durable::RealFs::default());
    let ledger = crate::Ledger::open(real, dir.path(), crate::LedgerSettings::default()).unwrap();
    let places = ledger.root().resolver();
    assert_eq!(CurrentFiles::read_file(&places, "a").unwrap(), Some((b"1\n".to_vec(), 0o640)));
    assert_eq!(CurrentFiles::read_file(&places, "no/a").unwrap(), None);
    let sentence = |path| CurrentFiles::read_file(&places, path).unwrap_err().to_string();
    // A link is what it says, not what it leads to.
    assert_eq!(CurrentFiles::read_file(&places, "link").unwrap(), Some((b"a".to_vec(), LINK_MODE)));
    assert_eq!(sentence("link/b"), "link/b is a path through a symbolic link, not a regular file");
    assert_eq!(sentence("a/b"), "a/b is a path through a file, not a regular file");
}

#[test]
fn bytes_that_are_gone_matter_only_where_they_are_needed() {
    let mut world = World::with(&[("a", "1\n", 0o644)]);
    let record = world.commit(&[change(&world, "a", "2\n", 0o644)]);
    world.forget_after(&record);
    assert_eq!(world.plan(&[&record]).unwrap().changes.len(), 1);
    world.write("a", "2\n3\n", 0o644);
    let reason = not_revertible(world.plan(&[&record]));
    assert!(reason.starts_with("a was edited since, and what was written"), "{reason}");
    world.write("a", "2\n", 0o644);
    world.forget_before(&record);
    let reason = not_revertible(world.plan(&[&record]));
    assert_eq!(reason, "what a held before it is not kept any more");
    world.write("a", "1\n", 0o644);
    assert_eq!(world.plan(&[&record]).unwrap().unchanged, ["a"]);
}

#[test]
fn bytes_that_are_not_the_recorded_ones_are_not_written() {
    let mut world = World::with(&[("a", "1\n", 0o644)]);
    let mut record = world.commit(&[change(&world, "a", "2\n", 0o644)]);
    record.result[0].before = Some(crate::record::FileImage::of(b"x", 0o644));
    assert!(not_revertible(world.plan(&[&record])).contains("not the ones that it speaks of"));
    record.result[0].path = "../a".into();
    assert!(not_revertible(world.plan(&[&record])).contains("`..`"));
}

#[test]
fn a_record_that_does_not_say_what_it_wrote_is_no_deletion() {
    let mut world = World::with(&[("a", "1\n", 0o644)]);
    let mut record = world.commit(&[change(&world, "a", "2\n", 0o644)]);
    record.version = 0;
    record.result[0].after = None;
    assert_eq!(not_revertible(world.plan(&[&record])), "its record does not say what was written into a");
    world.write("a", "1\n", 0o644);
    assert_eq!(world.plan(&[&record]).unwrap().unchanged, ["a"]);
    record.operations = vec![RecordedOperation::Delete { path: "a".into() }];
    world.remove("a");
    assert_eq!(world.plan(&[&record]).unwrap().changes.len(), 1);
}
