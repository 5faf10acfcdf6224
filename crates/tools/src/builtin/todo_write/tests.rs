//! Each row of the tool's inputs, transitions, limits and errors.

use serde_json::{Value, json};

use super::*;
use crate::fixture::{TestProject, text_of};

fn project() -> TestProject {
    let project = TestProject::new(&[]);
    ops(
        &project,
        json!([{"op": "init", "list": [
        {"phase": "Build", "items": ["look", "write"]}, {"phase": "Check", "items": ["test"]}]}]),
    );
    project
}

/// The text, and the statuses by task.
fn ops(project: &TestProject, ops: Value) -> (String, Vec<String>) {
    let arguments = Value::Object([("ops".to_string(), ops)].into_iter().collect());
    let output = project.call("todo_write", arguments).unwrap();
    let details = output.details.clone().unwrap();
    let tasks =
        details["phases"].as_array().unwrap().iter().flat_map(|phase| phase["tasks"].as_array().unwrap());
    let statuses = tasks
        .map(|task| format!("{} {}", task["content"].as_str().unwrap(), task["status"].as_str().unwrap()))
        .collect();
    (text_of(&output), statuses)
}

#[test]
fn init_replaces_the_list_and_the_first_task_is_in_progress() {
    let project = project();
    let (text, statuses) =
        ops(&project, json!([{"op": "init", "list": [{"phase": "P", "items": ["a", "b"]}]}]));
    assert_eq!(statuses, ["a in_progress", "b pending"]);
    let expected = "Remaining items (2):\n- a [in_progress] (P)\n- b (P)\nCurrent phase: P (0 of 2 done)\n\nP\n  [/] a\n  [ ] b\n";
    assert_eq!(text, expected);
}

#[test]
fn start_demotes_the_other_one() {
    let (_, statuses) = ops(&project(), json!([{"op": "start", "task": "test"}]));
    assert_eq!(statuses, ["look pending", "write pending", "test in_progress"]);
}

#[test]
fn done_and_drop_reach_a_task_a_phase_or_all() {
    for (op, status) in [("done", "completed"), ("drop", "abandoned")] {
        let (_, one) = ops(&project(), json!([{"op": op, "task": "look"}]));
        assert_eq!(one, [&format!("look {status}"), "write in_progress", "test pending"]);
        let (_, phase) = ops(&project(), json!([{"op": op, "phase": "Build"}]));
        assert_eq!(phase, [format!("look {status}"), format!("write {status}"), "test in_progress".into()]);
        let (text, all) = ops(&project(), json!([{"op": op}]));
        assert!(all.iter().all(|task| task.ends_with(status)), "{all:?}");
        assert!(text.starts_with("Remaining items: none.\n"), "{text}");
    }
}

#[test]
fn each_status_can_become_each_other_one() {
    let project = project();
    for (op, status) in [
        ("done", "completed"),
        ("drop", "abandoned"),
        ("start", "in_progress"),
        ("drop", "abandoned"),
        ("done", "completed"),
        ("done", "completed"),
        ("start", "in_progress"),
        ("start", "in_progress"),
    ] {
        let (_, statuses) = ops(&project, json!([{"op": op, "task": "write"}]));
        assert_eq!(statuses[1], format!("write {status}"), "{op}");
    }
}

#[test]
fn rm_removes_a_task_empties_a_phase_or_clears_everything() {
    let project = project();
    assert_eq!(ops(&project, json!([{"op": "rm", "task": "look"}])).1, ["write in_progress", "test pending"]);
    assert_eq!(ops(&project, json!([{"op": "rm", "phase": "Build"}])).1, ["test in_progress"]);
    assert_eq!(ops(&project, json!([{"op": "rm"}])), ("Todo list cleared.".to_string(), Vec::new()));
}

#[test]
fn append_makes_a_missing_phase_and_refuses_a_task_that_is_there() {
    let (text, statuses) =
        ops(&project(), json!([{"op": "append", "phase": "Ship", "items": ["tag", "look", "push"]}]));
    assert!(text.starts_with("Errors: Task \"look\" already exists\n"), "{text}");
    assert_eq!(statuses[3..], ["tag pending", "push pending"]);
}

#[test]
fn notes_of_the_active_task_are_shown() {
    let project = project();
    let (text, _) = ops(&project, json!([{"op": "note", "task": "look", "text": "in src\nand lib \n"}]));
    assert!(text.contains("\n  note: in src\n  and lib\n"), "{text}");
    let (text, _) = ops(&project, json!([{"op": "start", "task": "write"}]));
    assert!(!text.contains("note:"), "{text}");
}

#[test]
fn every_error_is_said_and_the_other_operations_count() {
    let (text, statuses) = ops(
        &project(),
        json!([
            {"op": "init"}, {"op": "start"}, {"op": "start", "task": "x"}, {"op": "done", "phase": "x"},
            {"op": "done", "phase": ""}, {"op": "append", "items": ["x"]}, {"op": "append", "phase": "x"},
            {"op": "note", "task": "look", "text": " "}, {"op": "note"}, {"op": "done", "task": "test"},
        ]),
    );
    let errors = "Errors: Missing list for init operation; Missing task content; Task \"x\" not found; Phase \"x\" not found; \
        Missing phase name; Missing phase name for append operation; Missing items for append operation; \
        Missing text for note operation; Missing task content\n";
    assert!(text.starts_with(errors), "{text}");
    assert_eq!(statuses[2], "test completed");
    let (text, _) = ops(&TestProject::new(&[]), json!([{"op": "done", "task": "x"}]));
    assert!(text.contains("Task \"x\" not found: the list is empty"), "{text}");
}

#[test]
fn no_operations_and_unknown_ones_are_refused() {
    let project = project();
    assert!(project.refusal("todo_write", json!({"ops": []})).contains("1 to 200"));
    assert!(project.refusal("todo_write", json!({"ops": [{"op": "burn"}]})).contains("unknown variant"));
    assert!(project.refusal("todo_write", json!({})).contains("missing field `ops`"));
}

#[test]
fn limit_500_tasks_and_4000_bytes() {
    let project = TestProject::new(&[]);
    let items: Vec<String> = (0..500).map(|at| format!("t{at}")).collect();
    let (text, statuses) = ops(&project, json!([{"op": "init", "list": [{"phase": "P", "items": items}]}]));
    assert!(!text.starts_with("Errors") && statuses.len() == 500);
    let (text, statuses) = ops(&project, json!([{"op": "append", "phase": "P", "items": ["more"]}]));
    assert!(text.starts_with("Errors: A list has at most 500 tasks") && statuses.len() == 500, "{text}");
    let (text, _) = ops(&project, json!([{"op": "note", "task": "t0", "text": "n".repeat(4_001)}]));
    assert!(text.contains("has more than 4000 bytes"), "{text}");
}

#[test]
fn a_session_that_goes_on_has_what_was_left_to_do() {
    let project = project();
    let output = project.call("todo_write", json!({"ops": [{"op": "done", "phase": "Build"}]})).unwrap();
    assert_eq!(output.details.as_ref().unwrap()["storage"], "memory");
    let later = TestProject::new(&[]);
    TodoWriteTool.restore(&later.workspace, &output.details.unwrap());
    assert_eq!(later.workspace.todos().to_tree(), "Check\n  [/] test\n");
    TodoWriteTool.restore(&later.workspace, &json!({"phases": 7}));
    assert_eq!(later.workspace.todos().to_tree(), "Check\n  [/] test\n");
}

#[test]
fn a_task_that_is_there_twice_counts_once_and_a_phase_that_is_is_one() {
    let list = json!([{"phase": "A", "items": ["x", "y"]}, {"phase": "B", "items": ["x"]}, {"phase": "A", "items": ["z"]}]);
    let (text, statuses) = ops(&TestProject::new(&[]), json!([{"op": "init", "list": list}]));
    assert!(text.starts_with("Errors: Task \"x\" already exists\n"), "{text}");
    assert_eq!(statuses, ["x in_progress", "y pending", "z pending"]);
    assert_eq!(text.matches("\nA\n").count(), 1, "{text}");
}

#[test]
fn each_operation_without_its_fields_changes_nothing() {
    for op in ["init", "start", "append", "note"] {
        let (text, statuses) = ops(&project(), json!([{ "op": op }]));
        assert!(text.starts_with("Errors: Missing "), "{op}: {text}");
        assert_eq!(statuses, ["look in_progress", "write pending", "test pending"], "{op}");
    }
}

#[test]
fn storage_says_whether_there_is_a_session_behind_it() {
    let mut project = project();
    project.workspace.artifacts = Some(project.outside());
    let output = project.call("todo_write", json!({"ops": [{"op": "done"}]})).unwrap();
    assert_eq!(output.details.unwrap()["storage"], "session");
}
