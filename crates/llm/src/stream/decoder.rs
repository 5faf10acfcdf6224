//! From the bytes of an answer to its events, without a network: frames, the wire's reader, the message.
//!
//! Invariant: any cutting of the bytes gives the same events, there is one last event, and what comes behind it is
//! read over.

use std::sync::Arc;

use crate::failure::{FailureClass, ModelFailure};
use crate::message::AssistantMessage;
use crate::models::model::Model;
use crate::request::WireCall;
use crate::request::secret_mask::SecretMask;
use crate::request::tool_names::ToolNames;
use crate::stream::assembly::Assembly;
use crate::stream::event::StreamEvent;
use crate::stream::line_splitter::JsonLinesDecoder;
use crate::stream::sse::SseDecoder;
use crate::wire::{AnswerFrame, Framing, Wire, WireReader};

/// Cuts an answer into frames, however it is framed.
#[derive(Debug)]
pub enum FrameDecoder {
    /// Server-sent events.
    Events(SseDecoder),
    /// One JSON text per line.
    Lines(JsonLinesDecoder),
}

impl FrameDecoder {
    /// For an answer that is framed like this.
    pub fn new(framing: Framing) -> FrameDecoder {
        match framing {
            Framing::Events => FrameDecoder::Events(SseDecoder::default()),
            Framing::Lines => FrameDecoder::Lines(JsonLinesDecoder::default()),
        }
    }

    /// More bytes; `each` gets the frames that are whole now.
    ///
    /// # Errors
    /// [`FailureClass::TooLarge`], and what `each` says.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        each: &mut dyn FnMut(&AnswerFrame<'_>) -> Result<(), ModelFailure>,
    ) -> Result<(), ModelFailure> {
        match self {
            FrameDecoder::Events(events) => events.feed(bytes, each),
            FrameDecoder::Lines(lines) => lines.feed(bytes, each),
        }
    }

    /// Nothing more comes; `each` gets a last frame that has no end.
    ///
    /// # Errors
    /// See [`FrameDecoder::feed`].
    pub fn end(
        &mut self,
        each: &mut dyn FnMut(&AnswerFrame<'_>) -> Result<(), ModelFailure>,
    ) -> Result<(), ModelFailure> {
        match self {
            FrameDecoder::Events(events) => events.end(each),
            FrameDecoder::Lines(lines) => lines.end(each),
        }
    }
}

/// Reads one answer of a model.
pub struct AnswerDecoder {
    frames: FrameDecoder,
    reader: Box<dyn WireReader>,
    assembly: Assembly,
    failure: Option<ModelFailure>,
}

impl AnswerDecoder {
    /// For the answer to `call` over `wire`; `now` in milliseconds since 1970.
    pub fn new(wire: &dyn Wire, call: &WireCall<'_>, now: i64) -> AnswerDecoder {
        AnswerDecoder {
            frames: FrameDecoder::new(wire.framing()),
            reader: wire.reader(call),
            assembly: Assembly::new(call.model, now),
            failure: None,
        }
    }

    /// An answer that failed before it was asked for.
    pub fn failed(model: &Model, now: i64, failure: ModelFailure) -> AnswerDecoder {
        let mut decode = AnswerDecoder {
            frames: FrameDecoder::new(Framing::Lines),
            reader: Box::new(NullReader),
            assembly: Assembly::new(model, now),
            failure: None,
        };
        decode.fail(failure);
        decode
    }

    /// Finished tool calls show what `veil` hides.
    #[must_use]
    pub fn with_secret_mask(mut self, veil: Option<Arc<dyn SecretMask + Send + Sync>>) -> AnswerDecoder {
        self.assembly.set_secret_mask(veil);
        self
    }

    /// Calls name tools by their own names.
    #[must_use]
    pub(crate) fn with_names(mut self, names: ToolNames) -> AnswerDecoder {
        self.assembly.set_names(names);
        self
    }

    /// More of the answer. Behind its last event nothing is read.
    ///
    /// # Errors
    /// What the provider says went wrong, [`FailureClass::Malformed`] or [`FailureClass::TooLarge`]. The answer is not over by
    /// that: whoever cannot ask again says [`AnswerDecoder::fail`].
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), ModelFailure> {
        let AnswerDecoder { frames, reader, assembly, .. } = self;
        if assembly.is_finished() {
            return Ok(());
        }
        frames.feed(bytes, &mut |frame| read(reader.as_mut(), frame, assembly))
    }

    /// The body has ended.
    ///
    /// # Errors
    /// See [`AnswerDecoder::feed`]; [`ModelFailure::cut_off`] if the answer is not over.
    pub fn end(&mut self) -> Result<(), ModelFailure> {
        let AnswerDecoder { frames, reader, assembly, .. } = self;
        if assembly.is_finished() {
            return Ok(());
        }
        // The frame that the end of the body cut is half a frame: that is the connection's doing.
        frames.end(&mut |frame| {
            read(reader.as_mut(), frame, assembly).map_err(|failure| match failure.class {
                FailureClass::Malformed => ModelFailure::cut_off(),
                _ => failure,
            })
        })?;
        if assembly.is_finished() { Ok(()) } else { reader.end(assembly) }
    }

    /// Nothing more comes, and this is why. The first reason stays.
    pub fn fail(&mut self, failure: ModelFailure) {
        if !self.assembly.is_finished() {
            self.assembly.fail(&failure);
            self.failure = Some(failure);
        }
    }

    /// Why the answer is not whole.
    pub fn failure(&self) -> Option<&ModelFailure> {
        self.failure.as_ref()
    }

    /// The message so far, and the events that wait.
    pub fn assembly(&mut self) -> &mut Assembly {
        &mut self.assembly
    }
}

fn read(
    reader: &mut dyn WireReader,
    frame: &AnswerFrame<'_>,
    into: &mut Assembly,
) -> Result<(), ModelFailure> {
    if into.is_finished() { Ok(()) } else { reader.read_frame(frame, into) }
}

/// Reads nothing.
struct NullReader;

impl WireReader for NullReader {
    fn read_frame(&mut self, _: &AnswerFrame<'_>, _: &mut Assembly) -> Result<(), ModelFailure> {
        Ok(())
    }
}

/// A whole answer, decoded.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodedAnswer {
    /// What happened, with nothing merged but what came in one piece.
    pub events: Vec<StreamEvent>,
    /// The message at the end.
    pub message: AssistantMessage,
    /// Why it is not whole.
    pub failure: Option<ModelFailure>,
    /// Places of tool calls whose arguments are not whole: [`Assembly::malformed`].
    pub malformed: Vec<usize>,
}

/// Decodes an answer that came in `chunks`, and then ended.
pub fn decode_answer<'a>(
    wire: &dyn Wire,
    call: &WireCall<'_>,
    now: i64,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> DecodedAnswer {
    let mut decode = AnswerDecoder::new(wire, call, now);
    let mut events = Vec::new();
    let mut result = Ok(());
    for chunk in chunks {
        result = decode.feed(chunk);
        events.extend(std::iter::from_fn(|| decode.assembly.take_event()));
        if result.is_err() {
            break;
        }
    }
    if let Err(failure) = result.and_then(|()| decode.end()) {
        decode.fail(failure);
    }
    events.extend(std::iter::from_fn(|| decode.assembly.take_event()));
    DecodedAnswer {
        events,
        message: decode.assembly.message().clone(),
        failure: decode.failure,
        malformed: decode.assembly.malformed_calls().to_vec(),
    }
}

/// The events with deltas of one piece that follow each other merged: what is the same for every cutting.
pub fn merge_deltas(events: impl IntoIterator<Item = StreamEvent>) -> Vec<StreamEvent> {
    let mut out: Vec<StreamEvent> = Vec::new();
    for event in events {
        let event = match out.last_mut() {
            Some(last) => last.merge_delta(event),
            None => Some(event),
        };
        out.extend(event);
    }
    out
}
