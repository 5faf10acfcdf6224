//! The conversation at the terminal, line by line: a prompt, what the agent does, its words as they come, and again.
//!
//! ```text
//! relay 0.1.0 · my-app · scripted/m1 · workspace                       /help
//!
//! › what does a.txt say?
//! ✓ read a.txt  2 lines
//! It says one and two.
//!   2.1k tokens
//! ›
//! ```
//! Ctrl-C ends what the agent does, or gives up the line that is being typed; where there is nothing, it leaves.

use std::cell::RefCell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use relaycode_agent::{AgentGoalError, EndReason, RunOutcome, UserPrompt};
use relaycode_ledger::{RevertOptions, RevertStep};
use relaycode_llm::message::UserContent;
use relaycode_text::plural::pluralize;
use relaycode_tools::{BackgroundJobs, GoalStatus, JobStatus};
use relaycode_tui::{OutputStyle, PaintRole, PromptAnswer, Terminal, TypedWords, WordsAnswer, outcome};

use super::attachments::attach_typed;
use super::context_commands::{compact, compact_idle, hand_off, print_context, set_label, show_tree_or_move};
use super::conversation_printer::ConversationPrinter;
use super::open_agent::{OpenAgent, mode_failure, tell_commands};
use super::options::AgentOptions;
use crate::commands::models::model_failure;
use crate::commands::revert::{RevertRequest, next_step};
use crate::{CommandContext, CommandFailure, CommandResult, Exit, LogLevel, SignalGuard, questions};

/// What can be typed beside words for the model.
const COMMANDS: [(&str, &str); 12] = [
    ("/help", "what can be typed here"),
    ("/model [MODEL]", "which model answers, or another one from now on"),
    ("/plan [PROMPT]", "plan before anything changes; `/plan off` ends that"),
    ("/goal [TEXT]", "show or set a goal that the agent works towards; also `pause`, `resume`, `drop`"),
    ("/compact [WORDS]", "sum up what was said so far, with a look at WORDS"),
    ("/compact undo", "read again what the latest summary stands for"),
    ("/context", "how full the model's window is, and of what"),
    ("/handoff [WORDS]", "go on in a fresh session that knows what it has to"),
    ("/tree [ENTRY [summary]]", "what was said, or go on from there, with a summary of what is left"),
    ("/label ENTRY [LABEL]", "give an entry of the tree a label, or take it away"),
    ("/undo", "take back the newest change, as `relay undo` does"),
    ("/quit", "leave; Ctrl-D does, too"),
];

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConversationStep {
    GoOn,
    Leave,
}

struct Conversation<'a> {
    terminal: &'a Terminal,
    held: &'a SignalGuard,
    options: &'a AgentOptions,
    open: OpenAgent,
    /// Since something was said last, room was made.
    is_idle_done: bool,
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
    let open = OpenAgent::open(options, ctx)?;
    let mut conversation =
        Conversation { terminal: &terminal, held: &held, options, open, is_idle_done: false };
    conversation.print_head(ctx);
    while conversation.step(ctx)? == ConversationStep::GoOn {}
    tell_commands(conversation.open.agent.workspace(), ctx);
    let id = conversation.open.agent.session_id().to_string();
    if conversation.open.agent.with_session(|session| session.is_on_disk()) {
        ctx.print_info(&format!("`relay run --resume {id}` goes on with this\n"));
    }
    if held.termination_requested() { Err(CommandFailure::interrupted()) } else { Ok(Exit::Done) }
}

impl Conversation<'_> {
    fn print_head(&self, ctx: &mut CommandContext<'_>) {
        let look = ctx.console.out_style();
        let workspace = self.open.agent.workspace();
        let name = workspace.root().file_name().map(|name| name.to_string_lossy().into_owned());
        let parts = [
            format!("relay {}", env!("CARGO_PKG_VERSION")),
            name.unwrap_or_default(),
            self.open.models.first.model.selector(),
            workspace.access.to_string(),
            "/help".to_string(),
        ];
        let dot = if look.utf8 { " · " } else { " - " };
        let line = look.safe(&parts.join(dot)).into_owned();
        ctx.print_info(&format!("{}\n", look.paint(PaintRole::Dim, &line)));
    }

    /// One line that was typed, and what comes of it.
    fn step(&mut self, ctx: &mut CommandContext<'_>) -> CommandResult<ConversationStep> {
        ctx.console.flush();
        self.held.clear_interrupt();
        ctx.console.update_width();
        let look = ctx.console.out_style();
        let sign = if look.utf8 { "\n› " } else { "\n> " };
        let stop = || self.held.stop_requested();
        let began = Instant::now();
        let jobs = self.open.agent.workspace().jobs.clone();
        let idle_time = self.open.idle_time.filter(|_| !self.is_idle_done);
        let is_idle = || idle_time.is_some_and(|time| began.elapsed() >= time);
        let is_woken = || jobs.has_unshown() || is_idle();
        let words = match self.terminal.prompt_words(sign, &look, &stop, &is_woken) {
            WordsAnswer::Said(words) => words,
            WordsAnswer::Leave => return Ok(ConversationStep::Leave),
            WordsAnswer::Woken => {
                show_ended_jobs(&jobs, ctx);
                if is_idle() {
                    self.is_idle_done = true;
                    compact_idle(&mut self.open, self.held, ctx)?;
                }
                return Ok(ConversationStep::GoOn);
            }
        };
        self.is_idle_done = false;
        // A blank in front makes a command something that is said.
        let line = words.text();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let done = match word {
            _ if line.trim().is_empty() => Ok(()),
            "/quit" | "/exit" => return Ok(ConversationStep::Leave),
            "/help" => {
                print_help(&look, ctx);
                Ok(())
            }
            "/model" => self.show_or_switch_model(rest.trim(), ctx),
            "/plan" => self.plan(&words, rest.trim(), ctx),
            "/goal" => self.goal(&words, rest.trim(), ctx),
            "/undo" => self.undo(ctx),
            "/compact" => compact(&mut self.open, rest.trim(), self.held, ctx),
            "/context" => {
                print_context(&self.open, ctx);
                Ok(())
            }
            "/handoff" => hand_off(&mut self.open, self.options, rest.trim(), self.held, ctx),
            "/tree" => show_tree_or_move(&mut self.open, rest.trim(), self.held, ctx),
            "/label" => set_label(&mut self.open, rest.trim(), ctx),
            command if command.starts_with('/') && !command[1..].contains('/') => {
                Err(CommandFailure::usage(format!("there is no command `{command}`"))
                    .hint("`/help` lists them; begin with a blank or another word to say it to the model"))
            }
            _ => self.say(&words, line, ctx),
        };
        if let Err(failure) = done {
            // One thing that did not work is no end of the conversation.
            ctx.console.report_failure(&failure, "", false);
        }
        Ok(if self.held.termination_requested() { ConversationStep::Leave } else { ConversationStep::GoOn })
    }

    /// Says a line that was typed, with the files that it names.
    fn say(&mut self, words: &TypedWords, line: &str, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
        let mut content = vec![UserContent::text(line.trim())];
        content.extend(attach_typed(words, self.open.agent.workspace(), ctx)?);
        let secrets = self.open.secrets.clone();
        let printer = RefCell::new(ConversationPrinter::new(secrets.as_deref()));
        let prompt = UserPrompt { content };
        self.open.begin_prompt(&prompt)?;
        let outcome = self.open.work(&prompt, self.held, &mut |event| {
            printer.borrow_mut().print(event, ctx);
        })?;
        printer.into_inner().finish(ctx);
        self.report(&outcome, ctx)
    }

    /// What is to be known beside the answer.
    fn report(&self, outcome: &RunOutcome, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
        let look = ctx.console.out_style();
        if outcome.usage.input + outcome.usage.cache_read + outcome.usage.output > 0 {
            let line = look.safe(&self.usage_line(outcome)).into_owned();
            ctx.print_info(&format!("  {}\n", look.paint(PaintRole::Dim, &line)));
        }
        let message = outcome.message.clone().unwrap_or_default();
        match outcome.reason {
            EndReason::Done if outcome.plan.is_some() => Ok(()),
            EndReason::Done if outcome.answer.trim().is_empty() => {
                ctx.eprint_remark(LogLevel::Warn, "the model ended without an answer");
                Ok(())
            }
            EndReason::Done => Ok(()),
            EndReason::Aborted => {
                // The terminal shows the keys that were pressed.
                ctx.console.eprint("\n");
                Err(CommandFailure::new(Exit::Interrupted, "interrupted", "stopped; what was finished stays"))
            }
            EndReason::ModelFailed | EndReason::ContextOverflow => Err(match &outcome.failure {
                Some(failure) => {
                    let models = &self.open.models;
                    model_failure(&models.chosen, models.docs, &models.key_source, failure)
                }
                None => CommandFailure::new(Exit::FriendFailed, "model", message),
            }),
            _ => Err(CommandFailure::new(Exit::NoAnswer, "stopped", message).hint("say something to go on")),
        }
    }

    /// For example `2 edits +58 -4, 21.3k tokens, $0.06, 12 % of context, /undo takes it back`.
    fn usage_line(&self, outcome: &RunOutcome) -> String {
        let mut parts = Vec::new();
        let workspace = self.open.agent.workspace();
        let page = workspace.door.ledger.log_page(0, 1).ok();
        let newest = page.and_then(|page| page.entries.into_iter().next());
        let group = newest.filter(|entry| entry.group.is_some() && entry.group == workspace.group());
        if let Some(entry) = &group {
            let (added, removed) = entry
                .members
                .iter()
                .fold((0, 0), |(added, removed), member| (added + member.added, removed + member.removed));
            parts.push(format!("{} +{added} -{removed}", pluralize(entry.members.len(), "edit")));
        }
        let usage = &outcome.usage;
        let cost = if usage.cost >= 0.005 { format!(", ${:.2}", usage.cost) } else { String::new() };
        let tokens = usage.input + usage.cache_read + usage.cache_write + usage.output;
        parts.push(format!("{:.1}k tokens{cost}", tokens as f64 / 1000.0));
        let window = self.open.models.first.model.context_window;
        if let Some(percent) = usage.context_tokens.saturating_mul(100).checked_div(window) {
            parts.push(format!("{percent} % of context"));
        }
        if group.is_some() {
            parts.push("/undo takes it back".to_string());
        }
        parts.join(", ")
    }

    fn show_or_switch_model(&mut self, selector: &str, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
        if !selector.is_empty() {
            self.open.switch_model(selector, ctx)?;
        }
        let model = &self.open.models.first;
        let line = format!("{}, thinking {}", model.model.selector(), model.thinking.name());
        ctx.print_success(&line);
        Ok(())
    }

    /// Begins to plan, with a prompt or for the next one; or ends it.
    fn plan(&mut self, words: &TypedWords, rest: &str, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
        let agent = &mut self.open.agent;
        if rest == "off" {
            let was_planning = agent.mode().is_some();
            agent.leave_mode().map_err(|error| mode_failure(&error))?;
            ctx.print_success(if was_planning { "no longer planning" } else { "not planning" });
            return Ok(());
        }
        agent.begin_planning().map_err(|error| mode_failure(&error))?;
        if rest.is_empty() {
            ctx.print_success("planning: nothing changes but the plan, until you approve it");
            return Ok(());
        }
        self.say(words, rest, ctx)
    }

    /// Shows or changes what the agent works towards; a new goal, and one that goes on, is worked on at once.
    fn goal(&mut self, words: &TypedWords, rest: &str, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
        let agent = &mut self.open.agent;
        if !agent.has_tool("goal") {
            return Err(CommandFailure::usage("the agent has no tool `goal`")
                .hint("see `agent.goal` in your config.yml"));
        }
        let failed = |error: &AgentGoalError| CommandFailure::usage(error.to_string()).unchanged();
        let status = match rest {
            "" => {
                let goal = agent.workspace().goal();
                ctx.print_success(
                    &goal.map_or_else(|| "there is no goal".to_string(), |goal| goal.to_text()),
                );
                return Ok(());
            }
            "pause" => GoalStatus::Paused,
            "drop" => GoalStatus::Dropped,
            "resume" => {
                agent.set_goal_status(GoalStatus::Active).map_err(|error| failed(&error))?;
                return self.say(words, "Go on with the goal.", ctx);
            }
            objective => {
                agent.set_goal(objective).map_err(|error| failed(&error))?;
                return self.say(words, objective, ctx);
            }
        };
        let goal = agent.set_goal_status(status).map_err(|error| failed(&error))?;
        ctx.print_success(&goal.to_text());
        Ok(())
    }

    /// A command that goes on is recorded by comparing the project before and after it: what is taken back meanwhile would be
    /// taken for its work, and the next undo would bring it back. So it has to end first.
    fn undo(&mut self, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
        self.end_jobs_before_undo(ctx)?;
        let door = &self.open.agent.workspace().door;
        let request = RevertRequest {
            root: &door.root,
            ledger: &door.ledger,
            target: next_step(&door.ledger, RevertStep::Undo)?,
            options: RevertOptions::default(),
            yes: false,
            allow_foreign: false,
            dry_run: false,
            may_ask: true,
            has_keys: false,
        };
        request.run(ctx).map(drop)
    }

    fn end_jobs_before_undo(&self, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
        let jobs = &self.open.agent.workspace().jobs;
        let running = jobs.list().into_iter().filter(|job| job.status == JobStatus::Running);
        let names: Vec<String> = running.map(|job| format!("{} ({})", job.id, job.label)).collect();
        if names.is_empty() {
            return Ok(());
        }
        let look = ctx.console.out_style();
        let (runs, them) = if names.len() == 1 { ("still runs", "it") } else { ("still run", "them") };
        let question = format!("{} {runs}. End {them} and undo? [y/N] ", names.join(", "));
        ctx.console.flush();
        let answer = self.terminal.prompt(&look.safe(&question), &look, &|| self.held.stop_requested());
        if !matches!(answer, PromptAnswer::Line(line) if ["y", "yes"].contains(&line.to_lowercase().as_str()))
        {
            let said = format!("not undone: {} {runs}", names.join(", "));
            return Err(CommandFailure::new(Exit::Declined, "declined", said)
                .hint("`/undo` works without a question once nothing runs in the background")
                .unchanged());
        }
        jobs.end_all();
        show_ended_jobs(jobs, ctx);
        Ok(())
    }
}

/// Commands in the background that ended while nobody said anything. The model hears of them with the next prompt.
fn show_ended_jobs(jobs: &BackgroundJobs, ctx: &mut CommandContext<'_>) {
    let look = ctx.console.err_style();
    for job in jobs.take_unshown() {
        let seconds = Duration::from_millis(job.duration_ms).as_secs_f64();
        let line = format!("{} {}, {seconds:.1} s: {}", job.id, job.status.name(), job.label);
        let line = look.safe(&line).into_owned();
        let line = match job.status {
            JobStatus::Completed => outcome::success_line(&look, &line),
            _ => outcome::warning_line(&look, &line),
        };
        ctx.eprint_at(LogLevel::Info, &line);
    }
}

fn print_help(look: &OutputStyle, ctx: &mut CommandContext<'_>) {
    let mut text = String::new();
    for (name, meaning) in COMMANDS {
        text.push_str(&look.wrap(&format!("  {name:<26}{meaning}"), 28));
        text.push('\n');
    }
    let more = "  @FILE, typed as a word of its own, sends a file of the project along. Ctrl-C stops the agent, or gives up the line; on \
                an empty line it leaves";
    text.push_str(&look.wrap(more, 2));
    text.push('\n');
    ctx.print_info(&text);
}
