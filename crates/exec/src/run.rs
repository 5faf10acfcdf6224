//! relay's side: start a keeper, hand it the job, read what the job prints, and learn how it ended.
//!
//! One loop, no threads. Memory does not grow with what is printed. Whatever way `run` is left, also by a
//! panic of the caller's functions, nothing of the job is left running. A conversation with a job
//! ([`crate::Live`]) is the same loop, a step at a time.

use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::capture::Capture;
use crate::job::{Deadlines, Job, Output, Program};
use crate::keeper::{Heard, Keeper, PATIENCE};
use crate::live::Live;
use crate::outcome::{End, ExecError, Finished};
use crate::streams::{Brought, Ours, Reading, Theirs, Typing, open_streams};
use crate::wire::{How, Part, Report, message};

/// How often `stop` is asked, and how long nothing is looked at at most.
const TICK: Duration = Duration::from_millis(50);

/// What is read at once.
const CHUNK: usize = 256 << 10;

/// What is still read of a stream when the job is over. More than a pipe holds; a process that is none
/// of the job's may hold the other end and go on writing.
const MOST_LEFT: usize = 16 << 20;

/// Starts jobs. Holds which program the keeper is.
#[derive(Debug, Clone)]
pub struct Runner {
    keeper: PathBuf,
}

impl Runner {
    /// Jobs run under this program: relay itself.
    pub fn new(keeper: PathBuf) -> Runner {
        Runner { keeper }
    }

    /// Runs a job to its end. `stop` is asked often; when it says yes, the job is ended. `watch` is
    /// shown what the job prints as it comes.
    ///
    /// # Errors
    /// If it could not be started. A job that fails is no error.
    pub fn run(
        &self,
        job: &Job,
        stop: &dyn Fn() -> bool,
        watch: &mut dyn FnMut(&[u8]),
    ) -> Result<Finished, ExecError> {
        let mut running = Running::start(&self.keeper, job)?;
        let watch = &mut |_: Stream, bytes: &[u8]| watch(bytes);
        loop {
            if let Some(verdict) = running.step(stop, watch, TICK)? {
                running.read_the_rest(watch);
                return running.finish(verdict, stop);
            }
        }
    }

    /// Starts a job to talk with: what it prints is read, and with [`crate::Input::Open`] what it reads is
    /// written, a piece at a time.
    ///
    /// # Errors
    /// If no keeper can be started. That the program itself cannot be, [`Live::next`] says.
    pub fn start(&self, job: &Job) -> Result<Live, ExecError> {
        Ok(Live::new(Running::start(&self.keeper, job)?))
    }
}

/// Which of its streams a job printed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    Errors,
}

/// Shown what a job prints.
pub(crate) type Watch<'a> = dyn FnMut(Stream, &[u8]) + 'a;

/// What the keeper said at last; `None`: it is gone without a word.
pub(crate) type LastWord = Option<Report>;

/// What has to be known of a job while it runs.
#[derive(Debug)]
struct Terms {
    program: Program,
    directory: PathBuf,
    output: Output,
    deadlines: Deadlines,
    grace: Duration,
}

/// A job while it runs.
pub(crate) struct Running {
    terms: Terms,
    modes: TerminalModes,
    // Before the streams: a terminal that goes while its job runs would end it the rough way.
    keeper: Keeper,
    ours: Ours,
    stdout: Capture,
    stderr: Capture,
    buffer: Vec<u8>,
    /// Nobody had the job's terminal open when it was last read.
    quiet: bool,
    began: Instant,
    last_byte: Instant,
    /// When the caller is asked next whether it is still wanted.
    next_question: Instant,
    /// Why and when the keeper was asked to end it.
    asked: Option<(End, Instant)>,
}

/// What can be done without waiting.
#[derive(Debug, Default)]
struct Ready {
    keeper_takes: bool,
    keeper_speaks: bool,
    input: bool,
    output: bool,
    errors: bool,
}

impl Running {
    /// Starts a keeper, which starts the job.
    fn start(keeper: &Path, job: &Job) -> Result<Running, ExecError> {
        let began = Instant::now();
        let (ours, theirs) = open_streams(job)?;
        let modes = TerminalModes::of(job, &theirs);
        let program = || job.program.name();
        let order =
            message(&job.order()).map_err(|source| ExecError::CannotRun { program: program(), source })?;
        let started = Keeper::start(keeper, order, theirs, job.place(), job.grace());
        Ok(Running {
            terms: Terms {
                program: job.program.clone(),
                directory: job.directory.clone(),
                output: job.output,
                deadlines: job.deadlines,
                grace: job.grace(),
            },
            modes,
            keeper: started.map_err(|source| ExecError::Keeper { program: program(), source })?,
            ours,
            stdout: Capture::new(&job.kept, ""),
            stderr: Capture::new(&job.kept, ".stderr"),
            buffer: vec![0; CHUNK],
            quiet: false,
            began,
            last_byte: began,
            next_question: began,
            asked: None,
        })
    }

    /// Serves the job once: waits for something to do, `most` at most, and does it. Says what the keeper's
    /// last word was, once it is spoken.
    pub(crate) fn step(
        &mut self,
        stop: &dyn Fn() -> bool,
        watch: &mut Watch<'_>,
        most: Duration,
    ) -> Result<Option<LastWord>, ExecError> {
        self.serve(stop, watch, most.min(TICK))
            .map_err(|source| ExecError::Keeper { program: self.terms.program.name(), source })
    }

    fn serve(
        &mut self,
        stop: &dyn Fn() -> bool,
        watch: &mut Watch<'_>,
        most: Duration,
    ) -> io::Result<Option<LastWord>> {
        let ready = self.wait(most)?;
        if ready.keeper_takes {
            self.keeper.send();
        }
        if ready.input && self.ours.input.as_mut().is_some_and(|input| input.write()) {
            self.ours.input = None;
        }
        if ready.output {
            self.read_output(watch);
        }
        if ready.errors {
            self.read_errors(watch);
        }
        if ready.keeper_speaks {
            match self.keeper.hear()? {
                Heard::Verdict(verdict) => return Ok(Some(Some(verdict))),
                Heard::Lost => return Ok(Some(None)),
                Heard::Nothing => {}
            }
        }
        let now = Instant::now();
        if self.asked.is_none() && now >= self.next_question {
            self.next_question = now + TICK;
            if stop() {
                self.ask(End::Stopped, now);
            } else if self.is_idle(now) {
                self.ask(End::Idle, now);
            }
        }
        if self.keeper_hangs(now) {
            self.keeper.give_up();
            return Ok(Some(None));
        }
        Ok(None)
    }

    /// Gives the job more to read.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        if let Some(input) = &mut self.ours.input {
            input.add(bytes);
        }
    }

    /// Bytes that the job has not taken yet.
    pub(crate) fn unread(&self) -> usize {
        self.ours.input.as_ref().map_or(0, Typing::left)
    }

    /// The job reads what it was given, and then the end.
    pub(crate) fn close_input(&mut self) {
        if self.ours.input.as_mut().is_some_and(Typing::close) {
            self.ours.input = None;
        }
    }

    /// Waits for something to do, one tick at most.
    fn wait(&mut self, most: Duration) -> io::Result<Ready> {
        // What is typed before the program has its terminal would be typed to nobody.
        let can_type = self.keeper.has_started();
        let input = self.ours.input.as_ref().filter(|input| can_type && input.wants_to_write());
        let output = self.ours.output.as_ref().filter(|_| !self.quiet);
        let mut fds = vec![PollFd::new(&self.keeper, self.keeper.interest())];
        fds.extend(input.map(|input| PollFd::new(input, PollFlags::OUT)));
        fds.extend(output.map(|output| PollFd::new(output, PollFlags::IN)));
        fds.extend(self.ours.errors.as_ref().map(|errors| PollFd::new(errors, PollFlags::IN)));
        let tick = Timespec { tv_sec: 0, tv_nsec: i64::from(most.min(TICK).subsec_nanos()) };
        let some = match poll(&mut fds, Some(&tick)) {
            Ok(some) => some,
            Err(Errno::INTR) => return Ok(Ready::default()),
            Err(error) => return Err(error.into()),
        };
        let mut seen = fds.iter().map(PollFd::revents);
        let mut next = |is_there: bool| is_there.then(|| seen.next()).flatten().unwrap_or(PollFlags::empty());
        let keeper = next(true);
        let ready = Ready {
            keeper_takes: keeper.contains(PollFlags::OUT),
            keeper_speaks: !keeper.difference(PollFlags::OUT).is_empty(),
            input: !next(input.is_some()).is_empty(),
            output: !next(output.is_some()).is_empty(),
            errors: !next(self.ours.errors.is_some()).is_empty(),
        };
        self.quiet = self.quiet && some > 0;
        Ok(ready)
    }

    /// Reads standard output once. Says how much came.
    fn read_output(&mut self, watch: &mut Watch<'_>) -> usize {
        match self.ours.output.as_ref().map_or(Brought::End, |output| output.read(&mut self.buffer)) {
            Brought::Bytes(length) => {
                self.last_byte = Instant::now();
                self.stdout.push(&self.buffer[..length]);
                watch(Stream::Output, &self.buffer[..length]);
                length
            }
            Brought::Nothing => 0,
            // A terminal can be opened again, and closing it hangs it up under the job.
            Brought::End if matches!(self.terms.output, Output::Pty { .. }) => {
                self.quiet = true;
                0
            }
            Brought::End => {
                self.ours.output = None;
                0
            }
        }
    }

    /// Reads standard error once. Says how much came.
    fn read_errors(&mut self, watch: &mut Watch<'_>) -> usize {
        match self.ours.errors.as_ref().map_or(Brought::End, |errors: &Reading| errors.read(&mut self.buffer))
        {
            Brought::Bytes(length) => {
                self.last_byte = Instant::now();
                self.stderr.push(&self.buffer[..length]);
                watch(Stream::Errors, &self.buffer[..length]);
                length
            }
            Brought::Nothing => 0,
            Brought::End => {
                self.ours.errors = None;
                0
            }
        }
    }

    /// Reads what is left when nobody of the job writes any more.
    pub(crate) fn read_the_rest(&mut self, watch: &mut Watch<'_>) {
        for read in [Self::read_output, Self::read_errors] {
            let mut total = 0;
            while total < MOST_LEFT {
                match read(self, watch) {
                    0 => break,
                    length => total += length,
                }
            }
        }
    }

    fn ask(&mut self, why: End, now: Instant) {
        self.asked = Some((why, now));
        self.keeper.stop();
    }

    fn is_idle(&self, now: Instant) -> bool {
        let watched = !self.terms.output.is_the_users();
        watched && self.terms.deadlines.idle.is_some_and(|idle| now.duration_since(self.last_byte) >= idle)
    }

    /// Whether the keeper should have spoken long ago.
    fn keeper_hangs(&self, now: Instant) -> bool {
        let patience = self.terms.grace + PATIENCE;
        let since_asked = self.asked.is_some_and(|(_, asked)| now.duration_since(asked) > patience);
        let total = self.terms.deadlines.total.map(|total| total.saturating_add(patience));
        since_asked || total.is_some_and(|total| now.duration_since(self.began) > total)
    }

    /// What came of it.
    pub(crate) fn finish(self, last: LastWord, stop: &dyn Fn() -> bool) -> Result<Finished, ExecError> {
        let took = self.began.elapsed();
        let (end, left_behind, escaped) = match last {
            Some(Report::Ended { how, left_behind, escaped }) => (self.end(how), left_behind, escaped),
            Some(Report::Failed { part, errno, said }) => return Err(self.failure(part, errno, said)),
            Some(Report::Started { .. }) | None if self.keeper.has_started() => (End::KeeperLost, 0, 0),
            // A Ctrl-C reaches a keeper that has only just begun, and relay at the same time.
            _ if self.asked.is_some() || stop() => (End::Stopped, 0, 0),
            _ => {
                let source = io::ErrorKind::UnexpectedEof.into();
                return Err(ExecError::Keeper { program: self.terms.program.name(), source });
            }
        };
        // Before the streams are let go of: it has nothing to wait for unless it was lost.
        drop(self.keeper);
        if !matches!(end, End::Exited(_)) {
            self.modes.bring_back();
        }
        let (stdout, stderr) = (self.stdout.finish(), self.stderr.finish());
        Ok(Finished { end, stdout, stderr, took, left_behind, escaped })
    }

    fn end(&self, how: How) -> End {
        match how {
            How::Exited(code) => End::Exited(code),
            How::Signalled(signal) => End::Signalled(signal),
            How::Deadline => End::DeadlinePassed,
            How::Asked => self.asked.map_or(End::Stopped, |(why, _)| why),
            How::Terminated => End::KeeperLost,
        }
    }

    fn failure(&self, part: Part, errno: Option<i32>, said: String) -> ExecError {
        let program = self.terms.program.first();
        let source = errno.map_or_else(|| io::Error::other(said), io::Error::from_raw_os_error);
        match part {
            Part::Directory => ExecError::Directory { directory: self.terms.directory.clone(), source },
            Part::Missing => ExecError::NotFound { program },
            Part::Program => ExecError::CannotRun { program, source },
            Part::Terminal => ExecError::System { action: "take the terminal made for a process", source },
        }
    }
}

/// How the user's terminal was set before an editor or a pager got it.
#[derive(Debug)]
struct TerminalModes(Option<(std::os::fd::OwnedFd, Termios)>);

impl TerminalModes {
    fn of(job: &Job, theirs: &Theirs) -> TerminalModes {
        let [terminal, ..] = theirs.all();
        let wanted = job.output.is_the_users().then(|| tcgetattr(terminal).ok()).flatten();
        TerminalModes(wanted.and_then(|modes| Some((terminal.as_fd().try_clone_to_owned().ok()?, modes))))
    }

    /// A program that was ended had no time to do it itself.
    fn bring_back(&self) {
        if let Some((terminal, modes)) = &self.0 {
            let _ = tcsetattr(terminal, OptionalActions::Drain, modes);
        }
    }
}
