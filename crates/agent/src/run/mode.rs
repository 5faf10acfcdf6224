//! Modes in the loop: when one begins and ends, what the session keeps of that, and how the run goes on or ends after it.
//!
//! Invariant: a mode changes between two answers, never while calls run; what the session says and what holds are the same.

use relaycode_session::EntryBody;
use relaycode_tools::{PlanDecision, ProposedPlan, ToolWorkspace};
use serde_json::Value;

use super::{Agent, EndedRun, RunStep};
use crate::event::{AgentEvent, EndReason};
use crate::modes::{self, AgentMode, ModeApproval, ModeOutcome, NO_MODE, PLAN_MODE};

/// Why an agent does not begin or end a mode.
#[derive(Debug, thiserror::Error)]
pub enum AgentModeError {
    #[error("there is no mode `{0}`")]
    Unknown(String),
    /// It cannot hold here.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Session(#[from] relaycode_session::SessionError),
}

/// What a client wants the mode to be, from the next answer on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModeRequest {
    /// The mode of this name.
    Enter(String),
    Leave,
}

/// A mode that holds again, and sentences for the user.
pub(crate) type RestoredMode = (Option<&'static dyn AgentMode>, Vec<String>);

impl Agent {
    /// The mode it is in, by name.
    pub fn mode(&self) -> Option<&'static str> {
        self.mode.map(AgentMode::name)
    }

    /// Plans from now on: nothing but the plan changes until somebody approves it.
    ///
    /// # Errors
    /// If there is no place for a plan, or the session cannot be written.
    pub fn begin_planning(&mut self) -> Result<(), AgentModeError> {
        self.enter_mode(PLAN_MODE)
    }

    /// Begins a mode. Nothing happens if it holds already.
    ///
    /// # Errors
    /// See [`AgentModeError`].
    pub fn enter_mode(&mut self, name: &str) -> Result<(), AgentModeError> {
        let mode = modes::by_name(name).ok_or_else(|| AgentModeError::Unknown(name.to_string()))?;
        if self.mode().is_some_and(|current| current == mode.name()) {
            return Ok(());
        }
        if let Some(missing) = mode.needs().iter().find(|name| !self.has_tool(name)) {
            return Err(AgentModeError::Refused(format!("a {} needs the tool `{missing}`", mode.name())));
        }
        self.leave_mode()?;
        let entry = mode.enter(&self.workspace).map_err(AgentModeError::Refused)?;
        // It holds before the session says so, and ends after.
        self.mode = Some(mode);
        self.offer_tools(mode);
        let data = Some(mode.data(&self.workspace));
        self.shared.transcript().record(EntryBody::ModeChange { mode: mode.name().to_string(), data })?;
        self.shared.transcript().append_note(&format!("{}-mode", mode.name()), &entry.words)?;
        self.mode_notices = entry.notices;
        // A run that begins tells it by itself.
        if self.shared.is_running() {
            self.publish_mode();
        }
        Ok(())
    }

    /// Ends the mode, if there is one; the model is told.
    ///
    /// # Errors
    /// If the session cannot be written.
    pub fn leave_mode(&mut self) -> Result<(), AgentModeError> {
        let Some(mode) = self.mode else { return Ok(()) };
        let text =
            format!("(relay: the user ended the mode `{}`. What it forbade is allowed again.)", mode.name());
        self.end_mode(mode, false)?;
        self.shared.transcript().append_note(&format!("{}-mode", mode.name()), &text)?;
        Ok(())
    }

    /// The conversation goes on from another place. Whoever plans goes on planning, and where the session planned there, it does
    /// again: no move lets the agent do more.
    pub(super) fn follow_branch(&mut self) -> Result<(), relaycode_session::SessionError> {
        let goal = self.shared.transcript().kept_goal()?;
        self.workspace.restore_goal(goal.clone());
        self.kept_goal = goal;
        let (name, data) = self.shared.transcript().mode()?;
        if self.mode.map_or(NO_MODE, AgentMode::name) == name {
            return Ok(());
        }
        let taken_up = match self.mode.take() {
            Some(mode) => self.enter_mode(mode.name()),
            None => restore_mode(&name, data.as_ref(), &self.workspace).map(|(mode, notices)| {
                (self.mode, self.mode_notices) = (mode, notices);
            }),
        };
        if let Some(mode) = self.mode {
            self.offer_tools(mode);
        }
        match taken_up {
            Err(AgentModeError::Session(error)) => Err(error),
            Err(refused) => {
                self.notice(&refused.to_string());
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// The plan that waits for somebody to approve it.
    ///
    /// # Errors
    /// If the agent does not plan, or there is no plan.
    pub fn waiting_plan(&self) -> Result<ProposedPlan, AgentModeError> {
        let refused = |text: &str| AgentModeError::Refused(text.to_string());
        if !self.workspace.is_planning() {
            return Err(refused("this session is not planning"));
        }
        let plan = self.workspace.read_plan().map_err(|error| AgentModeError::Refused(error.to_string()))?;
        let plan = plan
            .filter(|plan| !plan.trim().is_empty())
            .ok_or_else(|| refused("this session has no plan yet"))?;
        let plan_file = self.workspace.plan_file().unwrap_or_default();
        Ok(ProposedPlan { title: String::new(), plan, plan_file, is_edited: false })
    }

    /// The user approved the plan that waits: the next prompt carries it out.
    ///
    /// # Errors
    /// As [`Agent::waiting_plan`], or if the session cannot be written.
    pub fn approve_plan(&mut self) -> Result<(), AgentModeError> {
        let plan = self.waiting_plan()?;
        self.carry_out_plan(&plan)
    }

    /// The same, with the plan as the user saw it ([`Agent::waiting_plan`]).
    ///
    /// # Errors
    /// If the session cannot be written.
    pub fn carry_out_plan(&mut self, plan: &ProposedPlan) -> Result<(), AgentModeError> {
        Ok(self.carry_out(&modes::approve(plan, false))?)
    }

    /// What clients asked for since the last answer.
    pub(super) fn apply_mode_request(&mut self) -> RunStep<()> {
        let request = self.shared.take_mode_request();
        let done = match request {
            None => Ok(()),
            Some(ModeRequest::Enter(name)) => self.enter_mode(&name),
            Some(ModeRequest::Leave) => self.leave_mode(),
        };
        match done {
            Err(AgentModeError::Session(error)) => Err(EndedRun::session_failed(&error)),
            // Without the mode, what was asked for could do more than was meant.
            Err(refused) => {
                let message = Some(refused.to_string());
                Err(EndedRun { reason: EndReason::ToolFailed, message, failure: None })
            }
            Ok(()) => Ok(()),
        }
    }

    /// Whether the calls that have not begun are of no use, since the mode is about to end.
    pub(super) fn is_mode_decided(&self) -> bool {
        self.mode.is_some_and(|mode| mode.is_decided(&self.workspace))
    }

    /// Does what the calls decided about the mode; a reason if the run ends with that.
    pub(super) fn apply_mode_outcome(&mut self) -> RunStep<Option<EndReason>> {
        let Some(mode) = self.mode else { return Ok(None) };
        let Some(outcome) = mode.take_outcome(&self.workspace) else { return Ok(None) };
        let failed = |error| EndedRun::session_failed(&error);
        match outcome {
            ModeOutcome::GoOn(approval) => {
                self.carry_out(&approval).map_err(failed)?;
                Ok(None)
            }
            ModeOutcome::End { plan, is_over } => {
                if is_over {
                    self.end_mode(mode, false).map_err(failed)?;
                }
                self.decided_plan = Some(*plan);
                Ok(Some(EndReason::Done))
            }
        }
    }

    /// What the run ended with, if that is a plan.
    pub(super) fn take_decided_plan(&mut self) -> Option<PlanDecision> {
        self.decided_plan.take()
    }

    /// Ends the mode; the model goes on with what was approved.
    fn carry_out(&mut self, approval: &ModeApproval) -> Result<(), relaycode_session::SessionError> {
        let Some(mode) = self.mode else { return Ok(()) };
        if approval.is_fresh {
            self.shared.transcript().start_over(approval.note, &approval.words)?;
            self.workspace.forget_conversation();
            let told = self.shared.transcript().told_rules()?;
            self.rules.restore(&told);
            let chosen = self.models.current();
            self.shared.transcript().set_model(&chosen.model.selector(), chosen.thinking.name())?;
        } else {
            self.shared.transcript().append_note(approval.note, &approval.words)?;
        }
        self.end_mode(mode, approval.is_fresh)?;
        if !approval.title.is_empty() {
            self.set_title(&approval.title);
        }
        Ok(())
    }

    fn end_mode(
        &mut self,
        mode: &dyn AgentMode,
        is_fresh: bool,
    ) -> Result<(), relaycode_session::SessionError> {
        let none = || NO_MODE.to_string();
        self.shared.transcript().record(EntryBody::ModeChange { mode: none(), data: None })?;
        mode.leave(&self.workspace);
        self.mode = None;
        self.shared.events.publish(AgentEvent::ModeChanged { mode: none(), data: None, is_fresh });
        Ok(())
    }

    /// Says which mode holds, if one does.
    pub(super) fn publish_mode(&mut self) {
        let Some(mode) = self.mode else { return };
        let data = Some(mode.data(&self.workspace));
        self.shared.events.publish(AgentEvent::ModeChanged {
            mode: mode.name().to_string(),
            data,
            is_fresh: false,
        });
        std::mem::take(&mut self.mode_notices).iter().for_each(|notice| self.notice(notice));
    }

    /// Its tools join the others once it held in this session.
    pub(super) fn offer_tools(&mut self, mode: &dyn AgentMode) {
        for tool in mode.tools().into_iter().filter(|tool| tool.is_offered(&self.workspace)) {
            if !self.tools.iter().any(|known| known.name() == tool.name()) {
                self.definitions.push(tool.definition(&self.workspace));
                self.tools.push(tool);
            }
        }
    }
}

/// The mode a session was left in, made to hold again; with sentences for the user. A mode that this version does not know is an
/// error: it may forbid what none of this version does.
pub(crate) fn restore_mode(
    name: &str,
    data: Option<&Value>,
    workspace: &ToolWorkspace,
) -> Result<RestoredMode, AgentModeError> {
    if name == NO_MODE {
        return Ok((None, Vec::new()));
    }
    let mode = modes::by_name(name).ok_or_else(|| AgentModeError::Unknown(name.to_string()))?;
    let notices = mode.restore(workspace, data).map_err(AgentModeError::Refused)?;
    Ok((Some(mode), notices))
}
