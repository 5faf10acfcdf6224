//! Planning over `relay rpc`: what a program may do meanwhile, and that a plan is decided once, whoever is first.

use relaycode_testkit::model::ScriptedTurn;
use serde_json::{Value, json};

use super::RpcProgram;
use crate::agent_run::{WIRES, serving};

fn plan_and(more: impl IntoIterator<Item = ScriptedTurn>) -> Vec<ScriptedTurn> {
    let write = ScriptedTurn::call("write", json!({"path": "plan://", "content": "1. a.txt says three\n"}));
    [write, ScriptedTurn::call("exit_plan", json!({"title": "three"}))].into_iter().chain(more).collect()
}

fn code(response: &Value) -> &str {
    response["error"]["code"].as_str().unwrap_or_default()
}

#[test]
fn a_plan_is_decided_once_whoever_is_first() {
    let write = ScriptedTurn::call("write", json!({"path": "a.txt", "content": "three\n"}));
    let (_server, project) = serving(WIRES[0], plan_and([write, ScriptedTurn::text("done")]));
    let mut program = RpcProgram::start(&project, &[]);
    program.call(&json!({"id": 1, "type": "set_attended", "attended": true}));
    assert_eq!(
        program.call(&json!({"id": 2, "type": "set_mode", "mode": "plan"}))["data"]["requested"],
        false
    );
    program.call(&json!({"id": 3, "type": "prompt", "message": "Plan"}));
    let gate = program.read("workflow_gate");
    let (id, digest) = (&gate["gate_id"], &gate["context"]["digest"]);
    assert_eq!((&gate["stage"], &gate["kind"]), (&json!("plan"), &json!("approval")));
    let respond =
        |answer: Value| json!({"id": 4, "type": "workflow_gate_response", "gate_id": id, "answer": answer});
    for answer in [
        json!({"decision": "approve"}),
        json!({"decision": "approve", "digest": "0".repeat(64)}),
        json!({"decision": "yes", "digest": digest}),
        json!({"approve": true, "digest": digest}),
        json!("approve"),
        json!({"decision": "approve", "digest": digest, "words": "x".repeat(20_001)}),
    ] {
        let response = program.call(&respond(answer));
        assert_eq!(response["data"]["status"], "rejected", "{response}");
    }
    assert_eq!(project.text("a.txt"), "one\ntwo\n");
    // The same question, answered as any other.
    let question = &gate["context"]["questionId"];
    let answer = json!({"id": 5, "type": "answer_question", "questionId": question, "chosen": [0]});
    let (chosen, closed) = program.call_with(&answer, "workflow_gate_closed");
    assert_eq!(chosen["success"], true, "{chosen}");
    assert_eq!(closed["status"], "accepted");
    let late = program.call(&respond(json!({"decision": "reject", "digest": digest})));
    assert_eq!(code(&late), "already_resolved");
    assert_eq!(program.read("agent_end")["event"]["reason"], "done");
    assert_eq!(project.text("a.txt"), "three\n");
    assert_eq!(program.end(), 0);
}

#[test]
fn what_a_program_brings_only_looks_while_the_agent_plans() {
    let parameters = json!({"type": "object", "properties": {}});
    let tool = |name: &str, read_only: bool| json!({"name": name, "description": name, "parameters": parameters, "readOnly": read_only});
    let tools = json!([tool("ticket", true), tool("deploy", false)]);
    let (server, project) = serving(
        WIRES[0],
        [
            ScriptedTurn::call("ticket", json!({})),
            ScriptedTurn::call("deploy", json!({})),
            ScriptedTurn::call("write", json!({"path": "notes://today", "content": "x"})),
            ScriptedTurn::text("I cannot."),
        ],
    );
    let mut program = RpcProgram::start(&project, &["--access", "full"]);
    program.call(&json!({"id": 1, "type": "set_mode", "mode": "plan"}));
    program.call(&json!({"id": 2, "type": "set_host_tools", "tools": tools}));
    let schemes = json!([{"scheme": "notes", "writable": true}]);
    program.call(&json!({"id": 3, "type": "set_host_uri_schemes", "schemes": schemes}));
    // A command of the user's runs in the fence of the mode, too.
    let ran = program.call(&json!({"id": 4, "type": "bash", "command": "echo changed > a.txt"}));
    assert_eq!(ran["data"]["isError"], true, "{ran}");
    program.call(&json!({"id": 5, "type": "prompt", "message": "Go"}));
    let call = program.read("host_tool_call");
    assert_eq!(call["toolName"], "ticket");
    program.send(&json!({"type": "host_tool_result", "id": call["id"], "content": "wrong total"}));
    assert_eq!(program.read("agent_end")["event"]["reason"], "done");
    let sent = server.requests().last().unwrap().body.to_string();
    assert!(
        sent.contains("wrong total") && sent.contains("`deploy` cannot be used while you plan"),
        "{sent}"
    );
    assert!(sent.contains("notes://today was not changed"), "{sent}");
    assert_eq!(project.text("a.txt"), "one\ntwo\n");
    assert_eq!(program.end(), 0);
}

#[test]
fn a_program_that_goes_or_ends_the_run_approves_nothing() {
    for leaves in [false, true] {
        let (_server, project) = serving(WIRES[0], plan_and([ScriptedTurn::text("unused")]));
        let mut program = RpcProgram::start(&project, &[]);
        program.call(&json!({"id": 1, "type": "set_attended", "attended": true}));
        program.call(&json!({"id": 2, "type": "set_mode", "mode": "plan"}));
        program.call(&json!({"id": 3, "type": "prompt", "message": "Plan"}));
        program.read("workflow_gate");
        if leaves {
            assert_eq!(program.end(), 0);
        } else {
            program.send(&json!({"id": 4, "type": "abort"}));
            assert_eq!(program.read("workflow_gate_closed")["status"], "cancelled");
            assert_eq!(program.end(), 0);
        }
        let mut program = RpcProgram::start(&project, &["--continue"]);
        assert_eq!(program.call(&json!({"id": 1, "type": "get_state"}))["data"]["mode"], "plan");
        assert_eq!(
            program.call(&json!({"id": 2, "type": "get_plan"}))["data"]["plan"],
            "1. a.txt says three\n"
        );
        assert_eq!(project.text("a.txt"), "one\ntwo\n");
        assert_eq!(program.end(), 0);
    }
}

#[test]
fn planning_begins_and_ends_while_the_agent_works() {
    let look = ScriptedTurn::call(
        "ask",
        json!({"questions": [{"id": "c", "question": "Which?", "options": [{"label": "red"}]}]}),
    );
    let write = || ScriptedTurn::call("write", json!({"path": "a.txt", "content": "three\n"}));
    let (server, project) =
        serving(WIRES[0], [look.clone(), write(), look, write(), ScriptedTurn::text("done")]);
    let mut program = RpcProgram::start(&project, &[]);
    program.call(&json!({"id": 1, "type": "set_attended", "attended": true}));
    program.call(&json!({"id": 2, "type": "prompt", "message": "Go"}));
    for mode in ["plan", "none"] {
        let question = program.read("question_asked");
        let set = program.call(&json!({"id": 3, "type": "set_mode", "mode": mode}));
        assert_eq!(set["data"]["requested"], true, "{set}");
        assert_eq!(code(&program.call(&json!({"id": 4, "type": "approve_plan", "digest": "x"}))), "busy");
        assert_eq!(code(&program.call(&json!({"id": 5, "type": "set_goal", "objective": "x"}))), "busy");
        let id = &question["event"]["question"]["id"];
        program.send(&json!({"id": 6, "type": "answer_question", "questionId": id, "chosen": [0]}));
        assert_eq!(program.read("mode_changed")["event"]["mode"], mode);
        if mode == "plan" {
            program.read("tool_execution_end");
            assert_eq!(project.text("a.txt"), "one\ntwo\n");
        }
    }
    assert_eq!(program.read("agent_end")["event"]["reason"], "done");
    assert_eq!(project.text("a.txt"), "three\n");
    assert!(server.requests()[2].body.to_string().contains("while you plan, nothing changes but the plan"));
    assert_eq!(program.end(), 0);
}
