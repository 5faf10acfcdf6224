//! Requests that never become an answer: which are retried, and the messages of the others.

use std::net::TcpListener;
use std::time::Duration;

use relaycode_llm::request::Auth;
use relaycode_llm::stream::retry::RetryBudget;
use relaycode_llm::stream::transport::ClientSettings;
use relaycode_llm::{ChatRequest, FailureClass, ModelClient, StreamOptions, StreamStep};

use crate::loopback_server::{STREAM, Server, event};
use crate::test_wire::{ask, ask_with, model, once, options, retries, steps};

#[tokio::test]
async fn what_may_pass_is_asked_again_exactly_as_often_as_the_budget_says() {
    for (status, class) in [
        (408, FailureClass::Timeout),
        (429, FailureClass::RateLimit),
        (500, FailureClass::Server),
        (502, FailureClass::Server),
        (503, FailureClass::Overloaded),
        (504, FailureClass::Timeout),
        (529, FailureClass::Overloaded),
    ] {
        let server = Server::refuses(status, "", "");
        let budget = RetryBudget { request_max_retries: 2, stream_max_retries: 9, ..options().budget };
        let mut stream = ask(&server.url(), StreamOptions { budget, ..options() });
        assert_eq!(steps(&mut stream).await, ["retry 1/2", "retry 2/2", "error error"], "{status}");
        assert_eq!((server.connections(), stream.failure().unwrap().class), (3, class), "{status}");
    }
}

#[tokio::test]
async fn what_stays_wrong_is_asked_once() {
    let quota = r#"{"error":{"code":"insufficient_quota","message":"used up"}}"#;
    let overflow = r#"{"error":{"code":"context_length_exceeded","message":"long"}}"#;
    for (status, body, class) in [
        (400, "", FailureClass::BadRequest),
        (401, "", FailureClass::Auth),
        (403, "", FailureClass::Forbidden),
        (404, "", FailureClass::NotFound),
        (422, "", FailureClass::BadRequest),
        (429, quota, FailureClass::Quota),
        (400, overflow, FailureClass::ContextOverflow),
    ] {
        let server = Server::refuses(status, "", body);
        let mut stream = ask(&server.url(), options());
        assert_eq!(steps(&mut stream).await, ["error error"], "{status}");
        assert_eq!((server.connections(), stream.failure().unwrap().class), (1, class), "{status}");
    }
}

#[tokio::test]
async fn a_connection_that_is_refused_or_reset_is_tried_again() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut stream = ask(&format!("http://{free}"), options());
    assert_eq!(retries(&steps(&mut stream).await), 5);
    let failure = stream.failure().unwrap();
    assert_eq!(failure.class, FailureClass::Network);
    assert!(failure.message.contains("Is its server running?"), "{failure}");

    let server = Server::new(|_, stream| drop(stream));
    let mut stream = ask(&server.url(), options());
    assert_eq!(retries(&steps(&mut stream).await), 5);
    assert_eq!((server.connections(), stream.failure().unwrap().class), (6, FailureClass::Network));
}

#[tokio::test]
async fn an_answer_after_a_failure_is_an_answer() {
    let server = Server::new(|number, mut stream| {
        let body = if number == 0 {
            "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n".to_owned()
        } else {
            format!("{STREAM}{}{}", event("{\"text\":\"a\"}"), event("[DONE]"))
        };
        std::io::Write::write_all(&mut stream, body.as_bytes()).unwrap();
    });
    let mut stream = ask(&server.url(), options());
    assert_eq!(stream.finish().await.text(), "a");
    assert!(stream.failure().is_none());
}

#[tokio::test]
async fn a_hint_is_waited_for_and_one_too_long_is_told_at_once() {
    let server = Server::refuses(429, "retry-after: 7\r\nrequest-id: req_7\r\n", "");
    let mut stream = ask(&server.url(), options());
    let Some(StreamStep::Retrying { wait, failure, .. }) = stream.next().await else { panic!("no retry") };
    assert_eq!(wait, Duration::from_secs(7));
    assert_eq!(failure.request_id.as_deref(), Some("req_7"));

    let server = Server::refuses(429, "retry-after: 7200\r\n", "");
    let mut stream = ask(&server.url(), options());
    assert_eq!(steps(&mut stream).await, ["error error"]);
    assert!(stream.failure().unwrap().message.contains("wait 2 h 0 min"), "{:?}", stream.failure());
}

#[tokio::test]
async fn an_answer_that_is_none_of_a_model_is_said_to_be_that() {
    let head = |kind: &str| format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
    let cases = [
        (format!("{}<html>hello</html>", head("text/html; charset=utf-8")), FailureClass::Config, "web page"),
        (format!("{}\n<!doctype html>", head("text/plain")), FailureClass::Config, "web page"),
        (format!("{}{{\"choices\":[]}}", head("application/json")), FailureClass::Config, "one JSON text"),
        (
            format!(
                "{}{{\"error\":{{\"code\":\"invalid_api_key\",\"message\":\"no\"}}}}",
                head("application/json")
            ),
            FailureClass::Auth,
            "relay keys set plain",
        ),
        (
            format!(
                "{}[{{\"error\":{{\"status\":\"UNAVAILABLE\",\"message\":\"busy\"}}}}]",
                head("application/json")
            ),
            FailureClass::Overloaded,
            "too much to do",
        ),
        (
            format!("{}{{\"a\":\"{}\"}}", head("application/json"), "x".repeat(1 << 20)),
            FailureClass::Config,
            "one JSON text",
        ),
    ];
    for (bytes, class, words) in cases {
        let server = Server::says(bytes);
        let mut stream = ask(&server.url(), once());
        assert_eq!(steps(&mut stream).await, ["error error"]);
        let failure = stream.failure().unwrap();
        assert_eq!(failure.class, class, "{failure}");
        assert!(failure.message.contains(words), "{failure}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_a_key() {
    let other = Server::says(STREAM);
    let server = Server::refuses(307, &format!("location: {}/answer?key=x\r\n", other.url()), "");
    let key = Auth::Key("sk-test-0123456789".into());
    let mut stream =
        ask_with(&ClientSettings::default(), &server.url(), key, ChatRequest::default(), options());
    stream.finish().await;
    assert_eq!(stream.failure().unwrap().class, FailureClass::Config);
    assert_eq!((server.connections(), other.connections()), (1, 0));
}

#[tokio::test]
async fn a_key_that_cannot_be_sent_is_named_by_its_fix_and_not_by_itself() {
    let server = Server::says(STREAM);
    for key in ["sk-test-secret\n", "sk-test\r\nx-evil: secret", "sk-secret…", "sk secret", ""] {
        let auth = Auth::Key(key.into());
        let mut stream =
            ask_with(&ClientSettings::default(), &server.url(), auth, ChatRequest::default(), options());
        assert_eq!(steps(&mut stream).await, ["error error"]);
        let failure = stream.failure().unwrap();
        assert_eq!(failure.class, FailureClass::Config);
        assert!(failure.message.contains("`relay keys set plain`"), "{failure}");
        assert!(!failure.message.contains("secret"), "{failure}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_provider_that_repeats_the_key_does_not_bring_it_into_the_message() {
    let key = "plainkey-without-shape-77";
    let server = Server::refuses(401, "", &format!("{{\"error\":{{\"message\":\"bad {key} here\"}}}}"));
    let auth = Auth::Key(key.into());
    let mut stream =
        ask_with(&ClientSettings::default(), &server.url(), auth, ChatRequest::default(), options());
    let message = stream.finish().await.clone();
    assert!(!format!("{message:?} {:?}", stream.failure()).contains(key));
    assert!(message.error_message.unwrap().contains("bad [redacted] here"));
}

#[tokio::test]
async fn what_is_set_wrong_is_said_without_asking_anybody() {
    let client = ModelClient::new(&ClientSettings::default()).unwrap();
    let mut stream =
        client.stream(&model("http://127.0.0.1:1"), Auth::None, ChatRequest::default(), options());
    stream.finish().await;
    assert!(stream.failure().unwrap().message.contains("no wire `plain`"));
    for url in ["", "ftp://x", "models.example", "http:"] {
        let mut stream = ask(url, options());
        stream.finish().await;
        assert_eq!(stream.failure().unwrap().class, FailureClass::Config, "{url}");
    }
}

#[tokio::test]
async fn a_document_is_got_within_its_bounds() {
    let server = Server::refuses(200, "", &"x".repeat(100));
    let client = ModelClient::new(&ClientSettings::default()).unwrap();
    let get = |most| {
        let (client, url) = (client.clone(), server.url());
        async move { client.get("plain", &url, &[], Duration::from_secs(20), most).await }
    };
    assert_eq!(get(100).await.unwrap().len(), 100);
    assert_eq!(get(99).await.unwrap_err().class, FailureClass::TooLarge);
}
