//! Who holds the clipboard: on Linux it is a running program, not a place.
//!
//! When [`ClipboardHolder::replace`] returns, the new program holds it and the old one has let go.

use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::Signal;

use super::LIMIT;
use crate::expect::expect_ok;
use crate::process::{ChildGuard, poll_until, temp_file_with};

/// How long a program takes at most to exit after it lost the clipboard, unless it hangs.
const LETS_GO: Duration = Duration::from_millis(500);

/// Our program that held the clipboard last.
#[derive(Debug, Default)]
pub(super) struct ClipboardHolder(Mutex<Option<ChildGuard>>);

impl ClipboardHolder {
    /// Starts `command`, which takes the clipboard with what it reads, and stays.
    pub(super) fn replace(&self, command: &mut Command, bytes: &[u8], is_there: impl Fn() -> bool) {
        let mut held = self.lock();
        let mut old = held.take();
        let held_until_now = old.as_mut().is_some_and(|old| old.wait_exit(Duration::ZERO).is_none());
        command.stdin(expect_ok(temp_file_with(bytes), "could not write what is copied"));
        *held = Some(expect_ok(ChildGuard::start(command), "could not start the program that copies"));
        // The old program exits when it loses the clipboard: that is the moment. Without one (or if it
        // hangs) only the content tells.
        let let_go = held_until_now && old.as_mut().is_some_and(|old| old.wait_exit(LETS_GO).is_some());
        let there = let_go || poll_until(LIMIT, || is_there().then_some(())).is_some();
        assert!(there, "{command:?} did not take the clipboard within {LIMIT:?}");
    }

    /// The program neither answers nor exits.
    pub(super) fn hang(&self) {
        if let Some(program) = self.lock().as_mut() {
            program.signal(Signal::STOP);
        }
    }

    pub(super) fn kill(&self) {
        if let Some(program) = self.lock().as_mut() {
            program.signal(Signal::KILL);
            program.wait_exit(LIMIT);
        }
    }

    /// The program exits by itself, because its desktop is gone.
    pub(super) fn wait_desktop_exit(&self) {
        if let Some(program) = self.lock().as_mut() {
            program.signal(Signal::CONT);
            program.wait_exit(LETS_GO);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<ChildGuard>> {
        // A failing test may still end what it started.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
