//! What holds for every dialect in the list.

use proptest::prelude::*;

use super::*;
use crate::proposal::{FileEdit, Operation, Proposal, TextSpan};

#[test]
fn names_and_aliases_are_unique_and_found_in_any_case() {
    let mut seen = std::collections::BTreeSet::new();
    for dialect in all() {
        assert!(!dialect.description().is_empty());
        for name in std::iter::once(dialect.name()).chain(dialect.aliases().iter().copied()) {
            assert!(seen.insert(name), "{name} is there twice");
            let found = by_name(&name.to_ascii_uppercase()).map(Dialect::name);
            assert_eq!(found, Some(dialect.name()));
        }
    }
}

#[test]
fn a_block_that_names_no_dialect_is_recognised_by_how_it_begins() {
    for (text, expected) in [
        ("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", "multi-search-replace"),
        ("\nsrc/a.rs\n```\n<<<<<<< SEARCH\n", "multi-search-replace"),
        ("<<<<<<< HEAD\na\n", "multi-search-replace"),
        ("*** Begin Patch\n", "apply-patch"),
        ("cat <<'EOF' | apply_patch\n*** Begin Patch\n", "apply-patch"),
        ("diff --git a/x b/x\n", "unified"),
        ("Index: x\n=====\n--- x\n+++ x\n", "unified"),
        ("--- x\n+++ x\n@@ @@\n-a\n--- y\n+++ y\n@@ @@\n-a\n", "unified"),
        ("--- x\n+++ x\n@@ @@\n-a\n", "new-unified"),
        ("\n@@ ... @@\n a\n+b\n", "new-unified"),
        ("// src/a.rs\n@@ -1 +1 @@\n-a\n", "new-unified"),
        ("---\ntitle: x\n---\n+++ x\n", "replace"),
        ("@@ a text\nwithout changes\n", "replace"),
        ("let t = `\n<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n`;\n", "replace"),
        ("fn a() {}\n--- x\n+++ x\n@@ @@\n-a\n", "replace"),
        ("Title\n*** Begin Patch\n", "replace"),
        ("", "replace"),
        ("{\"command\": \"create\", \"path\": \"a\", \"file_text\": \"x\"}", "tool-calls"),
        (
            "[{\"name\": \"Edit\", \"input\": {\"file_path\": \"a\", \"old_string\": \"x\", \"new_string\": \"y\"}}]",
            "tool-calls",
        ),
        ("{\"path\": \"a\", \"old_str\": \"x\", \"new_str\": \"y", "tool-calls"),
        ("{\"name\": \"app\", \"type\": \"module\"}", "replace"),
        ("{\"name\": \"app\", \"version\": \"1\", \"scripts\": {}}", "replace"),
        ("{\"path\": \"a\", \"content\": \"b\"}", "replace"),
        ("{\"search\": \"a\", \"replace\": \"b\"}", "replace"),
        ("{\"command\": \"view\", \"path\": \"a\"}", "replace"),
        (
            "{\"name\": \"x\", \"input_schema\": {\"properties\": {\"old_str\": {\"type\": \"string\"}}}}",
            "replace",
        ),
        ("<write_to_file>\n<path>a</path>\n<content>\n</content>\n</write_to_file>", "xml-tags"),
        ("<edit path=\"a\"><search>x</search><replace>y</replace></edit>", "xml-tags"),
        ("<search>\n<form></form>\n</search>\n", "replace"),
        ("<edit>\nsome text\n</edit>\n", "replace"),
        ("mkdir -p a\ncat > a/b <<'EOF'\nx\nEOF\n", "heredocs"),
        ("npm i\ncat <<EOF\nx\nEOF\n", "replace"),
        ("#!/bin/sh\ncat > a <<'EOF'\nx\nEOF\n", "replace"),
    ] {
        assert_eq!(detect(text).name(), expected, "{text:?}");
    }
}

#[test]
fn lines_of_errors_and_hunks_count_from_where_the_block_begins() {
    let block = |text| DialectBlock { path: RelPath::parse("f").ok(), text, line: 40 };
    let read = by_name("new-unified").unwrap().read(&block("--- f\n+++ f\n@@ @@\n-a\n"));
    let operation = read.unwrap().remove(0);
    assert_eq!(operation.line, 40);
    let FileAction::Write { edit, .. } = operation.action else { panic!("not a write") };
    let EditBody::Hunks(hunks) = edit.body else { panic!("no hunks") };
    assert_eq!(hunks[0].line, 42);
    let error = by_name("search-replace").unwrap().read(&block("\n=======\n"));
    assert_eq!(error.unwrap_err().line, 41);
}

/// Reads what `dialect` printed of `action`, and compares.
fn comes_back(dialect: &'static dyn Dialect, action: &FileAction) -> Result<(), TestCaseError> {
    let text = dialect.print(action);
    let block = DialectBlock { path: Some(action.path().clone()), text: &text, line: 1 };
    let read = dialect.read(&block).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
    let placeless = |operations| {
        let proposal = Proposal { operations, ..Proposal::default() };
        proposal.without_positions().operations
    };
    let written = vec![Operation { line: 1, action: action.clone() }];
    prop_assert_eq!(placeless(read), placeless(written), "{}", text);
    Ok(())
}

fn write(dialect: &'static dyn Dialect, body: EditBody, mode: Option<GitFileMode>) -> FileAction {
    FileAction::Write {
        path: RelPath::parse("src/my file.rs").unwrap(),
        edit: FileEdit { dialect: dialect.name(), body, seen: None },
        mode,
    }
}

/// A line of content: often one that looks like something else.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[ -~\té]{0,12}",
        2 => r"\\{0,2}(<{5,8}|={5,8}|>{5,8}|-{5,8}) ?(SEARCH|REPLACE|HEAD)?",
        1 => r"\\?:(start|end)_line:[0-9]{1,2}",
        2 => r"(--|\+\+|@@|@@ -1 \+1 @@|diff --git|-- |---|\\ No newline at end of file|\*\*\*) ?x?",
        1 => r"\*\*\* (End Patch|Begin Patch|End of File|Add File: x)",
        1 => Just(String::new()),
    ]
}

fn lines(most: usize) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(line(), 0..most)
}

/// A hunk as search and replace yields it.
fn search_hunk() -> impl Strategy<Value = Hunk> {
    let numbers = (prop::option::of(0..99usize), prop::option::of(0..99usize));
    (lines(5), lines(5), numbers).prop_map(|(before, after, (claimed, claimed_end))| Hunk {
        before,
        after,
        claimed,
        claimed_end,
        ..Hunk::default()
    })
}

/// A hunk as a diff yields it: built from lines that are kept, removed or added.
fn diff_hunk() -> impl Strategy<Value = Hunk> {
    let scope = "[a-z@{(]([ -~]{0,8}[a-z@{(])?";
    (
        prop::collection::vec((0..3u8, line()), 1..8),
        prop::option::of(0..99usize),
        prop::collection::vec(scope, 0..3),
        prop::option::of(any::<bool>()),
    )
        .prop_map(|(lines, claimed, scope, final_newline)| {
            let mut hunk = Hunk { claimed, scope, ..Hunk::default() };
            let mut kept = Vec::new();
            for (kind, line) in lines {
                if kind == 0 {
                    kept.push((hunk.before.len(), hunk.after.len()));
                }
                if kind != 1 {
                    hunk.before.push(line.clone());
                }
                if kind != 2 {
                    hunk.after.push(line);
                }
            }
            let removes = kept.len() < hunk.before.len();
            hunk.final_newline =
                final_newline.filter(|newline| if *newline { removes } else { !hunk.after.is_empty() });
            hunk.kept = Some(kept);
            hunk
        })
}

/// A hunk as a tool call yields it: a replacement, or an insertion below a line.
fn span() -> impl Strategy<Value = Hunk> {
    let text = "[a-c{}<\"\\\\\n\té]{0,8}";
    (text, text, any::<bool>(), prop::option::of(0..9usize)).prop_map(
        |(old, new, every, below)| match below {
            Some(below) => {
                let hunk = TextSpan { new, ..TextSpan::default() }.into_hunk(1);
                Hunk { before: Vec::new(), claimed: Some(below + 1), ..hunk }
            }
            None => TextSpan { old: old + "x", new, every }.into_hunk(1),
        },
    )
}

fn mode() -> impl Strategy<Value = Option<GitFileMode>> {
    prop_oneof![Just(None), Just(Some(GitFileMode::Regular)), Just(Some(GitFileMode::Executable))]
}

proptest! {
    #[test]
    fn whole_files_come_back(text in "[ -~\n]{0,40}") {
        let dialect = by_name("replace").unwrap();
        let body = EditBody::Whole { text, must_be_new: false };
        comes_back(dialect, &write(dialect, body, None))?;
    }

    #[test]
    fn searches_come_back(hunks in prop::collection::vec(search_hunk(), 1..4)) {
        let dialect = by_name("search-replace").unwrap();
        comes_back(dialect, &write(dialect, EditBody::Hunks(hunks), None))?;
    }

    #[test]
    fn diffs_come_back(hunks in prop::collection::vec(diff_hunk(), 1..4), mode in mode()) {
        for name in ["unified", "new-unified"] {
            let dialect = by_name(name).unwrap();
            comes_back(dialect, &write(dialect, EditBody::Hunks(hunks.clone()), mode))?;
        }
    }

    #[test]
    fn new_files_come_back(lines in lines(6), newline in any::<bool>(), mode in mode()) {
        let text = lines.join("\n") + if newline { "\n" } else { "" };
        for name in ["unified", "new-unified"] {
            let dialect = by_name(name).unwrap();
            let body = EditBody::Whole { text: text.clone(), must_be_new: true };
            comes_back(dialect, &write(dialect, body, mode))?;
        }
    }

    #[test]
    fn patches_come_back(hunks in prop::collection::vec((diff_hunk(), any::<bool>()), 1..4), added in lines(6)) {
        let dialect = by_name("apply-patch").unwrap();
        let placeless = |hunk: &Hunk| hunk.before.is_empty() && hunk.scope.is_empty() && hunk.claimed.is_none();
        let hunks = hunks.into_iter().map(|(hunk, end)| Hunk { at_end: end || placeless(&hunk), ..hunk }).collect();
        comes_back(dialect, &write(dialect, EditBody::Hunks(hunks), None))?;
        let text = added.into_iter().map(|line| line + "\n").collect();
        let body = EditBody::Whole { text, must_be_new: true };
        comes_back(dialect, &write(dialect, body, None))?;
    }

    #[test]
    fn moves_and_deletions_come_back(from in "[a-z]{4,6}", to in "[a-z]{4,6} [a-z]{1,3}") {
        let path = |text: &str| RelPath::parse(text).unwrap();
        for name in ["unified", "new-unified", "apply-patch"] {
            let dialect = by_name(name).unwrap();
            comes_back(dialect, &FileAction::Rename { from: path(&from), to: path(&to) })?;
            comes_back(dialect, &FileAction::Delete { path: path(&to), old: None })?;
            let old = Some(vec!["one".to_owned(), String::new(), "- two".to_owned()]);
            comes_back(dialect, &FileAction::Delete { path: path(&to), old })?;
        }
    }

    #[test]
    fn tool_calls_come_back(spans in prop::collection::vec(span(), 1..4), text in "[ -~\n]{0,30}", new in any::<bool>()) {
        let dialect = by_name("tool-calls").unwrap();
        comes_back(dialect, &write(dialect, EditBody::Hunks(spans), None))?;
        comes_back(dialect, &write(dialect, EditBody::Whole { text, must_be_new: new }, None))?;
    }

    #[test]
    fn no_text_makes_any_dialect_panic(lines in prop::collection::vec(line(), 0..20)) {
        let text = lines.join("\n");
        let _ = detect(&text);
        for dialect in all() {
            let _ = dialect.read(&DialectBlock { path: None, text: &text, line: 1 });
        }
    }
}
