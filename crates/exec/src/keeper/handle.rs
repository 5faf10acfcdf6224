//! relay's handle on a keeper: the process, the socket, and what to do when it is gone.
//!
//! When this value goes, for whatever reason, the job is over: the keeper is told, waited for, and ended
//! if it does not obey; what it kept is then looked for here.

use std::io::{self, IoSlice, Read};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, sendmsg};
use rustix::process::Signal;

use crate::KEEPER_ARGUMENT;
use crate::keeper::protocol::{JobTerminal, KEEP_OPEN_FDS, KeeperMessageDecoder, KeeperReport, STDIO_FDS};
use crate::output::streams::ChildStreams;
use crate::sys::{self, DescendantRoots, DescendantSweep};

/// How long a keeper may take beyond what its job may, before it is taken for dead.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// How long to look for what a lost keeper left behind.
const SEARCH: Duration = Duration::from_secs(2);

/// Between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

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
    /// The job's process, once it is known.
    job: Option<(i32, u64)>,
    reported_end: bool,
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
        program: &Path,
        order: Vec<u8>,
        streams: ChildStreams,
        place: JobTerminal,
        grace: Duration,
    ) -> io::Result<KeeperHandle> {
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_nonblocking(true)?;
        sys::silence_sigpipe(&socket)?;
        let process = Command::new(program)
            .arg(KEEPER_ARGUMENT)
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
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
            job: None,
            reported_end: false,
        })
    }

    /// Whether the job's process runs, or has run.
    pub(crate) fn has_started(&self) -> bool {
        self.job.is_some()
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

    /// Ends what a lost keeper kept: whoever is in its session, the job's process, and all who descend
    /// from them. Its number is not given to another while it is not waited for.
    fn kill_orphans(&self) {
        let session = i32::try_from(self.process.id()).ok().filter(|_| self.terminal != JobTerminal::Users);
        let roots = DescendantRoots::of_lost_keeper(session, self.job);
        let until = Instant::now() + SEARCH;
        loop {
            let _ = DescendantSweep::new(roots).sweep(&[Signal::STOP]);
            let living = DescendantSweep::new(roots).sweep(&[Signal::KILL]).unwrap_or(0);
            if living == 0 || Instant::now() >= until {
                return;
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

impl AsFd for KeeperHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for KeeperHandle {
    fn drop(&mut self) {
        self.stop();
        let closed = self.closes_within(self.patience);
        // Nobody is left to it if it said so; the rest is for one that hangs, or was ended itself.
        let _ = self.process.kill();
        if !closed || !self.reported_end {
            self.kill_orphans();
        }
        let _ = self.process.wait();
    }
}
