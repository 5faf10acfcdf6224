//! Lines that are none, and commands that cannot be.

use std::time::{Duration, Instant};

use relaycode_testkit::model::{ScriptedTurn, TurnDelay};
use serde_json::{Value, json};

use super::RpcProgram;
use crate::agent_run::{WIRES, serving};

/// The id and the code of an error.
fn error(response: &Value) -> (Value, &str) {
    assert_eq!(response["success"], false, "{response}");
    (response["id"].clone(), response["error"]["code"].as_str().unwrap())
}

#[test]
fn what_is_wrong_is_told_by_its_id_and_the_next_command_works() {
    let (_server, project) = serving(WIRES[0], [ScriptedTurn::text("ok")]);
    let mut program = RpcProgram::start(&project, &[]);
    let deep = format!("{{\"id\":\"deep\",\"type\":\"prompt\",\"message\":{}\n", "[".repeat(50_000));
    for (line, id, code) in [
        (&b"{\"id\":\"half\",\"type\":\"prompt\",\"mess\n"[..], json!("half"), "parse_error"),
        (b"{\"id\":7,\"type\":\"promt\"}\n", json!(7), "unknown_command"),
        (b"{\"id\":8}\n", json!(8), "invalid_request"),
        (b"{\"id\":9,\"type\":\"prompt\"}\n", json!(9), "invalid_params"),
        (b"{\"id\":10,\"type\":\"abort\",\"now\":true}\n", json!(10), "invalid_params"),
        (b"{\"id\":\"utf\",\"type\":\"prompt\",\"message\":\"\xff\xfe\"}\n", json!("utf"), "parse_error"),
        (deep.as_bytes(), json!("deep"), "parse_error"),
        (b"hello\n", json!(null), "parse_error"),
        (b"[]\n", json!(null), "parse_error"),
        (
            b"{\"id\":\"t1\",\"type\":\"host_tool_result\",\"content\":\"x\"}\n",
            json!("t1"),
            "unknown_request",
        ),
        (b"{\"id\":\"h1\",\"type\":\"hook_result\",\"action\":\"cancel\"}\n", json!("h1"), "unknown_request"),
        (
            b"{\"id\":11,\"type\":\"workflow_gate_response\",\"gate_id\":\"g1\",\"answer\":1}\n",
            json!(11),
            "unknown_gate",
        ),
    ] {
        program.send_bytes(line);
        let response = program.read("response");
        assert_eq!(error(&response), (id, code), "{response}");
    }
    program.send_bytes(b"\n  \r\n");
    assert_eq!(program.call(&json!({"id": "a", "type": "get_state"}))["id"], "a");
    // Half a line is one at the end.
    program.send_bytes(b"{\"id\":\"end\",\"type\":\"prom");
    program.stdin = None;
    assert_eq!(error(&program.read("response")), (json!("end"), "parse_error"));
    assert_eq!(program.end(), 0);
}

#[test]
fn a_line_of_a_hundred_megabytes_is_passed_over_in_little_memory() {
    let (_server, project) = serving(WIRES[0], [ScriptedTurn::text("ok")]);
    let mut program = RpcProgram::start(&project, &[]);
    program.send_bytes(b"{\"id\":\"big\",\"type\":\"prompt\",\"message\":\"");
    let megabyte = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        program.send_bytes(&megabyte);
    }
    program.send_bytes(b"\"}\n");
    let response = program.read("response");
    assert_eq!(error(&response), (json!("big"), "line_too_long"));
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim().to_string();
    println!("peak memory: {peak}");
    assert!(peak.trim_end_matches("kB").trim().parse::<u64>().unwrap() < 200_000, "{peak}");
    assert_eq!(program.call(&json!({"id": 1, "type": "prompt", "message": "Go"}))["success"], true);
    assert_eq!(program.read("agent_end")["event"]["reason"], "done");
    assert_eq!(program.end(), 0);
}

#[test]
fn two_prompts_at_once_are_one_and_an_error() {
    let hangs = ScriptedTurn::text("one two").with(|turn| turn.hang_s = Some(TurnDelay::Forever(true)));
    let (_server, project) = serving(WIRES[0], [hangs]);
    let mut program = RpcProgram::start(&project, &[]);
    program.send_bytes(
        b"{\"id\":1,\"type\":\"prompt\",\"message\":\"a\"}\n{\"id\":2,\"type\":\"prompt\",\"message\":\"b\"}\n",
    );
    let (first, second) = (program.read("response"), program.read("response"));
    assert_eq!((&first["id"], &first["success"]), (&json!(1), &json!(true)));
    assert_eq!(error(&second), (json!(2), "busy"));
    program.send(&json!({"id": 3, "type": "abort"}));
    assert_eq!(program.read("agent_end")["event"]["reason"], "aborted");
    assert_eq!(program.end(), 0);
}

#[test]
fn who_is_not_there_approves_nothing() {
    let write = ScriptedTurn::call("write", json!({"path": ".envrc", "content": "echo hi\n"}));
    let (server, project) = serving(WIRES[0], [write, ScriptedTurn::text("ok")]);
    let mut program = RpcProgram::start(&project, &[]);
    program.send(&json!({"id": 1, "type": "prompt", "message": "Go"}));
    assert_eq!(program.read("agent_end")["event"]["reason"], "done");
    assert!(!project.path(".envrc").exists());
    assert!(server.requests()[1].body.to_string().contains("nobody can be asked"));
    assert_eq!(program.end(), 0);
}

#[test]
fn lines_that_come_all_at_once_do_not_wait_for_each_other() {
    let turns = (0..80).map(|_| ScriptedTurn::text("ok"));
    let (_server, project) = serving(WIRES[0], turns);
    let mut program = RpcProgram::start(&project, &["--access", "full"]);
    for round in 0..30 {
        let began = Instant::now();
        let mut lines = String::new();
        for (at, command) in ["abort", "get_state", "undo_compaction"].iter().cycle().take(round).enumerate()
        {
            lines += &format!("{}\n", json!({"id": at, "type": command}));
        }
        let prompt = json!({"id": "p", "type": "prompt", "message": "Go"});
        let bash = json!({"id": "b", "type": "bash", "command": "true"});
        let last = json!({"id": "last", "type": "get_state"});
        program.send_bytes(format!("{prompt}\n{lines}{bash}\n{lines}{bash}\n{lines}{last}\n").as_bytes());
        while program.read("response")["id"] != "last" {}
        // Nothing of this takes time; a wait for the agent that never comes would.
        assert!(began.elapsed() < Duration::from_secs(8), "round {round}: {:?}", began.elapsed());
        program.send(&json!({"id": "a", "type": "abort"}));
        while program.call(&json!({"id": "s", "type": "get_state"}))["data"]["isStreaming"] != false {}
    }
    assert_eq!(program.end(), 0);
}
