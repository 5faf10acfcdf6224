//! Real command line agents of other projects, as witnesses: what satisfies them is faithful.
//!
//! One file per agent; adding one is a `mod` line and a line in [`ALL`]. They are installed once, by
//! `cargo xtask agents`, into a folder outside the tree; a test that lacks one says so by name and is skipped, or
//! fails where [`REQUIRE`] says that none may be. They never see the user's own settings: each run has a home, a
//! project and an environment of its own, and nothing that it started outlives it.

mod claude;
mod codex;
mod install;
mod run;

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::missing;
use crate::model::Turn;

pub use install::{InstallError, install};
pub use run::{Ran, Scratch};

/// Every agent.
pub static ALL: &[&dyn Agent] = &[&claude::Claude, &codex::Codex];

/// The folder that they are installed in; [`cache`] says what it is without.
pub const FOLDER: &str = "RELAY_AGENTS";

/// With this variable at `1` a test that lacks an agent fails instead of being skipped.
pub const REQUIRE: &str = "RELAY_REQUIRE_AGENTS";

/// A command line agent of another project.
pub trait Agent: Sync {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Its package on npm.
    fn package(&self) -> &'static str;

    /// The version that is used here.
    fn version(&self) -> &'static str;

    /// Where its program is below the folder of the package manager.
    fn program(&self) -> &'static str;

    /// The command that answers what is on its input, with the model at `url`.
    fn command(&self, program: &Path, scratch: &Scratch, url: &str) -> Command;

    /// The turn with a call of the agent's own shell tool.
    fn shell(&self, turn: Turn, command: &str) -> Turn;

    /// What it says at last, from the events that it printed.
    fn answer(&self, events: &[Value]) -> Option<String>;

    /// Whether it printed that it thought.
    fn thought(&self, events: &[Value]) -> Option<String>;
}

/// An agent that is not installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Absent(pub &'static str);

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no {}; `cargo xtask agents` installs it", self.0)
    }
}

impl std::error::Error for Absent {}

impl Absent {
    /// Says that the running test is skipped, or fails it where nothing may be.
    pub fn skip(&self) {
        missing::skip(&self.to_string(), REQUIRE);
    }
}

/// Where an agent's program is.
///
/// # Errors
/// When it is not installed.
pub fn find(agent: &dyn Agent) -> Result<PathBuf, Absent> {
    let program = folder(&cache(), agent).join(agent.program());
    if program.is_file() { Ok(program) } else { Err(Absent(agent.name())) }
}

/// The folder that agents are installed in: [`FOLDER`], or `relaycode/agents` in the user's cache.
pub fn cache() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set(FOLDER).unwrap_or_else(|| {
        let caches = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
        caches.unwrap_or_else(env::temp_dir).join("relaycode").join("agents")
    })
}

/// The folder of one agent. A new version is a new folder: who runs the old one is not disturbed.
fn folder(cache: &Path, agent: &dyn Agent) -> PathBuf {
    cache.join(format!("{}-{}", agent.name(), agent.version()))
}
