//! The conversations that go on by name.

use relaycode_friend::session::{FriendSession, FriendSessionError, FriendSessionStore};
use relaycode_text::nearest::nearest_names;
use serde_json::json;

use crate::friends::group::project_root;
use crate::{CommandContext, CommandFailure, CommandResult, Exit, LogLevel, render};

/// Sessions that are named when another was meant.
const MAX_NAMED_SESSIONS: usize = 10;

pub(super) fn list_sessions(ctx: &mut CommandContext<'_>) -> CommandResult {
    let listed = FriendSessionStore::open(ctx.home.path.as_deref()).list()?;
    let row = |session: &FriendSession| {
        json!({
            "name": session.name, "friend": session.friend, "project": session.project.to_string_lossy(),
            "model": session.model, "created": session.created.to_string(), "used": session.used.to_string(),
            "turns": session.turns,
        })
    };
    let found = json!({
        "sessions": listed.sessions.iter().map(row).collect::<Vec<_>>(), "remarks": listed.remarks,
    });
    let exit = ctx.print_either(Exit::Done, found, |s| render::friends::sessions_table(&listed.sessions, s));
    for remark in &listed.remarks {
        ctx.eprint_remark(LogLevel::Warn, remark);
    }
    Ok(exit)
}

pub(super) fn forget_session(name: &str, ctx: &mut CommandContext<'_>) -> CommandResult {
    let store = FriendSessionStore::open(ctx.home.path.as_deref());
    if !store.forget(name, &project_root(ctx)?)? {
        let failure = CommandFailure::new(Exit::Usage, "noSession", format!("there is no session {name}"));
        return Err(failure.hint(known_sessions_hint(name, &store.list()?.sessions)));
    }
    let exit = ctx.print_result(Exit::Done, json!({"session": name, "forgotten": true}));
    ctx.print_success(&format!("forgot the session {name}"));
    Ok(exit)
}

/// Which session may be meant, or which there are, the one that was used last first.
fn known_sessions_hint(name: &str, sessions: &[FriendSession]) -> String {
    if let [near, ..] =
        nearest_names(name, sessions.iter().map(|session| session.name.as_str()), 1).as_slice()
    {
        return format!("did you mean `{near}`?");
    }
    let names: Vec<&str> = sessions.iter().take(MAX_NAMED_SESSIONS).map(|s| s.name.as_str()).collect();
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
            FriendSessionError::OtherProjects { .. } => "otherProject",
            FriendSessionError::Busy(_) => "busy",
            FriendSessionError::Own(_) => "home",
        };
        let other = matches!(error, FriendSessionError::OtherProjects { .. });
        let failure = CommandFailure::new(Exit::Usage, kind, error);
        if other { failure.hint("say which with `-C DIR`") } else { failure }
    }
}
