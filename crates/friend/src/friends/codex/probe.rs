//! Whether codex is there, how old it is, and whether it is signed in. No browser is opened, and no model asked.

use std::path::PathBuf;
use std::time::Duration;

use relaycode_exec::ExitReason;

use super::app_server::AppServerClient;
use super::{Codex, PROFILE};
use crate::driver::program;
use crate::{AskRequest, FriendContext, FriendProbeReport, TurnLimits};

/// How long its server may take to say whether it needs an account.
const ACCOUNT_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) fn probe_codex(codex: &Codex, world: &FriendContext<'_>) -> FriendProbeReport {
    let Some(found) = codex.program.find(world) else { return PROFILE.missing_report() };
    let version = program::program_version(world, codex.program.argv0(), codex.environment(world));
    PROFILE.installed_report(found.display().to_string(), version, || signed_in(codex, world))
}

/// By its own status; a provider of the user's own needs none.
fn signed_in(codex: &Codex, world: &FriendContext<'_>) -> Option<bool> {
    let words = [codex.program.argv0(), "login".into(), "status".into()];
    let finished = program::run_program(world, words, codex.environment(world)).ok()?;
    if finished.reason.is_success() {
        return Some(true);
    }
    if finished.reason != ExitReason::Exited(1) {
        return None;
    }
    let limits = TurnLimits::new(ACCOUNT_TIMEOUT, ACCOUNT_TIMEOUT);
    let request = AskRequest::new("", PathBuf::from("/"), limits);
    let mut talk = AppServerClient::start(codex, &request, world).ok()?;
    let lacks = talk.lacks_account();
    let _ = talk.peer.lines.end();
    // Whether the provider's own key is right, only the provider knows.
    if lacks.ok()? { Some((world.env_var)("CODEX_API_KEY").is_some()) } else { None }
}
