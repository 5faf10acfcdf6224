//! Server-sent events: bytes in, frames out, by the rules of the WHATWG's "Interpreting an event stream".
//!
//! One departure: the standard drops a last event that no blank line ends. Some servers close right behind their last
//! `data:` line, so [`Events::end`] hands it out; whoever reads it tells from its JSON whether it is whole
//! ([`crate::Decode`] takes a half one for a connection that was cut off). `id` and `retry` are read over: relay asks
//! again with a new request, never by reconnecting to the same stream.
//! Invariant: any cutting of the bytes gives the same frames; an event has at most [`FRAME_MOST`] bytes.

use crate::failure::Failure;
use crate::lines::{Cutter, Ends, FRAME_MOST, too_large};
use crate::wire::Frame;

#[cfg(test)]
mod tests;

/// What the buffer of an event keeps of its room when the event is through.
const ROOM_KEPT: usize = 64 << 10;

/// Reads server-sent events.
#[derive(Debug)]
pub struct Events {
    cutter: Cutter,
    event: Pending,
}

/// The event whose end has not come.
#[derive(Debug, Default)]
struct Pending {
    name: String,
    data: String,
    /// A `data` line came, if only an empty one.
    has_data: bool,
}

impl Default for Events {
    fn default() -> Events {
        Events { cutter: Cutter::new(Ends::Any), event: Pending::default() }
    }
}

impl Events {
    /// More bytes; `each` gets the events that are whole now.
    ///
    /// # Errors
    /// [`crate::Class::TooLarge`], and what `each` says.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        each: &mut dyn FnMut(&Frame<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let event = &mut self.event;
        self.cutter.feed(bytes, &mut |line| event.line(line, each))
    }

    /// Nothing more comes; `each` gets the last event, if it has data.
    ///
    /// # Errors
    /// See [`Events::feed`].
    pub fn end(&mut self, each: &mut dyn FnMut(&Frame<'_>) -> Result<(), Failure>) -> Result<(), Failure> {
        let event = &mut self.event;
        self.cutter.end(&mut |line| event.line(line, each))?;
        self.event.dispatch(each)
    }
}

impl Pending {
    fn line(
        &mut self,
        line: &str,
        each: &mut dyn FnMut(&Frame<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if line.is_empty() {
            return self.dispatch(each);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.data.len() + value.len() >= FRAME_MOST {
                    return Err(too_large());
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

    fn dispatch(&mut self, each: &mut dyn FnMut(&Frame<'_>) -> Result<(), Failure>) -> Result<(), Failure> {
        let result = if self.has_data { each(&Frame { name: &self.name, data: &self.data }) } else { Ok(()) };
        self.name.clear();
        self.data.clear();
        self.data.shrink_to(ROOM_KEPT);
        self.has_data = false;
        result
    }
}
