//! Runs an agent: in its own home and project, with a deadline, and without leftovers.
//!
//! An agent's commands may leave its process group and its session. So everything it starts carries the
//! scratch folder's path in its environment, by which it is found and ended.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Seek};
use std::iter;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rustix::process::Pid;
use serde_json::Value;
use tempfile::TempDir;

use super::{AgentNotInstalled, InstalledAgent, RealAgent};
use crate::expect::expect_ok;
use crate::model::ScriptedServer;
use crate::process::{ChildGuard, temp_file_with};
use crate::process_table::{ProcessStart, find_processes, kill_matching};

/// For one run.
const DEADLINE: Duration = Duration::from_secs(120);

/// Marks what an agent started.
const MARK: &str = "RELAY_TESTKIT_SCRATCH";

/// Most bytes read of an agent's output.
const MAX_OUTPUT: u64 = 64 * 1024 * 1024;

/// How often leftovers are searched for: one that is ended may have started another.
const ROUNDS: usize = 5;

/// A home and a project for one run.
#[derive(Debug)]
pub struct AgentScratch {
    folder: TempDir,
}

#[derive(Debug)]
pub struct AgentRun {
    /// `None` if it was ended by a signal, or by us at the deadline.
    pub code: Option<i32>,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub errors: String,
    /// The lines of its output that are JSON.
    pub events: Vec<Value>,
}

impl AgentScratch {
    /// An empty home and an empty project.
    pub fn new() -> AgentScratch {
        let folder =
            expect_ok(tempfile::Builder::new().prefix("agent-").tempdir(), "could not make a folder");
        for name in ["bin", "home", "project", "tmp"] {
            expect_ok(fs::create_dir(folder.path().join(name)), "could not make a folder");
        }
        AgentScratch { folder }
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Agents are found here by name, before the user's.
    pub(super) fn programs(&self) -> PathBuf {
        self.folder.path().join("bin")
    }

    /// What every program here runs with: a home, a path, and the mark by which
    /// [`AgentScratch::left_running`] finds it.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let path = env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        let path = env::join_paths(iter::once(self.programs()).chain(env::split_paths(&path)));
        let home = self.home();
        // A proxy would see loopback otherwise.
        let words = [("NO_PROXY", "*"), ("no_proxy", "*"), ("LANG", "C.UTF-8"), ("TERM", "dumb")];
        let words = words.map(|(name, value)| (name.into(), value.into()));
        let folders = [
            ("HOME", home.clone()),
            ("TMPDIR", self.folder.path().join("tmp")),
            ("XDG_CONFIG_HOME", home.join(".config")),
            ("XDG_DATA_HOME", home.join(".local/share")),
            ("XDG_STATE_HOME", home.join(".local/state")),
            ("XDG_CACHE_HOME", home.join(".cache")),
            (MARK, self.folder.path().to_owned()),
        ];
        let folders = folders.map(|(name, value)| (name.into(), value.into()));
        let path = ("PATH".into(), expect_ok(path, "could not join the path"));
        iter::once(path).chain(words).chain(folders).collect()
    }

    /// Makes an agent available by name to whoever runs with its environment, with the model at `url`.
    /// Several may live in one home.
    ///
    /// # Errors
    /// If it is not installed.
    pub fn install_agent(
        &self,
        agent: &dyn RealAgent,
        url: &str,
    ) -> Result<InstalledAgent, AgentNotInstalled> {
        InstalledAgent::settle(self, agent, url)
    }

    /// Lets an agent answer `prompt` with the model of `server`.
    ///
    /// # Errors
    /// If it is not installed.
    pub fn run(
        &self,
        agent: &dyn RealAgent,
        server: &ScriptedServer,
        prompt: &str,
    ) -> Result<AgentRun, AgentNotInstalled> {
        let resident = self.install_agent(agent, &server.url())?;
        let mut command = resident.command(resident.program());
        command.args(agent.arguments());
        Ok(self.run_command(&mut command, prompt))
    }

    /// Runs a command with `input` to its end or to the deadline; nothing of it is left afterwards.
    pub fn run_command(&self, command: &mut Command, input: &str) -> AgentRun {
        let mut output = expect_ok(tempfile::tempfile(), "could not make a file");
        let mut errors = expect_ok(tempfile::tempfile(), "could not make a file");
        command.stdin(expect_ok(temp_file_with(input.as_bytes()), "could not hold the input"));
        command.stdout(expect_ok(output.try_clone(), "could not share a file"));
        command.stderr(expect_ok(errors.try_clone(), "could not share a file"));
        let mut program = expect_ok(ChildGuard::start(command), "could not start the program");
        let status = program.wait_exit(DEADLINE);
        drop(program);
        self.end_all();
        let (output, errors) = (read(&mut output), read(&mut errors));
        let events = output.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        AgentRun { code: status.and_then(|status| status.code()), output, errors, events }
    }

    /// What was started here and still runs. An agent's command may lose the mark, but not the home.
    pub fn left_running(&self) -> Vec<Pid> {
        find_processes(self.ours())
    }

    /// Kills everything that runs here now.
    pub fn kill(&self) {
        kill_matching(self.ours());
    }

    fn ours(&self) -> impl Fn(&ProcessStart) -> bool {
        let mark = format!("{MARK}={}", self.folder.path().display());
        let home = format!("HOME={}", self.home().display());
        move |given| given.has_env(&mark) || given.has_env(&home)
    }

    fn end_all(&self) {
        for _ in 0..ROUNDS {
            if self.left_running().is_empty() {
                return;
            }
            self.kill();
        }
    }
}

impl Default for AgentScratch {
    fn default() -> AgentScratch {
        AgentScratch::new()
    }
}

impl Drop for AgentScratch {
    fn drop(&mut self) {
        self.end_all();
    }
}

fn read(file: &mut fs::File) -> String {
    let mut bytes = Vec::new();
    let _ = file.rewind().and_then(|()| file.take(MAX_OUTPUT).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{AgentScratch, find_processes};
    use crate::process::{ChildGuard, GENEROUS_TIMEOUT, poll_until};

    #[test]
    fn what_left_the_session_of_an_agent_is_ended_with_the_scratch_folder() {
        let scratch = AgentScratch::new();
        let mut command = Command::new("/bin/sh");
        command.envs(scratch.environment()).args(["-c", "setsid sleep 300 & exec sleep 300"]);
        let program = ChildGuard::start(&mut command).unwrap();
        // Two are sleeping, and neither is the shell that is still to start one.
        let both = || {
            find_processes(|given| (scratch.ours())(given) && given.arguments == b"sleep\x00300\0").len() == 2
        };
        assert!(poll_until(GENEROUS_TIMEOUT, || both().then_some(())).is_some());
        drop(program);
        assert_eq!(scratch.left_running().len(), 1, "the one that left is still there");
        scratch.end_all();
        assert_eq!(scratch.left_running(), []);
    }
}
