//! The keeper: a process between relay and a job, which sees to it that nothing of the job stays.
//!
//! It is relay's own binary, started with [`crate::KEEPER_ARGUMENT`]. Its standard input is a socket: an order comes in, reports
//! go out. The socket's end, for whatever reason, means: end everything. It prints nothing, reads nothing
//! else, and holds none of the job's streams open. It is out of reach of whoever kills relay's process
//! group, unless the job needs the user's terminal.

mod process_tree;
mod signals;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::io::retry_on_intr;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recv, recvmsg};
use rustix::process::{Pid, Signal, ioctl_tiocsctty, kill_process, setsid};

use crate::fence::{START_PROGRAM, is_scrubbed};
use crate::job::MOST_GRACE;
use crate::keeper::protocol::{
    JobTerminal, KEEP_OPEN_FDS, KeeperExitReason, KeeperMessageDecoder, KeeperReport, KeeperRequest,
    STDIO_FDS, StartErrorKind, encode_message,
};
use crate::{FenceChannel, FenceEnd, FenceLevel, FenceReport, FenceSpec, JobFence, sys};
use process_tree::{KillSummary, ProcessTree};
use signals::KeeperSignals;

/// Is a keeper until its job is over. To be called before anything else, when the first argument is
/// [`crate::KEEPER_ARGUMENT`].
pub fn run_keeper() -> ExitCode {
    // There is nobody to tell: standard error is not the keeper's.
    serve().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

fn serve() -> io::Result<()> {
    let signals = KeeperSignals::catch()?;
    let socket = UnixStream::from(rustix::stdio::stdin().try_clone_to_owned()?);
    // What is held is let go of when this process ends, and not before.
    let (order, streams, _held) = receive_request(socket.as_fd())?;
    sys::adopt_orphans()?;
    let grace = Duration::from_millis(order.grace).min(MOST_GRACE);
    let deadline = order.total.and_then(|total| Instant::now().checked_add(Duration::from_millis(total)));
    let (child, mut fence) = match start(&order, streams, &socket) {
        Ok(started) => started,
        Err(failed) => return send_report(&socket, &failed),
    };
    let pid = Pid::as_raw(Some(child));
    let mut family = ProcessTree::new(child, signals, order.place == JobTerminal::Users);
    let started = KeeperReport::Started { pid, since: sys::process_start_time(pid).unwrap_or(0) };
    // If relay is gone this fails, and the socket's end says the same below.
    let _ = send_report(&socket, &started);

    let how = wait_for_exit(&mut family, socket.as_fd(), deadline);
    let by_itself = matches!(how, KeeperExitReason::Exited(_) | KeeperExitReason::Signalled(_));
    if by_itself {
        family.wind_down();
    }
    let KillSummary { ended, escaped } = family.terminate_all(grace);
    let left_behind = if by_itself { ended } else { 0 };
    let end = KeeperReport::Ended { how, left_behind, escaped, unprotected: Vec::new() };
    send_report(&socket, &with_fence(end, fence.as_mut()))
}

/// What the keeper has to say of a job's end, with what the stage that built its fence said.
fn with_fence(end: KeeperReport, fence: Option<&mut FenceChannel>) -> KeeperReport {
    let KeeperReport::Ended { how, left_behind, escaped, unprotected: _ } = end else { return end };
    let Some(channel) = fence else {
        return KeeperReport::Ended { how, left_behind, escaped, unprotected: Vec::new() };
    };
    match channel.report() {
        Ok(FenceReport::Entered { unprotected, end }) => {
            let left_behind = left_behind + end.map_or(0, |end| end.left_behind);
            KeeperReport::Ended { how: command_exit(how, end), left_behind, escaped, unprotected }
        }
        Ok(FenceReport::Failed { step, said }) if step == START_PROGRAM => {
            KeeperReport::Failed { part: StartErrorKind::Program, errno: None, said }
        }
        Ok(FenceReport::Failed { step, said }) => KeeperReport::FenceFailed { step, said },
        // It ended before it could say anything, by itself: not because it was asked to.
        Err(error) if matches!(how, KeeperExitReason::Exited(_)) => {
            KeeperReport::FenceFailed { step: "start".to_owned(), said: error.to_string() }
        }
        Err(_) => KeeperReport::Ended { how, left_behind, escaped, unprotected: Vec::new() },
    }
}

/// How a command ended in whose place this process saw the first of its namespaces end, which says how, but cannot end so itself.
fn command_exit(how: KeeperExitReason, end: Option<FenceEnd>) -> KeeperExitReason {
    match (how, end) {
        (KeeperExitReason::Exited(_), Some(FenceEnd { signal: Some(signal), .. })) => {
            KeeperExitReason::Signalled(signal)
        }
        (KeeperExitReason::Exited(_), Some(FenceEnd { code, .. })) => KeeperExitReason::Exited(code),
        (how, _) => how,
    }
}

/// The order, the job's standard streams, and what is to be held open.
fn receive_request(from: BorrowedFd<'_>) -> io::Result<(KeeperRequest, [OwnedFd; STDIO_FDS], Vec<OwnedFd>)> {
    let mut messages = KeeperMessageDecoder::default();
    let mut streams: Vec<OwnedFd> = Vec::new();
    let mut bytes = vec![0; 64 << 10];
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STDIO_FDS + KEEP_OPEN_FDS))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let length = retry_on_intr(|| {
            let mut into = [IoSliceMut::new(&mut bytes)];
            recvmsg(from, &mut into, &mut beside, sys::RECEIVE_FLAGS)
        })?
        .bytes;
        for message in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                streams.extend(descriptors);
            }
        }
        streams.iter().try_for_each(sys::close_on_exec)?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        messages.push(&bytes[..length]);
        if let Some(order) = messages.next_message()? {
            let held = streams.split_off(STDIO_FDS.min(streams.len()));
            let streams = streams.try_into().map_err(|_| io::ErrorKind::InvalidData)?;
            return Ok((order, streams, held));
        }
    }
}

/// Starts the program. The streams are its own from then on: this process lets go of them.
fn start(
    order: &KeeperRequest,
    streams: [OwnedFd; STDIO_FDS],
    socket: &UnixStream,
) -> Result<(Pid, Option<FenceChannel>), KeeperReport> {
    let [input, output, errors] = streams;
    match order.place {
        JobTerminal::Apart => {
            // Refused only to one who leads a group already, and is out of relay's with that.
            let _ = setsid();
        }
        JobTerminal::Own => {
            let taken = setsid().and_then(|_| ioctl_tiocsctty(&input));
            taken.map_err(|error| start_failure(StartErrorKind::Terminal, &error.into()))?;
        }
        JobTerminal::Users => {}
    }
    // Entered by this process itself, so that a directory's failure is not taken for the program's.
    let directory = OsString::from_vec(order.directory.clone());
    std::env::set_current_dir(&directory)
        .map_err(|error| start_failure(StartErrorKind::Directory, &error))?;

    let mut command = command(order)?;
    let fence = match &order.fence {
        Some(fence) => {
            let (stage, channel) = enter_fence(&command, fence)?;
            command = stage;
            Some(channel)
        }
        None => None,
    };
    command.stdin(Stdio::from(input)).stdout(Stdio::from(output)).stderr(Stdio::from(errors));
    if order.place == JobTerminal::Apart {
        command.process_group(0);
    }
    // Before the program can end this process. If relay is gone, the socket's end says so later.
    let _ = send_report(socket, &KeeperReport::Starting);
    let child = command.spawn().map_err(|error| {
        let is_missing = is_missing(&command, &error);
        start_failure(if is_missing { StartErrorKind::Missing } else { StartErrorKind::Program }, &error)
    })?;
    Ok((Pid::from_child(&child), fence))
}

/// What starts the same command in its fence, and where the stage says what came of it. At level 1 this process makes the
/// namespaces: it stays outside of those for processes and mounts, and the next that it starts is the first inside.
fn enter_fence(command: &Command, fence: &JobFence) -> Result<(Command, FenceChannel), KeeperReport> {
    let failed =
        |error: io::Error| KeeperReport::FenceFailed { step: "order it".to_owned(), said: error.to_string() };
    let channel = FenceChannel::new(&fence_spec(command, fence).map_err(failed)?).map_err(failed)?;
    let program = sys::own_program().map_err(failed)?;
    if fence.level != FenceLevel::Namespaces {
        return Ok((channel.command(&program), channel));
    }
    match sys::leave_for_fence(fence) {
        Ok(()) => Ok((channel.init_command(&program).map_err(failed)?, channel)),
        Err(FenceReport::Failed { step, said }) => Err(KeeperReport::FenceFailed { step, said }),
        Err(FenceReport::Entered { .. }) => Err(failed(io::ErrorKind::Unsupported.into())),
    }
}

/// The order to the stage.
fn fence_spec(command: &Command, fence: &JobFence) -> io::Result<FenceSpec> {
    let mut environment: BTreeMap<OsString, OsString> =
        std::env::vars_os().filter(|(name, _)| !is_scrubbed(name, !fence.sockets.is_empty())).collect();
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => environment.insert(name.to_owned(), value.to_owned()),
            None => environment.remove(name),
        };
    }
    Ok(FenceSpec {
        fence: fence.clone(),
        // Entered already, and maybe given as seen from there; beneath the fence's mounts the same name is another directory.
        directory: std::env::current_dir()?.into(),
        words: std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(OsStr::to_owned)
            .collect(),
        environment: environment.into_iter().collect(),
    })
}

fn command(order: &KeeperRequest) -> Result<Command, KeeperReport> {
    let mut words = order.words.iter().map(|word| OsString::from_vec(word.clone()));
    let program = words.next().unwrap_or_default();
    let path = absolute_path(order);
    let found = if program.as_encoded_bytes().contains(&b'/') {
        Some(PathBuf::from(program))
    } else {
        find_in_path(&program, &path)
    };
    let found =
        found.ok_or_else(|| start_failure(StartErrorKind::Missing, &io::ErrorKind::NotFound.into()))?;
    let mut command = Command::new(found);
    command.args(words);
    for name in &order.remove {
        command.env_remove(OsString::from_vec(name.clone()));
    }
    // This process has relay's environment for no other purpose than to hand it on.
    for (name, _) in std::env::vars_os() {
        let bytes = name.as_encoded_bytes();
        if order.remove_prefixes.iter().any(|prefix| bytes.starts_with(prefix.as_bytes())) {
            command.env_remove(name);
        }
    }
    for (name, value) in &order.set {
        command.env(OsString::from_vec(name.clone()), OsString::from_vec(value.clone()));
    }
    command.env("PATH", path);
    Ok(command)
}

/// What a system without PATH is searched for.
const USUAL_PATH: &str = "/usr/bin:/bin";

/// A PATH in which nothing is found. An empty one would mean the current directory.
const NO_PATH: &str = "/nonexistent";

/// The PATH that the job has: the absolute entries of the one it was meant to have. With `.`, `bin` or an empty one, whoever
/// fills the directory that a job runs in would choose the programs, also those that the job itself looks for (the
/// `node` of `#!/usr/bin/env node`).
fn absolute_path(order: &KeeperRequest) -> OsString {
    let set = order.set.iter().rev().find(|(name, _)| name == b"PATH");
    let set = set.map(|(_, value)| OsString::from_vec(value.clone()));
    let meant = set.or_else(|| std::env::var_os("PATH")).unwrap_or_else(|| USUAL_PATH.into());
    let absolute = std::env::split_paths(&meant).filter(|place| place.is_absolute());
    // What was split at colons holds none.
    let path = std::env::join_paths(absolute).unwrap_or_default();
    if path.is_empty() { NO_PATH.into() } else { path }
}

/// The program of this name.
fn find_in_path(program: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let files = || std::env::split_paths(path).map(|place| place.join(program)).filter(|file| file.is_file());
    let named = !program.is_empty();
    let runs = |file: &PathBuf| rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok();
    // One that is there and cannot be run is tried as well, to be told from one that is not there.
    files().find(runs).or_else(|| files().next()).filter(|_| named)
}

/// Whether the failure means that there is no such program. "Not found" may also speak of the interpreter
/// that a script names.
fn is_missing(command: &Command, error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound && !Path::new(command.get_program()).exists()
}

fn start_failure(part: StartErrorKind, error: &io::Error) -> KeeperReport {
    KeeperReport::Failed { part, errno: error.raw_os_error(), said: error.to_string() }
}

/// Waits for whatever ends the job.
fn wait_for_exit(tree: &mut ProcessTree, socket: BorrowedFd<'_>, until: Option<Instant>) -> KeeperExitReason {
    loop {
        let nobody = tree.reap();
        if let Some(status) = tree.status() {
            let code = status.exit_status().map(KeeperExitReason::Exited);
            return code.unwrap_or(KeeperExitReason::Signalled(status.terminating_signal().unwrap_or(0)));
        }
        if nobody || tree.stop_requested() {
            return KeeperExitReason::Terminated;
        }
        if tree.has_stopped() {
            // A shell waits for relay, not for the program: without this nobody would give the user their terminal.
            // Where there is no shell that could continue it, the system does not stop it.
            let _ = rustix::process::getppid().map(|relay| kill_process(relay, Signal::TSTP));
        }
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return KeeperExitReason::Deadline;
        }
        if is_relay_gone(socket) {
            return KeeperExitReason::Asked;
        }
        tree.wait(Some(socket), left);
    }
}

/// Whether relay has closed its end. It says nothing more after the order; if it did, it would be read
/// over.
fn is_relay_gone(socket: BorrowedFd<'_>) -> bool {
    let mut bytes = [0; 256];
    match recv(socket, &mut bytes, RecvFlags::DONTWAIT) {
        Ok((length, _)) => length == 0,
        Err(error) => !matches!(error, rustix::io::Errno::AGAIN | rustix::io::Errno::INTR),
    }
}

fn send_report(mut socket: &UnixStream, report: &KeeperReport) -> io::Result<()> {
    socket.write_all(&encode_message(report)?)
}
