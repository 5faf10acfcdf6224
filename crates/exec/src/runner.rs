//! relay's side: start a keeper, hand it the job, read what the job prints, and learn how it ended.
//!
//! One loop, no threads. Memory does not grow with what is printed. Whatever way `run` is left, also by a
//! panic of the caller's functions, nothing of the job is left running. A conversation with a job
//! ([`crate::LiveJob`]) is the same loop, a step at a time.

use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::keeper::handle::{KeeperEvent, KeeperHandle, KeeperProgram, PATIENCE};
use crate::keeper::protocol::{KeeperExitReason, KeeperReport, StartErrorKind, encode_message};
use crate::live::LiveJob;
use crate::output::capture::OutputCapture;
use crate::output::streams::{ChildStreams, ParentStreams, PipeReadOutcome, StdinWriter, open_streams};
use crate::{
    Deadlines, ExecError, ExitReason, FenceLevel, FenceProbe, Job, JobCommand, JobOutcome, JobOutput,
    probe_fence,
};

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
    keeper: KeeperProgram,
}

impl Runner {
    /// Jobs run under this program: relay itself.
    pub fn new(keeper: PathBuf) -> Runner {
        Runner { keeper: KeeperProgram { path: keeper, label: None } }
    }

    /// The same, with a word on the command line of its keepers, by which [`crate::count_keeper_ancestors`] finds them.
    #[must_use]
    pub fn with_label(mut self, label: &'static str) -> Runner {
        self.keeper.label = Some(label);
        self
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
    ) -> Result<JobOutcome, ExecError> {
        let mut running = RunningJob::start(&self.keeper, job)?;
        let watch = &mut |_: OutputStream, bytes: &[u8]| watch(bytes);
        loop {
            if let Some(verdict) = running.step(stop, watch, TICK)? {
                running.drain_output(watch);
                return running.finish(verdict, stop);
            }
        }
    }

    /// Runs a job in its fence at the best level that the machine allows. The strongest is tried with the job itself: a fence that
    /// cannot be built has not run anything. `scratch` is any directory that can be written.
    ///
    /// # Errors
    /// As [`Runner::run`]; also if the machine allows no fence.
    pub fn run_fenced(
        &self,
        job: &mut Job,
        scratch: &Path,
        stop: &dyn Fn() -> bool,
        watch: &mut dyn FnMut(&[u8]),
    ) -> Result<JobOutcome, ExecError> {
        let first = self.run(job, stop, watch);
        let (Err(ExecError::Fence { .. }), Some(fence)) = (&first, &mut job.fence) else { return first };
        if self.probe_fence(scratch).level != FenceLevel::Rules {
            return first;
        }
        fence.level = FenceLevel::Rules;
        self.run(job, stop, watch)
    }

    /// Which fence the machine allows, for a job that is started to talk with: it is not tried twice. `scratch` is any directory
    /// that can be written.
    pub fn probe_fence(&self, scratch: &Path) -> FenceProbe {
        probe_fence(&self.keeper.path, scratch)
    }

    /// Starts a job to talk with: what it prints is read, and with [`crate::Input::Open`] what it reads is
    /// written, a piece at a time.
    ///
    /// # Errors
    /// If no keeper can be started. That the program itself cannot be, [`LiveJob::next`] says.
    pub fn start(&self, job: &Job) -> Result<LiveJob, ExecError> {
        Ok(LiveJob::new(RunningJob::start(&self.keeper, job)?))
    }
}

/// Which of its streams a job printed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputStream {
    Stdout,
    Stderr,
}

/// Shown what a job prints.
pub(crate) type OutputListener<'a> = dyn FnMut(OutputStream, &[u8]) + 'a;

/// What the keeper said at last; `None`: it is gone without a word.
pub(crate) type FinalReport = Option<KeeperReport>;

/// What has to be known of a job while it runs.
#[derive(Debug)]
struct RunningJobSpec {
    command: JobCommand,
    directory: PathBuf,
    output: JobOutput,
    deadlines: Deadlines,
    grace: Duration,
}

/// A job while it runs.
pub(crate) struct RunningJob {
    spec: RunningJobSpec,
    modes: TerminalModes,
    // Before the streams: a terminal that goes while its job runs would end it the rough way.
    keeper: KeeperHandle,
    streams: ParentStreams,
    stdout: OutputCapture,
    stderr: OutputCapture,
    buffer: Vec<u8>,
    /// Nobody had the job's terminal open when it was last read.
    terminal_closed: bool,
    started_at: Instant,
    last_byte: Instant,
    /// When the caller is asked next whether it is still wanted.
    next_stop_check: Instant,
    /// Why and when the keeper was asked to end it.
    stop_request: Option<(ExitReason, Instant)>,
}

/// What can be done without waiting.
#[derive(Debug, Default)]
struct PollReadiness {
    keeper_writable: bool,
    keeper_readable: bool,
    input: bool,
    output: bool,
    errors: bool,
}

impl RunningJob {
    /// Starts a keeper, which starts the job.
    fn start(keeper: &KeeperProgram, job: &Job) -> Result<RunningJob, ExecError> {
        let began = Instant::now();
        let (ours, theirs) = open_streams(job)?;
        let modes = TerminalModes::save(job, &theirs);
        let program = || job.command.name();
        let order = encode_message(&job.request())
            .map_err(|source| ExecError::CannotRun { program: program(), source })?;
        let started = KeeperHandle::start(keeper, order, theirs, job.terminal(), job.grace());
        Ok(RunningJob {
            spec: RunningJobSpec {
                command: job.command.clone(),
                directory: job.directory.clone(),
                output: job.output,
                deadlines: job.deadlines,
                grace: job.grace(),
            },
            modes,
            keeper: started.map_err(|source| ExecError::Keeper { program: program(), source })?,
            streams: ours,
            stdout: OutputCapture::new(&job.capture, ""),
            stderr: OutputCapture::new(&job.capture, ".stderr"),
            buffer: vec![0; CHUNK],
            terminal_closed: false,
            started_at: began,
            last_byte: began,
            next_stop_check: began,
            stop_request: None,
        })
    }

    /// Serves the job once: waits for something to do, `most` at most, and does it. Says what the keeper's
    /// last word was, once it is spoken.
    pub(crate) fn step(
        &mut self,
        stop: &dyn Fn() -> bool,
        watch: &mut OutputListener<'_>,
        most: Duration,
    ) -> Result<Option<FinalReport>, ExecError> {
        self.serve(stop, watch, most.min(TICK))
            .map_err(|source| ExecError::Keeper { program: self.spec.command.name(), source })
    }

    fn serve(
        &mut self,
        stop: &dyn Fn() -> bool,
        watch: &mut OutputListener<'_>,
        most: Duration,
    ) -> io::Result<Option<FinalReport>> {
        let ready = self.wait(most)?;
        if ready.keeper_writable {
            self.keeper.send_request();
        }
        if ready.input && self.streams.input.as_mut().is_some_and(|input| input.write()) {
            self.streams.input = None;
        }
        if ready.output {
            self.read_stream(OutputStream::Stdout, watch);
        }
        if ready.errors {
            self.read_stream(OutputStream::Stderr, watch);
        }
        if ready.keeper_readable {
            match self.keeper.read_report()? {
                KeeperEvent::Final(verdict) => return Ok(Some(Some(verdict))),
                KeeperEvent::KeeperLost => return Ok(Some(None)),
                KeeperEvent::NoReport => {}
            }
        }
        let now = Instant::now();
        if self.stop_request.is_none() && now >= self.next_stop_check {
            self.next_stop_check = now + TICK;
            if stop() {
                self.request_stop(ExitReason::Stopped, now);
            } else if self.is_idle(now) {
                self.request_stop(ExitReason::Idle, now);
            }
        }
        if self.keeper_hangs(now) {
            self.keeper.stop_waiting();
            return Ok(Some(None));
        }
        Ok(None)
    }

    /// Gives the job more to read.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        if let Some(input) = &mut self.streams.input {
            input.add(bytes);
        }
    }

    /// Bytes that the job has not taken yet.
    pub(crate) fn unsent_bytes(&self) -> usize {
        self.streams.input.as_ref().map_or(0, StdinWriter::remaining)
    }

    /// The job reads what it was given, and then the end.
    pub(crate) fn close_input(&mut self) {
        if self.streams.input.as_mut().is_some_and(StdinWriter::close) {
            self.streams.input = None;
        }
    }

    /// Waits for something to do, one tick at most.
    fn wait(&mut self, most: Duration) -> io::Result<PollReadiness> {
        // What is typed before the program has its terminal would be typed to nobody.
        let can_type = self.keeper.has_started();
        let input = self.streams.input.as_ref().filter(|input| can_type && input.has_work());
        let output = self.streams.output.as_ref().filter(|_| !self.terminal_closed);
        let mut fds = vec![PollFd::new(&self.keeper, self.keeper.interest())];
        fds.extend(input.map(|input| PollFd::new(input, PollFlags::OUT)));
        fds.extend(output.map(|output| PollFd::new(output, PollFlags::IN)));
        fds.extend(self.streams.errors.as_ref().map(|errors| PollFd::new(errors, PollFlags::IN)));
        let tick = Timespec { tv_sec: 0, tv_nsec: i64::from(most.min(TICK).subsec_nanos()) };
        let some = match poll(&mut fds, Some(&tick)) {
            Ok(some) => some,
            Err(Errno::INTR) => return Ok(PollReadiness::default()),
            Err(error) => return Err(error.into()),
        };
        let mut seen = fds.iter().map(PollFd::revents);
        let mut next = |is_there: bool| is_there.then(|| seen.next()).flatten().unwrap_or(PollFlags::empty());
        let keeper = next(true);
        let ready = PollReadiness {
            keeper_writable: keeper.contains(PollFlags::OUT),
            keeper_readable: !keeper.difference(PollFlags::OUT).is_empty(),
            input: !next(input.is_some()).is_empty(),
            output: !next(output.is_some()).is_empty(),
            errors: !next(self.streams.errors.is_some()).is_empty(),
        };
        self.terminal_closed = self.terminal_closed && some > 0;
        Ok(ready)
    }

    /// Reads one of the streams once. Says how much came.
    fn read_stream(&mut self, stream: OutputStream, watch: &mut OutputListener<'_>) -> usize {
        let is_pty = matches!(self.spec.output, JobOutput::Pty { .. });
        let (reader, capture) = match stream {
            OutputStream::Stdout => (&mut self.streams.output, &mut self.stdout),
            OutputStream::Stderr => (&mut self.streams.errors, &mut self.stderr),
        };
        match reader.as_ref().map_or(PipeReadOutcome::Eof, |reader| reader.read(&mut self.buffer)) {
            PipeReadOutcome::Bytes(length) => {
                self.last_byte = Instant::now();
                capture.push(&self.buffer[..length]);
                watch(stream, &self.buffer[..length]);
                return length;
            }
            PipeReadOutcome::WouldBlock => {}
            // A terminal can be opened again, and closing it hangs it up under the job.
            PipeReadOutcome::Eof if is_pty && stream == OutputStream::Stdout => self.terminal_closed = true,
            PipeReadOutcome::Eof => *reader = None,
        }
        0
    }

    /// Reads what is left when nobody of the job writes any more.
    pub(crate) fn drain_output(&mut self, watch: &mut OutputListener<'_>) {
        for stream in [OutputStream::Stdout, OutputStream::Stderr] {
            let mut total = 0;
            while total < MOST_LEFT {
                match self.read_stream(stream, watch) {
                    0 => break,
                    length => total += length,
                }
            }
        }
    }

    fn request_stop(&mut self, why: ExitReason, now: Instant) {
        self.stop_request = Some((why, now));
        self.keeper.stop();
    }

    fn is_idle(&self, now: Instant) -> bool {
        let watched = !self.spec.output.is_passed_through();
        watched && self.spec.deadlines.idle.is_some_and(|idle| now.duration_since(self.last_byte) >= idle)
    }

    /// Whether the keeper should have spoken long ago.
    fn keeper_hangs(&self, now: Instant) -> bool {
        let patience = self.spec.grace + PATIENCE;
        let since_asked = self.stop_request.is_some_and(|(_, asked)| now.duration_since(asked) > patience);
        let total = self.spec.deadlines.total.map(|total| total.saturating_add(patience));
        since_asked || total.is_some_and(|total| now.duration_since(self.started_at) > total)
    }

    /// What came of it.
    pub(crate) fn finish(
        mut self,
        last: FinalReport,
        stop: &dyn Fn() -> bool,
    ) -> Result<JobOutcome, ExecError> {
        let took = self.started_at.elapsed();
        let (end, left_behind, escaped, unprotected) = match last {
            Some(KeeperReport::Ended { how, left_behind, escaped, unprotected }) => {
                (self.exit_reason(how), left_behind, escaped, unprotected)
            }
            Some(KeeperReport::FenceFailed { step, said }) => {
                return Err(ExecError::Fence { program: self.spec.command.program_name(), step, said });
            }
            Some(KeeperReport::Failed { part, errno, said }) => {
                return Err(self.start_error(part, errno, said));
            }
            _ if self.keeper.may_have_started() => (ExitReason::KeeperLost, 0, 0, Vec::new()),
            // A Ctrl-C reaches a keeper that has only just begun, and relay at the same time.
            _ if self.stop_request.is_some() || stop() => (ExitReason::Stopped, 0, 0, Vec::new()),
            _ => {
                let source = io::ErrorKind::UnexpectedEof.into();
                return Err(ExecError::Keeper { program: self.spec.command.name(), source });
            }
        };
        // Before the streams are let go of: it has nothing to wait for unless it was lost.
        let escaped = escaped.max(self.keeper.close());
        if !matches!(end, ExitReason::Exited(_)) {
            self.modes.restore();
        }
        let (stdout, stderr) = (self.stdout.finish(), self.stderr.finish());
        let unprotected = unprotected.into_iter().map(PathBuf::from).collect();
        Ok(JobOutcome { reason: end, stdout, stderr, took, left_behind, escaped, unprotected })
    }

    fn exit_reason(&self, how: KeeperExitReason) -> ExitReason {
        match how {
            KeeperExitReason::Exited(code) => ExitReason::Exited(code),
            KeeperExitReason::Signalled(signal) => ExitReason::Signalled(signal),
            KeeperExitReason::Deadline => ExitReason::DeadlinePassed,
            KeeperExitReason::Asked => self.stop_request.map_or(ExitReason::Stopped, |(why, _)| why),
            KeeperExitReason::Terminated => ExitReason::KeeperLost,
        }
    }

    fn start_error(&self, part: StartErrorKind, errno: Option<i32>, said: String) -> ExecError {
        let program = self.spec.command.program_name();
        let source = errno.map_or_else(|| io::Error::other(said), io::Error::from_raw_os_error);
        match part {
            StartErrorKind::Directory => {
                ExecError::Directory { directory: self.spec.directory.clone(), source }
            }
            StartErrorKind::Missing => ExecError::NotFound { program },
            StartErrorKind::Program => ExecError::CannotRun { program, source },
            StartErrorKind::Terminal => {
                ExecError::System { action: "take the terminal made for a process", source }
            }
        }
    }
}

/// How the user's terminal was set before an editor or a pager got it.
#[derive(Debug)]
struct TerminalModes(Option<(std::os::fd::OwnedFd, Termios)>);

impl TerminalModes {
    fn save(job: &Job, theirs: &ChildStreams) -> TerminalModes {
        let [terminal, ..] = theirs.stdio_fds();
        let wanted = job.output.is_passed_through().then(|| tcgetattr(terminal).ok()).flatten();
        TerminalModes(wanted.and_then(|modes| Some((terminal.as_fd().try_clone_to_owned().ok()?, modes))))
    }

    /// A program that was ended had no time to do it itself.
    fn restore(&self) {
        if let Some((terminal, modes)) = &self.0 {
            let _ = tcsetattr(terminal, OptionalActions::Drain, modes);
        }
    }
}
