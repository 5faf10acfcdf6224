//! Server-sent events: bytes in, frames out, by the rules of the WHATWG's "Interpreting an event stream".
//!
//! One departure: the standard drops a last event that no blank line ends. Some servers close right behind their last
//! `data:` line, so [`SseDecoder::end`] hands it out; whoever reads it tells from its JSON whether it is whole
//! ([`crate::Decode`] takes a half one for a connection that was cut off). `id` and `retry` are read over: relay asks
//! again with a new request, never by reconnecting to the same stream.
//! Invariant: any cutting of the bytes gives the same frames; an event has at most [`MAX_FRAME_BYTES`] bytes.

use crate::failure::ModelFailure;
use crate::stream::line_splitter::{LineEnding, LineSplitter, MAX_FRAME_BYTES, frame_too_large};
use crate::wire::AnswerFrame;

#[cfg(test)]
mod tests;

/// What the buffer of an event keeps of its room when the event is through.
const ROOM_KEPT: usize = 64 << 10;

/// Reads server-sent events.
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
    /// A `data` line came, if only an empty one.
    has_data: bool,
}

impl Default for SseDecoder {
    fn default() -> SseDecoder {
        SseDecoder { cutter: LineSplitter::new(LineEnding::Any), event: PendingSseEvent::default() }
    }
}

impl SseDecoder {
    /// More bytes; `each` gets the events that are whole now.
    ///
    /// # Errors
    /// [`crate::Class::TooLarge`], and what `each` says.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        each: &mut dyn FnMut(&AnswerFrame<'_>) -> Result<(), ModelFailure>,
    ) -> Result<(), ModelFailure> {
        let event = &mut self.event;
        self.cutter.feed(bytes, &mut |line| event.line(line, each))
    }

    /// Nothing more comes; `each` gets the last event, if it has data.
    ///
    /// # Errors
    /// See [`SseDecoder::feed`].
    pub fn end(
        &mut self,
        each: &mut dyn FnMut(&AnswerFrame<'_>) -> Result<(), ModelFailure>,
    ) -> Result<(), ModelFailure> {
        let event = &mut self.event;
        self.cutter.end(&mut |line| event.line(line, each))?;
        self.event.dispatch(each)
    }
}

impl PendingSseEvent {
    fn line(
        &mut self,
        line: &str,
        each: &mut dyn FnMut(&AnswerFrame<'_>) -> Result<(), ModelFailure>,
    ) -> Result<(), ModelFailure> {
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
            // A comment has an empty name; `id`, `retry` and what nobody knows are read over.
            _ => {}
        }
        Ok(())
    }

    fn dispatch(
        &mut self,
        each: &mut dyn FnMut(&AnswerFrame<'_>) -> Result<(), ModelFailure>,
    ) -> Result<(), ModelFailure> {
        let result =
            if self.has_data { each(&AnswerFrame { name: &self.name, data: &self.data }) } else { Ok(()) };
        self.name.clear();
        self.data.clear();
        self.data.shrink_to(ROOM_KEPT);
        self.has_data = false;
        result
    }
}
