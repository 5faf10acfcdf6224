//! An agent that lives in a scratch home: found on the path by its own name, with settings and environment
//! that name its model. The caller needs to know neither, so that relay can use it as a friend.
//!
//! ```no_run
//! use relaycode_testkit::agents::{self, AgentNotInstalled, AgentScratch};
//! use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};
//!
//! for agent in agents::ALL {
//!     let tries = agent.write_file_turn(ScriptedTurn::text("I write it."), "new.txt", "hello\n");
//!     let server = ScriptedServer::start(Script::new([tries, ScriptedTurn::text("It is written.")]));
//!     let scratch = AgentScratch::new();
//!     let installed = scratch.install_agent(*agent, &server.url());
//!     let Ok(resident) = installed.inspect_err(AgentNotInstalled::skip) else { continue };
//!     let mut relay = resident.command("target/debug/relay");
//!     let ran = scratch.run_command(relay.args(["ask", "--to", agent.name()]), "Write it, please.");
//!     assert!(!scratch.project().join("new.txt").exists(), "{ran:#?}");
//! }
//! ```

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{AgentNotInstalled, AgentScratch, RealAgent, find};
use crate::expect::expect_ok;

#[derive(Debug)]
pub struct InstalledAgent {
    program: PathBuf,
    project: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl InstalledAgent {
    pub(super) fn settle(
        scratch: &AgentScratch,
        agent: &dyn RealAgent,
        url: &str,
    ) -> Result<InstalledAgent, AgentNotInstalled> {
        let installed = find(agent)?;
        let program = scratch.programs().join(agent.name());
        if !program.exists() {
            expect_ok(symlink(installed, &program), "could not link the agent");
        }
        let more =
            expect_ok(agent.write_settings(&scratch.home(), url), "could not write the agent's settings");
        let mut environment = scratch.environment();
        environment.extend(more.into_iter().map(|(name, value)| (name.into(), value.into())));
        Ok(InstalledAgent { program, project: scratch.project(), environment })
    }

    /// Under the name by which it is found.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// What it needs to be found and to find its model: a home, a path that begins with its folder, and the
    /// agent's own variables. For a command with an otherwise empty environment; that of another resident
    /// may be added.
    pub fn environment(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.environment.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// A program in the project, with only this environment.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.project).env_clear().envs(self.environment());
        command
    }
}
