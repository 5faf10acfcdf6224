//! Whether claude is there, how old it is, and whether it is signed in. No browser is opened, and no model asked.

use std::time::Duration;

use relaycode_exec::{Deadlines, End, ExecError, Finished, Job};
use serde_json::Value;

use super::Claude;
use super::environment::environment;
use super::trouble::{INSTALL, SIGN_IN, last_words};
use super::version::{OLDEST, read};
use crate::friend::Presence;
use crate::version::Version;
use crate::world::World;

/// How long one of the questions may take.
const MOST: Duration = Duration::from_secs(10);

pub(super) fn look(claude: &Claude, world: &World<'_>) -> Presence {
    let finished = match call(claude, world, &["--version"]) {
        Ok(finished) => finished,
        Err(ExecError::NotFound { .. }) => {
            return Presence { trouble: Some(format!("not installed; {INSTALL}")), ..Presence::default() };
        }
        Err(error) => return Presence { trouble: Some(error.to_string()), ..Presence::default() },
    };
    let found = Some(claude.program.found(world));
    let Some(version) = version_of(&finished) else {
        let said = match (finished.end, last_words(finished.stderr.text().as_bytes())) {
            (End::DeadlinePassed, _) => format!("it took more than {} s", MOST.as_secs()),
            (_, said) if said.is_empty() => "it says nothing".to_string(),
            (_, said) => said,
        };
        let trouble = Some(format!("`claude --version` does not say its version: {said}"));
        return Presence { found, trouble, ..Presence::default() };
    };
    let mut presence = Presence { found, version: Some(version.to_string()), ..Presence::default() };
    if version < OLDEST {
        presence.trouble = Some(format!("relay knows claude {OLDEST} and later; run `claude update`"));
        return presence;
    }
    presence.signed_in = signed_in(claude, world);
    if presence.signed_in == Some(false) {
        presence.trouble = Some(format!("it is not signed in; {SIGN_IN}"));
    }
    presence
}

/// Its version, if it says.
pub(super) fn version(claude: &Claude, world: &World<'_>) -> Option<Version> {
    version_of(&call(claude, world, &["--version"]).ok()?)
}

fn version_of(finished: &Finished) -> Option<Version> {
    finished.end.is_success().then(|| read(&finished.stdout.text())).flatten()
}

/// By its own status, which looks at keys in the environment, at its credentials and at the user's settings.
/// Whether a key is right, only the provider knows.
fn signed_in(claude: &Claude, world: &World<'_>) -> Option<bool> {
    let finished = call(claude, world, &["auth", "status", "--json"]).ok()?;
    let status: Value = serde_json::from_slice(&finished.stdout.head).ok()?;
    status["loggedIn"].as_bool()
}

fn call(claude: &Claude, world: &World<'_>, words: &[&str]) -> Result<Finished, ExecError> {
    let words = std::iter::once(claude.program.word()).chain(words.iter().map(Into::into));
    // Not in the project: its settings may name programs that hand out keys.
    let mut job = Job::argv(words, "/");
    job.environment = environment(world);
    job.deadlines = Deadlines { total: Some(MOST), idle: None, grace: Duration::from_millis(500) };
    world.runner.run(&job, world.stop, &mut |_| {})
}
