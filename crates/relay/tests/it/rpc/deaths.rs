//! Either side dies at any moment: the session goes on, and nothing of it is left running.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use relaycode_testkit::model::{ScriptedServer, ScriptedTurn};
use relaycode_testkit::process::poll_until;
use relaycode_testkit::process_table::find_processes;
use relaycode_testkit::random::Random;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::RpcProgram;
use crate::agent_run::{WIRES, serving};
use crate::fixture::scratch_project::Project;

/// Kills of the quick test; `cargo xtask torture --full --only rpc` does a thousand.
const KILLS: u64 = 20;

/// Nothing runs that has this user's directory in its surroundings.
fn assert_nothing_runs(project: &Project) {
    let home = project.home().display().to_string();
    let left = || find_processes(|process| process.contains_text(&home));
    let gone = poll_until(Duration::from_secs(30), || left().is_empty().then_some(()));
    assert!(gone.is_some(), "still running: {:?}", left());
}

fn host_tool() -> serde_json::Value {
    let parameters = json!({"type": "object", "properties": {}});
    json!({"id": "tools", "type": "set_host_tools", "tools": [
        {"name": "ticket", "description": "Reads a ticket.", "parameters": parameters, "readOnly": true}]})
}

/// The session goes on, and each call in it has a result.
fn assert_goes_on(server: &ScriptedServer, project: &Project) {
    let before = server.requests().len();
    server.push(&ScriptedTurn::text("Going on."));
    let ran = project.relay(&["run", "--continue", "Go on"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Going on.\n"), "{ran:?}");
    let body = server.requests()[before].body.to_string();
    assert_eq!(body.matches("\"tool_use\"").count(), body.matches("\"tool_result\"").count(), "{body}");
}

#[test]
fn a_program_that_dies_in_the_middle_of_its_own_tool_leaves_a_session_that_goes_on() {
    for is_killed in [false, true] {
        let (server, project) = serving(WIRES[0], [ScriptedTurn::call("ticket", json!({}))]);
        let mut program = RpcProgram::start(&project, &[]);
        program.call(&host_tool());
        program.call(&json!({"id": 1, "type": "prompt", "message": "Go"}));
        program.read("host_tool_call");
        if is_killed {
            // relay itself.
            program.child.kill().unwrap();
            drop(program);
        } else {
            // Its program: both pipes are closed.
            assert_eq!(program.end(), 0);
        }
        assert_nothing_runs(&project);
        assert_goes_on(&server, &project);
    }
}

#[test]
fn the_end_of_the_input_ends_a_command_and_what_it_started() {
    let command = "echo x > begun.txt; setsid sleep 886001 & sleep 886001";
    let (server, project) = serving(WIRES[0], [ScriptedTurn::call("bash", json!({"command": command}))]);
    let mut program = RpcProgram::start(&project, &["--access", "full"]);
    program.call(&json!({"id": 1, "type": "prompt", "message": "Go"}));
    program.read("tool_execution_start");
    assert!(
        poll_until(Duration::from_secs(30), || project.path("begun.txt").exists().then_some(())).is_some()
    );
    assert_eq!(program.end(), 0);
    assert_nothing_runs(&project);
    assert_goes_on(&server, &project);
}

#[test]
fn a_signal_ends_it_in_order_also_if_its_program_reads_nothing() {
    let flood = "for i in 1 2 3 4 5 6 7 8; do head -c 400000 /dev/zero | tr '\\0' x; echo; done";
    for reads in [true, false] {
        let turns = (0..40).map(|_| ScriptedTurn::call("bash", json!({"command": flood})));
        let (server, project) = serving(WIRES[0], turns);
        let mut command = project.command(&["rpc", "--access", "full"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, "{}", json!({"id": 1, "type": "prompt", "message": "Go"})).unwrap();
        let mut stdout = child.stdout.take();
        if reads {
            let mut stdout = stdout.take().unwrap();
            std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
        } else {
            // Answers that nobody reads fill whatever there is.
            let flood = json!({"id": "x".repeat(200), "type": "get_state"}).to_string() + "\n";
            std::thread::spawn(move || while stdin.write_all(flood.as_bytes()).is_ok() {});
        }
        assert!(server.wait_within(Duration::from_secs(60), |requests| requests.len() >= 2));
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "reads: {reads}");
        drop(stdout);
        assert_nothing_runs(&project);
    }
}

#[test]
fn twenty_kills_damage_no_session() {
    let mut random = Random::new(20_261_119);
    for _ in 0..KILLS {
        let turns = (0..3).map(|at| match at {
            0 => ScriptedTurn::call("ticket", json!({})),
            1 => ScriptedTurn::call("write", json!({"path": format!("{at}.txt"), "content": "x\n"})),
            _ => ScriptedTurn::call("bash", json!({"command": "echo hi"})),
        });
        let turns: Vec<ScriptedTurn> = turns.chain([ScriptedTurn::text("Done.").repeat(3)]).collect();
        let (server, project) = serving(WIRES[0], turns);
        let mut program = RpcProgram::start(&project, &["--access", "full"]);
        program.call(&host_tool());
        program.send(&json!({"id": 1, "type": "prompt", "message": "Go"}));
        for _ in 0..random.below(2) {
            let Some(call) = program.try_read("host_tool_call") else { break };
            program.send(&json!({"type": "host_tool_result", "id": call["id"], "content": "wrong total"}));
        }
        for _ in 0..random.below(5) {
            if program.try_read("message_end").is_none() {
                break;
            }
        }
        program.child.kill().unwrap();
        drop(program);
        assert_nothing_runs(&project);
        assert_goes_on_if_begun(&server, &project);
    }
}

/// One that was killed before its first word has no session.
fn assert_goes_on_if_begun(server: &ScriptedServer, project: &Project) {
    let before = server.requests().len();
    let ran = project.relay(&["run", "--continue", "--max-turns", "9", "Go on"]);
    if ran.code == 2 && before == 0 {
        return;
    }
    assert_eq!(ran.code, 0, "{ran:?}");
    let body = server.requests()[before].body.to_string();
    assert_eq!(body.matches("\"tool_use\"").count(), body.matches("\"tool_result\"").count(), "{body}");
}
