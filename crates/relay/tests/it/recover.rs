//! What `relay recover` does about a run that stopped in the middle, and what other commands say of it.

use std::process::Stdio;

use relaycode_change::proposal::path::RelPath;
use relaycode_ledger::transaction::change::{AfterContent, FileChange, NewMode};
use relaycode_ledger::{TransactionHeader, TxId};

use crate::fixture::scratch_project::{Project, edit, whole};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// A project in which a transaction over `a.txt` and `b.txt` was neither committed nor put back.
fn stopped() -> Project {
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let ledger = project.ledger();
    let change = |path: &str, before: &'static str, after: &'static str| FileChange {
        path: RelPath::parse(path).unwrap(),
        renamed_from: None,
        before: Some(before.as_bytes().into()),
        after: Some(AfterContent { bytes: after.as_bytes().into(), mode: NewMode::Keep }),
        added: 1,
        removed: 1,
    };
    let changes = [change("a.txt", "one\n", "1\n"), change("b.txt", "two\n", "2\n")];
    let id: TxId = UUID.parse().unwrap();
    let about = TransactionHeader::new(id, "shop", "2026-03-10T12:00:00.000Z", "file");
    drop(ledger.begin(&changes, about, &|| false).unwrap());
    assert_eq!(project.text("a.txt"), "1\n");
    project
}

#[test]
fn the_next_command_that_writes_puts_it_back_and_says_so() {
    let project = stopped();
    let ran = project.apply(&whole("c.txt", "c\n"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let said = "! an earlier run stopped in the middle of 0f8fad5b: everything was put back\n";
    assert_eq!(ran.err, said);
    assert_eq!((project.text("a.txt"), project.text("b.txt")), ("one\n".into(), "two\n".into()));
    assert_eq!(project.log().len(), 1);
}

#[test]
fn recover_says_what_it_did() {
    let project = stopped();
    relay_snapshot!(project.relay(&["recover"]), @"
    exit 0
    ----- stdout -----
    ! an earlier run stopped in the middle of 0f8fad5b: everything was put back
    ");
    let project = stopped();
    let value = project.relay(&["recover", "--json", "-q"]).json();
    assert_eq!((&value["ok"], &value["transactions"][0]["outcome"]), (&true.into(), &"putBack".into()));
    assert_eq!(value["transactions"][0]["id"], UUID);
}

#[test]
fn what_somebody_changed_meanwhile_is_left_to_them() {
    let mut transcript = Transcript::default();
    for (flag, text) in [("--keep", "mine\n"), ("--restore", "one\n")] {
        let project = stopped();
        project.put("a.txt", b"mine\n");
        transcript.add("recover", &project.relay(&["recover"]));
        assert_eq!((project.text("a.txt"), project.text("b.txt")), ("mine\n".into(), "two\n".into()));
        // It waits for somebody.
        transcript.add("apply", &project.apply(&edit("a.txt", "mine", "yours")));
        let value = project.relay(&["recover", "--json", "-q"]).json();
        assert_eq!(
            (&value["code"], &value["transactions"][0]["left"][0]["path"]),
            (&6.into(), &"a.txt".into())
        );
        transcript.add(flag, &project.relay(&["recover", flag]));
        assert_eq!(project.text("a.txt"), text, "{flag}");
        project.done(&["recover"]);
    }
    relay_snapshot!(transcript, @"
    # recover
    exit 6
    ----- stderr -----
    ! an earlier run stopped in the middle of 0f8fad5b: 1 of 2 files was put back
      a.txt was changed meanwhile, not by relay: left alone; its other bytes are in .relaycode/tx/0f8fad5b-d9cb-469f-a165-70867728950e/0
      next: `relay recover --keep` (stay with it) or `relay recover --restore` (its bytes stay in .relaycode)

    # apply
    exit 3
    ----- stderr -----
    ! an earlier run stopped in the middle of 0f8fad5b: 1 of 2 files was put back
      a.txt was changed meanwhile, not by relay: left alone; its other bytes are in .relaycode/tx/0f8fad5b-d9cb-469f-a165-70867728950e/0
      next: `relay recover --keep` (stay with it) or `relay recover --restore` (its bytes stay in .relaycode)
    ✗ a.txt belongs to 0f8fad5b, which is waiting for you: `relay recover`; nothing was changed
      decide with `relay recover --keep` or `relay recover --restore`

    # --keep
    exit 0
    ----- stdout -----
    ! 0f8fad5b stays as it is now; what it had displaced is kept in .relaycode/tx/0f8fad5b-d9cb-469f-a165-70867728950e.kept

    # recover
    exit 6
    ----- stderr -----
    ! an earlier run stopped in the middle of 0f8fad5b: 1 of 2 files was put back
      a.txt was changed meanwhile, not by relay: left alone; its other bytes are in .relaycode/tx/0f8fad5b-d9cb-469f-a165-70867728950e/0
      next: `relay recover --keep` (stay with it) or `relay recover --restore` (its bytes stay in .relaycode)

    # apply
    exit 3
    ----- stderr -----
    ! an earlier run stopped in the middle of 0f8fad5b: 1 of 2 files was put back
      a.txt was changed meanwhile, not by relay: left alone; its other bytes are in .relaycode/tx/0f8fad5b-d9cb-469f-a165-70867728950e/0
      next: `relay recover --keep` (stay with it) or `relay recover --restore` (its bytes stay in .relaycode)
    ✗ a.txt belongs to 0f8fad5b, which is waiting for you: `relay recover`; nothing was changed
      decide with `relay recover --keep` or `relay recover --restore`

    # --restore
    exit 0
    ----- stdout -----
    ! an earlier run stopped in the middle of 0f8fad5b: everything was put back; what the check or somebody else had written is kept in .relaycode/tx/0f8fad5b-d9cb-469f-a165-70867728950e.kept
    ");
}

#[test]
fn a_run_that_is_killed_leaves_all_or_nothing() {
    let project = Project::new(&[]);
    let files = 150;
    let answer: String = (0..files).map(|n| whole(&format!("dir/{n}.txt"), &format!("{n}\n"))).collect();
    project.put("a.md", answer.as_bytes());
    let mut child = project.command(&["apply", "a.md", "-y"]).stdout(Stdio::null()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() && !project.path("dir/20.txt").exists() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(project.relay(&["recover"]).code, 0);
    let there = (0..files).filter(|n| project.path(&format!("dir/{n}.txt")).exists()).count();
    let committed = project.log().len();
    assert!([(0, 0), (files, 1)].contains(&(there, committed)), "{there} files, {committed} entries");
}

#[test]
fn a_clean_project_has_nothing_to_recover() {
    let project = Project::new(&[("a.txt", "one\n")]);
    for _ in 0..2 {
        assert_eq!(project.done(&["recover"]), "✓ nothing to recover: no run stopped in the middle\n");
        project.applied(&edit("a.txt", "one", "1"));
        project.done(&["revert"]);
    }
    assert_eq!(project.done(&["recover", "-q"]), "");
    let ran = project.relay(&["recover", "--json", "-q"]);
    let value = ran.json();
    assert_eq!((ran.code, &value["ok"], &value["command"]), (0, &true.into(), &"recover".into()));
    assert_eq!(value["transactions"].as_array().unwrap().len(), 0);
    assert_eq!(project.relay(&["recover", "--keep", "--restore"]).code, 2);
}
