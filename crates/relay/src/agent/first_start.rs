//! A first start without a model: the three ways to one. Model servers on this machine have been looked for by then.

use relaycode_friend::friends;

use crate::friends::friend_context::new_friend_context;
use crate::{CommandContext, CommandFailure, commands};

/// A failure that says what to do, if it is that there is no model.
pub(crate) fn advise(failure: CommandFailure, ctx: &CommandContext<'_>) -> CommandFailure {
    if failure.kind != commands::models::NO_KEY {
        return failure;
    }
    let installed: Vec<&str> = match new_friend_context(ctx, &|| false) {
        Ok(world) => {
            let is_there = |friend: &&&dyn relaycode_friend::Friend| friend.check_installed(&world).is_ok();
            friends::ALL.iter().filter(is_there).map(|friend| friend.name()).collect()
        }
        Err(_) => Vec::new(),
    };
    let friend = match installed.as_slice() {
        [] => "another agent (`relay friends` lists those relay knows)".to_string(),
        [name, ..] => format!("an agent that you have (`relay ask --to {name} QUESTION`)"),
    };
    let said = "there is no model yet: no provider has a key, and no model server on this machine has one";
    let hint = format!(
        "there are three ways: a key (`relay keys set anthropic`; `relay keys list --all` lists the providers), a model server on \
         this machine (relay finds Ollama, llama.cpp and LM Studio by itself), or {friend}"
    );
    CommandFailure { message: said.to_string(), hint: Some(hint), ..failure }.unchanged()
}
