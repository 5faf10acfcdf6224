//! The loop: the model is asked, its calls are carried out, and again, until it has nothing more to do or something ends it.
//!
//! Invariant: however a run ends, the session is valid for every wire (each call has a result, the user may speak next),
//! and everything that was finished is in it.

mod answer;
mod calls;
mod model_chain;
mod repetition;
mod rewind;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use relaycode_llm::message::{ToolCall, UserMessage};
use relaycode_llm::{CancelToken, Message, ModelClient, ModelFailure, SecretMask, StopReason, tokens};
use relaycode_session::{EntryBody, Session, SessionError};
use relaycode_tools::{Host, Tool, ToolWorkspace};
use tokio::runtime::{Builder, Runtime};

pub use calls::MAX_CALLS;

use crate::event::{AgentEvent, EndReason, EventLog, NoticeLevel, RunUsage};
use crate::handle::AgentHandle;
use crate::question::QuestionBoard;
use crate::queue::{PromptQueue, UserPrompt};
use crate::settings::{AgentModel, AgentSettings};
use crate::transcript::{Transcript, now};
use model_chain::ModelChain;
use repetition::{RepetitionGuard, RepetitionVerdict};

/// Everything that an agent is made of.
pub struct AgentParts {
    pub session: Session,
    pub client: ModelClient,
    pub model: AgentModel,
    /// Go on when the first one fails, in this order.
    pub fallbacks: Vec<AgentModel>,
    pub tools: Vec<&'static dyn Tool>,
    pub workspace: ToolWorkspace,
    pub host: Arc<dyn Host + Send>,
    pub system_prompt: String,
    /// What no model is to see.
    pub secrets: Option<Arc<dyn SecretMask + Send + Sync>>,
    pub settings: AgentSettings,
}

/// A conversation with a model that has tools. Lives on one thread; others follow and steer it with an [`AgentHandle`].
pub struct Agent {
    shared: Arc<AgentShared>,
    runtime: Runtime,
    client: ModelClient,
    models: ModelChain,
    tools: Vec<&'static dyn Tool>,
    /// The same in every request, so that the provider finds its cache again.
    definitions: Vec<relaycode_llm::request::Tool>,
    workspace: ToolWorkspace,
    host: Arc<dyn Host + Send>,
    system: String,
    secrets: Option<Arc<dyn SecretMask + Send + Sync>>,
    settings: AgentSettings,
    session_id: String,
    cwd: String,
    /// Of the run.
    cancel: CancelToken,
    deadline: Option<Instant>,
    usage: RunUsage,
}

/// What the loop and everybody who follows it share.
pub(crate) struct AgentShared {
    pub(crate) events: EventLog,
    pub(crate) questions: QuestionBoard,
    queue: Mutex<PromptQueue>,
    transcript: Mutex<Transcript>,
    control: Mutex<RunControl>,
}

#[derive(Default)]
struct RunControl {
    run: Option<CancelToken>,
    retry: Option<CancelToken>,
}

/// What came of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOutcome {
    pub reason: EndReason,
    /// Why, unless the model was done.
    pub message: Option<String>,
    /// Why the model gave no answer.
    pub failure: Option<ModelFailure>,
    /// The text of the last answer.
    pub answer: String,
    pub usage: RunUsage,
}

/// An agent cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("connections cannot be made: {0}")]
    Runtime(std::io::Error),
}

/// A run is over before the model was done.
#[derive(Debug)]
struct EndedRun {
    reason: EndReason,
    message: Option<String>,
    failure: Option<ModelFailure>,
}

type RunStep<T> = Result<T, EndedRun>;

impl Agent {
    /// # Errors
    /// If the session cannot be read or written.
    pub fn new(parts: AgentParts) -> Result<Agent, AgentError> {
        let AgentParts { session, client, model, fallbacks, tools, workspace, host, .. } = parts;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(AgentError::Runtime)?;
        let (session_id, cwd) = (session.id().to_string(), session.header().cwd.clone());
        let mut transcript = Transcript::open(session)?;
        let tools: Vec<_> = tools.into_iter().filter(|tool| tool.is_offered(&workspace)).collect();
        for (tool, details) in transcript.tool_details() {
            if let Some(tool) = tools.iter().find(|known| known.name() == tool) {
                tool.restore(&workspace, details);
            }
        }
        let definitions = tools.iter().map(|tool| tool.definition(&workspace)).collect();
        let settings = parts.settings;
        let queue =
            PromptQueue::new(settings.steering_mode, settings.follow_up_mode, settings.interrupt_mode);
        let shared = AgentShared {
            events: EventLog::with_earlier(transcript.take_earlier()),
            questions: QuestionBoard::default(),
            queue: Mutex::new(queue),
            transcript: Mutex::new(transcript),
            control: Mutex::default(),
        };
        Ok(Agent {
            shared: Arc::new(shared),
            runtime,
            client,
            models: ModelChain::new(model, fallbacks),
            tools,
            definitions,
            workspace,
            host,
            system: parts.system_prompt,
            secrets: parts.secrets,
            settings,
            session_id,
            cwd,
            cancel: CancelToken::default(),
            deadline: None,
            usage: RunUsage::default(),
        })
    }

    pub fn handle(&self) -> AgentHandle {
        AgentHandle::new(self.shared.clone())
    }

    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// Looks at the session.
    pub fn with_session<T>(&self, look: impl FnOnce(&Session) -> T) -> T {
        look(self.shared.transcript().session())
    }

    pub fn workspace(&self) -> &ToolWorkspace {
        &self.workspace
    }

    /// What the tools share; a new prompt may get a new group of changes.
    pub fn workspace_mut(&mut self) -> &mut ToolWorkspace {
        &mut self.workspace
    }

    /// What the model would read with the next request, in tokens: counted by the provider as far as it did.
    pub fn context_tokens(&self) -> u64 {
        tokens::context_tokens(&self.system, &self.definitions, self.shared.transcript().messages())
    }

    /// Another model from the next request on.
    pub fn set_model(&mut self, model: AgentModel) {
        self.models.set_first(model);
    }

    /// Tells the model something that happened since it last spoke. It is said before the next prompt.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn tell(&mut self, custom_type: &str, text: &str) -> Result<(), SessionError> {
        self.shared.transcript().append_note(custom_type, text)
    }

    /// Keeps something with the session that no model sees.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(&mut self, custom_type: &str, data: serde_json::Value) -> Result<(), SessionError> {
        let custom_type = custom_type.to_string();
        self.shared.transcript().record(EntryBody::Custom { custom_type, data: Some(data) }).map(drop)
    }

    /// Works on a prompt, and on what is said meanwhile, until there is nothing left to do.
    pub fn prompt(&mut self, prompt: &UserPrompt) -> RunOutcome {
        self.begin_run();
        let ended = self.work(prompt);
        self.finish_run(ended)
    }

    fn begin_run(&mut self) {
        self.cancel = CancelToken::default();
        self.shared.set_run_cancel(Some(self.cancel.clone()));
        self.deadline = self.settings.limits.time.map(|time| Instant::now() + time);
        self.usage = RunUsage::default();
        let chosen = self.models.current();
        self.shared.events.publish(AgentEvent::AgentStart {
            session_id: self.session_id.clone(),
            model: chosen.model.selector(),
            thinking: chosen.thinking.name().to_string(),
            cwd: self.cwd.clone(),
            tools: self.tools.iter().map(|tool| tool.name().to_string()).collect(),
        });
    }

    fn work(&mut self, prompt: &UserPrompt) -> RunStep<EndReason> {
        let chosen = self.models.current();
        let (model, thinking) = (chosen.model.selector(), chosen.thinking.name());
        self.shared
            .transcript()
            .set_model(&model, thinking)
            .map_err(|error| EndedRun::session_failed(&error))?;
        self.tell_finished_jobs()?;
        self.say(prompt)?;
        let mut repetition = RepetitionGuard::new(self.settings.repeat_limit);
        loop {
            let end = self.turn(&mut repetition)?;
            let mut more = self.shared.queue().take_steering();
            let end = if self.tell_finished_jobs()? { None } else { end };
            if let (Some(_), true) = (end, more.is_empty()) {
                more = self.shared.queue().take_follow_up();
            }
            if !more.is_empty() {
                let waiting = self.shared.queue().to_event();
                self.shared.events.publish(waiting);
            }
            for prompt in &more {
                self.say(prompt)?;
            }
            if let (Some(end), true) = (end, more.is_empty()) {
                return Ok(end);
            }
        }
    }

    /// Tells the model of jobs in the background that ended; whether there were any.
    fn tell_finished_jobs(&mut self) -> RunStep<bool> {
        let finished = self.workspace.jobs.take_finished();
        for job in &finished {
            let text = job.result_text.as_deref().or(job.error_text.as_deref()).unwrap_or_default();
            let (id, status, label) = (&job.id, job.status.name(), &job.label);
            let note = format!("(relay: the background job {id} ended: {status}. It ran `{label}`.)\n{text}");
            let told = self.shared.transcript().append_note("async-result", &note);
            told.map_err(|error| EndedRun::session_failed(&error))?;
        }
        Ok(!finished.is_empty())
    }

    /// One answer and its calls; a reason to end if there are none.
    fn turn(&mut self, repetition: &mut RepetitionGuard) -> RunStep<Option<EndReason>> {
        self.usage.turns += 1;
        let turn = self.usage.turns;
        self.shared.events.publish(AgentEvent::TurnStart { turn });
        let answer = self.ask_model()?;
        let (reason, calls) = (answer.message.stop_reason, answer.calls);
        self.append(Message::Assistant(answer.message))?;
        let end = if calls.is_empty() {
            match reason {
                StopReason::Length => Some(EndReason::Length),
                _ if self.remind_of_checkpoint()? => None,
                _ => Some(EndReason::Done),
            }
        } else {
            self.check_limits(&calls)?;
            let ran = self.run_calls(&calls);
            let rewound = self.apply_rewind()?;
            let digest = ran?;
            if !rewound {
                self.check_repetition(repetition, digest)?;
            }
            None
        };
        self.shared.events.publish(AgentEvent::TurnEnd { turn });
        Ok(end)
    }

    /// Whether the calls may be carried out. If not, they are answered with the reason, and the run can go on later.
    fn check_limits(&mut self, calls: &[(ToolCall, bool)]) -> RunStep<()> {
        let limits = self.settings.limits;
        let (reason, message) = if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            (EndReason::TimeLimit, self.time_limit_message())
        } else if let Some(cost) = limits.cost.filter(|cost| self.usage.cost >= *cost) {
            (
                EndReason::CostLimit,
                format!("the prompt has cost ${:.2}, its limit is ${cost:.2}", self.usage.cost),
            )
        } else if let Some(turns) = limits.turns.filter(|turns| self.usage.turns >= *turns) {
            (EndReason::TurnLimit, format!("the model has answered {}; that is the limit", times(turns)))
        } else {
            return Ok(());
        };
        let left = if calls.len() == 1 { "1 call was" } else { &format!("{} calls were", calls.len()) };
        self.close_calls(&format!("Not carried out: {message}. The user has to let you go on."))?;
        Err(EndedRun { reason, message: Some(format!("{message}; {left} not carried out")), failure: None })
    }

    fn check_repetition(&mut self, guard: &mut RepetitionGuard, digest: calls::TurnDigest) -> RunStep<()> {
        match guard.record(digest) {
            RepetitionVerdict::Fine => Ok(()),
            RepetitionVerdict::Tell { times } => {
                let text = format!(
                    "(relay: you made the same calls {times} times in a row, and each time the results were the same. Do something \
                     else, or say what keeps you from going on.)"
                );
                self.shared
                    .transcript()
                    .append_note("repetition", &text)
                    .map_err(|error| EndedRun::session_failed(&error))
            }
            RepetitionVerdict::End { times } => Err(EndedRun {
                reason: EndReason::Repetition,
                message: Some(format!("the model made the same calls {times} times with the same results")),
                failure: None,
            }),
        }
    }

    fn finish_run(&mut self, ended: RunStep<EndReason>) -> RunOutcome {
        let EndedRun { reason, message, failure } = match ended {
            Ok(reason) => EndedRun { reason, message: None, failure: None },
            Err(ended) => ended,
        };
        let message = message.or_else(|| {
            (reason == EndReason::Length).then(|| "the answer reached the model's output limit".to_string())
        });
        // What this does not write is in doubt, and was said to be.
        let closed = self.close_calls(calls::STOPPED);
        self.workspace.end_turn();
        let flushed = self.shared.transcript().flush();
        if let (Err(error), true) = (&flushed, closed.is_ok()) {
            self.notice(&format!("the session may not be on disk: {error}"));
        }
        self.shared.set_run_cancel(None);
        self.usage.context_tokens = self.context_tokens();
        let usage = self.usage;
        self.shared.events.publish(AgentEvent::AgentEnd { reason, message: message.clone(), usage });
        let answer = self.shared.transcript().last_answer();
        RunOutcome { reason, message, failure, answer, usage }
    }

    fn say(&mut self, prompt: &UserPrompt) -> RunStep<()> {
        self.append(Message::User(UserMessage { content: prompt.content.clone(), timestamp: now() }))
    }

    fn append(&mut self, message: Message) -> RunStep<()> {
        self.shared.append(message).map_err(|error| EndedRun::session_failed(&error))
    }

    fn record(&mut self, body: EntryBody) -> RunStep<()> {
        let recorded = self.shared.transcript().record(body);
        recorded.map(drop).map_err(|error| EndedRun::session_failed(&error))
    }

    fn close_calls(&mut self, why: &str) -> RunStep<()> {
        let closed = self.shared.transcript().close_calls(why);
        for (entry_id, message) in closed.map_err(|error| EndedRun::session_failed(&error))? {
            self.shared.events.publish(AgentEvent::MessageEnd { entry_id, message: Box::new(message) });
        }
        Ok(())
    }

    fn notice(&self, text: &str) {
        let (level, text) = (NoticeLevel::Warning, text.to_string());
        self.shared.events.publish(AgentEvent::Notice { level, text });
    }

    /// The run was cancelled: by the user, or because its time is up.
    fn stopped_run(&self) -> EndedRun {
        if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            let message = Some(self.time_limit_message());
            return EndedRun { reason: EndReason::TimeLimit, message, failure: None };
        }
        EndedRun { reason: EndReason::Aborted, message: Some("stopped by the user".into()), failure: None }
    }

    fn time_limit_message(&self) -> String {
        let seconds = self.settings.limits.time.unwrap_or_default().as_secs();
        format!("the time for this prompt is up ({seconds} s)")
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.shared.events.close();
    }
}

impl AgentShared {
    /// Writes a message, and tells it.
    fn append(&self, message: Message) -> Result<(), SessionError> {
        let entry_id = self.transcript().append(message.clone())?;
        self.events.publish(AgentEvent::MessageEnd { entry_id, message: Box::new(message) });
        Ok(())
    }

    pub(crate) fn queue(&self) -> MutexGuard<'_, PromptQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn transcript(&self) -> MutexGuard<'_, Transcript> {
        self.transcript.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn control(&self) -> MutexGuard<'_, RunControl> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_run_cancel(&self, cancel: Option<CancelToken>) {
        self.control().run = cancel;
    }

    fn set_retry_cancel(&self, cancel: Option<CancelToken>) {
        self.control().retry = cancel;
    }

    /// Whether there was a run to end.
    pub(crate) fn abort(&self) -> bool {
        let control = self.control();
        control.run.as_ref().map(CancelToken::cancel).is_some()
    }

    /// Whether a retry was waited for.
    pub(crate) fn abort_retry(&self) -> bool {
        let control = self.control();
        control.retry.as_ref().map(CancelToken::cancel).is_some()
    }

    pub(crate) fn is_running(&self) -> bool {
        self.control().run.is_some()
    }
}

impl EndedRun {
    fn session_failed(error: &SessionError) -> EndedRun {
        EndedRun { reason: EndReason::SessionFailed, message: Some(error.to_string()), failure: None }
    }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_string() } else { format!("{count} times") }
}
