//! Input that nobody should have to send: each ends with a clear message, in bounded time.

use std::time::{Duration, Instant};

use crate::fixture::scratch_project::{Project, edit, whole};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

fn project() -> Project {
    Project::new(&[("a.txt", "one\ntwo\n")])
}

/// Far more than any of these takes, even on a busy machine without optimisation.
const LONG: Duration = Duration::from_secs(20);

#[test]
fn empty_and_blank_answers() {
    relay_snapshot!(project().preview(""), @"
    exit 3
    ----- stderr -----
    ✗ the answer is empty; nothing was changed
      in stdin
      save the model's whole answer and try again
    ");
    relay_snapshot!(project().preview(" \n\n\t\n"), @"
    exit 3
    ----- stderr -----
    ✗ the answer is empty; nothing was changed
      in stdin
      save the model's whole answer and try again
    ");
}

#[test]
fn binary_answers() {
    let project = project();
    let mut transcript = Transcript::default();
    for (what, bytes) in [
        ("PNG", b"\x89PNG\r\n\x1a\n\0\0".as_slice()),
        ("UTF-16", b"\xff\xfeh\0i\0"),
        ("NUL", b"text\nwith a \0 NUL"),
        ("Latin-1", b"caf\xe9"),
    ] {
        transcript.add(what, &project.pipe(&["preview", "-"], bytes));
    }
    relay_snapshot!(transcript, @"
    # PNG
    exit 3
    ----- stderr -----
    ✗ the answer is a PNG image, not UTF-8 text; nothing was changed
      in stdin
      save the answer as plain UTF-8 text

    # UTF-16
    exit 3
    ----- stderr -----
    ✗ the answer is UTF-16 text, not UTF-8 text; nothing was changed
      in stdin
      save the answer as plain UTF-8 text

    # NUL
    exit 3
    ----- stderr -----
    ✗ the answer is binary: there is a NUL byte in line 2; nothing was changed
      in stdin
      save the answer as plain UTF-8 text

    # Latin-1
    exit 3
    ----- stderr -----
    ✗ the answer is not UTF-8: line 1 has the byte 0xe9; nothing was changed
      in stdin
      save the answer as plain UTF-8 text
    ");
}

#[test]
fn an_answer_without_a_change() {
    let project = project();
    relay_snapshot!(project.preview("Sure, I can help with that.\n"), @"
    exit 3
    ----- stderr -----
    ✗ no file changes found in this text                                 nothing was changed
      no code block names a file
      copy the model's whole answer, with its code blocks; `relay prompt` prints the instructions for it
    ");
    // Unread blocks are listed.
    relay_snapshot!(project.preview("Run this:\n\n```sh\nnpm install\n```\n"), @"
    exit 3
    ----- stderr -----
    ✗ no file changes found in this text                                 nothing was changed
      the only code block names no file
      · not read, line 3 of the answer: this ```sh block names no file; treated as an example
      copy the model's whole answer, with its code blocks; `relay prompt` prints the instructions for it
    ");
}

#[test]
fn ten_megabytes_of_backticks() {
    let project = project();
    let ticks = "`".repeat(10 << 20);
    let start = Instant::now();
    relay_snapshot!(project.preview(&ticks), @"
    exit 3
    ----- stderr -----
    ✗ the answer is longer than the limit `text` (4194304 bytes); nothing was changed
      in stdin
      raise it with `--limit text=8M`, or with `limits.text` in the configuration, if the answer really is that large
    ");
    let ran = project.pipe(&["preview", "-", "--limit", "text=16M"], ticks.as_bytes());
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(start.elapsed() < LONG);
}

#[test]
fn a_hundred_thousand_blocks() {
    let project = project();
    let start = Instant::now();
    let blocks = "```\nx\n```\n".repeat(100_000);
    let ran = project.preview(&blocks);
    relay_snapshot!(ran, @"
    exit 3
    ----- stderr -----
    ✗ no file changes found in this text                                 nothing was changed
      none of the 1000 code blocks names a file
      · 99000 more blocks were not read and are not listed
      · not read, line 1 of the answer: this block names no file; treated as an example
      · not read, line 4 of the answer: this block names no file; treated as an example
      · not read, line 7 of the answer: this block names no file; treated as an example
      · not read, line 10 of the answer: this block names no file; treated as an example
      · not read, line 13 of the answer: this block names no file; treated as an example
      · not read, line 16 of the answer: this block names no file; treated as an example
      · not read, line 19 of the answer: this block names no file; treated as an example
      · not read, line 22 of the answer: this block names no file; treated as an example
      · not read, line 25 of the answer: this block names no file; treated as an example
      · not read, line 28 of the answer: this block names no file; treated as an example
      · not read, line 31 of the answer: this block names no file; treated as an example
      · not read, line 34 of the answer: this block names no file; treated as an example
      · and 988 more
      copy the model's whole answer, with its code blocks; `relay prompt` prints the instructions for it
    ");
    assert!(ran.err.len() < 10_000, "the list is cut: {} bytes", ran.err.len());
    let files: String = (0..100_000).map(|n| format!("```js // f{n}.js\nx\n```\n")).collect();
    relay_snapshot!(project.pipe(&["preview", "-"], files.as_bytes()), @"
    exit 3
    ----- stderr -----
    ✗ the answer changes more files than the limit `files` allows, which is 200; nothing was changed
      raise it with `--limit files=5000`, or with `limits.files` in the configuration, if the answer really is that large
    ");
    assert!(start.elapsed() < LONG);
}

#[test]
fn what_is_never_closed() {
    let project = project();
    let mut transcript = Transcript::default();
    for answer in [
        "```js // a.txt search-replace\n<<<<<<< SEARCH\ntwo\n",
        "```js // a.txt search-replace\n<<<<<<< SEARCH\ntwo\n=======\n2\n",
        "*** Begin Patch\n*** Update File: a.txt\n",
        "```json // rename-file\n{\"from\": \"a.txt\"",
        "```diff\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2",
    ] {
        transcript.add(&format!("{answer:?}"), &project.preview(answer));
    }
    relay_snapshot!(transcript, @r#"
    # "```js // a.txt search-replace\n<<<<<<< SEARCH\ntwo\n"
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 2 of the answer
        the SEARCH block that begins here has no `>>>>>>> REPLACE`; the answer may be cut off
      next: `... | relay preview - --repair` writes a prompt for your model

    # "```js // a.txt search-replace\n<<<<<<< SEARCH\ntwo\n=======\n2\n"
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 2 of the answer
        the SEARCH block that begins here has no `>>>>>>> REPLACE`; the answer may be cut off
      next: `... | relay preview - --repair` writes a prompt for your model

    # "*** Begin Patch\n*** Update File: a.txt\n"
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 1 of the answer
        the edit that begins here has no end; the answer may be cut off
      next: `... | relay preview - --repair` writes a prompt for your model

    # "```json // rename-file\n{\"from\": \"a.txt\""
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 1 of the answer
        a rename needs JSON with `from` and `to`: EOF while parsing an object at line 1 column 16
      next: `... | relay preview - --repair` writes a prompt for your model

    # "```diff\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2"
    exit 3
    ----- stderr -----
    ✗ refused: 1 block cannot be read                                    nothing was changed
      line 4 of the answer
        the hunk has a header but no lines; the answer may be cut off here
      next: `... | relay preview - --repair` writes a prompt for your model
    "#);
}

#[test]
fn broken_and_explosive_yaml() {
    let project = project();
    let change = edit("a.txt", "two", "2");
    let bomb: String =
        (1..30).map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}, *a{0}, *a{0}]\n", n - 1)).collect();
    let start = Instant::now();
    for yaml in [
        "projectId: [unclosed\nuuid: }{".to_string(),
        format!("projectId: x\na0: &a0 [x, x]\n{bomb}gitCommitMsg: *a29\n"),
        "projectId: !!python/object/apply:os.system [id]\n".to_string(),
        format!("projectId: x\ngitCommitMsg: {}{}\n", "[".repeat(50_000), "]".repeat(50_000)),
        format!("projectId: x\n? {}\n", "- ".repeat(50_000)),
    ] {
        let ran = project.preview(&format!("{change}\n```yaml\n{yaml}\n```\n"));
        assert!(ran.code == 0 || ran.code == 3, "{yaml:.60}: {ran:?}");
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
    }
    assert!(start.elapsed() < LONG);
}

#[test]
fn paths_that_lead_elsewhere() {
    let project = project();
    let mut reasons = String::new();
    for path in [
        "/etc/passwd",
        "../outside.txt",
        "a/../../b.txt",
        "..\\outside.txt",
        "~/x.txt",
        "C:\\x.txt",
        "c:x.txt",
        "\\\\server\\share\\x.txt",
        ".git/config",
        ".GIT/hooks/pre-commit",
        "sub/.git/config",
        ".git./config",
        "git~1/config",
        ".\u{ff47}it/config",
        ".g\u{200c}it/config",
        ".relaycode/lock",
        "aux.txt",
        "src/nul.txt",
        "com1.rs",
        "dir./x.txt",
        "x?.txt",
    ] {
        let [edited, written] = [edit(path, "two", "2"), whole(path, "x\n")].map(|answer| {
            let ran = project.preview(&answer);
            assert_eq!((ran.code, ran.err.lines().count()), (3, 4), "{path:?}: {ran:?}");
            // The place in the answer, and the reason.
            let said: Vec<&str> = ran.err.lines().skip(1).take(2).map(str::trim).collect();
            said.join(": ")
        });
        assert_eq!(edited, written, "{path:?}");
        reasons += &format!("{edited}\n");
    }
    relay_snapshot!(reasons, @r"
    line 1 of the answer: `/etc/passwd` is absolute; paths are relative to the project
    line 1 of the answer: `../outside.txt` contains `..`; paths stay inside the project
    line 1 of the answer: `a/../../b.txt` contains `..`; paths stay inside the project
    line 1 of the answer: `..\\outside.txt` contains `..`; paths stay inside the project
    line 1 of the answer: `~/x.txt` is absolute; paths are relative to the project
    line 1 of the answer: `C:\\x.txt` names a Windows drive or stream; paths are relative to the project
    line 1 of the answer: `c:x.txt` names a Windows drive or stream; paths are relative to the project
    line 1 of the answer: `\\\\server\\share\\x.txt` is absolute; paths are relative to the project
    line 1 of the answer: `.git/config` is inside `.git`, which changes may not touch
    line 1 of the answer: `.GIT/hooks/pre-commit` is inside `.git`, which changes may not touch
    line 1 of the answer: `sub/.git/config` is inside `.git`, which changes may not touch
    line 1 of the answer: `.git./config` is inside `.git`, which changes may not touch
    line 1 of the answer: `git~1/config` is inside `.git`, which changes may not touch
    line 1 of the answer: `.ｇit/config` is inside `.git`, which changes may not touch
    line 1 of the answer: `.g\u{200c}it/config` contains the invisible character U+200C, which a path cannot have
    line 1 of the answer: `.relaycode/lock` is inside `.relaycode`, which changes may not touch
    line 1 of the answer: `aux.txt` uses a name that Windows reserves for a device
    line 1 of the answer: `src/nul.txt` uses a name that Windows reserves for a device
    line 1 of the answer: `com1.rs` uses a name that Windows reserves for a device
    line 1 of the answer: `dir./x.txt` has a part that begins or ends with a space, or ends with a dot; some systems cannot keep such a name
    line 1 of the answer: `x?.txt` contains `?`, which a path cannot have
    ");
}

#[test]
fn names_that_are_equal_but_for_case() {
    let project = Project::new(&[("README.md", "x\n")]);
    relay_snapshot!(project.preview(&whole("readme.md", "y\n")), @"
    exit 3
    ----- stderr -----
    ✗ refused: 1 change does not fit the project                         nothing was changed
      readme.md (line 2 of the answer)
        README.md differs only in case or in how accents are encoded; some systems cannot keep both
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
    relay_snapshot!(project.preview(&(whole("new.txt", "1\n") + &whole("NEW.txt", "2\n"))), @"
    exit 3
    ----- stderr -----
    ✗ refused: 1 change does not fit the project                         nothing was changed
      NEW.txt (line 5 of the answer)
        new.txt differs only in case or in how accents are encoded; some systems cannot keep both
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
    let composed_and_not = whole("d/caf\u{e9}", "1\n") + &whole("d/cafe\u{301}", "2\n");
    relay_snapshot!(project.preview(&composed_and_not), @"
    exit 3
    ----- stderr -----
    ✗ refused: 1 change does not fit the project                         nothing was changed
      d/café (line 5 of the answer)
        d/café differs only in case or in how accents are encoded; some systems cannot keep both
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
}

#[cfg(unix)]
#[test]
fn links_out_of_the_project() {
    let project = project();
    std::os::unix::fs::symlink("/etc/hostname", project.path("link.txt")).unwrap();
    std::os::unix::fs::symlink("/etc", project.path("etc")).unwrap();
    relay_snapshot!(project.preview(&whole("link.txt", "x\n")), @"
    exit 3
    ----- stderr -----
    ✗ refused: 1 change does not fit the project                         nothing was changed
      link.txt (line 2 of the answer)
        this is a symbolic link, not a file
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
    relay_snapshot!(project.preview(&whole("etc/hostname", "x\n")), @"
    exit 3
    ----- stderr -----
    ✗ refused: 1 change does not fit the project                         nothing was changed
      etc/hostname (line 2 of the answer)
        this path leads through a symbolic link
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
    relay_snapshot!(project.preview(&whole("etc/new", "x\n")), @"
    exit 3
    ----- stderr -----
    ✗ refused: 1 change does not fit the project                         nothing was changed
      etc/new (line 2 of the answer)
        this path leads through a symbolic link
      next: `... | relay preview - --repair` writes a prompt for your model
    ");
}
