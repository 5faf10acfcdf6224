//! What each filter lets through, and how the rest is bridged.

use std::fs;
use std::sync::Arc;

use relaycode_durable::{Fs, RealFs};
use serde_json::json;

use super::*;
use crate::OpenMode;

fn session(lines: &[Value]) -> (tempfile::TempDir, Session) {
    let dir = tempfile::tempdir().unwrap();
    let header = json!({"type": "session", "version": 3, "id": "aa", "timestamp": "t", "cwd": "/"});
    let text: String = std::iter::once(&header).chain(lines).map(|line| format!("{line}\n")).collect();
    fs::write(dir.path().join("aa.jsonl"), text).unwrap();
    let real: Arc<dyn Fs> = Arc::new(RealFs::default());
    let at = real.open_root(dir.path()).unwrap();
    let session = Session::open(real, at, "aa.jsonl", OpenMode::Read).unwrap();
    (dir, session)
}

fn message(id: &str, parent: Option<&str>, role: &str, content: &Value) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-02-16T10:20:30.000Z",
        "message": {"role": role, "content": content}})
}

#[test]
fn filters_leave_out_what_they_say_and_bridge_it() {
    let call = json!([{"type": "toolCall", "id": "t", "name": "read", "arguments": {"path": "a"}}]);
    let (_dir, session) = session(&[
        message("u1", None, "user", &json!("start")),
        json!({"type": "model_change", "id": "m1", "parentId": "u1", "timestamp": "t", "model": "a/b"}),
        message("c1", Some("m1"), "assistant", &call),
        message("r1", Some("c1"), "toolResult", &json!([{"type": "text", "text": "contents"}])),
        message("a1", Some("r1"), "assistant", &json!([{"type": "text", "text": "Done  with\nit"}])),
        json!({"type": "label", "id": "l1", "parentId": "a1", "timestamp": "t", "targetId": "u1", "label": "mark"}),
        message("u2", Some("u1"), "user", &json!("other way")),
    ]);
    let ids = |filter, search: &str| {
        let lines = session_outline(&session, filter, search).unwrap();
        lines.iter().map(|line| line.id.clone()).collect::<Vec<_>>()
    };
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    assert_eq!(sorted(ids(OutlineFilter::Default, "")), ["a1", "r1", "u1", "u2"]);
    assert_eq!(sorted(ids(OutlineFilter::NoTools, "")), ["a1", "u1", "u2"]);
    assert_eq!(ids(OutlineFilter::UserOnly, ""), ["u1", "u2"]);
    assert_eq!(ids(OutlineFilter::LabeledOnly, ""), ["u1"]);
    assert_eq!(ids(OutlineFilter::All, "").len(), 7);
    assert_eq!(ids(OutlineFilter::All, "READ path"), ["c1"]);
    assert_eq!(ids(OutlineFilter::Default, "assistant done"), ["a1"]);
    let lines = session_outline(&session, OutlineFilter::NoTools, "").unwrap();
    let at = |id: &str| lines.iter().position(|line| line.id == id).unwrap();
    assert_eq!(lines[at("a1")].parent, Some(at("u1")));
    assert_eq!((lines[at("a1")].text.as_str(), lines[at("a1")].active), ("Done with it", false));
    assert!(lines[at("u2")].active && lines[at("u2")].leaf);
    assert_eq!(lines[at("u1")].label.as_deref(), Some("mark"));
}

#[test]
fn an_answer_that_only_calls_tools_is_shown_where_it_ended_badly() {
    let ended = |id: &str, parent: &str, reason: Option<&str>| {
        let call = json!([{"type": "toolCall", "id": "t", "name": "read", "arguments": {}}]);
        let mut line = message(id, Some(parent), "assistant", &call);
        line["message"]["stopReason"] = json!(reason);
        line
    };
    let (_dir, session) = session(&[
        message("u1", None, "user", &json!("start")),
        ended("c1", "u1", Some("stop")),
        ended("c2", "c1", Some("toolUse")),
        ended("c3", "c2", Some("length")),
        ended("c4", "c3", Some("error")),
        ended("c5", "c4", Some("aborted")),
        ended("c6", "c5", None),
        ended("c7", "c6", Some("toolUse")),
    ]);
    let lines = session_outline(&session, OutlineFilter::Default, "").unwrap();
    let ids: Vec<&str> = lines.iter().map(|line| line.id.as_str()).collect();
    assert_eq!(ids, ["u1", "c3", "c4", "c5", "c7"], "and the last, where it goes on");
}

#[test]
fn words_are_found_wherever_they_stand_in_an_entry() {
    let far = format!("{} needle", "hay ".repeat(2000));
    let both = json!([{"type": "text", "text": "Looking"},
        {"type": "toolCall", "id": "t", "name": "grep", "arguments": {"pattern": "haystack"}}]);
    let (_dir, session) =
        session(&[message("u1", None, "user", &json!(far)), message("a1", Some("u1"), "assistant", &both)]);
    let ids = |search: &str| {
        let lines = session_outline(&session, OutlineFilter::Default, search).unwrap();
        lines.into_iter().map(|line| line.id).collect::<Vec<_>>()
    };
    assert_eq!(ids("NEEDLE hay"), ["u1"]);
    assert_eq!(ids("looking grep haystack"), ["a1"]);
    assert!(ids("needle grep").is_empty(), "all in one entry");
}

#[test]
fn entries_for_a_view_are_the_whole_tree_with_what_it_filters_by() {
    let call =
        json!([{"type": "toolCall", "id": "t", "name": "bash", "arguments": {"command": "cargo test"}}]);
    let at = |mut line: Value, time: &str| {
        line["timestamp"] = json!(time);
        line
    };
    let (_dir, session) = session(&[
        message("u1", None, "user", &json!([{"type": "text", "text": "start\nhere"}])),
        at(message("later", Some("u1"), "user", &json!("b")), "2026-02-16T11:00:00.000Z"),
        at(message("c1", Some("u1"), "assistant", &call), "2026-02-16T10:30:00.000Z"),
        json!({"type": "label", "id": "l1", "parentId": "c1", "timestamp": "2026-02-16T12:00:00.000Z", "targetId": "u1", "label": "old"}),
        json!({"type": "label", "id": "l2", "parentId": "l1", "timestamp": "2026-02-16T12:00:01.000Z", "targetId": "u1", "label": "mark"}),
    ]);
    let entries = tree_entries(&session).unwrap();
    let ids: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["u1", "c1", "l1", "l2", "later"], "older siblings first");
    let [start, called, _, newest, later] = &entries[..] else { panic!() };
    assert_eq!((start.parent, called.parent, later.parent), (None, Some(0), Some(0)));
    assert_eq!((start.label.as_deref(), start.text.as_str()), (Some("mark"), "start here"));
    assert_eq!(start.prompt.as_deref(), Some("start\nhere"));
    assert!(called.is_silent && called.search.contains("cargo test") && called.prompt.is_none());
    assert!(newest.is_bookkeeping && newest.is_leaf && newest.on_path && called.on_path && !later.on_path);
}
