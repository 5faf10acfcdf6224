//! `/new`, `/resume`, `/branch`, `/fork` and `/rename`: from one conversation to another. Files stay as they are.

use relaycode_session::Session;

use super::{SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::agent::session_file::{SessionChoice, branch_session, open_session};
use crate::commands::run_line;
use crate::commands::sessions::locator::SessionLocator;
use crate::screens::session_screen::{PickedSession, choose_session};
use crate::{CommandContext, CommandFailure, CommandResult};

pub(super) struct NewCommand;
pub(super) struct ResumeCommand;
pub(super) struct BranchCommand;
pub(super) struct ForkCommand;
pub(super) struct RenameCommand;

impl SlashCommand for NewCommand {
    fn name(&self) -> &'static str {
        "new"
    }

    fn other_names(&self) -> &'static [&'static str] {
        &["clear"]
    }

    fn help(&self) -> &'static str {
        "begin a new conversation; this one stays in `/resume`"
    }

    fn run(
        &self,
        _call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let session = open_session(SessionChoice::New, ctx)?;
        move_to(session, true, "a new conversation", conversation, ctx)
    }
}

impl SlashCommand for ResumeCommand {
    fn name(&self) -> &'static str {
        "resume"
    }

    fn arguments(&self) -> &'static str {
        "[SESSION]"
    }

    fn help(&self) -> &'static str {
        "list the conversations of this project, or go on with another one"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        if call.rest.is_empty() {
            let Some(id) = pick_session(conversation, ctx)? else { return Ok(ConversationStep::GoOn) };
            let session = open_session(SessionChoice::Named(&id), ctx)?;
            return move_to(session, false, "another conversation goes on", conversation, ctx);
        }
        let found = SessionLocator::open(ctx)?.find(Some(call.rest))?;
        if found.id == conversation.open.agent.session_id() {
            return Err(CommandFailure::usage("this is the conversation that you are in"));
        }
        let session = open_session(SessionChoice::Named(&found.id), ctx)?;
        move_to(session, false, "another conversation goes on", conversation, ctx)
    }
}

impl SlashCommand for BranchCommand {
    fn name(&self) -> &'static str {
        "branch"
    }

    fn arguments(&self) -> &'static str {
        "ENTRY"
    }

    fn help(&self) -> &'static str {
        "go on before a prompt of `/tree`, in a conversation of its own"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        if call.rest.is_empty() {
            return Err(CommandFailure::usage("before which prompt?").hint("`/tree` lists them"));
        }
        let unknown = || {
            CommandFailure::usage(format!("`{}` is no prompt of this conversation", call.rest))
                .hint("`/tree` lists them")
        };
        let (session, prompt) = conversation.open.agent.with_session(|session| {
            let there = session.destination(call.rest).map_err(|_| unknown())?;
            let prompt = there.prefill.ok_or_else(unknown)?;
            branch_session(session, there.leaf.as_deref(), ctx).map(|session| (session, prompt))
        })?;
        let step = move_to(session, true, "a branch of the conversation", conversation, ctx)?;
        conversation.surface.offer(&prompt, ctx);
        Ok(step)
    }
}

impl SlashCommand for ForkCommand {
    fn name(&self) -> &'static str {
        "fork"
    }

    fn help(&self) -> &'static str {
        "go on in a copy of this conversation"
    }

    fn run(
        &self,
        _call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let session =
            conversation.open.agent.with_session(|session| branch_session(session, session.leaf(), ctx))?;
        move_to(session, true, "a copy of the conversation", conversation, ctx)
    }
}

impl SlashCommand for RenameCommand {
    fn name(&self) -> &'static str {
        "rename"
    }

    fn arguments(&self) -> &'static str {
        "TITLE"
    }

    fn help(&self) -> &'static str {
        "give this conversation a title"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        if call.rest.is_empty() {
            return Err(CommandFailure::usage("which title?").hint("`/rename TITLE`"));
        }
        let handle = conversation.open.agent.handle();
        handle.name_session(call.rest).map_err(CommandFailure::unexpected)?;
        let look = ctx.console.out_style();
        let title = look.safe(call.rest).into_owned();
        ctx.print_success(&format!("this conversation is called: {title}"));
        Ok(ConversationStep::GoOn)
    }
}

/// The session that the user chooses from a list; where there is no screen for that, the list is printed.
fn pick_session(
    conversation: &Conversation<'_>,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<Option<String>> {
    let Some(mut views) = conversation.open_views()? else {
        run_line(&["sessions".to_string()], ctx)?;
        return Ok(None);
    };
    let locator = SessionLocator::open(ctx)?;
    let current = conversation.open.agent.session_id().to_string();
    let picked = choose_session(&locator, Some(&current), &mut views)?;
    drop(views);
    match picked {
        Some(PickedSession { is_other_project: true, cwd, id }) => {
            Err(CommandFailure::usage(format!("this session is about {cwd}"))
                .hint(format!("`relay -C {cwd} run --resume {id}` goes on with it there")))
        }
        picked => Ok(picked.map(|picked| picked.id)),
    }
}

fn move_to(
    session: Session,
    keeps_model: bool,
    what: &str,
    conversation: &mut Conversation<'_>,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<ConversationStep> {
    let before = conversation.open.agent.session_id().to_string();
    let has_words = conversation.open.agent.with_session(|session| session.is_on_disk());
    conversation.switch_to(session, keeps_model, ctx)?;
    conversation.surface.set_lent(false, ctx);
    conversation.surface.begin(&conversation.open, ctx);
    conversation.surface.set_lent(true, ctx);
    let back = if has_words { format!("; `/resume {before}` goes back") } else { String::new() };
    ctx.print_success(&format!("{what}{back}"));
    Ok(ConversationStep::GoOn)
}
