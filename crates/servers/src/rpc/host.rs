//! The program as the agent's host: who approves a change that the door asks about.
//!
//! Invariant: a yes names the digest of exactly what was shown, and comes from the program alone; time, the end of the run and the
//! end of the program are a no. What a project's commands may do is no question for a program: trust is given at a terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use relaycode_door::{ApprovalQuestion, ApprovalReply, Approver, DoorEvent};
use relaycode_llm::CancelToken;
use relaycode_tools::{
    Host, HostAnswer, HostQuestion, PLAN_OPTIONS, ProposedPlan, SummaryDecision, SummaryProposal,
    ToolProgress, card_body,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::frame::{GateStatus, HookAction, HookName};
use super::gates::{GateBoard, GateEnd, GateKind, GateRequest};
use super::hooks::{HookBoard, HookResult};

/// How long a program may take to answer, unless it says how long.
pub(crate) const DEFAULT_WAIT: Duration = Duration::from_secs(300);
/// Bytes of all diffs of a change that is asked about.
const MAX_DIFF_BYTES: usize = 256 << 10;

/// What can become of a plan, in the order of the agent's question.
const PLAN_DECISIONS: [&str; PLAN_OPTIONS.len()] = ["approve", "approve_fresh", "keep_planning", "reject"];
const KEEP_PLANNING: usize = 2;

/// Whether the program answers, and how long it may take.
pub(crate) struct Attendance {
    is_attended: AtomicBool,
    wait_ms: AtomicU64,
}

/// Handed to the agent.
pub(crate) struct RpcHost {
    pub(crate) gates: Arc<GateBoard>,
    pub(crate) hooks: Arc<HookBoard>,
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

    /// The same question as a decision: whichever is answered first.
    fn plan_question_opened(&self, id: &str, proposed: &ProposedPlan, wait: Option<Duration>) {
        let digest = plan_digest(&proposed.plan);
        let gate = GateRequest {
            stage: "plan".to_string(),
            kind: GateKind::Approval,
            schema: json!({
                "type": "object",
                "properties": {
                    "decision": { "enum": PLAN_DECISIONS },
                    // Another plan is not meant.
                    "digest": { "const": digest },
                    "words": { "type": "string", "maxLength": 20_000 },
                },
                "required": ["decision", "digest"],
                "additionalProperties": false,
            }),
            options: PLAN_DECISIONS.map(str::to_string).to_vec(),
            context: json!({
                "questionId": id, "title": proposed.title, "plan": proposed.plan, "planFile": proposed.plan_file,
                "isEdited": proposed.is_edited, "digest": digest,
            }),
            timeout: wait.unwrap_or(DEFAULT_WAIT),
        };
        self.gates.open_for_question(&gate, id);
    }

    fn plan_question_closed(&self, id: &str, answer: &HostAnswer) {
        let status = match answer {
            HostAnswer::Options { .. } | HostAnswer::Text { .. } => GateStatus::Accepted,
            HostAnswer::TimedOut => GateStatus::TimedOut,
            HostAnswer::Stop | HostAnswer::Unavailable => GateStatus::Cancelled,
        };
        self.gates.close_for_question(id, status);
    }

    fn before_summary(&self, proposal: &SummaryProposal<'_>, cancel: &CancelToken) -> SummaryDecision {
        let data = serde_json::to_value(proposal).unwrap_or_default();
        match self.hooks.ask(HookName::SessionBeforeCompact, &data, Some(cancel)) {
            None => SummaryDecision::Stopped,
            Some(HookResult { action: HookAction::Cancel, .. }) => SummaryDecision::Cancel,
            Some(HookResult { summary: Some(summary), .. }) => SummaryDecision::Summary(summary),
            Some(HookResult { summary: None, .. }) => SummaryDecision::GoOn,
        }
    }

    fn progress(&self, _: &str, _: &ToolProgress) {}
}

/// What an answer to the gate of a plan is to its question.
pub(crate) fn plan_answer(answer: &Value) -> HostAnswer {
    let decision = answer["decision"].as_str().unwrap_or_default();
    let chosen = PLAN_DECISIONS.iter().position(|known| *known == decision);
    match (answer["words"].as_str(), chosen) {
        (Some(words), Some(KEEP_PLANNING)) if !words.trim().is_empty() => {
            HostAnswer::Text { text: words.to_string() }
        }
        // The schema knows no other.
        (_, chosen) => HostAnswer::Options { chosen: vec![chosen.unwrap_or(KEEP_PLANNING)] },
    }
}

/// What a program names when it says yes to a plan.
pub(crate) fn plan_digest(plan: &str) -> String {
    Sha256::digest(plan.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
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
    fn decisions_about_a_plan_are_the_options_of_its_question() {
        for (at, decision) in PLAN_DECISIONS.iter().enumerate() {
            let words: String = decision.replace("_fresh", ", and start over").replace('_', " ");
            assert!(PLAN_OPTIONS[at].starts_with(&words), "{words}: {}", PLAN_OPTIONS[at]);
            assert_eq!(plan_answer(&json!({"decision": decision})), HostAnswer::Options { chosen: vec![at] });
        }
        let answer = plan_answer(&json!({"decision": "keep_planning", "words": "Add a test."}));
        assert_eq!(answer, HostAnswer::Text { text: "Add a test.".into() });
        let answer = plan_answer(&json!({"decision": "reject", "words": "no"}));
        assert_eq!(answer, HostAnswer::Options { chosen: vec![3] });
    }

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
