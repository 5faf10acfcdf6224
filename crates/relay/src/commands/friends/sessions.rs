//! The conversations that go on by name.

use relaycode_friend::session::{FriendSession, FriendSessionError, FriendSessionStore};
use relaycode_project::config::LogLevel;
use relaycode_tui::views::outcome;
use serde_json::json;

use crate::report::failure::{CommandFailure, Exit};
use crate::report::render;
use crate::wiring::context::CommandContext;

/// Sessions that are named when another was meant.
const MAX_NAMED_SESSIONS: usize = 10;

pub(super) fn list_sessions(context: &mut CommandContext<'_>) -> Result<Exit, CommandFailure> {
    let listed = FriendSessionStore::open(context.home.path.as_deref()).list()?;
    let row = |session: &FriendSession| {
        json!({
            "name": session.name, "friend": session.friend, "project": session.project.to_string_lossy(),
            "model": session.model, "created": session.created.to_string(), "used": session.used.to_string(),
            "turns": session.turns,
        })
    };
    context.print_json(&json!({
        "ok": true, "code": Exit::Done as u8, "command": "friends",
        "sessions": listed.sessions.iter().map(row).collect::<Vec<_>>(), "remarks": listed.remarks,
    }));
    if !context.is_json() {
        let text = render::friends::sessions_table(&listed.sessions, &context.console.out_style());
        context.console.print(&text);
    }
    let look = context.console.err_style();
    for remark in &listed.remarks {
        context.eprint_at(LogLevel::Warn, &outcome::warning_line(&look, &look.safe(remark)));
    }
    Ok(Exit::Done)
}

pub(super) fn forget_session(name: &str, context: &mut CommandContext<'_>) -> Result<Exit, CommandFailure> {
    let store = FriendSessionStore::open(context.home.path.as_deref());
    if !store.forget(name)? {
        let failure = CommandFailure::new(Exit::Usage, "noSession", format!("there is no session {name}"));
        return Err(failure.with_hint(known_sessions_hint(&store.list()?.sessions)));
    }
    context.print_json(&json!({
        "ok": true, "code": Exit::Done as u8, "command": "friends", "session": name, "forgotten": true,
    }));
    let look = context.style();
    context.print_info(&outcome::success_line(&look, &format!("forgot the session {}", look.safe(name))));
    Ok(Exit::Done)
}

/// Which sessions there are, the one that was used last first.
fn known_sessions_hint(sessions: &[FriendSession]) -> String {
    let names: Vec<&str> =
        sessions.iter().take(MAX_NAMED_SESSIONS).map(|session| session.name.as_str()).collect();
    match (names.len(), sessions.len()) {
        (0, _) => "there are none".to_string(),
        (named, all) if named < all => {
            format!("there are {} and {} more: `relay friends sessions`", names.join(", "), all - named)
        }
        _ => format!("there are: {}", names.join(", ")),
    }
}

impl From<FriendSessionError> for CommandFailure {
    fn from(error: FriendSessionError) -> CommandFailure {
        let kind = match &error {
            FriendSessionError::BadName(_) => "badName",
            FriendSessionError::OtherFriend { .. } => "otherFriend",
            FriendSessionError::OtherProject { .. } => "otherProject",
            FriendSessionError::Busy(_) => "busy",
            FriendSessionError::Own(_) => "home",
        };
        CommandFailure::new(Exit::Usage, kind, error)
    }
}
