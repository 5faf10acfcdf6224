//! What the agent works towards by itself.

use relaycode_agent::AgentGoalError;
use relaycode_tools::{Goal, GoalStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CommandCall, CommandReply, RpcCommand};
use crate::rpc::error::{RpcError, RpcErrorCode};
use crate::rpc::server::RpcServer;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetGoalParams {
    /// What is to be reached, so that one can tell whether it is.
    objective: String,
}

/// What a program can make of a goal. That it is reached is the agent's to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GoalChange {
    Pause,
    Resume,
    Drop,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeGoalParams {
    change: GoalChange,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GoalData {
    goal: Goal,
}

pub(crate) struct SetGoalCommand;

impl RpcCommand for SetGoalCommand {
    const NAME: &'static str = "set_goal";
    const ABOUT: &'static str =
        "Gives the agent a goal; the next prompt begins to work towards it. Not while the agent works.";
    type Params = SetGoalParams;
    type Data = GoalData;

    fn run(
        server: &mut RpcServer<'_>,
        params: SetGoalParams,
        _: &CommandCall,
    ) -> Result<CommandReply<GoalData>, RpcError> {
        if !server.tool_names().iter().any(|name| name == "goal") {
            let said = "the agent has no tool `goal`; see `agent.goal` in the user's config.yml";
            return Err(RpcError::new(RpcErrorCode::NotAvailable, said));
        }
        let agent = server.idle_agent()?;
        agent.set_goal(&params.objective).map_err(|error| goal_error(&error))?;
        answer(server)
    }
}

pub(crate) struct ChangeGoalCommand;

impl RpcCommand for ChangeGoalCommand {
    const NAME: &'static str = "change_goal";
    const ABOUT: &'static str =
        "Lets the goal wait, go on with the next prompt, or be none. Not while the agent works.";
    type Params = ChangeGoalParams;
    type Data = GoalData;

    fn run(
        server: &mut RpcServer<'_>,
        params: ChangeGoalParams,
        _: &CommandCall,
    ) -> Result<CommandReply<GoalData>, RpcError> {
        let status = match params.change {
            GoalChange::Pause => GoalStatus::Paused,
            GoalChange::Resume => GoalStatus::Active,
            GoalChange::Drop => GoalStatus::Dropped,
        };
        let agent = server.idle_agent()?;
        agent.set_goal_status(status).map_err(|error| goal_error(&error))?;
        answer(server)
    }
}

fn answer(server: &mut RpcServer<'_>) -> Result<CommandReply<GoalData>, RpcError> {
    server.look_again();
    let goal = server.facts().goal.clone();
    let goal = goal.ok_or_else(|| RpcError::new(RpcErrorCode::NothingToDo, "there is no goal"))?;
    Ok(CommandReply::Now(GoalData { goal }))
}

fn goal_error(error: &AgentGoalError) -> RpcError {
    let code = match error {
        AgentGoalError::Goal(_) => RpcErrorCode::NothingToDo,
        AgentGoalError::Session(_) => RpcErrorCode::Failed,
    };
    RpcError::new(code, error.to_string())
}
