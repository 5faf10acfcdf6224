//! Making a long conversation short, and reading it whole again.

use relaycode_agent::compaction::{CompactionAction, CompactionOutcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CommandCall, CommandReply, DoneData, NoParams, RpcCommand};
use crate::rpc::error::{RpcError, RpcErrorCode};
use crate::rpc::server::RpcServer;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CompactParams {
    /// What the summary should look at.
    #[serde(default)]
    custom_instructions: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompactData {
    /// The agent works: it makes room before its next request, which an event tells.
    requested: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<CompactionAction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_before: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_after: Option<u64>,
    /// The session's entry that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_id: Option<String>,
    /// Why no model summed it up, or why nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl CompactData {
    pub(crate) fn requested() -> CompactData {
        CompactData {
            requested: true,
            action: None,
            tokens_before: None,
            tokens_after: None,
            entry_id: None,
            why: None,
        }
    }

    pub(crate) fn of(outcome: CompactionOutcome) -> Result<CompactData, RpcError> {
        if outcome.action == CompactionAction::Cancelled {
            return Err(RpcError::new(RpcErrorCode::Cancelled, "a hook of the program is against it"));
        }
        Ok(CompactData {
            requested: false,
            action: Some(outcome.action),
            tokens_before: Some(outcome.tokens_before),
            tokens_after: Some(outcome.tokens_after),
            entry_id: outcome.entry_id,
            why: outcome.error,
        })
    }
}

pub(crate) struct CompactCommand;

impl RpcCommand for CompactCommand {
    const NAME: &'static str = "compact";
    const ABOUT: &'static str = "Replaces the older part of the conversation by a summary. Answered when it is done; while the \
        agent works, at once: it happens before the next request.";
    type Params = CompactParams;
    type Data = CompactData;

    fn run(
        server: &mut RpcServer<'_>,
        params: CompactParams,
        call: &CommandCall,
    ) -> Result<CommandReply<CompactData>, RpcError> {
        let words = params.custom_instructions;
        server.start_compaction(call, words).map(|()| CommandReply::Later)
    }
}

pub(crate) struct UndoCompactionCommand;

impl RpcCommand for UndoCompactionCommand {
    const NAME: &'static str = "undo_compaction";
    const ABOUT: &'static str =
        "Lets the model read again what the latest summary stands for. Not while the agent works.";
    type Params = NoParams;
    type Data = DoneData;

    fn run(
        server: &mut RpcServer<'_>,
        _: NoParams,
        _: &CommandCall,
    ) -> Result<CommandReply<DoneData>, RpcError> {
        let undone = server.idle_agent()?.undo_compaction().map_err(|error| RpcError::failed(&error))?;
        Ok(CommandReply::Now(DoneData { done: undone.is_some() }))
    }
}
