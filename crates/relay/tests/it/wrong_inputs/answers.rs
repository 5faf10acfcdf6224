//! Answers that are not there, cannot be read, or change nothing.

use std::fs;
use std::os::unix::fs::symlink;

use super::{project, typed};
use crate::fixture::scratch_project::{Project, edit};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

#[test]
fn files_that_hold_no_answer() {
    let project = project();
    fs::create_dir(project.path("folder")).unwrap();
    project.put("empty.md", b"");
    project.put("blank.md", b" \n\n");
    project.put("image.md", b"\x89PNG\r\n\x1a\n\0\0");
    project.put("latin.md", b"caf\xe9\n");
    project.put("nul.md", b"one\ntwo \0\n");
    project.put("long.md", &vec![b'x'; 5 << 20]);
    project.put("prose.md", b"Sure, I can help with that.\n");
    project.put("shell.md", b"Run this:\n\n```sh\nnpm install\n```\n");
    symlink("missing.md", project.path("link.md")).unwrap();
    let lines = [
        "apply missing.md",
        "apply folder",
        "apply empty.md",
        "apply blank.md",
        "apply image.md",
        "apply latin.md",
        "apply nul.md",
        "apply long.md",
        "apply prose.md",
        "apply shell.md",
        "apply link.md",
        "apply a.txt/answer.md",
        "apply /dev/null",
    ];
    relay_snapshot!(typed(&project, &lines), @"
    # relay apply missing.md
    exit 2
    ----- stderr -----
    ✗ there is no file missing.md
      name the file that holds the answer, or `-` to read it from a pipe

    # relay apply folder
    exit 2
    ----- stderr -----
    ✗ folder is a directory, not an answer
      name the file that holds the answer, or `-` to read it from a pipe

    # relay apply empty.md
    exit 3
    ----- stderr -----
    ✗ the answer is empty; nothing was changed
      in empty.md
      save the model's whole answer and try again

    # relay apply blank.md
    exit 3
    ----- stderr -----
    ✗ the answer is empty; nothing was changed
      in blank.md
      save the model's whole answer and try again

    # relay apply image.md
    exit 3
    ----- stderr -----
    ✗ the answer is a PNG image, not UTF-8 text; nothing was changed
      in image.md
      save the answer as plain UTF-8 text

    # relay apply latin.md
    exit 3
    ----- stderr -----
    ✗ the answer is not UTF-8: line 1 has the byte 0xe9; nothing was changed
      in latin.md
      save the answer as plain UTF-8 text

    # relay apply nul.md
    exit 3
    ----- stderr -----
    ✗ the answer is binary: there is a NUL byte in line 2; nothing was changed
      in nul.md
      save the answer as plain UTF-8 text

    # relay apply long.md
    exit 3
    ----- stderr -----
    ✗ the answer is longer than the limit `text` (4194304 bytes); nothing was changed
      in long.md
      raise it with `--limit text=8M`, or with `limits.text` in the configuration, if the answer really is that large

    # relay apply prose.md
    exit 3
    ----- stderr -----
    ✗ no file changes found in this text                                 nothing was changed
      no code block names a file
      copy the model's whole answer, with its code blocks; `relay prompt` prints the instructions for it

    # relay apply shell.md
    exit 3
    ----- stderr -----
    ✗ no file changes found in this text                                 nothing was changed
      the only code block names no file
      · not read, line 3 of the answer: this ```sh block names no file; treated as an example
      copy the model's whole answer, with its code blocks; `relay prompt` prints the instructions for it

    # relay apply link.md
    exit 2
    ----- stderr -----
    ✗ there is no file link.md
      name the file that holds the answer, or `-` to read it from a pipe

    # relay apply a.txt/answer.md
    exit 2
    ----- stderr -----
    ✗ a.txt/answer.md cannot be read: Not a directory (os error 20)
      name the file that holds the answer, or `-` to read it from a pipe

    # relay apply /dev/null
    exit 3
    ----- stderr -----
    ✗ the answer is empty; nothing was changed
      in /dev/null
      save the model's whole answer and try again
    ");
}

#[test]
fn pipes_and_clipboards_with_nothing_in_them() {
    let project = project();
    let mut transcript = Transcript::default();
    transcript.add("relay apply - < /dev/null", &project.relay(&["apply", "-"]));
    transcript.add("printf '' | relay apply -", &project.pipe(&["apply", "-"], b""));
    transcript.add("relay apply, without a desktop", &project.relay(&["apply"]));
    transcript.add("relay watch, without a desktop or a terminal", &project.relay(&["watch"]));
    relay_snapshot!(transcript, @"
    # relay apply - < /dev/null
    exit 3
    ----- stderr -----
    ✗ the answer is empty; nothing was changed
      in stdin
      save the model's whole answer and try again

    # printf '' | relay apply -
    exit 3
    ----- stderr -----
    ✗ the answer is empty; nothing was changed
      in stdin
      save the model's whole answer and try again

    # relay apply, without a desktop
    exit 2
    ----- stderr -----
    ✗ no answer was given, and the clipboard cannot be read: there is no desktop here (neither WAYLAND_DISPLAY nor DISPLAY is set)
      name the file that holds the answer, or `-` to read it from a pipe

    # relay watch, without a desktop or a terminal
    exit 2
    ----- stderr -----
    ✗ this project is not set up yet
      `relay init` sets it up
    ");
}

#[test]
fn answers_that_do_not_fit_the_files() {
    let project = project();
    let mut transcript = Transcript::default();
    for (what, answer) in [
        ("text that is nowhere", edit("a.txt", "seven", "7")),
        ("a file that is not there", edit("gone.txt", "one", "1")),
        ("a file that is named in another case", edit("A.txt", "one", "1")),
        ("the same text before and after", edit("a.txt", "one", "one")),
        ("cut off", "```text // a.txt search-replace\n<<<<<<< SEARCH\ntwo\n".to_string()),
        ("nothing to look for", edit("a.txt", "", "1")),
        ("a rename of a file that is not there", rename("gone.txt", "new.txt")),
        ("a rename onto another file", rename("a.txt", "src/b.txt")),
        (
            "a deletion of a file that is not there",
            "```text // gone.txt\n//TODO: delete this file\n```\n".to_string(),
        ),
    ] {
        transcript.add(what, &project.apply(&answer));
    }
    relay_snapshot!(transcript, @"
    # text that is nowhere
    exit 3
    ----- stderr -----
    ✗ refused: the edit does not match                                   nothing was changed
      a.txt, edit 1 (line 2 of the answer)
        looked for   seven
        nothing in the file looks like it
      next: `... | relay preview - --repair` writes a prompt for your model

    # a file that is not there
    exit 3
    ----- stderr -----
    ✗ refused: 1 change does not fit the project                         nothing was changed
      gone.txt (line 2 of the answer)
        the file does not exist, so there is nothing to edit; send its whole content to create it
      next: `... | relay preview - --repair` writes a prompt for your model

    # a file that is named in another case
    exit 3
    ----- stderr -----
    ✗ refused: 1 change does not fit the project                         nothing was changed
      A.txt (line 2 of the answer)
        a.txt differs only in case or in how accents are encoded; some systems cannot keep both
      next: `... | relay preview - --repair` writes a prompt for your model

    # the same text before and after
    exit 0
    ----- stdout -----
    ▸ stdin                                                                          0 files
        =  a.txt     1 already in
    ✓ everything is already in

    # cut off
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 2 of the answer
        the SEARCH block that begins here has no `>>>>>>> REPLACE`; the answer may be cut off
      next: `... | relay preview - --repair` writes a prompt for your model

    # nothing to look for
    exit 3
    ----- stderr -----
    ✗ refused: the edit does not match                                   nothing was changed
      a.txt, edit 1 (line 2 of the answer)
        looked for   (an empty line)
        nothing in the file looks like it
      next: `... | relay preview - --repair` writes a prompt for your model

    # a rename of a file that is not there
    exit 3
    ----- stderr -----
    ✗ refused: 1 change does not fit the project                         nothing was changed
      gone.txt (line 1 of the answer)
        the answer renames this file to new.txt, but it does not exist
      next: `... | relay preview - --repair` writes a prompt for your model

    # a rename onto another file
    exit 13
    ----- stdout -----
    ▸ stdin                                                                   2 files  +2 −3
        D  a.txt      −2
        M  src/b.txt  +2 −1
      ! src/b.txt: the answer renames a.txt to this name, but a file with this name exists and would be replaced (overwrite)
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on: src/b.txt: the answer renames a.txt to this name, but a file with this name exists and would be replaced; nothing was changed
      `--allow overwrite` applies it without asking

    # a deletion of a file that is not there
    exit 3
    ----- stderr -----
    ✗ refused: 1 change does not fit the project                         nothing was changed
      gone.txt (line 1 of the answer)
        the answer deletes this file, but it does not exist
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
}

#[test]
fn text_that_is_there_more_than_once() {
    let project = Project::new(&[("a.txt", "x\nend\nx\nend\n")]);
    relay_snapshot!(project.apply(&edit("a.txt", "x", "y")), @"
    exit 3
    ----- stderr -----
    ✗ refused: the edit fits in several places                           nothing was changed
      a.txt, edit 1 (line 2 of the answer)
        looked for   x
        is there 2 times, at lines 1, 3; more surrounding lines would tell which
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
}

#[test]
fn nobody_is_there_to_say_yes() {
    let project = project();
    relay_snapshot!(project.pipe(&["apply", "-"], edit("a.txt", "one", "1").as_bytes()), @"
    exit 13
    ----- stdout -----
    ▸ stdin                                                                    1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on: the project has no configuration; nothing was changed
      `-y` applies it without asking
    ");
}

fn rename(from: &str, to: &str) -> String {
    format!("```json // rename-file\n{{\"from\": \"{from}\", \"to\": \"{to}\"}}\n```\n")
}
