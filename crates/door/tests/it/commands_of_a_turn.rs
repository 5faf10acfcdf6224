//! The commands of a turn and the edits between them: one entry of the log, and what is protected is set aside.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use relaycode_door::{CommandEnd, CommandWatch, Door, RecordedCommand};
use relaycode_durable::RealFs;
use relaycode_exec::Runner;
use relaycode_ledger::{
    Ledger, LedgerSettings, LogTarget, RevertOptions, SecureProgress, TransactionHeader, TxId,
};
use relaycode_project::config;
use tempfile::TempDir;

const NOW: &str = "2026-11-18T12:00:00.000Z";

fn door(root: &Path) -> Door {
    let ledger = Ledger::open(Arc::new(RealFs::default()), root, LedgerSettings::default()).unwrap();
    let loaded = config::load(root, None).unwrap();
    Door::new(root.to_path_buf(), ledger, loaded, None, Runner::new("/no/keeper".into()))
}

fn run(watch: &mut CommandWatch<'_>, work: impl FnOnce()) -> relaycode_door::Adoption {
    let what = RecordedCommand { argv: &["true".into()], message: None, now: NOW.into(), origin: "agent" };
    let mut progress = SecureProgress { see: &mut |_, _| {}, stop: &|| false };
    watch.begin(&what, &[], &mut progress).unwrap();
    work();
    let is_protected = |path: &str| path == ".envrc" || path.starts_with(".vscode/");
    watch.finish(&CommandEnd { finished: None, is_protected: &is_protected, now: NOW }).unwrap()
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
    let aside: Vec<&str> = adoption.set_aside.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((aside, adoption.set_aside.failed.len()), (vec![".envrc", ".vscode/tasks.json"], 0));
    assert_eq!(fs::read_to_string(root.join(".envrc")).unwrap(), "mine\n");
    assert!(!root.join(".vscode/tasks.json").exists());
    assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "two\n");
    // The next command finds them as they are now, and does not record them.
    assert!(run(&mut watch, || ()).committed.is_none());
    door.keep_set_aside(&adoption.set_aside.files[1], NOW).unwrap();
    assert_eq!(fs::read_to_string(root.join(".vscode/tasks.json")).unwrap(), "{}\n");
    watch.close().unwrap();

    // An undo of the turn takes all of it back, what was kept as well.
    let entry = door.ledger.undo_target().unwrap().unwrap();
    let members = entry.members.iter().filter_map(|member| member.id).collect();
    let target = LogTarget::Group { id: entry.group.clone().unwrap(), members };
    let reversal = door.ledger.plan_revert(&target, &RevertOptions::default()).unwrap();
    let about = reversal.header(TransactionHeader::new(TxId::random(), "shop", NOW, "undo"));
    door.ledger.begin(&reversal.changes, about, &|| false).unwrap().commit(Default::default()).unwrap();
    assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "one\n");
    assert_eq!(fs::read_to_string(root.join(".envrc")).unwrap(), "mine\n");
    assert!(!root.join(".vscode").exists());
}
