//! From the bytes of an answer to its events, without a network: frames, the wire's reader, the message.
//!
//! Invariant: any chunking of the bytes gives the same events, there is one last event, and anything after
//! it is ignored.

use crate::failure::{FailureClass, ModelFailure, ModelResult};
use crate::request::WireCall;
use crate::stream::{assembly::Assembly, event::StreamEvent};
use crate::stream::{line_splitter::JsonLinesDecoder, sse::SseDecoder};
use crate::wire::{AnswerFrame, FrameSink, Framing, Wire, WireReader};
use crate::{message::AssistantMessage, models::model::Model};

/// Splits an answer into frames, by either framing.
#[derive(Debug)]
pub enum FrameDecoder {
    Events(SseDecoder),
    /// One JSON text per line.
    Lines(JsonLinesDecoder),
}

impl FrameDecoder {
    pub fn new(framing: Framing) -> FrameDecoder {
        match framing {
            Framing::Events => FrameDecoder::Events(SseDecoder::default()),
            Framing::Lines => FrameDecoder::Lines(JsonLinesDecoder::default()),
        }
    }

    /// `each` gets the frames that are now complete.
    ///
    /// # Errors
    /// [`FailureClass::TooLarge`], or the error of `each`.
    pub fn feed(&mut self, bytes: &[u8], each: &mut FrameSink<'_>) -> ModelResult {
        match self {
            FrameDecoder::Events(events) => events.feed(bytes, each),
            FrameDecoder::Lines(lines) => lines.feed(bytes, each),
        }
    }

    /// `each` gets a last frame without an end.
    ///
    /// # Errors
    /// See [`FrameDecoder::feed`].
    pub fn end(&mut self, each: &mut FrameSink<'_>) -> ModelResult {
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

    /// An answer that failed before it was requested.
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

    /// More of the answer. After its last event nothing is read.
    ///
    /// # Errors
    /// The provider's error, [`FailureClass::Malformed`] or [`FailureClass::TooLarge`]. The answer is not
    /// over by that: a caller that does not retry calls [`AnswerDecoder::fail`].
    pub fn feed(&mut self, bytes: &[u8]) -> ModelResult {
        let AnswerDecoder { frames, reader, assembly, .. } = self;
        if assembly.is_finished() {
            return Ok(());
        }
        frames.feed(bytes, &mut |frame| read(reader.as_mut(), frame, assembly))
    }

    /// The end of the body.
    ///
    /// # Errors
    /// See [`AnswerDecoder::feed`]; [`ModelFailure::cut_off`] if the answer is not over.
    pub fn end(&mut self) -> ModelResult {
        let AnswerDecoder { frames, reader, assembly, .. } = self;
        if assembly.is_finished() {
            return Ok(());
        }
        // A frame cut by the end of the body is incomplete: the connection's fault.
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

    /// Why the answer is incomplete.
    pub fn failure(&self) -> Option<&ModelFailure> {
        self.failure.as_ref()
    }

    /// The message so far, and the waiting events.
    pub fn assembly(&mut self) -> &mut Assembly {
        &mut self.assembly
    }
}

fn read(reader: &mut dyn WireReader, frame: &AnswerFrame<'_>, into: &mut Assembly) -> ModelResult {
    if into.is_finished() { Ok(()) } else { reader.read_frame(frame, into) }
}

/// Reads nothing.
struct NullReader;

impl WireReader for NullReader {
    fn read_frame(&mut self, _: &AnswerFrame<'_>, _: &mut Assembly) -> ModelResult {
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct DecodedAnswer {
    /// With nothing merged but what came in one chunk.
    pub events: Vec<StreamEvent>,
    /// At the end.
    pub message: AssistantMessage,
    /// Why it is incomplete.
    pub failure: Option<ModelFailure>,
    /// [`Assembly::malformed_calls`].
    pub malformed: Vec<usize>,
}

/// For an answer that came in `chunks`, and then ended.
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

/// Merges adjacent deltas of one piece: the result is the same for every chunking.
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
