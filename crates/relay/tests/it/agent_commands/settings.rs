//! Settings of the tools: the language of edits and the look of lines go together, in what a model reads about a tool and in what
//! it gets from it.

use relaycode_testkit::model::ScriptedTurn;
use serde_json::{Value, json};

use super::ShellRun;

/// A model that reads a file and edits it; what it read, and the fields that `edit` has for it.
fn read_and_edit(config: &str, edit: Value) -> (String, Vec<String>, ShellRun) {
    let run = ShellRun::turns([
        ScriptedTurn::call("read", json!({"path": "a.txt"})),
        ScriptedTurn::call("edit", edit),
    ])
    .configure(config);
    run.run(&[]);
    let tools = run.server.requests()[0].body["tools"].as_array().unwrap().clone();
    let edit = tools.iter().find(|tool| tool["name"] == "edit").unwrap().clone();
    let fields = edit["input_schema"]["properties"].as_object().unwrap().keys().cloned().collect();
    (run.results()[0].clone(), fields, run)
}

#[test]
fn each_edit_mode_has_its_language_and_lines_look_as_it_needs_them() {
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n two\n*** End Patch\n";
    let replace = json!({"path": "a.txt", "edits": [{"old_text": "one", "new_text": "1"}]});
    for (mode, edit, fields) in [
        ("hashline", json!({"input": "§a.txt\n»EOF\nthree\n"}), &["input"][..]),
        ("replace", replace, &["path", "edits"]),
        ("patch", json!({"path": "a.txt", "diff": "@@\n-one\n+1\n two\n"}), &["path", "diff"]),
        ("apply_patch", json!({"input": patch}), &["input"]),
    ] {
        let (read, found, run) = read_and_edit(&format!("agent: {{editMode: {mode}}}\n"), edit);
        assert_eq!(found, fields, "{mode}");
        assert_eq!(read == "1|one\n2|two\n", mode != "hashline", "{mode}: {read}");
        let after = if mode == "hashline" { "one\ntwo\nthree\n" } else { "1\ntwo\n" };
        assert_eq!(run.project.text("a.txt"), after, "{mode}: {:?}", run.results());
    }
}

#[test]
fn how_much_is_read_and_whether_lines_have_anchors_is_the_users_to_say() {
    let run = ShellRun::turns([ScriptedTurn::call("read", json!({"path": "a.txt"}))])
        .configure("agent: {readDefaultLimit: 1, readHashLines: false}\n");
    run.run(&[]);
    assert_eq!(run.results(), ["1|one\n[Lines 1-1 of 2. Use :2 to continue.]\n"]);
}
