//! Several commands in one recording: each record has what its command did, and nothing is secured twice.

use relaycode_change::proposal::path::RelPath;

use super::*;
use crate::transaction::{AfterContent, FileChange, NewMode};

const GROUP: &str = "turn-1";

fn project() -> Project {
    let files: &[(&str, &[u8], u32)] = &[
        ("a", b"one\n", 0o644),
        ("d/b", b"\0two", 0o600),
        ("run.sh", b"#!/bin/sh\n", 0o755),
        ("c", b"three\n", 0o444),
    ];
    Project::new(files)
}

/// Secures the project for a command that destroys these.
fn begin_doomed(recording: &mut Recording<'_>, doomed: &[&str], ignored: &[&str]) -> SecureReport {
    let later = || ignored.iter().map(ToString::to_string).collect();
    let doomed: Vec<String> = doomed.iter().map(ToString::to_string).collect();
    let about = TransactionHeader { group: Some(GROUP.to_string()), ..about() };
    let scope = CommandScope {
        about: &about,
        ignored: &later,
        is_ignored_stale: false,
        doomed: &doomed,
        sets_aside: false,
    };
    let mut progress = SecureProgress { see: &mut |_, _| {}, stop: &|| false };
    recording.begin(&scope, &mut progress).unwrap().clone()
}

fn finish(recording: &mut Recording<'_>) -> RecordingOutcome {
    recording.finish(RecordingEnd::default(), &Vec::new).unwrap()
}

/// The paths of what the last command changed.
fn changed(outcome: &RecordingOutcome) -> Vec<&str> {
    let files = outcome.committed.iter().flat_map(|committed| &committed.record.result);
    files.map(|file| file.path.as_str()).collect()
}

/// A change through the ledger itself, of the same group.
fn edit(ledger: &Ledger, path: &str, before: Option<&[u8]>, after: &[u8]) {
    let change = FileChange {
        path: RelPath::parse(path).unwrap(),
        renamed_from: None,
        before: before.map(Into::into),
        after: Some(AfterContent { bytes: after.into(), mode: NewMode::Keep }),
        added: 1,
        removed: 1,
    };
    let about = TransactionHeader { group: Some(GROUP.to_string()), ..about() };
    ledger.begin(&[change], about, &|| false).unwrap().commit(CommitVerdict::default()).unwrap();
}

#[test]
fn what_others_change_between_two_commands_is_in_neither_record_and_comes_back_if_it_is_destroyed() {
    let project = project();
    let ledger = project.ledger();
    let mut recording = ledger.open_recording();
    begin_doomed(&mut recording, &[], &[]);
    project.put("a", b"by the first\n");
    assert_eq!(changed(&finish(&mut recording)), ["a"]);
    // As long as before, and with its time of change set back.
    let times = fs::metadata(project.path("d/b")).unwrap().modified().unwrap();
    fs::write(project.path("d/b"), "\0TWO").unwrap();
    fs::File::options().write(true).open(project.path("d/b")).unwrap().set_modified(times).unwrap();
    project.put("mine", b"nobody's\n");
    let was = project.tree();
    begin_doomed(&mut recording, &[], &[]);
    fs::remove_file(project.path("mine")).unwrap();
    fs::remove_dir_all(project.path("d")).unwrap();
    let outcome = finish(&mut recording);
    assert_eq!(changed(&outcome), ["d/b", "mine"]);
    revert(&ledger, outcome.committed.unwrap().record.uuid);
    assert_eq!(project.tree(), was);
    recording.close().unwrap();
    assert!(!project.path(".relaycode/recordings").exists());
}

#[test]
fn a_command_that_follows_copies_only_what_changed() {
    let project = project();
    let home = tempfile::tempdir().unwrap();
    let ledger = project.ledger_with(Some(home.path()));
    let mut recording = ledger.open_recording();
    let first = begin_doomed(&mut recording, &[], &[]);
    assert_eq!((first.files, first.copied), (4, first.bytes));
    assert_eq!(finish(&mut recording), RecordingOutcome::default());
    for _ in 0..3 {
        assert_eq!(begin_doomed(&mut recording, &[], &[]).copied, 0);
        assert_eq!(finish(&mut recording), RecordingOutcome::default());
    }
    begin_doomed(&mut recording, &[], &[]);
    project.put("a", b"four bytes more\n");
    assert_eq!(changed(&finish(&mut recording)), ["a"]);
    assert_eq!(begin_doomed(&mut recording, &[], &[]).copied, 16);
    finish(&mut recording);
    recording.close().unwrap();
}

#[test]
fn a_group_of_commands_and_edits_is_taken_back_whole_and_one_member_alone() {
    let project = project();
    symlink("a", project.path("link")).unwrap();
    fs::create_dir(project.path("empty")).unwrap();
    let was = project.tree();
    let ledger = project.ledger();
    let group = ledger.open_group(GROUP).unwrap();
    let mut recording = ledger.open_recording();
    begin_doomed(&mut recording, &[], &[]);
    project.put("a", b"first\n");
    fs::remove_file(project.path("link")).unwrap();
    fs::remove_dir(project.path("empty")).unwrap();
    let first = finish(&mut recording);
    edit(&ledger, "a", Some(b"first\n"), b"edited\n");
    edit(&ledger, "made/by.edit", None, b"new\n");
    begin_doomed(&mut recording, &[], &[]);
    project.mode("run.sh", 0o600);
    fs::remove_file(project.path("d/b")).unwrap();
    symlink("../a", project.path("d/b")).unwrap();
    project.put("made/by.edit", b"then by a command\n");
    fs::create_dir(project.path("another")).unwrap();
    let second = finish(&mut recording);
    assert_eq!(changed(&second), ["d/b", "made/by.edit", "run.sh"]);
    recording.close().unwrap();
    group.finish().unwrap();
    let page = ledger.log_page(0, 10).unwrap();
    assert_eq!((page.total, page.entries[0].members.len(), page.entries[0].interrupted), (1, 4, false));
    let done = project.tree();

    let ids = page.entries[0].members.iter().filter_map(|member| member.id).collect();
    let target = LogTarget::Group { id: GROUP.to_string(), members: ids };
    let take_back = |target: &LogTarget| {
        let reversal = ledger.plan_revert(target, &RevertOptions::default()).unwrap();
        let about = reversal.header(about());
        ledger.begin(&reversal.changes, about, &|| false).unwrap().commit(CommitVerdict::default()).unwrap()
    };
    let undone = take_back(&target);
    assert_eq!(project.tree(), was);
    revert(&ledger, undone.record.uuid);
    assert_eq!(project.tree(), done);
    // One of them alone: what came later in other files stays.
    revert(&ledger, second.committed.unwrap().record.uuid);
    assert_eq!(fs::read(project.path("a")).unwrap(), b"edited\n");
    assert_eq!(fs::read(project.path("d/b")).unwrap(), b"\0two");
    assert!(!project.path("another").exists() && !project.path("link").exists());
    assert!(first.committed.is_some());
}

#[test]
fn what_is_going_to_be_destroyed_is_secured_beyond_the_budgets_or_named_before() {
    let project = project();
    let large = project.path("large.bin");
    fs::File::create(&large).unwrap().set_len(FILE_BYTES + 1).unwrap();
    project.put("out/large", b"x");
    fs::File::options().write(true).open(project.path("out/large")).unwrap().set_len(FILE_BYTES + 2).unwrap();
    project.put("target/made", b"x");
    let ignored = ["out/", "target/"];
    let ledger = project.ledger();
    let mut recording = ledger.open_recording();
    let plain = begin_doomed(&mut recording, &[], &ignored);
    assert!(why(&plain.omissions, "large.bin").contains("more than"));
    assert!(why(&plain.omissions, "out/").contains("ignored") && plain.unsecured.is_empty());
    finish(&mut recording);
    let report = begin_doomed(&mut recording, &["large.bin", "out/", "target"], &ignored);
    assert_eq!(report.unsecured.iter().map(|left| left.path.as_str()).collect::<Vec<_>>(), ["target/"]);
    for path in ["out", "target"] {
        fs::remove_dir_all(project.path(path)).unwrap();
    }
    fs::remove_file(&large).unwrap();
    let outcome = finish(&mut recording);
    assert_eq!(changed(&outcome), ["large.bin", "out/large"]);
    assert_eq!(why(&outcome.omissions, "target/"), "was removed, and is build output");
    revert(&ledger, outcome.committed.unwrap().record.uuid);
    assert_eq!(fs::metadata(&large).unwrap().len(), FILE_BYTES + 1);
    assert_eq!(fs::metadata(project.path("out/large")).unwrap().len(), FILE_BYTES + 2);
}

#[test]
fn build_output_that_a_command_made_is_named_once_and_never_looked_into() {
    let project = project();
    let ledger = project.ledger();
    let mut recording = ledger.open_recording();
    begin_doomed(&mut recording, &[], &[]);
    project.put("target/debug/made", b"x");
    project.put("a", b"changed\n");
    let later = || vec!["target/".to_string()];
    let outcome = recording.finish(RecordingEnd::default(), &later).unwrap();
    assert_eq!(changed(&outcome), ["a"]);
    assert_eq!(why(&outcome.omissions, "target/"), "was made, and is build output");
    for _ in 0..2 {
        let report = begin_doomed(&mut recording, &[], &["target/"]);
        assert!(why(&report.omissions, "target/").contains("never backed up"));
        project.put("target/debug/more", b"x");
        assert_eq!(recording.finish(RecordingEnd::default(), &later).unwrap(), RecordingOutcome::default());
    }
    // A list that changed between two commands counts as well.
    fs::create_dir_all(project.path("node_modules/x")).unwrap();
    project.put(".gitignore", b"node_modules/\n");
    begin_doomed(&mut recording, &[], &["node_modules/", "target/"]);
    project.put("node_modules/x/y", b"x");
    assert_eq!(recording.finish(RecordingEnd::default(), &later).unwrap(), RecordingOutcome::default());
}

#[test]
fn between_two_commands_nothing_is_in_the_way_of_others_and_nothing_is_recorded_should_relay_die() {
    let project = project();
    let home = tempfile::tempdir().unwrap();
    let (ledger, other) = (project.ledger_with(Some(home.path())), project.ledger_with(Some(home.path())));
    let mut recording = ledger.open_recording();
    begin_doomed(&mut recording, &[], &[]);
    assert!(matches!(begin(&mut other.open_recording(), &[]), Err(LedgerError::RecordingActive { .. })));
    finish(&mut recording);
    let another = secure(&other, &[]);
    assert!(matches!(begin(&mut recording, &[]), Err(LedgerError::RecordingActive { .. })));
    project.put("a", b"by the other\n");
    assert_eq!(changed(&adopt(another)), ["a"]);
    begin_doomed(&mut recording, &[], &[]);
    finish(&mut recording);
    drop(recording);
    project.put("a", b"mine\n");
    assert_eq!(other.recover(RecoveryMode::Automatic).unwrap(), []);
    assert_eq!(other.log_page(0, 10).unwrap().total, 1);
    // One that dies while a command runs leaves its group interrupted.
    let mut recording = ledger.open_recording();
    begin_doomed(&mut recording, &[], &[]);
    project.put("a", b"by the last\n");
    drop(recording);
    assert_eq!(other.recover(RecoveryMode::Automatic).unwrap().len(), 1);
    let page = other.log_page(0, 10).unwrap();
    assert!(page.entries[0].group.as_deref() == Some(GROUP) && page.entries[0].interrupted);
}

#[test]
fn a_command_that_removes_what_was_secured_takes_only_its_own_undo_with_it() {
    let project = project();
    let home = tempfile::tempdir().unwrap();
    let ledger = project.ledger_with(Some(home.path()));
    let mut recording = ledger.open_recording();
    begin_doomed(&mut recording, &[], &[]);
    fs::remove_dir_all(home.path().join("ledgers")).unwrap();
    project.put("a", b"changed\n");
    let outcome = finish(&mut recording);
    assert!(why(&outcome.omissions, "a").contains("backup is gone"));
    begin_doomed(&mut recording, &[], &[]);
    project.put("a", b"again\n");
    let outcome = finish(&mut recording);
    assert_eq!(changed(&outcome), ["a"]);
    revert(&ledger, outcome.committed.unwrap().record.uuid);
    assert_eq!(fs::read(project.path("a")).unwrap(), b"changed\n");
}

#[test]
fn whenever_relay_dies_around_the_second_command_both_are_there_or_what_was_before() {
    let before: &[(&str, &[u8])] = &[("a", b"one\n"), ("b", b"\0two"), ("d/c", b"three\n")];
    let run = |crash: Option<usize>| {
        let model = model(before);
        let ledger = ledger_on(&model);
        let mut recording = ledger.open_recording();
        begin_doomed(&mut recording, &[], &[]);
        model.put("a", b"1\n", 0o644).unwrap();
        finish(&mut recording);
        let start = model.operations();
        if let Some(crash) = crash {
            model.crash_at(start + crash);
        }
        let later = || Vec::new();
        let about = about();
        let scope = CommandScope {
            about: &about,
            ignored: &later,
            is_ignored_stale: false,
            doomed: &[],
            sets_aside: false,
        };
        let mut progress = SecureProgress { see: &mut |_, _| {}, stop: &|| false };
        let ran = recording.begin(&scope, &mut progress).is_ok();
        if ran {
            model.put("a", b"2\n", 0o644).unwrap();
            model.delete("d/c").unwrap();
            let _ = recording.finish(RecordingEnd::default(), &Vec::new);
        }
        (model.operations() - start, ran, Arc::new(ModelFs::clone(&model)))
    };
    let (operations, ran, _) = run(None);
    assert!(ran && operations > 10);
    for crash in 1..=operations {
        let (_, ran, model) = run(Some(crash));
        model.clear_faults();
        let ledger = ledger_on(&model);
        ledger.recover(RecoveryMode::Automatic).unwrap();
        assert_eq!(ledger.recover(RecoveryMode::Automatic).unwrap(), [], "crash at {crash}");
        let page = ledger.log_page(0, 10).unwrap();
        assert_eq!(page.total, 1 + usize::from(ran), "crash at {crash}");
        for entry in &page.entries {
            revert(&ledger, entry.members[0].id.unwrap());
        }
        for (path, bytes) in before {
            assert_eq!(model.file(path).unwrap().0, *bytes, "{path}, crash at {crash}");
        }
    }
}
