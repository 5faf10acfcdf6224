mod gate;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

use relaycode_change::proposal::path::RelPath;
use relaycode_durable::RealFs;
use relaycode_proof_crashfs::{CrashBounds, ModelFs};
use tempfile::TempDir;

use super::*;
use crate::transaction::{AfterContent, NewMode, RecoveryMode, RecoveryOutcome};
use crate::{LedgerSettings, record};

/// A project on disk and its ledger.
struct Project {
    dir: TempDir,
}

type Tree = BTreeMap<String, (Vec<u8>, u32)>;

impl Project {
    fn new(files: &[(&str, &str)]) -> Project {
        let project = Project { dir: tempfile::tempdir().unwrap() };
        for (path, text) in files {
            project.save(path, text);
        }
        project
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.dir.path().join(path)
    }

    fn save(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn ledger(&self) -> Ledger {
        let settings =
            LedgerSettings { lock_timeout: Duration::from_millis(20), ..LedgerSettings::default() };
        Ledger::open(Arc::new(RealFs::default()), self.dir.path(), settings).unwrap()
    }

    /// Every file and directory but relay's own.
    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        collect(self.dir.path(), "", &mut tree);
        tree
    }

    fn journals(&self) -> usize {
        let entries = fs::read_dir(self.path(".relaycode")).unwrap();
        entries
            .filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().ends_with(".pending.yml"))
            .count()
    }

    /// Names in `tx/`.
    fn slots(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path(".relaycode/tx")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

fn collect(dir: &Path, prefix: &str, tree: &mut Tree) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if prefix.is_empty() && name == ".relaycode" {
            continue;
        }
        let path = format!("{prefix}{name}");
        let meta = entry.path().symlink_metadata().unwrap();
        if meta.is_dir() {
            tree.insert(format!("{path}/"), (Vec::new(), meta.permissions().mode() & 0o7777));
            collect(&entry.path(), &format!("{path}/"), tree);
        } else {
            let bytes = fs::read(entry.path()).unwrap_or_default();
            tree.insert(path, (bytes, meta.permissions().mode() & 0o7777));
        }
    }
}

fn change<'a>(old: Option<(&str, &'a str)>, new: Option<(&str, &'a str)>) -> FileChange<'a> {
    let name = new.or(old).unwrap().0;
    let path = |text: &str| RelPath::parse(text).unwrap();
    FileChange {
        path: path(name),
        renamed_from: old.filter(|old| old.0 != name).map(|old| path(old.0)),
        before: old.map(|old| old.1.as_bytes().into()),
        after: new.map(|new| AfterContent { bytes: new.1.as_bytes().into(), mode: NewMode::Keep }),
        added: 1,
        removed: 1,
    }
}

fn modify<'a>(path: &str, old: &'a str, new: &'a str) -> FileChange<'a> {
    change(Some((path, old)), Some((path, new)))
}

fn about() -> TransactionHeader {
    TransactionHeader::new(TxId::random(), "test", "2026-01-02T03:04:05.000Z", "test")
}

fn go_on() -> bool {
    false
}

fn mixed() -> (Project, Vec<FileChange<'static>>) {
    let project =
        Project::new(&[("a.txt", "a1"), ("run.sh", "r1"), ("old/gone.txt", "g1"), ("from.txt", "f1")]);
    fs::set_permissions(project.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(project.path("from.txt"), fs::Permissions::from_mode(0o600)).unwrap();
    let changes = vec![
        modify("a.txt", "a1", "a2"),
        modify("run.sh", "r1", "r2"),
        change(Some(("old/gone.txt", "g1")), None),
        change(Some(("from.txt", "f1")), Some(("moved/to/file.txt", "f1"))),
        change(None, Some(("new/dir/n.txt", "n1"))),
    ];
    (project, changes)
}

#[test]
fn a_committed_change_is_there_whole_and_recorded() {
    let (project, changes) = mixed();
    let ledger = project.ledger();
    let open = ledger.begin(&changes, about(), &go_on).unwrap();
    assert_eq!(project.journals(), 1);
    let committed =
        open.commit(CommitVerdict { decided_by: Some("a test".into()), ..CommitVerdict::default() }).unwrap();
    assert_eq!(committed.durability_doubt, None);
    assert_eq!(project.text("a.txt"), "a2");
    let mode = |path: &str| project.path(path).metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode("run.sh"), mode("moved/to/file.txt")), (0o755, 0o600));
    assert!(!project.path("old/gone.txt").exists() && !project.path("from.txt").exists());
    assert_eq!(project.journals(), 0);
    let record = committed.record;
    assert!(record.approved && record.transaction.is_none());
    assert_eq!(record.made_directories, ["moved", "moved/to", "new", "new/dir"]);
    assert_eq!(record.result.len(), 5);
    assert_eq!(record.snapshot["a.txt"], Some(RecordContent::Text("a1".into())));
    assert_eq!(record.snapshot["new/dir/n.txt"], None);
    let name = format!(".relaycode/{}.yml", record.uuid);
    assert_eq!(record::read(&fs::read(project.path(&name)).unwrap(), &name, record.uuid).unwrap(), record);
    assert_eq!(project.slots(), [format!("{}.done", record.uuid)]);
    let private = project.path(&name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(private, 0o600);
}

#[test]
fn a_change_that_is_put_back_leaves_nothing() {
    let (project, changes) = mixed();
    let before = project.tree();
    let ledger = project.ledger();
    ledger.begin(&changes, about(), &go_on).unwrap().put_back().unwrap();
    assert_eq!(project.tree(), before);
    assert_eq!((project.journals(), project.slots().len()), (0, 0));
}

#[test]
fn stopping_between_any_two_steps_puts_everything_back() {
    for stop_at in 0..5 {
        let (project, changes) = mixed();
        let before = project.tree();
        let asked = Cell::new(0);
        let stop = || asked.replace(asked.get() + 1) == stop_at;
        let error = project.ledger().begin(&changes, about(), &stop).err().unwrap();
        assert!(matches!(error, LedgerError::Interrupted), "{error}");
        assert_eq!(project.tree(), before);
        assert_eq!((project.journals(), project.slots().len()), (0, 0));
    }
}

#[test]
fn a_transaction_that_was_dropped_is_put_back_by_the_next_command() {
    let (project, changes) = mixed();
    let before = project.tree();
    let ledger = project.ledger();
    let open = ledger.begin(&changes, about(), &go_on).unwrap();
    let id = open.id();
    // Alive: nobody touches it, and its paths are taken.
    let error = ledger.begin(&changes[..1], about(), &go_on).err().unwrap();
    assert!(matches!(&error, LedgerError::Refused(r) if r[0].path == "a.txt"), "{error}");
    assert!(matches!(project.ledger().recover(RecoveryMode::Automatic).unwrap()[..], []));
    drop(open);
    let recovered = ledger.recover(RecoveryMode::Automatic).unwrap();
    assert_eq!(recovered[0].id, id);
    assert!(matches!(recovered[0].outcome, RecoveryOutcome::PutBack { kept: None, .. }));
    assert_eq!(project.tree(), before);
    assert!(ledger.recover(RecoveryMode::Automatic).unwrap().is_empty());
    assert_eq!((project.journals(), project.slots().len()), (0, 0));
}

#[test]
fn a_save_in_the_last_moment_is_a_conflict_and_stays() {
    let (project, changes) = mixed();
    let ledger = project.ledger();
    let asked = Cell::new(0);
    let stop = || {
        if asked.replace(asked.get() + 1) == 1 {
            project.save("run.sh", "mine");
        }
        false
    };
    let error = ledger.begin(&changes, about(), &stop).err().unwrap();
    assert!(matches!(&error, LedgerError::Conflict { path, kept: None } if path == "run.sh"), "{error}");
    assert_eq!(project.text("run.sh"), "mine");
    assert_eq!(project.text("a.txt"), "a1");
    assert_eq!(project.journals(), 0);
}

#[test]
fn an_editor_that_writes_into_the_displaced_file_wins() {
    let project = Project::new(&[("a.txt", "a1")]);
    let ledger = project.ledger();
    let mut editor = fs::OpenOptions::new().write(true).open(project.path("a.txt")).unwrap();
    let open = ledger.begin(&[modify("a.txt", "a1", "a2")], about(), &go_on).unwrap();
    std::io::Write::write_all(&mut editor, b"mine").unwrap();
    let error = open.commit(CommitVerdict::default()).err().unwrap();
    assert!(matches!(error, LedgerError::Conflict { .. }), "{error}");
    assert_eq!(project.text("a.txt"), "mine");
}

#[test]
fn work_of_others_is_left_alone_until_a_person_decides() {
    for how in [RecoveryMode::Keep, RecoveryMode::Restore] {
        let (project, changes) = mixed();
        let before = project.tree();
        let ledger = project.ledger();
        drop(ledger.begin(&changes, about(), &go_on).unwrap());
        project.save("a.txt", "mine, and longer");
        project.save("new/dir/n.txt", "mine too");
        for _ in 0..2 {
            let recovered = ledger.recover(RecoveryMode::Automatic).unwrap();
            let RecoveryOutcome::NeedsDecision(unfinished) = &recovered[0].outcome else {
                panic!("{recovered:?}")
            };
            let mut left: Vec<&str> = unfinished.left.iter().map(|left| left.path.as_str()).collect();
            left.sort_unstable();
            assert_eq!(left, ["a.txt", "new/dir/n.txt"]);
            assert_eq!(project.text("a.txt"), "mine, and longer");
            assert_eq!(project.text("run.sh"), "r1");
        }
        let error = ledger.begin(&[modify("a.txt", "mine, and longer", "x")], about(), &go_on).err().unwrap();
        assert!(matches!(&error, LedgerError::Refused(r) if r[0].rule.name() == "waiting"), "{error}");
        let recovered = ledger.recover(how).unwrap();
        assert_eq!(project.journals(), 0);
        assert!(ledger.recover(RecoveryMode::Automatic).unwrap().is_empty());
        if how == RecoveryMode::Restore {
            assert_eq!(project.tree(), before);
            let RecoveryOutcome::PutBack { kept: Some(kept), .. } = &recovered[0].outcome else {
                panic!("{recovered:?}")
            };
            let kept: Vec<String> = fs::read_dir(project.path(kept))
                .unwrap()
                .filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok())
                .collect();
            assert!(kept.contains(&"mine, and longer".to_string()) && kept.contains(&"mine too".to_string()));
        } else {
            assert_eq!(project.text("a.txt"), "mine, and longer");
            assert_eq!(project.text("new/dir/n.txt"), "mine too");
        }
    }
}

#[test]
fn every_rule_is_checked_before_anything_is_touched() {
    let project = Project::new(&[
        ("changed", "now"),
        ("exists", "x"),
        ("linked", "l"),
        ("readonly", "r"),
        ("Twin", "t"),
    ]);
    fs::hard_link(project.path("linked"), project.path("other-name")).unwrap();
    fs::set_permissions(project.path("readonly"), fs::Permissions::from_mode(0o444)).unwrap();
    fs::create_dir(project.path("folder")).unwrap();
    symlink("/etc", project.path("etc")).unwrap();
    symlink("exists", project.path("link")).unwrap();
    let before = project.tree();
    let changes = [
        modify("changed", "then", "x"),
        modify("gone", "x", "y"),
        change(None, Some(("exists", "x"))),
        modify("linked", "l", "m"),
        modify("readonly", "r", "s"),
        modify("folder", "x", "y"),
        change(None, Some(("etc/new", "x"))),
        modify("link", "x", "y"),
        change(None, Some(("twin", "x"))),
        change(None, Some(("changed/beneath", "x"))),
    ];
    let error = project.ledger().begin(&changes, about(), &go_on).err().unwrap();
    let LedgerError::Refused(refusals) = error else { panic!("{error}") };
    let mut found: Vec<(&str, &str)> = refusals.iter().map(|r| (r.path.as_str(), r.rule.name())).collect();
    found.sort_unstable();
    let expected = [
        ("changed", "changed"),
        ("changed/beneath", "notAFile"),
        ("etc/new", "notAFile"),
        ("exists", "exists"),
        ("folder", "notAFile"),
        ("gone", "gone"),
        ("link", "notAFile"),
        ("linked", "hardLink"),
        ("readonly", "readOnly"),
        ("twin", "twin"),
    ];
    assert_eq!(found, expected);
    assert_eq!(project.tree(), before);
    assert_eq!((project.journals(), project.slots().len()), (0, 0));
}

#[test]
fn circles_and_files_that_become_directories_work_and_come_back() {
    let project = Project::new(&[("a", "1"), ("b", "2"), ("c", "3")]);
    let before = project.tree();
    let changes = [
        change(Some(("a", "1")), Some(("b", "1"))),
        change(Some(("b", "2")), Some(("a", "2"))),
        change(Some(("c", "3")), Some(("c/d/e", "3"))),
    ];
    let ledger = project.ledger();
    let open = ledger.begin(&changes, about(), &go_on).unwrap();
    assert_eq!(
        (project.text("a"), project.text("b"), project.text("c/d/e")),
        ("2".into(), "1".into(), "3".into())
    );
    open.put_back().unwrap();
    assert_eq!(project.tree(), before);
    ledger.begin(&changes, about(), &go_on).unwrap().commit(CommitVerdict::default()).unwrap();
    assert_eq!(project.text("c/d/e"), "3");
}

#[test]
fn a_damaged_or_newer_journal_stops_everything() {
    let (project, changes) = mixed();
    let ledger = project.ledger();
    let open = ledger.begin(&changes, about(), &go_on).unwrap();
    let journal = project.path(&format!(".relaycode/{}.pending.yml", open.id()));
    drop(open);
    let after = project.tree();
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replace("version: 1", "version: 2")).unwrap();
    assert!(matches!(ledger.recover(RecoveryMode::Automatic), Err(LedgerError::NewerFormat { .. })));
    fs::write(&journal, text.replace("a1", "a9")).unwrap();
    assert!(matches!(ledger.recover(RecoveryMode::Automatic), Err(LedgerError::Damaged { .. })));
    assert!(matches!(
        ledger.begin(&[change(None, Some(("x", "y")))], about(), &go_on).err(),
        Some(LedgerError::Damaged { .. })
    ));
    assert_eq!(project.tree(), after);
    let recovered = ledger.recover(RecoveryMode::Keep).unwrap();
    assert!(matches!(recovered[0].outcome, RecoveryOutcome::Kept { .. }));
    assert_eq!((project.tree(), project.journals()), (after, 0));
}

#[test]
fn a_record_and_a_journal_together_mean_committed() {
    let (project, changes) = mixed();
    let ledger = project.ledger();
    let open = ledger.begin(&changes, about(), &go_on).unwrap();
    let journal = project.path(&format!(".relaycode/{}.pending.yml", open.id()));
    let text = fs::read(&journal).unwrap();
    let id = open.id();
    open.commit(CommitVerdict::default()).unwrap();
    let after = project.tree();
    fs::write(&journal, text).unwrap();
    let recovered = ledger.recover(RecoveryMode::Automatic).unwrap();
    assert_eq!(recovered[0].outcome, RecoveryOutcome::Committed);
    assert_eq!((project.tree(), project.journals()), (after, 0));
    let again = TransactionHeader { uuid: id, ..about() };
    let error = ledger.begin(&[change(None, Some(("x", "y")))], again, &go_on).err().unwrap();
    assert!(matches!(error, LedgerError::AlreadyProcessed { other_content: false, .. }));
}

#[test]
fn a_directory_can_make_room_for_a_file_again() {
    for keep in [true, false] {
        let project = Project::new(&[("a/b/c", "1"), ("a/d", "2")]);
        let before = project.tree();
        let changes = [
            change(Some(("a/b/c", "1")), None),
            change(Some(("a/d", "2")), None),
            change(None, Some(("a", "file"))),
        ];
        let about = TransactionHeader { directories_to_remove: vec!["a".into(), "a/b".into()], ..about() };
        let ledger = project.ledger();
        let open = ledger.begin(&changes, about, &go_on).unwrap();
        assert_eq!(project.text("a"), "file");
        if keep {
            let record = open.commit(CommitVerdict::default()).unwrap().record;
            assert_eq!(record.removed_directories.len(), 2);
        } else {
            open.put_back().unwrap();
            assert_eq!(project.tree(), before);
        }
    }
    let project = Project::new(&[("a/b", "1"), ("a/mine", "2")]);
    let changes = [change(Some(("a/b", "1")), None), change(None, Some(("a", "file")))];
    let about = TransactionHeader { directories_to_remove: vec!["a".into()], ..about() };
    let error = project.ledger().begin(&changes, about, &go_on).err().unwrap();
    assert!(matches!(&error, LedgerError::Refused(r) if r[0].rule.name() == "notAFile"), "{error}");
}

#[test]
fn a_group_is_one_entry_and_interrupted_if_nobody_finishes_it() {
    let project = Project::new(&[("a", "1"), ("b", "1")]);
    let before = project.tree();
    let ledger = project.ledger();
    let group = ledger.open_group("turn 1").unwrap();
    assert!(matches!(ledger.open_group("turn 1"), Err(LedgerError::Busy)));
    for (path, old, new) in [("a", "1", "2"), ("b", "1", "2"), ("a", "2", "3")] {
        let about = TransactionHeader { group: Some(group.id().to_string()), ..about() };
        ledger
            .begin(&[modify(path, old, new)], about, &go_on)
            .unwrap()
            .commit(CommitVerdict::default())
            .unwrap();
    }
    let entry = |ledger: &Ledger| ledger.log_page(0, 10).unwrap().entries.remove(0);
    assert_eq!((entry(&ledger).members.len(), entry(&ledger).interrupted), (3, false));
    drop(group);
    assert!(entry(&ledger).interrupted);
    ledger.open_group("turn 1").unwrap().finish().unwrap();
    assert!(!entry(&ledger).interrupted);
    let target = ledger.find_target("turn 1").unwrap();
    let reversal = ledger.plan_revert(&target, &crate::RevertOptions::default()).unwrap();
    let about = TransactionHeader { revert_of: reversal.reverts, ..about() };
    ledger.begin(&reversal.changes, about, &go_on).unwrap().commit(CommitVerdict::default()).unwrap();
    assert_eq!(project.tree(), before);
}

#[test]
fn without_exchange_nothing_of_others_is_lost_either() {
    let model = Arc::new(ModelFs::without_exchange());
    model.put("a", b"a1", 0o644).unwrap();
    let ledger =
        Ledger::open(Arc::clone(&model) as Arc<_>, Path::new("/"), LedgerSettings::default()).unwrap();
    ledger.begin(&[modify("a", "a1", "a2")], about(), &go_on).unwrap().put_back().unwrap();
    assert_eq!(model.file("a").unwrap().0, b"a1");
    drop(ledger.begin(&[modify("a", "a1", "a2")], about(), &go_on).unwrap());
    model.put("a", b"mine", 0o644).unwrap();
    assert!(matches!(
        ledger.recover(RecoveryMode::Automatic).unwrap()[0].outcome,
        RecoveryOutcome::NeedsDecision(_)
    ));
    let recovered = ledger.recover(RecoveryMode::Restore).unwrap();
    assert!(matches!(&recovered[0].outcome, RecoveryOutcome::PutBack { kept: Some(_), .. }), "{recovered:?}");
    assert_eq!(model.file("a").unwrap().0, b"a1");
    assert!(model.snapshot().files.values().any(|file| file.0 == b"mine"));
}

#[test]
fn a_large_change_on_another_device_is_durable_once_it_is_committed() {
    for mounted in ["disk", ".relaycode"] {
        let model = Arc::new(ModelFs::new());
        model.mkdir(mounted).unwrap();
        model.mount(mounted, 2).unwrap();
        let paths: Vec<String> = (0..=SYNC_EACH).map(|number| format!("disk/{number}")).collect();
        for path in &paths {
            model.put(path, b"old", 0o644).unwrap();
        }
        model.mark_all_durable();
        let ledger =
            Ledger::open(Arc::clone(&model) as Arc<_>, Path::new("/"), LedgerSettings::default()).unwrap();
        let changes: Vec<FileChange> = paths.iter().map(|path| modify(path, "old", "new")).collect();
        ledger.begin(&changes, about(), &go_on).unwrap().commit(CommitVerdict::default()).unwrap();
        model.crash_images(&CrashBounds::default(), &mut |image, _| {
            for path in &paths {
                assert_eq!(image.file(path).unwrap().0, b"new", "{path}, {mounted} is another device");
            }
        });
    }
}

#[test]
fn restoring_twice_keeps_what_others_wrote_both_times() {
    let project = Project::new(&[("a", "a1")]);
    let ledger = project.ledger();
    drop(ledger.begin(&[modify("a", "a1", "a2")], about(), &go_on).unwrap());
    // The displaced file is gone, and somebody wrote.
    let own = project.path(&format!(".relaycode/tx/{}", project.slots()[0]));
    fs::remove_file(own.join("0")).unwrap();
    fs::write(own.join("0-before"), "mine, once").unwrap();
    project.save("a", "mine, twice");
    let recovered = ledger.recover(RecoveryMode::Restore).unwrap();
    assert_eq!(project.text("a"), "a1");
    let RecoveryOutcome::PutBack { kept: Some(kept), .. } = &recovered[0].outcome else {
        panic!("{recovered:?}")
    };
    let kept: Vec<String> = fs::read_dir(project.path(kept))
        .unwrap()
        .filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok())
        .collect();
    assert!(
        kept.contains(&"mine, once".to_string()) && kept.contains(&"mine, twice".to_string()),
        "{kept:?}"
    );
}

#[test]
fn nothing_of_relays_stays_among_files_on_another_device() {
    let model = Arc::new(ModelFs::new());
    model.mkdir("disk").unwrap();
    model.mount("disk", 2).unwrap();
    for path in ["disk/a", "disk/b"] {
        model.put(path, b"1", 0o644).unwrap();
    }
    model.mark_all_durable();
    let ledger =
        Ledger::open(Arc::clone(&model) as Arc<_>, Path::new("/"), LedgerSettings::default()).unwrap();
    let changes = [modify("disk/a", "1", "2"), modify("disk/b", "1", "2")];
    drop(ledger.begin(&changes, about(), &go_on).unwrap());
    model.put("disk/a", b"mine", 0o644).unwrap();
    ledger.recover(RecoveryMode::Restore).unwrap();
    let tree = model.snapshot();
    let outside: Vec<&String> = tree.files.keys().filter(|path| !path.starts_with(".relaycode/")).collect();
    assert_eq!(outside, ["disk/a", "disk/b"]);
    assert!(tree.files.values().any(|file| file.0 == b"mine"));
    assert_eq!(model.file("disk/a").unwrap().0, b"1");
}

#[test]
fn a_rename_to_another_device_copies_checks_and_removes_and_can_be_put_back() {
    for keep in [true, false] {
        let model = Arc::new(ModelFs::new());
        model.mkdir("disk").unwrap();
        model.mount("disk", 2).unwrap();
        model.put("a", b"1", 0o755).unwrap();
        model.put("disk/b", b"2", 0o600).unwrap();
        model.mark_all_durable();
        let settings = LedgerSettings::default();
        let ledger = Ledger::open(Arc::clone(&model) as Arc<_>, Path::new("/"), settings).unwrap();
        let moved = |from: &str, to: &str, text: &'static str| FileChange {
            path: RelPath::parse(to).unwrap(),
            renamed_from: Some(RelPath::parse(from).unwrap()),
            before: Some(text.as_bytes().into()),
            after: Some(AfterContent { bytes: text.as_bytes().into(), mode: NewMode::Keep }),
            added: 0,
            removed: 0,
        };
        let changes = [moved("a", "disk/a", "1"), moved("disk/b", "b", "2")];
        let open = ledger.begin(&changes, about(), &go_on).unwrap();
        assert_eq!(model.file("disk/a").unwrap(), (b"1".to_vec(), 0o755));
        assert_eq!(model.file("b").unwrap(), (b"2".to_vec(), 0o600));
        assert!(model.file("a").is_none() && model.file("disk/b").is_none());
        if keep {
            let record = open.commit(CommitVerdict::default()).unwrap().record;
            let target = crate::LogTarget::Transaction(record.uuid);
            let reversal = ledger.plan_revert(&target, &crate::RevertOptions::default()).unwrap();
            let about = TransactionHeader { revert_of: reversal.reverts, ..about() };
            ledger.begin(&reversal.changes, about, &go_on).unwrap().commit(CommitVerdict::default()).unwrap();
        } else {
            drop(open);
            ledger.recover(RecoveryMode::Restore).unwrap();
        }
        assert_eq!(model.file("a").unwrap(), (b"1".to_vec(), 0o755));
        assert_eq!(model.file("disk/b").unwrap(), (b"2".to_vec(), 0o600));
        assert!(model.file("disk/a").is_none() && model.file("b").is_none());
    }
}
