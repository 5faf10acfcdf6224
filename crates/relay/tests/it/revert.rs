//! What `relay revert` takes back, what it keeps, and when it asks.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::fixture::scratch_project::{Project, control, edit, whole};
use crate::relay_snapshot;

fn project() -> Project {
    Project::new(&[("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"), ("old.txt", "old\n")])
}

#[test]
fn a_revert_and_its_revert() {
    let project = project();
    let before = project.text("a.txt");
    let id = project.applied(&edit("a.txt", "two", "2"));
    let after = project.text("a.txt");
    let out = project.done(&["revert"]);
    assert_eq!(out, format!("✓ reverted {}\n  `relay revert` again brings it back\n", &id[..8]));
    assert_eq!(project.text("a.txt"), before);
    let out = project.done(&["revert"]);
    assert!(out.contains(&format!(" · {} is in again\n", &id[..8])), "{out}");
    assert_eq!(project.text("a.txt"), after, "the newest entry was the revert");
    project.done(&["revert"]);
    assert_eq!(project.text("a.txt"), before);
    assert_eq!(project.log().len(), 4);
}

#[test]
fn the_change_before_it_is_named() {
    let project = project();
    project.applied(&(edit("a.txt", "two", "2") + &control("0f8fad5b-d9cb-469f-a165-70867728950e", "a two")));
    project.applied(&edit("old.txt", "old", "new"));
    let out = project.done(&["revert"]);
    let next = "  `relay revert` again brings it back; `relay revert 3` undoes \"a two\"\n";
    assert!(out.ends_with(next), "{out}");
    project.done(&["revert", "3"]);
    assert!(project.text("a.txt").contains("two"));
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
    let id = project.applied(&edit("a.txt", "two", "2"));
    let text = project.text("a.txt").replace("six", "6");
    project.put("a.txt", text.as_bytes());
    let out = project.done(&["revert"]);
    let said = format!("✓ reverted {} · a.txt also has 1 later edit of yours: kept\n", &id[..8]);
    assert!(out.starts_with(&said), "{out}");
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
    ! later edits stand in the same lines of 1 file; nothing was changed
      a.txt, line 2
        now       zwei
        reverted  two
      `relay revert --markers` writes both sides into the files, or undo the later edits first
    ");
    assert_eq!(project.text("a.txt"), text);
    let value = project.relay(&["revert", "--json"]).json();
    assert_eq!((&value["code"], &value["error"]["kind"]), (&6.into(), &"revertConflict".into()));
    assert_eq!(value["error"]["files"][0]["regions"][0]["now"][0], "zwei");
    relay_snapshot!(project.relay(&["revert", "--markers"]), @"
    exit 0
    ----- stdout -----
    ✓ reverted change-1 · a.txt also has 2 later edits of yours: kept
    ! a.txt holds both sides between conflict markers
      a.txt: 1 conflict is marked in it
      `relay revert` again brings it back
    ");
    assert!(project.text("a.txt").contains("<<<<<<<"), "{}", project.text("a.txt"));
}

#[test]
fn one_file_of_several() {
    let project = project();
    project.applied(&(edit("a.txt", "two", "2") + &edit("old.txt", "old", "new")));
    project.done(&["revert", "--file", "old.txt"]);
    assert_eq!(project.text("old.txt"), "old\n");
    assert!(project.text("a.txt").contains("2\n"));
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
    ✓ nothing of change-1 is left to revert
    ");
    assert_eq!(project.text("a.txt"), before);
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
    relay_snapshot!(project.relay(&["revert"]), @"
    exit 13
    ----- stderr -----
    ✗ change-1 was applied on main without a commit; side without a commit is checked out now; nothing was changed
      `-y` reverts it here without asking
    ");
    assert_eq!(project.text("a.txt"), after);
    // With `-y` it is still said.
    relay_snapshot!(project.relay(&["revert", "-y"]), @"
    exit 0
    ----- stdout -----
    ✓ reverted change-1
      `relay revert` again brings it back
    ----- stderr -----
    ! change-1 was applied on main without a commit; side without a commit is checked out now
    ");
    assert_eq!(project.text("a.txt"), before);
}

#[test]
fn an_empty_ledger_has_nothing_to_revert() {
    relay_snapshot!(project().relay(&["revert"]), @"
    exit 2
    ----- stderr -----
    ✗ nothing was applied here yet
      `relay apply answer.md` applies an answer
    ");
}
