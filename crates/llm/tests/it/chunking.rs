//! The same bytes give the same events, however they are chunked; and many of them take little time.

use std::time::Instant;

use proptest::prelude::*;
use relaycode_llm::request::{Auth, WireCall};
use relaycode_llm::stream::decoder::{AnswerDecoder, DecodedAnswer, decode_answer, merge_deltas};
use relaycode_llm::{ChatRequest, StreamEvent};

use crate::loopback_server::event;
use crate::test_wire::{Plain, model};

fn decoded<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> DecodedAnswer {
    let (model, request) = (model("http://127.0.0.1:9"), ChatRequest::default());
    let call = WireCall { model: &model, auth: &Auth::None, request: &request };
    let mut decoded = decode_answer(&Plain, &call, 0, chunks);
    decoded.events = merge_deltas(decoded.events);
    decoded
}

fn any_frame() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => ".{0,6}".prop_map(|text| event(&serde_json::json!({"text": text}).to_string())),
        4 => ".{0,6}".prop_map(|text| event(&serde_json::json!({"call": text}).to_string())),
        2 => Just(event(r#"{"call":"{\"a\":\"\\ud83d\\ude00"}"#)),
        1 => Just(": ping\r\n\r\n".to_owned()),
        1 => Just("event: x\rdata: {\rdata: }\r\r".to_owned()),
        1 => Just(event("[DONE]")),
        1 => Just(event(r#"{"error":{"type":"overloaded_error","message":"busy"}}"#)),
        1 => Just(event("{broken")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_cutting_gives_the_same_events(
        frames in prop::collection::vec(any_frame(), 0..12),
        lost in 0usize..8,
        cuts in prop::collection::vec(0usize..400, 0..30),
    ) {
        let text = frames.concat().into_bytes();
        let text = &text[..text.len().saturating_sub(lost)];
        let whole = decoded([text]);
        prop_assert_eq!(whole.events.iter().filter(|event| event.is_last()).count(), 1);
        prop_assert!(whole.events.last().is_some_and(StreamEvent::is_last));
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]);
        prop_assert_eq!(&decoded(pieces), &whole);
        prop_assert_eq!(&decoded(text.chunks(1)), &whole);
    }
}

#[test]
fn a_hundred_thousand_deltas_with_the_message_asked_for_after_each_are_linear() {
    let (model, request) = (model("http://127.0.0.1:9"), ChatRequest::default());
    let call = WireCall { model: &model, auth: &Auth::None, request: &request };
    let mut decode = AnswerDecoder::new(&Plain, &call, 0);
    let started = Instant::now();
    decode.feed(event(r#"{"call":"{\"list\":[\""}"#).as_bytes()).unwrap();
    let piece = event(r#"{"call":"words "}"#);
    for _ in 0..100_000 {
        decode.feed(piece.as_bytes()).unwrap();
        assert_eq!(decode.assembly().message().content.len(), 1);
    }
    decode.feed(event(r#"{"call":"\"]}"}"#).as_bytes()).unwrap();
    decode.feed(event("[DONE]").as_bytes()).unwrap();
    assert!(decode.assembly().malformed_calls().is_empty());
    // Reading again from the start for every delta would be 30 GB: minutes.
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
