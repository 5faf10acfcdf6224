//! Edits through the door, in each language; the language of anchors has its own tests in `change`.

use std::time::Instant;

use relaycode_change::hashline::LineAnchor;
use serde_json::json;

use crate::card::CardBody;
use crate::fixture::{TestProject, text_of};
use crate::workspace::EditMode;

fn anchor(text: &str, line: usize) -> String {
    LineAnchor::of(line, text.lines().nth(line - 1).unwrap()).to_string()
}

fn edit(project: &TestProject, input: &str) -> String {
    project.text("edit", json!({ "input": input }))
}

fn refused(project: &TestProject, input: &str) -> String {
    project.refusal("edit", json!({ "input": input }))
}

const TEXT: &str = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n";

fn shown(text: &str) -> TestProject {
    let project = TestProject::new(&[("a.rs", text)]);
    project.text("read", json!({ "path": "a.rs" }));
    project
}

#[test]
fn an_edit_shows_fresh_anchors_and_its_diff() {
    let project = shown(TEXT);
    let input = format!("§a.rs\n≔{}\n    uno();\n    dos();\n", anchor(TEXT, 2));
    let output = project.call("edit", json!({ "input": input })).unwrap();
    let now = "fn a() {\n    uno();\n    dos();\n}\n\nfn b() {\n    two();\n}\n";
    assert_eq!(project.get("a.rs"), now);
    let a = |line| anchor(now, line);
    let expected = format!(
        "a.rs:\n {}|fn a() {{\n-    one();\n+{}|    uno();\n+{}|    dos();\n {}|}}\n {}|\n",
        a(1),
        a(2),
        a(3),
        a(4),
        a(5)
    );
    assert_eq!(text_of(&output), expected);
    let details = output.details.unwrap();
    assert_eq!((details["op"].as_str(), details["firstChangedLine"].as_u64()), (Some("update"), Some(2)));
    assert!(matches!(output.card.body, CardBody::Diff { .. }));
    // The new anchors hold, and so do the old ones that moved.
    edit(&project, &format!("§a.rs\n≔{}\n    DOS();\n≔{}\n    TWO();\n", anchor(now, 3), anchor(TEXT, 6)));
    assert_eq!(project.get("a.rs"), "fn a() {\n    uno();\n    DOS();\n}\n\nfn b() {\n    TWO();\n}\n");
}

#[test]
fn files_change_together_or_not_at_all() {
    let project = TestProject::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    project.text("read", json!({ "path": "a.txt" }));
    let good = format!("§a.txt\n≔{}\nA\n", anchor("a\n", 1));
    assert!(refused(&project, &format!("{good}§b.txt\n≔1zz\nB\n")).contains("b.txt: Nothing was edited"));
    assert_eq!(project.get("a.txt"), "a\n");
    // The refusal showed the line.
    let output = project
        .call("edit", json!({ "input": format!("{good}§b.txt\n≔{}\nB\n", anchor("b\n", 1)) }))
        .unwrap();
    assert_eq!((project.get("a.txt"), project.get("b.txt")), ("A\n".to_string(), "B\n".to_string()));
    assert_eq!(output.details.unwrap()["perFileResults"].as_array().unwrap().len(), 2);
}

#[test]
fn an_unread_file_is_shown_before_it_is_edited() {
    let project = TestProject::new(&[("a.rs", TEXT)]);
    let input = format!("§a.rs\n≔{}\n", anchor(TEXT, 2));
    let said = refused(&project, &input);
    assert!(said.contains("No line was shown") && said.contains("one();"), "{said}");
    edit(&project, &input);
}

#[test]
fn error_stale() {
    let project = shown(TEXT);
    project.put("a.rs", TEXT.replace("one()", "eins()"));
    let said = refused(&project, &format!("§a.rs\n≔{}\n    uno();\n", anchor(TEXT, 2)));
    assert!(said.contains("has changed since") && said.contains("eins();"), "{said}");
    assert!(project.get("a.rs").contains("eins"));
}

#[test]
fn a_change_of_somebody_else_elsewhere_is_kept() {
    let project = shown(TEXT);
    project.put("a.rs", format!("// top\n{TEXT}"));
    let said = edit(&project, &format!("§a.rs\n≔{}\n    dos();\n", anchor(TEXT, 6)));
    assert!(said.contains("Warnings:\na.rs: the file has changed since it was shown"), "{said}");
    assert_eq!(project.get("a.rs"), format!("// top\n{}", TEXT.replace("two", "dos")));
}

#[test]
fn a_new_file() {
    let project = TestProject::new(&[]);
    let said = edit(&project, "§src/new.txt\n»BOF\none\ntwo\n");
    assert!(said.starts_with("src/new.txt:\n+1"), "{said}");
    assert_eq!(project.get("src/new.txt"), "one\ntwo\n");
}

#[test]
fn error_missing_file() {
    let project = TestProject::new(&[]);
    assert!(refused(&project, "§no.txt\n≔1ab\nx\n").starts_with("File not found: no.txt"));
}

#[test]
fn error_no_change() {
    let project = shown(TEXT);
    let said = refused(&project, &format!("§a.rs\n≔{}\n    one();\n", anchor(TEXT, 2)));
    assert_eq!(said, "Edits to a.rs resulted in no changes being made.");
}

#[test]
fn error_generated_and_outside() {
    let project = TestProject::new(&[("a.rs", "// @generated\nx\n")]);
    assert!(refused(&project, "§a.rs\n»EOF\ny\n").contains("generated file"));
    assert!(refused(&project, "§../a.rs\n»EOF\ny\n").contains("outside of the project"));
    assert!(refused(&project, "§.git/config\n»EOF\ny\n").contains("may not touch"));
    assert!(refused(&project, "no header\n").starts_with("the input has to begin with"));
}

#[test]
fn absolute_and_odd_spellings_of_a_path_are_one_file() {
    let project = shown(TEXT);
    let path = project.path("a.rs");
    let input = format!(
        "§{}\n≔{}\n    uno();\n§./a.rs\n≔{}\n    dos();\n",
        path.display(),
        anchor(TEXT, 2),
        anchor(TEXT, 6)
    );
    edit(&project, &input);
    assert!(project.get("a.rs").contains("uno") && project.get("a.rs").contains("dos"));
}

#[test]
fn a_broken_syntax_is_told_and_not_asked() {
    let project = shown(TEXT);
    let said = edit(&project, &format!("§a.rs\n≔{}\n    one(;\n", anchor(TEXT, 2)));
    assert!(said.contains("Warnings:"), "{said}");
    assert_eq!(project.host.asked.lock().unwrap().len(), 0);
}

#[test]
fn replace() {
    let mut project = TestProject::new(&[("a.rs", TEXT)]);
    project.workspace.settings.edit_mode = EditMode::Replace;
    let said = project.text("edit", json!({ "path": "a.rs", "edits": [
        { "old_text": "one()", "new_text": "uno()" }, { "old_text": "fn ", "new_text": "pub fn ", "all": true }
    ] }));
    assert!(said.contains("uno();"), "{said}");
    assert_eq!(project.get("a.rs"), TEXT.replace("one", "uno").replace("fn ", "pub fn "));
    let twice = project
        .refusal("edit", json!({ "path": "a.rs", "edits": [{ "old_text": "pub fn", "new_text": "fn" }] }));
    assert!(twice.contains("nothing was changed"), "{twice}");
    let missing = project
        .refusal("edit", json!({ "path": "a.rs", "edits": [{ "old_text": "three()", "new_text": "x" }] }));
    assert!(missing.contains("nothing was changed"), "{missing}");
}

#[test]
fn patch() {
    let mut project = TestProject::new(&[("a.rs", TEXT)]);
    project.workspace.settings.edit_mode = EditMode::Patch;
    let diff = "@@\n fn a() {\n-    one();\n+    uno();\n }\n";
    project.text("edit", json!({ "path": "a.rs", "diff": diff }));
    assert_eq!(project.get("a.rs"), TEXT.replace("one", "uno"));
}

#[test]
fn apply_patch() {
    let mut project = TestProject::new(&[("a.rs", TEXT), ("b.rs", "b\n")]);
    project.workspace.settings.edit_mode = EditMode::ApplyPatch;
    let input = "*** Begin Patch\n*** Update File: a.rs\n@@\n fn a() {\n-    one();\n+    uno();\n }\n*** Add File: c.rs\n+new\n*** Delete File: b.rs\n*** End Patch\n";
    let said = edit(&project, input);
    assert!(said.contains("Deleted b.rs"), "{said}");
    assert_eq!((project.get("a.rs"), project.get("c.rs")), (TEXT.replace("one", "uno"), "new\n".to_string()));
    assert!(!project.path("b.rs").exists());
}

#[test]
fn twenty_edits_in_a_project_that_was_never_set_up_ask_nothing() {
    let project =
        TestProject::new(&[("a.txt", &(1..=200).map(|line| format!("line {line}\n")).collect::<String>())]);
    project.text("read", json!({ "path": "a.txt" }));
    let mut times = Vec::new();
    for at in 1..=20 {
        let line = LineAnchor::of(at * 10, &format!("line {}", at * 10));
        let began = Instant::now();
        edit(&project, &format!("§a.txt\n≔{line}\nnew {at}\nmore {at}\n"));
        times.push(began.elapsed());
    }
    times.sort();
    println!("p50 per edit: {:?}", times[10]);
    assert_eq!(project.host.asked.lock().unwrap().len(), 0);
    assert_eq!(project.get("a.txt").lines().filter(|line| line.starts_with("new ")).count(), 20);
}

#[test]
fn error_each_language_refuses_what_it_cannot_read() {
    let mut project = TestProject::new(&[("a.rs", TEXT)]);
    let refusal = |project: &TestProject, input: serde_json::Value| project.refusal("edit", input);
    project.workspace.settings.edit_mode = EditMode::Replace;
    assert_eq!(refusal(&project, json!({ "path": "a.rs", "edits": [] })), "`edits` is empty");
    let empty = json!({ "path": "a.rs", "edits": [{ "old_text": "", "new_text": "x" }] });
    assert!(refusal(&project, empty).starts_with("`old_text` is empty; quote the text"));
    assert!(refusal(&project, json!({ "input": "§a.rs" })).contains("unknown field `input`"));
    let missing = json!({ "path": "no.rs", "edits": [{ "old_text": "x", "new_text": "y" }] });
    assert!(refusal(&project, missing).contains("no.rs"));
    project.workspace.settings.edit_mode = EditMode::Patch;
    let wrong = json!({ "path": "a.rs", "diff": "@@\n-    three();\n+    tres();\n" });
    assert!(refusal(&project, wrong).contains("nothing was changed"));
    project.workspace.settings.edit_mode = EditMode::ApplyPatch;
    assert!(!refusal(&project, json!({ "input": "no patch" })).is_empty());
    let outside = "*** Begin Patch\n*** Add File: ../out.rs\n+x\n*** End Patch\n";
    assert!(!refusal(&project, json!({ "input": outside })).is_empty());
    assert!(!project.outside().join("out.rs").exists());
    assert_eq!(project.get("a.rs"), TEXT);
}

#[test]
fn generated_files_are_refused_in_each_language() {
    let mut project = TestProject::new(&[("a.rs", "// @generated\nx\n")]);
    for (mode, input) in [
        (EditMode::Replace, json!({ "path": "a.rs", "edits": [{ "old_text": "x", "new_text": "y" }] })),
        (EditMode::Patch, json!({ "path": "a.rs", "diff": "@@\n-x\n+y\n" })),
        (
            EditMode::ApplyPatch,
            json!({ "input": "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** End Patch\n" }),
        ),
    ] {
        project.workspace.settings.edit_mode = mode;
        let said = project.refusal("edit", input);
        assert!(said.contains("`a.rs` is a generated file (line 1 says \"@generated\")"), "{said}");
    }
}

#[test]
fn byte_order_mark_line_endings_and_encoding_stay() {
    let project = TestProject::new(&[]);
    project.put("a.txt", "\u{feff}one\r\ntwo\r\n");
    project.text("read", json!({ "path": "a.txt" }));
    edit(&project, &format!("§a.txt\n≔{}\nTWO\n", LineAnchor::of(2, "two")));
    assert_eq!(project.get("a.txt"), "\u{feff}one\r\nTWO\r\n");
    project.put("l.txt", b"caf\xe9\nx\n");
    project.text("read", json!({ "path": "l.txt" }));
    edit(&project, &format!("§l.txt\n≔{}\ny\n", LineAnchor::of(2, "x")));
    assert_eq!(std::fs::read(project.path("l.txt")).unwrap(), b"caf\xe9\ny\n");
}

#[test]
fn an_aborted_input_applies_what_came_before_with_a_warning() {
    let project = shown(TEXT);
    let said = edit(&project, &format!("§a.rs\n≔{}\n    uno();\n*** Abort\n", anchor(TEXT, 2)));
    assert!(said.contains("Warnings:"), "{said}");
    assert!(project.get("a.rs").contains("uno()"));
}
