//! The laws of a diff: applied it gives the plan's result, reversed it leads back.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use proptest::prelude::*;

use super::*;

fn file(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> FilePlan {
    let (before, after) = (before.map(<[u8]>::to_vec), after.map(<[u8]>::to_vec));
    let (added, removed) =
        count_changed_lines(before.as_deref().unwrap_or_default(), after.as_deref().unwrap_or_default());
    FilePlan {
        path: RelPath::parse(path).unwrap(),
        renamed_from: None,
        change: match (&before, &after) {
            (None, _) => FileChangeKind::Added,
            (_, None) => FileChangeKind::Deleted,
            _ if before == after => FileChangeKind::Unchanged,
            _ => FileChangeKind::Modified,
        },
        mode_before: before.is_some().then_some(GitFileMode::Regular),
        mode_after: after.is_some().then_some(GitFileMode::Regular),
        before,
        after,
        added,
        removed,
        dialect: None,
        hunks: Vec::new(),
    }
}

fn plan(files: Vec<FilePlan>) -> Plan {
    Plan { files, ..Plan::default() }
}

fn renamed(from: &str, to: &str, before: &[u8], after: &[u8]) -> FilePlan {
    FilePlan {
        renamed_from: Some(RelPath::parse(from).unwrap()),
        change: FileChangeKind::Renamed,
        ..file(to, Some(before), Some(after))
    }
}

/// One plan with every kind of change that git knows.
fn everything() -> Plan {
    let mut mode = file("run.sh", Some(b"#!/bin/sh\n"), Some(b"#!/bin/sh\n"));
    mode.change = FileChangeKind::Modified;
    mode.mode_after = Some(GitFileMode::Executable);
    let mut script = file("new tool.sh", None, Some(b"#!/bin/sh\necho\n"));
    script.mode_after = Some(GitFileMode::Executable);
    plan(vec![
        file(
            "a.txt",
            Some(b"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"),
            Some(b"1\n2\nthree\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n"),
        ),
        file("no newline.txt", Some(b"a\nb"), Some(b"a\nc\n")),
        file("loses-newline", Some(b"a\nb\n"), Some(b"a\nb")),
        file("crlf.txt", Some(b"a\r\nb\r\nc\r\n"), Some(b"a\r\nB\nc\r\n")),
        file("latin1.txt", Some(b"caf\xe9\nx\n"), Some(b"caf\xe9\ny\n")),
        file("créme/brûlée.txt", Some(b"x\n"), Some(b"y\n")),
        file("dir/new.txt", None, Some(b"hello\nworld")),
        file("dir/empty.txt", None, Some(b"")),
        file("gone.txt", Some(b"x\ny\n"), None),
        file("gone-empty", Some(b""), None),
        file("filled", Some(b""), Some(b"now\n")),
        file("emptied", Some(b"then\n"), Some(b"")),
        file(
            "looks-like.diff",
            Some(b"--- a/x\n+++ b/x\n-- q\n"),
            Some(b"--- a/x\n+++ b/x\n++ q\n\\ No newline\n"),
        ),
        renamed("old name.txt", "new/name b/y.txt", b"same\n", b"same\n"),
        renamed("old2.txt", "moved.txt", b"1\n2\n3\n4\n5\n", b"1\n2\n3\n4\nfive\n"),
        mode,
        script,
    ])
}

/// Removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("relay-diff-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        Scratch(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn git_apply(dir: &Scratch, patch: &[u8]) {
    let name = dir.0.join(".patch");
    fs::write(&name, patch).unwrap();
    let out = Command::new("git")
        .args(["-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", ".patch"])
        .env("GIT_CEILING_DIRECTORIES", std::env::temp_dir())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .current_dir(&dir.0)
        .output()
        .unwrap();
    let _ = fs::remove_file(&name);
    let said = String::from_utf8_lossy(&out.stderr);
    let patch = String::from_utf8_lossy(patch);
    assert!(out.status.success(), "{said}\n{patch}");
}

fn git_is_there() -> bool {
    let found = Command::new("git").arg("--version").output().is_ok();
    if !found {
        eprintln!("git is not installed: this test checked nothing");
    }
    found
}

fn put(dir: &Scratch, path: &RelPath, bytes: Option<&Vec<u8>>) {
    let Some(bytes) = bytes else { return };
    let full = dir.0.join(path.as_str());
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    fs::write(full, bytes).unwrap();
}

fn holds(dir: &Scratch, path: &RelPath, bytes: Option<&Vec<u8>>) {
    let there = fs::read(dir.0.join(path.as_str())).ok();
    assert_eq!(there.as_ref(), bytes, "{path}");
}

fn check_with_git(plan: &Plan, name: &str) {
    let dir = Scratch::new(name);
    let old_name = |f: &FilePlan| f.renamed_from.clone().unwrap_or(f.path.clone());
    for f in &plan.files {
        put(&dir, &old_name(f), f.before.as_ref());
    }
    git_apply(&dir, &git_patch(plan));
    for f in &plan.files {
        holds(&dir, &f.path, f.after.as_ref());
        if f.renamed_from.is_some() {
            holds(&dir, &old_name(f), None);
        }
    }
    git_apply(&dir, &reverse_git_patch(plan));
    for f in &plan.files {
        holds(&dir, &old_name(f), f.before.as_ref());
    }
}

#[test]
fn git_applies_every_kind_of_change_and_its_reverse() {
    if git_is_there() {
        check_with_git(&everything(), "every");
    }
}

#[cfg(unix)]
#[test]
fn git_sets_the_modes_that_the_plan_names() {
    use std::os::unix::fs::PermissionsExt;
    if !git_is_there() {
        return;
    }
    let plan = everything();
    let dir = Scratch::new("modes");
    for f in &plan.files {
        put(&dir, f.renamed_from.as_ref().unwrap_or(&f.path), f.before.as_ref());
    }
    git_apply(&dir, &git_patch(&plan));
    for (path, executable) in [("run.sh", true), ("new tool.sh", true), ("a.txt", false)] {
        let mode = fs::metadata(dir.0.join(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o100 != 0, executable, "{path}");
    }
}

#[test]
fn binary_content_is_named_and_measured() {
    let change = file("x.png", Some(b"\x89PNG\0\x01"), Some(b"\x89PNG\0\x02\x03"));
    assert_eq!(diff_file(&change).content, DiffContent::Binary { bytes_before: 6, bytes_after: 7 });
    let text = String::from_utf8(git_patch(&plan(vec![change]))).unwrap();
    assert!(text.ends_with("Binary files a/x.png and b/x.png differ\n"), "{text}");
}

#[test]
fn a_change_of_line_endings_alone_is_recognised() {
    let change = file("a", Some(b"x\r\ny\r\n"), Some(b"x\ny\n"));
    let DiffContent::Text { endings: Some(endings), .. } = diff_file(&change).content else {
        panic!("no change of endings");
    };
    let expected =
        LineEndingChange { lines: 2, from: FileLineEnding::CrLf, to: FileLineEnding::Lf, only: true };
    assert_eq!(endings, expected);
    let both = file("a", Some(b"x\r\ny\r\nz\n"), Some(b"x\ny\nw\n"));
    let DiffContent::Text { endings: Some(endings), .. } = diff_file(&both).content else {
        panic!("no change of endings");
    };
    assert!(!endings.only);
}

#[test]
fn other_encodings_are_shown_decoded() {
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let (before, after) = (wide("\u{feff}a\nb\nc\n"), wide("\u{feff}a\nB\nc\n"));
    let change = file("a", Some(&before), Some(&after));
    assert_eq!((change.added, change.removed), (1, 1));
    let DiffContent::Text { hunks, .. } = diff_file(&change).content else {
        panic!("not text");
    };
    assert_eq!(hunks[0].lines[1].text, "b");
    assert_eq!(hunks[0].lines[2].text, "B");
    assert_eq!(count_changed_lines(b"a\rb\rc\r", b"a\rB\rc\r"), (1, 1));
    assert_eq!(count_changed_lines(b"a\0\n\x01b\n", b"a\0\n"), (0, 0));
}

#[test]
fn lines_are_numbered_on_both_sides() {
    let change = file("a", Some(b"1\n2\n3\n"), Some(b"1\n3\n4\n"));
    let DiffContent::Text { hunks, .. } = diff_file(&change).content else {
        panic!("not text");
    };
    let shown: Vec<String> = hunks[0]
        .lines
        .iter()
        .map(|l| format!("{}{} {:?} {:?}", l.kind.sign(), l.text, l.old, l.new))
        .collect();
    assert_eq!(shown, [" 1 Some(1) Some(1)", "-2 Some(2) None", " 3 Some(3) Some(2)", "+4 None Some(3)",]);
}

#[test]
fn a_huge_rewrite_is_compared_as_far_as_the_bound() {
    let text = |seed: u64, lines: usize| {
        let mut state = seed;
        let mut out = Vec::new();
        for _ in 0..lines {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            out.extend_from_slice(&[b'a' + (state >> 60) as u8 % 7, b'\n']);
        }
        out
    };
    let (a, b) = (text(1, 4_000), text(2, 4_000));
    let (added, removed) = count_changed_lines(&a, &b);
    assert!(added < 4_000, "equal lines are still found");
    assert_eq!(added, removed);
    let (a, b) = (text(1, 500_000), text(2, 500_000));
    let (added, removed) = count_changed_lines(&a, &b);
    assert!(added <= 500_000 && removed == added);
}

/// Applies a diff by its own numbers, so that each of them is checked.
fn apply(before: &str, hunks: &[DiffHunk]) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let mut out = String::new();
    let mut at = 0;
    for hunk in hunks {
        let start = if hunk.old_lines == 0 { hunk.old_start } else { hunk.old_start - 1 };
        out.extend(old[at..start].iter().copied());
        at = start + hunk.old_lines;
        for line in &hunk.lines {
            if line.kind == DiffLineKind::Removed {
                continue;
            }
            out.push_str(&line.text);
            out.push_str(match line.ending {
                FileLineEnding::Lf => "\n",
                FileLineEnding::CrLf => "\r\n",
                FileLineEnding::Cr => "\r",
                FileLineEnding::None => "",
            });
        }
    }
    out.extend(old[at..].iter().copied());
    out
}

fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["a\n", "b\n", "c\r\n", "\n", "a", "b\r\n", "}\n", "-- x\n"]);
    prop::collection::vec(line, 0..30).prop_map(|lines| lines.concat())
}

/// One kind of line ending: an answer's text takes on the file's own.
fn lf_text() -> impl Strategy<Value = String> {
    text().prop_map(|text| text.replace('\r', ""))
}

/// Reads a patch as an answer and plans it against `before`.
fn replan(patch: &[u8], before: &str) -> Result<Option<Vec<u8>>, String> {
    use crate::plan::tree::MemoryTree;
    use crate::proposal::limits::PlanLimits;
    use crate::{plan, response};
    let mut tree = MemoryTree::default();
    tree.insert(RelPath::parse("x.txt").unwrap(), before);
    let patch = std::str::from_utf8(patch).unwrap();
    let proposal = response::read(patch, &PlanLimits::default()).map_err(|e| e.to_string())?;
    let plan = plan::plan(&proposal, &tree, &plan::NoSeenTexts, &PlanLimits::default());
    plan.map(|plan| plan.files[0].after.clone()).map_err(|refused| format!("{:?}", refused.refusals))
}

proptest! {
    #[test]
    fn relay_reads_its_own_patches(before in lf_text(), after in lf_text()) {
        prop_assume!(before != after && !before.is_empty() && !after.is_empty());
        let plan = plan(vec![file("x.txt", Some(before.as_bytes()), Some(after.as_bytes()))]);
        let there = replan(&git_patch(&plan), &before);
        prop_assert_eq!(there, Ok(Some(after.clone().into_bytes())));
        let back = replan(&reverse_git_patch(&plan), &after);
        prop_assert_eq!(back, Ok(Some(before.into_bytes())));
    }

    #[test]
    fn a_diff_leads_from_before_to_after(before in text(), after in text()) {
        let change = file("x", Some(before.as_bytes()), Some(after.as_bytes()));
        let result = match diff_file(&change).content {
            DiffContent::Text { hunks, .. } => {
                let lines = || hunks.iter().flat_map(|h| &h.lines);
                let number = |kind| lines().filter(|l| l.kind == kind).count();
                prop_assert_eq!(number(DiffLineKind::Added), change.added);
                prop_assert_eq!(number(DiffLineKind::Removed), change.removed);
                apply(&before, &hunks)
            }
            _ => before,
        };
        prop_assert_eq!(result, after);
    }
}

#[test]
fn git_agrees_on_random_texts() {
    if !git_is_there() {
        return;
    }
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut files = Vec::new();
    for number in 0..60 {
        use proptest::strategy::ValueTree;
        let (before, after) = (text(), text()).new_tree(&mut runner).unwrap().current();
        files.push(file(&format!("f{number}"), Some(before.as_bytes()), Some(after.as_bytes())));
    }
    check_with_git(&plan(files), "random");
}
