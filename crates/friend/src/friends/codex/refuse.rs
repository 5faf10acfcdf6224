//! What the app-server asks for, and the answer: no. Each no is remembered.

use relaycode_clients::jsonrpc::{METHOD_NOT_FOUND, Peer};
use serde_json::{Value, json};

use super::hear::{Hear, Heard};
use crate::answer::DeclinedKind;

/// Refuses what codex asks for; it is told so, and goes on without.
pub(super) fn refuse(
    peer: &mut Peer,
    id: &Value,
    method: &str,
    params: &Value,
    heard: &mut Heard,
    hear: &mut Hear<'_>,
) {
    match method {
        "item/fileChange/requestApproval" => {
            let files = heard.files_of(params["itemId"].as_str().unwrap_or_default());
            for file in &files {
                heard.declines(DeclinedKind::Write, file, hear);
            }
            if files.is_empty() {
                let what = params["grantRoot"].as_str().or(params["reason"].as_str()).unwrap_or("a file");
                heard.declines(DeclinedKind::Write, what, hear);
            }
            peer.answer(id, &json!({"decision": "decline"}));
        }
        "item/commandExecution/requestApproval" => {
            let what = params["command"].as_str().or(params["reason"].as_str()).unwrap_or("a command");
            heard.declines(DeclinedKind::Command, what, hear);
            peer.answer(id, &json!({"decision": "decline"}));
        }
        // The names that these had in older versions, with words of their own for the answer.
        "applyPatchApproval" | "execCommandApproval" => {
            let kind =
                if method == "applyPatchApproval" { DeclinedKind::Write } else { DeclinedKind::Command };
            heard.declines(kind, params["reason"].as_str().unwrap_or(method), hear);
            peer.answer(id, &json!({"decision": "denied"}));
        }
        "item/permissions/requestApproval" => {
            heard.declines(
                DeclinedKind::Other,
                params["reason"].as_str().unwrap_or("more permissions"),
                hear,
            );
            peer.answer(id, &json!({"permissions": {}, "scope": "turn"}));
        }
        "item/tool/requestUserInput" => {
            heard.declines(DeclinedKind::Other, "a question to the user", hear);
            peer.answer(id, &json!({"answers": {}}));
        }
        "mcpServer/elicitation/request" => {
            heard.declines(
                DeclinedKind::Other,
                params["serverName"].as_str().unwrap_or("a tool server"),
                hear,
            );
            peer.answer(id, &json!({"action": "decline"}));
        }
        other => {
            heard.declines(DeclinedKind::Other, other, hear);
            peer.refuse(id, METHOD_NOT_FOUND, "relay does not do this");
        }
    }
}
