//! What claude keeps in the user's home, for relay's fence.
//!
//! Its directory is full of what it obeys later (settings with hooks, plugins, skills, commands), so that only its sign-in is
//! written for good. That is renamed into place, and where it cannot be, written in place. `.claude.json`, beside the
//! directory, names tool servers: it can be read, and claude goes on where it cannot write there.

use std::path::PathBuf;

use relaycode_project::fence::AgentPlaces;
use serde_json::Value;

use super::super::read_settings;
use crate::FriendContext;

/// Where the sign-in of a cloud is that claude's model is at, by the variable that says so.
const CLOUDS: &[(&str, &str)] = &[
    ("CLAUDE_CODE_USE_BEDROCK", ".aws"),
    ("CLAUDE_CODE_USE_MANTLE", ".aws"),
    ("CLAUDE_CODE_USE_VERTEX", ".config/gcloud"),
    ("CLAUDE_CODE_USE_FOUNDRY", ".azure"),
];

pub(super) fn agent_places(world: &FriendContext<'_>) -> AgentPlaces {
    let path = |name: &str| (world.env_var)(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = path("HOME").unwrap_or_else(|| PathBuf::from("/"));
    let (state, config) = match path("CLAUDE_CONFIG_DIR") {
        Some(directory) => (directory.clone(), directory),
        None => (home.join(".claude"), home.clone()),
    };
    let settings = read_settings(&state.join("settings.json")).unwrap_or_default();
    let settings: Value = serde_json::from_slice(&settings).unwrap_or_default();
    let is_set = |name: &str| {
        let said = (world.env_var)(name).map(|value| value.to_string_lossy().into_owned());
        let said = said.or_else(|| settings["env"][name].as_str().map(str::to_string));
        said.is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
    };
    let clouds = CLOUDS.iter().filter(|(name, _)| is_set(name)).map(|(_, below)| home.join(below));
    AgentPlaces {
        sign_in: vec![state.join(".credentials.json")],
        lent: clouds.chain([config.join(".claude.json")]).collect(),
        state: vec![state],
    }
}
