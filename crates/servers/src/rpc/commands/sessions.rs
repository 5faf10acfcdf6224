//! From one conversation to another.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{CommandCall, CommandReply, NoData, NoParams, RpcCommand};
use crate::rpc::error::RpcError;
use crate::rpc::server::{RpcServer, SessionMove, SessionMoveData};

/// Bytes of a name.
const MAX_NAME_BYTES: usize = 4 << 10;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SwitchSessionParams {
    /// The beginning of an id, a file, or a number of `relay sessions`.
    session: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EntryParams {
    entry_id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetSessionNameParams {
    name: String,
}

fn start(
    server: &mut RpcServer<'_>,
    call: &CommandCall,
    to: SessionMove,
) -> Result<CommandReply<SessionMoveData>, RpcError> {
    server.start_move(call, to).map(|()| CommandReply::Later)
}

pub(crate) struct NewSessionCommand;

impl RpcCommand for NewSessionCommand {
    const NAME: &'static str = "new_session";
    const ABOUT: &'static str = "Begins a new session. Like the next three, it ends what the agent does, and is answered when it \
        is done.";
    type Params = NoParams;
    type Data = SessionMoveData;

    fn run(
        server: &mut RpcServer<'_>,
        _: NoParams,
        call: &CommandCall,
    ) -> Result<CommandReply<SessionMoveData>, RpcError> {
        start(server, call, SessionMove::New)
    }
}

pub(crate) struct SwitchSessionCommand;

impl RpcCommand for SwitchSessionCommand {
    const NAME: &'static str = "switch_session";
    const ABOUT: &'static str = "Goes on with another session of this directory.";
    type Params = SwitchSessionParams;
    type Data = SessionMoveData;

    fn run(
        server: &mut RpcServer<'_>,
        params: SwitchSessionParams,
        call: &CommandCall,
    ) -> Result<CommandReply<SessionMoveData>, RpcError> {
        start(server, call, SessionMove::Switch { session: params.session })
    }
}

pub(crate) struct BranchCommand;

impl RpcCommand for BranchCommand {
    const NAME: &'static str = "branch";
    const ABOUT: &'static str =
        "Begins a session with everything before a prompt of this one, and gives that prompt's text.";
    type Params = EntryParams;
    type Data = SessionMoveData;

    fn run(
        server: &mut RpcServer<'_>,
        params: EntryParams,
        call: &CommandCall,
    ) -> Result<CommandReply<SessionMoveData>, RpcError> {
        start(server, call, SessionMove::Branch { entry_id: params.entry_id })
    }
}

pub(crate) struct NavigateTreeCommand;

impl RpcCommand for NavigateTreeCommand {
    const NAME: &'static str = "navigate_tree";
    const ABOUT: &'static str = "Goes to another entry of this session: before it, if it is a prompt, and behind it else. Nothing \
        is lost: what was said stays as a branch.";
    type Params = EntryParams;
    type Data = SessionMoveData;

    fn run(
        server: &mut RpcServer<'_>,
        params: EntryParams,
        call: &CommandCall,
    ) -> Result<CommandReply<SessionMoveData>, RpcError> {
        start(server, call, SessionMove::Tree { entry_id: params.entry_id })
    }
}

pub(crate) struct SetSessionNameCommand;

impl RpcCommand for SetSessionNameCommand {
    const NAME: &'static str = "set_session_name";
    const ABOUT: &'static str = "Names the session.";
    type Params = SetSessionNameParams;
    type Data = NoData;

    fn run(
        server: &mut RpcServer<'_>,
        params: SetSessionNameParams,
        _: &CommandCall,
    ) -> Result<CommandReply<NoData>, RpcError> {
        if params.name.trim().is_empty() || params.name.len() > MAX_NAME_BYTES {
            return Err(RpcError::params("`name` is empty, or has more than 4 kB"));
        }
        server.handle.name_session(&params.name).map_err(|error| RpcError::failed(&error))?;
        Ok(CommandReply::Now(NoData {}))
    }
}
