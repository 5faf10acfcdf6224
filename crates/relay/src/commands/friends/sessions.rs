//! The conversations that go on by name.

use relaycode_friend::session::{Session, SessionError, Store};
use relaycode_project::config::LogLevel;
use relaycode_tui::outcome;
use serde_json::json;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::show;

/// Sessions that are named when another was meant.
const MOST_NAMED: usize = 10;

pub(super) fn list(context: &mut Context<'_>) -> Result<Exit, Failure> {
    let listed = Store::open(context.home.path.as_deref()).list()?;
    let row = |session: &Session| {
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
    let store = Store::open(context.home.path.as_deref());
    if !store.forget(name)? {
        let failure = Failure::new(Exit::Usage, "noSession", format!("there is no session {name}"));
        return Err(failure.hint(there_are(&store.list()?.sessions)));
    }
    context.object(&json!({
        "ok": true, "code": Exit::Done as u8, "command": "friends", "session": name, "forgotten": true,
    }));
    let look = context.look();
    context.say(&outcome::done(&look, &format!("forgot the session {}", look.safe(name))));
    Ok(Exit::Done)
}

/// Which sessions there are, the one that was used last first.
fn there_are(sessions: &[Session]) -> String {
    let names: Vec<&str> = sessions.iter().take(MOST_NAMED).map(|session| session.name.as_str()).collect();
    match (names.len(), sessions.len()) {
        (0, _) => "there are none".to_string(),
        (named, all) if named < all => {
            format!("there are {} and {} more: `relay friends sessions`", names.join(", "), all - named)
        }
        _ => format!("there are: {}", names.join(", ")),
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Failure {
        let kind = match &error {
            SessionError::BadName(_) => "badName",
            SessionError::OtherFriend { .. } => "otherFriend",
            SessionError::OtherProject { .. } => "otherProject",
            SessionError::Busy(_) => "busy",
            SessionError::Own(_) => "home",
        };
        Failure::new(Exit::Usage, kind, error)
    }
}
