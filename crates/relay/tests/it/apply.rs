//! What `relay apply` does to a project, and how it ends when it does nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::scratch_project::{Project, control, edit, whole};
use crate::relay_snapshot;

const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

fn project() -> Project {
    Project::new(&[("a.txt", "one\ntwo\nthree\n"), ("old.txt", "old\n")])
}

#[test]
fn an_answer_is_applied_and_the_way_back_is_named() {
    let project = project();
    let answer = edit("a.txt", "two", "2") + &whole("new/b.txt", "b\n") + &control(UUID, "feat: two");
    // The diff is shown only on request.
    relay_snapshot!(project.apply(&answer), @"
    exit 0
    ----- stdout -----
    ▸ feat: two                                                               2 files  +2 −1
        M  a.txt      +1 −1   1 exact
        A  new/b.txt  +1
    ✓ applied 0f8fad5b · 2 files · `relay undo` undoes it
    ");
    assert_eq!(project.text("a.txt"), "one\n2\nthree\n");
    assert_eq!(project.text("new/b.txt"), "b\n");
    let record = project.text(&format!(".relaycode/{UUID}.yml"));
    for part in ["projectId: shop\n", "gitCommitMsg:", "patchStrategy:", "origin: stdin"] {
        assert!(record.contains(part), "{part:?} is missing in\n{record}");
    }
    assert!(!record.contains("k3y"), "the key is nobody's business:\n{record}");
    let mode = fs::metadata(project.path(".relaycode")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn json_says_what_was_applied() {
    let project = project();
    project.put("a.md", edit("a.txt", "two", "2").as_bytes());
    let ran = project.relay(&["apply", "a.md", "-y", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    // People read stderr.
    relay_snapshot!(ran.err, @"
    ▸ a.md                                                                     1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ✓ applied change-1 · 1 file · `relay undo` undoes it
    ");
    let value = ran.json();
    assert_eq!((&value["ok"], &value["code"]), (&true.into(), &0.into()));
    assert_eq!((&value["command"], &value["applied"]), (&"apply".into(), &true.into()));
    assert_eq!(value["id"].as_str().unwrap().len(), 36);
    assert_eq!(value["plan"]["files"][0]["path"], "a.txt");
    assert_eq!(project.log()[0]["origin"], "file");
}

#[test]
fn quiet_says_nothing() {
    let project = project();
    let ran = project.pipe(&["apply", "-", "-y", "-q"], edit("a.txt", "two", "2").as_bytes());
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    assert_eq!(project.text("a.txt"), "one\n2\nthree\n");
}

#[test]
fn with_nobody_to_ask_nothing_is_done() {
    let project = project();
    // The plan is shown.
    relay_snapshot!(project.pipe(&["apply", "-"], edit("a.txt", "two", "2").as_bytes()), @"
    exit 13
    ----- stdout -----
    ▸ stdin                                                                    1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on: the project has no configuration; nothing was changed
      `-y` applies it without asking
    ");
    assert_eq!(project.text("a.txt"), "one\ntwo\nthree\n");
    assert!(!project.path(".relaycode").exists());
    let ran = project.pipe(&["apply", "-", "--json"], edit("a.txt", "two", "2").as_bytes());
    assert_eq!((ran.code, &ran.json()["error"]["kind"]), (13, &"nobodyToAsk".into()));
}

#[test]
fn what_does_not_fit_is_refused_whole() {
    let project = project();
    let answer = edit("a.txt", "two", "2") + &edit("old.txt", "no such line here", "x");
    relay_snapshot!(project.apply(&answer), @"
    exit 3
    ----- stderr -----
    ✗ refused: 1 of 2 edits does not match                               nothing was changed
      old.txt, edit 1 (line 9 of the answer)
        looked for   no such line here
        nothing in the file looks like it
      a.txt: edit 1 fits
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
    assert_eq!(project.text("a.txt"), "one\ntwo\nthree\n");
    assert!(!project.path(".relaycode").exists());
    let ran = project.pipe(&["apply", "-", "-y", "--json", "-q"], answer.as_bytes());
    assert_eq!((ran.code, &ran.json()["command"]), (3, &"apply".into()));
}

#[test]
fn what_is_already_in_is_no_change() {
    let project = project();
    relay_snapshot!(project.apply(&whole("a.txt", "one\ntwo\nthree\n")), @"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                          0 files
        =  a.txt     already in
    ✓ everything is already in
    ");
    assert!(!project.path(".relaycode").exists());
    let ran = project.pipe(&["apply", "-", "--json", "-q"], whole("old.txt", "old\n").as_bytes());
    assert_eq!((ran.code, &ran.json()["applied"]), (0, &false.into()));
}

#[test]
fn an_id_is_taken_once() {
    let project = project();
    let answer = edit("a.txt", "two", "2") + &control(UUID, "two");
    project.applied(&answer);
    relay_snapshot!(project.apply(&answer), @"
    exit 8
    ----- stderr -----
    ✗ 0f8fad5b was applied before; nothing was changed
      `relay show 0f8fad5b` says what it changed
    ");
    let other = edit("a.txt", "one", "1") + &control(UUID, "one");
    relay_snapshot!(project.apply(&other), @"
    exit 8
    ----- stderr -----
    ✗ 0f8fad5b was applied before; nothing was changed
      a different answer has this id: `relay show 0f8fad5b`; give this one a new id
    ");
    assert_eq!(project.text("a.txt"), "one\n2\nthree\n");
    project.done(&["revert"]);
    let by = project.log()[0]["id"].as_str().unwrap()[..8].to_string();
    let ran = project.apply(&answer);
    assert_eq!(ran.code, 8, "{ran:?}");
    assert!(ran.err.contains(&format!("`relay revert {by}` brings it back")), "{}", ran.err);
}

#[test]
fn a_file_that_may_not_be_written_stands_against_all() {
    let project = project();
    fs::hard_link(project.path("old.txt"), project.path("other.txt")).unwrap();
    let answer = edit("a.txt", "two", "2") + &edit("old.txt", "old", "new");
    relay_snapshot!(project.apply(&answer), @"
    exit 3
    ----- stderr -----
    ✗ old.txt has 2 hard links, and changing it would break the link; nothing was changed
      make it a separate file first: copy it, then move the copy over it
    ");
    assert_eq!(project.text("a.txt"), "one\ntwo\nthree\n");
    let ran = project.pipe(&["apply", "-", "-y", "--json", "-q"], answer.as_bytes());
    let value = ran.json();
    assert_eq!(value["error"]["files"][0]["rule"], "hardLink");
    assert_eq!(value["error"]["state"], "unchanged");
}

#[test]
fn deleting_moving_and_strange_bytes() {
    let project = project();
    project.put("latin.txt", b"caf\xe9\r\nold\r\n");
    project.put("run.sh", b"#!/bin/sh\necho one\n");
    fs::set_permissions(project.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let answer = edit("latin.txt", "old", "new")
        + &edit("run.sh", "echo one", "echo two")
        + "```text // old.txt\n//TODO: delete this file\n```\n"
        + "```json // rename-file\n{\"from\": \"a.txt\", \"to\": \"moved/a.txt\"}\n```\n";
    project.applied(&answer);
    assert_eq!(project.bytes("latin.txt"), b"caf\xe9\r\nnew\r\n");
    assert_eq!(project.text("run.sh"), "#!/bin/sh\necho two\n");
    let mode = fs::metadata(project.path("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    assert!(!project.path("old.txt").exists());
    assert_eq!(project.text("moved/a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn wrong_usage_ends_with_2() {
    let project = project();
    assert_eq!(project.relay(&["apply"]).code, 2);
    assert_eq!(project.relay(&["apply", "missing.md", "-y"]).code, 2);
    let ran = project.relay(&["apply", "-", "-y", "-C", "nowhere", "--json"]);
    assert_eq!((ran.code, &ran.json()["command"]), (2, &"apply".into()));
}

#[test]
fn a_signal_leaves_all_or_nothing() {
    let project = Project::new(&[]);
    let files = 150;
    let answer: String = (0..files).map(|n| whole(&format!("dir/{n}.txt"), &format!("{n}\n"))).collect();
    project.put("a.md", answer.as_bytes());
    let mut child = project
        .command(&["apply", "a.md", "-y", "-q"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = Pid::from_child(&child);
    // As soon as the transaction has begun; a signal before that simply ends the process.
    while child.try_wait().unwrap().is_none() && !project.path(".relaycode/tx").exists() {
        std::thread::yield_now();
    }
    let _ = kill_process(pid, Signal::INT);
    let output = child.wait_with_output().unwrap();
    let there = (0..files).filter(|n| project.path(&format!("dir/{n}.txt")).exists()).count();
    match output.status.code() {
        Some(0) => assert_eq!(there, files),
        Some(130) => {
            let err = String::from_utf8(output.stderr).unwrap();
            assert!(err.contains("everything was put back") || err.contains("nothing was changed"), "{err}");
            assert_eq!(project.listing(), ["a.md"]);
        }
        other => panic!("{other:?}: {output:?}"),
    }
}

#[test]
fn an_edit_that_may_not_be_in_is_asked_about_and_the_same_answer_again_is_not() {
    let project =
        Project::new(&[("a.py", "def a():\n    return None\n\ndef b(x):\n    y = slow(x)\n    return y\n")]);
    let elsewhere = edit("a.py", "    y = old(x)\n    return y", "    return None");
    let ran = project.pipe(&["apply", "-", "-y"], elsewhere.as_bytes());
    assert_eq!(ran.code, 13, "{ran:?}");
    assert_eq!(project.pipe(&["apply", "-", "-y", "--allow", "near"], elsewhere.as_bytes()).code, 0);
    let own = edit("a.py", "    y = slow(x)", "    y = fast(x)");
    assert_eq!(project.pipe(&["apply", "-", "-y"], own.as_bytes()).code, 0);
    // The log knows this very answer.
    relay_snapshot!(project.pipe(&["apply", "-", "-y"], own.as_bytes()), @"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                          0 files
        =  a.py     1 already in
    ✓ everything is already in
    ");
}
