//! The program as the agent's host: who approves a change that the door asks about.
//!
//! Invariant: a yes names the digest of exactly what was shown, and comes from the program alone; time, the end of the run and the
//! end of the program are a no. What a project's commands may do is no question for a program: trust is given at a terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use relaycode_door::{ApprovalQuestion, ApprovalReply, Approver, DoorEvent};
use relaycode_tools::{Host, HostAnswer, HostQuestion, ToolProgress, card_body};
use serde_json::{Value, json};

use super::gates::{GateBoard, GateEnd, GateKind, GateRequest};

/// How long a program may take to answer, unless it says how long.
pub(crate) const DEFAULT_WAIT: Duration = Duration::from_secs(300);
/// Bytes of all diffs of a change that is asked about.
const MAX_DIFF_BYTES: usize = 256 << 10;

/// Whether the program answers, and how long it may take.
pub(crate) struct Attendance {
    is_attended: AtomicBool,
    wait_ms: AtomicU64,
}

/// Handed to the agent.
pub(crate) struct RpcHost {
    pub(crate) gates: Arc<GateBoard>,
    pub(crate) attendance: Arc<Attendance>,
}

struct RpcApprover<'a> {
    host: &'a RpcHost,
    call: &'a str,
}

impl Default for Attendance {
    fn default() -> Attendance {
        let wait_ms = u64::try_from(DEFAULT_WAIT.as_millis()).unwrap_or(u64::MAX);
        Attendance { is_attended: AtomicBool::new(false), wait_ms: AtomicU64::new(wait_ms) }
    }
}

impl Attendance {
    pub(crate) fn set(&self, is_attended: bool, wait: Duration) {
        self.wait_ms.store(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
        self.is_attended.store(is_attended, Ordering::SeqCst);
    }

    pub(crate) fn is_attended(&self) -> bool {
        self.is_attended.load(Ordering::SeqCst)
    }

    pub(crate) fn wait(&self) -> Duration {
        Duration::from_millis(self.wait_ms.load(Ordering::SeqCst))
    }
}

impl Host for RpcHost {
    /// Questions are the agent's own, as events; this one is asked only where nobody answers those.
    fn ask(&self, _: &HostQuestion) -> HostAnswer {
        HostAnswer::Unavailable
    }

    fn with_approver(&self, call: &str, submit: &mut dyn FnMut(&mut dyn Approver)) {
        submit(&mut RpcApprover { host: self, call });
    }

    fn progress(&self, _: &str, _: &ToolProgress) {}
}

impl Approver for RpcApprover<'_> {
    fn name(&self) -> &'static str {
        "program"
    }

    fn decide(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalReply {
        let ApprovalQuestion::Apply { plan, digest, rules, .. } = question else {
            return ApprovalReply::Unavailable;
        };
        if !self.host.attendance.is_attended() {
            return ApprovalReply::Unavailable;
        }
        let digest = digest.to_string();
        let reasons: Vec<Value> = rules
            .iter()
            .map(|reason| json!({ "rule": reason.rule.name, "sentence": reason.sentence }))
            .collect();
        let mut change = serde_json::to_value(card_body(plan)).unwrap_or_default();
        clip_diffs(&mut change["files"]);
        let gate = GateRequest {
            stage: "change".to_string(),
            kind: GateKind::Approval,
            schema: json!({
                "type": "object",
                "properties": {
                    "approve": { "type": "boolean" },
                    // A yes to anything else does not count.
                    "digest": { "const": digest },
                    "reason": { "type": "string", "maxLength": 2000 },
                },
                "required": ["approve", "digest"],
                "additionalProperties": false,
            }),
            options: vec!["approve".to_string(), "decline".to_string()],
            context: json!({
                "toolCallId": self.call, "digest": digest, "files": change["files"], "reasons": reasons,
            }),
            timeout: self.host.attendance.wait(),
        };
        match self.host.gates.ask(&gate) {
            Ok(answer) if answer["approve"] == true => question.yes(),
            Ok(answer) => ApprovalReply::No { reason: answer["reason"].as_str().map(str::to_string) },
            Err(GateEnd::TimedOut) => {
                ApprovalReply::No { reason: Some("nobody answered in time".to_string()) }
            }
            Err(GateEnd::Cancelled) => ApprovalReply::Stop,
            Err(GateEnd::Unavailable) => ApprovalReply::Unavailable,
        }
    }

    fn on_event(&mut self, _: &DoorEvent<'_>) {}

    fn stop_requested(&self) -> bool {
        false
    }
}

/// What does not fit is said to be missing, file by file.
fn clip_diffs(files: &mut Value) {
    let mut left = MAX_DIFF_BYTES;
    for file in files.as_array_mut().into_iter().flatten() {
        let bytes = file["diff"].as_str().map_or(0, str::len);
        if bytes > left {
            file["diff"] = Value::Null;
            file["diffTooLong"] = true.into();
        }
        left = left.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_that_does_not_fit_is_said_to_be_missing() {
        let mut files = json!([
            {"path": "a", "diff": "x".repeat(MAX_DIFF_BYTES)}, {"path": "b", "diff": "+1"}, {"path": "c", "diff": ""},
        ]);
        clip_diffs(&mut files);
        assert_eq!(files[0]["diff"].as_str().unwrap().len(), MAX_DIFF_BYTES);
        assert_eq!(files[1], json!({"path": "b", "diff": null, "diffTooLong": true}));
        assert_eq!(files[2]["diff"], "");
    }
}
