//! Linux: the stage that enters the fence and becomes the command.
//!
//! Level 1 takes two processes: the first leaves for new namespaces, whose first process has to be made by it; the second
//! is that first process. It arranges mounts and network, gives up everything, and starts the command, which inherits
//! what it gave up. Neither forks: a copy of a process that goes on without exec needs `unsafe`, the same binary
//! started again does not. A keeper is the first itself ([`leave_for_fence`]): each start of the binary costs a millisecond.
//! Level 2 is one process, which gives up and becomes the command.
//!
//! | module | what it is for |
//! |---|---|
//! | `namespaces` | leaving for new ones, and keeping the rights to arrange them |
//! | `init` | the first process in them: arranges, starts, reaps |
//! | `mounts`, `devices` | what of the file system is there, and what of it can be written |
//! | `loopback` | a network of its own that reaches itself |
//! | `privileges` | giving up capabilities |
//! | `landlock` | rules on paths, signals and sockets |
//! | `syscalls` | the filter of system calls |

mod devices;
mod init;
mod landlock;
mod loopback;
mod mounts;
mod namespaces;
mod privileges;
mod syscalls;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use rustix::fs::MemfdFlags;

use crate::fence::{
    FENCE_FAILED_CODE, FenceChannel, FenceLevel, FenceReport, FenceSpec, JobFence, START_PROGRAM,
};

/// Where a process finds what it has open, by number.
pub(crate) const OPEN_FILES: &str = "/proc/self/fd";

/// The second argument of the first process in the new namespaces. Behind it comes the number of the process outside.
pub(crate) const INIT_ARGUMENT: &str = "init";

/// The number of this process in the `/proc` that is mounted, which in a container may be another's.
pub(crate) fn own_number() -> io::Result<OsString> {
    Ok(std::fs::read_link("/proc/self")?.into())
}

/// A step that failed.
#[derive(Debug)]
struct StepError {
    step: String,
    said: String,
}

/// Says which step a failure belongs to.
trait Step<T> {
    fn step(self, step: impl Into<String>) -> Result<T, StepError>;
}

impl<T, E: std::fmt::Display> Step<T> for Result<T, E> {
    fn step(self, step: impl Into<String>) -> Result<T, StepError> {
        self.map_err(|error| StepError { step: step.into(), said: error.to_string() })
    }
}

pub(crate) fn create_inheritable_file() -> io::Result<File> {
    // Not closed on exec: that is what it is for.
    Ok(File::from(rustix::fs::memfd_create("relay-fence", MemfdFlags::empty())?))
}

/// Makes namespaces for the next process that this one starts, which is to be what the channel's command says.
pub(crate) fn leave_for_fence(fence: &JobFence) -> Result<(), FenceReport> {
    namespaces::leave(fence).map_err(|StepError { step, said }| FenceReport::Failed { step, said })
}

pub(crate) fn run_fence(arguments: &[OsString]) -> ExitCode {
    let failed = ExitCode::from(FENCE_FAILED_CODE);
    let Some(number) = arguments.first().and_then(|number| number.to_str()) else { return failed };
    let Ok(mut channel) = FenceChannel::open(number) else { return failed };
    let in_namespaces = arguments.get(1).is_some_and(|stage| stage == INIT_ARGUMENT);
    let outside = arguments.get(2).and_then(|number| number.to_str()).unwrap_or_default();
    let ran = channel.spec().step("read the order").and_then(|spec| match spec.fence.level {
        FenceLevel::Namespaces if in_namespaces => init::run(&spec, &mut channel, outside),
        FenceLevel::Namespaces => namespaces::run(number, &mut channel),
        FenceLevel::Rules | FenceLevel::Open => become_command(&spec, number, &mut channel),
    });
    ran.unwrap_or_else(|StepError { step, said }| {
        // Without the report the code alone says that it failed.
        let _ = channel.replace(&FenceReport::Failed { step, said });
        failed
    })
}

/// Levels 2 and 3: gives up and becomes the command.
fn become_command(spec: &FenceSpec, number: &str, channel: &mut FenceChannel) -> Result<ExitCode, StepError> {
    std::env::set_current_dir(&spec.directory).step("enter the directory")?;
    if spec.fence.level == FenceLevel::Rules {
        if !spec.fence.sockets.is_empty() {
            return Err("a fence of level 2 cannot close the others").step("open one socket");
        }
        close_inherited(None)?;
        give_up(&spec.fence)?;
    } else {
        // The channel is no command's; what else was inherited is, without a fence.
        number.parse().map_or(Ok(()), nix::unistd::close::<i32>).step("close the channel")?;
    }
    // What cannot be protected here at all is in the documents, not in the report.
    channel.replace(&FenceReport::Entered { unprotected: Vec::new(), end: None }).step("report")?;
    if spec.words.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    Err(command(spec).exec()).step(START_PROGRAM)
}

/// Everything that the command must not have. The order matters: each step may need what a later one takes away.
fn give_up(fence: &JobFence) -> Result<(), StepError> {
    privileges::drop_all(fence.level)?;
    rustix::thread::set_no_new_privs(true).step("give up new privileges")?;
    landlock::restrict(fence)?;
    syscalls::restrict(fence)
}

fn command(spec: &FenceSpec) -> Command {
    let mut words = spec.words.iter();
    let mut command = Command::new(words.next().map_or_else(OsString::new, Clone::clone));
    command.args(words).env_clear().envs(spec.environment.iter().map(|(name, value)| (name, value)));
    if spec.fence.level == FenceLevel::Rules {
        // `/tmp` is everybody's at this level, and not writable.
        command.env("TMPDIR", &spec.fence.temp);
    }
    command
}

/// Closes what this process inherited beyond the standard streams, except for one: an open directory or socket of
/// another's would be a way out. What this process opened itself is closed when the command begins.
fn close_inherited(except: Option<i32>) -> Result<(), StepError> {
    let mut inherited = Vec::new();
    for entry in std::fs::read_dir(OPEN_FILES).step("look what is open")? {
        let name = entry.step("look what is open")?.file_name();
        let number = name.to_str().and_then(|name| name.parse::<i32>().ok());
        inherited.extend(number.filter(|number| *number > 2 && Some(*number) != except));
    }
    for number in inherited {
        let path = format!("/proc/self/fdinfo/{number}");
        // Gone already: the list itself.
        let Ok(information) = std::fs::read_to_string(path) else { continue };
        if !is_closed_on_exec(&information) {
            nix::unistd::close(number).step("close what was inherited")?;
        }
    }
    Ok(())
}

/// What `/proc` says of an open file: its flags, in octal.
fn is_closed_on_exec(information: &str) -> bool {
    let flags = information.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & libc::O_CLOEXEC as u32 != 0)
}
