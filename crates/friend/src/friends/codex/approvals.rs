//! What the app-server asks for, and the answer: no. Each no is remembered.

use relaycode_clients::jsonrpc::{JsonRpcPeer, METHOD_NOT_FOUND};
use serde_json::{Value, json};

use super::events::CodexTurnState;
use crate::friend::answer::DeclinedActionKind;
use crate::friend::event::EventSink;

/// Refuses what codex asks for; it is told so, and goes on without.
pub(super) fn decline_request(
    peer: &mut JsonRpcPeer,
    id: &Value,
    method: &str,
    params: &Value,
    heard: &mut CodexTurnState,
    hear: &mut EventSink<'_>,
) {
    match method {
        "item/fileChange/requestApproval" => {
            let files = heard.take_change_files(params["itemId"].as_str().unwrap_or_default());
            for file in &files {
                heard.record_decline(DeclinedActionKind::Write, file, hear);
            }
            if files.is_empty() {
                let what = params["grantRoot"].as_str().or(params["reason"].as_str()).unwrap_or("a file");
                heard.record_decline(DeclinedActionKind::Write, what, hear);
            }
            peer.respond(id, &json!({"decision": "decline"}));
        }
        "item/commandExecution/requestApproval" => {
            let what = params["command"].as_str().or(params["reason"].as_str()).unwrap_or("a command");
            heard.record_decline(DeclinedActionKind::Command, what, hear);
            peer.respond(id, &json!({"decision": "decline"}));
        }
        // The names that these had in older versions, with words of their own for the answer.
        "applyPatchApproval" | "execCommandApproval" => {
            let kind = if method == "applyPatchApproval" {
                DeclinedActionKind::Write
            } else {
                DeclinedActionKind::Command
            };
            heard.record_decline(kind, params["reason"].as_str().unwrap_or(method), hear);
            peer.respond(id, &json!({"decision": "denied"}));
        }
        "item/permissions/requestApproval" => {
            heard.record_decline(
                DeclinedActionKind::Other,
                params["reason"].as_str().unwrap_or("more permissions"),
                hear,
            );
            peer.respond(id, &json!({"permissions": {}, "scope": "turn"}));
        }
        "item/tool/requestUserInput" => {
            heard.record_decline(DeclinedActionKind::Other, "a question to the user", hear);
            peer.respond(id, &json!({"answers": {}}));
        }
        "mcpServer/elicitation/request" => {
            heard.record_decline(
                DeclinedActionKind::Other,
                params["serverName"].as_str().unwrap_or("a tool server"),
                hear,
            );
            peer.respond(id, &json!({"action": "decline"}));
        }
        other => {
            heard.record_decline(DeclinedActionKind::Other, other, hear);
            peer.respond_error(id, METHOD_NOT_FOUND, "relay does not do this");
        }
    }
}
