//! From the bytes of an answer to its events, without a network: frames, the wire's reader, the message.
//!
//! Invariant: any cutting of the bytes gives the same events, there is one last event, and what comes behind it is
//! read over.

use std::sync::Arc;

use crate::assembly::Assembly;
use crate::event::Event;
use crate::failure::{Class, Failure};
use crate::lines::Lines;
use crate::message::AssistantMessage;
use crate::model::Model;
use crate::names::Names;
use crate::request::Call;
use crate::sse::Events;
use crate::veil::Veil;
use crate::wire::{Frame, Framing, Reader, Wire};

/// Cuts an answer into frames, however it is framed.
#[derive(Debug)]
pub enum Frames {
    /// Server-sent events.
    Events(Events),
    /// One JSON text per line.
    Lines(Lines),
}

impl Frames {
    /// For an answer that is framed like this.
    pub fn new(framing: Framing) -> Frames {
        match framing {
            Framing::Events => Frames::Events(Events::default()),
            Framing::Lines => Frames::Lines(Lines::default()),
        }
    }

    /// More bytes; `each` gets the frames that are whole now.
    ///
    /// # Errors
    /// [`Class::TooLarge`], and what `each` says.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        each: &mut dyn FnMut(&Frame<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match self {
            Frames::Events(events) => events.feed(bytes, each),
            Frames::Lines(lines) => lines.feed(bytes, each),
        }
    }

    /// Nothing more comes; `each` gets a last frame that has no end.
    ///
    /// # Errors
    /// See [`Frames::feed`].
    pub fn end(&mut self, each: &mut dyn FnMut(&Frame<'_>) -> Result<(), Failure>) -> Result<(), Failure> {
        match self {
            Frames::Events(events) => events.end(each),
            Frames::Lines(lines) => lines.end(each),
        }
    }
}

/// Reads one answer of a model.
pub struct Decode {
    frames: Frames,
    reader: Box<dyn Reader>,
    assembly: Assembly,
    failure: Option<Failure>,
}

impl Decode {
    /// For the answer to `call` over `wire`; `now` in milliseconds since 1970.
    pub fn new(wire: &dyn Wire, call: &Call<'_>, now: i64) -> Decode {
        Decode {
            frames: Frames::new(wire.framing()),
            reader: wire.reader(call),
            assembly: Assembly::new(call.model, now),
            failure: None,
        }
    }

    /// An answer that failed before it was asked for.
    pub fn failed(model: &Model, now: i64, failure: Failure) -> Decode {
        let mut decode = Decode {
            frames: Frames::new(Framing::Lines),
            reader: Box::new(Nothing),
            assembly: Assembly::new(model, now),
            failure: None,
        };
        decode.fail(failure);
        decode
    }

    /// Finished tool calls show what `veil` hides.
    #[must_use]
    pub fn with_veil(mut self, veil: Option<Arc<dyn Veil + Send + Sync>>) -> Decode {
        self.assembly.set_veil(veil);
        self
    }

    /// Calls name tools by their own names.
    #[must_use]
    pub(crate) fn with_names(mut self, names: Names) -> Decode {
        self.assembly.set_names(names);
        self
    }

    /// More of the answer. Behind its last event nothing is read.
    ///
    /// # Errors
    /// What the provider says went wrong, [`Class::Malformed`] or [`Class::TooLarge`]. The answer is not over by
    /// that: whoever cannot ask again says [`Decode::fail`].
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let Decode { frames, reader, assembly, .. } = self;
        if assembly.is_over() {
            return Ok(());
        }
        frames.feed(bytes, &mut |frame| read(reader.as_mut(), frame, assembly))
    }

    /// The body has ended.
    ///
    /// # Errors
    /// See [`Decode::feed`]; [`Failure::cut_off`] if the answer is not over.
    pub fn end(&mut self) -> Result<(), Failure> {
        let Decode { frames, reader, assembly, .. } = self;
        if assembly.is_over() {
            return Ok(());
        }
        // The frame that the end of the body cut is half a frame: that is the connection's doing.
        frames.end(&mut |frame| {
            read(reader.as_mut(), frame, assembly).map_err(|failure| match failure.class {
                Class::Malformed => Failure::cut_off(),
                _ => failure,
            })
        })?;
        if assembly.is_over() { Ok(()) } else { reader.end(assembly) }
    }

    /// Nothing more comes, and this is why. The first reason stays.
    pub fn fail(&mut self, failure: Failure) {
        if !self.assembly.is_over() {
            self.assembly.fail(&failure);
            self.failure = Some(failure);
        }
    }

    /// Why the answer is not whole.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// The message so far, and the events that wait.
    pub fn assembly(&mut self) -> &mut Assembly {
        &mut self.assembly
    }
}

fn read(reader: &mut dyn Reader, frame: &Frame<'_>, into: &mut Assembly) -> Result<(), Failure> {
    if into.is_over() { Ok(()) } else { reader.frame(frame, into) }
}

/// Reads nothing.
struct Nothing;

impl Reader for Nothing {
    fn frame(&mut self, _: &Frame<'_>, _: &mut Assembly) -> Result<(), Failure> {
        Ok(())
    }
}

/// A whole answer, decoded.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// What happened, with nothing merged but what came in one piece.
    pub events: Vec<Event>,
    /// The message at the end.
    pub message: AssistantMessage,
    /// Why it is not whole.
    pub failure: Option<Failure>,
    /// Places of tool calls whose arguments are not whole: [`Assembly::malformed`].
    pub malformed: Vec<usize>,
}

/// Decodes an answer that came in `chunks`, and then ended.
pub fn decode<'a>(
    wire: &dyn Wire,
    call: &Call<'_>,
    now: i64,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Decoded {
    let mut decode = Decode::new(wire, call, now);
    let mut events = Vec::new();
    let mut result = Ok(());
    for chunk in chunks {
        result = decode.feed(chunk);
        events.extend(std::iter::from_fn(|| decode.assembly.take()));
        if result.is_err() {
            break;
        }
    }
    if let Err(failure) = result.and_then(|()| decode.end()) {
        decode.fail(failure);
    }
    events.extend(std::iter::from_fn(|| decode.assembly.take()));
    Decoded {
        events,
        message: decode.assembly.message().clone(),
        failure: decode.failure,
        malformed: decode.assembly.malformed().to_vec(),
    }
}

/// The events with deltas of one piece that follow each other merged: what is the same for every cutting.
pub fn merged(events: impl IntoIterator<Item = Event>) -> Vec<Event> {
    let mut out: Vec<Event> = Vec::new();
    for event in events {
        let event = match out.last_mut() {
            Some(last) => last.merge(event),
            None => Some(event),
        };
        out.extend(event);
    }
    out
}
