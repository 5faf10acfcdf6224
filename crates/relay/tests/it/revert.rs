//! What `relay revert` and `relay undo` take back, what they keep, and when they ask.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::fixture::scratch_project::{Project, control, edit, whole};
use crate::relay_snapshot;

fn project() -> Project {
    Project::new(&[("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"), ("old.txt", "old\n")])
}

#[test]
fn a_revert_by_name_is_a_change_that_undo_takes_back() {
    let project = project();
    let before = project.text("a.txt");
    let id = project.applied(&edit("a.txt", "two", "2"));
    let after = project.text("a.txt");
    relay_snapshot!(project.relay(&["revert", &id]), @"
    exit 0
    ----- stdout -----
    ✓ reverted: edit a.txt
      `relay undo` brings it back
    ");
    assert_eq!(project.text("a.txt"), before);
    relay_snapshot!(project.relay(&["undo"]), @r#"
    exit 0
    ----- stdout -----
    ✓ brought back: edit a.txt
      `relay redo` takes it out again · `relay undo` again: "edit a.txt"
    "#);
    assert_eq!(project.text("a.txt"), after);
    let undo = project.log()[0]["id"].as_str().unwrap().to_string();
    relay_snapshot!(project.relay(&["revert", &undo]), @"
    exit 0
    ----- stdout -----
    ✓ reverted: edit a.txt
      `relay undo` brings it back
    ");
    assert_eq!(project.text("a.txt"), before);
}

#[test]
fn revert_without_a_name_is_undo_and_twice_goes_back_twice() {
    let project = project();
    let before = project.text("a.txt");
    project.applied(&(edit("a.txt", "two", "2") + &control("0f8fad5b-d9cb-469f-a165-70867728950e", "a two")));
    project.applied(&edit("old.txt", "old", "new"));
    relay_snapshot!(project.relay(&["revert"]), @r#"
    exit 0
    ----- stdout -----
    ✓ undone: edit old.txt
      `relay redo` brings it back · `relay undo` again: "a two"
    "#);
    project.done(&["revert"]);
    assert_eq!((project.text("a.txt"), project.text("old.txt").as_str()), (before, "old\n"));
}

#[test]
fn everything_comes_back_as_it_was() {
    let project = project();
    project.put("latin.txt", b"caf\xe9\r\nold\r\n");
    project.put("run.sh", b"#!/bin/sh\necho one\n");
    fs::set_permissions(project.path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    let listing = project.listing();
    let answer = edit("latin.txt", "old", "new")
        + &whole("run.sh", "#!/bin/sh\necho two\n")
        + &whole("deep/er/new.txt", "x\n")
        + "```text // old.txt\n//TODO: delete this file\n```\n"
        + "```json // rename-file\n{\"from\": \"a.txt\", \"to\": \"moved/a.txt\"}\n```\n";
    project.applied(&answer);
    assert!(project.path("deep/er/new.txt").exists() && !project.path("old.txt").exists());
    let ran = project.relay(&["revert", "--json", "-q"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    assert_eq!(ran.json()["reverted"], true);
    assert_eq!(project.listing(), listing, "new directories went, too");
    assert_eq!(project.bytes("latin.txt"), b"caf\xe9\r\nold\r\n");
    assert_eq!(project.text("old.txt"), "old\n");
    assert_eq!(project.text("run.sh"), "#!/bin/sh\necho one\n");
    let mode = fs::metadata(project.path("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
}

#[test]
fn later_edits_stay() {
    let project = project();
    project.applied(&edit("a.txt", "two", "2"));
    let text = project.text("a.txt").replace("six", "6");
    project.put("a.txt", text.as_bytes());
    let out = project.done(&["revert"]);
    assert!(out.starts_with("✓ undone: edit a.txt · a.txt also has 1 later edit of yours: kept\n"), "{out}");
    assert_eq!(project.text("a.txt"), "one\ntwo\nthree\nfour\nfive\n6\nseven\n");
}

#[test]
fn later_edits_in_the_same_lines_are_a_conflict() {
    let project = project();
    project.applied(&edit("a.txt", "two", "2"));
    let text = project.text("a.txt").replace("2\n", "zwei\n");
    project.put("a.txt", text.as_bytes());
    relay_snapshot!(project.relay(&["revert"]), @"
    exit 6
    ----- stderr -----
    ! 1 file has later edits in the same lines; nothing was changed
      a.txt, line 2
        now       zwei
        reverted  two
      `--markers` writes both sides into the files; or undo the later edits first
    ");
    assert_eq!(project.text("a.txt"), text);
    let value = project.relay(&["revert", "--json"]).json();
    assert_eq!((&value["code"], &value["error"]["kind"]), (&6.into(), &"revertConflict".into()));
    assert_eq!(value["error"]["files"][0]["regions"][0]["now"][0], "zwei");
    relay_snapshot!(project.relay(&["revert", "--markers"]), @"
    exit 0
    ----- stdout -----
    ✓ undone: edit a.txt · a.txt also has 2 later edits of yours: kept
    ! a.txt holds both sides between conflict markers
      a.txt: 1 conflict is marked in it
      `relay redo` brings it back
    ");
    assert!(project.text("a.txt").contains("<<<<<<<"), "{}", project.text("a.txt"));
}

#[test]
fn one_file_of_several() {
    let project = project();
    project.applied(&(edit("a.txt", "two", "2") + &edit("old.txt", "old", "new")));
    relay_snapshot!(project.relay(&["undo", "--file", "old.txt"]), @r#"
    exit 0
    ----- stdout -----
    ✓ undone: edit a.txt, old.txt (only old.txt)
      `relay redo` brings it back · `relay undo` again: "edit a.txt, old.txt"
    "#);
    assert_eq!(project.text("old.txt"), "old\n");
    assert!(project.text("a.txt").contains("2\n"));
    // The rest is still in, and can still be undone.
    relay_snapshot!(project.relay(&["log"]), @"
    exit 0
    ----- stdout -----
      1   change-1  now  undo   1 file   +1 −1  undoes: edit a.txt, old.txt (only old.txt)
      2   change-2  now  stdin  2 files  +2 −2  edit a.txt, old.txt   partly undone
    ");
    project.put("old.txt", b"mine\n");
    project.done(&["undo"]);
    assert!(project.text("a.txt").contains("two\n"));
    assert_eq!(project.text("old.txt"), "mine\n", "what was undone before is not looked at again");
    assert_eq!(project.log()[2]["undone"], true);
    project.done(&["redo"]);
    assert!(project.text("a.txt").contains("2\n"));
    let log = project.log();
    assert_eq!((&log[3]["undone"], &log[3]["partlyUndone"]), (&false.into(), &true.into()));
}

#[test]
fn what_is_gone_already_is_no_change() {
    let project = project();
    let before = project.text("a.txt");
    project.applied(&edit("a.txt", "two", "2"));
    project.put("a.txt", before.as_bytes());
    relay_snapshot!(project.relay(&["revert"]), @"
    exit 0
    ----- stdout -----
    ✓ undone: edit a.txt · no file had to change
    ");
    assert_eq!(project.text("a.txt"), before);
    relay_snapshot!(project.relay(&["redo"]), @"
    exit 0
    ----- stdout -----
    ✓ redone: edit a.txt · no file had to change
    ");
    assert_eq!(project.text("a.txt"), before, "what an undo did not take out is not brought back");
    project.done(&["undo"]);
    relay_snapshot!(project.relay(&["revert", "4"]), @r#"
    exit 0
    ----- stdout -----
    ✓ nothing of "edit a.txt" is left to revert
    "#);
    relay_snapshot!(project.relay(&["revert", "4", "--dry-run"]), @r#"
    exit 0
    ----- stdout -----
    ✓ nothing of "edit a.txt" is left to revert
    "#);
    assert_eq!(project.log().len(), 4, "nothing to do is no entry");
    let ran = project.relay(&["revert", "9"]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn on_another_branch_somebody_has_to_say_yes() {
    let project = project();
    project.put(".git/HEAD", b"ref: refs/heads/main\n");
    let before = project.text("a.txt");
    project.applied(&edit("a.txt", "two", "2"));
    let after = project.text("a.txt");
    project.put(".git/HEAD", b"ref: refs/heads/side\n");
    relay_snapshot!(project.relay(&["revert"]), @r#"
    exit 13
    ----- stderr -----
    ✗ "edit a.txt" was made on main without a commit, and you are on side without a commit now; nothing was changed
      `relay undo -y` does it all the same
    "#);
    assert_eq!(project.text("a.txt"), after);
    // With `-y` it is still said.
    relay_snapshot!(project.relay(&["revert", "-y"]), @r#"
    exit 0
    ----- stdout -----
    ✓ undone: edit a.txt
      `relay redo` brings it back
    ----- stderr -----
    ! "edit a.txt" was made on main without a commit, and you are on side without a commit now
    "#);
    assert_eq!(project.text("a.txt"), before);
}

#[test]
fn an_empty_ledger_has_nothing_to_revert() {
    relay_snapshot!(project().relay(&["revert"]), @"
    exit 2
    ----- stderr -----
    ✗ nothing has been applied here yet
      `relay apply answer.md` applies an answer
    ");
}
