//! The environment of claude: quiet, and not inside another claude.

use std::ffi::OsString;

use relaycode_exec::JobEnvironment;

use crate::FriendContext;

/// What makes claude believe that it is part of another session, or that somebody else steers it. Where its
/// settings are, its keys and its provider are not among them.
const INSIDE_CLAUDE: &[&str] = &[
    "CLAUDE_CODE_AGENT",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_PARENT_SESSION_ID",
    "CLAUDE_CODE_REMOTE",
    "CLAUDE_CODE_REMOTE_SESSION_ID",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SIMPLE",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "CLAUDE_CODE_TASK_LIST_ID",
    "CLAUDE_PROJECT_DIR",
];

/// What is switched on. The last four keep it to the prompt as it was given: no file that the prompt mentions
/// by `@` is read unasked, nothing goes on in the background, nothing is remembered on its own account.
const QUIET: &[&str] = &[
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_DISABLE_TERMINAL_TITLE",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
    "CLAUDE_CODE_DISABLE_ATTACHMENTS",
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
];

/// How often claude tries again when its server fails; without it, for minutes. The user's own number stays.
const RETRIES: (&str, &str) = ("CLAUDE_CODE_MAX_RETRIES", "3");

/// What claude's environment has that relay's has not, and the other way round.
pub(super) fn environment(world: &FriendContext<'_>) -> JobEnvironment {
    let mut environment = world.child_environment();
    environment.remove.extend(INSIDE_CLAUDE.iter().map(OsString::from));
    let set = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
    environment.set.extend(QUIET.iter().map(|name| set(name, "1")));
    if (world.env_var)(RETRIES.0).is_none() {
        environment.set.push(set(RETRIES.0, RETRIES.1));
    }
    environment
}
