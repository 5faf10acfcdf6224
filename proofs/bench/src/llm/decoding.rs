//! From bytes to events, frame by frame: after each, all events are taken and the message so far is read,
//! as a reader would that shows every one.

use std::time::Duration;

use anyhow::{bail, ensure};
use relaycode_llm::request::{Auth, WireCall};
use relaycode_llm::stream::assembly::MAX_ANSWER_PIECES;
use relaycode_llm::wire::{self, Wire};
use relaycode_llm::{AnswerDecoder, ChatRequest};

use super::streams::{Kind, frames};
use super::{BELOW, DELTAS, RUNS, model};
use crate::measure::{BenchReport, Measured};
use relaycode_testkit::clock::processor_time;

/// Every wire.
pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    for wire in wire::ALL {
        let id = wire.id();
        for (kind, count, what) in [
            (Kind::Text, DELTAS, "text"),
            (Kind::Arguments, DELTAS, "arguments"),
            (Kind::Calls, MAX_ANSWER_PIECES, "whole calls"),
        ] {
            let name = format!("llm, {id}, {what}");
            if !report.wants(&name) {
                continue;
            }
            let Some(frames) = frames(id, kind, count)? else { continue };
            let (mut times, mut plain) = (Vec::new(), Vec::new());
            for _ in 0..RUNS {
                times.push(decoded(*wire, &frames, count)?);
                plain.push(copied(&frames));
            }
            let bytes: usize = frames.iter().map(String::len).sum();
            let row =
                Measured::from_times(name, times).below(BELOW).plain(Measured::from_times("", plain).median);
            report.add(
                row.note(format!("{count} deltas, {:.1} MB; processor, {RUNS} runs", bytes as f64 / 1e6)),
            );
        }
    }
    Ok(())
}

/// Processor time to decode all frames.
fn decoded(wire: &dyn Wire, frames: &[String], deltas: usize) -> anyhow::Result<Duration> {
    let (model, auth, request) = (model(wire.id(), "http://127.0.0.1:9"), Auth::None, ChatRequest::default());
    let call = WireCall { model: &model, auth: &auth, request: &request };
    let start = processor_time();
    let mut decode = AnswerDecoder::new(wire, &call, 0);
    let mut seen = 0;
    let mut taken = |decode: &mut AnswerDecoder| {
        while let Some(event) = decode.assembly().take_event() {
            seen += usize::from(event.is_delta());
            std::hint::black_box(event);
        }
        std::hint::black_box(decode.assembly().message());
    };
    for frame in frames {
        if let Err(failure) = decode.feed(frame.as_bytes()) {
            bail!("{}: {}", wire.id(), failure.message);
        }
        taken(&mut decode);
    }
    if let Err(failure) = decode.end() {
        bail!("{}: {}", wire.id(), failure.message);
    }
    taken(&mut decode);
    let time = processor_time().saturating_sub(start);
    ensure!(seen == deltas, "{}: {seen} of {deltas} deltas came out", wire.id());
    Ok(time)
}

/// Processor time of a plain pass over the same bytes.
fn copied(frames: &[String]) -> Duration {
    let start = processor_time();
    let lines = |frame: &String| frame.clone().bytes().filter(|byte| *byte == b'\n').count();
    std::hint::black_box(frames.iter().map(lines).sum::<usize>());
    processor_time().saturating_sub(start)
}
