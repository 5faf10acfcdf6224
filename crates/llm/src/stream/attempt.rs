//! One attempt at an answer: its clocks, its byte count, and the shape of its body.

use std::time::Duration;

use tokio::time::Instant;

use super::options::StreamTimeouts;
use crate::failure::{FailureClass, ModelFailure};
use crate::wire::Framing;

/// Extra time for a reader that was away too long.
const GRACE: Duration = Duration::from_secs(10);

/// The clocks and counters of one attempt.
pub(super) struct StreamAttempt {
    deadline: Instant,
    end: Instant,
    /// The reader was away when the deadline passed, and got its extra time.
    grace_used: bool,
    pub(super) received: usize,
    /// According to the first byte.
    pub(super) shape: BodyShape,
}

pub(super) enum BodyShape {
    Unknown,
    Stream,
    /// One JSON text, as far as it is kept.
    Document(Vec<u8>),
}

impl StreamAttempt {
    pub(super) fn new(timeouts: StreamTimeouts) -> StreamAttempt {
        let now = Instant::now();
        StreamAttempt {
            deadline: now + timeouts.first_byte,
            end: now + timeouts.total,
            grace_used: false,
            received: 0,
            shape: BodyShape::Unknown,
        }
    }

    pub(super) fn record_bytes(&mut self, bytes: usize, timeouts: StreamTimeouts) {
        self.received += bytes;
        self.deadline = Instant::now() + timeouts.idle;
        self.grace_used = false;
    }

    /// A reader that was away while the time passed has not seen what came meanwhile: it gets some extra
    /// time, once.
    pub(super) fn deadline(&mut self) -> Instant {
        let now = Instant::now();
        if self.deadline <= now && !self.grace_used {
            self.grace_used = true;
            self.deadline = now + GRACE;
        }
        self.deadline.min(self.end)
    }

    pub(super) fn timeout_failure(&self, provider: &str) -> ModelFailure {
        let what = if Instant::now() >= self.end {
            "took too long for the whole answer"
        } else if self.received == 0 {
            "did not answer in time. A model that must be loaded first may need more"
        } else {
            "stopped in the middle of the answer"
        };
        ModelFailure::new(FailureClass::Timeout, format!("{provider} {what}"))
    }
}

/// An event stream begins with neither a brace nor a bracket nor an angle.
pub(super) fn detect_body_shape(chunk: &[u8], framing: Framing) -> BodyShape {
    let chunk = chunk.strip_prefix(b"\xef\xbb\xbf").unwrap_or(chunk);
    match (chunk.trim_ascii_start().first(), framing) {
        (None, _) => BodyShape::Unknown,
        (Some(b'<'), _) | (Some(b'{' | b'['), Framing::Events) => BodyShape::Document(Vec::new()),
        _ => BodyShape::Stream,
    }
}
