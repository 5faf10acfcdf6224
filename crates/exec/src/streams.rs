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
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::job::{Input, Job, Output};
use crate::outcome::ExecError;
use crate::wire::STREAMS;

/// How much a pipe is asked to hold: fewer, larger reads.
const PIPE: usize = 256 << 10;

/// The ends that relay keeps.
#[derive(Debug, Default)]
pub(crate) struct Ours {
    /// What the job still has to read.
    pub(crate) input: Option<Typing>,
    /// What it prints.
    pub(crate) output: Option<Reading>,
    /// What it prints to standard error, if that is another.
    pub(crate) errors: Option<Reading>,
}

/// The ends that the job gets.
#[derive(Debug)]
pub(crate) struct Theirs {
    input: OwnedFd,
    output: OwnedFd,
    errors: Option<OwnedFd>,
    /// For the keeper alone.
    held: Option<Arc<OwnedFd>>,
}

impl Theirs {
    /// Standard input, output and error.
    pub(crate) fn all(&self) -> [BorrowedFd<'_>; STREAMS] {
        [self.input.as_fd(), self.output.as_fd(), self.errors.as_ref().unwrap_or(&self.output).as_fd()]
    }

    /// All that goes to the keeper: the three, and what it is to hold.
    pub(crate) fn handed_over(&self) -> Vec<BorrowedFd<'_>> {
        self.all().into_iter().chain(self.held.as_ref().map(|held| held.as_fd())).collect()
    }
}

/// Makes the streams that a job wants.
pub(crate) fn open_streams(job: &Job) -> Result<(Ours, Theirs), ExecError> {
    let (ours, theirs) = open_ends(job)?;
    Ok((ours, Theirs { held: job.held.clone(), ..theirs }))
}

fn open_ends(job: &Job) -> Result<(Ours, Theirs), ExecError> {
    let system = |action| move |source| ExecError::System { action, source };
    match job.output {
        Output::Apart | Output::Together => {
            pipes(job).map_err(|source| ExecError::System { action: "make a pipe", source })
        }
        Output::Pty { rows, columns } => pty(job, rows, columns).map_err(system("make a terminal")),
        Output::Terminal => {
            let tty = OpenOptions::new().read(true).write(true).open("/dev/tty");
            let tty = tty.map_err(|_| ExecError::NoTerminal { program: job.program.name() })?;
            let output = tty.try_clone().map_err(system("use the terminal"))?;
            let theirs = Theirs { input: tty.into(), output: output.into(), errors: None, held: None };
            Ok((Ours::default(), theirs))
        }
        Output::Streams { aside } => {
            let theirs = own_streams(aside).map_err(system("pass the standard streams on"))?;
            Ok((Ours::default(), theirs))
        }
    }
}

/// relay's own, duplicated. One that relay was started without is `/dev/null`: Rust saw to that.
fn own_streams(aside: bool) -> io::Result<Theirs> {
    let (output, errors) = (rustix::stdio::stdout(), rustix::stdio::stderr());
    let output = if aside { errors } else { output };
    Ok(Theirs {
        input: rustix::stdio::stdin().try_clone_to_owned()?,
        output: output.try_clone_to_owned()?,
        errors: Some(errors.try_clone_to_owned()?),
        held: None,
    })
}

fn pipes(job: &Job) -> io::Result<(Ours, Theirs)> {
    let mut ours = Ours::default();
    let input = match &job.input {
        Input::Nothing => File::open("/dev/null")?.into(),
        Input::Bytes(bytes) => {
            let (theirs, end) = pipe_with(PipeFlags::CLOEXEC)?;
            ours.input = Some(Typing::new(end, bytes.clone(), false)?);
            theirs
        }
        Input::Open => {
            let (theirs, end) = pipe_with(PipeFlags::CLOEXEC)?;
            ours.input = Some(Typing::new(end, Vec::new(), true)?);
            theirs
        }
    };
    let (reading, output) = Reading::pipe()?;
    ours.output = Some(reading);
    let mut errors = None;
    if job.output == Output::Apart {
        let (reading, end) = Reading::pipe()?;
        ours.errors = Some(reading);
        errors = Some(end);
    }
    Ok((ours, Theirs { input, output, errors, held: None }))
}

fn pty(job: &Job, rows: u16, columns: u16) -> io::Result<(Ours, Theirs)> {
    #[cfg(target_os = "linux")]
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let master = openpt(flags)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    tcsetwinsize(&master, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?;
    let name = ptsname(&master, Vec::new())?;
    let theirs = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    let input = match &job.input {
        Input::Nothing => None,
        Input::Bytes(bytes) => Some(Typing::new(master.try_clone()?, bytes.clone(), false)?),
        Input::Open => Some(Typing::new(master.try_clone()?, Vec::new(), true)?),
    };
    let output = theirs.try_clone()?;
    let ours = Ours { input, output: Some(Reading::new(master)?), errors: None };
    Ok((ours, Theirs { input: theirs, output, errors: None, held: None }))
}

/// Bytes on their way to the job.
#[derive(Debug)]
pub(crate) struct Typing {
    end: OwnedFd,
    bytes: Vec<u8>,
    written: usize,
    /// More may come.
    open: bool,
    /// Nobody reads it.
    dead: bool,
}

impl Typing {
    fn new(end: OwnedFd, bytes: Vec<u8>, open: bool) -> io::Result<Typing> {
        do_not_block(&end)?;
        Ok(Typing { end, bytes, written: 0, open, dead: false })
    }

    /// Writes as much as fits now. Says whether that was all there ever is, or nobody reads it.
    pub(crate) fn write(&mut self) -> bool {
        match write(&self.end, &self.bytes[self.written..]) {
            Ok(length) => self.written += length,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.dead = true,
        }
        if self.left() == 0 && self.open {
            self.bytes.clear();
            self.written = 0;
        }
        self.is_over()
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
        self.is_over()
    }

    /// Whether there is something to write.
    pub(crate) fn wants_to_write(&self) -> bool {
        !self.dead && (self.left() > 0 || !self.open)
    }

    /// Bytes that are not written yet.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.written
    }

    fn is_over(&self) -> bool {
        self.dead || !self.open && self.left() == 0
    }
}

impl AsFd for Typing {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}

/// An end from which relay reads.
#[derive(Debug)]
pub(crate) struct Reading {
    end: OwnedFd,
}

/// What a read brought.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Brought {
    /// So many bytes.
    Bytes(usize),
    /// Nothing yet.
    Nothing,
    /// Nobody holds the other end.
    End,
}

impl Reading {
    fn new(end: OwnedFd) -> io::Result<Reading> {
        do_not_block(&end)?;
        Ok(Reading { end })
    }

    fn pipe() -> io::Result<(Reading, OwnedFd)> {
        let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC)?;
        #[cfg(target_os = "linux")]
        {
            // Refused to a user with very many pipes, who gets a smaller one.
            let _ = rustix::pipe::fcntl_setpipe_size(&ours, PIPE);
        }
        Ok((Reading::new(ours)?, theirs))
    }

    /// Reads what is there.
    pub(crate) fn read(&self, into: &mut [u8]) -> Brought {
        match read(&self.end, into) {
            Ok(0) => Brought::End,
            Ok(length) => Brought::Bytes(length),
            Err(Errno::AGAIN | Errno::INTR) => Brought::Nothing,
            // EIO is how a terminal says that nobody has it open.
            Err(_) => Brought::End,
        }
    }
}

impl AsFd for Reading {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}

fn do_not_block(end: &OwnedFd) -> io::Result<()> {
    fcntl_setfl(end, fcntl_getfl(end)? | OFlags::NONBLOCK)?;
    Ok(())
}
