//! Input that nobody should have to send: each ends with a clear message, in bounded time.

use std::time::{Duration, Instant};

use crate::fixture::scratch_project::{Project, Ran, edit, whole};

/// Refused, with `part` in the message, and nothing unexpected.
fn refused(ran: &Ran, part: &str) {
    assert_eq!(ran.code, 3, "{part}: {ran:?}");
    assert!(ran.err.contains(part), "{part:?} is missing in\n{}", ran.err);
    assert!(ran.err.contains("nothing was changed"), "{}", ran.err);
}

fn project() -> Project {
    Project::new(&[("a.txt", "one\ntwo\n")])
}

/// Far more than any of these takes, even on a busy machine without optimisation.
const LONG: Duration = Duration::from_secs(20);

#[test]
fn empty_and_blank_answers() {
    refused(&project().preview(""), "the answer is empty");
    refused(&project().preview(" \n\n\t\n"), "the answer is empty");
}

#[test]
fn binary_answers() {
    let project = project();
    let preview = |bytes: &[u8]| project.pipe(&["preview", "-"], bytes);
    refused(&preview(b"\x89PNG\r\n\x1a\n\0\0"), "a PNG image");
    refused(&preview(b"\xff\xfeh\0i\0"), "UTF-16 text");
    refused(&preview(b"text\nwith a \0 NUL"), "a NUL byte in line 2");
    refused(&preview(b"caf\xe9"), "not UTF-8: line 1 has the byte 0xe9");
}

#[test]
fn an_answer_without_a_change() {
    let project = project();
    refused(&project.preview("Sure, I can help with that.\n"), "nothing to do");
    let ran = project.preview("Run this:\n\n```sh\nnpm install\n```\n");
    refused(&ran, "nothing to do");
    assert!(ran.err.contains("line 3 of the answer"), "unread blocks are listed: {}", ran.err);
}

#[test]
fn ten_megabytes_of_backticks() {
    let project = project();
    let ticks = "`".repeat(10 << 20);
    let start = Instant::now();
    refused(&project.preview(&ticks), "limit `text`");
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
    refused(&ran, "nothing to do");
    assert!(ran.err.len() < 10_000, "the list is cut: {} bytes", ran.err.len());
    let files: String = (0..100_000).map(|n| format!("```js // f{n}.js\nx\n```\n")).collect();
    let ran = project.pipe(&["preview", "-"], files.as_bytes());
    refused(&ran, "limit `files`");
    assert!(start.elapsed() < LONG);
}

#[test]
fn what_is_never_closed() {
    let project = project();
    for answer in [
        "```js // a.txt search-replace\n<<<<<<< SEARCH\ntwo\n",
        "```js // a.txt search-replace\n<<<<<<< SEARCH\ntwo\n=======\n2\n",
        "*** Begin Patch\n*** Update File: a.txt\n",
        "```json // rename-file\n{\"from\": \"a.txt\"",
        "```diff\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2",
    ] {
        let ran = project.preview(answer);
        assert_eq!(ran.code, 3, "{answer:?}: {ran:?}");
        assert!(ran.err.contains("of the answer"), "it names the line: {}", ran.err);
    }
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
        for answer in [edit(path, "two", "2"), whole(path, "x\n")] {
            let ran = project.preview(&answer);
            assert_eq!(ran.code, 3, "{path:?}: {ran:?}");
            assert!(
                ran.err.contains("line 1 of the answer") || ran.err.contains("line 2 of the answer"),
                "{path:?}: {}",
                ran.err
            );
        }
    }
}

#[test]
fn names_that_are_equal_but_for_case() {
    let project = Project::new(&[("README.md", "x\n")]);
    let ran = project.preview(&whole("readme.md", "y\n"));
    refused(&ran, "README.md");
    let ran = project.preview(&(whole("new.txt", "1\n") + &whole("NEW.txt", "2\n")));
    assert_eq!(ran.code, 3, "{ran:?}");
    let ran = project.preview(&(whole("d/caf\u{e9}", "1\n") + &whole("d/cafe\u{301}", "2\n")));
    assert_eq!(ran.code, 3, "{ran:?}");
}

#[cfg(unix)]
#[test]
fn links_out_of_the_project() {
    let project = project();
    std::os::unix::fs::symlink("/etc/hostname", project.path("link.txt")).unwrap();
    std::os::unix::fs::symlink("/etc", project.path("etc")).unwrap();
    refused(&project.preview(&whole("link.txt", "x\n")), "symbolic link");
    refused(&project.preview(&whole("etc/hostname", "x\n")), "symbolic link");
    refused(&project.preview(&whole("etc/new", "x\n")), "symbolic link");
}
