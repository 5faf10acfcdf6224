//! What goes wrong in a stream: the wire's faithful events and a turn become the steps that are really
//! taken.
//!
//! Pure: bytes and pauses in, steps out, so that every wire fails in the same ways.

use std::time::Duration;

use super::turn::{ScriptedTurn, milliseconds};
use super::wire::{ScriptedWire, WireFrame, WirePart, WireRequest};

/// A private use character that stands for invalid UTF-8 until it is sent.
const STAND_IN: char = '\u{f8fe}';

/// What is sent in its place: no UTF-8 begins like this.
const NO_UTF8: &[u8] = &[0xff, 0xfe];

/// Largest text for `big_line`.
const MAX_BIG_LINE: usize = 64 * 1024 * 1024;

/// One step of sending a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BodyStep {
    Send(Vec<u8>),
    Pause(Duration),
    /// Send this again and again, with pauses.
    Forever(Vec<u8>, Duration),
    /// Reset the connection.
    Cut,
}

/// The turn's text with its faults.
pub(super) fn deltas(turn: &ScriptedTurn) -> Vec<String> {
    let mut deltas = turn.text.deltas();
    if turn.invalid_utf8 {
        match deltas.first_mut() {
            Some(first) => first.push(STAND_IN),
            None => deltas.push(STAND_IN.to_string()),
        }
    }
    if let Some(length) = turn.big_line {
        deltas.push("x".repeat(length.min(MAX_BIG_LINE)));
    }
    deltas
}

/// The bytes that are really sent.
pub(super) fn bytes(turn: &ScriptedTurn, text: String) -> Vec<u8> {
    if !turn.invalid_utf8 {
        return text.into_bytes();
    }
    let stand_in = STAND_IN.to_string();
    let parts: Vec<&[u8]> = text.split(stand_in.as_str()).map(str::as_bytes).collect();
    parts.join(NO_UTF8)
}

/// The steps of a stream whose faithful events are `frames`.
pub(super) fn steps(
    turn: &ScriptedTurn,
    wire: &dyn ScriptedWire,
    request: &WireRequest<'_>,
    mut frames: Vec<WireFrame>,
) -> Vec<BodyStep> {
    if let Some(message) = &turn.stream_error {
        let said = frames.iter().rposition(|frame| frame.part == WirePart::Delta);
        let begun = frames.iter().rposition(|frame| frame.part == WirePart::Start);
        frames.truncate(said.or(begun).map_or(0, |last| last + 1));
        frames.push(wire.stream_error(message, request));
    } else if turn.truncate || turn.never_end {
        frames.retain(|frame| frame.part != WirePart::End);
    }
    let between = milliseconds(turn.chunk_delay_ms);
    let mut walk = StepBuilder { turn, between, events: 0, hung: false, steps: Vec::new(), over: false };
    for frame in &frames {
        let times = if turn.duplicate { 2 } else { 1 };
        for _ in 0..times {
            walk.event(frame.part, bytes(turn, frame.text.clone()));
        }
        if turn.malformed && walk.events == 2 {
            walk.steps.push(BodyStep::Send(wire.broken().as_bytes().to_vec()));
        }
    }
    if turn.never_end && !walk.over {
        let again = frames.iter().rfind(|frame| frame.part == WirePart::Delta).or(frames.last());
        let again = again.map_or_else(|| b"\n".to_vec(), |frame| bytes(turn, frame.text.clone()));
        walk.steps.push(BodyStep::Forever(again, between));
    }
    walk.end()
}

/// The steps of a body that is given piece by piece.
pub(super) fn raw_steps(turn: &ScriptedTurn) -> Vec<BodyStep> {
    let between = milliseconds(turn.chunk_delay_ms);
    let mut walk = StepBuilder { turn, between, events: 0, hung: false, steps: Vec::new(), over: false };
    for piece in turn.chunks.iter().flatten() {
        walk.event(WirePart::Delta, piece.bytes().to_vec());
    }
    if turn.never_end && !walk.over {
        let last = turn
            .chunks
            .iter()
            .flatten()
            .next_back()
            .map_or_else(|| b"\n".to_vec(), |piece| piece.bytes().to_vec());
        walk.steps.push(BodyStep::Forever(last, between));
    }
    walk.end()
}

struct StepBuilder<'a> {
    turn: &'a ScriptedTurn,
    between: Duration,
    events: usize,
    hung: bool,
    steps: Vec<BodyStep>,
    over: bool,
}

impl StepBuilder<'_> {
    fn event(&mut self, part: WirePart, bytes: Vec<u8>) {
        if self.over {
            return;
        }
        if self.turn.disconnect_after == Some(self.events) {
            self.steps.push(BodyStep::Cut);
            self.over = true;
            return;
        }
        if !self.between.is_zero() && self.events > 0 {
            self.steps.push(BodyStep::Pause(self.between));
        }
        self.steps.push(BodyStep::Send(bytes));
        self.events += 1;
        if part == WirePart::Delta && !self.hung {
            self.hung = true;
            if let Some(wait) = self.turn.hang_s {
                self.steps.push(BodyStep::Pause(wait.time()));
            }
        }
    }

    /// A cut that was requested after the last event comes, too.
    fn end(mut self) -> Vec<BodyStep> {
        if !self.over && self.turn.disconnect_after.is_some_and(|after| after <= self.events) {
            self.steps.push(BodyStep::Cut);
        }
        self.steps
    }
}
