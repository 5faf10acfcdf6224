//! `relay-scripted-model`, as it is used by hand.

use std::fs;
use std::io::Read;
use std::net::TcpStream;
use std::process::{Command, Stdio};

use relaycode_testkit::process::{ChildGuard, GENEROUS_TIMEOUT, first_line, poll_until};
use rustix::process::Signal;
use serde_json::{Value, json};

fn ask(port: u16, method: &str, path: &str, body: &str) -> Value {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let head =
        format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    std::io::Write::write_all(&mut stream, format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[test]
fn it_says_where_it_is_serves_its_script_logs_and_ends_when_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    fs::write(file("script.json"), json!([{"text": "one"}, {"text": "two"}]).to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_relay-scripted-model"));
    command.arg("--script").arg(file("script.json")).arg("--log").arg(file("log.jsonl"));
    command.arg("--port-file").arg(file("port")).args(["--consume", "any"]).stdout(Stdio::piped());
    let mut program = ChildGuard::start(&mut command).unwrap();
    let said = first_line(&mut program, GENEROUS_TIMEOUT);
    let port: u16 = fs::read_to_string(file("port")).unwrap().trim().parse().unwrap();
    assert_eq!(said, format!("scripted model on http://127.0.0.1:{port}"));

    let answer = ask(port, "POST", "/v1/messages", "{}");
    assert_eq!(answer["content"][0]["text"], "one");
    let state = ask(port, "GET", "/__relay/state", "");
    assert_eq!(
        (&state["i"], &state["left"], &state["connections"]["open"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!(ask(port, "GET", "/__relay/requests", "")[0]["path"], "/v1/messages");
    let script = json!({"turns": [{"text": "new"}], "consume": "any"}).to_string();
    assert_eq!(ask(port, "POST", "/__relay/reset", &script), json!({"ok": true}));
    assert_eq!(ask(port, "POST", "/api/chat", "{\"stream\":false}")["message"]["content"], "new");
    assert!(ask(port, "POST", "/__relay/reset", "{\"no\":1}")["error"]["message"].is_string());

    let logged =
        || fs::read_to_string(file("log.jsonl")).is_ok_and(|log| log.contains("\"ended\":\"complete\""));
    assert!(poll_until(GENEROUS_TIMEOUT, || logged().then_some(())).is_some());
    program.signal(Signal::TERM);
    assert_eq!(program.wait_exit(GENEROUS_TIMEOUT).unwrap().code(), Some(0));
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn a_script_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.json");
    fs::write(&script, "[{\"txt\": 1}]").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_relay-scripted-model"))
        .arg("--script")
        .arg(&script)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("script.json") && said.contains("txt"), "{said}");
}
