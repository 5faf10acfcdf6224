//! `relay run`: relay's own agent works on one prompt.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use relaycode_agent::prompt::instructions::{InstructionPlaces, ProjectInstructions};
use relaycode_agent::prompt::{PromptSurroundings, system_prompt};
use relaycode_agent::{
    Agent, AgentEvent, AgentParts, AgentSettings, EndReason, EventRead, InterruptMode, QueueMode, RunLimits,
    RunOutcome, UserPrompt,
};
use relaycode_llm::SecretMask;
use relaycode_llm::message::UserContent;
use relaycode_llm::request::ThinkingLevel;
use relaycode_llm::request::secrets::Secrets;
use relaycode_project::access::Access;
use relaycode_project::config::{AgentConfig, AgentInterruptMode, AgentQueueMode};
use relaycode_tools::{JobStatus, Tool, ToolWorkspace, registry};
use serde_json::json;

use crate::agent::attachments::{self, read_attachment};
use crate::agent::change_groups::{ChangeGroup, GROUP_ENTRY, UNDONE_NOTE, find_changed_groups};
use crate::agent::command_surroundings::prepare_commands;
use crate::agent::event_printer::print_event;
use crate::agent::models::{ModelWish, RunModels, choose_models};
use crate::agent::session_file::{SessionChoice, open_session};
use crate::agent::terminal_host::TerminalHost;
use crate::commands::models::model_failure;
use crate::friends::args::{parse_access, read_stdin_text, stdin_has_input};
use crate::friends::friend_context::StopCheck;
use crate::{
    CommandContext, CommandFailure, CommandResult, Exit, LogLevel, Project, Providers, SignalGuard, providers,
};

/// How soon a signal is noticed.
const TICK: Duration = Duration::from_millis(30);
/// How long stdin may take to end.
const STDIN_TIMEOUT: Duration = Duration::from_secs(600);
/// Bytes of a prompt of the user's own for the system.
const MAX_SYSTEM_PROMPT: usize = 256 << 10;

/// Let relay's own agent work on a prompt
///
/// The agent reads and changes the project with tools until it is done. Its answer goes to stdout, what it does to
/// stderr. Everything it changes for one prompt is one entry of `relay log`; `relay undo` takes it back as a whole.
///
/// A word that begins with `@` names a file that goes along, an image too. What comes on stdin goes along, or is the
/// prompt if that is `-`. With `--json` every event is an object on a line of its own, the result is the last.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RunArgs {
    /// What to do; `-`: read it from stdin; `@FILE`: a file that goes along
    #[arg(required = true, value_name = "PROMPT|-|@FILE")]
    words: Vec<String>,

    /// Go on with the newest session of this directory
    #[arg(long = "continue", conflicts_with = "resume")]
    go_on: bool,

    /// Go on with this session: its number in `relay sessions`, its id, or its file
    #[arg(long, value_name = "SESSION")]
    resume: Option<String>,

    /// The model, as `relay models` names it
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// How much the model thinks: off, minimal, low, medium, high, xhigh or max
    #[arg(long, value_name = "LEVEL", value_parser = parse_thinking)]
    thinking: Option<ThinkingLevel>,

    /// The tools that it may use; all by default
    #[arg(long, value_name = "TOOL,...", value_delimiter = ',')]
    tools: Option<Vec<String>>,

    /// What it may do: read-only, ask, workspace or full
    #[arg(long, value_name = "ACCESS", value_parser = parse_access, visible_alias = "sandbox")]
    access: Option<Access>,

    /// End after so many answers of the model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_turns: Option<u64>,

    /// End when it has cost so many US dollars
    #[arg(long, value_name = "DOLLARS", value_parser = parse_dollars)]
    max_cost: Option<f64>,

    /// Say this to the model in place of relay's own system prompt
    #[arg(long, value_name = "TEXT")]
    system_prompt: Option<String>,

    /// A directory beside the project that it may read
    #[arg(long, value_name = "DIR")]
    add_dir: Vec<std::path::PathBuf>,
}

impl RunArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let held = SignalGuard::acquire()?;
        let prompt = self.read_prompt(&|| held.stop_requested(), ctx)?;
        let project = Project::open(ctx)?;
        project.recover(ctx)?;
        let config = project.config()?.config.agent.clone();
        let session = open_session(self.session_choice(), ctx)?;
        let context = session.context().map_err(CommandFailure::unexpected)?;
        let mut providers = Providers::open(ctx)?;
        let wish = ModelWish {
            selector: self.model.as_deref(),
            thinking: self.thinking,
            session_model: context.models.get("default").map(String::as_str),
            session_thinking: Some(context.thinking_level.as_str())
                .filter(|_| !session.is_empty())
                .and_then(ThinkingLevel::from_name),
        };
        let models = choose_models(&wish, &mut providers, ctx)?;
        let tools = self.choose_tools()?;
        let mut workspace = self.open_workspace(project, &config, ctx)?;
        prepare_commands(&mut workspace, &config, &session, &providers.registry, ctx)?;
        let undone = find_changed_groups(&session, &workspace.door.ledger)?;
        let servers = providers.into_servers(ctx.home).map_err(CommandFailure::usage)?;
        let secrets = servers.secrets;
        let system_prompt = self.make_system_prompt(&workspace, &config, &tools, ctx)?;
        let host = TerminalHost {
            runner: workspace.door.runner.clone(),
            config: workspace.door.config_file_name(),
            level: ctx.level(),
            json: ctx.is_json(),
            style: ctx.console.err_style(),
            terminal: Mutex::new(()),
        };
        let mut agent = Agent::new(AgentParts {
            session,
            client: providers::new_client()?,
            model: models.first.clone(),
            fallbacks: models.fallbacks.clone(),
            tools,
            workspace,
            host: Arc::new(host),
            system_prompt,
            secrets: secrets.clone().map(|secrets| secrets as Arc<dyn SecretMask + Send + Sync>),
            settings: self.settings(&config, &models),
        })
        .map_err(CommandFailure::unexpected)?;
        let group = ChangeGroup::new(prompt.first_text());
        let prepared = tell_undone(&mut agent, undone)
            .and_then(|()| agent.keep(GROUP_ENTRY, group.to_entry()))
            .map_err(CommandFailure::unexpected);
        prepared?;
        agent.workspace_mut().set_group(Some(group.group), Some(group.title));
        let run = AgentRun { held: &held, secrets: secrets.as_deref() };
        let (mut agent, outcome) = run.follow(agent, &prompt, ctx)?;
        let session_id = agent.session_id().to_string();
        tell_commands(agent.workspace_mut(), ctx);
        drop(agent);
        run.report(&outcome, &session_id, &models, ctx)
    }

    fn session_choice(&self) -> SessionChoice<'_> {
        match &self.resume {
            Some(word) => SessionChoice::Named(word),
            None if self.go_on => SessionChoice::Newest,
            None => SessionChoice::New,
        }
    }

    /// The words, the files and stdin.
    fn read_prompt(&self, stop: StopCheck<'_>, ctx: &mut CommandContext<'_>) -> CommandResult<UserPrompt> {
        let (said, files) = attachments::split_words(&self.words)?;
        let reads_prompt = said == "-";
        let stdin = if reads_prompt || stdin_has_input(stop, ctx)? {
            read_stdin_text(STDIN_TIMEOUT, stop, ctx)?
        } else {
            None
        };
        let prompt = if reads_prompt { stdin.clone().unwrap_or_default() } else { said };
        if prompt.trim().is_empty() {
            return Err(CommandFailure::usage("the prompt is empty")
                .hint("say what the agent should do")
                .unchanged());
        }
        let mut content = vec![UserContent::text(prompt.trim_end())];
        for file in files {
            content.push(read_attachment(&ctx.options.directory, file)?);
        }
        content.extend(stdin.filter(|_| !reads_prompt).map(|text| attachments::stdin_content(&text)));
        Ok(UserPrompt { content })
    }

    fn choose_tools(&self) -> CommandResult<Vec<&'static dyn Tool>> {
        let Some(names) = &self.tools else { return Ok(registry::all().to_vec()) };
        let unknown = names.iter().find(|name| !name.is_empty() && registry::by_name(name).is_none());
        if let Some(name) = unknown {
            let all: Vec<&str> = registry::all().iter().map(|tool| tool.name()).collect();
            return Err(CommandFailure::usage(format!("there is no tool `{name}`"))
                .hint(format!("the tools are {}", all.join(", ")))
                .unchanged());
        }
        // In the order of the list, which is the same in every run.
        let is_named = |tool: &&&'static dyn Tool| names.iter().any(|name| name == tool.name());
        Ok(registry::all().iter().filter(is_named).copied().collect())
    }

    fn open_workspace(
        &self,
        project: Project,
        config: &AgentConfig,
        ctx: &CommandContext<'_>,
    ) -> CommandResult<ToolWorkspace> {
        let mut workspace = ToolWorkspace::new(project.into_door(ctx)?);
        workspace.access = self.access.unwrap_or(config.access);
        workspace.user_home.clone_from(&ctx.home.user_home);
        for directory in &self.add_dir {
            let found = ctx.options.directory.join(directory).canonicalize().map_err(|error| {
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
        &self,
        workspace: &ToolWorkspace,
        config: &AgentConfig,
        tools: &[&'static dyn Tool],
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<String> {
        if self.system_prompt.as_ref().is_some_and(|text| text.len() > MAX_SYSTEM_PROMPT) {
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
        Ok(system_prompt(self.system_prompt.as_deref(), &surroundings, &instructions))
    }

    fn settings(&self, config: &AgentConfig, models: &RunModels) -> AgentSettings {
        let cents = |cents: u64| cents as f64 / 100.0;
        let queue_mode = |mode| match mode {
            AgentQueueMode::OneAtATime => QueueMode::OneAtATime,
            AgentQueueMode::All => QueueMode::All,
        };
        let bounded = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        AgentSettings {
            limits: RunLimits {
                turns: self.max_turns.or(config.max_turns),
                time: config.max_time.map(Duration::from_secs),
                cost: self.max_cost.or(config.max_cost.map(cents)),
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
}

/// The model hears what the user did with its changes, and does so once.
fn tell_undone(agent: &mut Agent, groups: Vec<ChangeGroup>) -> Result<(), relaycode_session::SessionError> {
    for group in groups {
        agent.tell(UNDONE_NOTE, &group.note())?;
        agent.keep(GROUP_ENTRY, group.to_entry())?;
    }
    Ok(())
}

/// What of the run's commands a person has to know: what nobody could be asked, and what ends now.
fn tell_commands(workspace: &ToolWorkspace, ctx: &mut CommandContext<'_>) {
    for sentence in workspace.take_unanswered() {
        ctx.eprint_remark(LogLevel::Warn, &format!("not run, with nobody to ask: {sentence}"));
    }
    for job in workspace.jobs.list().iter().filter(|job| job.status == JobStatus::Running) {
        ctx.eprint_remark(LogLevel::Warn, &format!("ended with the run: {} ({})", job.label, job.id));
    }
}

/// A run that is followed from this thread.
struct AgentRun<'a> {
    held: &'a SignalGuard,
    secrets: Option<&'a Secrets>,
}

impl AgentRun<'_> {
    /// Lets the agent work on a thread of its own, and prints what it does.
    fn follow(
        &self,
        mut agent: Agent,
        prompt: &UserPrompt,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<(Agent, RunOutcome)> {
        let handle = agent.handle();
        let mut reader = handle.read_events(handle.last_seq());
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || {
                let outcome = agent.prompt(prompt);
                (agent, outcome)
            });
            loop {
                if self.held.stop_requested() {
                    handle.abort();
                }
                match reader.next_within(TICK) {
                    EventRead::Event(event) => {
                        print_event(&event, self.secrets, ctx);
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

    /// The answer on stdout, what is to be known about it on stderr, and the exit code.
    fn report(
        &self,
        outcome: &RunOutcome,
        session_id: &str,
        models: &RunModels,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult {
        let answer = match self.secrets {
            Some(secrets) => secrets.unmask_text(&outcome.answer).into_owned(),
            None => outcome.answer.clone(),
        };
        if !ctx.is_json() && !answer.trim().is_empty() {
            let text = ctx.console.out_style().block(answer.trim_end()).into_owned();
            ctx.console.print(&format!("{text}\n"));
        }
        let go_on = format!("`relay run --resume {session_id} PROMPT` goes on");
        let message = outcome.message.clone().unwrap_or_default();
        let failure = match outcome.reason {
            EndReason::Done => {
                return Ok(ctx.print_result(Exit::Done, result_fields(outcome, &answer, session_id)));
            }
            EndReason::Aborted => CommandFailure::interrupted().hint(go_on),
            EndReason::ModelFailed | EndReason::ContextOverflow => match &outcome.failure {
                Some(failure) => model_failure(&models.chosen, models.docs, &models.key_source, failure),
                None => CommandFailure::new(Exit::FriendFailed, "model", message),
            },
            EndReason::Length => CommandFailure::new(Exit::NoAnswer, "length", message).hint(go_on),
            EndReason::TurnLimit => CommandFailure::new(Exit::NoAnswer, "turnLimit", message).hint(go_on),
            EndReason::CostLimit => CommandFailure::new(Exit::NoAnswer, "costLimit", message).hint(go_on),
            EndReason::Repetition => CommandFailure::new(Exit::NoAnswer, "repetition", message).hint(go_on),
            EndReason::TimeLimit => CommandFailure::new(Exit::TimedOut, "timeLimit", message).hint(go_on),
            EndReason::SessionFailed => CommandFailure::unexpected(message),
            EndReason::ToolFailed => CommandFailure::new(Exit::Unexpected, "tool", message).hint(go_on),
        };
        Err(failure)
    }
}

fn result_fields(outcome: &RunOutcome, answer: &str, session_id: &str) -> serde_json::Value {
    json!({ "type": "result", "session": session_id, "answer": answer, "usage": outcome.usage })
}

/// For example `Linux x86_64`.
fn system_name() -> String {
    let name = rustix::system::uname();
    format!("{} {}", name.sysname().to_string_lossy(), name.machine().to_string_lossy())
}

fn parse_thinking(name: &str) -> Result<ThinkingLevel, String> {
    let names: Vec<&str> = ThinkingLevel::ALL.iter().map(|level| level.name()).collect();
    ThinkingLevel::from_name(name).ok_or_else(|| format!("the levels are {}", names.join(", ")))
}

fn parse_dollars(text: &str) -> Result<f64, String> {
    let sum = text.strip_prefix('$').unwrap_or(text).parse::<f64>().ok();
    sum.filter(|sum| sum.is_finite() && *sum > 0.0)
        .ok_or_else(|| "give a sum in US dollars, such as 0.50".to_string())
}
