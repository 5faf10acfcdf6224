//! How the queue is read, and whether failures are tried again.

use relaycode_agent::{InterruptMode, QueueMode};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{CommandCall, CommandReply, DoneData, NoData, NoParams, RpcCommand};
use crate::rpc::error::RpcError;
use crate::rpc::server::RpcServer;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueueModeParams {
    mode: QueueMode,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InterruptModeParams {
    mode: InterruptMode,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EnabledParams {
    pub(crate) enabled: bool,
}

type Reply = Result<CommandReply<NoData>, RpcError>;

const DONE: Reply = Ok(CommandReply::Now(NoData {}));

pub(crate) struct SetSteeringModeCommand;

impl RpcCommand for SetSteeringModeCommand {
    const NAME: &'static str = "set_steering_mode";
    const ABOUT: &'static str = "How much of what was said with `steer` the model hears at once.";
    type Params = QueueModeParams;
    type Data = NoData;

    fn run(server: &mut RpcServer<'_>, params: QueueModeParams, _: &CommandCall) -> Reply {
        server.handle.set_steering_mode(params.mode);
        DONE
    }
}

pub(crate) struct SetFollowUpModeCommand;

impl RpcCommand for SetFollowUpModeCommand {
    const NAME: &'static str = "set_follow_up_mode";
    const ABOUT: &'static str = "How much of what was said with `follow_up` the model hears at once.";
    type Params = QueueModeParams;
    type Data = NoData;

    fn run(server: &mut RpcServer<'_>, params: QueueModeParams, _: &CommandCall) -> Reply {
        server.handle.set_follow_up_mode(params.mode);
        DONE
    }
}

pub(crate) struct SetInterruptModeCommand;

impl RpcCommand for SetInterruptModeCommand {
    const NAME: &'static str = "set_interrupt_mode";
    const ABOUT: &'static str = "Whether what was said with `steer` skips the calls that have not begun.";
    type Params = InterruptModeParams;
    type Data = NoData;

    fn run(server: &mut RpcServer<'_>, params: InterruptModeParams, _: &CommandCall) -> Reply {
        server.handle.set_interrupt_mode(params.mode);
        DONE
    }
}

pub(crate) struct SetAutoRetryCommand;

impl RpcCommand for SetAutoRetryCommand {
    const NAME: &'static str = "set_auto_retry";
    const ABOUT: &'static str = "Whether an answer that failed is asked for again; counts at once.";
    type Params = EnabledParams;
    type Data = NoData;

    fn run(server: &mut RpcServer<'_>, params: EnabledParams, _: &CommandCall) -> Reply {
        server.handle.set_auto_retry(params.enabled);
        DONE
    }
}

pub(crate) struct AbortRetryCommand;

impl RpcCommand for AbortRetryCommand {
    const NAME: &'static str = "abort_retry";
    const ABOUT: &'static str = "Gives up instead of waiting for the next try.";
    type Params = NoParams;
    type Data = DoneData;

    fn run(
        server: &mut RpcServer<'_>,
        _: NoParams,
        _: &CommandCall,
    ) -> Result<CommandReply<DoneData>, RpcError> {
        Ok(CommandReply::Now(DoneData { done: server.handle.abort_retry() }))
    }
}
