//! The agent on its thread: a prompt, or a command of the user's.

use relaycode_agent::compaction::CompactionOutcome;
use relaycode_agent::{
    Agent, AgentModeError, AgentModel, EndReason, RunOutcome, UserCallOutcome, UserPrompt,
};
use relaycode_llm::message::ToolCall;
use relaycode_session::SessionError;
use relaycode_tools::registry;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use relaycode_tools::{Tool, VirtualFiles};

use super::{AgentFacts, AgentReturn, AgentSeat, RpcServer, guard};
use crate::rpc::commands::CommandCall;
use crate::rpc::commands::compaction::CompactData;
use crate::rpc::commands::plans::{ModeData, mode_error};
use crate::rpc::commands::shell::{BashData, ShellCommand};
use crate::rpc::error::{RpcError, RpcErrorCode};

/// How long the agent may take to begin.
const MAX_BEGIN: Duration = Duration::from_secs(10);
const BEGIN_TICK: Duration = Duration::from_millis(5);

/// What the agent does on its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentWork {
    Prompt,
    /// A command of the user's.
    Shell,
    Compaction,
    /// A mode begins or ends: commands in the background may have to be ended for it.
    Mode,
}

pub(crate) enum FinishedWork {
    Prompt {
        /// `None`: it waited in the queue.
        call: Option<CommandCall>,
        outcome: RunOutcome,
    },
    Shell {
        call: CommandCall,
        command: ShellCommand,
        outcome: UserCallOutcome,
    },
    Compaction {
        call: CommandCall,
        outcome: Result<CompactionOutcome, SessionError>,
    },
    Mode {
        call: CommandCall,
        outcome: Result<(), AgentModeError>,
    },
    /// A fault of relay's ended it.
    Crashed {
        call: Option<CommandCall>,
    },
}

/// The answer to a prompt.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PromptData {
    /// The prompt's events have greater numbers.
    pub(crate) after_seq: u64,
    /// It waits: the agent works.
    pub(crate) queued: bool,
}

impl RpcServer<'_> {
    /// The agent, if it does not work.
    pub(crate) fn idle_agent(&mut self) -> Result<&mut Agent, RpcError> {
        if self.pending_move.is_some() {
            return Err(RpcError::busy("a move to another session is on its way"));
        }
        match &mut self.seat {
            AgentSeat::Home(agent) => Ok(agent),
            AgentSeat::Away(_) | AgentSeat::Empty => {
                Err(RpcError::busy("the agent works; `abort` ends that, `agent_end` tells of its end"))
            }
        }
    }

    pub(crate) fn work(&self) -> Option<AgentWork> {
        match self.seat {
            AgentSeat::Away(work) => Some(work),
            AgentSeat::Home(_) | AgentSeat::Empty => None,
        }
    }

    pub(crate) fn is_moving(&self) -> bool {
        self.pending_move.is_some()
    }

    /// Ends what the agent does; whether there was something.
    pub(crate) fn abort(&mut self) -> bool {
        self.link.gates.cancel();
        self.handle.abort()
    }

    /// Begins a prompt, and answers it.
    pub(crate) fn start_prompt(
        &mut self,
        call: Option<CommandCall>,
        prompt: UserPrompt,
    ) -> Result<(), RpcError> {
        self.idle_agent()?;
        let mut agent = self.take_agent()?;
        if let Err(error) = self.backend.begin_prompt(&mut agent, &prompt) {
            self.seat = AgentSeat::Home(agent);
            return Err(error);
        }
        if let Some(call) = &call {
            // Before the first event.
            self.respond(call, Ok(PromptData { after_seq: self.handle.last_seq(), queued: false }));
        }
        let crashed = FinishedWork::Crashed { call: call.clone() };
        self.send_away(agent, AgentWork::Prompt, crashed, move |agent| FinishedWork::Prompt {
            outcome: agent.prompt(&prompt),
            call,
        })
    }

    /// Begins a command of the user's; it is answered when it has ended.
    pub(crate) fn start_command(
        &mut self,
        call: &CommandCall,
        command: ShellCommand,
    ) -> Result<(), RpcError> {
        self.idle_agent()?;
        let Some(bash) = registry::by_name("bash") else {
            return Err(RpcError::new(RpcErrorCode::NotAvailable, "this relay runs no commands"));
        };
        let mut agent = self.take_agent()?;
        let titled = UserPrompt::text(format!("! {}", command.command));
        if let Err(error) = self.backend.begin_prompt(&mut agent, &titled) {
            self.seat = AgentSeat::Home(agent);
            return Err(error);
        }
        self.commands_run += 1;
        let mut arguments = Map::new();
        arguments.insert("command".into(), command.command.clone().into());
        if let Some(seconds) = command.timeout {
            arguments.insert("timeout".into(), seconds.into());
        }
        let tool_call = ToolCall {
            id: format!("user-{}", self.commands_run),
            name: "bash".into(),
            arguments,
            thought_signature: None,
        };
        let crashed = FinishedWork::Crashed { call: Some(call.clone()) };
        let call = call.clone();
        self.send_away(agent, AgentWork::Shell, crashed, move |agent| {
            let outcome = agent.run_tool(&**bash, &tool_call);
            if !command.exclude_from_context && !outcome.is_cancelled {
                let said = format!("(relay: the user ran `{}`)\n{}", command.command, outcome.text);
                // What cannot be written is told with the next prompt, which cannot be either.
                let _ = agent.tell("user-bash", &said);
            }
            FinishedWork::Shell { call, command, outcome }
        })
    }

    /// Makes room: in the run that is on, or now, which is answered when it is done.
    pub(crate) fn start_compaction(
        &mut self,
        call: &CommandCall,
        words: Option<String>,
    ) -> Result<(), RpcError> {
        if self.work() == Some(AgentWork::Prompt) {
            self.handle.compact(words.unwrap_or_default());
            self.respond(call, Ok(CompactData::requested()));
            return Ok(());
        }
        self.idle_agent()?;
        let agent = self.take_agent()?;
        let crashed = FinishedWork::Crashed { call: Some(call.clone()) };
        let call = call.clone();
        self.send_away(agent, AgentWork::Compaction, crashed, move |agent| FinishedWork::Compaction {
            call,
            outcome: agent.compact(words.as_deref()),
        })
    }

    /// Begins to plan, or ends that; it is answered when it is so.
    pub(crate) fn start_mode(&mut self, call: &CommandCall, plans: bool) -> Result<(), RpcError> {
        self.idle_agent()?;
        let agent = self.take_agent()?;
        let crashed = FinishedWork::Crashed { call: Some(call.clone()) };
        let call = call.clone();
        self.send_away(agent, AgentWork::Mode, crashed, move |agent| FinishedWork::Mode {
            call,
            outcome: if plans { agent.begin_planning() } else { agent.leave_mode() },
        })
    }

    /// Takes the agent in once it has come back; waits for it, at most so long.
    pub(super) fn take_back(&mut self, most: Duration) {
        let returned = self.returns.as_ref().and_then(|returns| returns.recv_timeout(most).ok());
        // It may have been taken in before.
        let Some(AgentReturn { agent, work }) = returned else { return };
        self.seat(agent);
        let is_done =
            matches!(&work, FinishedWork::Prompt { outcome, .. } if outcome.reason == EndReason::Done);
        match work {
            FinishedWork::Prompt { call: Some(call), outcome } => {
                if let Some(error) = failure_of(&outcome).filter(|_| call.id.is_some()) {
                    self.respond_error(call.id, call.name, error);
                }
            }
            FinishedWork::Prompt { call: None, .. } | FinishedWork::Crashed { call: None } => {}
            FinishedWork::Shell { call, command, outcome } => {
                self.respond(&call, Ok(BashData::new(&command, outcome)));
            }
            FinishedWork::Compaction { call, outcome } => {
                let outcome = outcome.map_err(|error| RpcError::failed(&error));
                self.respond(&call, outcome.and_then(CompactData::of));
            }
            FinishedWork::Mode { call, outcome } => {
                let outcome = outcome.map_err(|error| mode_error(&error));
                self.respond(&call, outcome.map(|()| ModeData { requested: false }));
            }
            FinishedWork::Crashed { call: Some(call) } => {
                let said = "the run failed inside relay, which is a bug of relay's";
                self.respond_error(call.id, call.name, RpcError::new(RpcErrorCode::Internal, said));
            }
        }
        if self.is_moving() {
            self.agent_is_free();
            return;
        }
        if let Some((call, prompt)) = self.next_prompt.take() {
            if let Err(error) = self.start_prompt(Some(call.clone()), prompt) {
                self.respond_error(call.id, call.name, error);
            }
        } else if is_done {
            self.start_queued();
        }
    }

    /// What was said in the very moment in which the run ended.
    fn start_queued(&mut self) {
        let mut queued = self.handle.take_queued().into_iter();
        let Some(first) = queued.next() else { return };
        for more in queued {
            // They were in the queue a moment ago.
            let _ = self.handle.follow_up(more);
        }
        let _ = self.start_prompt(None, first);
    }

    /// After the present run, or at once.
    pub(crate) fn abort_and_prompt(
        &mut self,
        call: &CommandCall,
        prompt: UserPrompt,
    ) -> Result<(), RpcError> {
        if self.is_moving() {
            return Err(RpcError::busy("a move to another session is on its way"));
        }
        if self.work().is_none() {
            return self.start_prompt(Some(call.clone()), prompt);
        }
        if self.next_prompt.is_some() {
            return Err(RpcError::busy("another prompt waits for the end of this run already"));
        }
        self.next_prompt = Some((call.clone(), prompt));
        self.abort();
        Ok(())
    }

    pub(crate) fn set_model(&mut self, model: AgentModel) {
        self.model = model.clone();
        match &mut self.seat {
            AgentSeat::Home(agent) => agent.set_model(model),
            AgentSeat::Away(_) | AgentSeat::Empty => self.new_model = Some(model),
        }
    }

    pub(crate) fn set_host_tools(&mut self, tools: Vec<Arc<dyn Tool>>) {
        self.host_tools = tools;
        self.has_new_tools = true;
    }

    pub(crate) fn set_host_files(&mut self, files: Option<Arc<dyn VirtualFiles>>) {
        self.host_files = files;
        self.has_new_tools = true;
    }

    pub(crate) fn set_attended(&mut self, is_attended: bool, wait: Duration) {
        self.link.attendance.set(is_attended, wait);
        self.has_new_tools = true;
        self.attend();
    }

    fn attend(&self) {
        self.handle.set_longest_question(Some(self.link.attendance.wait()));
        self.handle.set_attended(self.link.attendance.is_attended());
    }

    /// The names of what the model can call from the next prompt on.
    pub(crate) fn tool_names(&self) -> Vec<String> {
        self.tools().map(|tool| tool.name().to_string()).collect()
    }

    fn tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        let is_attended = self.link.attendance.is_attended();
        let own = self.own_tools.iter().filter(move |tool| is_attended || tool.name() != "ask");
        own.chain(&self.host_tools)
    }

    /// The agent is here, and what is known of it is fresh.
    pub(super) fn seat(&mut self, agent: Box<Agent>) {
        self.facts = AgentFacts::of(&agent);
        self.seat = AgentSeat::Home(agent);
    }

    pub(super) fn take_agent(&mut self) -> Result<Box<Agent>, RpcError> {
        match std::mem::replace(&mut self.seat, AgentSeat::Empty) {
            AgentSeat::Home(agent) => Ok(agent),
            other => {
                self.seat = other;
                Err(RpcError::busy("the agent works"))
            }
        }
    }

    /// Another agent sits here from now on.
    pub(super) fn replace_agent(&mut self, agent: Agent, model: AgentModel, tools: Vec<Arc<dyn Tool>>) {
        (self.handle, self.session_id) = (agent.handle(), agent.session_id().to_string());
        (self.model, self.own_tools, self.new_model) = (model, tools, None);
        self.has_new_tools = true;
        self.attend();
        self.seat(Box::new(agent));
    }

    fn send_away(
        &mut self,
        mut agent: Box<Agent>,
        work: AgentWork,
        crashed: FinishedWork,
        run: impl FnOnce(&mut Agent) -> FinishedWork + Send + 'static,
    ) -> Result<(), RpcError> {
        if let Some(model) = self.new_model.take() {
            agent.set_model(model);
        }
        if std::mem::take(&mut self.has_new_tools) {
            agent.set_tools(self.tools().cloned().collect());
            agent.workspace().set_virtual_files(self.host_files.clone());
        }
        let has_ended = Arc::new(AtomicBool::new(false));
        let ended = has_ended.clone();
        let job = move || {
            let work = guard(|| run(&mut agent), crashed);
            ended.store(true, Ordering::SeqCst);
            AgentReturn { agent, work }
        };
        self.seat = AgentSeat::Away(work);
        let mut events = self.handle.read_events(self.handle.last_seq());
        let sent = self.jobs.as_ref().map(|jobs| jobs.send(Box::new(job)));
        match sent {
            Some(Ok(())) => {
                // From its first event on it says itself whether it works.
                let began = Instant::now();
                while work != AgentWork::Mode
                    && !(self.handle.is_running() || has_ended.load(Ordering::SeqCst))
                    && began.elapsed() < MAX_BEGIN
                {
                    events.next_within(BEGIN_TICK);
                }
                Ok(())
            }
            // Its thread lives as long as the server.
            _ => Err(RpcError::new(RpcErrorCode::Internal, "the agent's thread is gone")),
        }
    }
}

/// Why a prompt did not come to its end.
fn failure_of(outcome: &RunOutcome) -> Option<RpcError> {
    let code = match outcome.reason {
        EndReason::Done => return None,
        EndReason::Aborted => RpcErrorCode::Aborted,
        _ => RpcErrorCode::RunFailed,
    };
    let reason = serde_json::to_value(outcome.reason).unwrap_or(Value::Null);
    let message = outcome.message.clone().unwrap_or_else(|| "the run ended".to_string());
    Some(RpcError::new(code, message).details(json!({ "reason": reason })))
}
