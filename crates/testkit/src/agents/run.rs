//! Running an agent: in a home and a project of its own, with a deadline, and nothing of it left afterwards.
//!
//! An agent's commands may leave its process group and its session. So everything that it starts carries the scratch
//! folder's path in its environment, by which it is found and ended.

use std::fs;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde_json::Value;
use tempfile::TempDir;

use super::{Absent, Agent, find};
use crate::model::Server;
use crate::must::must;
use crate::process::{Kept, holding};

/// No run takes longer.
const DEADLINE: Duration = Duration::from_secs(60);

/// Marks what an agent started.
const MARK: &str = "RELAY_TESTKIT_SCRATCH";

/// Most that is read of what an agent printed.
const MAX_OUTPUT: u64 = 64 * 1024 * 1024;

/// Whoever is left is looked for so often: one that is ended may have started another.
const ROUNDS: usize = 5;

/// A home and a project for one run.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ran {
    /// The exit code; `None` when it was ended by a signal, or by us at the deadline.
    pub code: Option<i32>,
    /// What it printed.
    pub output: String,
    /// What it printed to its error output.
    pub errors: String,
    /// The lines of its output that are JSON.
    pub events: Vec<Value>,
}

impl Scratch {
    /// An empty home and an empty project.
    pub fn new() -> Scratch {
        let folder = must(tempfile::Builder::new().prefix("agent-").tempdir(), "could not make a folder");
        for name in ["home", "project", "tmp"] {
            must(fs::create_dir(folder.path().join(name)), "could not make a folder");
        }
        Scratch { folder }
    }

    /// The agent's home.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The folder that it works in.
    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// A command in the project, with nothing of our own environment but the path.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.project()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()));
        command.env("HOME", self.home()).env("TMPDIR", self.folder.path().join("tmp"));
        // A proxy would see loopback otherwise.
        command.env("NO_PROXY", "*").env("no_proxy", "*").env("LANG", "C.UTF-8").env("TERM", "dumb");
        command.env(MARK, self.folder.path());
        command
    }

    /// Lets an agent answer `prompt` with the model of `server`.
    ///
    /// # Errors
    /// When it is not installed.
    pub fn run(&self, agent: &dyn Agent, server: &Server, prompt: &str) -> Result<Ran, Absent> {
        let mut command = agent.command(&find(agent)?, self, &server.url());
        let mut output = must(tempfile::tempfile(), "could not make a file");
        let mut errors = must(tempfile::tempfile(), "could not make a file");
        command.stdin(must(holding(prompt.as_bytes()), "could not hold the prompt"));
        command.stdout(must(output.try_clone(), "could not share a file"));
        command.stderr(must(errors.try_clone(), "could not share a file"));
        let mut program = must(Kept::start(&mut command), "could not start the agent");
        let status = program.ended(DEADLINE);
        drop(program);
        self.end_all();
        let (output, errors) = (read(&mut output), read(&mut errors));
        let events = output.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok(Ran { code: status.and_then(|status| status.code()), output, errors, events })
    }

    /// What an agent started here and is still running.
    pub fn left_running(&self) -> Vec<Pid> {
        let mark = format!("{MARK}={}", self.folder.path().display());
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.filter_map(Pid::from_raw).filter(|pid| carries(*pid, &mark)).collect()
    }

    fn end_all(&self) {
        let mark = format!("{MARK}={}", self.folder.path().display());
        for _ in 0..ROUNDS {
            let left = self.left_running();
            if left.is_empty() {
                return;
            }
            for pid in left {
                let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
                // Looked at again: by now the number may be somebody else's.
                if carries(pid, &mark) {
                    let _ = pidfd_send_signal(&handle, Signal::KILL);
                    crate::process::ready(&handle, rustix::event::PollFlags::IN, Duration::from_secs(3));
                }
            }
        }
    }
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch::new()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.end_all();
    }
}

fn carries(pid: Pid, mark: &str) -> bool {
    let environment = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
}

fn read(file: &mut fs::File) -> String {
    let mut bytes = Vec::new();
    let _ = file.rewind().and_then(|()| file.take(MAX_OUTPUT).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Scratch;
    use crate::process::{Kept, LONG, until};

    #[test]
    fn what_left_the_session_of_an_agent_is_ended_with_the_scratch_folder() {
        let scratch = Scratch::new();
        let mut command = scratch.command(Path::new("/bin/sh"));
        command.args(["-c", "setsid sleep 300 & exec sleep 300"]);
        let program = Kept::start(&mut command).unwrap();
        assert!(until(LONG, || (scratch.left_running().len() == 2).then_some(())).is_some());
        drop(program);
        assert_eq!(scratch.left_running().len(), 1, "the one that left is still there");
        scratch.end_all();
        assert_eq!(scratch.left_running(), []);
    }
}
