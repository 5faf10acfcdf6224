//! The commands of a turn and the edits between them: one entry of the log, and what is protected is set aside.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use relaycode_door::{
    CommandEnd, CommandWatch, Door, ProtectedChange, ProtectedFile, RecordedCommand, SetAsideRun,
};
use relaycode_durable::RealFs;
use relaycode_exec::Runner;
use relaycode_ledger::{
    CommandScope, Ledger, LedgerSettings, LogTarget, RecordingEnd, RecoveryMode, RecoveryOutcome,
    RevertOptions, SecureProgress, TransactionHeader, TxId,
};
use relaycode_project::config;
use tempfile::TempDir;

const NOW: &str = "2026-11-18T12:00:00.000Z";

fn door(root: &Path) -> Door {
    let ledger = Ledger::open(Arc::new(RealFs::default()), root, LedgerSettings::default()).unwrap();
    let loaded = config::load(root, None).unwrap();
    Door::new(root.to_path_buf(), ledger, loaded, None, Runner::new("/no/keeper".into()))
}

fn begin(watch: &mut CommandWatch<'_>) {
    let what = RecordedCommand {
        argv: &["true".into()],
        message: None,
        now: NOW.into(),
        origin: "agent",
        decided_by: None,
        is_fenced: true,
    };
    let mut progress = SecureProgress { see: &mut |_, _| {}, stop: &|| false };
    watch.begin(&what, &[], &mut progress).unwrap();
}

fn run(watch: &mut CommandWatch<'_>, work: impl FnOnce()) -> relaycode_door::Adoption {
    begin(watch);
    work();
    watch.finish(&CommandEnd { finished: None, now: NOW }).unwrap()
}

#[test]
fn what_a_command_makes_at_a_protected_name_is_set_aside_and_comes_back_by_a_yes() {
    let dir = TempDir::new().unwrap();
    let root = dir.path();
    fs::write(root.join("a"), "one\n").unwrap();
    fs::write(root.join(".envrc"), "mine\n").unwrap();
    let door = door(root);
    let mut watch = door.watch_commands(Some("turn")).unwrap();
    let adoption = run(&mut watch, || {
        fs::write(root.join("a"), "two\n").unwrap();
        fs::write(root.join(".envrc"), "evil\n").unwrap();
        fs::create_dir(root.join(".vscode")).unwrap();
        fs::write(root.join(".vscode/tasks.json"), "{}\n").unwrap();
    });
    let aside: Vec<_> =
        adoption.set_aside.files.iter().map(|(file, _)| (file.path.as_str(), file.change)).collect();
    let wanted = vec![(".envrc", ProtectedChange::Changed), (".vscode/tasks.json", ProtectedChange::Made)];
    assert_eq!((aside, adoption.set_aside.failed.len()), (wanted, 0));
    assert_eq!(fs::read_to_string(root.join(".envrc")).unwrap(), "mine\n");
    assert!(!root.join(".vscode/tasks.json").exists());
    assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "two\n");
    // The next command finds them as they are now, and does not record them.
    assert!(run(&mut watch, || ()).committed.is_none());
    let run = SetAsideRun { ledger: &door.ledger, root, now: NOW };
    run.keep(adoption.set_aside.files[1].1).unwrap();
    assert_eq!(fs::read_to_string(root.join(".vscode/tasks.json")).unwrap(), "{}\n");
    watch.close().unwrap();

    // An undo of the turn takes all of it back, what was kept as well.
    let entry = door.ledger.undo_target().unwrap().unwrap();
    let members = entry.members.iter().filter_map(|member| member.id).collect();
    let target = LogTarget::Group { id: entry.group.unwrap(), members };
    let reversal = door.ledger.plan_revert(&target, &RevertOptions::default()).unwrap();
    let about = reversal.header(TransactionHeader::new(TxId::random(), "shop", NOW, "undo"));
    door.ledger.begin(&reversal.changes, about, &|| false).unwrap().commit(Default::default()).unwrap();
    assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "one\n");
    assert_eq!(fs::read_to_string(root.join(".envrc")).unwrap(), "mine\n");
    assert!(!root.join(".vscode").exists());
}

/// A recorded command whose relay died before anything was set aside: its recording is there, and so is what it made.
fn die_after_the_record(root: &Path) {
    let door = door(root);
    let about = TransactionHeader::new(TxId::random(), "shop", NOW, "record");
    let mut recording = door.ledger.open_recording();
    let scope = CommandScope {
        about: &about,
        ignored: &Vec::new,
        is_ignored_stale: false,
        doomed: &[],
        sets_aside: true,
    };
    let mut progress = SecureProgress { see: &mut |_, _| {}, stop: &|| false };
    recording.begin(&scope, &mut progress).unwrap();
    fs::write(root.join("a"), "two\n").unwrap();
    fs::write(root.join(".envrc"), "evil\n").unwrap();
    fs::write(root.join(".exrc"), "evil\n").unwrap();
    assert!(recording.finish(RecordingEnd::default(), &Vec::new).unwrap().committed.is_some());
}

#[test]
fn what_a_killed_relay_did_not_set_aside_the_next_one_does_once() {
    let dir = TempDir::new().unwrap();
    let root = dir.path();
    fs::write(root.join("a"), "one\n").unwrap();
    die_after_the_record(root);
    let door = door(root);
    // A recovery alone leaves it to whoever knows what is protected.
    assert_eq!(door.ledger.recover(RecoveryMode::Automatic).unwrap(), []);
    // The user changed one of them since.
    fs::write(root.join(".exrc"), "mine\n").unwrap();
    let run = SetAsideRun { ledger: &door.ledger, root, now: NOW };
    let report = run.recover().unwrap();
    let paths =
        |of: Vec<&ProtectedFile>| -> Vec<String> { of.iter().map(|file| file.path.clone()).collect() };
    assert_eq!(paths(report.files.iter().map(|(file, _)| file).collect()), [".envrc"]);
    assert_eq!(paths(report.failed.iter().map(|(file, _)| file).collect()), [".exrc"]);
    assert!(!root.join(".envrc").exists());
    assert_eq!(fs::read_to_string(root.join(".exrc")).unwrap(), "mine\n");
    assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "two\n");
    assert!(run.recover().unwrap().is_empty());
    assert!(!root.join(".relaycode/recordings").exists());
}

#[test]
fn what_a_command_of_a_killed_relay_made_at_a_protected_name_is_set_aside_as_well() {
    let dir = TempDir::new().unwrap();
    let root = dir.path();
    {
        let door = door(root);
        let mut watch = door.watch_commands(None).unwrap();
        begin(&mut watch);
        fs::write(root.join(".envrc"), "evil\n").unwrap();
    }
    let door = door(root);
    let recovered = door.ledger.recover(RecoveryMode::Automatic).unwrap();
    assert_eq!(recovered[0].outcome, RecoveryOutcome::RecordingAdopted { files: 1, left: Vec::new() });
    assert!(root.join(".envrc").exists());
    let run = SetAsideRun { ledger: &door.ledger, root, now: NOW };
    let report = run.recover().unwrap();
    assert_eq!((report.files.len(), report.failed.len()), (1, 0));
    assert!(!root.join(".envrc").exists());
    run.keep(report.files[0].1).unwrap();
    assert_eq!(fs::read_to_string(root.join(".envrc")).unwrap(), "evil\n");
    assert!(run.recover().unwrap().is_empty());
}
