//! A program that lets relay's agent answer a question, with a tool of its own: `relay rpc` over two pipes.
//!
//! ```sh
//! cargo run -p relaycode-servers --example ask -- my-project "What time is it?"
//! ```
//! `RELAY_BINARY` names another relay than the one in `PATH`. A program needs nothing of relay's crates for this.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(project), Some(question)) = (arguments.next(), arguments.next()) else {
        return Err("usage: ask PROJECT QUESTION".into());
    };
    let relay = std::env::var("RELAY_BINARY").unwrap_or_else(|_| "relay".to_string());
    let mut child = Command::new(relay)
        .args(["-C", &project, "rpc", "--access", "read-only"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().ok_or("no stdin")?;
    let output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
    let mut send = |line: Value| writeln!(input, "{line}");
    for line in output.lines() {
        let frame: Value = serde_json::from_str(&line?)?;
        match frame["type"].as_str().unwrap_or_default() {
            "ready" => {
                send(json!({"id": "tools", "type": "set_host_tools", "tools": [{
                    "name": "clock", "description": "The seconds since 1970.", "readOnly": true,
                    "parameters": {"type": "object", "properties": {}},
                }]}))?;
                send(json!({"id": "prompt", "type": "prompt", "message": question}))?;
            }
            "host_tool_call" => {
                let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
                send(json!({"type": "host_tool_result", "id": frame["id"], "content": seconds.to_string()}))?;
            }
            "response" if frame["success"] == false => return Err(frame["error"].to_string().into()),
            "response" if frame["command"] == "get_last_assistant_text" => {
                println!("{}", frame["data"]["text"].as_str().unwrap_or_default());
                break;
            }
            "event" if frame["event"]["type"] == "agent_end" => {
                send(json!({"id": "text", "type": "get_last_assistant_text"}))?;
            }
            _ => {}
        }
    }
    // The end of its input is the end of relay.
    drop(input);
    child.wait()?;
    Ok(())
}
