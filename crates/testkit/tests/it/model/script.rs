//! Which request gets which turn, and how a script is read.

use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn, ServedBy};
use serde_json::json;

use super::client::{Client, chat};

const PATH: &str = "/v1/chat/completions";

fn say(server: &ScriptedServer, content: &str, tools: bool) -> String {
    let mut body = json!({"messages": [{"role": "user", "content": content}]});
    if tools {
        body["tools"] = json!([{"type": "function"}]);
    }
    let answer = Client::to(server).ask("POST", PATH, &body.to_string()).json();
    answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}

#[test]
fn requests_with_tools_take_turns_and_others_get_the_aside() {
    let script = json!({"turns": [{"text": "a", "repeat": 2}, {"text": "b"}], "aux": {"text": "aside"}});
    let server = ScriptedServer::start(Script::parse(&script).unwrap());
    assert_eq!(say(&server, "", true), "a");
    assert_eq!(say(&server, "", false), "aside");
    assert_eq!(say(&server, "", true), "a");
    assert_eq!(say(&server, "", true), "b");
    assert_eq!(say(&server, "", true), "scripted-default");
    server.push(&ScriptedTurn::text("c"));
    assert_eq!(say(&server, "", true), "c");
    let served: Vec<ServedBy> = server.turns().iter().map(|request| request.served).collect();
    let expected = [
        ServedBy::Turn(0),
        ServedBy::Aux,
        ServedBy::Turn(1),
        ServedBy::Turn(2),
        ServedBy::Default,
        ServedBy::Turn(3),
    ];
    assert_eq!(served, expected);
}

#[test]
fn a_turn_that_expects_something_else_is_a_miss_or_waits_for_its_request() {
    let turns = || [ScriptedTurn::text("for one").expect("one"), ScriptedTurn::text("for two").expect("two")];
    let in_order = ScriptedServer::start(Script::any(turns()));
    assert_eq!(say(&in_order, "two", false), "for one");
    assert_eq!((in_order.expectation_misses(), in_order.requests()[0].served), (1, ServedBy::Miss(0)));
    let matching = ScriptedServer::start(Script::matching(turns()));
    assert_eq!(say(&matching, "two", false), "for two");
    assert_eq!(say(&matching, "two", false), "scripted-default");
    assert_eq!(say(&matching, "one", false), "for one");
    assert_eq!(matching.expectation_misses(), 1);
}

#[test]
fn a_script_with_a_word_that_is_not_known_is_refused_and_names_it() {
    let error = Script::parse(&json!([{"text": "a", "dealy_ms": 5}])).unwrap_err();
    assert!(error.contains("dealy_ms") && error.contains("delay_ms"), "{error}");
    assert!(Script::parse(&json!({"turn": []})).unwrap_err().contains("turn"));
    let all = json!([{
        "text": ["a", "b"], "reasoning": "r", "thinking_signature": "s", "stop": "length", "repeat": 1, "expect": "x",
        "tool_calls": [{"name": "n", "arguments": {"a": 1}}, {"name": "c", "input": "raw", "id": "i"}],
        "usage": {"in": 1, "out": 2, "cache_read": 3}, "delay_ms": 1, "chunk_delay_ms": 1, "status": 500,
        "body": "oops", "headers": {"a": "b"}, "malformed": true, "disconnect_after": 1, "truncate": true,
        "stream_error": "e", "hang_s": 0.5, "chunks": ["a", [255, 0]], "split": 7, "never_end": true, "duplicate": true,
        "invalid_utf8": true, "big_line": 9, "close_before_headers": true, "stall_before_headers": true,
    }]);
    assert_eq!(Script::parse(&all).unwrap().turns[0].usage.output, 2);
}

#[test]
fn requests_are_remembered_with_their_bodies_and_without_their_keys() {
    let server = ScriptedServer::start(Script::default());
    let (long, short) = ("Bearer sk-live-0123456789abcdef0123456789", "test-key");
    let mut client = Client::to(&server);
    let headers = [("Authorization", long), ("x-api-key", short), ("X-Other", "kept")];
    client.send(
        "POST",
        &format!("{PATH}?key=0123456789abcdef0123&alt=sse"),
        &headers,
        chat(false).as_bytes(),
    );
    client.answer();
    let request = &server.requests()[0];
    assert_eq!(request.header("authorization"), Some("Bearer sk-live-…"));
    assert_eq!(request.header("X-Api-Key"), Some(short));
    assert_eq!(request.header("x-other"), Some("kept"));
    assert_eq!(request.path, format!("{PATH}?key=01234567…&alt=sse"));
    assert_eq!(request.body["messages"][0]["content"], "hi");
    assert!(!request.to_json().to_string().contains("0123456789abcdef"));
}
