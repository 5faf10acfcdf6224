//! Questions: of the model, about access, about guarded files, about a plan.

use relaycode_testkit::model::ScriptedTurn;
use serde_json::json;

use super::{LiveConversation, LiveStart};

#[test]
fn a_question_of_the_model() {
    let question = json!({"questions": [{"id": "c", "question": "Which colour?", "recommended": 1,
        "options": [{"label": "red"}, {"label": "blue"}]}]});
    let live = LiveConversation::of([ScriptedTurn::call("ask", question), ScriptedTurn::text("Fine.")]);
    live.say("Paint it");
    live.wait("Which colour?");
    live.wait("blue");
    insta::assert_snapshot!(live.settled(), @"");
    live.wait_until_keys_count();
    live.keys("1");
    live.wait("Fine.");
    live.wait_idle();
    insta::assert_snapshot!(live.settled(), @"");
    assert!(live.body(1).contains("User selected: red"), "{}", live.body(1));
}

#[test]
fn a_question_about_a_command() {
    let live = LiveStart::of([
        ScriptedTurn::call("bash", json!({"command": "touch made.txt"})),
        ScriptedTurn::text("I may not."),
        ScriptedTurn::call("bash", json!({"command": "touch made.txt"})),
        ScriptedTurn::text("It is made."),
    ])
    .args(&["run", "--access", "ask"])
    .start();
    live.say("Make it");
    live.wait("touch made.txt");
    live.wait("always");
    insta::assert_snapshot!(live.settled(), @"");
    live.wait_until_keys_count();
    live.keys("n");
    live.wait_gone("always");
    let asks_why = live.settled();
    live.keys("\r");
    live.wait("I may not.");
    live.wait_idle();
    insta::assert_snapshot!(asks_why, @"");
    insta::assert_snapshot!(live.settled(), @"");
    assert!(!live.project.path("made.txt").exists());
    live.say("Please");
    live.wait("always");
    live.wait_until_keys_count();
    live.keys("y");
    live.wait("It is made.");
    live.wait_idle();
    assert!(live.project.path("made.txt").exists());
}

#[test]
fn a_question_about_a_guarded_file_gets_the_terminal() {
    let live = LiveStart::of([
        ScriptedTurn::call("write", json!({"path": ".envrc", "content": "export A=1\n"})),
        ScriptedTurn::text("It is written."),
    ])
    .start();
    live.say("Set A");
    live.wait("[y/N]");
    insta::assert_snapshot!(live.settled(), @"");
    live.keys("y\r");
    live.wait("It is written.");
    live.wait_idle();
    insta::assert_snapshot!(live.settled(), @"");
    assert_eq!(live.project.text(".envrc"), "export A=1\n");
}

#[test]
fn a_plan_is_approved() {
    let live = LiveStart::of([
        ScriptedTurn::call(
            "write",
            json!({"path": "plan://", "content": "# Plan\n\n1. Change `a.txt`.\n2. Test it.\n"}),
        ),
        ScriptedTurn::call("exit_plan", json!({"title": "change-a"})),
        ScriptedTurn::call("write", json!({"path": "a.txt", "content": "three\n"})),
        ScriptedTurn::text("It is done."),
    ])
    .args(&["run", "--plan"])
    .start();
    live.say("Change a.txt");
    live.wait("Test it.");
    live.wait("Carry out the plan");
    insta::assert_snapshot!(live.settled(), @"");
    live.wait_until_keys_count();
    live.keys("1");
    live.wait("It is done.");
    live.wait_idle();
    insta::assert_snapshot!(live.settled(), @"");
    assert_eq!(live.project.text("a.txt"), "three\n");
}
