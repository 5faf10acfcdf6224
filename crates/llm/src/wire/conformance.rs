//! Every wire against its corpus: `tests/streams/<wire>/<case>.sse` (or `.ndjson`) holds the bytes of an
//! answer as documented or observed, `<case>.events` beside it the expected events.
//!
//! An `.events` file begins with `# source: …` and has one event per line; the message of the last event
//! follows, indented. Expected events are written and checked by hand: nothing here writes them. Every wire
//! in [`super::ALL`] takes part. Invariant: however the bytes are chunked, the events are the same;
//! wherever they end, exactly one last event comes.

use std::fs;
use std::path::{Path, PathBuf};

use relaycode_testkit::random::Random;

use super::{ALL, Framing, Wire};
use crate::message::{AssistantContent, AssistantMessage};
use crate::request::{Auth, ChatRequest, WireCall};
use crate::stream::decoder::{DecodedAnswer, decode_answer, merge_deltas};
use crate::stream::event::StreamEvent;

/// Least streams per wire.
const CASES_LEAST: usize = 12;

/// Chunkings per stream.
const CHUNKINGS: u64 = 1000;

/// Damaged streams per wire.
const DAMAGES: u64 = 2000;

/// Early ends per stream.
const ENDS: usize = 300;

/// Determines the chunkings and the damage.
const SEED: u64 = 0x5eed_0006;

#[test]
fn every_stream_of_the_corpus_gives_the_events_beside_it() {
    let mut wrong = Vec::new();
    for wire in ALL {
        for case in cases(*wire) {
            let got = describe(&run(*wire, &case.bytes, &mut SingleChunk));
            if got != case.expected {
                wrong.push(format!("{}\n{}", case.name, difference(&case.expected, &got)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} streams are read wrong\n\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn however_a_stream_is_cut_its_events_are_the_same() {
    for wire in ALL {
        for case in cases(*wire) {
            let whole = run(*wire, &case.bytes, &mut SingleChunk);
            for index in 0..CHUNKINGS {
                let got = run(*wire, &case.bytes, &mut Random::of_case(SEED, index));
                assert_eq!(got, whole, "{}: seed {SEED:#x}, chunking {index}", case.name);
            }
        }
    }
}

#[test]
fn wherever_a_stream_ends_there_is_one_last_event() {
    for wire in ALL {
        for case in cases(*wire) {
            for length in (0..case.bytes.len()).step_by(case.bytes.len().div_ceil(ENDS).max(1)) {
                let decoded = run(*wire, &case.bytes[..length], &mut SingleChunk);
                assert!(ends_once(&decoded), "{} ended after {length} bytes", case.name);
            }
        }
    }
}

#[test]
fn however_a_stream_is_damaged_there_is_one_last_event() {
    for wire in ALL {
        let cases = cases(*wire);
        for index in 0..DAMAGES {
            let mut random = Random::of_case(SEED, index);
            let bytes = damaged(&cases, &mut random);
            let decoded = run(*wire, &bytes, &mut random);
            assert!(ends_once(&decoded), "{}: seed {SEED:#x}, damage {index}", wire.id());
        }
    }
}

#[test]
fn every_wire_has_a_corpus_that_names_its_sources() {
    for wire in ALL {
        let cases = cases(*wire);
        assert!(cases.len() >= CASES_LEAST, "{} has {} streams", wire.id(), cases.len());
        for case in cases {
            assert!(case.source.len() > 10, "{} does not say where it is from", case.name);
        }
    }
}

/// Frames of several streams, left out, repeated, reordered, and sometimes with other bytes in them.
fn damaged(cases: &[StreamCase], random: &mut Random) -> Vec<u8> {
    let texts = [&random.pick(cases).bytes, &random.pick(cases).bytes];
    let mut lines: Vec<&[u8]> =
        texts.into_iter().flat_map(|text| text.split_inclusive(|&byte| byte == b'\n')).collect();
    for _ in 0..=random.below(6) {
        let (at, to) = (random.below(lines.len()), random.below(lines.len()));
        match random.below(3) {
            0 => lines.swap(at, to),
            1 => lines.insert(at, lines[to]),
            _ if lines.len() > 1 => drop(lines.remove(at)),
            _ => {}
        }
    }
    let mut bytes = lines.concat();
    for _ in 0..random.below(4) {
        let at = random.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte = *random.pick(b"\"{}[]:,0-9ntx\n\r \xff\x00");
        }
    }
    bytes
}

/// A stream, and its expected events.
struct StreamCase {
    name: String,
    bytes: Vec<u8>,
    source: String,
    expected: Vec<String>,
}

fn cases(wire: &dyn Wire) -> Vec<StreamCase> {
    let extension = match wire.framing() {
        Framing::Events => "sse",
        Framing::Lines => "ndjson",
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/streams").join(wire.id());
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    paths.iter().map(|path| case(wire, path)).collect()
}

fn case(wire: &dyn Wire, path: &Path) -> StreamCase {
    let name = format!("{}/{}", wire.id(), path.file_stem().unwrap().to_string_lossy());
    let beside = path.with_extension("events");
    let text = fs::read_to_string(&beside).unwrap_or_else(|error| panic!("{}: {error}", beside.display()));
    let first = text.lines().next().unwrap_or_default();
    let source = first.strip_prefix("# source: ").unwrap_or_default().to_owned();
    let expected = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let expected = expected.map(str::to_owned).collect();
    StreamCase { name, bytes: fs::read(path).unwrap(), source, expected }
}

/// How many of the remaining bytes come next.
trait ChunkCuts {
    fn next(&mut self, left: usize) -> usize;
}

/// All at once.
struct SingleChunk;

impl ChunkCuts for SingleChunk {
    fn next(&mut self, left: usize) -> usize {
        left
    }
}

impl ChunkCuts for Random {
    fn next(&mut self, left: usize) -> usize {
        // Mostly small chunks, sometimes large ones: cuts within a character and within a line end must
        // happen.
        let most = *self.pick(&[1, 2, 7, 40, 400, 4000]);
        1 + self.below(most.min(left))
    }
}

/// The events of a stream, with adjacent deltas merged.
fn run(wire: &dyn Wire, bytes: &[u8], cuts: &mut dyn ChunkCuts) -> DecodedAnswer {
    let mut model = crate::models::model::tests::model();
    wire.id().clone_into(&mut model.api);
    let request = ChatRequest::default();
    let call = WireCall { model: &model, auth: &Auth::None, request: &request };
    let mut left = bytes;
    let chunks = std::iter::from_fn(|| {
        let (chunk, rest) = left.split_at(if left.is_empty() { 0 } else { cuts.next(left.len()) });
        left = rest;
        (!chunk.is_empty()).then_some(chunk)
    });
    let mut decoded = decode_answer(wire, &call, 0, chunks);
    decoded.events = merge_deltas(decoded.events);
    decoded
}

/// The last event is there, and once.
fn ends_once(decoded: &DecodedAnswer) -> bool {
    let lasts = decoded.events.iter().filter(|event| event.is_last()).count();
    lasts == 1 && decoded.events.last().is_some_and(StreamEvent::is_last)
}

fn describe(decoded: &DecodedAnswer) -> Vec<String> {
    let mut lines = Vec::new();
    for event in &decoded.events {
        match event {
            StreamEvent::Start => lines.push("start".into()),
            StreamEvent::TextStart { content_index: at } => lines.push(format!("text_start {at}")),
            StreamEvent::TextDelta { content_index: at, delta } => {
                lines.push(format!("text_delta {at} {delta:?}"));
            }
            StreamEvent::TextEnd { content_index: at, content } => {
                lines.push(format!("text_end {at} {content:?}"));
            }
            StreamEvent::ThinkingStart { content_index: at } => lines.push(format!("thinking_start {at}")),
            StreamEvent::ThinkingDelta { content_index: at, delta } => {
                lines.push(format!("thinking_delta {at} {delta:?}"));
            }
            StreamEvent::ThinkingEnd { content_index: at, content } => {
                lines.push(format!("thinking_end {at} {content:?}"));
            }
            StreamEvent::ToolcallStart { content_index: at } => lines.push(format!("toolcall_start {at}")),
            StreamEvent::ToolcallDelta { content_index: at, delta } => {
                lines.push(format!("toolcall_delta {at} {delta:?}"));
            }
            StreamEvent::ToolcallEnd { content_index: at, tool_call: call } => {
                let arguments = serde_json::to_string(&call.arguments).unwrap();
                lines.push(format!("toolcall_end {at} {} {arguments}", call.name));
            }
            StreamEvent::Done { reason, message } => {
                lines.push(format!("done {reason:?}"));
                describe_message(message, &mut lines);
            }
            StreamEvent::Error { reason, error } => {
                let class =
                    decoded.failure.as_ref().map_or("?".into(), |failure| format!("{:?}", failure.class));
                let text = error.error_message.as_deref().unwrap_or_default();
                lines.push(format!("error {reason:?} {class} {text:?}"));
                describe_message(error, &mut lines);
            }
        }
    }
    lines
}

fn describe_message(message: &AssistantMessage, lines: &mut Vec<String>) {
    let usage = &message.usage;
    let id = message.response_id.as_deref().map_or(String::new(), |id| format!(" id={id}"));
    lines.push(format!(
        "  usage in={} out={} read={} write={}{id}",
        usage.input, usage.output, usage.cache_read, usage.cache_write
    ));
    let signed = |signature: &Option<String>| {
        signature.as_ref().map_or(String::new(), |signature| format!(" signature={signature}"))
    };
    for content in &message.content {
        lines.push(match content {
            AssistantContent::Text(text) => format!("  text {:?}{}", text.text, signed(&text.text_signature)),
            AssistantContent::Thinking(thinking) => {
                let redacted = if thinking.redacted { " redacted" } else { "" };
                format!(
                    "  thinking {:?}{}{redacted}",
                    thinking.thinking,
                    signed(&thinking.thinking_signature)
                )
            }
            AssistantContent::ToolCall(call) => {
                let arguments = serde_json::to_string(&call.arguments).unwrap();
                format!("  call {} {} {arguments}{}", call.id, call.name, signed(&call.thought_signature))
            }
        });
    }
}

/// The lines around the first difference.
fn difference(expected: &[String], got: &[String]) -> String {
    let at = expected.iter().zip(got).take_while(|(expected, got)| expected == got).count();
    let from = |lines: &[String]| lines[at.min(lines.len())..].join("\n    ");
    format!("  after {at} lines, expected\n    {}\n  got\n    {}", from(expected), from(got))
}
