//! Server-sent events: bytes in, frames out, by the rules of the WHATWG's "Interpreting an event stream".
//!
//! One departure: the standard drops a last event without a blank line after it. Some servers close right
//! after their last `data:` line, so [`SseDecoder::end`] emits it; its JSON shows whether it is complete
//! ([`crate::AnswerDecoder`] takes an incomplete one for a cut connection). `id` and `retry` are ignored:
//! relay retries with a new request, never by reconnecting to the same stream. Invariant: any chunking of
//! the bytes gives the same frames; an event has at most [`MAX_FRAME_BYTES`] bytes.

use crate::failure::ModelResult;
use crate::stream::line_splitter::{LineEnding, LineSplitter, MAX_FRAME_BYTES, frame_too_large};
use crate::wire::{AnswerFrame, FrameSink};

#[cfg(test)]
mod tests;

/// Capacity that the buffer keeps after an event.
const ROOM_KEPT: usize = 64 << 10;

#[derive(Debug)]
pub struct SseDecoder {
    cutter: LineSplitter,
    event: PendingSseEvent,
}

/// The event whose end has not come.
#[derive(Debug, Default)]
struct PendingSseEvent {
    name: String,
    data: String,
    /// A `data` line came, perhaps an empty one.
    has_data: bool,
}

impl Default for SseDecoder {
    fn default() -> SseDecoder {
        SseDecoder { cutter: LineSplitter::new(LineEnding::Any), event: PendingSseEvent::default() }
    }
}

impl SseDecoder {
    /// `each` gets the events that are now complete.
    ///
    /// # Errors
    /// [`crate::FailureClass::TooLarge`], or the error of `each`.
    pub fn feed(&mut self, bytes: &[u8], each: &mut FrameSink<'_>) -> ModelResult {
        let event = &mut self.event;
        self.cutter.feed(bytes, &mut |line| event.line(line, each))
    }

    /// `each` gets the last event, if it has data.
    ///
    /// # Errors
    /// See [`SseDecoder::feed`].
    pub fn end(&mut self, each: &mut FrameSink<'_>) -> ModelResult {
        let event = &mut self.event;
        self.cutter.end(&mut |line| event.line(line, each))?;
        self.event.dispatch(each)
    }
}

impl PendingSseEvent {
    fn line(&mut self, line: &str, each: &mut FrameSink<'_>) -> ModelResult {
        if line.is_empty() {
            return self.dispatch(each);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.data.len() + value.len() >= MAX_FRAME_BYTES {
                    return Err(frame_too_large());
                }
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                self.has_data = true;
            }
            "event" => value.clone_into(&mut self.name),
            // A comment has an empty name; `id`, `retry` and unknown fields are ignored.
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, each: &mut FrameSink<'_>) -> ModelResult {
        let result =
            if self.has_data { each(&AnswerFrame { name: &self.name, data: &self.data }) } else { Ok(()) };
        self.name.clear();
        self.data.clear();
        self.data.shrink_to(ROOM_KEPT);
        self.has_data = false;
        result
    }
}
