//! `relay undo` and `relay redo`: one way back and forth through what was done.

use std::fs;

use crate::fixture::scratch_project::{Project, control, edit, run, whole};
use crate::relay_snapshot;
use crate::terminal_questions::Session;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

fn project() -> Project {
    Project::new(&[("a.txt", TEXT), ("b.txt", "b\n")])
}

/// An answer with this message, and an id of relay's choice.
fn named(answer: &str, message: &str) -> String {
    format!("{answer}\n```yaml\nprojectId: shop\ngitCommitMsg: \"{message}\"\n```\n")
}

#[test]
fn undo_and_redo_go_back_and_forth() {
    let project = project();
    let mut trees = vec![project.tree()];
    project.applied(&named(&edit("a.txt", "two", "2"), "feat: two"));
    trees.push(project.tree());
    project.applied(&named(&edit("a.txt", "six", "6"), "feat: six"));
    trees.push(project.tree());
    project.applied(&whole("new/c.txt", "c\n"));
    trees.push(project.tree());
    relay_snapshot!(project.relay(&["undo"]), @r#"
    exit 0
    ----- stdout -----
    ✓ undone: add new/c.txt
      `relay redo` brings it back · `relay undo` again: "feat: six"
    "#);
    project.done(&["undo"]);
    relay_snapshot!(project.relay(&["undo"]), @"
    exit 0
    ----- stdout -----
    ✓ undone: feat: two
      `relay redo` brings it back
    ");
    assert_eq!(project.tree(), trees[0]);
    assert_eq!(project.relay(&["undo"]).code, 2);
    relay_snapshot!(project.relay(&["redo"]), @r#"
    exit 0
    ----- stdout -----
    ✓ brought back: feat: two
      `relay undo` takes it out again · `relay redo` again: "feat: six"
    "#);
    assert_eq!(project.tree(), trees[1]);
    project.done(&["redo"]);
    assert_eq!(project.tree(), trees[2]);
    project.done(&["undo"]);
    project.done(&["redo"]);
    project.done(&["redo"]);
    assert_eq!(project.tree(), trees[3]);
    relay_snapshot!(project.relay(&["redo"]), @"
    exit 2
    ----- stderr -----
    ✗ there is nothing to redo; nothing was changed
      `relay log` lists what was done here
    ");
    relay_snapshot!(project.relay(&["log", "-n", "4"]), @"
    exit 0
    ----- stdout -----
      1   change-1  now  redo  1 file  +1     brings back: add new/c.txt
      2   change-2  now  redo  1 file  +1 −1  brings back: feat: six
      3 ↩ change-3  now  undo  1 file  +1 −1  undoes: feat: six
      4   change-4  now  redo  1 file  +1 −1  brings back: feat: six
    and 7 more; `relay log -n 11` lists them all
    ");
}

#[test]
fn a_change_after_an_undo_leaves_nothing_to_redo_and_a_way_back() {
    let project = project();
    project.applied(&named(&edit("a.txt", "two", "2"), "feat: two"));
    project.done(&["undo"]);
    let undo = project.log()[0]["id"].as_str().unwrap().to_string();
    project.applied(&named(&edit("b.txt", "b", "B"), "feat: b"));
    let ran = project.relay(&["redo"]);
    assert!(ran.err.contains(&format!("`relay revert {}`", &undo[..8])), "{ran:?}");
    relay_snapshot!(ran, @r#"
    exit 2
    ----- stderr -----
    ✗ there is nothing to redo: "feat: b" was made after "feat: two" was undone; nothing was changed
      `relay revert change-1` brings it back
    "#);
    relay_snapshot!(project.relay(&["revert", &undo]), @"
    exit 0
    ----- stdout -----
    ✓ brought back: feat: two
      `relay undo` takes it out again
    ");
    assert!(project.text("a.txt").contains("2\n"));
}

#[test]
fn a_dry_run_shows_the_files_and_the_diff_and_writes_nothing() {
    let project = project();
    project.applied(&named(&edit("a.txt", "two", "2"), "feat: two"));
    project.put("a.txt", project.text("a.txt").replace("seven", "7").as_bytes());
    let (tree, log) = (project.tree(), project.log());
    relay_snapshot!(project.relay(&["undo", "--dry-run"]), @"
    exit 0
    ----- stdout -----
    would undo: feat: two                                                      1 file  +1 −1
        M  a.txt  +1 −1
      a.txt also has 1 later edit of yours: kept

    --- a/a.txt
    +++ b/a.txt
    @@ -1,5 +1,5 @@
     one
    -2
    +two
     three
     four
     five
    ");
    let value = project.relay(&["undo", "--dry-run", "--json", "-q"]).json();
    assert_eq!(
        (&value["dryRun"], &value["reverted"], &value["id"]),
        (&true.into(), &false.into(), &().into())
    );
    assert_eq!(value["changes"][0]["diff"]["content"], "text", "{value}");
    assert_eq!(value["title"], "undoes: feat: two");
    assert_eq!((project.tree(), project.log()), (tree, log));
    project.done(&["undo"]);
    let out = project.done(&["redo", "--dry-run"]);
    assert!(out.starts_with("would bring back: feat: two "), "{out}");
    let out = project.done(&["revert", "2", "--dry-run"]);
    assert_eq!(out, "✓ nothing of \"feat: two\" is left to revert\n");
    assert_eq!(project.log().len(), 2);
}

#[test]
fn edits_in_the_same_lines_ask_whether_to_write_both_sides() {
    let project = project();
    project.applied(&edit("a.txt", "two", "2"));
    let text = project.text("a.txt").replace("2\n", "zwei\n");
    project.put("a.txt", text.as_bytes());
    let mut session = Session::start(&project, &["undo"], "");
    session.wait_for("write both sides into the files, between conflict markers? [y/N]");
    session.type_in("n\r");
    let (code, seen) = session.end();
    assert_eq!((code, project.text("a.txt")), (Some(6), text), "{seen}");
    assert!(seen.contains("nothing was undone; nothing was changed"), "{seen}");
    let mut session = Session::start(&project, &["undo"], "");
    session.wait_for("between conflict markers? [y/N]");
    session.type_in("y\r");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(project.text("a.txt").contains("<<<<<<< now\nzwei\n"), "{}", project.text("a.txt"));
}

#[test]
fn what_is_in_the_way_and_no_text_is_said_and_markers_are_not_offered() {
    let project = project();
    project.applied(&edit("a.txt", "two", "2"));
    fs::remove_file(project.path("a.txt")).unwrap();
    relay_snapshot!(project.relay(&["undo"]), @"
    exit 6
    ----- stderr -----
    ! a.txt was changed by change-1 but no longer exists; restore it first; nothing was changed
      fix that and try again; `--file PATH` takes back only that file
    ");
    fs::create_dir(project.path("a.txt")).unwrap();
    relay_snapshot!(project.relay(&["undo"]), @"
    exit 6
    ----- stderr -----
    ! a.txt is a directory, not a regular file; nothing was changed
      fix that and try again; `--file PATH` takes back only that file
    ");
    fs::remove_dir(project.path("a.txt")).unwrap();
    std::os::unix::fs::symlink("b.txt", project.path("a.txt")).unwrap();
    let ran = project.relay(&["undo"]);
    assert!(ran.code == 6 && !ran.err.contains("same lines") && !ran.err.contains("--markers"), "{ran:?}");
}

#[test]
fn an_undo_records_what_it_did_as_operations() {
    let project = project();
    let answer = edit("a.txt", "two", "2")
        + &whole("new.txt", "n\n")
        + "```json // rename-file\n{\"from\": \"b.txt\", \"to\": \"moved.txt\"}\n```\n";
    project.applied(&answer);
    project.done(&["undo"]);
    let record = &project.relay(&["show", "1", "--json"]).json()["records"][0];
    let operations = record["operations"].as_array().unwrap();
    let of = |kind: &str| operations.iter().find(|operation| operation["type"] == kind).unwrap();
    assert_eq!(operations.len(), 3, "{record}");
    assert_eq!((&of("write")["path"], &of("write")["content"]), (&"a.txt".into(), &TEXT.into()));
    assert_eq!(of("delete")["path"], "new.txt");
    assert_eq!((&of("rename")["from"], &of("rename")["to"]), (&"moved.txt".into(), &"b.txt".into()));
}

#[test]
fn ids_that_begin_alike_are_shown_as_long_as_they_need_to_be() {
    let project = project();
    let ids = ["5d1c2f7e-0000-4000-8000-00000000000a", "5d1c2f7e-0000-4000-8000-00000000000b"];
    project.applied(&(edit("a.txt", "two", "2") + &control(ids[0], "first")));
    project.applied(&(edit("a.txt", "six", "6") + &control(ids[1], "second")));
    let third = project.applied(&edit("b.txt", "b", "B"));
    let out = project.done(&["log", "--oneline"]);
    let shown: Vec<&str> = out.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(shown, [&third[..8], ids[1], ids[0]], "{out}");
    assert!(project.done(&["show", shown[2]]).contains("first"));
    assert!(project.done(&["log"]).contains(ids[0]));
}

#[test]
fn a_preview_of_what_was_applied_says_so() {
    let project = project();
    let answer = edit("a.txt", "two", "2") + &control("0f8fad5b-d9cb-469f-a165-70867728950e", "feat: two");
    project.applied(&answer);
    relay_snapshot!(project.preview(&answer), @"
    exit 8
    ----- stderr -----
    ✗ 0f8fad5b was applied before; nothing was changed
      `relay show 0f8fad5b` says what it changed
    ");
    project.done(&["undo"]);
    let ran = project.preview(&answer);
    assert!(ran.code == 8 && ran.err.contains("it was applied and undone; `relay revert"), "{ran:?}");
    assert_eq!(project.json(&answer).1["error"]["kind"], "alreadyProcessed");
}

#[test]
fn a_recorded_command_is_undone_and_brought_back() {
    let project = project();
    let before = project.tree();
    let path = std::env::var_os("PATH").unwrap();
    let line = "echo x >> a.txt; rm b.txt";
    let ran = run(project.command(&["record", "-q", "--", "sh", "-c", line]).env("PATH", path));
    assert_eq!(ran.code, 0, "{ran:?}");
    let after = project.tree();
    let out = project.done(&["undo"]);
    assert!(out.starts_with("✓ undone: run: sh -c "), "{out}");
    assert_eq!(project.tree(), before);
    project.done(&["redo"]);
    assert_eq!(project.tree(), after);
}

#[test]
fn changes_of_the_same_title_are_told_apart_by_their_ids() {
    let project = project();
    let ids = ["two", "six"].map(|word| project.applied(&edit("a.txt", word, "changed")));
    let first = project.relay(&["undo"]);
    assert!(first.out.contains(&ids[0][..8]) && first.out.contains(&ids[1][..8]), "{first:?}");
    relay_snapshot!(first, @r#"
    exit 0
    ----- stdout -----
    ✓ undone: edit a.txt (change-1)
      `relay redo` brings it back · `relay undo` again: "edit a.txt" (change-2)
    "#);
    relay_snapshot!(project.relay(&["undo"]), @"
    exit 0
    ----- stdout -----
    ✓ undone: edit a.txt
      `relay redo` brings it back
    ");
    relay_snapshot!(project.relay(&["redo"]), @r#"
    exit 0
    ----- stdout -----
    ✓ brought back: edit a.txt (change-1)
      `relay undo` takes it out again · `relay redo` again: "edit a.txt" (change-2)
    "#);
    project.done(&["undo"]);
    project.applied(&edit("a.txt", "four", "changed"));
    relay_snapshot!(project.relay(&["redo"]), @r#"
    exit 2
    ----- stderr -----
    ✗ there is nothing to redo: "edit a.txt" (change-1) was made after "edit a.txt" (change-2) was undone; nothing was changed
      `relay revert change-3` brings it back
    "#);
}

#[test]
fn a_title_of_any_length_takes_little_room() {
    let project = project();
    project.applied(&named(&edit("a.txt", "two", "2"), &"word ".repeat(1_000)));
    for args in [&["undo"][..], &["redo"], &["undo", "--dry-run"], &["revert", "3"], &["revert", "3"]] {
        let out = project.done(args);
        assert!(out.chars().count() < 700, "{args:?}: {out}");
    }
}
