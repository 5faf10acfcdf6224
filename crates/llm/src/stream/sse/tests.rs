use proptest::prelude::*;

use super::*;
use crate::failure::FailureClass;

fn read(chunks: &[&[u8]]) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut events = SseDecoder::default();
    let mut each = |frame: &AnswerFrame<'_>| {
        out.push((frame.name.to_owned(), frame.data.to_owned()));
        Ok(())
    };
    for chunk in chunks {
        events.feed(chunk, &mut each).unwrap();
    }
    events.end(&mut each).unwrap();
    out
}

fn data(text: &str) -> Vec<String> {
    read(&[text.as_bytes()]).into_iter().map(|(_, data)| data).collect()
}

#[test]
fn the_examples_of_the_standard_give_its_events() {
    // https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
    assert_eq!(data("data: YHOO\ndata: +2\ndata: 10\n\n"), ["YHOO\n+2\n10"]);
    assert_eq!(
        data(": test\n\ndata: first\nid: 1\n\ndata:second\nid\n\ndata:  third\n\n"),
        ["first", "second", " third"]
    );
    assert_eq!(data("data\n\ndata\ndata\n\n"), ["", "\n"]);
    assert_eq!(data("data:test\n\ndata: test\n\n"), ["test", "test"]);
}

#[test]
fn every_line_end_ends_a_line() {
    for end in ["\n", "\r", "\r\n"] {
        let text = format!("event: a{end}data: 1{end}{end}data: 2{end}{end}");
        assert_eq!(read(&[text.as_bytes()]), [("a".into(), "1".into()), (String::new(), "2".into())]);
    }
}

#[test]
fn a_name_belongs_to_one_event_and_an_event_without_data_is_none() {
    assert_eq!(read(&[b"event: ping\n\ndata: x\n\n"]), [(String::new(), "x".into())]);
}

#[test]
fn the_last_event_counts_without_a_blank_line() {
    assert_eq!(data("data: [DONE]"), ["[DONE]"]);
    assert_eq!(data("data: a\n\ndata: b\n"), ["a", "b"]);
    assert_eq!(data("data: a\n\nevent: b\n"), ["a"]);
}

#[test]
fn a_byte_order_mark_is_only_one_at_the_start() {
    assert_eq!(data("\u{feff}data: a\n\n\u{feff}data: b\n\ndata: \u{feff}c\n\n"), ["a", "\u{feff}c"]);
}

#[test]
fn bytes_that_are_no_text_are_replaced_also_when_they_are_split() {
    let bytes = b"data: a\xe2\x82b\xff\xc3\xa9\xf0\x9f\n\n";
    let whole = read(&[bytes]);
    assert_eq!(whole[0].1, "a\u{fffd}b\u{fffd}é\u{fffd}");
    for cut in 0..bytes.len() {
        assert_eq!(read(&[&bytes[..cut], &bytes[cut..]]), whole, "cut at {cut}");
    }
}

#[test]
fn an_event_beyond_the_bound_is_refused_also_when_its_lines_are_short() {
    let line = format!("data: {}\n", "x".repeat(1 << 20));
    let mut events = SseDecoder::default();
    let failure = (0..17).find_map(|_| events.feed(line.as_bytes(), &mut |_| Ok(())).err()).unwrap();
    assert_eq!(failure.class, FailureClass::TooLarge);
}

#[test]
fn ten_megabytes_byte_by_byte_pass() {
    let line = format!("data: {}\n\n", "x".repeat(10 << 20));
    let mut events = SseDecoder::default();
    let mut seen = 0;
    for byte in line.as_bytes().chunks(1) {
        let mut each = |frame: &AnswerFrame<'_>| {
            seen = frame.data.len();
            Ok(())
        };
        events.feed(byte, &mut each).unwrap();
    }
    assert_eq!(seen, 10 << 20);
}

proptest! {
    #[test]
    fn any_cutting_of_any_bytes_gives_the_same_events(
        pieces in prop::collection::vec(
            prop_oneof![
                Just(b"data:".to_vec()), Just(b"data: ".to_vec()), Just(b"event: e".to_vec()), Just(b":".to_vec()),
                Just(b"\n".to_vec()), Just(b"\r".to_vec()), Just(b"\r\n".to_vec()), Just(b"\n\n".to_vec()),
                Just("é\u{1f600}\u{feff}".as_bytes().to_vec()), prop::collection::vec(any::<u8>(), 0..6),
            ],
            0..40,
        ),
        size in 1usize..9,
    ) {
        let bytes = pieces.concat();
        let whole = read(&[&bytes]);
        let chunks: Vec<&[u8]> = bytes.chunks(size).collect();
        prop_assert_eq!(read(&chunks), whole);
    }
}
