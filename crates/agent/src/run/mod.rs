//! The loop: the model is asked, its calls are carried out, and again, until it has nothing more to do or something ends it.
//!
//! Invariant: however a run ends, the session is valid for every wire (each call has a result, the user may speak next),
//! and everything that was finished is in it.

mod answer;
mod branch;
mod calls;
mod compaction;
mod context_report;
mod goal;
mod handoff;
mod history;
mod leaks;
mod mode;
mod model_chain;
mod project_check;
mod repetition;
mod rewind;
mod rule_watch;
mod shared;
mod summarize;
mod title;
mod user_call;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use relaycode_llm::message::{ToolCall, UserMessage};
use relaycode_llm::wire::KeptTurns;
use relaycode_llm::{CancelToken, Message, ModelClient, ModelFailure, SecretMask, StopReason};
use relaycode_session::{EntryBody, Session, SessionError};
use relaycode_tools::{Goal, Host, PlanDecision, Tool, ToolWorkspace};
use tokio::runtime::{Builder, Runtime};

pub use branch::BranchMove;
pub use calls::{MAX_CALLS, TOOL_THREAD};
pub use context_report::{ContextPart, ContextReport};
pub use goal::AgentGoalError;
pub(crate) use goal::GOAL_ENTRY;
pub use handoff::{HandoffDocument, HandoffError};
pub use mode::{AgentModeError, ModeRequest};
pub(crate) use mode::{RestoredMode, restore_mode};
pub(crate) use shared::AgentShared;
pub use title::SessionTitles;
pub use user_call::UserCallOutcome;

use crate::event::{AgentEvent, EndReason, NoticeLevel, RunUsage};
use crate::handle::AgentHandle;
use crate::modes::AgentMode;
use crate::queue::{PromptQueue, UserPrompt};
use crate::settings::{AgentModel, AgentSettings};
use crate::stream_rules::StreamRules;
use crate::transcript::{Transcript, now};
use answer::TurnAnswer;
use compaction::RoomState;
use goal::GoalRounds;
use model_chain::ModelChain;
use repetition::{RepetitionGuard, RepetitionVerdict};
use rule_watch::rules_by_call;
use title::PendingTitle;

/// Everything that an agent is made of.
pub struct AgentParts {
    pub session: Session,
    pub client: ModelClient,
    pub model: AgentModel,
    /// Go on when the first one fails, in this order.
    pub fallbacks: Vec<AgentModel>,
    pub tools: Vec<Arc<dyn Tool>>,
    pub workspace: ToolWorkspace,
    pub host: Arc<dyn Host + Send>,
    pub system_prompt: String,
    /// Watched for while the model answers.
    pub stream_rules: StreamRules,
    pub titles: SessionTitles,
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
    tools: Vec<Arc<dyn Tool>>,
    /// The same in every request, so that the provider finds its cache again.
    definitions: Vec<relaycode_llm::request::Tool>,
    /// What was sent already is not made again for the next request.
    kept_turns: KeptTurns,
    workspace: ToolWorkspace,
    host: Arc<dyn Host + Send>,
    system: String,
    titles: SessionTitles,
    pending_title: PendingTitle,
    rules: StreamRules,
    /// Rules that the model is told with the result of a call, by its id.
    call_rules: HashMap<String, Vec<usize>>,
    /// Calls of the last answer that are not carried out, since the model's protocol leaked into them.
    leaked_calls: HashSet<String>,
    /// Answers that the run's rules asked for.
    rule_answers: u32,
    room: RoomState,
    secrets: Option<Arc<dyn SecretMask + Send + Sync>>,
    settings: AgentSettings,
    session_id: String,
    cwd: String,
    /// Of the run.
    cancel: CancelToken,
    deadline: Option<Instant>,
    usage: RunUsage,
    /// How often the model was told what the project's check found.
    check_rounds: u32,
    mode: Option<&'static dyn AgentMode>,
    /// About the mode, to be told with the next run.
    mode_notices: Vec<String>,
    decided_plan: Option<PlanDecision>,
    goal_rounds: GoalRounds,
    /// As the session has it.
    kept_goal: Option<Goal>,
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
    /// It ended with a plan that nobody approved.
    pub plan: Option<PlanDecision>,
}

/// An agent cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("this session is in a mode that cannot be taken up: {0}")]
    Mode(#[from] AgentModeError),
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
        let transcript = Transcript::open(session)?;
        let (mode, mode_notices) = transcript.restore_mode(&workspace)?;
        let tools: Vec<_> = tools.into_iter().filter(|tool| tool.is_offered(&workspace)).collect();
        for (tool, details) in transcript.tool_details() {
            if let Some(tool) = tools.iter().find(|known| known.name() == tool) {
                tool.restore(&workspace, details);
            }
        }
        let kept_goal = transcript.kept_goal()?;
        workspace.restore_goal(kept_goal.clone());
        let definitions = tools.iter().map(|tool| tool.definition(&workspace)).collect();
        let settings = parts.settings;
        let mut rules = parts.stream_rules;
        if !rules.is_empty() {
            rules.restore(&transcript.told_rules()?);
        }
        let queue =
            PromptQueue::new(settings.steering_mode, settings.follow_up_mode, settings.interrupt_mode);
        let shared = Arc::new(AgentShared::new(transcript, queue));
        shared.set_auto_retry(settings.retry.enabled);
        shared.set_auto_compaction(settings.compaction.enabled);
        let mut workspace = workspace;
        workspace.history = Some(shared.clone());
        let mut agent = Agent {
            shared,
            runtime,
            client,
            models: ModelChain::new(&session_id, model, fallbacks),
            tools,
            definitions,
            kept_turns: KeptTurns::new(),
            workspace,
            host,
            system: parts.system_prompt,
            titles: parts.titles,
            pending_title: PendingTitle::default(),
            rules,
            call_rules: HashMap::new(),
            leaked_calls: HashSet::new(),
            rule_answers: 0,
            room: RoomState::default(),
            secrets: parts.secrets,
            settings,
            session_id,
            cwd,
            cancel: CancelToken::default(),
            deadline: None,
            usage: RunUsage::default(),
            check_rounds: 0,
            mode,
            mode_notices,
            decided_plan: None,
            goal_rounds: GoalRounds::default(),
            kept_goal,
        };
        if let Some(mode) = mode {
            agent.offer_tools(mode);
        }
        Ok(agent)
    }

    pub fn handle(&self) -> AgentHandle {
        AgentHandle::new(self.shared.clone())
    }

    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name() == name)
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

    /// Another model from the next request on.
    pub fn set_model(&mut self, model: AgentModel) {
        self.models.set_first(model);
    }

    /// Other tools from the next prompt on; those of the session's modes stay.
    pub fn set_tools(&mut self, tools: Vec<Arc<dyn Tool>>) {
        self.tools = tools.into_iter().filter(|tool| tool.is_offered(&self.workspace)).collect();
        self.definitions = self.tools.iter().map(|tool| tool.definition(&self.workspace)).collect();
        for mode in crate::modes::ALL {
            self.offer_tools(*mode);
        }
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
        self.check_rounds = 0;
        self.rule_answers = 0;
        self.goal_rounds = GoalRounds::default();
        let chosen = self.models.current();
        self.shared.events.publish(AgentEvent::AgentStart {
            session_id: self.session_id.clone(),
            model: chosen.model.selector(),
            thinking: chosen.thinking.name().to_string(),
            cwd: self.cwd.clone(),
            tools: self.tools.iter().map(|tool| tool.name().to_string()).collect(),
        });
        self.publish_mode();
    }

    fn work(&mut self, prompt: &UserPrompt) -> RunStep<EndReason> {
        let (model, thinking) = (self.models.chosen_selector(), self.models.current().thinking.name());
        self.shared
            .transcript()
            .set_model(&model, thinking)
            .map_err(|error| EndedRun::session_failed(&error))?;
        self.tell_finished_jobs()?;
        self.begin_title(prompt);
        self.say(prompt)?;
        let mut repetition = RepetitionGuard::new(self.settings.repeat_limit);
        loop {
            self.apply_mode_request()?;
            let end = self.turn(&mut repetition)?;
            let mut more = self.shared.queue().take_steering();
            let end = if self.tell_finished_jobs()? { None } else { end };
            let end = match end {
                Some(EndReason::Done) if self.decided_plan.is_some() => return Ok(EndReason::Done),
                Some(EndReason::Done) if more.is_empty() && self.check_project()? => None,
                end => end,
            };
            if let (Some(_), true) = (end, more.is_empty()) {
                more = self.shared.queue().take_follow_up();
            }
            let end = match end {
                Some(EndReason::Done) if more.is_empty() && self.continue_goal()? => None,
                end => end,
            };
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
        let mut answer = self.ask_model()?;
        self.cut_leaks(&mut answer)?;
        let TurnAnswer { message, calls, mut watch } = answer;
        let reason = message.stop_reason;
        self.call_rules = rules_by_call(&message, &mut watch);
        self.append(Message::Assistant(message))?;
        let end = if calls.is_empty() {
            match reason {
                StopReason::Length if self.continue_after_length()? => None,
                StopReason::Length => Some(EndReason::Length),
                _ if self.reached_limit().is_none() && self.tell_rules_after_answer(&mut watch)? => None,
                _ if self.remind_of_checkpoint()? => None,
                _ => Some(EndReason::Done),
            }
        } else {
            self.check_limits(&calls)?;
            let ran = self.run_calls(&calls);
            let rewound = self.apply_rewind()?;
            let digest = ran?;
            self.keep_goal()?;
            if !rewound {
                self.check_repetition(repetition, digest)?;
            }
            self.tell_rules_after_answer(&mut watch)?;
            self.apply_mode_outcome()?
        };
        self.rules.end_turn();
        self.settle_title();
        self.shared.events.publish(AgentEvent::TurnEnd { turn });
        Ok(end)
    }

    /// Whether the calls may be carried out. If not, they are answered with the reason, and the run can go on later.
    fn check_limits(&mut self, calls: &[(ToolCall, bool)]) -> RunStep<()> {
        let Some((reason, message)) = self.reached_limit() else { return Ok(()) };
        let left = if calls.len() == 1 { "1 call was" } else { &format!("{} calls were", calls.len()) };
        self.close_calls(&format!("Not carried out: {message}. The user has to let you go on."))?;
        Err(EndedRun { reason, message: Some(format!("{message}; {left} not carried out")), failure: None })
    }

    /// The limit after which the run asks for no further answer, in words.
    fn reached_limit(&self) -> Option<(EndReason, String)> {
        let limits = self.settings.limits;
        if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Some((EndReason::TimeLimit, self.time_limit_message()));
        }
        if let Some(cost) = limits.cost.filter(|cost| self.usage.cost >= *cost) {
            let message = format!("the prompt has cost ${:.2}, its limit is ${cost:.2}", self.usage.cost);
            return Some((EndReason::CostLimit, message));
        }
        let turns = limits.turns.filter(|turns| self.usage.turns >= *turns)?;
        Some((EndReason::TurnLimit, format!("the model has answered {}; that is the limit", times(turns))))
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

    /// What people have to know of what tools did.
    fn publish_warnings(&self) {
        for text in self.workspace.warnings.take_new() {
            self.notice(&text);
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
        self.publish_warnings();
        self.settle_title();
        let flushed = self.shared.transcript().flush();
        if let (Err(error), true) = (&flushed, closed.is_ok()) {
            self.notice(&format!("the session may not be on disk: {error}"));
        }
        self.shared.set_run_cancel(None);
        self.usage.context_tokens = self.context_tokens();
        let usage = self.usage;
        self.shared.events.publish(AgentEvent::AgentEnd { reason, message: message.clone(), usage });
        let answer = self.shared.transcript().last_answer();
        RunOutcome { reason, message, failure, answer, usage, plan: self.take_decided_plan() }
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

impl EndedRun {
    fn session_failed(error: &SessionError) -> EndedRun {
        EndedRun { reason: EndReason::SessionFailed, message: Some(error.to_string()), failure: None }
    }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_string() } else { format!("{count} times") }
}
