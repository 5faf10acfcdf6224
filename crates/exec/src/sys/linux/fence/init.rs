//! The first process of the new namespaces. It arranges them, gives up what it has, starts the command and waits for it.
//!
//! It is under the same fence as the command by then, so nothing is gained by taking it over. When it ends, the kernel ends
//! everything in the namespace; it ends with the command, and when the process outside does.

use std::fs::File;
use std::io::{ErrorKind, PipeWriter, Seek, SeekFrom};
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Pid, Signal, WaitOptions, WaitStatus};

use super::{
    OPEN_FILES, START_PROGRAM, Step, StepError, close_inherited, command, give_up, loopback, mounts,
    namespaces,
};
use crate::fence::{FenceChannel, FenceEnd, FenceReport, FenceSpec};

/// How long those that a command leaves behind may take to end by themselves, as outside of a fence.
const WIND_DOWN: Duration = Duration::from_millis(100);

/// Between two looks at them.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// `outside`: the number of the process outside, in the machine's `/proc`.
pub(super) fn run(
    spec: &FenceSpec,
    channel: &mut FenceChannel,
    outside: &str,
) -> Result<ExitCode, StepError> {
    die_with_parent()?;
    check_parent(outside)?;
    close_inherited(None)?;
    namespaces::leave_mounts()?;
    if !spec.fence.network {
        loopback::bring_up().step("bring up the loopback device")?;
    }
    let unprotected = mounts::arrange(&spec.fence)?;
    // By its name: the directory that this process stood in is the one beneath the new mounts.
    std::env::set_current_dir(&spec.directory).step("enter the directory")?;
    let input = input_of_command()?;
    give_up(&spec.fence)?;
    die_with_parent()?;
    // The command is this user, and could read and trace this process otherwise.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).step("become unreadable")?;
    channel.replace(&FenceReport::Entered { unprotected: unprotected.clone(), end: None }).step("report")?;
    if spec.words.is_empty() {
        let end = Some(FenceEnd { code: 0, signal: None, left_behind: 0 });
        channel.replace(&FenceReport::Entered { unprotected, end }).step("report")?;
        return Ok(ExitCode::SUCCESS);
    }
    let (input, feed) = input.into_stdio().step("make a pipe for standard input")?;
    let child = command(spec).stdin(input).spawn().step(START_PROGRAM)?;
    if let Some((mut from, mut to)) = feed {
        // On a thread, which ends with this process. A command that reads no more is no failure.
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
    }
    let status = reap_until(Pid::from_child(&child)).step("wait for the command")?;
    let end = FenceEnd {
        code: status.exit_status().unwrap_or(0),
        signal: status.terminating_signal(),
        left_behind: count_left_behind(),
    };
    channel.replace(&FenceReport::Entered { unprotected, end: Some(end) }).step("report")?;
    Ok(ExitCode::SUCCESS)
}

/// What the command reads. A file was opened outside, where its mount is not read-only: with that the command could change
/// its mode and times.
enum CommandInput {
    Inherited,
    /// The same file opened again, by name, in here.
    Reopened(File),
    /// A file that has no name in here, as what it lay in is another's now, or that is deleted. What is in it comes by a pipe.
    Fed(File),
}

impl CommandInput {
    fn into_stdio(self) -> std::io::Result<(Stdio, Option<(File, PipeWriter)>)> {
        Ok(match self {
            CommandInput::Inherited => (Stdio::inherit(), None),
            CommandInput::Reopened(file) => (file.into(), None),
            CommandInput::Fed(file) => {
                let (reader, writer) = std::io::pipe()?;
                (reader.into(), Some((file, writer)))
            }
        })
    }
}

fn input_of_command() -> Result<CommandInput, StepError> {
    let step = "look at the standard streams";
    for stream in [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()] {
        // From a directory outside, everything in it could be reached.
        if FileType::from_raw_mode(rustix::fs::fstat(stream).step(step)?.st_mode) == FileType::Directory {
            return Err("one of them is a directory").step(step);
        }
    }
    let outer = rustix::stdio::stdin();
    let found = rustix::fs::fstat(outer).step(step)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Ok(CommandInput::Inherited);
    }
    let reopened = || {
        let mut inner = File::open(std::fs::read_link(format!("{OPEN_FILES}/0"))?)?;
        let same = rustix::fs::fstat(&inner)?;
        if (same.st_dev, same.st_ino) != (found.st_dev, found.st_ino) {
            return Err(ErrorKind::NotFound.into());
        }
        inner.seek(SeekFrom::Start(rustix::fs::tell(outer)?))?;
        Ok::<File, std::io::Error>(inner)
    };
    match reopened() {
        Ok(inner) => Ok(CommandInput::Reopened(inner)),
        Err(_) => Ok(CommandInput::Fed(outer.try_clone_to_owned().step(step)?.into())),
    }
}

/// A change of capabilities may undo it, so it is said twice.
fn die_with_parent() -> Result<(), StepError> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).step("end with the process outside")
}

/// Whether it is still there: if it ended before this process asked to end with it, nobody would ever end this one. The number of
/// a parent outside is nobody's in here, but the mounts are still the machine's.
fn check_parent(outside: &str) -> Result<(), StepError> {
    let step = "look for the process outside";
    let status = std::fs::read_to_string("/proc/self/status").step(step)?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).map(str::trim);
    if parent == Some(outside) { Ok(()) } else { Err("it has ended").step(step) }
}

/// Waits for whoever ends, as orphans of the command come here, until the command does.
fn reap_until(command: Pid) -> Result<WaitStatus, Errno> {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == command => return Ok(status),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

/// How many processes still live when those that are about to end have had the time for it. They end with this one.
fn count_left_behind() -> usize {
    let until = Instant::now() + WIND_DOWN;
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            // Orphans come here, so without a child there is nobody else.
            Err(_) => return 0,
            Ok(None) if Instant::now() >= until => break,
            Ok(None) => std::thread::sleep(LOOK_AGAIN),
        }
    }
    let numbers = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers =
        numbers.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok()));
    numbers.count().saturating_sub(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_process_whose_parent_has_ended_does_not_begin() {
        let parent = Pid::as_raw(rustix::process::getppid()).to_string();
        assert!(check_parent(&parent).is_ok());
        for gone in ["", "0", "1x", &rustix::process::getpid().as_raw_nonzero().to_string()] {
            assert!(check_parent(gone).is_err(), "{gone}");
        }
    }
}
