use relaycode_change::hashline::{LineAnchor, format_line};
use relaycode_change::syntax::outline::MIN_ELIDED_LINES;
use serde_json::{Value, json};

use crate::fixture::{TestProject, text_of};

fn function(name: usize, body: usize) -> String {
    let lines = (0..body).map(|at| format!("    call({name}, {at});\n"));
    format!("fn f{name}() {{\n{}}}\n\n", lines.collect::<String>())
}

fn read(project: &TestProject, path: &str) -> (String, Value) {
    let output = project.call("read", json!({ "path": path })).unwrap();
    (text_of(&output), output.details.unwrap())
}

/// Of what is printed: lines of the file, and the ranges that are left out, as the selectors name them.
fn read_back(text: &str, path: &str, lines: &[&str]) -> (Vec<usize>, Vec<(usize, usize)>) {
    let (mut shown, mut elided, mut next) = (Vec::new(), Vec::new(), 0);
    for printed in text.lines().filter(|line| !line.starts_with('[')) {
        if let Some(said) = printed.strip_prefix("… ") {
            let (_, range) = said.split_once(&format!("read {path}:")).unwrap();
            let (first, last) = range.split_once('-').unwrap();
            let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
            let count = last + 1 - first;
            assert_eq!(said, format!("{count} lines ({first}-{last}): read {path}:{first}-{last}"));
            assert!(first == next + 1 && count >= MIN_ELIDED_LINES, "{printed}");
            elided.push((first - 1, last));
            next = last;
        } else {
            assert_eq!(printed, format_line(next + 1, lines[next]));
            shown.push(next);
            next += 1;
        }
    }
    (shown, elided)
}

#[test]
fn a_long_file_is_shown_without_the_bodies_of_its_functions() {
    let mut project = TestProject::new(&[("src/a.rs", &(function(1, 6) + &function(2, 2)))]);
    project.workspace.settings.read_lines = 9;
    let (text, details) = read(&project, "src/a.rs");
    let expected = [
        format_line(1, "fn f1() {"),
        "… 6 lines (2-7): read src/a.rs:2-7".to_string(),
        format_line(8, "}"),
        format_line(9, ""),
        format_line(10, "fn f2() {"),
        format_line(11, "    call(2, 0);"),
        format_line(12, "    call(2, 1);"),
        format_line(13, "}"),
        format_line(14, ""),
        "[6 lines of 14 left out in 1 place. Read the ranges that are named, or :1 for the text from its start.]\n"
            .to_string(),
    ];
    assert_eq!(text, expected.join("\n"));
    assert_eq!(details["summary"], json!({ "lines": 8, "elidedSpans": 1, "elidedLines": 6 }));
    assert_eq!(details["meta"], json!({ "source": "src/a.rs" }));
}

#[test]
fn what_can_be_read_at_once_or_is_asked_for_is_shown_as_it_is() {
    let text = function(1, 6) + &function(2, 6);
    let mut project =
        TestProject::new(&[("a.rs", &text), ("a.txt", &text), ("b.rs", &(text.clone() + "fn ("))]);
    let count = text.lines().count();
    project.workspace.settings.read_lines = count;
    assert!(read(&project, "a.rs").1.get("summary").is_none());
    project.workspace.settings.read_lines = count - 1;
    assert!(read(&project, "a.rs").1.get("summary").is_some());
    for path in ["a.rs:raw", "a.rs:1", "a.rs:1-5", "a.txt", "b.rs"] {
        assert!(read(&project, path).1.get("summary").is_none(), "{path}");
    }
    project.workspace.settings.read_summarize = false;
    assert!(read(&project, "a.rs").1.get("summary").is_none());
}

#[test]
fn the_model_is_told_of_summaries_if_there_are_any() {
    let mut project = TestProject::new(&[]);
    let told = |project: &TestProject| {
        crate::registry::by_name("read").unwrap().definition(&project.workspace).description
    };
    assert!(told(&project).contains("… 34 lines (42-75)"));
    project.workspace.settings.read_summarize = false;
    assert!(!told(&project).contains("… 34 lines") && !told(&project).contains("{summaries}"));
}

#[test]
fn a_summary_beyond_the_limits_says_where_it_ends() {
    let text: String = (0..900).map(|name| function(name, 19)).collect();
    let project = TestProject::new(&[("a.rs", &text)]);
    let (shown, details) = read(&project, "a.rs");
    assert!(shown.len() < 51 * 1024, "{}", shown.len());
    let truncation = &details["meta"]["truncation"];
    let last = truncation["lastLine"].as_u64().unwrap();
    assert!(last > 9_000, "{last}");
    assert!(
        shown.ends_with(&format!("[Nothing is shown from line {0} on. Use :{0} to continue.]\n", last + 1))
    );
    let summary = &details["summary"];
    assert_eq!(summary["lines"].as_u64().unwrap() + summary["elidedLines"].as_u64().unwrap(), last);
}

#[test]
fn a_cut_summary_that_shows_hardly_more_than_the_beginning_is_none() {
    let text = "fn f() {}\n".repeat(40) + &function(1, 6) + &"fn g() {}\n".repeat(90);
    let mut project = TestProject::new(&[("a.rs", &text)]);
    project.workspace.settings.read_lines = 60;
    assert!(read(&project, "a.rs").1.get("summary").is_none());
}

/// Whatever the file: shown lines are its lines, shown and left out are all of it, an anchor of a shown line can be edited,
/// and one of a line that was left out is refused as never shown.
#[test]
fn only_lines_that_were_shown_can_be_edited() {
    let mut summaries = 0;
    for case in 0..40_usize {
        let text: String = (0..3 + case % 5).map(|name| function(name, (case * 7 + name * 5) % 13)).collect();
        let lines: Vec<&str> = text.lines().collect();
        let mut project = TestProject::new(&[("a.rs", &text)]);
        project.workspace.settings.read_lines = lines.len() - 1;
        let (printed, details) = read(&project, "a.rs");
        if details.get("summary").is_none() {
            continue;
        }
        summaries += 1;
        let (shown, elided) = read_back(&printed, "a.rs", &lines);
        let hidden: Vec<usize> = elided.iter().flat_map(|(first, last)| *first..*last).collect();
        let mut all = [shown.clone(), hidden.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..lines.len()).collect::<Vec<_>>());
        let edit = |at: usize| json!({ "input": format!("§a.rs\n≔{}\n// {case} {at}\n", LineAnchor::of(at + 1, lines[at])) });
        for at in hidden {
            let said = project.refusal("edit", edit(at));
            assert!(said.contains("No line was shown as"), "{said}");
            // A refusal shows what stands there, which counts; so the next one begins anew.
            project.workspace.shown().forget(&project.path("a.rs"));
            read(&project, "a.rs");
        }
        let at = shown[case % shown.len()];
        project.text("edit", edit(at));
        let after = project.get("a.rs");
        assert_eq!(after.lines().nth(at), Some(format!("// {case} {at}").as_str()));
        assert_eq!(after.lines().count(), lines.len());
    }
    assert!(summaries > 20, "{summaries}");
}
