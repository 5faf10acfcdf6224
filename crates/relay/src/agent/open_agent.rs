//! relay's own agent, wired: session, model, tools, the project behind its door, the person at the terminal. `relay run`, the
//! conversation and `relay rpc` use the same.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::time::Duration;

use relaycode_agent::prompt::instructions::{InstructionPlaces, ProjectInstructions};
use relaycode_agent::prompt::{PromptSurroundings, access_words, system_prompt};
use relaycode_agent::stream_rules::StreamRules;
use relaycode_agent::{
    Agent, AgentError, AgentEvent, AgentHandle, AgentModeError, AgentParts, AgentSettings,
    CompactionSettings, EventRead, InterruptMode, QueueMode, RunLimits, RunOutcome, SequencedEvent,
    SessionTitles, UserPrompt,
};
use relaycode_llm::SecretMask;
use relaycode_llm::request::ThinkingLevel;
use relaycode_llm::request::secrets::Secrets;
use relaycode_project::access::Access;
use relaycode_project::config::{
    AgentConfig, AgentInterruptMode, AgentQueueMode, AgentTitleMode, CompactionConfig,
};
use relaycode_session::{Session, SessionError};
use relaycode_tools::{Host, JobStatus, Tool, ToolWorkspace};

use super::change_groups::{ChangeGroup, GROUP_ENTRY, UNDONE_NOTE, find_changed_groups};
use super::command_surroundings::prepare_commands;
use super::conversation::TerminalLender;
use super::first_start;
use super::models::{ModelWish, RunModels, choose_models, choose_small_model};
use super::options::AgentOptions;
use super::session_file::open_session;
use super::terminal_host::{QuestionNotices, TerminalHost};
use crate::{
    CommandContext, CommandFailure, CommandResult, LogLevel, Project, Providers, SignalGuard, providers,
    questions,
};

/// How soon a signal is noticed.
const TICK: Duration = Duration::from_millis(30);
/// The kind of what the model is told about its access.
const ACCESS_NOTE: &str = "access-changed";
/// Bytes of a prompt of the user's own for the system.
const MAX_SYSTEM_PROMPT: usize = 256 << 10;

pub(crate) struct OpenAgent {
    pub(crate) agent: Agent,
    pub(crate) models: RunModels,
    pub(crate) secrets: Option<Arc<Secrets>>,
    /// After so long without a word a long conversation is summed up.
    pub(crate) idle_time: Option<Duration>,
    /// What the model can call.
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) has_cost_limit: bool,
    /// What was read of user and project for agents.
    pub(crate) instruction_files: Vec<String>,
    /// What the model believes that it may do.
    told_access: Access,
}

/// Who is there to be asked.
pub(crate) enum AgentSurface {
    /// The person at the terminal, if there is one, line by line.
    Terminal,
    /// The person at the terminal, whose screen answers the agent's questions and lends the terminal to those of the door.
    Screen(Arc<TerminalLender>),
    /// A program, which also names sessions.
    Program(Arc<dyn Host + Send>),
}

impl OpenAgent {
    pub(crate) fn open(options: &AgentOptions, ctx: &mut CommandContext<'_>) -> CommandResult<OpenAgent> {
        let session = open_session(options.session_choice(), ctx)?;
        OpenAgent::open_with(session, options, AgentSurface::Terminal, ctx)
    }

    /// With a session that is there.
    pub(crate) fn open_with(
        session: Session,
        options: &AgentOptions,
        surface: AgentSurface,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<OpenAgent> {
        let project = Project::open(ctx)?;
        project.recover(ctx)?;
        let configured = project.config()?.config.clone();
        let (config, ttsr, compaction) = (configured.agent, configured.ttsr, configured.compaction);
        let settings_before = session.settings().map_err(CommandFailure::unexpected)?;
        let mut providers = Providers::open(ctx)?;
        let wish = ModelWish {
            selector: options.model.as_deref(),
            thinking: options.thinking,
            session_model: settings_before.models.get("default").map(String::as_str),
            session_thinking: Some(settings_before.thinking_level.as_str())
                .filter(|_| !session.is_empty())
                .and_then(ThinkingLevel::from_name),
        };
        let models = choose_models(&wish, &mut providers, ctx);
        let models = models.map_err(|failure| first_start::advise(failure, ctx))?;
        let has_cost_limit = options.max_cost.is_some() || config.max_cost.is_some();
        check_price(&models, has_cost_limit, options.max_cost.is_some(), ctx)?;
        let (titles, is_attended) = match &surface {
            AgentSurface::Terminal | AgentSurface::Screen(_) => {
                (choose_titles(config.titles, &mut providers, ctx)?, questions::open_terminal().is_some())
            }
            AgentSurface::Program(_) => (SessionTitles::Off, true),
        };
        let mut tools = options.choose_tools(&config, is_attended)?;
        let mut workspace = open_workspace(options, project, &config, ctx)?;
        prepare_commands(&mut workspace, &config, &session, &providers.registry, ctx);
        leave_out_denied(&mut tools, &workspace, ctx)?;
        workspace.active_tools = Some(tools.iter().map(|tool| tool.name().to_string()).collect());
        let servers = providers.into_servers(ctx.home).map_err(CommandFailure::usage)?;
        let secrets = servers.secrets;
        let instructions = read_instructions(&workspace, &config, ctx);
        let mut remarks = instructions.remarks.clone();
        let stream_rules = StreamRules::new(&instructions.rules, ttsr, workspace.root(), &mut remarks);
        for remark in &remarks {
            ctx.eprint_remark(LogLevel::Warn, remark);
        }
        let system_prompt = make_system_prompt(options, &workspace, &instructions, &tools)?;
        let lender = match &surface {
            AgentSurface::Screen(lender) => Some(lender.clone()),
            AgentSurface::Terminal | AgentSurface::Program(_) => None,
        };
        let has_screen = lender.is_some();
        let host: Arc<dyn Host + Send> = match surface {
            AgentSurface::Program(host) => host,
            AgentSurface::Terminal | AgentSurface::Screen(_) => Arc::new(TerminalHost {
                runner: workspace.door.runner.clone(),
                config: workspace.door.config_file_name(),
                level: ctx.level(),
                json: ctx.is_json(),
                style: ctx.console.err_style(),
                notices: config.ask_notify.then(|| QuestionNotices::new(workspace.root())),
                terminal: Mutex::new(()),
                lender,
                plan: Mutex::default(),
            }),
        };
        silence_tool_panics();
        let mut agent = Agent::new(AgentParts {
            session,
            client: providers::new_client()?,
            model: models.first.clone(),
            fallbacks: models.fallbacks.clone(),
            tools: tools.clone(),
            workspace,
            host,
            system_prompt,
            stream_rules,
            titles,
            secrets: secrets.clone().map(|secrets| secrets as Arc<dyn SecretMask + Send + Sync>),
            settings: settings(options, &config, &compaction, &models),
        })
        .map_err(|error| match error {
            AgentError::Mode(error) => mode_failure(&error),
            error => CommandFailure::unexpected(error),
        })?;
        // Its questions are then events, which the screen answers.
        agent.handle().set_attended(has_screen);
        if options.plan {
            agent.begin_planning().map_err(|error| mode_failure(&error))?;
        }
        let idle = Duration::from_secs(compaction.idle_timeout_seconds);
        let idle_time = compaction.idle_enabled.then_some(idle);
        let instruction_files = instructions.files.into_iter().map(|file| file.path).collect();
        let told_access = agent.workspace().access;
        Ok(OpenAgent {
            agent,
            models,
            secrets,
            tools,
            idle_time,
            has_cost_limit,
            instruction_files,
            told_access,
        })
    }

    /// Another model from the next prompt on.
    pub(crate) fn switch_model(&mut self, selector: &str, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
        let mut providers = Providers::open(ctx)?;
        let wish = ModelWish {
            selector: Some(selector),
            thinking: None,
            session_model: None,
            session_thinking: Some(self.models.first.thinking),
        };
        let models = choose_models(&wish, &mut providers, ctx)?;
        check_price(&models, self.has_cost_limit, false, ctx)?;
        self.models = models;
        self.agent.set_model(self.models.first.clone());
        Ok(())
    }

    /// How much the model thinks from the next prompt on.
    pub(crate) fn set_thinking(&mut self, level: ThinkingLevel) {
        self.models.first.thinking = level;
        self.agent.set_model(self.models.first.clone());
    }

    /// What the agent may do from now on. The model is told with the next prompt.
    pub(crate) fn set_access(&mut self, access: Access) {
        self.agent.workspace_mut().access = access;
    }

    /// See [`begin_prompt`].
    pub(crate) fn begin_prompt(&mut self, prompt: &UserPrompt) -> CommandResult<()> {
        let access = self.agent.workspace().access;
        if std::mem::replace(&mut self.told_access, access) != access {
            let note = format!("(relay: the user changed your access; it is now {}.)", access_words(access));
            self.agent.tell(ACCESS_NOTE, &note).map_err(CommandFailure::unexpected)?;
        }
        begin_prompt(&mut self.agent, prompt)
    }

    /// Lets the agent work on a thread of its own; `show` gets what it does. A signal ends the run.
    pub(crate) fn work(
        &mut self,
        prompt: &UserPrompt,
        held: &SignalGuard,
        show: &mut dyn FnMut(&SequencedEvent),
    ) -> CommandResult<RunOutcome> {
        self.run_beside(held, show, |agent| agent.prompt(prompt))
    }

    /// Anything that takes its time, in the same way.
    pub(crate) fn run_beside<T: Send>(
        &mut self,
        held: &SignalGuard,
        show: &mut dyn FnMut(&SequencedEvent),
        work: impl FnOnce(&mut Agent) -> T + Send,
    ) -> CommandResult<T> {
        self.run_followed(&mut |work| work.show_until_done(held, show), work)
    }

    /// Lets the agent work on a thread of its own while `follow` shows it.
    pub(crate) fn run_followed<T: Send>(
        &mut self,
        follow: &mut dyn FnMut(&AgentWork<'_>),
        work: impl FnOnce(&mut Agent) -> T + Send,
    ) -> CommandResult<T> {
        let handle = self.agent.handle();
        let is_done = AtomicBool::new(false);
        let watched = AgentWork { after: handle.last_seq(), handle: handle.clone(), is_done: &is_done };
        let agent = &mut self.agent;
        std::thread::scope(|scope| {
            let end = WorkEnd { handle, is_done: &is_done };
            let worker = scope.spawn(move || {
                let _end = end;
                work(agent)
            });
            follow(&watched);
            worker.join().map_err(|_| CommandFailure::unexpected("the agent's thread ended unexpectedly"))
        })
    }

    /// A text of the model's, for the user: with what was hidden from the model.
    pub(crate) fn unmask(&self, text: &str) -> String {
        unmask(self.secrets.as_deref(), text)
    }
}

/// The agent at work on a thread of its own.
pub(crate) struct AgentWork<'a> {
    pub(crate) handle: AgentHandle,
    /// Events up to this one are known.
    pub(crate) after: u64,
    /// Those who wait for events are woken when it becomes true.
    pub(crate) is_done: &'a AtomicBool,
}

impl AgentWork<'_> {
    pub(crate) fn is_done(&self) -> bool {
        self.is_done.load(Ordering::SeqCst)
    }

    /// Shows each event. A signal ends the run.
    pub(crate) fn show_until_done(&self, held: &SignalGuard, show: &mut dyn FnMut(&SequencedEvent)) {
        let mut reader = self.handle.read_events(self.after);
        loop {
            if held.stop_requested() {
                self.handle.abort();
            }
            match reader.next_within(TICK) {
                EventRead::Event(event) => {
                    show(&event);
                    if matches!(event.event, AgentEvent::AgentEnd { .. }) {
                        break;
                    }
                }
                EventRead::Pending if self.is_done() => break,
                EventRead::Pending => {}
                EventRead::Closed => break,
            }
        }
    }
}

/// Tells that the work is over, also if it panicked.
struct WorkEnd<'a> {
    handle: AgentHandle,
    is_done: &'a AtomicBool,
}

impl Drop for WorkEnd<'_> {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::SeqCst);
        self.handle.wake_readers();
    }
}

/// A mode that cannot begin, hold or end.
pub(crate) fn mode_failure(error: &AgentModeError) -> CommandFailure {
    CommandFailure::usage(error.to_string()).unchanged()
}

pub(crate) fn unmask(secrets: Option<&Secrets>, text: &str) -> String {
    match secrets {
        Some(secrets) => secrets.unmask_text(text).into_owned(),
        None => text.to_string(),
    }
}

/// Begins the group of a prompt's changes. The model hears what the user did with those of earlier prompts.
pub(crate) fn begin_prompt(agent: &mut Agent, prompt: &UserPrompt) -> CommandResult<()> {
    let ledger = &agent.workspace().door.ledger;
    let undone = agent.with_session(|session| find_changed_groups(session, ledger))?;
    let group = ChangeGroup::new(prompt.first_text());
    tell_undone(agent, undone)
        .and_then(|()| agent.keep(GROUP_ENTRY, group.to_entry()))
        .map_err(CommandFailure::unexpected)?;
    agent.workspace().set_group(Some(group.group), Some(group.title));
    Ok(())
}

/// What of the agent's commands a person has to know: what nobody could be asked, and what ends now.
pub(crate) fn tell_commands(workspace: &ToolWorkspace, ctx: &mut CommandContext<'_>) {
    for sentence in workspace.take_unanswered() {
        ctx.eprint_remark(LogLevel::Warn, &format!("not run, with nobody to ask: {sentence}"));
    }
    for sentence in workspace.warnings.take_all() {
        ctx.eprint_remark(LogLevel::Warn, &format!("to look at: {sentence}"));
    }
    for job in workspace.jobs.list().iter().filter(|job| job.status == JobStatus::Running) {
        ctx.eprint_remark(LogLevel::Warn, &format!("ended with the run: {} ({})", job.label, job.id));
    }
}

/// A tool that fails inside relay is told to the model; everything else that panics is told as ever.
fn silence_tool_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().name() != Some(relaycode_agent::TOOL_THREAD) {
                usual(panic);
            }
        }));
    });
}

/// A limit of money holds nothing where nobody knows the price. A limit that was just typed has to hold.
pub(crate) fn check_price(
    models: &RunModels,
    has_limit: bool,
    is_typed: bool,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<()> {
    let Some(model) = models.unpriced().filter(|_| has_limit) else { return Ok(()) };
    let said = format!("what {model} costs is not known, so no limit of money can hold");
    let hint = "say it in models.yml: `cost: {input: 1, output: 4}`, in US dollars per million tokens";
    if is_typed {
        return Err(CommandFailure::usage(said).hint(hint).unchanged());
    }
    ctx.eprint_remark(LogLevel::Warn, &format!("{said}; {hint}"));
    Ok(())
}

/// What a rule denies is not offered to the model.
fn leave_out_denied(
    tools: &mut Vec<Arc<dyn Tool>>,
    workspace: &ToolWorkspace,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<()> {
    for tool in std::mem::take(tools) {
        let rule = workspace.rule_against_tool(tool.name());
        match rule.map_err(|error| CommandFailure::usage(error.to_string()).unchanged())? {
            None => tools.push(tool),
            Some(rule) => {
                let said = format!("the tool {} is left out: the rule `{rule}` denies it", tool.name());
                ctx.eprint_remark(LogLevel::Info, &said);
            }
        }
    }
    Ok(())
}

fn tell_undone(agent: &mut Agent, groups: Vec<ChangeGroup>) -> Result<(), SessionError> {
    for group in groups {
        agent.tell(UNDONE_NOTE, &group.note())?;
        agent.keep(GROUP_ENTRY, group.to_entry())?;
    }
    Ok(())
}

fn open_workspace(
    options: &AgentOptions,
    project: Project,
    config: &AgentConfig,
    ctx: &CommandContext<'_>,
) -> CommandResult<ToolWorkspace> {
    let mut workspace = ToolWorkspace::new(project.into_door(ctx)?);
    workspace.access = options.access.unwrap_or(config.access);
    workspace.user_home.clone_from(&ctx.home.user_home);
    workspace.settings.ask_timeout =
        Some(Duration::from_secs(config.ask_timeout)).filter(|timeout| !timeout.is_zero());
    for directory in &options.add_dir {
        let found = ctx.options.directory.join(directory).canonicalize();
        let found = found.and_then(|found| std::fs::read_dir(&found).map(|_| found)).map_err(|error| {
            CommandFailure::usage(format!("{} cannot be entered: {error}", directory.display()))
                .hint("`--add-dir` names a directory")
                .unchanged()
        })?;
        workspace.extra_directories.push(found);
    }
    if let Ok(cwd) = ctx.options.directory.canonicalize()
        && cwd.starts_with(workspace.root())
    {
        workspace.set_current_directory(cwd);
    }
    Ok(workspace)
}

fn choose_titles(
    mode: AgentTitleMode,
    providers: &mut Providers,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<SessionTitles> {
    let small = match mode {
        AgentTitleMode::Off => return Ok(SessionTitles::Off),
        AgentTitleMode::Rule => None,
        AgentTitleMode::Auto => choose_small_model(providers, ctx),
    };
    Ok(match small {
        Some(model) => SessionTitles::ByModel { model: Box::new(model), client: providers::new_client()? },
        None => SessionTitles::ByRule,
    })
}

/// What user and project wrote for agents, unless the user does not want it read.
fn read_instructions(
    workspace: &ToolWorkspace,
    config: &AgentConfig,
    ctx: &CommandContext<'_>,
) -> ProjectInstructions {
    if !config.instructions {
        return ProjectInstructions::default();
    }
    let cwd = workspace.current_directory();
    let places = InstructionPlaces { home: ctx.home.path.as_deref(), root: workspace.root(), cwd: &cwd };
    ProjectInstructions::read(&places)
}

fn make_system_prompt(
    options: &AgentOptions,
    workspace: &ToolWorkspace,
    instructions: &ProjectInstructions,
    tools: &[Arc<dyn Tool>],
) -> CommandResult<String> {
    if options.system_prompt.as_ref().is_some_and(|text| text.len() > MAX_SYSTEM_PROMPT) {
        let said = format!("the system prompt has more than {} kB", MAX_SYSTEM_PROMPT >> 10);
        return Err(CommandFailure::usage(said).unchanged());
    }
    let cwd = workspace.current_directory();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
    let surroundings = PromptSurroundings {
        cwd: &cwd,
        root: workspace.root(),
        date: jiff::Zoned::now().date().to_string(),
        system: system_name(),
        access: workspace.access,
        tools: &names,
        is_git: workspace.root().join(".git").exists(),
    };
    Ok(system_prompt(options.system_prompt.as_deref(), &surroundings, instructions))
}

fn settings(
    options: &AgentOptions,
    config: &AgentConfig,
    compaction: &CompactionConfig,
    models: &RunModels,
) -> AgentSettings {
    let cents = |cents: u64| cents as f64 / 100.0;
    let queue_mode = |mode| match mode {
        AgentQueueMode::OneAtATime => QueueMode::OneAtATime,
        AgentQueueMode::All => QueueMode::All,
    };
    let bounded = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    AgentSettings {
        limits: RunLimits {
            turns: options.max_turns.or(config.max_turns),
            time: config.max_time.map(Duration::from_secs),
            cost: options.max_cost.or(config.max_cost.map(cents)),
        },
        steering_mode: queue_mode(config.steering_mode),
        follow_up_mode: queue_mode(config.follow_up_mode),
        interrupt_mode: match config.interrupt_mode {
            AgentInterruptMode::Immediate => InterruptMode::Immediate,
            AgentInterruptMode::Wait => InterruptMode::Wait,
        },
        check: config.check,
        parallel_tools: bounded(config.parallel_tools),
        repeat_limit: bounded(config.repeat_limit),
        goal_continuations: config.goal_continuations,
        retry: models.retry,
        compaction: CompactionSettings {
            enabled: compaction.enabled,
            threshold_percent: compaction.threshold_percent,
            threshold_tokens: compaction.threshold_tokens,
            reserve_tokens: compaction.reserve_tokens,
            keep_recent_tokens: compaction.keep_recent_tokens,
            auto_continue: compaction.auto_continue,
            mid_turn: compaction.mid_turn,
            prune: compaction.prune,
            promote: compaction.promotion,
            idle_tokens: compaction.idle_enabled.then_some(compaction.idle_threshold_tokens),
        },
        request_budget: models.request_budget,
        ..AgentSettings::default()
    }
}

/// For example `Linux x86_64`.
fn system_name() -> String {
    let name = rustix::system::uname();
    format!("{} {}", name.sysname().to_string_lossy(), name.machine().to_string_lossy())
}
