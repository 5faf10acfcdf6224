//! What the app-server asks for, and the answer: no. Each no is remembered.

use relaycode_clients::jsonrpc::{JsonRpcPeer, METHOD_NOT_FOUND};
use serde_json::{Value, json};

use super::events::CodexTurnState;
use crate::{DeclinedActionKind, EventSink};

/// Refuses what codex asks for; it is told so, and goes on without.
pub(super) fn decline_request(
    peer: &mut JsonRpcPeer,
    id: &Value,
    method: &str,
    params: &Value,
    heard: &mut CodexTurnState,
    hear: &mut EventSink<'_>,
) {
    use DeclinedActionKind::{Command, Other, Write};
    let text = |key: &str| params[key].as_str();
    let answer = match method {
        "item/fileChange/requestApproval" => {
            let files = heard.take_change_files(text("itemId").unwrap_or_default());
            for file in &files {
                heard.record_decline(Write, file, hear);
            }
            if files.is_empty() {
                let what = text("grantRoot").or(text("reason")).unwrap_or("a file");
                heard.record_decline(Write, what, hear);
            }
            json!({"decision": "decline"})
        }
        "item/commandExecution/requestApproval" => {
            let what = text("command").or(text("reason")).unwrap_or("a command");
            heard.record_decline(Command, what, hear);
            json!({"decision": "decline"})
        }
        // The names that these had in older versions, with words of their own for the answer.
        "applyPatchApproval" | "execCommandApproval" => {
            let kind = if method == "applyPatchApproval" { Write } else { Command };
            heard.record_decline(kind, text("reason").unwrap_or(method), hear);
            json!({"decision": "denied"})
        }
        "item/permissions/requestApproval" => {
            heard.record_decline(Other, text("reason").unwrap_or("more permissions"), hear);
            json!({"permissions": {}, "scope": "turn"})
        }
        "item/tool/requestUserInput" => {
            heard.record_decline(Other, "a question to the user", hear);
            json!({"answers": {}})
        }
        "mcpServer/elicitation/request" => {
            heard.record_decline(Other, text("serverName").unwrap_or("a tool server"), hear);
            json!({"action": "decline"})
        }
        other => {
            heard.record_decline(Other, other, hear);
            return peer.respond_error(id, METHOD_NOT_FOUND, "relay does not do this");
        }
    };
    peer.respond(id, &answer);
}
