//! `relay sessions delete`: sessions go for good, with everything that is their own.

use relaycode_session::list::SessionInfo;
use relaycode_session::remove::remove;
use relaycode_tui::look::Look;
use relaycode_tui::number;
use relaycode_tui::outcome;
use relaycode_tui::sessions::list::{self as view, Row};
use serde_json::json;

use super::place::{Place, about, digits, failed, short};
use crate::ask::{self, is_yes};
use crate::context::Context;
use crate::failure::{Exit, Failure, State};

/// Delete sessions for good
///
/// The index and the files beside a session go with it, and what a repair kept of it. Images are kept once for all sessions
/// and stay. One that is open in another relay is refused.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct DeleteArgs {
    /// Numbers of `relay sessions`, beginnings of ids, or paths
    #[arg(value_name = "SESSION", required = true)]
    sessions: Vec<String>,

    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl DeleteArgs {
    pub(super) fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let place = Place::of(context)?;
        // All are found before the first one goes: numbers would mean others afterwards.
        let mut sessions: Vec<SessionInfo> = Vec::new();
        for word in &self.sessions {
            let info = place.find(Some(word))?;
            if sessions.iter().all(|known| known.path != info.path) {
                sessions.push(info);
            }
        }
        place.listing().count(&mut sessions);
        self.ask(&sessions, context)?;
        let mut deleted = Vec::new();
        for info in &sessions {
            if let Err(error) = remove(&place.fs, &info.path) {
                let failure = failed(&error);
                return Err(match deleted.len() {
                    0 => failure.left(State::Unchanged),
                    count => Failure {
                        message: format!(
                            "{}; deleted before it: {}",
                            failure.message,
                            number(count, "session")
                        ),
                        state: None,
                        ..failure
                    },
                });
            }
            deleted.push(info.id.clone());
        }
        let look = context.look();
        let said = match deleted.as_slice() {
            [one] => format!("deleted {}", look.safe(one)),
            many => format!("deleted {}", number(many.len(), "session")),
        };
        context.say(&outcome::done(&look, &said));
        context.object(&json!({
            "ok": true, "code": Exit::Done as u8, "command": "sessions", "deleted": deleted,
        }));
        Ok(Exit::Done)
    }

    /// Shows what would go, and gets a yes for it.
    fn ask(&self, sessions: &[SessionInfo], context: &Context<'_>) -> Result<(), Failure> {
        if self.yes {
            return Ok(());
        }
        let Some(terminal) = ask::terminal() else {
            return Err(ask::nobody(
                "somebody has to say yes, and there is no terminal to ask on",
                "`-y` deletes without asking",
            ));
        };
        let look: Look = context.console.err_look().on(terminal.file());
        let digits = digits(sessions);
        let row = |info: &SessionInfo| Row {
            id: short(&info.id, digits),
            modified: info.modified.clone(),
            messages: info.messages,
            about: about(info),
            damage: info.damage.clone(),
            ..Row::default()
        };
        let rows: Vec<Row> = sessions.iter().map(row).collect();
        terminal.say(&view::text(&rows, 0, 0, &look));
        let what = if sessions.len() == 1 { "it".to_string() } else { number(sessions.len(), "session") };
        if is_yes(&ask::ask(&terminal, &format!("  delete {what} for good? [y/N]  "))?) {
            return Ok(());
        }
        Err(Failure::new(Exit::Declined, "declined", "not deleted").left(State::Unchanged))
    }
}
