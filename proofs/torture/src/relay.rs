//! The binary under test, run in a case's directory with its own environment, plainly or under strace.
//!
//! A *room* is a directory with `project/`, `home/` and `answer.md`. A run that does not end is a failure,
//! never a hanging harness.

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use relaycode_testkit::checkout;

/// A longer run counts as hanging.
const PATIENCE: Duration = Duration::from_secs(90);

#[derive(Debug)]
pub(super) struct Ran {
    /// `None` if a signal ended it.
    pub(super) code: Option<i32>,
    /// The signal that ended it.
    pub(super) signal: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
}

impl Ran {
    /// The run in one line, for messages.
    pub(super) fn told(&self) -> String {
        let end = match (self.code, self.signal) {
            (Some(code), _) => format!("exit {code}"),
            (_, Some(signal)) => format!("signal {signal}"),
            _ => "no exit code".to_owned(),
        };
        let said = format!("{} {}", self.err.trim(), self.out.trim());
        format!("{end}: {}", said.chars().take(600).collect::<String>())
    }

    pub(super) fn killed(&self) -> bool {
        self.signal == Some(9)
    }
}

/// What to run in a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Do {
    /// Apply the room's answer.
    Apply,
    /// Take back the newest change that is in.
    Undo,
    /// Bring back what the newest undo took out.
    Redo,
    /// Finish or put back what a dead run left.
    Recover,
}

impl Do {
    /// For the room.
    pub(super) fn args(&self, room: &Path) -> Vec<String> {
        let project = room.join("project").display().to_string();
        let answer = room.join("answer.md").display().to_string();
        let words: Vec<&str> = match self {
            Do::Apply => {
                vec!["apply", &answer, "-y", "--allow", "fragment,placeholder", "-C", &project, "--json"]
            }
            // Scenarios are played in copies of a project, whose changes another checkout made.
            Do::Undo => vec!["undo", "-y", "--allow", "foreign-change", "-C", &project, "--json"],
            Do::Redo => vec!["redo", "-y", "--allow", "foreign-change", "-C", &project, "--json"],
            Do::Recover => vec!["recover", "-C", &project, "--json"],
        };
        words.into_iter().map(str::to_owned).collect()
    }
}

/// Gives a command the room's own environment.
pub(super) fn in_room(command: &mut Command, room: &Path) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    command
        .current_dir(room)
        .env_clear()
        .env("PATH", path)
        .env("LANG", "C.UTF-8")
        .env("HOME", room.join("home"))
        .env("RELAY_HOME", room.join("home/.relaycode"))
        // The build directory lies in a project itself.
        .env("RELAY_CEILING_DIRECTORIES", checkout::root())
        // Not in the terminal's foreground: nobody is asked.
        .process_group(0)
        .stdin(Stdio::null());
}

/// The binary, to be run in a room.
pub(super) fn command(relay: &Path, room: &Path, what: &Do) -> Command {
    let mut command = Command::new(relay);
    command.args(what.args(room));
    in_room(&mut command, room);
    command
}

/// Runs the binary in a room to its end.
pub(super) fn run(relay: &Path, room: &Path, what: &Do) -> anyhow::Result<Ran> {
    finish(command(relay, room, what), room)
}

/// With its output in files of the room.
pub(super) fn start(command: &mut Command, room: &Path) -> anyhow::Result<std::process::Child> {
    let file = |name: &str| fs::File::create(room.join(name)).context("cannot make a file for output");
    command.stdout(file("stdout")?).stderr(file("stderr")?);
    command.spawn().with_context(|| format!("cannot start {}", command.get_program().display()))
}

/// Runs a command of a room to its end.
pub(super) fn finish(mut command: Command, room: &Path) -> anyhow::Result<Ran> {
    let mut child = start(&mut command, room)?;
    let began = Instant::now();
    let mut pause = Duration::from_micros(200);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if began.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            bail!("it did not end within {} s", PATIENCE.as_secs());
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(2));
    };
    Ok(ended(room, status))
}

/// The result of a run that ended with this status.
pub(super) fn ended(room: &Path, status: ExitStatus) -> Ran {
    let read = |name: &str| {
        fs::read(room.join(name))
            .map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    Ran { code: status.code(), signal: status.signal(), out: read("stdout"), err: read("stderr") }
}

/// Creates the parts of a room in an empty directory.
pub(super) fn furnish(room: &Path) -> anyhow::Result<PathBuf> {
    let project = room.join("project");
    fs::create_dir(&project)?;
    fs::create_dir(room.join("home"))?;
    Ok(project)
}
