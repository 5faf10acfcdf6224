//! Changes of files, taken back and brought back.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{CommandCall, CommandReply, RpcCommand};
use crate::rpc::backend::{ChangeStep, ChangeStepData};
use crate::rpc::error::{RpcError, RpcErrorCode};
use crate::rpc::server::RpcServer;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ChangeStepParams {
    /// Also if another branch or commit is checked out than when the change was made.
    #[serde(default)]
    any_branch: bool,
}

fn step(
    server: &mut RpcServer<'_>,
    step: ChangeStep,
    params: &ChangeStepParams,
) -> Result<CommandReply<ChangeStepData>, RpcError> {
    server.idle_agent()?;
    if server.facts().access == "read-only" {
        let said = "no file is changed in this session: its access is read-only";
        return Err(RpcError::new(RpcErrorCode::NotAllowed, said));
    }
    server.step_changes(step, params.any_branch).map(CommandReply::Now)
}

pub(crate) struct UndoCommand;

impl RpcCommand for UndoCommand {
    const NAME: &'static str = "undo";
    const ABOUT: &'static str = "Takes the newest change of the project back, as `relay undo` does. Later edits stay. Not while the agent works.";
    type Params = ChangeStepParams;
    type Data = ChangeStepData;

    fn run(
        server: &mut RpcServer<'_>,
        params: ChangeStepParams,
        _: &CommandCall,
    ) -> Result<CommandReply<ChangeStepData>, RpcError> {
        step(server, ChangeStep::Undo, &params)
    }
}

pub(crate) struct RedoCommand;

impl RpcCommand for RedoCommand {
    const NAME: &'static str = "redo";
    const ABOUT: &'static str = "Brings back what `undo` took back last.";
    type Params = ChangeStepParams;
    type Data = ChangeStepData;

    fn run(
        server: &mut RpcServer<'_>,
        params: ChangeStepParams,
        _: &CommandCall,
    ) -> Result<CommandReply<ChangeStepData>, RpcError> {
        step(server, ChangeStep::Redo, &params)
    }
}
