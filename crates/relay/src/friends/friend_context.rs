//! The world around friends: where programs run, what the environment says, who may be asked. Everything that a
//! friend knows of the machine comes from here.

use std::ffi::OsString;

use relaycode_friend::friend::depth;
use relaycode_friend::friends::{FriendLookupError, ResolvedFriend};
use relaycode_friend::{FriendContext, FriendRegistry};

use crate::{CommandContext, CommandFailure, CommandResult, Exit, Providers, process_runner};

pub(crate) type StopCheck<'a> = &'a (dyn Fn() -> bool + Sync);

/// The world, in which `stop` ends everything.
pub(crate) fn new_friend_context<'a>(
    ctx: &CommandContext<'_>,
    stop: StopCheck<'a>,
) -> CommandResult<FriendContext<'a>> {
    let runner = process_runner()?.with_label(depth::KEEPER_LABEL);
    let home = ctx.home.path.clone();
    Ok(FriendContext {
        runner,
        home,
        env_var: &env_var,
        stop_requested: stop,
        depth: depth::current_depth(&env_var),
    })
}

/// Everybody who may be asked. What the user configured of model servers is read only when one is named.
pub(crate) fn known_friends(ctx: &CommandContext<'_>) -> FriendRegistry<'static> {
    let (home, directory) = (ctx.home.clone(), ctx.options.directory.clone());
    FriendRegistry::new(move || {
        let providers = Providers::open_for(&home, &directory).map_err(|failure| failure.message)?;
        providers.into_servers(&home)
    })
}

/// The friends of these names, each once.
pub(crate) fn find_friends(
    friends: &FriendRegistry<'_>,
    names: &[String],
) -> CommandResult<Vec<ResolvedFriend>> {
    let mut chosen: Vec<ResolvedFriend> = Vec::new();
    for name in names {
        let one = friends.find(name)?;
        let again = chosen
            .iter()
            .any(|other| other.friend().name() == one.friend().name() && other.model == one.model);
        if again {
            return Err(CommandFailure::usage(format!("{name} is named twice")).hint("name each friend once"));
        }
        chosen.push(one);
    }
    Ok(chosen)
}

impl From<FriendLookupError> for CommandFailure {
    fn from(error: FriendLookupError) -> CommandFailure {
        let hint = match &error {
            FriendLookupError::Unknown { .. } => {
                "`relay friends` shows who is there, `relay models` which servers there are"
            }
            _ => "`relay models` says more",
        };
        CommandFailure::new(Exit::Usage, "friend", error).hint(hint)
    }
}

fn env_var(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
