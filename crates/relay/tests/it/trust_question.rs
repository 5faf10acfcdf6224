//! What the user is asked to trust is seen before the question, and what the trusted commands print can
//! be seen afterwards.

use crate::fixture::scratch_project::{Project, edit};
use crate::terminal_questions::Session;

fn project(linter: &str) -> Project {
    let config = format!(r#"{{"projectId": "app", "patch": {{"linter": "{linter}"}}}}"#);
    let project = Project::new(&[("a.txt", "one\ntwo\nthree\n"), ("relaycode.config.json", &config)]);
    project.put("a.md", edit("a.txt", "two", "2").as_bytes());
    project
}

#[test]
fn the_commands_stand_above_the_question_that_is_about_them() {
    let project = project("true");
    let mut session = Session::start(&project, &["trust"], "");
    session.wait_for("linter");
    session.wait_for("from now on? [y/N]");
    session.type_in("n\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(4), "{seen}");
}

#[test]
fn what_a_command_printed_is_shown_and_reported_also_when_it_is_short() {
    let project = project("if grep -q 2 *.txt; then echo two is gone; exit 1; fi");
    project.done(&["trust", "-y"]);
    let ran = project.relay(&["apply", "a.md", "-y", "--json"]);
    let value = ran.json();
    assert_eq!(value["code"], 5, "{value}");
    let steps = value["gate"]["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["output"], "two is gone\n", "{value}");
}
