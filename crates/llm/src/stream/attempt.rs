//! One attempt at an answer: its clocks, how much came, and what it looks like.

use std::time::Duration;

use tokio::time::Instant;

use super::options::Timeouts;
use crate::failure::{Class, Failure};
use crate::wire::Framing;

/// How long a reader that was away too long is waited for once more.
const GRACE: Duration = Duration::from_secs(10);

/// The clocks and counters of one attempt.
pub(super) struct Attempt {
    deadline: Instant,
    end: Instant,
    /// The reader was away when the deadline passed, and got a little more.
    graced: bool,
    pub(super) received: usize,
    /// What the first byte says that this is.
    pub(super) look: Look,
}

pub(super) enum Look {
    Unknown,
    Stream,
    /// One JSON text, as far as it is kept.
    Document(Vec<u8>),
}

impl Attempt {
    /// It begins now.
    pub(super) fn new(timeouts: Timeouts) -> Attempt {
        let now = Instant::now();
        Attempt {
            deadline: now + timeouts.first_byte,
            end: now + timeouts.total,
            graced: false,
            received: 0,
            look: Look::Unknown,
        }
    }

    /// So many bytes came.
    pub(super) fn came(&mut self, bytes: usize, timeouts: Timeouts) {
        self.received += bytes;
        self.deadline = Instant::now() + timeouts.idle;
        self.graced = false;
    }

    /// Until when to wait. A reader that was away while the time passed has not seen what came meanwhile: it gets a
    /// little more time, once.
    pub(super) fn deadline(&mut self) -> Instant {
        let now = Instant::now();
        if self.deadline <= now && !self.graced {
            self.graced = true;
            self.deadline = now + GRACE;
        }
        self.deadline.min(self.end)
    }

    pub(super) fn too_late(&self, provider: &str) -> Failure {
        let what = if Instant::now() >= self.end {
            "took too long for the whole answer"
        } else if self.received == 0 {
            "did not answer in time. A model that must be loaded first may need more"
        } else {
            "stopped in the middle of the answer"
        };
        Failure::new(Class::Timeout, format!("{provider} {what}"))
    }
}

/// What the first bytes say: an event stream begins with neither a brace nor a bracket nor an angle.
pub(super) fn look_at(chunk: &[u8], framing: Framing) -> Look {
    let chunk = chunk.strip_prefix(b"\xef\xbb\xbf").unwrap_or(chunk);
    match (chunk.trim_ascii_start().first(), framing) {
        (None, _) => Look::Unknown,
        (Some(b'<'), _) | (Some(b'{' | b'['), Framing::Events) => Look::Document(Vec::new()),
        _ => Look::Stream,
    }
}
