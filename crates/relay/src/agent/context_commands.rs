//! What can be typed about the conversation itself: how full it is, summing it up and taking that back, going on in a fresh session
//! or from another place.
//!
//! ```text
//! › /context
//!   96.2k of 200.0k tokens (48 %); room is made from 170.0k on
//!     system prompt       3.1k
//!     tools               5.2k
//!     your messages       1.2k   4
//!     answers            21.0k  31
//!     tool outputs       65.7k  30
//! ```

use std::cell::RefCell;

use relaycode_agent::{Agent, CompactionAction, ContextReport};
use relaycode_session::view::outline::{OutlineFilter, session_outline};
use relaycode_text::width::clip_for_message;
use relaycode_tui::views::sessions::tree as tree_view;
use relaycode_tui::views::sessions::tree::SessionTreeNode;

use super::conversation_printer::ConversationPrinter;
use super::event_printer::short_count;
use super::open_agent::{AgentSurface, OpenAgent};
use super::options::AgentOptions;
use super::session_file::create_child_session;
use crate::{CommandContext, CommandFailure, CommandResult, Exit, SignalGuard};

/// Cells of a prompt that could be said again.
const MAX_PROMPT_CELLS: usize = 400;

/// `/compact [WORDS]`, `/compact undo`
pub(super) fn compact(
    open: &mut OpenAgent,
    words: &str,
    held: &SignalGuard,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<()> {
    if words == "undo" {
        let undone = open.agent.undo_compaction().map_err(CommandFailure::unexpected)?;
        return match undone {
            None => Err(CommandFailure::usage("there is no summary to take back")),
            Some(_) => {
                let tokens = short_count(open.agent.context_tokens());
                ctx.print_success(&format!("the conversation is as it was before: {tokens} tokens"));
                Ok(())
            }
        };
    }
    let outcome = show_beside(open, held, ctx, |agent| agent.compact(Some(words)))?;
    let outcome = outcome.map_err(CommandFailure::unexpected)?;
    match outcome.action {
        CompactionAction::Aborted => Err(stopped()),
        CompactionAction::Summarized | CompactionAction::SummarizedByRule => {
            ctx.print_info("  `/compact undo` takes it back\n");
            Ok(())
        }
        CompactionAction::Pruned
        | CompactionAction::Promoted
        | CompactionAction::Nothing
        | CompactionAction::Cancelled => Ok(()),
    }
}

/// Nobody said anything for a while.
pub(super) fn compact_idle(
    open: &mut OpenAgent,
    held: &SignalGuard,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<()> {
    let made = show_beside(open, held, ctx, Agent::compact_idle)?;
    made.map(drop).map_err(CommandFailure::unexpected)
}

/// `/context`
pub(super) fn print_context(open: &OpenAgent, ctx: &mut CommandContext<'_>) {
    let ContextReport { tokens, window, threshold, parts } = open.agent.context_report();
    let mut text = format!("  {} tokens", short_count(tokens));
    if let Some(percent) = tokens.saturating_mul(100).checked_div(window) {
        text = format!("  {} of {} tokens ({percent} %)", short_count(tokens), short_count(window));
    }
    match threshold {
        Some(threshold) => text.push_str(&format!("; room is made from {} on\n", short_count(threshold))),
        None => text.push_str("; room is not made by itself\n"),
    }
    for part in parts {
        let count = if part.messages == 0 { String::new() } else { format!("{:>5}", part.messages) };
        text.push_str(&format!("    {:<16}{:>8}{count}\n", part.name, short_count(part.tokens)));
    }
    ctx.print_info(&text);
}

/// `/handoff [WORDS]`
pub(super) fn hand_off(
    open: &mut OpenAgent,
    options: &AgentOptions,
    words: &str,
    held: &SignalGuard,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<()> {
    use relaycode_agent::HandoffError;
    let focus = Some(words).filter(|words| !words.is_empty());
    let written = show_beside(open, held, ctx, |agent| agent.write_handoff(focus))?;
    let document = written.map_err(|error| match error {
        HandoffError::TooShort | HandoffError::Planning => CommandFailure::usage(error),
        HandoffError::Aborted => stopped(),
        HandoffError::Empty | HandoffError::Failed(_) => {
            CommandFailure::new(Exit::NoAnswer, "handoff", error).hint("this conversation goes on as it is")
        }
    })?;
    let mut session = create_child_session(&document.parent, ctx)?;
    document.begin(&mut session).map_err(CommandFailure::unexpected)?;
    let (id, parent) = (session.id().to_string(), document.parent.clone());
    let model = open.models.first.model.selector();
    *open = OpenAgent::open_with(session, options, AgentSurface::Terminal, ctx)?;
    if open.models.first.model.selector() != model {
        open.switch_model(&model, ctx)?;
    }
    let look = ctx.console.out_style();
    let text = look.block(&open.unmask(&document.text)).into_owned();
    ctx.print_info(&format!("{text}\n"));
    ctx.print_success(&format!("a fresh session goes on: {id}, after {parent}"));
    Ok(())
}

/// `/tree`, `/tree ENTRY`, `/tree ENTRY summary [WORDS]`
pub(super) fn show_tree_or_move(
    open: &mut OpenAgent,
    rest: &str,
    held: &SignalGuard,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<()> {
    let mut words = rest.splitn(3, char::is_whitespace);
    let Some(entry) = words.next().filter(|entry| !entry.is_empty()) else { return print_tree(open, ctx) };
    let summarize = match words.next() {
        None => false,
        Some("summary") => true,
        Some(word) => {
            return Err(CommandFailure::usage(format!("`{word}` is not understood"))
                .hint("`/tree ENTRY summary` keeps a summary of what is left"));
        }
    };
    let (entry, focus) = (entry.to_string(), words.next().map(str::to_string));
    let moved = show_beside(open, held, ctx, |agent| agent.move_to(&entry, summarize, focus.as_deref()))?;
    let moved = moved.map_err(|error| CommandFailure::usage(error).hint("`/tree` lists the entries"))?;
    if moved.is_aborted {
        return Err(stopped());
    }
    if !moved.navigation.moved {
        ctx.print_info("  the conversation is there already\n");
        return Ok(());
    }
    let beside = if moved.summary.is_some() { ", with a summary of what was left" } else { "" };
    ctx.print_success(&format!("the conversation goes on from {entry}{beside}; files stay as they are"));
    if let Some(prompt) = moved.navigation.prefill {
        ctx.print_info(&format!("  you said there: {}\n", clip_for_message(&prompt, MAX_PROMPT_CELLS)));
    }
    Ok(())
}

/// `/label ENTRY [LABEL]`
pub(super) fn set_label(open: &mut OpenAgent, rest: &str, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
    let (entry, label) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if entry.is_empty() {
        return Err(CommandFailure::usage("which entry?").hint("`/tree` lists them"));
    }
    let label = Some(label.trim()).filter(|label| !label.is_empty());
    let set = open.agent.set_label(entry, label);
    set.map_err(|error| CommandFailure::usage(error).hint("`/tree` lists the entries"))?;
    ctx.print_success(&match label {
        Some(label) => format!("{entry} is labelled {label}"),
        None => format!("{entry} has no label"),
    });
    Ok(())
}

fn print_tree(open: &OpenAgent, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
    let lines = open.agent.with_session(|session| session_outline(session, OutlineFilter::NoTools, ""));
    let lines = lines.map_err(CommandFailure::unexpected)?;
    let look = ctx.console.out_style();
    let nodes: Vec<SessionTreeNode> = lines
        .into_iter()
        .map(|line| SessionTreeNode {
            parent: line.parent,
            active: line.active,
            label: line.label,
            speaker: format!("{} {}", line.id, line.who),
            text: line.text,
        })
        .collect();
    ctx.print_info(&tree_view::text(&nodes, &look));
    Ok(())
}

/// Lets the agent work beside, and prints what happens.
fn show_beside<T: Send>(
    open: &mut OpenAgent,
    held: &SignalGuard,
    ctx: &mut CommandContext<'_>,
    work: impl FnOnce(&mut Agent) -> T + Send,
) -> CommandResult<T> {
    let secrets = open.secrets.clone();
    let printer = RefCell::new(ConversationPrinter::new(secrets.as_deref()));
    let done = open.run_beside(held, &mut |event| printer.borrow_mut().print(event, ctx), work)?;
    printer.into_inner().finish(ctx);
    Ok(done)
}

fn stopped() -> CommandFailure {
    CommandFailure::new(Exit::Interrupted, "interrupted", "stopped; the conversation stays as it is")
}
