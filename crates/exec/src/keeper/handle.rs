//! relay's handle on a keeper: the process, the socket, and what to do when it is gone.
//!
//! When this value goes, for whatever reason, the job is over: the keeper is told, waited for, and ended
//! if it does not obey. What a lost keeper kept has become relay's own by then, and is ended here; who was not seen to
//! end is counted, never taken for ended.

use std::io::{self, IoSlice, Read};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, sendmsg};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};

use crate::KEEPER_ARGUMENT;
use crate::keeper::own_children;
use crate::keeper::protocol::{JobTerminal, KEEP_OPEN_FDS, KeeperMessageDecoder, KeeperReport, STDIO_FDS};
use crate::output::streams::ChildStreams;
use crate::sys::{self, DescendantRoots, DescendantSweep};

/// How long a keeper may take beyond what its job may, before it is taken for dead.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// How long to end what a lost keeper left behind.
const SEARCH: Duration = Duration::from_secs(5);

/// So many looks in a row have to find nobody: one may pass by a process that makes the next and goes.
const EMPTY_LOOKS: usize = 2;

/// Between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The program that becomes a keeper, and what its command line says of its jobs.
#[derive(Debug, Clone)]
pub(crate) struct KeeperProgram {
    pub(crate) path: PathBuf,
    pub(crate) label: Option<&'static str>,
}

/// A running keeper.
#[derive(Debug)]
pub(crate) struct KeeperHandle {
    process: Child,
    socket: UnixStream,
    /// The order, as far as it is not sent, and the descriptors that go with its first bytes.
    unsent_request: Vec<u8>,
    unsent_streams: Option<ChildStreams>,
    messages: KeeperMessageDecoder,
    terminal: JobTerminal,
    /// How long it may take from being told to being gone.
    patience: Duration,
    /// When the keeper began, as the system counts.
    since: u64,
    /// The job is about to start, or has started.
    starting: bool,
    /// The job's process, once it is known.
    job: Option<(i32, u64)>,
    reported_end: bool,
    /// It was waited for.
    closed: bool,
}

/// What the keeper's socket brought.
#[derive(Debug)]
pub(crate) enum KeeperEvent {
    /// Nothing new.
    NoReport,
    /// How it ended, or why it did not begin.
    Final(KeeperReport),
    /// The keeper is gone without a word.
    KeeperLost,
}

impl KeeperHandle {
    /// Starts a keeper for this order.
    pub(crate) fn start(
        program: &KeeperProgram,
        order: Vec<u8>,
        streams: ChildStreams,
        place: JobTerminal,
        grace: Duration,
    ) -> io::Result<KeeperHandle> {
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_nonblocking(true)?;
        sys::silence_sigpipe(&socket)?;
        let mut command = Command::new(&program.path);
        command
            .arg(KEEPER_ARGUMENT)
            .args(program.label)
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let process = own_children::spawn_keeper(&mut command)?;
        let since = i32::try_from(process.id()).ok().and_then(sys::process_start_time).unwrap_or(0);
        let (messages, beside) = (KeeperMessageDecoder::default(), Some(streams));
        let patience = grace + PATIENCE;
        Ok(KeeperHandle {
            process,
            socket,
            unsent_request: order,
            unsent_streams: beside,
            messages,
            terminal: place,
            patience,
            since,
            starting: false,
            job: None,
            reported_end: false,
            closed: false,
        })
    }

    /// Whether the job's process runs, or has run.
    pub(crate) fn has_started(&self) -> bool {
        self.job.is_some()
    }

    /// Whether something of the job may have run.
    pub(crate) fn may_have_started(&self) -> bool {
        self.starting || self.has_started()
    }

    /// What to wait for on the socket.
    pub(crate) fn interest(&self) -> PollFlags {
        if self.unsent_request.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT }
    }

    /// Sends more of the order.
    pub(crate) fn send_request(&mut self) {
        while !self.unsent_request.is_empty() {
            match self.send_some() {
                Ok(length) => {
                    self.unsent_request.drain(..length);
                    self.unsent_streams = None;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // It is gone; reading from the socket says the same.
                Err(_) => self.unsent_request.clear(),
            }
        }
        self.unsent_streams = None;
    }

    fn send_some(&self) -> Result<usize, Errno> {
        let descriptors = self.unsent_streams.as_ref().map(ChildStreams::fds_to_send);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STDIO_FDS + KEEP_OPEN_FDS))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        if let Some(descriptors) = &descriptors {
            beside.push(SendAncillaryMessage::ScmRights(descriptors));
        }
        sendmsg(&self.socket, &[IoSlice::new(&self.unsent_request)], &mut beside, sys::SEND_FLAGS)
    }

    /// Reads what the keeper has to say.
    pub(crate) fn read_report(&mut self) -> io::Result<KeeperEvent> {
        let mut bytes = [0; 4096];
        loop {
            let read = self.socket.read(&mut bytes);
            if let Ok(length) = read {
                self.messages.push(&bytes[..length]);
            }
            while let Some(report) = self.messages.next_message()? {
                match report {
                    KeeperReport::Starting => self.starting = true,
                    KeeperReport::Started { pid, since } => self.job = Some((pid, since)),
                    verdict => {
                        self.reported_end = true;
                        return Ok(KeeperEvent::Final(verdict));
                    }
                }
            }
            match read {
                Ok(0) => return Ok(KeeperEvent::KeeperLost),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(KeeperEvent::NoReport),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Ok(KeeperEvent::KeeperLost),
            }
        }
    }

    /// Asks for the end of everything. What the keeper says about it can still be heard.
    pub(crate) fn stop(&self) {
        // Fails if it is gone already.
        let _ = self.socket.shutdown(Shutdown::Write);
    }

    /// It has had its time: it is not waited for any more.
    pub(crate) fn stop_waiting(&mut self) {
        self.patience = Duration::ZERO;
    }

    /// Waits until the keeper has closed its end. Says whether it did in time.
    fn closes_within(&mut self, most: Duration) -> bool {
        let until = Instant::now() + most;
        loop {
            match self.read_report() {
                Ok(KeeperEvent::KeeperLost) => return true,
                Ok(KeeperEvent::Final(_)) => continue,
                Ok(KeeperEvent::NoReport) => {}
                Err(_) => return false,
            }
            let left = until.saturating_duration_since(Instant::now());
            let Ok(time) = Timespec::try_from(left) else { return false };
            if left.is_zero() {
                return false;
            }
            let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
            let _ = poll(&mut fds, Some(&time));
        }
    }

    /// Sees to it that the job is over, and says how many of its processes may still run: nobody, unless the keeper
    /// was lost and what it kept could not be ended, or not be found.
    pub(crate) fn close(&mut self) -> usize {
        if std::mem::replace(&mut self.closed, true) {
            return 0;
        }
        self.stop();
        let closed = self.closes_within(self.patience);
        // Nobody is left to it if it said so; the rest is for one that hangs, or was ended itself.
        let _ = self.process.kill();
        let left = if closed && self.reported_end { 0 } else { self.kill_orphans() };
        own_children::wait_for_keeper(&mut self.process);
        left
    }

    /// Ends what a lost keeper kept: whoever has become relay's child by its end, whoever is in its session, the job's
    /// process, and all who descend from them. Its number is not given to another while it is not waited for.
    fn kill_orphans(&self) -> usize {
        let keeper = Pid::from_child(&self.process);
        // Its children are relay's when it is dead, and not before.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let _ = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(keeper), options));
        let session = Some(Pid::as_raw(Some(keeper))).filter(|_| self.terminal != JobTerminal::Users);
        let until = Instant::now() + SEARCH;
        let mut empty_looks = 0;
        loop {
            let Ok(living) = self.kill_orphans_once(session) else { return 1 };
            empty_looks = if living == 0 { empty_looks + 1 } else { 0 };
            if empty_looks == EMPTY_LOOKS {
                // Whoever left the job's group was not looked at where nobody is adopted.
                return usize::from(!sys::ADOPTS_ORPHANS && self.may_have_started());
            }
            if Instant::now() >= until {
                return living.max(1);
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Stops and ends whom it finds, and waits for the dead. Says how many lived.
    fn kill_orphans_once(&self, session: Option<i32>) -> io::Result<usize> {
        let own = own_children::lock();
        let roots = DescendantRoots::of_lost_keeper(session, self.job, self.since, &own);
        DescendantSweep::new(roots.clone()).sweep(&[Signal::STOP])?;
        let mut killed = DescendantSweep::new(roots);
        let living = killed.sweep(&[Signal::KILL])?;
        Ok(living.max(killed.reap_adopted()))
    }
}

impl AsFd for KeeperHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for KeeperHandle {
    fn drop(&mut self) {
        self.close();
    }
}
