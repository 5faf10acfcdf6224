//! A command of the user's: run as the agent's are, in the same fence, under the same rules.

use relaycode_agent::UserCallOutcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CommandCall, CommandReply, DoneData, NoParams, RpcCommand};
use crate::rpc::error::RpcError;
use crate::rpc::server::{AgentWork, RpcServer};

/// Bytes of a command: it is read by rules, shown, and kept with the events.
const MAX_COMMAND_BYTES: usize = 1 << 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ShellCommand {
    pub(crate) command: String,
    /// Seconds: 1 to 3600, 300 if left out.
    #[serde(default)]
    pub(crate) timeout: Option<f64>,
    /// The model is not told.
    #[serde(default)]
    pub(crate) exclude_from_context: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BashData {
    command: String,
    /// What it printed, its end if that was much, and remarks of relay's.
    output: String,
    /// `null`: it did not run to its end.
    exit_code: Option<i64>,
    /// It did not run, failed, or was ended.
    is_error: bool,
    cancelled: bool,
    /// `artifact://…`, where all of a long output is.
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact: Option<String>,
}

impl BashData {
    pub(crate) fn new(command: &ShellCommand, outcome: UserCallOutcome) -> BashData {
        let details = outcome.details.unwrap_or_default();
        BashData {
            command: command.command.clone(),
            output: outcome.text,
            exit_code: details.get("exitCode").and_then(Value::as_i64),
            is_error: outcome.is_error,
            cancelled: outcome.is_cancelled,
            artifact: details.get("artifact").and_then(Value::as_str).map(str::to_string),
        }
    }
}

pub(crate) struct BashCommand;

impl RpcCommand for BashCommand {
    const NAME: &'static str = "bash";
    const ABOUT: &'static str = "Runs a command as the agent's are run, and tells the model of it with the next prompt. Answered \
        when it has ended; its output comes as events meanwhile. Not while the agent works.";
    type Params = ShellCommand;
    type Data = BashData;

    fn run(
        server: &mut RpcServer<'_>,
        params: ShellCommand,
        call: &CommandCall,
    ) -> Result<CommandReply<BashData>, RpcError> {
        if params.command.len() > MAX_COMMAND_BYTES {
            return Err(RpcError::params(format!("a command has at most {} kB", MAX_COMMAND_BYTES >> 10)));
        }
        server.start_command(call, params).map(|()| CommandReply::Later)
    }
}

pub(crate) struct AbortBashCommand;

impl RpcCommand for AbortBashCommand {
    const NAME: &'static str = "abort_bash";
    const ABOUT: &'static str = "Ends a command that `bash` runs.";
    type Params = NoParams;
    type Data = DoneData;

    fn run(
        server: &mut RpcServer<'_>,
        _: NoParams,
        _: &CommandCall,
    ) -> Result<CommandReply<DoneData>, RpcError> {
        let done = server.work() == Some(AgentWork::Shell) && server.abort();
        Ok(CommandReply::Now(DoneData { done }))
    }
}
