//! Odd but legal: names, sizes, attributes and histories that people really have.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::process::Command;

use crate::fixture::scratch_project::{Project, control, edit, whole};
use crate::relay_snapshot;

const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

fn delete(path: &str) -> String {
    format!("```text // {path}\n//TODO: delete this file\n```\n")
}

/// The name of a file as a block has it.
fn named(path: &str) -> String {
    if path.contains(' ') { format!("\"{path}\"") } else { path.to_string() }
}

/// Applies and takes back; everything is as before then, and again as after when that is taken back.
fn there_and_back(project: &Project, answer: &str) {
    let before = project.tree();
    project.applied(answer);
    let after = project.tree();
    assert_ne!(before, after);
    project.done(&["undo"]);
    assert_eq!(project.tree(), before);
    project.done(&["redo"]);
    assert_eq!(project.tree(), after);
    project.done(&["undo"]);
    assert_eq!(project.tree(), before);
}

#[test]
fn an_id_whose_attempt_was_put_back_may_come_again() {
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    fs::set_permissions(project.path("b.txt"), fs::Permissions::from_mode(0o444)).unwrap();
    let answer = edit("a.txt", "one", "1") + &edit("b.txt", "two", "2") + &control(UUID, "again");
    for _ in 0..2 {
        assert_eq!(project.apply(&answer).code, 3);
    }
    fs::set_permissions(project.path("b.txt"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(project.applied(&answer), UUID);
    let other = edit("a.txt", "1", "11") + &control(UUID, "other");
    relay_snapshot!(project.apply(&other), @"
    exit 8
    ----- stderr -----
    ✗ 0f8fad5b was applied before; nothing was changed
      a different answer has this id: `relay show 0f8fad5b`; give this one a new id
    ");
    assert_eq!(project.text("a.txt"), "1\n");
}

#[test]
fn a_ledger_that_was_removed_comes_back_from_the_copy() {
    let long = "line\n".repeat(20_000);
    let project = Project::new(&[("a.txt", "one\n"), ("long.txt", &long)]);
    let first = project.applied(&(edit("a.txt", "one", "1") + &delete("long.txt")));
    project.applied(&edit("a.txt", "1", "2"));
    project.done(&["revert"]);
    fs::remove_dir_all(project.path(".relaycode")).unwrap();
    relay_snapshot!(project.apply(&whole("new.txt", "x\n")), @"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                       1 file  +1
        A  new.txt  +1
    ✓ applied change-1 · 1 file · `relay undo` undoes it
    ----- stderr -----
    ! this project's history was missing from .relaycode: 3 changes restored from your own copy
    ");
    let log = project.log();
    assert_eq!(log.len(), 4, "{log:?}");
    assert_eq!(log[3]["id"], first.as_str());
    project.done(&["revert", &first]);
    assert_eq!((project.text("a.txt"), project.text("long.txt")), ("one\n".into(), long));
}

#[test]
fn names_that_only_look_dangerous() {
    for name in [
        "with space.txt",
        "it's.txt",
        "-rf.txt",
        "--help.txt",
        "größe/日本語/🦀.txt",
        "$(touch x).txt",
        "a;b&c.txt",
        "#hash.txt",
        "%s%n.txt",
        "tilde~.txt",
        "[glob]{a,b}.txt",
        "..dots.txt",
        "e\u{301}.txt",
        ".hidden/.local",
    ] {
        let project = Project::new(&[(name, "old\n")]);
        let change = edit(&named(name), "old", "new");
        let ran = project.preview(&change);
        assert_eq!(ran.code, 0, "{name}: {ran:?}");
        there_and_back(&project, &change);
        there_and_back(&project, &delete(&named(name)));
        project.done(&["show", "1", "--diff"]);
        project.applied(&change);
        project.done(&["revert", &format!("--file={name}")]);
        assert_eq!(project.text(name), "old\n");
    }
    // Nothing that other systems could not name, and nothing was run.
    for name in ["qu\"ote.txt", "st*r.txt", "trailing.", "con"] {
        let project = Project::new(&[("a.txt", "a\n")]);
        let ran = project.apply(&whole(name, "x\n"));
        assert_eq!(ran.code, 3, "{name}: {ran:?}");
        assert_eq!(project.listing(), ["a.txt"]);
    }
}

#[test]
fn three_hundred_files_and_sixty_directories() {
    let project = Project::new(&[]);
    let answer: String = (0..300).map(|n| whole(&format!("many/{}/{n}.txt", n % 7), "x\n")).collect();
    let ran = project.pipe(&["apply", "-", "-y", "--limit", "files=300"], answer.as_bytes());
    assert_eq!((ran.code, project.listing().len()), (0, 308), "{ran:?}");
    project.done(&["revert"]);
    assert!(project.listing().is_empty());
    let deep = format!("{}file.txt", "d/".repeat(60));
    there_and_back(&project, &whole(&deep, "deep\n"));
    assert!(project.listing().is_empty());
    project.put(&format!("{}keep.txt", "d/".repeat(30)), b"keep\n");
    there_and_back(&project, &whole(&deep, "deep\n"));
}

#[test]
fn contents_of_every_kind() {
    let long: String = (0..)
        .map(|n| format!("line {n}\n"))
        .scan(0, |size, line| {
            *size += line.len();
            (*size < 1024 * 1024).then_some(line)
        })
        .collect();
    let project = Project::new(&[
        ("long.txt", &long),
        ("crlf.txt", "one\r\ntwo\r\nthree\r\n"),
        ("no-end.txt", "one\ntwo"),
    ]);
    let binary: Vec<u8> = (0..=255_u8).cycle().take(70_000).collect();
    project.put("binary.bin", &binary);
    project.put("small.bin", b"\0\xff\xfe");
    project.put("empty.txt", b"");
    there_and_back(&project, &edit("long.txt", "line 500", "LINE 500"));
    there_and_back(&project, &delete("long.txt"));
    there_and_back(&project, &edit("crlf.txt", "two", "2"));
    there_and_back(&project, &delete("crlf.txt"));
    there_and_back(&project, &edit("no-end.txt", "two", "2"));
    there_and_back(&project, &(delete("binary.bin") + &delete("small.bin") + &delete("empty.txt")));
    there_and_back(
        &project,
        "```json // rename-file\n{\"from\": \"binary.bin\", \"to\": \"moved/b.bin\"}\n```\n",
    );
    there_and_back(&project, &whole("new-empty.txt", ""));
    project.applied(&whole("new-empty.txt", ""));
    assert_eq!(project.bytes("new-empty.txt"), b"");
    project.applied(&edit("crlf.txt", "two", "2"));
    assert_eq!(project.bytes("crlf.txt"), b"one\r\n2\r\nthree\r\n");
}

fn attribute(project: &Project, path: &str) -> Option<String> {
    let mut command = Command::new("getfattr");
    let output = command.args(["-n", "user.x", "--only-values"]).arg(project.path(path)).output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

#[test]
fn attributes_permission_bits_and_owner_stay() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let path = project.path("a.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let set = Command::new("setfattr").args(["-n", "user.x", "-v", "kept"]).arg(&path).status();
    // Skipped where the file system has no attributes, or there is no tool for them.
    let with_attribute = set.is_ok_and(|status| status.success()) && attribute(&project, "a.txt").is_some();
    let root = rustix::process::geteuid().is_root();
    let owner = if root {
        (1234, 5678)
    } else {
        (fs::metadata(&path).unwrap().uid(), fs::metadata(&path).unwrap().gid())
    };
    if root {
        chown(&path, Some(owner.0), Some(owner.1)).unwrap();
    }
    let check = |text: &str| {
        let stat = fs::metadata(&path).unwrap();
        assert_eq!(project.text("a.txt"), text);
        assert_eq!(stat.mode() & 0o7777, 0o600, "{text}");
        assert_eq!((stat.uid(), stat.gid()), owner, "{text}");
        if with_attribute {
            assert_eq!(attribute(&project, "a.txt").as_deref(), Some("kept"), "{text}");
        }
    };
    project.applied(&edit("a.txt", "one", "1"));
    check("1\n");
    project.done(&["undo"]);
    check("one\n");
    project.done(&["redo"]);
    check("1\n");
    project.applied("```json // rename-file\n{\"from\": \"a.txt\", \"to\": \"b.txt\"}\n```\n");
    project.done(&["revert"]);
    check("1\n");
}
