//! What the program brings: tools, files, hooks, answers. What is set while the agent works counts from the next prompt on, but for
//! hooks and answers, which count at once.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use relaycode_tools::{Tool, VirtualFiles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CommandCall, CommandReply, NoData, RpcCommand};
use crate::rpc::error::RpcError;
use crate::rpc::frame::{HookAction, HookName};
use crate::rpc::hooks::{HookSettings, MAX_HOOK_WAIT};
use crate::rpc::host::DEFAULT_WAIT;
use crate::rpc::host_files::{HostFiles, HostUriScheme};
use crate::rpc::host_tools::{HostTool, HostToolSpec, MAX_TOOLS};
use crate::rpc::server::RpcServer;

/// The longest that a program may take for an answer.
const MAX_ANSWER_WAIT: Duration = Duration::from_secs(24 * 3600);
/// How long a hook may take, unless the program says.
const DEFAULT_HOOK_WAIT: Duration = Duration::from_secs(10);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetHostToolsParams {
    /// All of them: those of before that are not among them are gone.
    tools: Vec<HostToolSpec>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolNamesData {
    /// What the model can call from the next prompt on.
    tools: Vec<String>,
}

pub(crate) struct SetHostToolsCommand;

impl RpcCommand for SetHostToolsCommand {
    const NAME: &'static str = "set_host_tools";
    const ABOUT: &'static str = "Tools that the program runs itself: `host_tool_call` asks it to.";
    type Params = SetHostToolsParams;
    type Data = ToolNamesData;

    fn run(
        server: &mut RpcServer<'_>,
        params: SetHostToolsParams,
        _: &CommandCall,
    ) -> Result<CommandReply<ToolNamesData>, RpcError> {
        if params.tools.len() > MAX_TOOLS {
            return Err(RpcError::params(format!("at most {MAX_TOOLS} tools are possible")));
        }
        let mut names = HashSet::new();
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        for spec in params.tools {
            if !names.insert(spec.name.clone()) {
                return Err(RpcError::params(format!("there are two tools `{}`", spec.name)));
            }
            let (requests, outbox) = (server.link.tools.clone(), server.link.outbox.clone());
            tools.push(Arc::new(HostTool::new(spec, requests, outbox)?));
        }
        server.set_host_tools(tools);
        Ok(CommandReply::Now(ToolNamesData { tools: server.tool_names() }))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetHostUriSchemesParams {
    /// All of them: those of before that are not among them are gone.
    schemes: Vec<HostUriScheme>,
}

pub(crate) struct SetHostUriSchemesCommand;

impl RpcCommand for SetHostUriSchemesCommand {
    const NAME: &'static str = "set_host_uri_schemes";
    const ABOUT: &'static str =
        "Files that the program serves: `read` and `write` of `scheme://…` become `host_uri_request`.";
    type Params = SetHostUriSchemesParams;
    type Data = NoData;

    fn run(
        server: &mut RpcServer<'_>,
        params: SetHostUriSchemesParams,
        _: &CommandCall,
    ) -> Result<CommandReply<NoData>, RpcError> {
        let (requests, outbox) = (server.link.files.clone(), server.link.outbox.clone());
        let has_any = !params.schemes.is_empty();
        let files: Arc<dyn VirtualFiles> = Arc::new(HostFiles::new(params.schemes, requests, outbox)?);
        server.set_host_files(has_any.then_some(files));
        Ok(CommandReply::Now(NoData {}))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SetHooksParams {
    /// All of them; none: nothing is asked.
    hooks: Vec<HookName>,
    /// How long the program may take: 10 000 if left out, at most 600 000.
    #[serde(default)]
    timeout_ms: Option<u64>,
    /// What counts if it takes longer.
    #[serde(default)]
    default: HookAction,
}

pub(crate) struct SetHooksCommand;

impl RpcCommand for SetHooksCommand {
    const NAME: &'static str = "set_hooks";
    const ABOUT: &'static str =
        "Before what the program is asked: `hook_request`, answered by `hook_result`.";
    type Params = SetHooksParams;
    type Data = NoData;

    fn run(
        server: &mut RpcServer<'_>,
        params: SetHooksParams,
        _: &CommandCall,
    ) -> Result<CommandReply<NoData>, RpcError> {
        let wait = params.timeout_ms.map_or(DEFAULT_HOOK_WAIT, Duration::from_millis).min(MAX_HOOK_WAIT);
        server.link.hooks.set(params.hooks, HookSettings { wait, default: params.default });
        Ok(CommandReply::Now(NoData {}))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SetAttendedParams {
    attended: bool,
    /// How long an answer may take: 300 000 if left out.
    #[serde(default)]
    timeout_ms: Option<u64>,
}

pub(crate) struct SetAttendedCommand;

impl RpcCommand for SetAttendedCommand {
    const NAME: &'static str = "set_attended";
    const ABOUT: &'static str = "The program answers questions (`question_asked`) and decides about changes (`workflow_gate`) for \
        the user. Until it says so, nobody is there to ask, and what needs an answer is not done.";
    type Params = SetAttendedParams;
    type Data = NoData;

    fn run(
        server: &mut RpcServer<'_>,
        params: SetAttendedParams,
        _: &CommandCall,
    ) -> Result<CommandReply<NoData>, RpcError> {
        let wait = params.timeout_ms.map_or(DEFAULT_WAIT, Duration::from_millis).min(MAX_ANSWER_WAIT);
        server.set_attended(params.attended, wait);
        Ok(CommandReply::Now(NoData {}))
    }
}
