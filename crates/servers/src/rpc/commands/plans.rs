//! Planning: nothing changes but the plan until somebody approves it.

use relaycode_agent::{AgentModeError, ModeRequest};
use relaycode_tools::ProposedPlan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CommandCall, CommandReply, NoData, NoParams, RpcCommand};
use crate::rpc::error::{RpcError, RpcErrorCode};
use crate::rpc::host::plan_digest;
use crate::rpc::server::{AgentWork, RpcServer};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RpcMode {
    /// The agent does what its access level allows.
    None,
    /// It looks, asks and thinks, and writes a plan.
    Plan,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetModeParams {
    mode: RpcMode,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ModeData {
    /// The agent works: it counts before its next answer, which `mode_changed` tells.
    pub(crate) requested: bool,
}

pub(crate) struct SetModeCommand;

impl RpcCommand for SetModeCommand {
    const NAME: &'static str = "set_mode";
    const ABOUT: &'static str =
        "Begins to plan, or ends that without a plan. While the agent works, before its next answer.";
    type Params = SetModeParams;
    type Data = ModeData;

    fn run(
        server: &mut RpcServer<'_>,
        params: SetModeParams,
        call: &CommandCall,
    ) -> Result<CommandReply<ModeData>, RpcError> {
        let requested = server.work() == Some(AgentWork::Prompt) && !server.is_moving();
        if requested {
            server.handle.request_mode(match params.mode {
                RpcMode::None => ModeRequest::Leave,
                RpcMode::Plan => ModeRequest::Enter("plan".to_string()),
            });
        } else {
            server.start_mode(call, params.mode == RpcMode::Plan)?;
            return Ok(CommandReply::Later);
        }
        Ok(CommandReply::Now(ModeData { requested }))
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlanData {
    plan: String,
    plan_file: String,
    /// SHA-256 of the plan in hexadecimal: `approve_plan` wants it.
    digest: String,
}

pub(crate) struct GetPlanCommand;

impl RpcCommand for GetPlanCommand {
    const NAME: &'static str = "get_plan";
    const ABOUT: &'static str =
        "The plan that waits for somebody to approve it, as its file is now. Not while the agent works.";
    type Params = NoParams;
    type Data = PlanData;

    fn run(
        server: &mut RpcServer<'_>,
        _: NoParams,
        _: &CommandCall,
    ) -> Result<CommandReply<PlanData>, RpcError> {
        let plan = waiting_plan(server)?;
        Ok(CommandReply::Now(PlanData {
            digest: plan_digest(&plan.plan),
            plan_file: plan.plan_file.to_string_lossy().into_owned(),
            plan: plan.plan,
        }))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApprovePlanParams {
    /// That of the plan which is approved: if its file is another one now, nothing is.
    digest: String,
}

pub(crate) struct ApprovePlanCommand;

impl RpcCommand for ApprovePlanCommand {
    const NAME: &'static str = "approve_plan";
    const ABOUT: &'static str = "Approves the plan that waits: the agent no longer plans, and the next prompt carries it out. Not while \
        the agent works; then `workflow_gate` asks.";
    type Params = ApprovePlanParams;
    type Data = NoData;

    fn run(
        server: &mut RpcServer<'_>,
        params: ApprovePlanParams,
        _: &CommandCall,
    ) -> Result<CommandReply<NoData>, RpcError> {
        let plan = waiting_plan(server)?;
        if plan_digest(&plan.plan) != params.digest {
            let said = "the plan is another one: read it again with `get_plan`";
            return Err(RpcError::new(RpcErrorCode::Conflict, said));
        }
        server.idle_agent()?.carry_out_plan(&plan).map_err(|error| mode_error(&error))?;
        server.look_again();
        Ok(CommandReply::Now(NoData {}))
    }
}

fn waiting_plan(server: &mut RpcServer<'_>) -> Result<ProposedPlan, RpcError> {
    server.idle_agent()?.waiting_plan().map_err(|error| mode_error(&error))
}

pub(crate) fn mode_error(error: &AgentModeError) -> RpcError {
    let code = match error {
        AgentModeError::Session(_) => RpcErrorCode::Failed,
        AgentModeError::Unknown(_) | AgentModeError::Refused(_) => RpcErrorCode::NothingToDo,
    };
    RpcError::new(code, error.to_string())
}
