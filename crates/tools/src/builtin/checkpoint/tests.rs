//! Each row of the tools' inputs and errors; and that files come back, whatever was done to them.

use serde_json::json;

use crate::fixture::{TestProject, text_of};
use crate::workspace::CheckpointState;

/// A project in the middle of a prompt that has changed something already.
fn project() -> TestProject {
    let project = TestProject::new(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    project.workspace.set_group(Some("prompt-1".into()), Some("Try it".into()));
    write(&project, "a.txt", "two\n");
    project
}

fn write(project: &TestProject, path: &str, content: &str) {
    project.text("write", json!({"path": path, "content": content}));
}

#[test]
fn a_checkpoint_says_what_is_next() {
    let project = project();
    let output = project.call("checkpoint", json!({"goal": "Find it"})).unwrap();
    let expected =
        "Checkpoint created.\nGoal: Find it\nRun your investigation, then call rewind with a concise report.";
    assert_eq!(text_of(&output), expected);
    let details = output.details.unwrap();
    assert_eq!(details["goal"], "Find it");
    assert!(details["startedAt"].as_str().unwrap().ends_with('Z'), "{details}");
}

#[test]
fn rewind_brings_the_files_of_the_mark_back_and_the_prompt_is_still_undone_as_a_whole() {
    let project = project();
    project.text("checkpoint", json!({"goal": "Try"}));
    write(&project, "a.txt", "three\n");
    write(&project, "sub/new.txt", "new\n");
    write(&project, "a.txt", "four\n");
    let output = project.call("rewind", json!({"report": "It does not work."})).unwrap();
    assert_eq!(output.details.unwrap()["files"], json!(["a.txt", "sub/new.txt"]));
    assert_eq!(project.get("a.txt"), "two\n");
    assert!(!project.path("sub").exists());
    let CheckpointState::Rewinding(request) = project.workspace.checkpoint().clone() else {
        panic!("no request")
    };
    assert_eq!((request.mark.call.as_str(), request.report.as_str()), ("call-1", "It does not work."));
    write(&project, "b.txt", "c\n");
    // One entry of the log, which is taken back and brought back whole.
    let ledger = &project.workspace.door.ledger;
    let take_back = || {
        let page = ledger.log_page(0, 10).unwrap();
        let target = page.entries[0].target().unwrap();
        let plan = ledger.plan_revert(&target, &Default::default()).unwrap();
        let about = plan.header(relaycode_ledger::TransactionHeader::new(
            relaycode_ledger::TxId::random(),
            "p",
            "2026-01-01T00:00:00Z",
            "undo",
        ));
        ledger.begin(&plan.changes, about, &|| false).unwrap().commit(Default::default()).unwrap();
    };
    assert_eq!(ledger.log_page(0, 10).unwrap().entries.len(), 1);
    take_back();
    assert_eq!((project.get("a.txt"), project.get("b.txt")), ("one\n".into(), "b\n".into()));
    let entries = ledger.log_page(0, 10).unwrap().entries;
    assert!(entries[1].members.iter().all(|member| member.undone), "{entries:?}");
    take_back();
    assert_eq!((project.get("a.txt"), project.get("b.txt")), ("two\n".into(), "c\n".into()));
}

#[test]
fn nothing_changed_is_nothing_to_take_back() {
    let project = project();
    project.text("checkpoint", json!({"goal": "Look"}));
    let text = project.text("rewind", json!({"report": "Seen."}));
    assert_eq!(text, "Rewound: 0 files as at the checkpoint. The conversation goes on from there.");
    assert_eq!(project.get("a.txt"), "two\n");
}

#[test]
fn files_can_be_kept() {
    let project = project();
    project.text("checkpoint", json!({"goal": "Try"}));
    write(&project, "a.txt", "three\n");
    project.text("rewind", json!({"report": "It works.", "keepFiles": true}));
    assert_eq!(project.get("a.txt"), "three\n");
}

#[test]
fn error_somebody_else_edited_the_same_lines() {
    let project = project();
    project.text("checkpoint", json!({"goal": "Try"}));
    write(&project, "a.txt", "three\n");
    project.put("a.txt", "mine\n");
    let said = project.refusal("rewind", json!({"report": "No."}));
    assert!(
        said.starts_with("nothing was changed, because somebody has edited the same lines since: a.txt."),
        "{said}"
    );
    assert_eq!(project.get("a.txt"), "mine\n");
    project.text("rewind", json!({"report": "No.", "keepFiles": true}));
}

#[test]
fn error_a_second_checkpoint_and_a_rewind_without_one() {
    let project = project();
    assert!(project.refusal("rewind", json!({"report": "x"})).starts_with("No checkpoint is active."));
    project.text("checkpoint", json!({"goal": "x"}));
    assert!(project.refusal("checkpoint", json!({"goal": "y"})).starts_with("Checkpoint already active."));
    // The next prompt begins without one.
    project.workspace.set_group(Some("prompt-2".into()), None);
    assert!(project.refusal("rewind", json!({"report": "x"})).starts_with("No checkpoint is active."));
}

#[test]
fn error_no_words_and_too_many() {
    let project = project();
    assert_eq!(project.refusal("checkpoint", json!({"goal": " "})), "`goal` is empty");
    assert!(project.refusal("checkpoint", json!({})).contains("missing field `goal`"));
    assert!(project.refusal("checkpoint", json!({"goal": "x".repeat((64 << 10) + 1)})).contains("64 kB"));
    project.text("checkpoint", json!({"goal": "x".repeat(64 << 10)}));
    assert_eq!(project.refusal("rewind", json!({"report": ""})), "`report` is empty");
    assert!(project.refusal("rewind", json!({"report": "x".repeat((64 << 10) + 1)})).contains("64 kB"));
}

#[test]
fn error_a_command_goes_on_in_the_background() {
    let project = project();
    project.text("checkpoint", json!({"goal": "Try"}));
    write(&project, "a.txt", "three\n");
    let began = std::time::Instant::now();
    let id = project
        .workspace
        .jobs
        .register("bash", "make", began, relaycode_llm::CancelToken::default())
        .unwrap();
    let said = project.refusal("rewind", json!({"report": "No."}));
    assert!(said.contains("and bash-1 still runs. Wait for it or cancel it with `job`"), "{said}");
    assert_eq!(project.get("a.txt"), "three\n");
    project.workspace.jobs.complete(&id, Ok(String::new()));
    project.text("rewind", json!({"report": "No."}));
    assert_eq!(project.get("a.txt"), "two\n");
}
