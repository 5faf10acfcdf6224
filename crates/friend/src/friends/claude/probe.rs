//! Whether claude is there, how old it is, and whether it is signed in. No browser is opened, and no model asked.

use serde_json::Value;

use super::environment::environment;
use super::{Claude, PROFILE};
use crate::driver::program;
use crate::{FriendContext, FriendProbeReport};

pub(super) fn probe_claude(claude: &Claude, world: &FriendContext<'_>) -> FriendProbeReport {
    let Some(found) = claude.program.find(world) else { return PROFILE.missing_report() };
    let version = program::program_version(world, claude.program.argv0(), environment(world));
    PROFILE.installed_report(found.display().to_string(), version, || signed_in(claude, world))
}

/// By its own status, which looks at keys in the environment, at its credentials and at the user's settings.
/// Whether a key is right, only the provider knows.
fn signed_in(claude: &Claude, world: &FriendContext<'_>) -> Option<bool> {
    let words = [claude.program.argv0(), "auth".into(), "status".into(), "--json".into()];
    let finished = program::run_program(world, words, environment(world)).ok()?;
    let status: Value = serde_json::from_slice(&finished.stdout.head).ok()?;
    status["loggedIn"].as_bool()
}
