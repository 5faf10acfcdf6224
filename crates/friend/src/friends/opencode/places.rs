//! What opencode keeps in the user's home, for relay's fence.
//!
//! Its database, its settings and what it downloads to run go with the turn; only its sign-in is written for good, which it
//! writes in place.

use std::path::PathBuf;

use relaycode_project::fence::AgentPlaces;

use super::NAME;
use crate::FriendContext;

/// Its directories: below where a variable says, else below the user's home.
const STATE: [(&str, &str); 4] =
    [DATA, ("XDG_STATE_HOME", ".local/state"), ("XDG_CACHE_HOME", ".cache"), ("XDG_CONFIG_HOME", ".config")];
const DATA: (&str, &str) = ("XDG_DATA_HOME", ".local/share");

pub(super) fn agent_places(world: &FriendContext<'_>) -> AgentPlaces {
    // What relay made for it.
    let own = world.home.as_ref().map(|home| home.join("friends").join(NAME));
    AgentPlaces {
        state: STATE.into_iter().filter_map(|place| directory(world, place)).chain(own).collect(),
        sign_in: sign_in(world).into_iter().collect(),
        lent: Vec::new(),
    }
}

/// Where its keys are.
pub(super) fn sign_in(world: &FriendContext<'_>) -> Option<PathBuf> {
    Some(directory(world, DATA)?.join("auth.json"))
}

fn directory(world: &FriendContext<'_>, (variable, below): (&str, &str)) -> Option<PathBuf> {
    let path = |name: &str| (world.env_var)(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let above = path(variable).or_else(|| Some(path("HOME")?.join(below)))?;
    Some(above.join(NAME))
}
