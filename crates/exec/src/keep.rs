//! The keeper: a process between relay and a job, which sees to it that nothing of the job stays.
//!
//! It is relay's own binary, started with [`crate::KEEP`]. Its standard input is a socket: an order comes in, reports
//! go out. The socket's end, for whatever reason, means: end everything. It prints nothing, reads nothing
//! else, and holds none of the job's streams open. It is out of reach of whoever kills relay's process
//! group, unless the job needs the user's terminal.

mod family;
mod signals;

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

use crate::job::MOST_GRACE;
use crate::kin;
use crate::wire::{HELD, How, Messages, Order, Part, Place, Report, STREAMS, message};
use family::{Family, Rest};
use signals::Signals;

/// Is a keeper until its job is over. To be called before anything else, when the first argument is
/// [`crate::KEEP`].
pub fn keep() -> ExitCode {
    // There is nobody to tell: standard error is not the keeper's.
    serve().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

fn serve() -> io::Result<()> {
    let signals = Signals::catch()?;
    let socket = UnixStream::from(rustix::stdio::stdin().try_clone_to_owned()?);
    // What is held is let go of when this process ends, and not before.
    let (order, streams, _held) = receive(socket.as_fd())?;
    adopt_orphans()?;
    let grace = Duration::from_millis(order.grace).min(MOST_GRACE);
    let deadline = order.total.and_then(|total| Instant::now().checked_add(Duration::from_millis(total)));
    let child = match start(&order, streams) {
        Ok(child) => child,
        Err(failed) => return report(&socket, &failed),
    };
    let pid = Pid::as_raw(Some(child));
    let mut family = Family::new(child, signals, order.place == Place::Users);
    // If relay is gone this fails, and the socket's end says the same below.
    let _ = report(&socket, &Report::Started { pid, since: kin::since(pid).unwrap_or(0) });

    let how = watch(&mut family, socket.as_fd(), deadline);
    let by_itself = matches!(how, How::Exited(_) | How::Signalled(_));
    if by_itself {
        family.wind_down();
    }
    let Rest { ended, escaped } = family.end(grace);
    let left_behind = if by_itself { ended } else { 0 };
    report(&socket, &Report::Ended { how, left_behind, escaped })
}

/// The order, the job's standard streams, and what is to be held open.
fn receive(socket: BorrowedFd<'_>) -> io::Result<(Order, [OwnedFd; STREAMS], Vec<OwnedFd>)> {
    let mut messages = Messages::default();
    let mut streams: Vec<OwnedFd> = Vec::new();
    let mut bytes = vec![0; 64 << 10];
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STREAMS + HELD))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let length = retry_on_intr(|| {
            let mut into = [IoSliceMut::new(&mut bytes)];
            recvmsg(socket, &mut into, &mut beside, RecvFlags::CMSG_CLOEXEC)
        })?
        .bytes;
        for message in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                streams.extend(descriptors);
            }
        }
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        messages.push(&bytes[..length]);
        if let Some(order) = messages.next()? {
            let held = streams.split_off(STREAMS.min(streams.len()));
            let streams = streams.try_into().map_err(|_| io::ErrorKind::InvalidData)?;
            return Ok((order, streams, held));
        }
    }
}

/// From now on, whoever loses its parent below this process becomes its child.
fn adopt_orphans() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// Starts the program. The streams are its own from then on: this process lets go of them.
fn start(order: &Order, streams: [OwnedFd; STREAMS]) -> Result<Pid, Report> {
    let [input, output, errors] = streams;
    match order.place {
        Place::Apart => {
            // Refused only to one who leads a group already, and is out of relay's with that.
            let _ = setsid();
        }
        Place::Own => {
            let taken = setsid().and_then(|_| ioctl_tiocsctty(&input));
            taken.map_err(|error| failed(Part::Terminal, &error.into()))?;
        }
        Place::Users => {}
    }
    // Entered by this process itself, so that a directory's failure is not taken for the program's.
    let directory = OsString::from_vec(order.directory.clone());
    std::env::set_current_dir(&directory).map_err(|error| failed(Part::Directory, &error))?;

    let mut command = command(order)?;
    command.stdin(Stdio::from(input)).stdout(Stdio::from(output)).stderr(Stdio::from(errors));
    if order.place == Place::Apart {
        command.process_group(0);
    }
    let child = command.spawn().map_err(|error| {
        failed(if is_missing(&command, &error) { Part::Missing } else { Part::Program }, &error)
    })?;
    Ok(Pid::from_child(&child))
}

fn command(order: &Order) -> Result<Command, Report> {
    let mut words = order.words.iter().map(|word| OsString::from_vec(word.clone()));
    let program = words.next().unwrap_or_default();
    let found = if program.as_encoded_bytes().contains(&b'/') {
        Some(PathBuf::from(program))
    } else {
        on_path(&program, &path_of(order))
    };
    let found = found.ok_or_else(|| failed(Part::Missing, &io::ErrorKind::NotFound.into()))?;
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
    Ok(command)
}

/// What a system without PATH is searched for.
const USUAL_PATH: &str = "/usr/bin:/bin";

/// The PATH that the job has.
fn path_of(order: &Order) -> OsString {
    let set = order.set.iter().rev().find(|(name, _)| name == b"PATH");
    let set = set.map(|(_, value)| OsString::from_vec(value.clone()));
    set.or_else(|| std::env::var_os("PATH")).unwrap_or_else(|| USUAL_PATH.into())
}

/// The program of this name. Only absolute entries of PATH count: with `.`, `bin` or an empty one, whoever
/// fills the directory that the job runs in would choose the program.
fn on_path(program: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let places = || std::env::split_paths(path).filter(|place| place.is_absolute());
    let files = || places().map(|place| place.join(program)).filter(|file| file.is_file());
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

fn failed(part: Part, error: &io::Error) -> Report {
    Report::Failed { part, errno: error.raw_os_error(), said: error.to_string() }
}

/// Waits for whatever ends the job.
fn watch(family: &mut Family, socket: BorrowedFd<'_>, deadline: Option<Instant>) -> How {
    loop {
        let nobody = family.reap();
        if let Some(status) = family.status() {
            let code = status.exit_status().map(How::Exited);
            return code.unwrap_or(How::Signalled(status.terminating_signal().unwrap_or(0)));
        }
        if nobody || family.asked_to_end() {
            return How::Terminated;
        }
        if family.has_stopped() {
            // A shell waits for relay, not for the program: without this nobody would give the user their terminal.
            // Where there is no shell that could continue it, the system does not stop it.
            let _ = rustix::process::getppid().map(|relay| kill_process(relay, Signal::TSTP));
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return How::Deadline;
        }
        if at_its_end(socket) {
            return How::Asked;
        }
        family.wait(Some(socket), left);
    }
}

/// Whether relay has closed its end. It says nothing more after the order; if it did, it would be read
/// over.
fn at_its_end(socket: BorrowedFd<'_>) -> bool {
    let mut bytes = [0; 256];
    match recv(socket, &mut bytes, RecvFlags::DONTWAIT) {
        Ok((length, _)) => length == 0,
        Err(error) => !matches!(error, rustix::io::Errno::AGAIN | rustix::io::Errno::INTR),
    }
}

fn report(mut socket: &UnixStream, report: &Report) -> io::Result<()> {
    socket.write_all(&message(report)?)
}
