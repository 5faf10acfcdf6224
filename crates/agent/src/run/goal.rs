//! A goal in the loop: the session keeps it, the model goes on by itself while it is active, within bounds.
//!
//! Invariant: a goal makes a run longer by the user's bound at most, and not at all once the model does nothing for it.

use relaycode_session::EntryBody;
use relaycode_tools::{Goal, GoalError, GoalStatus};

use super::{Agent, EndedRun, RunStep};
use crate::event::AgentEvent;

/// Under which the session keeps it.
pub(crate) const GOAL_ENTRY: &str = "goal";
const CONTINUE: &str = include_str!("../../prompts/goal-continue.md");
const SET: &str = include_str!("../../prompts/goal-set.md");

/// Of a run.
#[derive(Debug, Default)]
pub(super) struct GoalRounds {
    /// How often the model was told to go on.
    told: u64,
    /// It called something since.
    has_worked: bool,
}

/// Why a goal is not changed.
#[derive(Debug, thiserror::Error)]
pub enum AgentGoalError {
    #[error(transparent)]
    Goal(#[from] GoalError),
    #[error(transparent)]
    Session(#[from] relaycode_session::SessionError),
}

impl Agent {
    /// The user's goal; the next prompt begins to work towards it.
    ///
    /// # Errors
    /// If there is one already, or the session cannot be written.
    pub fn set_goal(&mut self, objective: &str) -> Result<(), AgentGoalError> {
        let goal = self.workspace.create_goal(objective)?;
        let text = SET.trim_end().replace("{goal}", &goal.objective);
        self.shared.transcript().append_note(GOAL_ENTRY, &text)?;
        Ok(self.write_goal()?)
    }

    /// The user pauses the goal, takes it up again or drops it.
    ///
    /// # Errors
    /// If there is none, it is so already, or the session cannot be written.
    pub fn set_goal_status(&mut self, status: GoalStatus) -> Result<Goal, AgentGoalError> {
        let goal = self.workspace.set_goal_status(status)?;
        let text = format!("(relay: the user changed the goal. {})", goal.to_text());
        self.shared.transcript().append_note(GOAL_ENTRY, &text)?;
        self.write_goal()?;
        Ok(goal)
    }

    /// Writes what became of the goal, if that is new.
    pub(super) fn keep_goal(&mut self) -> RunStep<()> {
        self.goal_rounds.has_worked = true;
        self.write_goal().map_err(|error| EndedRun::session_failed(&error))
    }

    fn write_goal(&mut self) -> Result<(), relaycode_session::SessionError> {
        let goal = self.workspace.goal();
        let Some(goal) = goal.filter(|goal| self.kept_goal.as_ref() != Some(goal)) else { return Ok(()) };
        let data = serde_json::to_value(&goal).ok();
        self.shared.transcript().record(EntryBody::Custom { custom_type: GOAL_ENTRY.to_string(), data })?;
        self.shared.events.publish(AgentEvent::GoalChanged { goal: goal.clone() });
        self.kept_goal = Some(goal);
        Ok(())
    }

    /// Tells the model to go on, if its goal is not reached; whether it did.
    pub(super) fn continue_goal(&mut self) -> RunStep<bool> {
        let goal = self.workspace.goal().filter(|goal| goal.status == GoalStatus::Active);
        let Some(goal) = goal.filter(|_| self.mode().is_none()) else { return Ok(false) };
        let most = self.settings.goal_continuations;
        let rounds = &mut self.goal_rounds;
        if rounds.told > 0 && !rounds.has_worked {
            self.notice("the goal is not reached, and the agent does nothing for it: it waits for you");
            return Ok(false);
        }
        if rounds.told >= most {
            if most > 0 {
                self.notice(&format!(
                    "the goal is not reached after the agent went on by itself {most} times: it waits for you"
                ));
            }
            return Ok(false);
        }
        rounds.told += 1;
        rounds.has_worked = false;
        let round = rounds.told;
        if let Some((reason, message)) = self.reached_limit() {
            return Err(EndedRun {
                reason,
                message: Some(format!("{message}; the goal is not reached")),
                failure: None,
            });
        }
        let text = CONTINUE.trim_end().replace("{goal}", &goal.objective);
        let told = self.shared.transcript().append_note("goal-continue", &text);
        told.map_err(|error| EndedRun::session_failed(&error))?;
        self.shared.events.publish(AgentEvent::GoalContinued { round, most });
        Ok(true)
    }
}
