//! Installs the agents: each into its own folder, which appears whole or not at all.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{RealAgent, folder};
use crate::missing;
use crate::process::{ChildGuard, poll_until};

/// For one package, also over a slow line.
const DEADLINE: Duration = Duration::from_secs(240);

/// How long to wait for somebody else's installation.
const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub enum InstallError {
    NoNpm,
    /// No packages for this kind of machine.
    OtherMachine,
    /// Somebody else's installation does not end.
    Busy,
    /// npm failed or took too long.
    Npm(&'static str),
    /// npm succeeded, but the program is missing.
    NoProgram(&'static str),
    /// The cache cannot be written.
    Io(io::Error),
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstallError::NoNpm => {
                write!(f, "there is no npm; install node, or do without the tests of real agents")
            }
            InstallError::OtherMachine => write!(f, "the agents are installed only on x86-64 Linux"),
            InstallError::Busy => {
                write!(f, "another installation holds the lock of the cache; try again later")
            }
            InstallError::Npm(name) => {
                write!(f, "npm did not install {name} in {} s; what it said stands above", DEADLINE.as_secs())
            }
            InstallError::NoProgram(name) => {
                write!(f, "npm installed {name}, but its program is not where it was")
            }
            InstallError::Io(error) => write!(f, "the cache of agents cannot be written: {error}"),
        }
    }
}

impl std::error::Error for InstallError {}

impl From<io::Error> for InstallError {
    fn from(error: io::Error) -> InstallError {
        InstallError::Io(error)
    }
}

/// Installs an agent below `cache` unless it is there; returns whether it did.
pub fn install(cache: &Path, agent: &dyn RealAgent) -> Result<bool, InstallError> {
    if cfg!(not(target_arch = "x86_64")) {
        return Err(InstallError::OtherMachine);
    }
    let folder = folder(cache, agent);
    if folder.join(agent.program()).is_file() {
        return Ok(false);
    }
    let npm = missing::find("npm").map_err(|_| InstallError::NoNpm)?;
    fs::create_dir_all(cache)?;
    let lock = File::create(cache.join("lock"))?;
    locked(&lock)?;
    if folder.join(agent.program()).is_file() {
        return Ok(false);
    }
    // Left over from an installation that was killed.
    let beside = cache.join(format!("{}.new", agent.name()));
    for old in [&beside, &folder] {
        match fs::remove_dir_all(old) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    fs::create_dir(&beside)?;
    let mut command = Command::new(npm);
    command
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--prefix"])
        .arg(&beside);
    command.arg(format!("{}@{}", agent.package(), agent.version()));
    // npm's output goes to stderr: a person sees its progress.
    command.current_dir(&beside).stdin(Stdio::null()).stdout(Stdio::from(io::stderr()));
    let mut program = ChildGuard::start(&mut command)?;
    if !program.wait_exit(DEADLINE).is_some_and(|status| status.success()) {
        drop(program);
        let _ = fs::remove_dir_all(&beside);
        return Err(InstallError::Npm(agent.name()));
    }
    if !beside.join(agent.program()).is_file() {
        return Err(InstallError::NoProgram(agent.name()));
    }
    fs::rename(&beside, &folder)?;
    Ok(true)
}

fn locked(lock: &File) -> Result<(), InstallError> {
    let taken = poll_until(PATIENCE, || match lock.try_lock() {
        Ok(()) => Some(Ok(())),
        Err(TryLockError::WouldBlock) => None,
        Err(TryLockError::Error(error)) => Some(Err(error)),
    });
    taken.ok_or(InstallError::Busy)?.map_err(InstallError::Io)
}
