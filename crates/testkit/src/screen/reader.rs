//! Reads a terminal in a thread, and keeps the screen.
//!
//! Bytes are read and interpreted under one lock: whoever holds it sees either nothing of them or their
//! whole effect.

use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, PipeReader, PipeWriter, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::process::wait_ready;

/// Lines kept after they scrolled off.
const SCROLLBACK: usize = 200_000;

/// The thread, and what it read.
#[derive(Debug)]
pub(super) struct ScreenReader {
    shared: Arc<ScreenShared>,
    /// Closed to stop the thread.
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

struct ScreenShared {
    seen: Mutex<ScreenState>,
    /// Something was read, or the end.
    more: Condvar,
}

struct ScreenState {
    parser: vt100::Parser,
    raw: Vec<u8>,
    /// Nothing comes any more.
    ended: bool,
}

impl ScreenReader {
    pub(super) fn start(master: File, columns: u16, rows: u16) -> std::io::Result<ScreenReader> {
        let parser = vt100::Parser::new(rows, columns, SCROLLBACK);
        let seen = Mutex::new(ScreenState { parser, raw: Vec::new(), ended: false });
        let shared = Arc::new(ScreenShared { seen, more: Condvar::new() });
        let (stopped, stop) = std::io::pipe()?;
        let theirs = Arc::clone(&shared);
        let read = move || theirs.read(master, &stopped);
        let thread = thread::Builder::new().name("terminal".to_owned()).spawn(read)?;
        Ok(ScreenReader { shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Queries or changes the emulator.
    pub(super) fn parser<T>(&self, ask: impl FnOnce(&mut vt100::Parser) -> T) -> T {
        ask(&mut self.shared.lock().parser)
    }

    pub(super) fn raw(&self) -> Vec<u8> {
        self.shared.lock().raw.clone()
    }

    /// Grows with everything that is read.
    pub(super) fn version(&self) -> usize {
        self.shared.lock().raw.len()
    }

    /// Waits until there is more than at `version`, or `limit` has passed; `false` if nothing will come.
    pub(super) fn wait_for_more(&self, version: usize, limit: Duration) -> bool {
        let seen = self.shared.lock();
        let nothing_yet = |seen: &mut ScreenState| seen.raw.len() == version && !seen.ended;
        let waited = self.shared.more.wait_timeout_while(seen, limit, nothing_yet);
        let (seen, _) = waited.unwrap_or_else(PoisonError::into_inner);
        seen.raw.len() > version || !seen.ended
    }

    /// Waits until everything in the terminal was read, or `limit` has passed.
    pub(super) fn read_out(&self, master: &File, limit: Duration) {
        let began = Instant::now();
        while began.elapsed() < limit {
            let seen = self.shared.lock();
            if seen.ended || !wait_ready(master, PollFlags::IN, Duration::ZERO) {
                return;
            }
            let version = seen.raw.len();
            drop(seen);
            self.wait_for_more(version, limit.saturating_sub(began.elapsed()));
        }
    }

    /// Stops reading, and closes its side of the terminal.
    pub(super) fn stop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl ScreenShared {
    fn lock(&self) -> MutexGuard<'_, ScreenState> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, mut master: File, stopped: &PipeReader) {
        let mut bytes = vec![0; 64 << 10];
        loop {
            let mut waiting = [PollFd::new(&master, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
            let polled = poll(&mut waiting, None);
            let stop = !waiting[1].revents().is_empty();
            if polled == Err(Errno::INTR) {
                continue;
            }
            let mut seen = self.lock();
            match master.read(&mut bytes) {
                _ if stop || polled.is_err() => seen.ended = true,
                Ok(count) if count > 0 => {
                    seen.raw.extend_from_slice(&bytes[..count]);
                    seen.parser.process(&bytes[..count]);
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                // The last program that had it open has closed it.
                _ => seen.ended = true,
            }
            let ended = seen.ended;
            drop(seen);
            self.more.notify_all();
            if ended {
                return;
            }
        }
    }
}

impl fmt::Debug for ScreenShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScreenShared").finish_non_exhaustive()
    }
}
