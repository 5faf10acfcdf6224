//! Answers that come as they should, and how they are delivered.

use std::future::{Future, poll_fn};
use std::io::Write;
use std::pin::pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::task::Poll;
use std::time::{Duration, Instant};

use relaycode_llm::message::ToolCall;
use relaycode_llm::request::Auth;
use relaycode_llm::stream::proxy::ProxySettings;
use relaycode_llm::stream::transport::ClientSettings;
use relaycode_llm::{
    ChatRequest, ModelClient, SecretMask, StopReason, StreamEvent, StreamOptions, StreamStep,
};

use crate::loopback_server::{CHUNKED, LIMIT, STREAM, Server, chunk, event, read_request, until};
use crate::test_wire::{Plain, ask, ask_with, model, options, short, steps};

fn answer() -> String {
    let call = serde_json::json!({"call": "{\"path\":\"é\"}"}).to_string();
    [event("{\"text\":\"one \"}"), event("{\"text\":\"zwölf\"}"), event(&call), event("[DONE]")].concat()
}

#[tokio::test]
async fn an_answer_comes_as_events_and_as_a_message() {
    let server = Server::says(format!("{STREAM}{}", answer()));
    let mut stream = ask(&server.url(), options());
    let steps = steps(&mut stream).await;
    assert_eq!(steps.first().unwrap(), "start");
    assert_eq!(steps.last().unwrap(), "done toolUse");
    assert!(stream.failure().is_none());
    let message = stream.message();
    assert_eq!(message.text(), "one zwölf");
    assert_eq!(message.tool_calls().next().unwrap().arguments["path"], "é");
    assert!(stream.malformed_calls().is_empty());
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn it_does_not_matter_where_the_bytes_are_cut() {
    let server = Server::new(|_, mut stream| {
        stream.set_nodelay(true).unwrap();
        stream.write_all(CHUNKED.as_bytes()).unwrap();
        for byte in answer().as_bytes() {
            stream.write_all(b"1\r\n").unwrap();
            stream.write_all(&[*byte]).unwrap();
            stream.write_all(b"\r\n").unwrap();
        }
        stream.write_all(b"0\r\n\r\n").unwrap();
    });
    let mut stream = ask(&server.url(), options());
    let message = stream.finish().await;
    assert_eq!((message.text().as_str(), message.stop_reason), ("one zwölf", StopReason::ToolUse));
}

#[tokio::test]
async fn what_is_behind_the_last_event_is_not_read() {
    let more = event("{\"text\":\"more\"}").repeat(1000);
    let server = Server::says(format!("{STREAM}{}{more}", answer()));
    assert_eq!(ask(&server.url(), options()).finish().await.text(), "one zwölf");
}

#[tokio::test]
async fn a_connection_whose_answer_is_whole_is_used_again() {
    let server = Server::new(|_, mut stream| {
        loop {
            let whole = format!("{CHUNKED}{}0\r\n\r\n", chunk(&answer()));
            if stream.write_all(whole.as_bytes()).is_err() || read_request(&mut stream).is_none() {
                break;
            }
        }
    });
    let client = ModelClient::new(&ClientSettings::default()).unwrap();
    for _ in 0..3 {
        let (model, request) = (model(&server.url()), ChatRequest::default());
        let mut stream = client.stream_over(&Plain, &model, Auth::None, request, options());
        assert_eq!(stream.finish().await.text(), "one zwölf");
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn half_arguments_are_marked() {
    let half = event(r#"{"call":"{\"path\":\"sr"}"#);
    let server = Server::says(format!("{STREAM}{half}{}", event("[DONE]")));
    let mut stream = ask(&server.url(), options());
    assert_eq!(stream.finish().await.tool_calls().next().unwrap().arguments["path"], "sr");
    assert_eq!(stream.malformed_calls(), [0]);
}

#[tokio::test]
async fn the_first_delta_goes_at_once_and_later_ones_wait_and_join() {
    let (go, wait) = channel();
    let wait = Mutex::new(wait);
    let server = Server::new(move |_, mut stream| {
        stream.write_all(STREAM.as_bytes()).unwrap();
        stream.write_all(event("{\"text\":\"a\"}").as_bytes()).unwrap();
        wait.lock().unwrap().recv_timeout(LIMIT).unwrap();
        for text in ["b", "c", "d"] {
            stream.write_all(event(&format!("{{\"text\":\"{text}\"}}")).as_bytes()).unwrap();
        }
        stream.write_all(event("[DONE]").as_bytes()).unwrap();
    });
    let options = StreamOptions { delta_interval: Duration::from_secs(3600), ..options() };
    let mut stream = ask(&server.url(), options);
    let mut seen = Vec::new();
    while let Some(step) = stream.next().await {
        seen.push(short(&step));
        if seen.last().unwrap() == "+a" {
            go.send(()).unwrap();
        }
    }
    assert_eq!(seen, ["start", "text_start", "+a", "+bcd", "text_end", "done stop"]);
}

#[tokio::test]
async fn a_delta_does_not_wait_for_more_than_the_interval() {
    let server = Server::new(|_, mut stream| {
        let text = [event("{\"text\":\"a\"}"), event("{\"text\":\"b\"}")];
        stream.write_all(format!("{CHUNKED}{}", chunk(&text[0])).as_bytes()).unwrap();
        stream.write_all(chunk(&text[1]).as_bytes()).unwrap();
        crate::loopback_server::closed(&mut stream);
    });
    let mut stream =
        ask(&server.url(), StreamOptions { delta_interval: Duration::from_millis(60), ..options() });
    let mut seen = String::new();
    let started = Instant::now();
    while seen != "ab" {
        match stream.next().await {
            Some(StreamStep::Event(StreamEvent::TextDelta { delta, .. })) => seen.push_str(&delta),
            Some(_) => {}
            None => panic!("it ended"),
        }
    }
    assert!(started.elapsed() < LIMIT);
}

#[tokio::test]
async fn a_reader_that_goes_away_in_between_loses_nothing() {
    let server = Server::says(format!("{STREAM}{}", answer()));
    let mut stream = ask(&server.url(), options());
    let mut dropped = 0;
    let mut last = None;
    loop {
        // Polled once, then dropped: as by a reader that also waits for something else.
        let polled = {
            let mut next = pin!(stream.next());
            poll_fn(|context| Poll::Ready(next.as_mut().poll(context))).await
        };
        match polled {
            Poll::Ready(Some(step)) => last = Some(short(&step)),
            Poll::Ready(None) => break,
            Poll::Pending => {
                dropped += 1;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }
    assert!(dropped > 0);
    assert_eq!(last.as_deref(), Some("done toolUse"));
    assert_eq!(stream.message().text(), "one zwölf");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_reader_that_does_not_read_stops_the_server() {
    let (written, blocked) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (count, flag) = (written.clone(), blocked.clone());
    let server = Server::new(move |_, mut stream| {
        stream.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
        stream.write_all(STREAM.as_bytes()).unwrap();
        let piece = event(&format!("{{\"text\":\"{}\"}}", "x".repeat(60_000)));
        while count.load(Ordering::SeqCst) < 1 << 30 && stream.write_all(piece.as_bytes()).is_ok() {
            count.fetch_add(piece.len(), Ordering::SeqCst);
        }
        flag.store(true, Ordering::SeqCst);
    });
    let mut stream = ask(&server.url(), options());
    assert_eq!(short(&stream.next().await.unwrap()), "start");
    until(|| blocked.load(Ordering::SeqCst)).await;
    assert!(
        written.load(Ordering::SeqCst) < 32 << 20,
        "{} bytes went somewhere",
        written.load(Ordering::SeqCst)
    );
}

#[tokio::test]
async fn a_proxy_is_used_and_this_machine_is_asked_without() {
    let proxy = Server::says(format!("{STREAM}{}", answer()));
    let settings = ClientSettings {
        proxies: ProxySettings {
            http: Some(format!("user:word@{}", proxy.address)),
            no_proxy: Some("direct.invalid".into()),
            ..ProxySettings::default()
        },
        ..ClientSettings::default()
    };
    let through =
        |url: &str| ask_with(&settings, url, Auth::None, ChatRequest::default(), crate::test_wire::once());
    assert_eq!(through("http://models.invalid/v1").finish().await.text(), "one zwölf");
    let request = proxy.request();
    assert!(request.starts_with("POST http://models.invalid/v1/answer HTTP/1.1\r\n"), "{request}");
    assert!(request.to_ascii_lowercase().contains("proxy-authorization: basic dxnlcjp3b3jk"), "{request}");
    let server = Server::says(format!("{STREAM}{}", answer()));
    assert_eq!(through(&server.url()).finish().await.text(), "one zwölf");
    assert_eq!(through("http://direct.invalid").finish().await.stop_reason, StopReason::Error);
    assert_eq!((proxy.connections(), server.connections()), (1, 1));
}

#[tokio::test]
async fn the_headers_are_those_of_relay_the_wire_and_the_model() {
    let server = Server::says(format!("{STREAM}{}", answer()));
    let key = Auth::Key("sk-test-0123456789".into());
    let mut stream =
        ask_with(&ClientSettings::default(), &server.url(), key, ChatRequest::default(), options());
    stream.finish().await;
    let request = server.request().to_ascii_lowercase();
    let version = env!("CARGO_PKG_VERSION");
    for line in [
        format!("user-agent: relay/{version}"),
        "authorization: bearer sk-test-0123456789".into(),
        "content-type: application/json".into(),
        "accept: text/event-stream".into(),
    ] {
        assert!(request.contains(&format!("\r\n{line}\r\n")), "{line} in {request}");
    }
}

struct Cover;

impl SecretMask for Cover {
    fn mask_request(&self, request: &mut ChatRequest) {
        request.system = request.system.take().map(|text| text.replace("hunter2", "#A1#"));
    }

    fn unmask_call(&self, call: &mut ToolCall) {
        for value in call.arguments.values_mut() {
            *value = value.as_str().unwrap().replace("#A1#", "hunter2").into();
        }
    }
}

#[tokio::test]
async fn secrets_are_hidden_from_the_model_and_shown_in_its_calls() {
    let call = event(&serde_json::json!({"call": "{\"p\":\"#A1#\"}"}).to_string());
    let server = Server::says(format!("{STREAM}{call}{}", event("[DONE]")));
    let request = ChatRequest { system: Some("say hunter2".into()), ..ChatRequest::default() };
    let options = StreamOptions { secrets: Some(Arc::new(Cover)), ..options() };
    let mut stream = ask_with(&ClientSettings::default(), &server.url(), Auth::None, request, options);
    let mut ended = None;
    while let Some(step) = stream.next().await {
        if let StreamStep::Event(StreamEvent::ToolcallEnd { tool_call, .. }) = step {
            ended = Some(tool_call);
        }
    }
    assert!(server.request().ends_with("say #A1#"));
    assert_eq!(ended.unwrap().arguments["p"], "hunter2");
    assert_eq!(stream.message().tool_calls().next().unwrap().arguments["p"], "hunter2");
}
