//! relay's own agent, wired: session, model, tools, the project behind its door, the person at the terminal. `relay run` and the
//! conversation use the same.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use relaycode_agent::prompt::instructions::{InstructionPlaces, ProjectInstructions};
use relaycode_agent::prompt::{PromptSurroundings, system_prompt};
use relaycode_agent::{
    Agent, AgentEvent, AgentParts, AgentSettings, EventRead, InterruptMode, QueueMode, RunLimits, RunOutcome,
    SequencedEvent, UserPrompt,
};
use relaycode_llm::SecretMask;
use relaycode_llm::request::ThinkingLevel;
use relaycode_llm::request::secrets::Secrets;
use relaycode_project::config::{AgentConfig, AgentInterruptMode, AgentQueueMode};
use relaycode_session::SessionError;
use relaycode_tools::{JobStatus, Tool, ToolWorkspace};

use super::change_groups::{ChangeGroup, GROUP_ENTRY, UNDONE_NOTE, find_changed_groups};
use super::command_surroundings::prepare_commands;
use super::first_start;
use super::models::{ModelWish, RunModels, choose_models};
use super::options::AgentOptions;
use super::session_file::open_session;
use super::terminal_host::TerminalHost;
use crate::{
    CommandContext, CommandFailure, CommandResult, LogLevel, Project, Providers, SignalGuard, providers,
    questions,
};

/// How soon a signal is noticed.
const TICK: Duration = Duration::from_millis(30);
/// Bytes of a prompt of the user's own for the system.
const MAX_SYSTEM_PROMPT: usize = 256 << 10;

pub(crate) struct OpenAgent {
    pub(crate) agent: Agent,
    pub(crate) models: RunModels,
    pub(crate) secrets: Option<Arc<Secrets>>,
}

impl OpenAgent {
    pub(crate) fn open(options: &AgentOptions, ctx: &mut CommandContext<'_>) -> CommandResult<OpenAgent> {
        let project = Project::open(ctx)?;
        project.recover(ctx)?;
        let config = project.config()?.config.agent.clone();
        let session = open_session(options.session_choice(), ctx)?;
        let context = session.context().map_err(CommandFailure::unexpected)?;
        let mut providers = Providers::open(ctx)?;
        let wish = ModelWish {
            selector: options.model.as_deref(),
            thinking: options.thinking,
            session_model: context.models.get("default").map(String::as_str),
            session_thinking: Some(context.thinking_level.as_str())
                .filter(|_| !session.is_empty())
                .and_then(ThinkingLevel::from_name),
        };
        let models = choose_models(&wish, &mut providers, ctx);
        let models = models.map_err(|failure| first_start::advise(failure, ctx))?;
        let tools = options.choose_tools(&config, questions::open_terminal().is_some())?;
        let mut workspace = open_workspace(options, project, &config, ctx)?;
        prepare_commands(&mut workspace, &config, &session, &providers.registry, ctx);
        let servers = providers.into_servers(ctx.home).map_err(CommandFailure::usage)?;
        let secrets = servers.secrets;
        let system_prompt = make_system_prompt(options, &workspace, &config, &tools, ctx)?;
        let host = TerminalHost {
            runner: workspace.door.runner.clone(),
            config: workspace.door.config_file_name(),
            level: ctx.level(),
            json: ctx.is_json(),
            style: ctx.console.err_style(),
            terminal: Mutex::new(()),
        };
        let agent = Agent::new(AgentParts {
            session,
            client: providers::new_client()?,
            model: models.first.clone(),
            fallbacks: models.fallbacks.clone(),
            tools,
            workspace,
            host: Arc::new(host),
            system_prompt,
            secrets: secrets.clone().map(|secrets| secrets as Arc<dyn SecretMask + Send + Sync>),
            settings: settings(options, &config, &models),
        })
        .map_err(CommandFailure::unexpected)?;
        Ok(OpenAgent { agent, models, secrets })
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
        self.models = choose_models(&wish, &mut providers, ctx)?;
        self.agent.set_model(self.models.first.clone());
        Ok(())
    }

    /// Begins the group of a prompt's changes. The model hears what the user did with those of earlier prompts.
    pub(crate) fn begin_prompt(&mut self, prompt: &UserPrompt) -> CommandResult<()> {
        let ledger = &self.agent.workspace().door.ledger;
        let undone = self.agent.with_session(|session| find_changed_groups(session, ledger))?;
        let group = ChangeGroup::new(prompt.first_text());
        tell_undone(&mut self.agent, undone)
            .and_then(|()| self.agent.keep(GROUP_ENTRY, group.to_entry()))
            .map_err(CommandFailure::unexpected)?;
        self.agent.workspace().set_group(Some(group.group), Some(group.title));
        Ok(())
    }

    /// Lets the agent work on a thread of its own; `show` gets what it does. A signal ends the run.
    pub(crate) fn work(
        &mut self,
        prompt: &UserPrompt,
        held: &SignalGuard,
        show: &mut dyn FnMut(&SequencedEvent),
    ) -> CommandResult<RunOutcome> {
        let handle = self.agent.handle();
        let mut reader = handle.read_events(handle.last_seq());
        let agent = &mut self.agent;
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || agent.prompt(prompt));
            loop {
                if held.stop_requested() {
                    handle.abort();
                }
                match reader.next_within(TICK) {
                    EventRead::Event(event) => {
                        show(&event);
                        if matches!(event.event, AgentEvent::AgentEnd { .. }) {
                            break;
                        }
                    }
                    EventRead::Pending if worker.is_finished() => break,
                    EventRead::Pending => {}
                    EventRead::Closed => break,
                }
            }
            worker.join().map_err(|_| CommandFailure::unexpected("the agent's thread ended unexpectedly"))
        })
    }

    /// A text of the model's, for the user: with what was hidden from the model.
    pub(crate) fn unmask(&self, text: &str) -> String {
        match &self.secrets {
            Some(secrets) => secrets.unmask_text(text).into_owned(),
            None => text.to_string(),
        }
    }
}

/// What of the agent's commands a person has to know: what nobody could be asked, and what ends now.
pub(crate) fn tell_commands(workspace: &ToolWorkspace, ctx: &mut CommandContext<'_>) {
    for sentence in workspace.take_unanswered() {
        ctx.eprint_remark(LogLevel::Warn, &format!("not run, with nobody to ask: {sentence}"));
    }
    for job in workspace.jobs.list().iter().filter(|job| job.status == JobStatus::Running) {
        ctx.eprint_remark(LogLevel::Warn, &format!("ended with the run: {} ({})", job.label, job.id));
    }
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

fn make_system_prompt(
    options: &AgentOptions,
    workspace: &ToolWorkspace,
    config: &AgentConfig,
    tools: &[&'static dyn Tool],
    ctx: &mut CommandContext<'_>,
) -> CommandResult<String> {
    if options.system_prompt.as_ref().is_some_and(|text| text.len() > MAX_SYSTEM_PROMPT) {
        let said = format!("the system prompt has more than {} kB", MAX_SYSTEM_PROMPT >> 10);
        return Err(CommandFailure::usage(said).unchanged());
    }
    let cwd = workspace.current_directory();
    let places = InstructionPlaces { home: ctx.home.path.as_deref(), root: workspace.root(), cwd: &cwd };
    let instructions = match config.instructions {
        true => ProjectInstructions::read(&places),
        false => ProjectInstructions::default(),
    };
    for remark in &instructions.remarks {
        ctx.eprint_remark(LogLevel::Warn, remark);
    }
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
    Ok(system_prompt(options.system_prompt.as_deref(), &surroundings, &instructions))
}

fn settings(options: &AgentOptions, config: &AgentConfig, models: &RunModels) -> AgentSettings {
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
        parallel_tools: bounded(config.parallel_tools),
        repeat_limit: bounded(config.repeat_limit),
        retry: models.retry,
        request_budget: models.request_budget,
        ..AgentSettings::default()
    }
}

/// For example `Linux x86_64`.
fn system_name() -> String {
    let name = rustix::system::uname();
    format!("{} {}", name.sysname().to_string_lossy(), name.machine().to_string_lossy())
}
