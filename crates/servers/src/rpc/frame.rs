//! What relay writes: one of these per line.
//!
//! Names are a contract: fields are added, never renamed.

use relaycode_agent::AgentEvent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::error::RpcError;
use super::gates::GateKind;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum RpcFrame<'a> {
    /// The first line.
    Ready {
        #[serde(rename = "protocol_version")]
        protocol_version: u32,
        #[serde(rename = "session_id")]
        session_id: &'a str,
        relay_version: &'a str,
        /// Events up to this one are not sent unless `replay` asks for them: the messages that the session had before.
        last_seq: u64,
        cwd: &'a str,
        /// `provider/model`
        model: &'a str,
        access: &'a str,
    },
    /// The answer to a command. A prompt that fails later is answered a second time.
    Response {
        /// That of the command. `null`: it had none, or none that could be read.
        id: Option<RequestId>,
        /// Empty if it could not be read.
        command: &'a str,
        success: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<Value>")]
        data: Option<Box<RawValue>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<RpcError>,
    },
    /// Something happened.
    Event {
        #[serde(rename = "protocol_version")]
        protocol_version: u32,
        #[serde(rename = "session_id")]
        session_id: &'a str,
        /// Grows by one, within a session and a process.
        seq: u64,
        event: &'a AgentEvent,
    },
    /// The program read too slowly: these events are gone. They were deltas and live output; messages are never among them.
    EventsMissed {
        #[serde(rename = "session_id")]
        session_id: &'a str,
        from: u64,
        to: u64,
        count: u64,
    },
    /// The conversation is another one now, or at another place. Events have numbers of their own from here on.
    SessionChanged {
        reason: SessionChangeReason,
        #[serde(rename = "session_id")]
        session_id: &'a str,
        previous_session_id: &'a str,
        last_seq: u64,
    },
    /// The model called a tool of the program's: `host_tool_result` answers, with this id.
    HostToolCall {
        id: &'a str,
        tool_call_id: &'a str,
        tool_name: &'a str,
        arguments: &'a Map<String, Value>,
        timeout_ms: u64,
    },
    /// Nobody waits for this call any more.
    HostToolCancel { id: &'a str },
    /// The agent reads or writes a file of the program's: `host_uri_result` answers, with this id.
    HostUriRequest {
        id: &'a str,
        operation: HostUriOperation,
        url: &'a str,
        /// What to write.
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<&'a str>,
        timeout_ms: u64,
    },
    /// Nobody waits for this file any more.
    HostUriCancel { id: &'a str },
    /// May this happen? `hook_result` answers, with this id.
    HookRequest {
        id: &'a str,
        hook: HookName,
        data: &'a Value,
        timeout_ms: u64,
        /// What counts if nobody answers in time.
        default: HookAction,
    },
    /// Something for the program to decide: `workflow_gate_response` answers.
    WorkflowGate {
        #[serde(rename = "gate_id")]
        gate_id: &'a str,
        /// What it is about: `change` or `plan`.
        stage: &'a str,
        kind: GateKind,
        /// What an answer has to follow.
        schema: &'a Value,
        /// SHA-256 of the schema as it stands here, in hexadecimal.
        #[serde(rename = "schema_hash")]
        schema_hash: &'a str,
        options: &'a [String],
        context: &'a Value,
        /// When it is over nothing is approved.
        timeout_ms: u64,
    },
    /// It is decided, or nobody waits for it any more.
    WorkflowGateClosed {
        #[serde(rename = "gate_id")]
        gate_id: &'a str,
        status: GateStatus,
    },
}

/// What a command is known by: the program's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RequestId {
    Text(String),
    #[schemars(with = "f64")]
    Number(serde_json::Number),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionChangeReason {
    New,
    Resume,
    Branch,
    Tree,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HostUriOperation {
    Read,
    Write,
}

/// Before what the program is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookName {
    /// `new_session` and `switch_session`
    SessionBeforeSwitch,
    /// `branch`
    SessionBeforeBranch,
    /// `navigate_tree`
    SessionBeforeTree,
    /// `compact`, and room that relay makes by itself
    SessionBeforeCompact,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookAction {
    #[default]
    Continue,
    Cancel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateStatus {
    /// An answer that follows the schema was given.
    Accepted,
    TimedOut,
    /// The run was ended.
    Cancelled,
}

impl RpcFrame<'_> {
    /// With its line end.
    pub(crate) fn to_line(&self) -> Vec<u8> {
        let mut line = Vec::with_capacity(256);
        self.write_line(&mut line);
        line
    }

    pub(crate) fn write_line(&self, line: &mut Vec<u8>) {
        let start = line.len();
        // Maps have text for keys and numbers are finite, so nothing here can fail; half a line is worse than none.
        if serde_json::to_writer(&mut *line, self).is_err() {
            line.truncate(start);
            return;
        }
        line.push(b'\n');
    }
}
