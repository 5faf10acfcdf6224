//! Real command line agents of other projects: witnesses of the scripted model server (what satisfies them
//! is faithful), and friends for tests of relay itself ([`InstalledAgent`]).
//!
//! One file per agent; adding one is a `mod` line and a line in [`ALL`]. They are installed once, by `cargo
//! xtask agents`, into a folder outside the tree; a test that lacks one says so by name and is skipped, or
//! fails if [`REQUIRE_VAR`] says that none may be missing. They never see the user's settings: each run has
//! its own home, project and environment, and nothing it started outlives it.

mod claude;
mod codex;
mod gemini;
mod install;
mod opencode;
mod pi;
mod resident;
mod run;

use std::env;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::missing;
use crate::model::ScriptedTurn;

pub use install::{InstallError, install};
pub use resident::InstalledAgent;
pub use run::{AgentRun, AgentScratch};

pub static ALL: &[&dyn RealAgent] =
    &[&claude::Claude, &codex::Codex, &gemini::Gemini, &opencode::Opencode, &pi::Pi];

/// The folder that they are installed in; see [`cache`] for its default.
pub const AGENTS_DIR_VAR: &str = "RELAY_AGENTS";

/// If this variable is `1`, a test that lacks an agent fails instead of being skipped.
pub const REQUIRE_VAR: &str = "RELAY_REQUIRE_AGENTS";

pub trait RealAgent: Sync {
    fn name(&self) -> &'static str;

    fn package(&self) -> &'static str;

    /// The version used here.
    fn version(&self) -> &'static str;

    /// Relative to the package's folder.
    fn program(&self) -> &'static str;

    /// Another program that it needs.
    fn needs(&self) -> Option<&'static str> {
        None
    }

    /// Writes its settings into `home`, as a user would, for a model at `url`; returns the environment it
    /// needs as well. The project is not trusted, and only defaults are allowed.
    ///
    /// # Errors
    /// If a file cannot be written.
    fn write_settings(&self, home: &Path, url: &str) -> io::Result<Vec<(&'static str, String)>>;

    /// For one question: the prompt on its input, events as lines of JSON, everything allowed.
    fn arguments(&self) -> &'static [&'static str];

    /// Adds a call that runs a shell command.
    fn shell_call_turn(&self, turn: ScriptedTurn, command: &str) -> ScriptedTurn;

    /// Adds a call that writes a new file; `path` is relative to the project.
    fn write_file_turn(&self, turn: ScriptedTurn, path: &str, content: &str) -> ScriptedTurn;

    /// The turns that replace the lines `before` by `after` in an existing file. The first is `turn` with a
    /// call; there is a second if the agent insists on reading a file first.
    fn replace_turns(&self, turn: ScriptedTurn, path: &str, before: &str, after: &str) -> Vec<ScriptedTurn>;

    /// Its final answer, from the events it printed.
    fn answer(&self, events: &[Value]) -> Option<String>;

    /// What it printed of its thinking.
    fn thought(&self, events: &[Value]) -> Option<String>;

    /// What it does not do, though others do.
    fn missing_features(&self) -> &'static [MissingFeature] {
        &[]
    }
}

/// Something that not every agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingFeature {
    PrintsThoughts,
    /// It does not send the model's thinking back.
    ReturnsThoughts,
    /// It does not send back the signature of the thinking.
    ReturnsSignatures,
    /// It does not retry after a broken stream.
    AsksAgainAfterCut,
}

/// An agent that is not installed, or cannot run here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentNotInstalled {
    pub agent: &'static str,
    /// What it lacks, if it is installed itself.
    pub needs: Option<&'static str>,
}

impl fmt::Display for AgentNotInstalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.needs {
            Some(program) => write!(f, "no {program}, which {} needs", self.agent),
            None => write!(f, "no {}; `cargo xtask agents` installs it", self.agent),
        }
    }
}

impl std::error::Error for AgentNotInstalled {}

impl AgentNotInstalled {
    /// Reports that the running test is skipped, or fails it if skipping is not allowed.
    pub fn skip(&self) {
        missing::skip(&self.to_string(), REQUIRE_VAR);
    }
}

/// # Errors
/// If it is not installed, or something it needs is not.
pub fn find(agent: &dyn RealAgent) -> Result<PathBuf, AgentNotInstalled> {
    let program = folder(&cache(), agent).join(agent.program());
    if !program.is_file() {
        return Err(AgentNotInstalled { agent: agent.name(), needs: None });
    }
    match agent.needs() {
        Some(other) if missing::find(other).is_err() => {
            Err(AgentNotInstalled { agent: agent.name(), needs: Some(other) })
        }
        _ => Ok(program),
    }
}

pub fn find_by_name(name: &str) -> Option<&'static dyn RealAgent> {
    ALL.iter().copied().find(|agent| agent.name() == name)
}

/// [`AGENTS_DIR_VAR`], or `relaycode/agents` in the user's cache.
pub fn cache() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set(AGENTS_DIR_VAR).unwrap_or_else(|| {
        let caches = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
        caches.unwrap_or_else(env::temp_dir).join("relaycode").join("agents")
    })
}

/// Writes a file below a home, creating its folders.
fn put(home: &Path, path: &str, content: &str) -> io::Result<()> {
    let file = home.join(path);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, content)
}

/// A new version is a new folder: running agents of the old one are not disturbed.
fn folder(cache: &Path, agent: &dyn RealAgent) -> PathBuf {
    cache.join(format!("{}-{}", agent.name(), agent.version()))
}
