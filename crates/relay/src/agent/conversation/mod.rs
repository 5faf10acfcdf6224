//! The conversation: what is typed goes to the model or to a command of [`super::slash`], and again. Where it is shown is a
//! [`ConversationSurface`]: line by line, or the terminal's own screen.
//!
//! Invariant: one thing that does not work is told and is no end of the conversation.

mod line_printer;
mod line_surface;
mod live;
pub(crate) mod surface;
mod terminal_lender;
mod user_shell;

use std::io::IsTerminal;

use relaycode_agent::{Agent, EndReason, RunOutcome, UserPrompt};
use relaycode_llm::message::{ImageContent, UserContent};
use relaycode_project::access::Access;
use relaycode_tools::{BackgroundJobs, JobStatus};
use relaycode_tui::conversation::TurnSummary;
use relaycode_tui::editor::{EditorImage, EditorMessage};
use relaycode_tui::theme::ThemeStyle;
use relaycode_tui::{TypedWords, outcome};

use self::line_surface::LineSurface;
use self::live::LiveSurface;
use self::surface::{ConversationSurface, SurfaceInput};
pub(crate) use self::terminal_lender::TerminalLender;
use self::user_shell::ShellLine;
use super::attachments::{attach_typed, names_files};
use super::open_agent::{OpenAgent, mode_failure, tell_commands};
use super::options::AgentOptions;
use super::session_file::{SessionChoice, open_session};
use super::slash::{self, SlashCall};
use crate::commands::models::model_failure;
use crate::commands::sessions::locator::SessionLocator;
use crate::screens::ScreenSession;
use crate::screens::session_screen::choose_session;
use crate::{
    CommandContext, CommandFailure, CommandResult, ConsoleEnv, Exit, LogLevel, Project, SignalGuard,
    questions,
};

pub(crate) struct Conversation<'a> {
    pub(crate) surface: Box<dyn ConversationSurface + 'a>,
    pub(crate) held: &'a SignalGuard,
    pub(crate) options: &'a AgentOptions,
    pub(crate) open: OpenAgent,
    /// Since something was said last, room was made.
    is_idle_done: bool,
    /// Commands that the user ran.
    shell_lines: u64,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConversationStep {
    GoOn,
    Leave,
}

/// Talks until the user leaves.
pub(crate) fn converse(options: &AgentOptions, ctx: &mut CommandContext<'_>) -> CommandResult {
    let is_shown = std::io::stdout().is_terminal() && !ctx.is_json();
    let terminal = questions::open_terminal().filter(|_| is_shown);
    let Some(terminal) = terminal else {
        return Err(CommandFailure::usage("a conversation needs a terminal, and there is none here")
            .hint("`relay run PROMPT` works on one prompt; `relay --help` lists the commands")
            .unchanged());
    };
    let held = SignalGuard::acquire()?;
    let config = Project::open(ctx)?.config()?.config.terminal.clone();
    let environment = ConsoleEnv::from_env();
    // One that does not say how large it is cannot be drawn on.
    let is_plain = config.is_plain || environment.dumb || terminal.size().is_none();
    let mut surface: Box<dyn ConversationSurface + '_> = match is_plain {
        true => Box::new(LineSurface::new(terminal)),
        false => Box::new(LiveSurface::new(terminal, &held, &config, ctx)?),
    };
    let session = match options.wants_choice() {
        true => {
            surface.set_lent(true, ctx);
            let Some(id) = choose(surface.view_style(), &held, ctx)? else { return Ok(Exit::Done) };
            surface.set_lent(false, ctx);
            open_session(SessionChoice::Named(&id), ctx)?
        }
        false => open_session(options.session_choice(), ctx)?,
    };
    let open = OpenAgent::open_with(session, options, surface.agent_surface(), ctx)?;
    let mut conversation =
        Conversation { surface, held: &held, options, open, is_idle_done: false, shell_lines: 0 };
    conversation.surface.begin(&conversation.open, ctx);
    let talked = loop {
        match conversation.step(ctx) {
            Ok(ConversationStep::GoOn) => {}
            Ok(ConversationStep::Leave) => break Ok(()),
            Err(failure) => break Err(failure),
        }
    };
    conversation.surface.end(ctx);
    talked?;
    tell_commands(conversation.open.agent.workspace(), ctx);
    let id = conversation.open.agent.session_id().to_string();
    if conversation.open.agent.with_session(|session| session.is_on_disk()) {
        ctx.print_info(&format!("`relay run --resume {id}` goes on with this\n"));
    }
    if held.termination_requested() { Err(CommandFailure::interrupted()) } else { Ok(Exit::Done) }
}

/// The session that the user chooses; `None`: they close the list.
fn choose(
    style: Option<ThemeStyle>,
    held: &SignalGuard,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<Option<String>> {
    let (Some(style), Some(terminal)) = (style, questions::open_terminal()) else {
        return Err(CommandFailure::usage("which session?")
            .hint("`relay sessions` lists them; `relay --resume N` goes on with one")
            .unchanged());
    };
    let mut views = ScreenSession::with_style(terminal, held, style)?;
    let picked = choose_session(&SessionLocator::open(ctx)?, None, &mut views)?;
    Ok(picked.map(|picked| picked.id))
}

impl<'a> Conversation<'a> {
    /// One thing that was typed, and what comes of it.
    fn step(&mut self, ctx: &mut CommandContext<'_>) -> CommandResult<ConversationStep> {
        self.held.clear_interrupt();
        let patience = self.open.idle_time.filter(|_| !self.is_idle_done);
        let message = match self.surface.read(&self.open, patience, self.held, ctx)? {
            SurfaceInput::Said(message) => message,
            SurfaceInput::CycleAccess => {
                let cycled = self.cycle_access();
                return cycled.map(|()| ConversationStep::GoOn);
            }
            SurfaceInput::Leave => return Ok(ConversationStep::Leave),
            SurfaceInput::JobEnded => {
                self.lend(ctx, |conversation, ctx| {
                    show_ended_jobs(&conversation.open.agent.workspace().jobs, ctx);
                });
                return Ok(ConversationStep::GoOn);
            }
            SurfaceInput::Idle => {
                self.is_idle_done = true;
                let made = self.follow(ctx, Agent::compact_idle)?;
                made.map_err(CommandFailure::unexpected)?;
                return Ok(ConversationStep::GoOn);
            }
        };
        self.is_idle_done = false;
        let EditorMessage { words, images } = message;
        let done = match SlashCall::parse(&words) {
            None if words.text().starts_with('!') => {
                let line = ShellLine::parse(words.text());
                line.map_or(Ok(()), |line| self.run_shell_line(line, ctx)).map(|()| ConversationStep::GoOn)
            }
            None if words.text().trim().is_empty() && images.is_empty() => Ok(ConversationStep::GoOn),
            None => self.say_with(&words, words.text(), images, ctx).map(|()| ConversationStep::GoOn),
            Some(call) => self.lend(ctx, |conversation, ctx| slash::run(&call, conversation, ctx)),
        };
        let step = done.unwrap_or_else(|failure| {
            self.lend(ctx, |_, ctx| ctx.console.report_failure(&failure, "", false));
            ConversationStep::GoOn
        });
        Ok(if self.held.termination_requested() { ConversationStep::Leave } else { step })
    }

    /// Says a line that was typed, with the files that it names.
    pub(crate) fn say(
        &mut self,
        words: &TypedWords,
        line: &str,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<()> {
        self.say_with(words, line, Vec::new(), ctx)
    }

    fn say_with(
        &mut self,
        words: &TypedWords,
        line: &str,
        images: Vec<EditorImage>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<()> {
        let mut content = vec![UserContent::text(line.trim())];
        content.extend(images.into_iter().map(|image| {
            let data = image.data.to_string();
            UserContent::Image(ImageContent { data, mime_type: image.mime_type })
        }));
        if names_files(words) {
            let attached = self
                .lend(ctx, |conversation, ctx| attach_typed(words, conversation.open.agent.workspace(), ctx));
            content.extend(attached?);
        }
        self.prompt(&UserPrompt { content }, ctx)
    }

    /// Lets the agent work on a prompt.
    pub(crate) fn prompt(&mut self, prompt: &UserPrompt, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
        self.open.begin_prompt(prompt)?;
        let outcome = self.follow(ctx, |agent| agent.prompt(prompt))?;
        self.report(&outcome, ctx)
    }

    /// Lets the agent do something that takes its time, and shows it.
    pub(crate) fn follow<T: Send>(
        &mut self,
        ctx: &mut CommandContext<'_>,
        work: impl FnOnce(&mut Agent) -> T + Send,
    ) -> CommandResult<T> {
        let Conversation { surface, open, held, .. } = self;
        let was_lent = surface.set_lent(false, ctx);
        let secrets = open.secrets.clone();
        let done = open.run_followed(&mut |work| surface.follow(work, secrets.as_deref(), held, ctx), work);
        surface.set_lent(was_lent, ctx);
        done
    }

    /// Lets something print to the terminal, and ask there.
    pub(crate) fn lend<'c, T>(
        &mut self,
        ctx: &mut CommandContext<'c>,
        work: impl FnOnce(&mut Self, &mut CommandContext<'c>) -> T,
    ) -> T {
        let was_lent = self.surface.set_lent(true, ctx);
        let done = work(self, ctx);
        self.surface.set_lent(was_lent, ctx);
        done
    }

    /// For views that cover the terminal; `None` where lines are printed instead.
    pub(crate) fn open_views(&self) -> CommandResult<Option<ScreenSession<'a>>> {
        match (self.surface.view_style(), questions::open_terminal()) {
            (Some(style), Some(terminal)) => ScreenSession::with_style(terminal, self.held, style).map(Some),
            _ => Ok(None),
        }
    }

    /// Another conversation goes on here, with the same model.
    pub(crate) fn switch_to(
        &mut self,
        session: relaycode_session::Session,
        keeps_model: bool,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<()> {
        let model = self.open.models.first.model.selector();
        let mut options = self.options.clone();
        if !keeps_model {
            // It goes on with its own.
            (options.model, options.thinking) = (None, None);
        }
        self.open = OpenAgent::open_with(session, &options, self.surface.agent_surface(), ctx)?;
        if keeps_model && self.open.models.first.model.selector() != model {
            self.open.switch_model(&model, ctx)?;
        }
        Ok(())
    }

    /// Ask, workspace, planning, and again; full access is chosen by name.
    fn cycle_access(&mut self) -> CommandResult<()> {
        let agent = &mut self.open.agent;
        let failed = |error| mode_failure(&error);
        if agent.mode().is_some() {
            agent.leave_mode().map_err(failed)?;
            self.open.set_access(Access::Ask);
            return Ok(());
        }
        match agent.workspace().access {
            Access::ReadOnly => self.open.set_access(Access::Ask),
            Access::Ask => self.open.set_access(Access::Workspace),
            Access::Workspace | Access::Full => agent.begin_planning().map_err(failed)?,
        }
        Ok(())
    }

    /// What is to be known beside the answer.
    fn report(&mut self, outcome: &RunOutcome, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
        let summary = self.summarize(outcome);
        self.surface.summarize(&summary, ctx);
        let message = outcome.message.clone().unwrap_or_default();
        match outcome.reason {
            EndReason::Done if outcome.plan.is_some() => Ok(()),
            EndReason::Done if outcome.answer.trim().is_empty() => {
                self.lend(ctx, |_, ctx| {
                    ctx.eprint_remark(LogLevel::Warn, "the model ended without an answer");
                });
                Ok(())
            }
            EndReason::Done => Ok(()),
            // Its screen says so already.
            EndReason::Aborted if self.surface.shows_ends() => Ok(()),
            EndReason::Aborted => {
                Err(CommandFailure::new(Exit::Interrupted, "interrupted", "stopped; what was finished stays"))
            }
            EndReason::ModelFailed | EndReason::ContextOverflow => {
                let failure = match &outcome.failure {
                    Some(failure) => {
                        let models = &self.open.models;
                        model_failure(&models.chosen, models.docs, &models.key_source, failure)
                    }
                    None => CommandFailure::new(Exit::FriendFailed, "model", message),
                };
                if !self.surface.shows_ends() {
                    return Err(failure);
                }
                // What went wrong is on its screen already, but not what to do.
                if let Some(hint) = failure.hint {
                    self.surface.remark(&hint, ctx);
                }
                Ok(())
            }
            _ if self.surface.shows_ends() => Ok(()),
            _ => Err(CommandFailure::new(Exit::NoAnswer, "stopped", message).hint("say something to go on")),
        }
    }

    fn summarize(&self, outcome: &RunOutcome) -> TurnSummary {
        let workspace = self.open.agent.workspace();
        let page = workspace.door.ledger.log_page(0, 1).ok();
        let newest = page.and_then(|page| page.entries.into_iter().next());
        let group = newest.filter(|entry| entry.group.is_some() && entry.group == workspace.group());
        let usage = &outcome.usage;
        let mut summary = TurnSummary {
            tokens: usage.input + usage.cache_read + usage.cache_write + usage.output,
            cost: usage.cost,
            context_percent: usage
                .context_tokens
                .saturating_mul(100)
                .checked_div(self.open.models.first.model.context_window),
            ..TurnSummary::default()
        };
        if let Some(entry) = group {
            summary.changes = 1;
            summary.edits = entry.members.len();
            summary.files = entry.files;
            summary.added = entry.members.iter().map(|member| member.added).sum();
            summary.removed = entry.members.iter().map(|member| member.removed).sum();
            summary.is_undoable = true;
        }
        summary
    }
}

/// Commands in the background that ended while nobody said anything. The model hears of them with the next prompt.
pub(crate) fn show_ended_jobs(jobs: &BackgroundJobs, ctx: &mut CommandContext<'_>) {
    let look = ctx.console.err_style();
    for job in jobs.take_unshown() {
        let seconds = std::time::Duration::from_millis(job.duration_ms).as_secs_f64();
        let line = format!("{} {}, {seconds:.1} s: {}", job.id, job.status.name(), job.label);
        let line = look.safe(&line).into_owned();
        let line = match job.status {
            JobStatus::Completed => outcome::success_line(&look, &line),
            _ => outcome::warning_line(&look, &line),
        };
        ctx.eprint_at(LogLevel::Info, &line);
    }
}
