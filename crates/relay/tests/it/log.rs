//! What `relay log` lists.

use std::fs;

use crate::fixture::scratch_project::{Project, control, edit, whole};
use crate::relay_snapshot;

const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

fn project() -> Project {
    Project::new(&[("a.txt", "one\ntwo\nthree\n")])
}

#[test]
fn an_empty_ledger_says_so() {
    let project = project();
    assert_eq!(project.done(&["log"]), "nothing has been applied here yet\n");
    assert_eq!(project.log().len(), 0);
    assert!(!project.path(".relaycode").exists(), "looking writes nothing");
}

#[test]
fn the_newest_stands_first_and_reverts_are_marked() {
    let project = project();
    project.applied(&(edit("a.txt", "two", "2") + &control(UUID, "feat: two")));
    project.applied(&whole("b.txt", "b\n"));
    project.done(&["revert", "2"]);
    relay_snapshot!(project.relay(&["log"]), @"
    exit 0
    ----- stdout -----
      1   change-1  now  revert  1 file  +1 −1  undoes: feat: two
      2   change-2  now  stdin   1 file  +1     add b.txt
      3 ↩ 0f8fad5b  now  stdin   1 file  +1 −1  feat: two
    ");
    let entries = project.log();
    assert_eq!((&entries[2]["undone"], &entries[2]["id"]), (&true.into(), &UUID.into()));
    assert_eq!(entries[0]["revertOf"][0], UUID);
    assert_eq!((&entries[1]["index"], &entries[1]["added"]), (&2.into(), &1.into()));
    assert_eq!(entries[1]["revertible"], true);
}

#[test]
fn a_long_log_says_how_many_more_there_are() {
    let project = project();
    for n in 0..4 {
        project.applied(&whole(&format!("{n}.txt"), "x\n"));
    }
    let out = project.done(&["log", "-n", "3"]);
    assert_eq!(out.lines().count(), 4, "{out}");
    relay_snapshot!(out, @"
      1   change-1  now  stdin  1 file  +1  add 3.txt
      2   change-2  now  stdin  1 file  +1  add 2.txt
      3   change-3  now  stdin  1 file  +1  add 1.txt
    and 1 more; `relay log -n 4` lists them all
    ");
    let value = project.relay(&["log", "-n", "3", "--json"]).json();
    assert_eq!((value["entries"].as_array().unwrap().len(), &value["total"]), (3, &4.into()));
    assert_eq!(project.done(&["log", "-q"]).lines().count(), 4);
}

#[test]
fn the_ledger_comes_back_from_its_copy() {
    let project = project();
    let id = project.applied(&edit("a.txt", "two", "2"));
    fs::remove_dir_all(project.path(".relaycode")).unwrap();
    let ran = project.relay(&["log"]);
    relay_snapshot!(ran, @"
    exit 0
    ----- stdout -----
      1   change-1  now  stdin  1 file  +1 −1  edit a.txt
    ----- stderr -----
    ! this project's history was missing from .relaycode: 1 change restored from your own copy
    ");
    assert!(ran.out.contains(&id[..8]), "{ran:?}");
    project.done(&["log"]);
    fs::remove_dir_all(project.path(".relaycode")).unwrap();
    relay_snapshot!(project.relay(&["revert"]), @"
    exit 0
    ----- stdout -----
    ✓ undone: edit a.txt
      `relay redo` brings it back
    ----- stderr -----
    ! this project's history was missing from .relaycode: 1 change restored from your own copy
    ");
    assert_eq!(project.text("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn a_project_that_may_not_be_written_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let project = project();
    project.applied(&edit("a.txt", "two", "2"));
    let mode =
        |mode| fs::set_permissions(project.path(".relaycode"), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o500);
    let out = project.done(&["log"]);
    mode(0o700);
    assert_eq!(out.lines().count(), 1, "{out}");
}

#[test]
fn an_origin_that_does_not_exist_is_refused_with_those_that_do() {
    let project = project();
    project.applied(&edit("a.txt", "two", "2"));
    relay_snapshot!(project.relay(&["log", "--origin", "foo"]), @"
    exit 2
    ----- stderr -----
    ✗ no change comes from `foo`
      `--origin` takes file, stdin, clipboard, paste, agent, friend, codex, claude, gemini, opencode, init, original, record, redo, revert, set-aside, undo
    ");
    relay_snapshot!(project.relay(&["log", "--origin", "codex"]), @"
    exit 0
    ----- stdout -----
    nothing in the log fits that; `relay log` lists it all
    ");
    relay_snapshot!(project.relay(&["log", "--origin", "stdin"]), @"
    exit 0
    ----- stdout -----
      1   change-1  now  stdin  1 file  +1 −1  edit a.txt
    ");
}
