//! Changes in directories as Linux reports them, on a thread that sleeps until one comes.
//!
//! Only changes are asked for. The library used on other systems also reports each time a file is opened, which would
//! wake relay whenever anybody reads in the project's directory.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
use rustix::io::Errno;

use crate::clipboard::{WatchStopSignal, WatchThread};
use crate::config::ConfigFileCallback;

/// Room for several events; a name has at most 255 bytes.
const BUFFER: usize = 4_096;

/// Watches two directories until dropped.
#[derive(Debug)]
pub(crate) struct DirectoryWatcher {
    _thread: WatchThread,
}

impl DirectoryWatcher {
    pub(crate) fn start(root: &Path, home: Option<&Path>, ring: ConfigFileCallback) -> Result<Self, String> {
        let changes = WatchFlags::CLOSE_WRITE
            | WatchFlags::MODIFY
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::ONLYDIR;
        let watch = || -> std::io::Result<WatchThread> {
            let events = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
            add_watch(&events, root, changes)?;
            if let Some(home) = home {
                let _ = add_watch(&events, home, changes);
            }
            WatchThread::spawn("configuration", move |stop| listen(&events, stop, &ring))
        };
        Ok(DirectoryWatcher { _thread: watch().map_err(|error| error.to_string())? })
    }
}

fn listen(events: &OwnedFd, stop: &WatchStopSignal, ring: &ConfigFileCallback) {
    let mut buffer = [MaybeUninit::uninit(); BUFFER];
    loop {
        let (own, end) = (events.as_fd(), stop.as_fd());
        let mut fds = [PollFd::new(&own, PollFlags::IN), PollFd::new(&end, PollFlags::IN)];
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
        if !fds[1].revents().is_empty() {
            return;
        }
        let mut reader = Reader::new(events, &mut buffer);
        while let Ok(event) = reader.next() {
            if let Some(name) = event.file_name().and_then(|name| name.to_str().ok()) {
                ring(name);
            }
        }
    }
}
