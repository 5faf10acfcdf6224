//! Frames on their way to the program: one queue, one thread that writes.
//!
//! Invariant: at most [`MAX_WAITING_BYTES`] wait, or one frame that is larger. Whoever has more waits, and so commands are read no
//! faster than their answers are; the agent never waits here. After the last command only a little time is left for what waits.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::frame::RpcFrame;

/// Bytes of frames that wait.
pub const MAX_WAITING_BYTES: usize = 1 << 20;
/// How long the program may take for the last frames.
const LAST_FRAMES: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(crate) struct Outbox {
    state: Mutex<OutboxState>,
    bell: Condvar,
}

#[derive(Default)]
struct OutboxState {
    frames: VecDeque<Vec<u8>>,
    bytes: usize,
    /// They were taken and are not written yet.
    is_writing: bool,
    /// No more commands come: until then frames are taken.
    until: Option<Instant>,
    is_closed: bool,
}

/// The program reads no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutboxClosed;

impl Outbox {
    pub(crate) fn push(&self, frame: &RpcFrame<'_>) -> Result<(), OutboxClosed> {
        self.push_lines(frame.to_line(), None)
    }

    /// The same for whoever cannot wait longer.
    pub(crate) fn push_within(&self, frame: &RpcFrame<'_>, most: Duration) -> Result<(), OutboxClosed> {
        self.push_lines(frame.to_line(), Some(Instant::now() + most))
    }

    /// Whole lines; waits until there is room for them.
    pub(crate) fn push_lines(
        &self,
        lines: Vec<u8>,
        mut deadline: Option<Instant>,
    ) -> Result<(), OutboxClosed> {
        let mut state = self.lock();
        while !state.is_closed && state.bytes > 0 && state.bytes + lines.len() > MAX_WAITING_BYTES {
            deadline = deadline.into_iter().chain(state.until).min();
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            state = match left {
                Some(left) if left.is_zero() => return Err(OutboxClosed),
                Some(left) => self.bell.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.bell.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        if state.is_closed {
            return Err(OutboxClosed);
        }
        state.bytes += lines.len();
        state.frames.push_back(lines);
        drop(state);
        self.bell.notify_all();
        Ok(())
    }

    /// Writes until [`Outbox::close`]; the error ends it, too.
    pub(crate) fn write_to(&self, output: &mut dyn Write) -> std::io::Result<()> {
        while let Some(frames) = self.take() {
            let written = frames.iter().try_for_each(|frame| output.write_all(frame));
            let written = written.and_then(|()| output.flush());
            self.lock().is_writing = false;
            self.bell.notify_all();
            if let Err(error) = written {
                self.close();
                return Err(error);
            }
        }
        Ok(())
    }

    /// What waits; waits for it. `None`: there is no more.
    fn take(&self) -> Option<VecDeque<Vec<u8>>> {
        let mut state = self.lock();
        while state.frames.is_empty() {
            if state.is_closed {
                return None;
            }
            state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.bytes = 0;
        state.is_writing = true;
        self.bell.notify_all();
        Some(std::mem::take(&mut state.frames))
    }

    /// No more commands come: from now on nobody waits long for the program to read.
    pub(crate) fn limit_time(&self) {
        let mut state = self.lock();
        state.until.get_or_insert_with(|| Instant::now() + LAST_FRAMES);
        drop(state);
        self.bell.notify_all();
    }

    /// Waits until everything is written, as long as the program may take for it.
    pub(crate) fn drain(&self) {
        let until = Instant::now() + LAST_FRAMES;
        let mut state = self.lock();
        while !state.is_closed && (state.is_writing || !state.frames.is_empty()) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.bell.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Nothing is taken any more.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.bell.notify_all();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    fn lock(&self) -> MutexGuard<'_, OutboxState> {
        // Each change leaves the queue consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_bounded_and_a_larger_frame_passes_alone() {
        let outbox = Outbox::default();
        let now = Some(Instant::now());
        assert_eq!(outbox.push_lines(vec![b'x'; MAX_WAITING_BYTES], now), Ok(()));
        assert_eq!(outbox.push_lines(vec![b'x'], now), Err(OutboxClosed));
        assert_eq!(outbox.take().unwrap().len(), 1);
        assert_eq!(outbox.push_lines(vec![b'x'; 3 * MAX_WAITING_BYTES], now), Ok(()));
        assert_eq!(outbox.push_lines(vec![b'x'], now), Err(OutboxClosed));
    }

    #[test]
    fn frames_come_out_in_order_and_closing_ends_the_writer() {
        let outbox = Outbox::default();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut written = Vec::new();
                outbox.write_to(&mut written).map(|()| written)
            });
            for at in 0..1000 {
                outbox.push_lines(format!("{at}\n").into_bytes(), None).unwrap();
            }
            outbox.drain();
            outbox.close();
            let expected: String = (0..1000).map(|at| format!("{at}\n")).collect();
            assert_eq!(String::from_utf8(writer.join().unwrap().unwrap()).unwrap(), expected);
        });
        assert_eq!(outbox.push_lines(vec![b'x'], None), Err(OutboxClosed));
    }

    #[test]
    fn who_waits_for_room_is_let_go_when_the_output_fails() {
        struct BrokenPipe;
        impl Write for BrokenPipe {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let outbox = Outbox::default();
        outbox.push_lines(vec![b'x'; MAX_WAITING_BYTES], None).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| outbox.write_to(&mut BrokenPipe).unwrap_err());
            while outbox.push_lines(vec![b'x'; MAX_WAITING_BYTES], None).is_ok() {}
        });
    }
}
