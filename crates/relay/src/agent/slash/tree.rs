//! `/tree` and `/label`: what was said, and going on from another place of it.

use relaycode_session::view::outline::{OutlineFilter, session_outline};
use relaycode_tui::tree_view::{ALREADY_THERE, LeftBranchSummary, TreeOutcome, TreeView, tree_entries};
use relaycode_tui::views::sessions::tree as tree_text;
use relaycode_tui::views::sessions::tree::SessionTreeNode;

use super::context_commands::stopped;
use super::{SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::{CommandContext, CommandFailure, CommandResult, Project};

pub(super) struct TreeCommand;
pub(super) struct LabelCommand;

impl SlashCommand for TreeCommand {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn arguments(&self) -> &'static str {
        "[ENTRY [summary]]"
    }

    fn help(&self) -> &'static str {
        "what was said, or go on from there, with a summary of what is left"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let mut words = call.rest.splitn(3, char::is_whitespace);
        let Some(entry) = words.next().filter(|entry| !entry.is_empty()) else {
            walk_tree(conversation, ctx)?;
            return Ok(ConversationStep::GoOn);
        };
        let summarize = match words.next() {
            None => false,
            Some("summary") => true,
            Some(word) => {
                return Err(CommandFailure::usage(format!("`{word}` is not understood"))
                    .hint("`/tree ENTRY summary` keeps a summary of what is left"));
            }
        };
        let focus = words.next().map(str::to_string);
        move_to_entry(entry, summarize, focus.as_deref(), conversation, ctx)?;
        Ok(ConversationStep::GoOn)
    }
}

impl SlashCommand for LabelCommand {
    fn name(&self) -> &'static str {
        "label"
    }

    fn arguments(&self) -> &'static str {
        "ENTRY [LABEL]"
    }

    fn help(&self) -> &'static str {
        "give an entry of the tree a label, or take it away"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let (entry, label) = call.rest.split_once(char::is_whitespace).unwrap_or((call.rest, ""));
        if entry.is_empty() {
            return Err(CommandFailure::usage("which entry?").hint("`/tree` lists them"));
        }
        let label = Some(label.trim()).filter(|label| !label.is_empty());
        let set = conversation.open.agent.set_label(entry, label);
        set.map_err(|error| CommandFailure::usage(error).hint("`/tree` lists the entries"))?;
        ctx.print_success(&match label {
            Some(label) => format!("{entry} is labelled {label}"),
            None => format!("{entry} has no label"),
        });
        Ok(ConversationStep::GoOn)
    }
}

/// The conversation goes on from there.
pub(crate) fn move_to_entry(
    entry: &str,
    summarize: bool,
    focus: Option<&str>,
    conversation: &mut Conversation<'_>,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<()> {
    let moved = conversation.follow(ctx, |agent| agent.move_to(entry, summarize, focus))?;
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
        conversation.surface.offer(&prompt, ctx);
    }
    Ok(())
}

/// Lets the user walk through the tree and go somewhere; where there is no screen for that, prints it.
fn walk_tree(conversation: &mut Conversation<'_>, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
    let Some(mut views) = conversation.open_views()? else { return print_tree(conversation, ctx) };
    let asks = Project::open(ctx)?.config()?.config.terminal.branch_summary;
    let entries = |conversation: &Conversation<'_>| {
        conversation.open.agent.with_session(tree_entries).map_err(CommandFailure::unexpected)
    };
    let mut tree = TreeView::new(entries(conversation)?, asks);
    loop {
        match views.show(&mut tree) {
            None | Some(TreeOutcome::Closed) => return Ok(()),
            Some(TreeOutcome::AlreadyThere) => {
                drop(views);
                ctx.print_info(&format!("  {ALREADY_THERE}\n"));
                return Ok(());
            }
            Some(TreeOutcome::SetLabel { entry, label }) => {
                let set = conversation.open.agent.set_label(&entry, label.as_deref());
                set.map_err(CommandFailure::unexpected)?;
                tree.replace_entries(entries(conversation)?);
            }
            Some(TreeOutcome::Move(to)) => {
                let (summarize, focus) = match to.summary {
                    LeftBranchSummary::None => (false, None),
                    LeftBranchSummary::Summarize => (true, None),
                    LeftBranchSummary::Custom(words) => (true, Some(words)),
                };
                drop(views);
                return move_to_entry(&to.entry, summarize, focus.as_deref(), conversation, ctx);
            }
            Some(TreeOutcome::AbortSummary | TreeOutcome::Ignored | TreeOutcome::Changed) => {}
        }
    }
}

fn print_tree(conversation: &Conversation<'_>, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
    let agent = &conversation.open.agent;
    let lines = agent.with_session(|session| session_outline(session, OutlineFilter::NoTools, ""));
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
    ctx.print_info(&tree_text::text(&nodes, &look));
    Ok(())
}
