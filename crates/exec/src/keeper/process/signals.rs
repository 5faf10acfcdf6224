//! What the keeper does about signals: some wake it, some ask it to end, some it outlives.
//!
//! All are caught, none is ignored: a program that the keeper starts would inherit an ignored signal,
//! but begins with the usual effect of a caught one.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::{flag, low_level};

/// What is typed at a terminal is meant for the program in it.
const OUTLIVED: [i32; 3] = [SIGINT, SIGQUIT, SIGTSTP];

/// Ask the keeper itself.
const ENDING: [i32; 2] = [SIGTERM, SIGHUP];

/// The signals of this process, caught.
pub(crate) struct KeeperSignals {
    wake_socket: UnixStream,
    stop_requested: Arc<AtomicBool>,
}

impl KeeperSignals {
    /// From now on.
    pub(crate) fn catch() -> io::Result<KeeperSignals> {
        let (wakes, wake) = UnixStream::pair()?;
        wakes.set_nonblocking(true)?;
        let asked = Arc::new(AtomicBool::new(false));
        for signal in OUTLIVED {
            flag::register(signal, Arc::new(AtomicBool::new(false)))?;
        }
        for signal in ENDING {
            flag::register(signal, Arc::clone(&asked))?;
            low_level::pipe::register(signal, wake.try_clone()?)?;
        }
        low_level::pipe::register(SIGCHLD, wake)?;
        Ok(KeeperSignals { wake_socket: wakes, stop_requested: asked })
    }

    /// Readable when one came.
    pub(crate) fn wake_socket(&self) -> &UnixStream {
        &self.wake_socket
    }

    /// No longer readable, until the next one comes.
    pub(crate) fn drain_wakeups(&self) {
        let mut bytes = [0; 256];
        while (&self.wake_socket).read(&mut bytes).is_ok_and(|length| length > 0) {}
    }

    /// Whether somebody asked this process to end.
    pub(crate) fn stop_requested(&self) -> bool {
        self.stop_requested.load(Ordering::SeqCst)
    }
}
