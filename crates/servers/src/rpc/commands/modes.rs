//! How the queue is read, whether failures are tried again, and whether room is made by itself: what can be set at any time, and
//! counts at once.

use std::marker::PhantomData;

use relaycode_agent::{AgentHandle, InterruptMode, QueueMode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{CommandCall, CommandReply, DoneData, NoData, NoParams, RpcCommand};
use crate::rpc::error::RpcError;
use crate::rpc::server::RpcServer;

/// Something that is set, and answered with nothing.
pub(crate) trait AgentSetting {
    const NAME: &'static str;
    const ABOUT: &'static str;
    type Params: DeserializeOwned + JsonSchema;

    fn set(handle: &AgentHandle, params: Self::Params);
}

/// The command of a setting.
pub(crate) struct SettingCommand<S>(PhantomData<S>);

impl<S: AgentSetting> RpcCommand for SettingCommand<S> {
    const NAME: &'static str = S::NAME;
    const ABOUT: &'static str = S::ABOUT;
    type Params = S::Params;
    type Data = NoData;

    fn run(
        server: &mut RpcServer<'_>,
        params: S::Params,
        _: &CommandCall,
    ) -> Result<CommandReply<NoData>, RpcError> {
        S::set(&server.handle, params);
        Ok(CommandReply::Now(NoData {}))
    }
}

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
    enabled: bool,
}

pub(crate) struct SteeringMode;

impl AgentSetting for SteeringMode {
    const NAME: &'static str = "set_steering_mode";
    const ABOUT: &'static str = "How much of what was said with `steer` the model hears at once.";
    type Params = QueueModeParams;

    fn set(handle: &AgentHandle, params: QueueModeParams) {
        handle.set_steering_mode(params.mode);
    }
}

pub(crate) struct FollowUpMode;

impl AgentSetting for FollowUpMode {
    const NAME: &'static str = "set_follow_up_mode";
    const ABOUT: &'static str = "How much of what was said with `follow_up` the model hears at once.";
    type Params = QueueModeParams;

    fn set(handle: &AgentHandle, params: QueueModeParams) {
        handle.set_follow_up_mode(params.mode);
    }
}

pub(crate) struct SteeringInterrupt;

impl AgentSetting for SteeringInterrupt {
    const NAME: &'static str = "set_interrupt_mode";
    const ABOUT: &'static str = "Whether what was said with `steer` skips the calls that have not begun.";
    type Params = InterruptModeParams;

    fn set(handle: &AgentHandle, params: InterruptModeParams) {
        handle.set_interrupt_mode(params.mode);
    }
}

pub(crate) struct AutoRetry;

impl AgentSetting for AutoRetry {
    const NAME: &'static str = "set_auto_retry";
    const ABOUT: &'static str = "Whether an answer that failed is asked for again; counts at once.";
    type Params = EnabledParams;

    fn set(handle: &AgentHandle, params: EnabledParams) {
        handle.set_auto_retry(params.enabled);
    }
}

pub(crate) struct AutoCompaction;

impl AgentSetting for AutoCompaction {
    const NAME: &'static str = "set_auto_compaction";
    const ABOUT: &'static str = "Whether the older part of the conversation is replaced by a summary by itself when the model's window \
        is nearly full.";
    type Params = EnabledParams;

    fn set(handle: &AgentHandle, params: EnabledParams) {
        handle.set_auto_compaction(params.enabled);
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
