//! `relay sessions delete`: sessions go for good, with everything that is their own.

use relaycode_session::SessionSummary;
use relaycode_session::home::remove::remove_session;
use relaycode_tui::pluralize;
use relaycode_tui::views::sessions::list as view;
use relaycode_tui::views::sessions::list::SessionRow;
use serde_json::json;

use super::locator::{SessionLocator, id_digits, session_failure, session_row};
use crate::{CommandContext, CommandFailure, CommandResult, Exit, questions};

/// Delete sessions for good
///
/// The index and the files beside a session go with it, and what a repair kept of it. Images are kept once for all sessions
/// and stay. One that is open in another relay is refused.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SessionsDeleteArgs {
    /// Numbers of `relay sessions`, beginnings of ids, or paths
    #[arg(value_name = "SESSION", required = true)]
    sessions: Vec<String>,

    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl SessionsDeleteArgs {
    pub(super) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let place = SessionLocator::open(ctx)?;
        // All are found before the first one goes: numbers would mean others afterwards.
        let mut sessions: Vec<SessionSummary> = Vec::new();
        for word in &self.sessions {
            let info = place.find(Some(word))?;
            if sessions.iter().all(|known| known.path != info.path) {
                sessions.push(info);
            }
        }
        place.listing().count_messages(&mut sessions);
        self.confirm_delete(&sessions, ctx)?;
        let mut deleted = Vec::new();
        for info in &sessions {
            if let Err(error) = remove_session(&place.fs, &info.path) {
                let failure = session_failure(&error);
                if deleted.is_empty() {
                    return Err(failure.unchanged());
                }
                let before = pluralize(deleted.len(), "session");
                let message = format!("{}; deleted before it: {before}", failure.message);
                return Err(CommandFailure { message, state: None, ..failure });
            }
            deleted.push(info.id.clone());
        }
        ctx.print_success(&match deleted.as_slice() {
            [one] => format!("deleted {one}"),
            many => format!("deleted {}", pluralize(many.len(), "session")),
        });
        Ok(ctx.print_result(Exit::Done, json!({"deleted": deleted})))
    }

    /// Shows what would go, and gets a yes for it.
    fn confirm_delete(&self, sessions: &[SessionSummary], ctx: &CommandContext<'_>) -> CommandResult<()> {
        if self.yes {
            return Ok(());
        }
        let Some(terminal) = questions::open_terminal() else {
            return Err(questions::nobody_to_say_yes("`-y` deletes without asking"));
        };
        let look = ctx.console.err_style().for_stream(terminal.file());
        let digits = id_digits(sessions);
        let rows: Vec<SessionRow> = sessions.iter().map(|info| session_row(info, digits)).collect();
        terminal.write_text(&view::text(&rows, 0, 0, &look));
        let what = if sessions.len() == 1 { "it".to_string() } else { pluralize(sessions.len(), "session") };
        questions::confirm(&terminal, &format!("  delete {what} for good? [y/N]  "), "not deleted")
    }
}
