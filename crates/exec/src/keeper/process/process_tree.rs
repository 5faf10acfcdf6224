//! The keeper's own descendants: reaped as they die, and ended to the last one.
//!
//! The keeper is a subreaper: whoever loses its parent below it becomes its child. So "no child left"
//! from the kernel means "no descendant left", whatever they did to hide, and only that ends the work. What holds on a
//! system without subreapers is said in [`crate::sys`].

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, wait};

use crate::keeper::process::signals::KeeperSignals;
use crate::sys::{ADOPTS_ORPHANS, DescendantRoots, DescendantSweep};

/// How long those that a program leaves behind may take to end by themselves.
const WIND_DOWN: Duration = Duration::from_millis(100);

/// How often newcomers are looked for while the others are given time to end.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// How long to wait between two rounds of SIGKILL.
const KILL_AGAIN: Duration = Duration::from_millis(10);

/// How long SIGKILL may take. Beyond that it is a process of another user, or one that hangs in the
/// kernel, and waiting does not help.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// Asks to end, also whoever is stopped.
const ASK: &[Signal] = &[Signal::TERM, Signal::CONT];

/// So many are a storm, or so many newcomers after SIGTERM: it gets no time, in which it would grow.
const MOST_ASKED: usize = 1000;
const MOST_NEWCOMERS: usize = 250;

/// All descendants of this process.
pub(crate) struct ProcessTree {
    child: Pid,
    status: Option<WaitStatus>,
    /// What to hear of: also of those that are stopped, if the user's shell could continue them.
    wait_options: WaitOptions,
    stopped: bool,
    signals: KeeperSignals,
    roots: DescendantRoots,
}

/// What became of those who had to be ended.
#[derive(Debug, Default)]
pub(crate) struct KillSummary {
    /// They lived when it began.
    pub(crate) ended: usize,
    /// They still do.
    pub(crate) escaped: usize,
}

impl ProcessTree {
    /// The family of this process, whose first child is this one; `stops`: it matters whether that one is stopped.
    pub(crate) fn new(child: Pid, signals: KeeperSignals, stops: bool) -> ProcessTree {
        let heard = if stops { WaitOptions::NOHANG | WaitOptions::UNTRACED } else { WaitOptions::NOHANG };
        let roots = DescendantRoots::of_keeper(rustix::process::getpid(), child);
        ProcessTree { child, status: None, wait_options: heard, stopped: false, signals, roots }
    }

    /// Whether the first child was stopped since this was asked last.
    pub(crate) fn has_stopped(&mut self) -> bool {
        std::mem::take(&mut self.stopped)
    }

    /// How the first child ended, if it has.
    pub(crate) fn status(&self) -> Option<WaitStatus> {
        self.status
    }

    /// Whether somebody asked this process to end.
    pub(crate) fn stop_requested(&self) -> bool {
        self.signals.stop_requested()
    }

    /// Takes note of the dead. Says whether nobody is left.
    pub(crate) fn reap(&mut self) -> bool {
        loop {
            match wait(self.wait_options) {
                Ok(Some((pid, status))) if status.stopped() => self.stopped |= pid == self.child,
                Ok(Some((pid, status))) if pid == self.child => self.status = Some(status),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return false,
                Err(_) => return self.is_group_empty(),
            }
        }
    }

    /// Waits until a signal comes, or something on this socket, or the time is over.
    pub(crate) fn wait(&self, socket: Option<BorrowedFd<'_>>, most: Option<Duration>) {
        let signals = self.signals.wake_socket().as_fd();
        let mut fds = vec![PollFd::from_borrowed_fd(signals, PollFlags::IN)];
        fds.extend(socket.map(|socket| PollFd::from_borrowed_fd(socket, PollFlags::IN)));
        let most = most.and_then(|most| Timespec::try_from(most).ok());
        // An interrupted wait is a short one: whoever waits looks again.
        let _ = poll(&mut fds, most.as_ref());
        self.signals.drain_wakeups();
    }

    /// Gives those that are about to end by themselves the moment they need for it: the other end of a
    /// pipeline is not left behind because it dies a little later.
    pub(crate) fn wind_down(&mut self) {
        let until = Instant::now() + WIND_DOWN;
        while !self.reap() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.wait(None, Some(left));
        }
    }

    /// Ends everybody: SIGTERM, time to obey, SIGKILL.
    pub(crate) fn terminate_all(&mut self, grace: Duration) -> KillSummary {
        if self.reap() {
            return KillSummary::default();
        }
        let mut rest = KillSummary::default();
        if !self.terminate(grace, &mut rest) {
            rest.escaped = self.kill();
        }
        rest
    }

    /// SIGTERM, and SIGCONT for those that are stopped. Says whether nobody is left.
    fn terminate(&mut self, grace: Duration, rest: &mut KillSummary) -> bool {
        let until = Instant::now() + grace;
        let mut kin = DescendantSweep::new(self.roots.clone());
        rest.ended = kin.sweep(ASK).unwrap_or_else(|_| self.signal_group(ASK));
        let most = MOST_ASKED.min(kin.seen_count() + MOST_NEWCOMERS);
        loop {
            if self.reap() {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || kin.seen_count() > most {
                return false;
            }
            self.wait(None, Some(left.min(LOOK_AGAIN)));
            if self.reap() {
                return true;
            }
            // Whoever is known without links has been asked.
            let _ = kin.sweep(ASK);
        }
    }

    /// SIGSTOP until nobody moves, then SIGKILL, and again. Says how many could not be ended.
    fn kill(&mut self) -> usize {
        let until = Instant::now() + KILL_PATIENCE;
        loop {
            let stopped = DescendantSweep::new(self.roots.clone()).sweep(&[Signal::STOP]);
            if stopped.and_then(|_| DescendantSweep::new(self.roots.clone()).sweep(&[Signal::KILL])).is_err()
            {
                self.signal_group(&[Signal::KILL]);
            }
            if self.reap() {
                return 0;
            }
            self.wait(None, Some(KILL_AGAIN));
            if self.reap() {
                return 0;
            }
            if Instant::now() >= until {
                return DescendantSweep::new(self.roots.clone()).sweep(&[]).unwrap_or(1).max(1);
            }
        }
    }

    /// Where `/proc` cannot be read there is still the group that the first child leads, and that child. Says how many
    /// there are at least.
    fn signal_group(&self, signals: &[Signal]) -> usize {
        for signal in signals {
            let _ = kill_process_group(self.child, *signal);
            if self.status.is_none() {
                let _ = kill_process(self.child, *signal);
            }
        }
        1
    }

    /// Whether nobody is left who is no child of ours. Where orphans are adopted, that cannot be.
    fn is_group_empty(&self) -> bool {
        ADOPTS_ORPHANS || DescendantSweep::new(self.roots.clone()).sweep(&[]).is_ok_and(|living| living == 0)
    }
}
