//! Files that an answer writes as a whole, moves onto others or changes in several steps: what is certain goes in, and what
//! may cost somebody's text is asked about.

use crate::fixture::scratch_project::{Project, edit, whole};
use crate::relay_snapshot;

#[test]
fn a_file_is_created_and_edited_in_one_answer() {
    let project = Project::new(&[("old.txt", "one\ntwo\n")]);
    let answer = whole("new.txt", "a\nb\n") + &edit("new.txt", "b", "c") + &edit("old.txt", "two", "2");
    relay_snapshot!(project.apply(&answer), @"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                   2 files  +3 −1
        A  new.txt  +2      1 exact
        M  old.txt  +1 −1   1 exact
    ✓ applied change-1 · 2 files · `relay undo` undoes it
    ");
    assert_eq!(project.text("new.txt"), "a\nc\n");
}

#[test]
fn a_rename_onto_a_file_is_asked_about_and_both_come_back() {
    let project = Project::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let answer = "```json // rename-file\n{ \"from\": \"a.txt\", \"to\": \"b.txt\" }\n```\n";
    relay_snapshot!(project.apply(answer), @"
    exit 13
    ----- stdout -----
    ▸ stdin                                                                   2 files  +1 −2
        D  a.txt  −1
        M  b.txt  +1 −1
      ! b.txt: the answer renames a.txt to this name, but a file with this name exists and would be replaced (overwrite)
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on: b.txt: the answer renames a.txt to this name, but a file with this name exists and would be replaced; nothing was changed
      `--allow overwrite` applies it without asking
    ");
    let ran = project.pipe(&["apply", "-", "-y", "--allow", "overwrite"], answer.as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!((project.text("b.txt").as_str(), project.path("a.txt").exists()), ("a\n", false));
    assert_eq!(project.relay(&["revert", "-y"]).code, 0);
    assert_eq!((project.text("a.txt"), project.text("b.txt")), ("a\n".to_owned(), "b\n".to_owned()));
}

#[test]
fn a_new_file_over_an_existing_one_is_asked_about() {
    let project = Project::new(&[("a.txt", "mine\n")]);
    let answer = "*** Begin Patch\n*** Add File: a.txt\n+theirs\n*** End Patch\n";
    relay_snapshot!(project.apply(answer), @"
    exit 13
    ----- stdout -----
    ▸ stdin                                                                    1 file  +1 −1
        M  a.txt  +1 −1
      ! a.txt: the answer creates this file, but it already exists with other content, which would be replaced (overwrite)
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on: a.txt: the answer creates this file, but it already exists with other content, which would be replaced; nothing was changed
      `--allow overwrite` applies it without asking
    ");
    assert_eq!(project.text("a.txt"), "mine\n");
}

#[test]
fn a_whole_file_is_merged_into_one_that_changed_after_it_was_shown() {
    let numbers: String = (1..=12).map(|line| format!("{line}\n")).collect();
    let project = Project::new(&[("m.txt", &numbers)]);
    assert_eq!(project.relay(&["prompt", "m.txt"]).code, 0);
    project.put("m.txt", numbers.replace("2\n3\n", "2 mine\n3\n").as_bytes());
    relay_snapshot!(project.apply(&whole("m.txt", &numbers.replace("7\n", "seven\n"))), @"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                    1 file  +1 −1
        M  m.txt  +1 −1
      · line 2 of the answer: m.txt: the file changed after it was shown, and both changes were put together
    ✓ applied change-1 · 1 file · `relay undo` undoes it
    ");
    assert_eq!(project.text("m.txt"), numbers.replace("2\n3\n", "2 mine\n3\n").replace("7\n", "seven\n"));

    project.put("m.txt", numbers.replace("2\n3\n", "2 mine\n3\n").as_bytes());
    relay_snapshot!(project.apply(&whole("m.txt", &numbers.replace("2\n3\n", "two\n3\n"))), @"
    exit 13
    ----- stdout -----
    ▸ stdin                                                                    1 file  +1 −1
        M  m.txt  +1 −1
      ! m.txt: the file changed after it was shown, and its change on line 2 is not in the answer (overwrite)
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on: m.txt: the file changed after it was shown, and its change on line 2 is not in the answer; nothing was changed
      `--allow overwrite` applies it without asking
    ");
}

#[test]
fn a_part_of_a_file_does_not_replace_it_unasked() {
    let file = "import os\n\n\ndef load(path):\n    return open(path).read()\n\n\ndef store(path, text):\n    open(path).write(text)\n\n\ndef main():\n    store(\"a\", load(\"b\"))\n";
    let project = Project::new(&[("m.py", file)]);
    let part = "def store(path, text):\n    open(path, \"w\").write(text)\n    open(path).write(text)\n";
    relay_snapshot!(project.apply(&whole("m.py", part)), @"
    exit 13
    ----- stdout -----
    ▸ stdin                                                                   1 file  +1 −11
        M  m.py  +1 −11
      ! m.py: the answer seems to have only a part of this file; the rest would be gone (fragment)
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on: m.py: the answer seems to have only a part of this file; the rest would be gone; nothing was changed
      `--allow fragment` applies it without asking
    ");
    assert_eq!(project.text("m.py"), file);
}

#[test]
fn lines_that_the_answer_left_out_are_kept() {
    let file: String =
        (1..=60).map(|line| format!("call_number({line}, \"a rather long line\")\n")).collect();
    let project = Project::new(&[("m.py", &file)]);
    let lines: Vec<&str> = file.lines().collect();
    let (top, middle) = (lines[..3].join("\n"), lines[30..33].join("\n"));
    let answer = format!(
        "{top}\n# ... existing code ...\n{middle}\nnew_call()\n{}\n# ... rest of the file\n",
        lines[33..36].join("\n")
    );
    relay_snapshot!(project.apply(&whole("m.py", &answer)), @"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                       1 file  +1
        M  m.py  +1
      · line 2 of the answer: m.py: lines that the answer left out were kept from the file
    ✓ applied change-1 · 1 file · `relay undo` undoes it
    ");
    assert_eq!(
        project.text("m.py"),
        [&lines[..33], &["new_call()"], &lines[33..], &[""]].concat().join("\n")
    );
}

#[test]
fn two_edits_far_apart_are_undone_around_a_later_one() {
    let text: String = (1..=8000).map(|line| format!("line {line}\n")).collect();
    let project = Project::new(&[("m.txt", &text)]);
    let answer = edit("m.txt", "line 10", "ten") + &edit("m.txt", "line 7990", "far");
    assert_eq!(project.apply(&answer).code, 0);
    project.put("m.txt", project.text("m.txt").replace("line 4000\n", "mine\n").as_bytes());
    relay_snapshot!(project.relay(&["revert", "-y"]), @"
    exit 0
    ----- stdout -----
    ✓ undone: edit m.txt · m.txt also has 1 later edit of yours: kept
      `relay redo` brings it back
    ");
    assert_eq!(project.text("m.txt"), text.replace("line 4000\n", "mine\n"));
}
