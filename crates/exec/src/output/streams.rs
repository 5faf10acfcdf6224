//! A job's standard streams: the ends that relay keeps and the ends that the job gets.
//!
//! Every descriptor is closed on exec, and relay's ends never block. Theirs are handed to the keeper and
//! let go, so that a stream ends when the last process of the job lets go of it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open};
use rustix::io::{Errno, read, write};
use rustix::pty::{grantpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::keeper::protocol::STDIO_FDS;
use crate::sys::{enlarge_pipe, open_pty_master};
use crate::{ExecError, Job, JobInput, JobOutput};

/// How much a pipe is asked to hold: fewer, larger reads.
const PIPE: usize = 256 << 10;

/// The ends that relay keeps.
#[derive(Debug, Default)]
pub(crate) struct ParentStreams {
    /// What the job still has to read.
    pub(crate) input: Option<StdinWriter>,
    /// What it prints.
    pub(crate) output: Option<OutputReader>,
    /// What it prints to standard error, if that is another.
    pub(crate) errors: Option<OutputReader>,
}

/// The ends that the job gets.
#[derive(Debug)]
pub(crate) struct ChildStreams {
    input: OwnedFd,
    output: OwnedFd,
    errors: Option<OwnedFd>,
    /// For the keeper alone.
    keep_open: Option<Arc<OwnedFd>>,
}

impl ChildStreams {
    /// Standard input, output and error.
    pub(crate) fn stdio_fds(&self) -> [BorrowedFd<'_>; STDIO_FDS] {
        [self.input.as_fd(), self.output.as_fd(), self.errors.as_ref().unwrap_or(&self.output).as_fd()]
    }

    /// All that goes to the keeper: the three, and what it is to hold.
    pub(crate) fn fds_to_send(&self) -> Vec<BorrowedFd<'_>> {
        self.stdio_fds().into_iter().chain(self.keep_open.as_ref().map(|held| held.as_fd())).collect()
    }
}

/// Makes the streams that a job wants.
pub(crate) fn open_streams(job: &Job) -> Result<(ParentStreams, ChildStreams), ExecError> {
    let system = |action| move |source| ExecError::System { action, source };
    let (ours, theirs) = match job.output {
        JobOutput::Separate | JobOutput::Merged => pipes(job).map_err(system("make a pipe"))?,
        JobOutput::Pty { rows, columns } => pty(job, rows, columns).map_err(system("make a terminal"))?,
        JobOutput::Terminal => {
            let tty = OpenOptions::new().read(true).write(true).open("/dev/tty");
            let tty = tty.map_err(|_| ExecError::NoTerminal { program: job.command.name() })?;
            let output = tty.try_clone().map_err(system("use the terminal"))?;
            let (input, output) = (tty.into(), output.into());
            (ParentStreams::default(), ChildStreams { input, output, errors: None, keep_open: None })
        }
        JobOutput::Inherited { stdout_to_stderr: aside } => {
            let theirs = inherited_streams(aside).map_err(system("pass the standard streams on"))?;
            (ParentStreams::default(), theirs)
        }
    };
    Ok((ours, ChildStreams { keep_open: job.keep_open.clone(), ..theirs }))
}

/// relay's own, duplicated. One that relay was started without is `/dev/null`: Rust saw to that.
fn inherited_streams(aside: bool) -> io::Result<ChildStreams> {
    let (output, errors) = (rustix::stdio::stdout(), rustix::stdio::stderr());
    let output = if aside { errors } else { output };
    Ok(ChildStreams {
        input: rustix::stdio::stdin().try_clone_to_owned()?,
        output: output.try_clone_to_owned()?,
        errors: Some(errors.try_clone_to_owned()?),
        keep_open: None,
    })
}

fn pipes(job: &Job) -> io::Result<(ParentStreams, ChildStreams)> {
    let mut ours = ParentStreams::default();
    let input = if job.input == JobInput::Null {
        File::open("/dev/null")?.into()
    } else {
        let (theirs, end) = io::pipe()?;
        ours.input = StdinWriter::for_input(&job.input, end.into())?;
        theirs.into()
    };
    let (reading, output) = OutputReader::pipe()?;
    ours.output = Some(reading);
    let mut errors = None;
    if job.output == JobOutput::Separate {
        let (reading, end) = OutputReader::pipe()?;
        ours.errors = Some(reading);
        errors = Some(end);
    }
    Ok((ours, ChildStreams { input, output, errors, keep_open: None }))
}

fn pty(job: &Job, rows: u16, columns: u16) -> io::Result<(ParentStreams, ChildStreams)> {
    let master = open_pty_master()?;
    grantpt(&master)?;
    unlockpt(&master)?;
    tcsetwinsize(&master, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?;
    let name = ptsname(&master, Vec::new())?;
    let theirs = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    let input = StdinWriter::for_input(&job.input, master.try_clone()?)?;
    let output = theirs.try_clone()?;
    let ours = ParentStreams { input, output: Some(OutputReader::new(master)?), errors: None };
    Ok((ours, ChildStreams { input: theirs, output, errors: None, keep_open: None }))
}

/// Bytes on their way to the job.
#[derive(Debug)]
pub(crate) struct StdinWriter {
    end: OwnedFd,
    bytes: Vec<u8>,
    written: usize,
    /// More may come.
    open: bool,
    /// Nobody reads it.
    dead: bool,
}

impl StdinWriter {
    fn for_input(input: &JobInput, end: OwnedFd) -> io::Result<Option<StdinWriter>> {
        let (bytes, open) = match input {
            JobInput::Null => return Ok(None),
            JobInput::Bytes(bytes) => (bytes.clone(), false),
            JobInput::Piped => (Vec::new(), true),
        };
        set_nonblocking(&end)?;
        Ok(Some(StdinWriter { end, bytes, written: 0, open, dead: false }))
    }

    /// Writes as much as fits now. Says whether that was all there ever is, or nobody reads it.
    pub(crate) fn write(&mut self) -> bool {
        match write(&self.end, &self.bytes[self.written..]) {
            Ok(length) => self.written += length,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.dead = true,
        }
        if self.remaining() == 0 && self.open {
            self.bytes.clear();
            self.written = 0;
        }
        self.is_done()
    }

    /// Adds to what is to be written.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        if self.open && !self.dead {
            self.bytes.drain(..self.written);
            self.written = 0;
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Nothing more comes. Says whether all is written.
    pub(crate) fn close(&mut self) -> bool {
        self.open = false;
        self.is_done()
    }

    /// Whether there is something to write.
    pub(crate) fn has_work(&self) -> bool {
        !self.dead && (self.remaining() > 0 || !self.open)
    }

    /// Bytes that are not written yet.
    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len() - self.written
    }

    fn is_done(&self) -> bool {
        self.dead || !self.open && self.remaining() == 0
    }
}

impl AsFd for StdinWriter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}

/// An end from which relay reads.
#[derive(Debug)]
pub(crate) struct OutputReader {
    end: OwnedFd,
}

/// What a read brought.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PipeReadOutcome {
    /// So many bytes.
    Bytes(usize),
    /// Nothing yet.
    WouldBlock,
    /// Nobody holds the other end.
    Eof,
}

impl OutputReader {
    fn new(end: OwnedFd) -> io::Result<OutputReader> {
        set_nonblocking(&end)?;
        Ok(OutputReader { end })
    }

    fn pipe() -> io::Result<(OutputReader, OwnedFd)> {
        let (ours, theirs) = io::pipe()?;
        enlarge_pipe(&ours, PIPE);
        Ok((OutputReader::new(ours.into())?, theirs.into()))
    }

    /// Reads what is there.
    pub(crate) fn read(&self, into: &mut [u8]) -> PipeReadOutcome {
        match read(&self.end, into) {
            Ok(0) => PipeReadOutcome::Eof,
            Ok(length) => PipeReadOutcome::Bytes(length),
            Err(Errno::AGAIN | Errno::INTR) => PipeReadOutcome::WouldBlock,
            // EIO is how a terminal says that nobody has it open.
            Err(_) => PipeReadOutcome::Eof,
        }
    }
}

impl AsFd for OutputReader {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}

fn set_nonblocking(end: &OwnedFd) -> io::Result<()> {
    fcntl_setfl(end, fcntl_getfl(end)? | OFlags::NONBLOCK)?;
    Ok(())
}
