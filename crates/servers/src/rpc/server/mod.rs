//! The loop of the server: one thread that carries out commands, and four that read, write, send events and run the agent.
//!
//! Invariant: the agent is at one place, here or on its thread. What needs it while it works is refused as busy, or ends the run
//! first and waits for it; nothing else waits for the agent. When the input ends, or a signal comes, the run is ended, what waits
//! for the program is rejected, and the session is closed.

mod link;
mod moves;
mod work;

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use relaycode_agent::{Agent, AgentHandle, AgentModel};
use relaycode_tools::{Goal, Host, TodoPhase, Tool, VirtualFiles};
use serde::Serialize;

use super::PROTOCOL_VERSION;
use super::backend::{ChangeStep, ChangeStepData, OpenedAgent, RpcBackend};
use super::commands::{self, CommandCall};
use super::error::{RpcError, RpcErrorCode};
use super::event_pump::EventSource;
use super::frame::{HookAction, RequestId, RpcFrame};
use super::input::{InputLine, LineReader, MAX_LINE_BYTES, RpcRequest, find_id};
use super::outbox::{Outbox, OutboxClosed};

pub(crate) use link::ClientLink;
use moves::PendingMove;
pub(crate) use moves::{SessionMove, SessionMoveData};
use work::FinishedWork;
pub(crate) use work::{AgentWork, PromptData};

/// What waits for the loop. Lines may be long, so they are read one ahead.
const INBOX: usize = 1;
/// How long the agent may take to end when the program is gone.
const LAST_WORK: Duration = Duration::from_secs(30);

/// The server of one program.
pub struct RpcServer<'b> {
    pub(crate) backend: &'b mut dyn RpcBackend,
    pub(crate) link: ClientLink,
    inbox: Receiver<ServerEvent>,
    sender: SyncSender<ServerEvent>,
    jobs: Option<SyncSender<AgentJob>>,
    returns: Option<Receiver<AgentReturn>>,
    seat: AgentSeat,
    pub(crate) handle: AgentHandle,
    pub(crate) session_id: String,
    pub(crate) model: AgentModel,
    /// From the next prompt on.
    new_model: Option<AgentModel>,
    own_tools: Vec<Arc<dyn Tool>>,
    host_tools: Vec<Arc<dyn Tool>>,
    host_files: Option<Arc<dyn VirtualFiles>>,
    /// The agent has not got them yet.
    has_new_tools: bool,
    pending_move: Option<PendingMove>,
    /// Begins when the present run has ended.
    next_prompt: Option<(CommandCall, relaycode_agent::UserPrompt)>,
    commands_run: u64,
    facts: AgentFacts,
}

/// What is known of the agent while it is away.
#[derive(Debug, Clone, Default)]
pub(crate) struct AgentFacts {
    pub(crate) todos: Vec<TodoPhase>,
    pub(crate) goal: Option<Goal>,
    pub(crate) mode: String,
    pub(crate) context_tokens: u64,
    pub(crate) cwd: String,
    pub(crate) root: String,
    pub(crate) access: String,
}

impl AgentFacts {
    fn of(agent: &Agent) -> AgentFacts {
        let workspace = agent.workspace();
        AgentFacts {
            todos: workspace.todo_phases(),
            goal: workspace.goal(),
            mode: agent.mode().unwrap_or("none").to_string(),
            context_tokens: agent.context_tokens(),
            cwd: workspace.current_directory().to_string_lossy().into_owned(),
            root: workspace.root().to_string_lossy().into_owned(),
            access: workspace.access.to_string(),
        }
    }
}

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServeEnd {
    /// The input ended, or the output was closed.
    ProgramLeft,
    /// Somebody stopped it.
    Stopped,
}

/// Stops a server from another thread.
#[derive(Clone)]
pub struct RpcStop {
    sender: SyncSender<ServerEvent>,
    outbox: Arc<Outbox>,
}

enum AgentSeat {
    Home(Box<Agent>),
    Away(AgentWork),
    /// Only at the end.
    Empty,
}

pub(crate) enum ServerEvent {
    Line(InputLine),
    EndOfInput,
    OutputClosed,
    Stop,
    /// It waits to be taken in.
    AgentBack,
    HookDecided(HookAction),
}

/// The agent after its work.
struct AgentReturn {
    agent: Box<Agent>,
    work: FinishedWork,
}

type AgentJob = Box<dyn FnOnce() -> AgentReturn + Send>;

impl RpcStop {
    pub fn stop(&self) {
        // A program that reads nothing must not keep it from ending.
        self.outbox.limit_time();
        // A server that has ended needs no stop.
        let _ = self.sender.send(ServerEvent::Stop);
    }
}

/// What a server is made of before it has an agent.
pub struct RpcServerSeed {
    link: ClientLink,
    inbox: Receiver<ServerEvent>,
    sender: SyncSender<ServerEvent>,
}

impl Default for RpcServerSeed {
    fn default() -> RpcServerSeed {
        let (sender, inbox) = sync_channel(INBOX);
        RpcServerSeed { link: ClientLink::default(), inbox, sender }
    }
}

impl RpcServerSeed {
    /// Whom the first agent asks.
    pub fn host(&self) -> Arc<dyn Host + Send> {
        self.link.host()
    }

    pub fn stop_handle(&self) -> RpcStop {
        RpcStop { sender: self.sender.clone(), outbox: self.link.outbox.clone() }
    }

    pub fn into_server(self, opened: OpenedAgent, backend: &mut dyn RpcBackend) -> RpcServer<'_> {
        let RpcServerSeed { link, inbox, sender } = self;
        let OpenedAgent { agent, model, tools } = opened;
        let mut server = RpcServer {
            backend,
            link,
            inbox,
            sender,
            jobs: None,
            returns: None,
            handle: agent.handle(),
            session_id: agent.session_id().to_string(),
            seat: AgentSeat::Empty,
            model,
            new_model: None,
            own_tools: tools,
            host_tools: Vec::new(),
            host_files: None,
            has_new_tools: true,
            pending_move: None,
            next_prompt: None,
            commands_run: 0,
            facts: AgentFacts::default(),
        };
        server.seat(Box::new(agent));
        server
    }
}

impl RpcServer<'_> {
    /// Serves until the program has left or somebody stops it.
    ///
    /// # Errors
    /// If the threads cannot be made.
    pub fn serve(
        mut self,
        relay_version: &str,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> std::io::Result<ServeEnd> {
        self.start_threads(input, output)?;
        let last_seq = self.handle.last_seq();
        let ready = RpcFrame::Ready {
            protocol_version: PROTOCOL_VERSION,
            session_id: &self.session_id,
            relay_version,
            last_seq,
            cwd: &self.facts.cwd,
            model: &self.model.model.selector(),
            access: &self.facts.access,
        };
        // Whether the program reads is noticed by the loop.
        let _ = self.link.outbox.push(&ready);
        self.link.pump.follow(self.event_source(last_seq, Vec::new()));
        let end = self.work_off();
        self.shut_down();
        Ok(end)
    }

    fn start_threads(
        &mut self,
        input: impl Read + Send + 'static,
        mut output: impl Write + Send + 'static,
    ) -> std::io::Result<()> {
        let (sender, outbox) = (self.sender.clone(), self.link.outbox.clone());
        let read = move || {
            let mut lines = LineReader::new(input);
            while let Some(line) = lines.next_line() {
                if sender.send(ServerEvent::Line(line)).is_err() {
                    return;
                }
            }
            outbox.limit_time();
            let _ = sender.send(ServerEvent::EndOfInput);
        };
        let (sender, outbox) = (self.sender.clone(), self.link.outbox.clone());
        let write = move || {
            if outbox.write_to(&mut output).is_err() {
                let _ = sender.send(ServerEvent::OutputClosed);
            }
        };
        let (pump, outbox) = (self.link.pump.clone(), self.link.outbox.clone());
        let (jobs, waiting) = sync_channel::<AgentJob>(INBOX);
        let sender = self.sender.clone();
        let (come_back, returns) = sync_channel(INBOX);
        let run_jobs = move || {
            for job in waiting {
                if come_back.send(job()).is_err() {
                    return;
                }
                // Where something waits already, the loop looks for the agent after it. Waiting here for the loop could be for
                // ever: it may wait for the agent to begin its next work.
                let _ = sender.try_send(ServerEvent::AgentBack);
            }
        };
        (self.jobs, self.returns) = (Some(jobs), Some(returns));
        let named = |name: &str| thread::Builder::new().name(name.to_string());
        named("relay-rpc-in").spawn(read)?;
        named("relay-rpc-out").spawn(write)?;
        named("relay-rpc-events").spawn(move || pump.run(&outbox))?;
        named("relay-agent").spawn(run_jobs)?;
        Ok(())
    }

    fn work_off(&mut self) -> ServeEnd {
        while let Ok(event) = self.inbox.recv() {
            match event {
                ServerEvent::Line(line) => self.take_line(line),
                ServerEvent::AgentBack => {}
                ServerEvent::HookDecided(action) => self.hook_decided(action),
                ServerEvent::Stop => return ServeEnd::Stopped,
                ServerEvent::EndOfInput | ServerEvent::OutputClosed => return ServeEnd::ProgramLeft,
            }
            if matches!(self.seat, AgentSeat::Away(_)) {
                self.take_back(Duration::ZERO);
            }
            if self.link.outbox.is_closed() {
                break;
            }
        }
        ServeEnd::ProgramLeft
    }

    fn take_line(&mut self, line: InputLine) {
        let line = match line {
            InputLine::Whole(line) if line.trim_ascii().is_empty() => return,
            InputLine::Whole(line) => line,
            InputLine::TooLong { head, bytes } => {
                let said = format!("the line has {bytes} bytes; at most {MAX_LINE_BYTES} are read");
                let error = RpcError::new(RpcErrorCode::LineTooLong, said);
                return self.respond_error(find_id(&head), "", error);
            }
        };
        let request = match RpcRequest::parse(&line) {
            Ok(request) => request,
            Err(fault) => return self.respond_error(fault.0, "", fault.1),
        };
        drop(line);
        // Who has read of the end of a run finds it ended.
        let has_run = matches!(self.seat, AgentSeat::Away(work) if work != AgentWork::Mode);
        if has_run && !self.handle.is_running() {
            self.take_back(LAST_WORK);
        }
        commands::dispatch(self, request);
    }

    /// Answers a command.
    pub(crate) fn respond<T: Serialize>(&self, call: &CommandCall, answer: Result<T, RpcError>) {
        let data = answer.and_then(|data| {
            serde_json::value::to_raw_value(&data)
                .map_err(|error| RpcError::new(RpcErrorCode::Internal, error.to_string()))
        });
        match data {
            Ok(data) => {
                let _ = self.link.outbox.push(&RpcFrame::Response {
                    id: call.id.clone(),
                    command: call.name,
                    success: true,
                    data: Some(data),
                    error: None,
                });
            }
            Err(error) => self.respond_error(call.id.clone(), call.name, error),
        }
    }

    pub(crate) fn respond_error(&self, id: Option<RequestId>, command: &str, error: RpcError) {
        let frame = RpcFrame::Response { id, command, success: false, data: None, error: Some(error) };
        // A program that has closed its end is noticed by the loop.
        let _: Result<(), OutboxClosed> = self.link.outbox.push(&frame);
    }

    fn event_source(&self, after: u64, announcement: Vec<u8>) -> EventSource {
        EventSource { handle: self.handle.clone(), session_id: self.session_id.clone(), after, announcement }
    }

    /// Sends the events after this one again.
    pub(crate) fn replay(&self, after: u64) {
        self.link.pump.replay(self.event_source(after, Vec::new()));
    }

    pub(crate) fn facts(&self) -> &AgentFacts {
        &self.facts
    }

    /// What a command did to the agent is known.
    pub(crate) fn look_again(&mut self) {
        if let AgentSeat::Home(agent) = &self.seat {
            self.facts = AgentFacts::of(agent);
        }
    }

    /// Takes a change back, or brings it back; the agent is here.
    pub(crate) fn step_changes(
        &mut self,
        step: ChangeStep,
        any_branch: bool,
    ) -> Result<ChangeStepData, RpcError> {
        match &self.seat {
            AgentSeat::Home(agent) => self.backend.step_changes(agent, step, any_branch),
            AgentSeat::Away(_) | AgentSeat::Empty => Err(RpcError::busy("the agent works")),
        }
    }

    /// The run is ended, and what waits is rejected; everything that was begun is closed in order.
    fn shut_down(&mut self) {
        self.link.outbox.limit_time();
        self.link.close_requests();
        self.handle.take_queued();
        self.handle.abort();
        let returned = match (&self.seat, &self.returns) {
            (AgentSeat::Away(_), Some(returns)) => returns.recv_timeout(LAST_WORK).ok(),
            _ => None,
        };
        // What it has in the background ends with it.
        drop(returned);
        self.seat = AgentSeat::Empty;
        self.link.outbox.drain();
        self.link.outbox.close();
    }
}

/// Runs the agent; a fault of relay's ends the run and not the server.
fn guard(run: impl FnOnce() -> FinishedWork, fallback: FinishedWork) -> FinishedWork {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(fallback)
}
