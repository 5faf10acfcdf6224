//! The example in Rust, as its own program, against this binary.

use std::process::Command;

use relaycode_testkit::model::ScriptedTurn;
use relaycode_testkit::process::example_path;
use serde_json::json;

use crate::agent_run::{WIRES, serving};

#[test]
fn the_example_in_rust_answers_with_a_tool_of_its_own() {
    let turns = [ScriptedTurn::call("clock", json!({})), ScriptedTurn::text("It is late.")];
    let (server, project) = serving(WIRES[0], turns);
    let mut command = Command::new(example_path("relaycode-relay", "rpc-ask"));
    project.surround(&mut command);
    command.arg(project.path("")).arg("What time is it?").env("RELAY_BINARY", env!("CARGO_BIN_EXE_relay"));
    let ran = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "It is late.\n", "{ran:?}");
    assert!(ran.status.success());
    let requests = server.requests();
    assert!(requests[0].body.to_string().contains("The seconds since 1970."));
    let result = requests[1].body["messages"].to_string();
    let digits: String =
        result.split("tool_result").nth(1).unwrap().chars().filter(char::is_ascii_digit).collect();
    assert!(digits.len() >= 10, "{result}");
}

#[test]
fn the_example_says_why_there_is_no_answer() {
    let (_server, project) = serving(WIRES[0], [ScriptedTurn::status(401).repeat(9)]);
    let mut command = Command::new(example_path("relaycode-relay", "rpc-ask"));
    project.surround(&mut command);
    command.arg(project.path("")).arg("What time is it?").env("RELAY_BINARY", env!("CARGO_BIN_EXE_relay"));
    let ran = command.output().unwrap();
    assert!(!ran.status.success() && ran.stdout.is_empty(), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("run_failed"), "{ran:?}");
}
