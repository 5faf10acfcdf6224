//! Answers that stop, break, never end, or are cancelled.

use std::io::Write;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use relaycode_llm::stream::retry::RetryBudget;
use relaycode_llm::{CancelToken, FailureClass, StopReason, StreamOptions, StreamStep};

use crate::loopback_server::{CHUNKED, LIMIT, STREAM, Server, chunk, closed, event};
use crate::test_wire::{ask, hasty, options, retries, short, steps};

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    let server = Server::new(|_, mut stream| {
        closed(&mut stream);
    });
    let mut stream = ask(&server.url(), hasty());
    assert_eq!(steps(&mut stream).await, ["error error"]);
    assert_eq!(stream.failure().unwrap().class, FailureClass::Timeout);
}

#[tokio::test]
async fn an_answer_that_stops_coming_is_given_up_and_what_came_is_kept() {
    let server = Server::new(|_, mut stream| {
        stream.write_all(format!("{STREAM}{}", event("{\"text\":\"half\"}")).as_bytes()).unwrap();
        closed(&mut stream);
    });
    let mut stream = ask(&server.url(), StreamOptions { budget: options().budget, ..hasty() });
    assert_eq!(steps(&mut stream).await, ["start", "text_start", "+half", "error error"]);
    assert_eq!(stream.failure().unwrap().class, FailureClass::Timeout);
    assert_eq!(stream.message().text(), "half");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_not_asked_for_again_once_something_was_seen() {
    let half = chunk(&event("{\"text\":\"half\"}"));
    for body in [format!("{CHUNKED}{half}"), format!("{STREAM}{}data: {{\"te", event("{\"text\":\"half\"}"))]
    {
        let server = Server::says(body);
        let mut stream = ask(&server.url(), options());
        assert_eq!(steps(&mut stream).await, ["start", "text_start", "+half", "error error"]);
        assert_eq!(stream.failure().unwrap().class, FailureClass::Network);
        assert_eq!(stream.message().stop_reason, StopReason::Error);
        assert_eq!(server.connections(), 1);
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_unseen_is_asked_for_again_and_starts_once() {
    let server = Server::new(|number, mut stream| {
        let body = match number {
            0 => format!("{CHUNKED}{}", chunk(&event("{}"))),
            1 => format!(
                "{STREAM}{}",
                event("{\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}")
            ),
            2 => format!("{STREAM}{}", event("{not json")),
            _ => format!("{STREAM}{}{}", event("{\"text\":\"a\"}"), event("[DONE]")),
        };
        let _ = stream.write_all(body.as_bytes());
    });
    let mut stream = ask(&server.url(), options());
    let seen = steps(&mut stream).await;
    assert_eq!(
        seen,
        ["start", "retry 1/5", "retry 2/5", "retry 3/5", "text_start", "+a", "text_end", "done stop"]
    );
    assert_eq!(server.connections(), 4);
}

#[tokio::test]
async fn the_budget_of_streams_is_counted_exactly() {
    let server = Server::says(format!("{STREAM}{}", event("{}")));
    let budget = RetryBudget { stream_max_retries: 3, request_max_retries: 0, ..options().budget };
    let mut stream = ask(&server.url(), StreamOptions { budget, ..options() });
    assert_eq!(retries(&steps(&mut stream).await), 3);
    assert_eq!(server.connections(), 4);
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off() {
    let server = Server::new(|_, mut stream| {
        stream.write_all(STREAM.as_bytes()).unwrap();
        let piece = event(&format!("{{\"text\":\"{}\"}}", "x".repeat(200_000)));
        while stream.write_all(piece.as_bytes()).is_ok() {}
    });
    let mut stream = ask(&server.url(), options());
    stream.finish().await;
    assert_eq!(stream.failure().unwrap().class, FailureClass::TooLarge);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_line_without_end_is_cut_off() {
    let server = Server::new(|_, mut stream| {
        stream.write_all(STREAM.as_bytes()).unwrap();
        let piece = vec![b'x'; 1 << 20];
        while stream.write_all(&piece).is_ok() {}
    });
    let mut stream = ask(&server.url(), options());
    stream.finish().await;
    assert_eq!(stream.failure().unwrap().class, FailureClass::TooLarge);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn breaking_off_closes_the_connection_at_once_and_keeps_what_came() {
    let mut took = Vec::new();
    // Again if the machine was busy with something else.
    while took.last().is_none_or(|last| *last >= Duration::from_millis(100)) {
        assert!(took.len() < 10, "{took:?}");
        took.push(broken_off().await);
    }
}

/// Cancels an answer; returns how long it takes until the server notices.
async fn broken_off() -> Duration {
    let (gone, when_gone) = channel();
    let gone = Mutex::new(gone);
    let server = Server::new(move |_, mut stream| {
        stream.write_all(format!("{CHUNKED}{}", chunk(&event("{\"text\":\"half\"}"))).as_bytes()).unwrap();
        gone.lock().unwrap().send(closed(&mut stream)).unwrap();
    });
    let cancel = CancelToken::default();
    let mut stream = ask(&server.url(), StreamOptions { cancel: cancel.clone(), ..options() });
    let mut seen = Vec::new();
    let mut broken_off = None;
    while let Some(step) = stream.next().await {
        seen.push(short(&step));
        if seen.last().unwrap() == "+half" {
            let cancel = cancel.clone();
            let thread = std::thread::spawn(move || {
                let now = Instant::now();
                cancel.cancel();
                now
            });
            broken_off = Some(thread);
        }
    }
    assert_eq!(seen, ["start", "text_start", "+half", "error aborted"]);
    assert_eq!(stream.message().text(), "half");
    assert_eq!(stream.failure().unwrap().class, FailureClass::Aborted);
    when_gone.recv_timeout(LIMIT).unwrap().duration_since(broken_off.unwrap().join().unwrap())
}

#[tokio::test]
async fn a_stream_that_is_dropped_closes_its_connection() {
    let (gone, when_gone) = tokio::sync::oneshot::channel();
    let gone = Mutex::new(Some(gone));
    let server = Server::new(move |_, mut stream| {
        stream.write_all(format!("{CHUNKED}{}", chunk(&event("{\"text\":\"half\"}"))).as_bytes()).unwrap();
        closed(&mut stream);
        gone.lock().unwrap().take().unwrap().send(()).unwrap();
    });
    let mut stream = ask(&server.url(), options());
    stream.next().await;
    drop(stream);
    tokio::time::timeout(LIMIT, when_gone).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_wait_between_attempts_can_be_broken_off() {
    let server = Server::refuses(503, "retry-after: 200\r\n", "");
    let cancel = CancelToken::default();
    let mut stream = ask(&server.url(), StreamOptions { cancel: cancel.clone(), ..options() });
    let Some(StreamStep::Retrying { wait, .. }) = stream.next().await else { panic!("no retry") };
    assert_eq!(wait, Duration::from_secs(200));
    cancel.cancel();
    assert_eq!(steps(&mut stream).await, ["error aborted"]);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn what_is_broken_off_before_it_began_asks_nobody() {
    let server = Server::says("");
    let cancel = CancelToken::default();
    cancel.cancel();
    let mut stream = ask(&server.url(), StreamOptions { cancel, ..options() });
    assert_eq!(steps(&mut stream).await, ["error aborted"]);
    assert_eq!(server.connections(), 0);
}
