//! Whether claude is there, how old it is, and whether it is signed in. No browser is opened, and no model asked.

use serde_json::Value;

use super::environment::environment;
use super::{Claude, KNOWN};
use crate::friend::Presence;
use crate::program;
use crate::world::World;

pub(super) fn look(claude: &Claude, world: &World<'_>) -> Presence {
    let Some(found) = claude.program.find(world) else { return KNOWN.absent() };
    let version = program::version(world, claude.program.word(), environment(world));
    KNOWN.there(found.display().to_string(), version, || signed_in(claude, world))
}

/// By its own status, which looks at keys in the environment, at its credentials and at the user's settings.
/// Whether a key is right, only the provider knows.
fn signed_in(claude: &Claude, world: &World<'_>) -> Option<bool> {
    let words = [claude.program.word(), "auth".into(), "status".into(), "--json".into()];
    let finished = program::call(world, words, environment(world)).ok()?;
    let status: Value = serde_json::from_slice(&finished.stdout.head).ok()?;
    status["loggedIn"].as_bool()
}
