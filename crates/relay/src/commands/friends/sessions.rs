//! The conversations that go on by name.

use relaycode_friend::session::{SessionError, Store};
use relaycode_project::config::LogLevel;
use relaycode_tui::outcome;
use serde_json::json;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::show;

pub(super) fn list(context: &mut Context<'_>) -> Result<Exit, Failure> {
    let listed = Store::open(context.home.path.as_deref()).list()?;
    let row = |session: &relaycode_friend::session::Session| {
        json!({
            "name": session.name, "friend": session.friend, "project": session.project.to_string_lossy(),
            "model": session.model, "created": session.created.to_string(), "used": session.used.to_string(),
            "turns": session.turns,
        })
    };
    context.object(&json!({
        "ok": true, "code": Exit::Done as u8, "command": "friends",
        "sessions": listed.sessions.iter().map(row).collect::<Vec<_>>(), "remarks": listed.remarks,
    }));
    if !context.json() {
        let text = show::friends::sessions(&listed.sessions, &context.console.out_look());
        context.console.out(&text);
    }
    let look = context.console.err_look();
    for remark in &listed.remarks {
        context.beside(LogLevel::Warn, &outcome::remark(&look, &look.safe(remark)));
    }
    Ok(Exit::Done)
}

pub(super) fn forget(name: &str, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let was = Store::open(context.home.path.as_deref()).forget(name)?;
    context.object(&json!({
        "ok": true, "code": Exit::Done as u8, "command": "friends", "session": name, "forgotten": was,
    }));
    let look = context.look();
    let name = look.safe(name);
    let said =
        if was { format!("forgot the session {name}") } else { format!("there was no session {name}") };
    context.say(&outcome::done(&look, &said));
    Ok(Exit::Done)
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Failure {
        let kind = match &error {
            SessionError::BadName(_) => "badName",
            SessionError::OtherFriend { .. } => "otherFriend",
            SessionError::OtherProject { .. } => "otherProject",
            SessionError::Lost { .. } => "noSession",
            SessionError::Busy(_) => "busy",
            SessionError::Own(_) => "home",
        };
        Failure::new(Exit::Usage, kind, error)
    }
}
