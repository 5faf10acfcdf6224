//! Each row of the tool's inputs, limits and errors.

use relaycode_change::hashline::format_line;
use serde_json::json;

use crate::fixture::TestProject;
use crate::tool::ToolError;

fn search(project: &TestProject, pattern: &str) -> String {
    project.text("search", json!({ "pattern": pattern }))
}

#[test]
fn matches_have_anchors_and_context() {
    let project = TestProject::new(&[("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n")]);
    let lines = ["one", "two", "three", "four", "five"];
    let shown: Vec<String> = lines.iter().enumerate().map(|(at, text)| format_line(at + 1, text)).collect();
    let [one, two, three, four, five] = &shown[..] else { panic!() };
    assert_eq!(search(&project, "^tw.$"), format!("# a.txt\n {one}\n*{two}\n {three}\n {four}\n {five}\n\n"));
}

#[test]
fn anchors_of_matches_can_be_edited() {
    let project = TestProject::new(&[("a.txt", "one\ntwo\nthree\n")]);
    search(&project, "two");
    let anchor = format_line(2, "two");
    let anchor = anchor.split('|').next().unwrap();
    project.text("edit", json!({ "input": format!("§a.txt\n≔{anchor}\nTWO\n") }));
    assert_eq!(project.get("a.txt"), "one\nTWO\nthree\n");
}

#[test]
fn a_file_too_large_to_be_edited_is_shown_around_its_matches() {
    let project = TestProject::new(&[]);
    let lines = 1 + project.workspace.door.limits().file_bytes / 8;
    let mut text = String::new();
    for number in 1..=lines {
        match number {
            1 | 70_000 => text.push_str("needle\r\n"),
            _ if number == lines => text.push_str("needle at the end, größer"),
            _ => text.push_str(&format!("{number:07}\n")),
        }
    }
    let end = format!(" {}|{:07}\n*{lines}|needle at the end, größer\n\n", lines - 1, lines - 1);
    let shown = "# big.txt\n*1|needle\n 2|0000002\n 3|0000003\n 4|0000004\n...\n 69999|0069999\n*70000|needle\n \
        70001|0070001\n 70002|0070002\n 70003|0070003\n...\n";
    for mark in ["", "\u{feff}"] {
        project.put("big.txt", format!("{mark}{text}"));
        assert_eq!(search(&project, "needle"), shown.to_string() + &end, "{mark:?}");
    }
}

#[test]
fn case_counts_unless_i() {
    let project = TestProject::new(&[("a.txt", "Word\n")]);
    assert_eq!(search(&project, "word"), "No matches found in 1 file\n");
    let text = project.text("search", json!({ "pattern": "word", "i": true }));
    assert!(text.contains("Word"));
}

#[test]
fn paths_limit_the_search() {
    let project = TestProject::new(&[("a.rs", "x1\n"), ("b.txt", "x1\n"), ("src/c.rs", "x1\n")]);
    let found = |paths: serde_json::Value| {
        let text = project.text("search", json!({ "pattern": "x1", "paths": paths }));
        text.lines().filter_map(|line| line.strip_prefix("# ").map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(found(json!(["*.rs"])), ["a.rs", "src/c.rs"]);
    assert_eq!(found(json!(["src"])), ["src/c.rs"]);
    assert_eq!(found(json!("b.txt")), ["b.txt"]);
    assert_eq!(found(json!([])), ["a.rs", "b.txt", "src/c.rs"]);
}

#[test]
fn ignored_files_are_left_out_unless_asked_for_and_hidden_ones_are_not() {
    let project = TestProject::new(&[
        (".gitignore", "out\n"),
        ("out/a.txt", "x1\n"),
        (".env", "x1\n"),
        (".git/x", "x1\n"),
    ]);
    let text = search(&project, "x1");
    assert!(text.contains("# .env") && !text.contains("out/a.txt") && !text.contains(".git/x"), "{text}");
    let text = project.text("search", json!({ "pattern": "x1", "gitignore": false }));
    assert!(text.contains("out/a.txt") && !text.contains(".git/x"), "{text}");
}

#[test]
fn a_pattern_crosses_lines_only_with_a_line_feed() {
    let project = TestProject::new(&[("a.txt", "one\ntwo\nthree\n")]);
    assert!(search(&project, "one\\ntwo").contains("*2"));
    assert_eq!(search(&project, "one\\stwo"), "No matches found in 1 file\n");
}

#[test]
fn limit_100_shown_in_turn_from_each_file() {
    let many = "x1\n".repeat(300);
    let project = TestProject::new(&[("a.txt", &many), ("b.txt", "x1\n"), ("c.txt", &many)]);
    let text = search(&project, "x1");
    assert_eq!(text.lines().filter(|line| line.starts_with('*')).count(), 100);
    assert!(text.contains("# b.txt") && text.contains("# c.txt"), "{text}");
    assert!(text.contains("skip=100 shows the next"), "{text}");
    let next = project.text("search", json!({ "pattern": "x1", "skip": 100 }));
    assert!(!next.contains("# b.txt") && next.contains("skip=200"), "{next}");
}

#[test]
fn limit_500_taken() {
    let project = TestProject::new(&[("a.txt", &"x1\n".repeat(600))]);
    assert!(search(&project, "x1").contains("of more than 500 matches"));
    let end = project.text("search", json!({ "pattern": "x1", "skip": 9_000 }));
    assert!(end.contains("Nothing is left to show"), "{end}");
}

#[test]
fn limit_1024_bytes_of_a_line() {
    let project = TestProject::new(&[("a.txt", &format!("x1{}\n", "y".repeat(5_000)))]);
    let text = search(&project, "x1");
    assert!(text.len() < 1_200 && text.contains('…'), "{}", text.len());
}

#[test]
fn limit_50_kib_of_output() {
    let project = TestProject::new(&[("a.txt", &format!("x1{}\n", "y".repeat(900)).repeat(100))]);
    let text = search(&project, "x1");
    assert!(text.len() < 51 * 1024 && text.contains("[The output is full"), "{}", text.len());
}

#[test]
fn literal_braces_and_parentheses_are_understood() {
    let project = TestProject::new(&[("a.txt", "call(${name})\n")]);
    let text = search(&project, "call(${name}");
    assert!(text.contains("*1"), "{text}");
    assert!(text.ends_with("[Searched for call\\(\\$\\{name\\}]\n"), "{text}");
}

#[test]
fn binary_files_are_left_out() {
    let project = TestProject::new(&[]);
    project.put("a.bin", b"x1\0x1\n");
    assert_eq!(search(&project, "x1"), "No matches found in 1 file\n[1 binary file not searched: no text]\n");
    project.put("a.txt", b"x1\n");
    assert!(!search(&project, "x1").contains("binary"), "where something was found, that is no news");
}

#[test]
fn error_invalid_pattern() {
    let project = TestProject::new(&[]);
    let said = project.refusal("search", json!({ "pattern": "[z-a]" }));
    assert!(said.starts_with("the pattern is no valid regular expression"));
}

#[test]
fn error_missing_path() {
    let project = TestProject::new(&[]);
    assert_eq!(
        project.refusal("search", json!({ "pattern": "x", "paths": ["nowhere"] })),
        "nothing is at nowhere"
    );
}

#[test]
fn cancel_is_heard() {
    let project = TestProject::new(&[("a.txt", "x1\n")]);
    project.cancel.cancel();
    assert_eq!(project.call("search", json!({ "pattern": "x1" })), Err(ToolError::Aborted));
}

#[test]
fn the_same_search_finds_the_same() {
    let project = TestProject::new(&[]);
    for at in 0..200 {
        project.put(&format!("{at}.txt"), "x1\n".repeat(9));
    }
    let first = search(&project, "x1");
    assert_eq!(search(&project, "x1"), first);
}

#[test]
fn a_field_that_there_is_not_is_refused_and_usual_other_names_are_known() {
    let project = TestProject::new(&[("a/x.txt", "one\n"), ("b/x.txt", "one\n")]);
    let found = project.text("search", json!({"pattern": "one", "path": "a"}));
    assert!(found.contains("# a/x.txt") && !found.contains("b/x.txt"), "{found}");
    let said = project.refusal("search", json!({"pattern": "one", "pths": "a"}));
    assert!(said.contains("unknown field `pths`") && said.contains("(did you mean `paths`?)"), "{said}");
    let tool = crate::registry::by_name("search").unwrap().definition(&project.workspace);
    assert!(tool.parameters.get("additionalProperties").is_none());
}

#[test]
fn a_file_that_is_too_large_to_show_around_a_match_still_shows_the_match() {
    let project = TestProject::new(&[]);
    let mut text = "nothing here, line after line\n".repeat((64 << 20) / 30 + 1);
    text.push_str(&format!("needle {}\nend\n", "y".repeat(2_000)));
    project.put("large.log", &text);
    let number = text.lines().count() - 1;
    let said = search(&project, "needle");
    let before = number - 1;
    let shown = format!("# large.log\n {before}|nothing here, line after line\n*{number}|needle yyy");
    assert!(said.starts_with(&shown), "{:.200}", said);
    assert!(said.len() < 1_200 && !said.contains("Nothing is left"), "{}", said.len());
    // Across lines it would have to be held in memory as a whole.
    let said = search(&project, "needle\\nend");
    assert!(said.contains("[1 file could not be searched to the end, large.log among them]"), "{said}");
}

#[test]
fn limit_10000_skipped_and_64_bit_nonsense() {
    let project = TestProject::new(&[("a.txt", "x1\n")]);
    let said = project.text("search", json!({ "pattern": "x1", "skip": 1_000_000_000_000_u64 }));
    assert!(said.contains("Nothing is left to show: skip=10000"), "{said}");
    assert!(project.refusal("search", json!({ "pattern": "x1", "skip": -1 })).contains("not valid"));
}
