//! A server whose program is the test.

use std::io::{BufRead, BufReader, PipeReader};

use relaycode_servers::rpc::ServeEnd;
use relaycode_testkit::served_agent::ServedAgent;
use serde_json::Value;

/// What a program has of a server.
pub(crate) struct ServedProgram {
    pub(crate) agent: ServedAgent,
    output: BufReader<PipeReader>,
}

impl ServedProgram {
    pub(crate) fn start() -> ServedProgram {
        let (output, server_out) = std::io::pipe().unwrap();
        ServedProgram { agent: ServedAgent::start(server_out), output: BufReader::new(output) }
    }

    /// The next frame; `None` at the end.
    pub(crate) fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    /// Frames up to the first that is so.
    pub(crate) fn read_until(&mut self, is_so: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut frames = Vec::new();
        while let Some(frame) = self.read() {
            let is_last = is_so(&frame);
            frames.push(frame);
            if is_last {
                break;
            }
        }
        frames
    }

    /// Publishes an event with this text.
    pub(crate) fn publish(&self, text: &str) {
        self.agent.handle.steer(relaycode_agent::UserPrompt::text(text)).unwrap();
    }

    /// Closes the input; how the server ended.
    pub(crate) fn end(self) -> ServeEnd {
        let ended = self.agent.end();
        drop(self.output);
        ended
    }

    /// The program dies.
    pub(crate) fn die(self) -> ServeEnd {
        drop(self.output);
        self.agent.end()
    }
}
