//! Each row of the tool's inputs, limits and errors.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::fixture::TestProject;

fn find(project: &TestProject, paths: &[&str]) -> Vec<String> {
    let text = project.text("find", json!({ "paths": paths }));
    let mut found: Vec<String> = text.lines().map(str::to_owned).collect();
    found.sort();
    found
}

fn tree() -> TestProject {
    TestProject::new(&[
        ("a.rs", ""),
        ("src/b.rs", ""),
        ("src/deep/c.rs", ""),
        ("src/d.txt", ""),
        (".hidden/e.rs", ""),
        ("out/f.rs", ""),
        (".gitignore", "out/\n"),
    ])
}

#[test]
fn patterns_directories_and_files() {
    let project = tree();
    assert_eq!(find(&project, &["src"]), ["src/b.rs", "src/d.txt", "src/deep/c.rs"]);
    assert_eq!(find(&project, &["src/*.rs"]), ["src/b.rs"]);
    assert_eq!(find(&project, &["src/**/*.rs"]), ["src/b.rs", "src/deep/c.rs"]);
    assert_eq!(find(&project, &["src/d.txt", "a.rs"]), ["a.rs", "src/d.txt"]);
    assert_eq!(find(&project, &["src/**/*.{rs,txt"]), ["src/b.rs", "src/d.txt", "src/deep/c.rs"]);
}

#[test]
fn a_bare_pattern_means_every_directory() {
    let found = find(&tree(), &["*.rs"]);
    assert_eq!(found, [".hidden/e.rs", "a.rs", "src/b.rs", "src/deep/c.rs"]);
}

#[test]
fn one_string_will_do() {
    let project = tree();
    assert_eq!(project.text("find", json!({ "paths": "src/*.rs" })), "src/b.rs\n");
}

#[test]
fn hidden_files_can_be_left_out() {
    let text = tree().text("find", json!({ "paths": ["*.rs"], "hidden": false }));
    assert!(!text.contains(".hidden"), "{text}");
}

#[test]
fn what_changed_last_comes_first() {
    let project = tree();
    let old = SystemTime::now() - Duration::from_secs(1_000);
    fs::File::options().write(true).open(project.path("src/b.rs")).unwrap().set_modified(old).unwrap();
    let text = project.text("find", json!({ "paths": ["src"] }));
    assert_eq!(text.lines().last(), Some("src/b.rs"));
}

#[test]
fn limit_1000_results() {
    let project = TestProject::new(&[]);
    for at in 0..1_001 {
        project.put(&format!("{at}"), "");
    }
    let text = project.text("find", json!({ "paths": ["*"], "limit": 5_000 }));
    assert_eq!(text.lines().count(), 1_001);
    assert!(text.contains("[1000 of 1001 files"), "{text}");
    let text = project.text("find", json!({ "paths": ["*"], "limit": 3 }));
    assert_eq!(text.lines().count(), 4);
}

#[test]
fn limit_50_kib_of_output() {
    let project = TestProject::new(&[]);
    for at in 0..300 {
        project.put(&format!("{}{at}", "n".repeat(200)), "");
    }
    let text = project.text("find", json!({ "paths": ["*"] }));
    assert!(text.len() < 51 * 1024 && text.contains("of 300 files"));
}

#[test]
fn missing_ones_of_several_are_named() {
    let text = tree().text("find", json!({ "paths": ["src/*.rs", "nowhere"] }));
    assert_eq!(text, "src/b.rs\n[Skipped, because nothing is there: nowhere]\n");
}

#[test]
fn error_all_missing() {
    assert_eq!(tree().refusal("find", json!({ "paths": ["nowhere"] })), "nothing is at nowhere");
    assert_eq!(tree().refusal("find", json!({ "paths": ["x", "y/*.rs"] })), "nothing is at x, y/*.rs");
}

#[test]
fn error_root_empty_and_outside() {
    let project = tree();
    assert!(project.refusal("find", json!({ "paths": ["/"] })).starts_with("`/` is too much"));
    assert!(project.refusal("find", json!({ "paths": [] })).starts_with("`paths` is empty"));
    assert!(project.refusal("find", json!({ "paths": ["../*.rs"] })).contains("outside of the project"));
    assert!(project.refusal("find", json!({ "paths": ["src/[z-a]"] })).contains("range"));
}

#[test]
fn nothing_found_is_no_error() {
    assert_eq!(tree().text("find", json!({ "paths": ["*.zig"] })), "No files found\n");
}

#[test]
fn a_pattern_that_is_too_large_is_refused() {
    let project = TestProject::new(&[("a.txt", "one\n")]);
    for pattern in ["{".repeat(3_000) + "a", "*".repeat(5_000), "{{{{a*,b*},c*},d*},e*}".repeat(13)] {
        let said = project.refusal("find", json!({ "paths": [pattern] }));
        assert!(said.contains("the pattern has more than 4096 bytes or 50 groups"), "{said}");
    }
    // Within the bounds, and still a lot for an automaton: refused or not, it does not panic.
    let _ = project.call("find", json!({ "paths": ["{a,b}*".repeat(50) + &"[^a-z]*".repeat(300)] }));
}

#[test]
fn backslashes_are_slashes() {
    assert_eq!(find(&tree(), &["src\\*.rs"]), ["src/b.rs"]);
}

#[test]
fn error_invalid_arguments() {
    let said = tree().refusal("find", json!({ "paths": ["*"], "hiden": true }));
    assert!(said.contains("unknown field `hiden`") && said.contains("did you mean `hidden`?"), "{said}");
    assert!(tree().refusal("find", json!({})).contains("missing field `paths`"));
    let one = tree().text("find", json!({ "paths": ["src"], "limit": 0 }));
    assert!(one.contains("[1 of 3 files"), "{one}");
}

#[test]
fn cancel_is_heard() {
    let project = tree();
    project.cancel.cancel();
    assert_eq!(project.call("find", json!({ "paths": ["*"] })), Err(crate::tool::ToolError::Aborted));
}
