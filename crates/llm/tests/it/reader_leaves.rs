//! Readers that leave, wait, or read slowly, on every wire: the server notices at once, and nothing piles
//! up.

use std::net::TcpListener;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use relaycode_llm::request::Auth;
use relaycode_llm::{CancelToken, FailureClass, StopReason, StreamOptions};
use relaycode_testkit::model::{
    RecordedRequest, RequestEnd, Script, ScriptedServer, ScriptedTurn, TurnDelay,
};

use crate::all_wires::{Between, KEY, all, asked, client, of_wire, question};
use crate::loopback_server::{closed, until};
use crate::test_wire::{once, options, short, steps};

/// Between the reader's leaving and the server's noticing.
const AT_ONCE: Duration = Duration::from_secs(1);

fn three() -> ScriptedTurn {
    ScriptedTurn::pieces(["one ", "two ", "three"])
}

fn was_closed(request: &RecordedRequest) -> bool {
    matches!(request.end, RequestEnd::ClientClosed(_))
}

#[tokio::test]
async fn breaking_off_closes_the_connection_at_once_wherever_the_answer_is() {
    for wire in all() {
        let mute = three().with(|turn| turn.stall_before_headers = Some(TurnDelay::Forever(true)));
        let hung = three().with(|turn| turn.hang_s = Some(TurnDelay::Forever(true)));
        let endless = three().with(|turn| (turn.never_end, turn.chunk_delay_ms) = (true, 1));
        for (turn, said) in [(mute, ""), (hung, "one "), (endless, "one ")] {
            let server = ScriptedServer::start(Script::new([turn]));
            let cancel = CancelToken::default();
            let mut stream = asked(&server, wire, StreamOptions { cancel: cancel.clone(), ..options() });
            if said.is_empty() {
                let arrived = until(|| !server.turns().is_empty());
                tokio::select! { () = arrived => {} _ = stream.next() => panic!("it answered") }
            } else {
                while stream.message().text().is_empty() {
                    stream.next().await.unwrap();
                }
            }
            cancel.cancel();
            let seen = steps(&mut stream).await;
            assert_eq!(seen.last().unwrap(), "error aborted", "{}: {seen:?}", wire.id());
            // The runtime does not run during this wait: the connection was closed before the last event
            // came out.
            assert!(server.wait_within(AT_ONCE, |requests| was_closed(&requests[0])), "{} {said}", wire.id());
            assert!(stream.message().text().starts_with(said), "{}", wire.id());
            assert_eq!(stream.message().stop_reason, StopReason::Aborted);
            assert_eq!(stream.failure().unwrap().class, FailureClass::Aborted);
            assert_eq!(server.turns().len(), 1);
        }
    }
}

#[tokio::test]
async fn breaking_off_while_connecting_closes_the_connection_at_once() {
    for wire in all() {
        // A server that accepts the connection and never speaks TLS.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, came) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            sender.send(()).unwrap();
            closed(&mut stream)
        });
        let server = ScriptedServer::start(Script::default());
        let mut model = of_wire(&server, wire.id());
        model.base_url = format!("https://{address}");
        let cancel = CancelToken::default();
        let options = StreamOptions { cancel: cancel.clone(), ..options() };
        let mut stream = client().stream(&model, Auth::Key(KEY.into()), question(), options);
        let arrived = until(|| came.try_recv().is_ok());
        tokio::select! { () = arrived => {} _ = stream.next() => panic!("it answered") }
        let now = Instant::now();
        cancel.cancel();
        assert_eq!(steps(&mut stream).await, ["error aborted"], "{}", wire.id());
        assert!(thread.join().unwrap().duration_since(now) < AT_ONCE, "{}", wire.id());
    }
}

#[tokio::test]
async fn an_answer_that_is_over_or_given_up_leaves_no_connection_open() {
    for wire in all() {
        let mute = three().with(|turn| turn.stall_before_headers = Some(TurnDelay::Forever(true)));
        let hung = three().with(|turn| turn.hang_s = Some(TurnDelay::Forever(true)));
        for (turn, said) in [(mute, ""), (hung, "one ")] {
            let server = ScriptedServer::start(Script::new([turn]));
            let mut stream = asked(&server, wire, crate::all_wires::impatient());
            let seen = steps(&mut stream).await;
            assert_eq!(stream.failure().unwrap().class, FailureClass::Timeout, "{}: {seen:?}", wire.id());
            assert_eq!(stream.message().text(), said, "{}", wire.id());
            assert!(
                server.wait_within(AT_ONCE, |requests| was_closed(&requests[0])),
                "{} {said:?}",
                wire.id()
            );
        }
    }
}

#[tokio::test]
async fn a_reader_that_does_not_read_stops_the_server_on_every_wire() {
    for wire in all() {
        let endless = ScriptedTurn::pieces(["x".repeat(20_000)]).with(|turn| turn.never_end = true);
        let server = ScriptedServer::start(Script::new([endless]));
        let between = Between::new(server.address());
        let mut model = of_wire(&server, wire.id());
        model.base_url = model.base_url.replace(&server.url(), &format!("http://{}", between.address));
        let mut stream = client().stream(&model, Auth::Key(KEY.into()), question(), once());
        while short(&stream.next().await.unwrap()) != "start" {}
        // What the buffers on the way hold, and then nothing for a while.
        let passed = || between.passed.load(Ordering::SeqCst);
        let mut last = (passed(), Instant::now());
        until(|| {
            if passed() != last.0 {
                last = (passed(), Instant::now());
            }
            last.1.elapsed() > Duration::from_millis(300)
        })
        .await;
        assert!(passed() < 32 << 20, "{}: {} bytes went somewhere", wire.id(), passed());
        drop(stream);
    }
}
