//! The file in memory between whoever starts a fenced command and the stage: the order in it is replaced by the report.
//!
//! It is handed on by inheritance, as the standard streams are the command's. It holds no secret beyond the command's own
//! environment, which is not on a command line that every user can list. The stage closes it before the command
//! begins, so that no command writes a report of its own. Whatever this process starts while the file is open inherits it: it is
//! to be made where nothing else is started meanwhile, as in a keeper.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::{FENCE_ARGUMENT, FenceSpec};
use crate::sys;

/// What the stage ends with when the fence could not be built or the program not be started; the report says which.
pub const FENCE_FAILED_CODE: u8 = 125;

/// Bytes of an order or a report at most. An argument list that long is refused by every kernel.
const MAX_CHANNEL_BYTES: u64 = 32 << 20;

/// What became of the command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FenceReport {
    /// The fence stands and the command runs in it.
    Entered {
        /// What was to be read-only and could not be made so: it does not exist, or is a link. Level 1 only: level 2 cannot
        /// protect anything inside a writable directory.
        unprotected: Vec<OsString>,
        /// How the command ended, once it has. Level 1 only: at level 2 the stage has become the command.
        end: Option<FenceEnd>,
    },
    /// The command did not run.
    Failed {
        /// What was being done.
        step: String,
        /// What the system said.
        said: String,
    },
}

/// How a command in a fence ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FenceEnd {
    /// Its code, if no signal ended it.
    pub code: i32,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Processes that it left behind and that the kernel ended then.
    pub left_behind: usize,
}

/// The step of the stage in which it is the program that fails, and not the fence.
pub(crate) const START_PROGRAM: &str = "start the program";

/// The file, on either side.
#[derive(Debug)]
pub struct FenceChannel {
    file: File,
}

impl FenceChannel {
    /// Writes an order.
    ///
    /// # Errors
    /// The system's; `Unsupported` on one that has no fence.
    pub fn new(spec: &FenceSpec) -> io::Result<FenceChannel> {
        let mut channel = FenceChannel { file: sys::create_inheritable_file()? };
        channel.replace(spec)?;
        Ok(channel)
    }

    /// What starts the stage. It inherits the standard streams of whoever starts it, and no variable.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.arg(FENCE_ARGUMENT).arg(self.file.as_raw_fd().to_string()).env_clear();
        command
    }

    /// The same where this process has made the namespaces: the stage is the first process in them.
    pub(crate) fn init_command(&self, program: &Path) -> io::Result<Command> {
        let mut command = self.command(program);
        command.arg(sys::INIT_ARGUMENT).arg(sys::own_number()?);
        Ok(command)
    }

    /// What the stage has said.
    ///
    /// # Errors
    /// The system's, and what is no report: the order, if the stage was ended before it could say anything.
    pub fn report(&mut self) -> io::Result<FenceReport> {
        Ok(serde_json::from_slice(&self.bytes()?)?)
    }

    /// The stage's side, by the number it was given. The inherited descriptor itself is the caller's to close.
    pub(crate) fn open(number: &str) -> io::Result<FenceChannel> {
        let number: u32 = number.parse().map_err(|_| io::ErrorKind::InvalidInput)?;
        let path = PathBuf::from(format!("{}/{number}", sys::OPEN_FILES));
        Ok(FenceChannel { file: File::options().read(true).write(true).open(path)? })
    }

    pub(crate) fn spec(&mut self) -> io::Result<FenceSpec> {
        Ok(serde_json::from_slice(&self.bytes()?)?)
    }

    pub(crate) fn replace<T: Serialize>(&mut self, what: &T) -> io::Result<()> {
        let bytes = serde_json::to_vec(what)?;
        if bytes.len() as u64 > MAX_CHANNEL_BYTES {
            return Err(io::ErrorKind::ArgumentListTooLong.into());
        }
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(&bytes)
    }

    fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.rewind()?;
        Read::by_ref(&mut self.file).take(MAX_CHANNEL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
