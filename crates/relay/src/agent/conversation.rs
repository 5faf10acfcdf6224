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
//! Ctrl-C ends what the agent does; where it does nothing, it leaves.

use std::cell::RefCell;
use std::io::IsTerminal;

use relaycode_agent::{EndReason, RunOutcome, UserPrompt};
use relaycode_ledger::{RevertOptions, RevertStep};
use relaycode_llm::message::UserContent;
use relaycode_text::plural::pluralize;
use relaycode_tui::{OutputStyle, PaintRole, PromptAnswer, Terminal};

use super::attachments::{attached_path, read_attachment};
use super::conversation_printer::ConversationPrinter;
use super::open_agent::{OpenAgent, tell_commands};
use super::options::AgentOptions;
use crate::commands::models::model_failure;
use crate::commands::revert::{RevertRequest, next_step};
use crate::{CommandContext, CommandFailure, CommandResult, Exit, SignalGuard, questions};

/// What can be typed beside words for the model.
const COMMANDS: [(&str, &str); 4] = [
    ("/help", "what can be typed here"),
    ("/model [MODEL]", "which model answers, or another one from now on"),
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
    open: OpenAgent,
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
    let mut conversation = Conversation { terminal: &terminal, held: &held, open };
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
        let look = ctx.console.out_style();
        let sign = if look.utf8 { "\n› " } else { "\n> " };
        let line = match self.terminal.prompt_words(sign, &look, &|| self.held.stop_requested()) {
            PromptAnswer::Line(line) => line,
            PromptAnswer::EndOfInput | PromptAnswer::Stopped | PromptAnswer::Disconnected(_) => {
                return Ok(ConversationStep::Leave);
            }
        };
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let done = match word {
            "" => Ok(()),
            "/quit" | "/exit" => return Ok(ConversationStep::Leave),
            "/help" => {
                print_help(&look, ctx);
                Ok(())
            }
            "/model" => self.show_or_switch_model(rest.trim(), ctx),
            "/undo" => self.undo(ctx),
            command if command.starts_with('/') && !command[1..].contains('/') => {
                Err(CommandFailure::usage(format!("there is no command `{command}`"))
                    .hint("`/help` lists them; begin with a blank or another word to say it to the model"))
            }
            _ => self.say(line, ctx),
        };
        if let Err(failure) = done {
            // One thing that did not work is no end of the conversation.
            ctx.console.report_failure(&failure, "", false);
        }
        Ok(if self.held.termination_requested() { ConversationStep::Leave } else { ConversationStep::GoOn })
    }

    fn say(&mut self, line: &str, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
        let mut content = vec![UserContent::text(line)];
        // A word such as `@param` is only a word where there is no such file.
        let is_file = |path: &&str| ctx.options.directory.join(path).is_file();
        for path in line.split_whitespace().filter_map(attached_path).filter(is_file) {
            content.push(read_attachment(&ctx.options.directory, path)?);
        }
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

    fn undo(&mut self, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
        let door = &self.open.agent.workspace().door;
        let request = RevertRequest {
            root: &door.root,
            ledger: &door.ledger,
            target: next_step(&door.ledger, RevertStep::Undo)?,
            options: RevertOptions::default(),
            yes: false,
            allow_foreign: false,
            dry_run: false,
            has_keys: false,
        };
        request.run(ctx).map(drop)
    }
}

fn print_help(look: &OutputStyle, ctx: &mut CommandContext<'_>) {
    let mut text = String::new();
    for (name, meaning) in COMMANDS {
        text.push_str(&look.wrap(&format!("  {name:<16}{meaning}"), 18));
        text.push('\n');
    }
    text.push_str(
        "  @FILE in what you say sends the file along. Ctrl-C stops the agent; a second one leaves\n",
    );
    ctx.print_info(&text);
}
