//! Whether codex is there, how old it is, and whether it is signed in. No browser is opened, and no model asked.

use std::path::PathBuf;
use std::time::Duration;

use relaycode_exec::End;
use relaycode_project::access::Access;

use super::server::Talk;
use super::{Codex, KNOWN};
use crate::friend::Presence;
use crate::program;
use crate::turn::{Limits, Memory, Task, Turn};
use crate::world::World;

/// How long its server may take to say whether it needs an account.
const MOST: Duration = Duration::from_secs(10);

pub(super) fn look(codex: &Codex, world: &World<'_>) -> Presence {
    let Some(found) = codex.program.find(world) else { return KNOWN.absent() };
    let version = program::version(world, codex.program.word(), codex.environment(world));
    KNOWN.there(found.display().to_string(), version, || signed_in(codex, world))
}

/// By its own status; a provider of the user's own needs none.
fn signed_in(codex: &Codex, world: &World<'_>) -> Option<bool> {
    let words = [codex.program.word(), "login".into(), "status".into()];
    let finished = program::call(world, words, codex.environment(world)).ok()?;
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
