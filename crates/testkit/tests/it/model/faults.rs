//! Each fault really is what it says, on the socket.

use std::io;
use std::time::{Duration, Instant};

use relaycode_testkit::model::{
    BodyPiece, RequestEnd, Script, ScriptedServer, ScriptedTurn, ServedBy, TurnDelay,
};
use serde_json::json;

use super::client::{Client, chat};

const PATH: &str = "/v1/chat/completions";

/// How long silence is observed.
const SILENCE: Duration = Duration::from_millis(150);

/// A server with this turn, and a client that has requested it.
fn asked(turn: ScriptedTurn, stream: bool) -> (ScriptedServer, Client) {
    let server = ScriptedServer::start(Script::any([turn]));
    let mut client = Client::to(&server);
    client.send("POST", PATH, &[], chat(stream).as_bytes());
    (server, client)
}

fn with(change: impl FnOnce(&mut ScriptedTurn)) -> ScriptedTurn {
    ScriptedTurn::pieces(["one ", "two ", "three"]).with(change)
}

fn streamed(turn: ScriptedTurn) -> String {
    asked(turn, true).1.answer().text()
}

fn is_reset(result: io::Result<impl Sized>) -> bool {
    result.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionReset)
}

#[test]
fn a_request_beyond_the_window_is_refused_in_the_words_of_its_wire_and_takes_no_turn() {
    let script = Script::any([ScriptedTurn::text("short enough")]).window(100);
    let server = ScriptedServer::start(script);
    let long = "x".repeat(401);
    for (path, words) in [
        ("/v1/messages", "prompt is too long: 101 tokens > 100 maximum"),
        ("/v1/chat/completions", "maximum context length is 100 tokens"),
        ("/v1/responses", "context_length_exceeded"),
        ("/v1beta/models/m:generateContent", "The input token count (101) exceeds"),
        ("/api/chat", "exceeds the available context size"),
    ] {
        let answer = Client::to(&server).ask("POST", path, &json!({ "messages": long }).to_string());
        assert!(answer.status == 400 && answer.text().contains(words), "{path}: {}", answer.text());
    }
    assert!(server.requests().iter().all(|request| request.served == ServedBy::TooLong));
    let fits = json!({"messages": "x".repeat(400)}).to_string();
    let answer = Client::to(&server).ask("POST", PATH, &fits).json();
    assert_eq!(answer["usage"]["prompt_tokens"], 100, "{answer}");
}

#[test]
fn a_disconnect_resets_the_connection_after_so_many_events() {
    let (server, mut client) = asked(with(|turn| turn.disconnect_after = Some(2)), true);
    client.head().unwrap();
    // Data already sent may be lost with the reset; data not sent never comes.
    let mut events = 0;
    let end = loop {
        match client.chunk() {
            Ok(Some(_)) => events += 1,
            other => break other,
        }
    };
    assert!(is_reset(end) && events <= 2);
    server.wait_for(|requests| matches!(requests[0].end, RequestEnd::Cut(_)));

    let (_server, mut client) = asked(with(|turn| turn.disconnect_after = Some(0)), false);
    assert!(is_reset(client.try_answer()));
}

#[test]
fn a_truncated_body_ends_well_without_its_last_event() {
    let text = streamed(with(|turn| turn.truncate = true));
    assert!(text.contains("three") && !text.contains("[DONE]") && !text.contains("\"stop\""));
    let (_server, mut client) = asked(with(|turn| turn.truncate = true), false);
    let error = client.try_answer().err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "without a stream the length is not reached");
}

#[test]
fn a_malformed_event_stands_in_the_middle_and_the_rest_follows() {
    let text = streamed(with(|turn| turn.malformed = true));
    let (before, after) = text.split_once("data: {\"broken\": \n\n").unwrap();
    assert!(before.contains("one") && after.contains("two") && after.ends_with("[DONE]\n\n"));
    let (_server, mut client) = asked(with(|turn| turn.malformed = true), false);
    assert!(serde_json::from_slice::<serde_json::Value>(&client.answer().body).is_err());
}

#[test]
fn a_hanging_stream_is_silent_after_its_first_delta_and_the_client_going_is_noticed_at_once() {
    let (server, mut client) = asked(with(|turn| turn.hang_s = Some(TurnDelay::Forever(true))), true);
    client.head().unwrap();
    assert!(!String::from_utf8_lossy(&client.chunk().unwrap().unwrap()).contains("one"));
    assert!(String::from_utf8_lossy(&client.chunk().unwrap().unwrap()).contains("one"));
    assert!(client.is_silent_for(SILENCE));
    assert_eq!(server.requests()[0].end, RequestEnd::Running);
    let began = Instant::now();
    client.close();
    server.wait_for(|requests| matches!(requests[0].end, RequestEnd::ClientClosed(sent) if sent > 100));
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_stall_sends_nothing_at_all_and_a_close_before_the_head_ends_cleanly() {
    let (server, mut client) =
        asked(with(|turn| turn.stall_before_headers = Some(TurnDelay::Forever(true))), true);
    server.wait_for(|requests| requests.len() == 1);
    assert!(client.is_silent_for(SILENCE));
    client.close();
    server.wait_for(|requests| requests[0].end == RequestEnd::ClientClosed(0));

    let (server, mut client) = asked(with(|turn| turn.close_before_headers = true), true);
    assert_eq!(client.read_some().unwrap(), 0);
    server.wait_for(|requests| requests[0].end == RequestEnd::Cut(0));
}

#[test]
fn delays_are_kept() {
    let began = Instant::now();
    let text = streamed(with(|turn| {
        turn.delay_ms = 100;
        turn.chunk_delay_ms = 20;
    }));
    assert!(began.elapsed() >= Duration::from_millis(100 + 5 * 20), "{:?}", began.elapsed());
    assert!(text.ends_with("[DONE]\n\n"));
    let began = Instant::now();
    streamed(with(|turn| turn.hang_s = Some(TurnDelay::Seconds(0.1))));
    assert!(began.elapsed() >= Duration::from_millis(100));
}

#[test]
fn a_stream_that_never_ends_goes_on_until_the_client_goes() {
    let (server, mut client) = asked(with(|turn| turn.never_end = true), true);
    let mut read = 0;
    while read < 2_000_000 {
        read += client.read_some().unwrap();
    }
    assert_eq!(server.requests()[0].end, RequestEnd::Running);
    client.close();
    server.wait_for(|requests| matches!(requests[0].end, RequestEnd::ClientClosed(_)));
}

#[test]
fn duplicates_bytes_that_are_no_text_and_long_lines_are_sent() {
    let text = streamed(with(|turn| turn.duplicate = true));
    assert_eq!((text.matches("two").count(), text.matches("[DONE]").count()), (2, 2));

    let body = asked(with(|turn| turn.invalid_utf8 = true), true).1.answer().body;
    assert!(body.windows(6).any(|bytes| bytes == b"one \xff\xfe"));
    let whole = asked(with(|turn| turn.invalid_utf8 = true), false).1.answer().body;
    assert!(whole.windows(2).any(|bytes| bytes == b"\xff\xfe"));

    let text = streamed(with(|turn| turn.big_line = Some(10_000_000)));
    assert!(text.lines().any(|line| line.len() > 10_000_000) && text.ends_with("[DONE]\n\n"));
}

#[test]
fn raw_pieces_are_sent_as_they_are_and_one_by_one() {
    let pieces = [
        BodyPiece::from("data: {\"a"),
        BodyPiece::from(vec![0xe2, 0x82]),
        BodyPiece::from(vec![0xac]),
        BodyPiece::from("\n"),
    ];
    let (_server, mut client) = asked(ScriptedTurn::raw(pieces).header("content-type", "text/odd"), true);
    let head = client.head().unwrap();
    assert_eq!(super::client::value(&head, "content-type"), Some("text/odd"));
    assert_eq!(client.chunk().unwrap().unwrap(), b"data: {\"a");
    assert_eq!(client.chunk().unwrap().unwrap(), [0xe2, 0x82]);
    assert_eq!(client.chunk().unwrap().unwrap(), [0xac]);
    assert_eq!(client.chunk().unwrap().unwrap(), b"\n");
    assert_eq!(client.chunk().unwrap(), None);
}

#[test]
fn a_split_stream_comes_in_many_pieces_that_are_the_same_bytes() {
    let whole = streamed(with(|_| {}));
    for seed in 0..20 {
        let (_server, mut client) = asked(with(|turn| turn.split = Some(seed)), true);
        client.head().unwrap();
        let (mut body, mut pieces) = (Vec::new(), 0);
        while let Some(piece) = client.chunk().unwrap() {
            body.extend(piece);
            pieces += 1;
        }
        assert_eq!(String::from_utf8(body).unwrap(), whole, "seed {seed}");
        assert!(pieces > 50, "seed {seed}: {pieces}");
    }
}

#[test]
fn a_failure_has_the_status_headers_and_body_of_its_turn() {
    let turn = ScriptedTurn::status(529).header("retry-after-ms", "5").body(json!({"mine": true}));
    let answer = asked(turn, true).1.answer();
    assert_eq!((answer.status, answer.json()), (529, json!({"mine": true})));
    assert_eq!(super::client::value(&answer.head, "retry-after-ms"), Some("5"));
    let page =
        ScriptedTurn::status(502).header("content-type", "text/html").body(json!("<html>bad gateway</html>"));
    assert_eq!(asked(page, true).1.answer().text(), "<html>bad gateway</html>");
}
