//! Whether codex is there, how old it is, and whether it is signed in. No browser is opened, and no model asked.

use std::path::PathBuf;
use std::time::Duration;

use relaycode_exec::{Deadlines, End, ExecError, Finished, Job};
use relaycode_project::access::Access;

use super::Codex;
use super::server::Talk;
use super::trouble::{INSTALL, SIGN_IN, last_words};
use super::version::{self, OLDEST};
use crate::friend::Presence;
use crate::turn::{Limits, Memory, Task, Turn};
use crate::world::World;

/// How long one of the questions may take.
const MOST: Duration = Duration::from_secs(10);

pub(super) fn look(codex: &Codex, world: &World<'_>) -> Presence {
    let finished = match call(codex, world, &["--version"]) {
        Ok(finished) => finished,
        Err(ExecError::NotFound { .. }) => {
            return Presence { trouble: Some(format!("not installed; {INSTALL}")), ..Presence::default() };
        }
        Err(error) => return Presence { trouble: Some(error.to_string()), ..Presence::default() },
    };
    let found = Some(codex.program.found(world));
    let Some(version) = version::of_output(&finished.stdout.text()).filter(|_| finished.end.is_success())
    else {
        let said = last_words(finished.stderr.text().as_bytes());
        let trouble = format!("`codex --version` does not say its version: {}", how(&finished, &said));
        return Presence { found, trouble: Some(trouble), ..Presence::default() };
    };
    let mut presence = Presence { found, version: Some(version.to_string()), ..Presence::default() };
    if version < OLDEST {
        presence.trouble = Some(format!("relay knows codex {OLDEST} and later; update it"));
        return presence;
    }
    presence.signed_in = signed_in(codex, world);
    if presence.signed_in == Some(false) {
        presence.trouble = Some(format!("it is not signed in; {SIGN_IN}"));
    }
    presence
}

/// By its own status; a provider of the user's own needs none.
fn signed_in(codex: &Codex, world: &World<'_>) -> Option<bool> {
    let finished = call(codex, world, &["login", "status"]).ok()?;
    if finished.end.is_success() {
        return Some(true);
    }
    if finished.end != End::Exited(1) {
        return None;
    }
    let limits = Limits::new(MOST, MOST);
    let directory = PathBuf::from("/");
    let task = Task::Prompt(String::new());
    let (model, schema, memory, access) = (None, None, Memory::None, Access::ReadOnly);
    let turn = Turn { task, directory, access, model, schema, memory, limits };
    let mut talk = Talk::start(codex, &turn, world).ok()?;
    let lacks = talk.lacks_account();
    talk.end();
    // Whether the provider's own key is right, only the provider knows.
    if lacks.ok()? { Some((world.variable)("CODEX_API_KEY").is_some()) } else { None }
}

fn call(codex: &Codex, world: &World<'_>, words: &[&str]) -> Result<Finished, ExecError> {
    let words = std::iter::once(codex.program.word()).chain(words.iter().map(Into::into));
    let mut job = Job::argv(words, "/");
    job.environment = codex.environment(world);
    job.deadlines = Deadlines { total: Some(MOST), idle: None, grace: Duration::from_millis(500) };
    world.runner.run(&job, world.stop, &mut |_| {})
}

fn how(finished: &Finished, said: &str) -> String {
    match (finished.end, said) {
        (End::DeadlinePassed, _) => format!("it took more than {} s", MOST.as_secs()),
        (_, "") => "it says nothing".to_string(),
        (_, said) => said.to_string(),
    }
}
