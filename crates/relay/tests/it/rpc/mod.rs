//! `relay rpc` through the real binary: what programs get wrong, how both sides die, and the Python client.

mod bad_input;
mod deaths;
mod example;
mod plans;
mod python;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use crate::fixture::scratch_project::Project;

/// How long a frame may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that has started `relay rpc`.
pub(crate) struct RpcProgram {
    pub(crate) child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    frames: Receiver<Value>,
}

impl RpcProgram {
    pub(crate) fn start(project: &Project, args: &[&str]) -> RpcProgram {
        let mut command = project.command(&[&["rpc"], args].concat());
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, frames) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // The last line of one that was killed may be cut off.
                let Ok(frame) = serde_json::from_str(&line) else { return };
                if sender.send(frame).is_err() {
                    return;
                }
            }
        });
        let mut program = RpcProgram { child, stdin, frames };
        assert_eq!(program.read("ready")["protocol_version"], 1);
        program
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        // Whoever is gone reads nothing.
        let _ = self.stdin.as_mut().unwrap().write_all(bytes);
    }

    pub(crate) fn send(&mut self, line: &Value) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    /// Up to the first frame of this type, or with an event of this type; that one.
    pub(crate) fn read(&mut self, kind: &str) -> Value {
        self.try_read(kind).unwrap_or_else(|| panic!("no {kind}"))
    }

    /// The same; `None` if the run or relay ends before, or waits for the program.
    pub(crate) fn try_read(&mut self, kind: &str) -> Option<Value> {
        loop {
            let frame = self.frames.recv_timeout(PATIENCE).ok()?;
            let event = &frame["event"]["type"];
            if frame["type"] == kind || event == kind {
                return Some(frame);
            }
            // Nothing more comes by itself.
            let waits = frame["type"] == "host_tool_call" && kind == "message_end";
            if waits || (event == "agent_end" && kind != "response") {
                return None;
            }
        }
    }

    /// Sends a command and reads its answer.
    pub(crate) fn call(&mut self, line: &Value) -> Value {
        self.send(line);
        self.read("response")
    }

    /// Sends a command and reads its answer and a frame of this type, which may come first.
    pub(crate) fn call_with(&mut self, line: &Value, kind: &str) -> (Value, Value) {
        self.send(line);
        let (mut response, mut other) = (None, None);
        while response.is_none() || other.is_none() {
            let frame = self.frames.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no {kind}"));
            if frame["type"] == "response" {
                response = Some(frame);
            } else if frame["type"] == kind {
                other = Some(frame);
            }
        }
        (response.unwrap(), other.unwrap())
    }

    /// Closes the input; the exit code.
    pub(crate) fn end(mut self) -> i32 {
        self.stdin = None;
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for RpcProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
