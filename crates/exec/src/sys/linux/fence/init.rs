//! The first process of the new namespaces. It arranges them, gives up what it has, starts the command and waits for it.
//!
//! It is under the same fence as the command by then, so nothing is gained by taking it over. When it ends, the kernel ends
//! everything in the namespace; it ends with the command, and when the process outside does.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::process::{ExitCode, Stdio};

use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Pid, Signal, WaitOptions, WaitStatus};

use super::{OPEN_FILES, Step, StepError, close_inherited, command, give_up, loopback, mounts};
use crate::fence::{FenceChannel, FenceReport, FenceSpec};

pub(super) fn run(spec: &FenceSpec, channel: &mut FenceChannel) -> Result<ExitCode, StepError> {
    die_with_parent()?;
    close_inherited(None)?;
    if !spec.network {
        loopback::bring_up().step("bring up the loopback device")?;
    }
    let unprotected = mounts::arrange(spec)?;
    // By its name: the directory that this process stood in is the one beneath the new mounts.
    std::env::set_current_dir(&spec.directory).step("enter the directory")?;
    let input = input_of_command()?;
    give_up(spec)?;
    die_with_parent()?;
    // The command is this user, and could read and trace this process otherwise.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).step("become unreadable")?;
    channel.replace(&FenceReport::Entered { unprotected }).step("report")?;
    if spec.words.is_empty() {
        channel.replace(&FenceReport::Exited(0)).step("report")?;
        return Ok(ExitCode::SUCCESS);
    }
    let child = command(spec).stdin(input).spawn().step("start the program")?;
    let status = reap_until(Pid::from_child(&child)).step("wait for the command")?;
    let report = match status.terminating_signal() {
        Some(signal) => FenceReport::Signalled(signal),
        None => FenceReport::Exited(status.exit_status().unwrap_or(0)),
    };
    channel.replace(&report).step("report")?;
    Ok(ExitCode::SUCCESS)
}

/// What the command reads. A file was opened outside, where its mount is not read-only: with that the command could change
/// its mode and times, so it gets the same file opened again, by name, in here.
fn input_of_command() -> Result<Stdio, StepError> {
    let step = "open standard input again";
    for stream in [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()] {
        // From a directory outside, everything in it could be reached.
        if FileType::from_raw_mode(rustix::fs::fstat(stream).step(step)?.st_mode) == FileType::Directory {
            return Err("a standard stream is a directory").step(step);
        }
    }
    let outer = rustix::stdio::stdin();
    let found = rustix::fs::fstat(outer).step(step)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Ok(Stdio::inherit());
    }
    let mut inner = File::open(std::fs::read_link(format!("{OPEN_FILES}/0")).step(step)?).step(step)?;
    let same = rustix::fs::fstat(&inner).step(step)?;
    if (same.st_dev, same.st_ino) != (found.st_dev, found.st_ino) {
        return Err("another file has its name in the fence").step(step);
    }
    let position = rustix::fs::tell(outer).step(step)?;
    inner.seek(SeekFrom::Start(position)).step(step)?;
    Ok(inner.into())
}

/// A change of capabilities may undo it, so it is said twice.
fn die_with_parent() -> Result<(), StepError> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).step("end with the process outside")
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
