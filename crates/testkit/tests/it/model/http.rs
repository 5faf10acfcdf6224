//! The small part of HTTP/1.1 that clients of models use.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};
use serde_json::json;

use super::client::{Client, chat, value};

const PATH: &str = "/v1/chat/completions";

#[test]
fn one_connection_serves_request_after_request() {
    let server = ScriptedServer::start(Script::any([
        ScriptedTurn::text("first."),
        ScriptedTurn::text("second."),
        ScriptedTurn::status(500),
    ]));
    let mut client = Client::to(&server);
    assert!(client.ask("POST", PATH, &chat(true)).text().contains("[DONE]"));
    assert_eq!(client.ask("POST", PATH, &chat(false)).json()["choices"][0]["message"]["content"], "second.");
    assert_eq!(client.ask("POST", PATH, &chat(false)).status, 500);
    assert_eq!(client.ask("GET", "/nowhere", "").status, 404);
    assert_eq!((server.connections().opened, server.requests().len()), (1, 4));
}

#[test]
fn bodies_come_in_chunks_deflated_and_gzipped_and_other_encodings_are_refused() {
    let server = ScriptedServer::start(Script::default());
    let body = json!({"model": "squeezed", "messages": []}).to_string();
    let (one, two) = body.split_at(9);
    let chunked =
        format!("{:x};note=1\r\n{one}\r\n{:X}\r\n{two}\r\n0\r\ntrailer: x\r\n\r\n", one.len(), two.len());
    let mut client = Client::to(&server);
    client.raw(format!("POST {PATH} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}").as_bytes());
    assert_eq!(client.answer().json()["model"], "squeezed");

    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(body.as_bytes()).unwrap();
    client.send("POST", PATH, &[("content-encoding", "gzip")], &gzip.finish().unwrap());
    assert_eq!(client.answer().json()["model"], "squeezed");

    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(body.as_bytes()).unwrap();
    client.send("POST", PATH, &[("content-encoding", "deflate")], &zlib.finish().unwrap());
    assert_eq!(client.answer().json()["model"], "squeezed");

    client.send("POST", PATH, &[("content-encoding", "zstd")], body.as_bytes());
    assert_eq!(client.answer().status, 415);
    assert!(client.read_rest().is_empty(), "what cannot be read ends the connection");
}

#[test]
fn a_client_that_waits_to_be_asked_for_its_body_is_asked() {
    let server = ScriptedServer::start(Script::default());
    let mut client = Client::to(&server);
    let body = chat(false);
    let head =
        format!("POST {PATH} HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n", body.len());
    client.raw(head.as_bytes());
    assert_eq!(client.head().unwrap(), "HTTP/1.1 100 Continue\r\n\r\n");
    client.raw(body.as_bytes());
    assert_eq!(client.answer().status, 200);
}

#[test]
fn head_gets_no_body_and_an_old_client_gets_no_chunks() {
    let server = ScriptedServer::start(Script::any([ScriptedTurn::text("for an old client")]));
    let mut client = Client::to(&server);
    client.send("HEAD", "/v1/models", &[], b"");
    let head = client.head().unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK") && value(&head, "content-length") != Some("0"));
    assert_eq!(client.ask("GET", "/", "").text(), "Ollama is running");

    let mut old = Client::to(&server);
    let body = chat(true);
    old.raw(format!("POST {PATH} HTTP/1.0\r\ncontent-length: {}\r\n\r\n{body}", body.len()).as_bytes());
    let answer = old.answer();
    assert_eq!(value(&answer.head, "transfer-encoding"), None);
    assert!(answer.text().ends_with("data: [DONE]\n\n"), "{}", answer.text());
}

#[test]
fn what_is_too_large_or_no_http_is_refused() {
    let server = ScriptedServer::start(Script::default());
    for (sent, status) in [
        (format!("POST {PATH} HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n"), 413),
        (format!("POST {PATH} HTTP/1.1\r\ncontent-length: soon\r\n\r\n"), 400),
        (format!("POST {PATH} HTTP/2\r\n\r\n"), 505),
        ("hello\r\n\r\n".to_owned(), 400),
        (format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(70_000)), 431),
    ] {
        let mut client = Client::to(&server);
        client.raw(sent.as_bytes());
        assert_eq!(client.answer().status, status);
    }
    assert_eq!(server.requests(), []);
}
