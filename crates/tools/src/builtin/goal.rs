//! `goal`: what the agent works towards by itself, until it is reached. That it is reached has to be shown, not said.

use std::sync::MutexGuard;

use relaycode_llm::request;
use relaycode_text::width::clip_for_message;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::card::ToolCard;
use crate::schema;
use crate::tool::{Tool, ToolConcurrency, ToolError, ToolInvocation, ToolOutput};
use crate::workspace::ToolWorkspace;

/// Bytes of a goal, and of what shows that it is reached.
pub const MAX_GOAL_BYTES: usize = 16 << 10;
/// Characters of a goal on a card.
const MAX_SHOWN: usize = 80;

/// What the agent works towards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Goal {
    pub objective: String,
    pub status: GoalStatus,
    /// What shows that it is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum GoalStatus {
    /// The agent goes on by itself.
    Active,
    /// It waits for the user.
    Paused,
    Complete,
    Dropped,
}

/// A change of a goal that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    #[error("there is no goal")]
    None,
    #[error("there is a goal already: {0}; complete or drop it first")]
    Exists(String),
    #[error("the goal is {0} already")]
    Already(&'static str),
    #[error("the goal is over: it is {0}")]
    Over(&'static str),
    #[error("`{0}` is empty")]
    Empty(&'static str),
    #[error("`{0}` has more than {MAX_GOAL_BYTES} bytes")]
    TooLong(&'static str),
}

pub(crate) struct GoalTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GoalInput {
    op: GoalOp,
    /// For `create`: what is to be reached, so that one can tell whether it is.
    #[serde(default)]
    objective: Option<String>,
    /// For `complete`: what shows that it is reached, such as the command that you ran and what it said.
    #[serde(default)]
    evidence: Option<String>,
    /// What other agents' goals have. Not in the schema.
    #[serde(default, alias = "tokenBudget", alias = "budget")]
    #[schemars(skip)]
    token_budget: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum GoalOp {
    Create,
    Get,
    Complete,
    Resume,
    Drop,
    Pause,
}

impl GoalStatus {
    pub fn name(self) -> &'static str {
        match self {
            GoalStatus::Active => "active",
            GoalStatus::Paused => "paused",
            GoalStatus::Complete => "complete",
            GoalStatus::Dropped => "dropped",
        }
    }

    pub(crate) fn is_over(self) -> bool {
        matches!(self, GoalStatus::Complete | GoalStatus::Dropped)
    }
}

impl Goal {
    fn new(objective: &str) -> Result<Goal, GoalError> {
        let objective = checked(objective, "objective")?;
        Ok(Goal { objective, status: GoalStatus::Active, evidence: None })
    }

    /// For the model, and for people.
    pub fn to_text(&self) -> String {
        let evidence = self.evidence.iter().map(|evidence| format!("\nEvidence: {evidence}"));
        format!("Goal ({}): {}{}", self.status.name(), self.objective, evidence.collect::<String>())
    }
}

fn checked(text: &str, field: &'static str) -> Result<String, GoalError> {
    match text.trim() {
        "" => Err(GoalError::Empty(field)),
        text if text.len() > MAX_GOAL_BYTES => Err(GoalError::TooLong(field)),
        text => Ok(text.to_string()),
    }
}

impl ToolWorkspace {
    /// What the agent works towards, or worked towards last.
    pub fn goal(&self) -> Option<Goal> {
        self.goal_slot().clone()
    }

    /// As a session kept it.
    pub fn restore_goal(&self, goal: Option<Goal>) {
        *self.goal_slot() = goal;
    }

    /// # Errors
    /// If there is one already.
    pub fn create_goal(&self, objective: &str) -> Result<Goal, GoalError> {
        let mut slot = self.goal_slot();
        if let Some(goal) = slot.as_ref().filter(|goal| !goal.status.is_over()) {
            return Err(GoalError::Exists(clip_for_message(&goal.objective, MAX_SHOWN)));
        }
        Ok(slot.insert(Goal::new(objective)?).clone())
    }

    /// # Errors
    /// If nothing shows that it is reached, or there is none.
    pub fn complete_goal(&self, evidence: &str) -> Result<Goal, GoalError> {
        let mut slot = self.goal_slot();
        let goal = open_goal(&mut slot)?;
        goal.evidence = Some(checked(evidence, "evidence")?);
        goal.status = GoalStatus::Complete;
        Ok(goal.clone())
    }

    /// # Errors
    /// If there is none, or it is so already.
    pub fn set_goal_status(&self, status: GoalStatus) -> Result<Goal, GoalError> {
        let mut slot = self.goal_slot();
        let goal = open_goal(&mut slot)?;
        if goal.status == status {
            return Err(GoalError::Already(status.name()));
        }
        goal.status = status;
        Ok(goal.clone())
    }
}

fn open_goal<'g>(slot: &'g mut MutexGuard<'_, Option<Goal>>) -> Result<&'g mut Goal, GoalError> {
    let goal = slot.as_mut().ok_or(GoalError::None)?;
    if goal.status.is_over() { Err(GoalError::Over(goal.status.name())) } else { Ok(goal) }
}

impl Tool for GoalTool {
    fn name(&self) -> &'static str {
        "goal"
    }

    fn definition(&self, _workspace: &ToolWorkspace) -> request::Tool {
        schema::define::<GoalInput>(self.name(), include_str!("../../prompts/goal.md"))
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Exclusive
    }

    fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
        let GoalInput { op, objective, evidence, token_budget } = schema::read_input(call)?;
        if token_budget.is_some_and(|budget| !budget.is_null()) {
            return Err(ToolError::refused(
                "a goal has no token budget: the user limits a run by `--max-turns`, `--max-cost` and `agent.goalContinuations`",
            ));
        }
        let workspace = call.workspace;
        let done = match op {
            GoalOp::Create => workspace.create_goal(&objective.unwrap_or_default()),
            GoalOp::Get => workspace.goal().ok_or(GoalError::None),
            GoalOp::Complete => workspace.complete_goal(&evidence.unwrap_or_default()),
            GoalOp::Resume => workspace.set_goal_status(GoalStatus::Active),
            GoalOp::Drop => workspace.set_goal_status(GoalStatus::Dropped),
            GoalOp::Pause => workspace.set_goal_status(GoalStatus::Paused),
        };
        let goal = match (done, op) {
            (Ok(goal), _) => goal,
            (Err(GoalError::None), GoalOp::Get) => {
                return Ok(ToolOutput::text("There is no goal.", ToolCard::line("goal", "none")));
            }
            (Err(error), _) => return Err(ToolError::refused(error.to_string())),
        };
        let card = ToolCard::line(
            format!("goal: {}", clip_for_message(&goal.objective, MAX_SHOWN)),
            goal.status.name(),
        );
        Ok(ToolOutput::text(goal.to_text(), card).with_details(json!({ "goal": goal })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::TestProject;

    fn op(project: &TestProject, op: &str) -> String {
        project.text("goal", json!({ "op": op }))
    }

    #[test]
    fn a_goal_is_set_paused_taken_up_and_reached_with_evidence() {
        let project = TestProject::new(&[]);
        assert_eq!(op(&project, "get"), "There is no goal.");
        let said = project.text("goal", json!({"op": "create", "objective": " All tests pass "}));
        assert_eq!(said, "Goal (active): All tests pass");
        let refused = project.refusal("goal", json!({"op": "create", "objective": "More"}));
        assert_eq!(refused, "there is a goal already: All tests pass; complete or drop it first");
        assert_eq!(op(&project, "pause"), "Goal (paused): All tests pass");
        assert_eq!(project.refusal("goal", json!({"op": "pause"})), "the goal is paused already");
        assert_eq!(op(&project, "resume"), "Goal (active): All tests pass");
        for evidence in [json!(null), json!(" \n")] {
            let refused = project.refusal("goal", json!({"op": "complete", "evidence": evidence}));
            assert_eq!(refused, "`evidence` is empty");
        }
        let said = project.text("goal", json!({"op": "complete", "evidence": "12 passed"}));
        assert_eq!(said, "Goal (complete): All tests pass\nEvidence: 12 passed");
        assert_eq!(project.refusal("goal", json!({"op": "resume"})), "the goal is over: it is complete");
        project.text("goal", json!({"op": "create", "objective": "More"}));
        assert_eq!(op(&project, "drop"), "Goal (dropped): More");
    }

    #[test]
    fn budgets_and_what_is_too_long_are_refused() {
        let project = TestProject::new(&[]);
        for name in ["token_budget", "tokenBudget", "budget"] {
            let refused = project.refusal("goal", json!({"op": "create", "objective": "x", name: 1000}));
            assert!(refused.starts_with("a goal has no token budget"), "{refused}");
        }
        let long = |bytes: usize| json!({"op": "create", "objective": "x".repeat(bytes)});
        assert!(project.refusal("goal", long(MAX_GOAL_BYTES + 1)).contains("more than 16384 bytes"));
        project.text("goal", long(MAX_GOAL_BYTES));
        assert!(project.refusal("goal", json!({"op": "win"})).contains("unknown variant"));
    }
}
