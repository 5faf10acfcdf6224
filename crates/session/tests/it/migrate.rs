//! Older formats are read correctly, and rewritten once with the original kept.

use relaycode_session::format::header::VERSION;
use relaycode_session::{OpenMode, Session};
use serde_json::Value;

use crate::fixture::{NAME, bytes, ids, open, path, user, with_file};

const FIRST: &str = r#"{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/tmp","provider":"kept"}
{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"hi","timestamp":1}}
{"type":"message","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"hello"}]}}
{"type":"message","timestamp":"2025-01-01T00:00:03.000Z","message":{"role":"user","content":"more","timestamp":2}}
{"type":"compaction","timestamp":"2025-01-01T00:00:04.000Z","summary":"greetings","firstKeptEntryIndex":3,"tokensBefore":10}
{"type":"message","timestamp":"2025-01-01T00:00:05.000Z","message":{"role":"hookMessage","customType":"x","content":"hooked","display":true}}
"#;

const GOLDEN: &str = r#"{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/tmp","provider":"kept","version":3}
{"type":"message","id":"00000001","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"hi","timestamp":1}}
{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"hello"}]}}
{"type":"message","id":"00000003","parentId":"00000002","timestamp":"2025-01-01T00:00:03.000Z","message":{"role":"user","content":"more","timestamp":2}}
{"type":"compaction","id":"00000004","parentId":"00000003","timestamp":"2025-01-01T00:00:04.000Z","summary":"greetings","tokensBefore":10,"firstKeptEntryId":"00000003"}
{"type":"message","id":"00000005","parentId":"00000004","timestamp":"2025-01-01T00:00:05.000Z","message":{"role":"custom","customType":"x","content":"hooked","display":true}}
"#;

fn roles(session: &Session) -> Vec<String> {
    let role = |message: &Value| message["role"].as_str().unwrap().to_string();
    session.context().unwrap().messages.iter().map(role).collect()
}

#[test]
fn the_first_format_is_read_without_a_change_and_rewritten_by_the_first_writer() {
    let (model, _) = with_file(FIRST.as_bytes());
    let reader = open(&model, OpenMode::Read);
    let read = (roles(&reader), ids(&reader));
    assert_eq!(read.0, ["compactionSummary", "user", "custom"]);
    assert_eq!(bytes(&model), FIRST.as_bytes());
    let writer = open(&model, OpenMode::Write);
    assert_eq!(String::from_utf8(bytes(&model)).unwrap(), GOLDEN);
    assert_eq!((roles(&writer), ids(&writer)), read);
    assert_eq!(roles(&reader), read.0, "a reader of the file before sees on what it opened");
    assert_eq!(writer.header().version, VERSION);
    assert_eq!(model.file(&path("20260216_abc.v1.bak")).unwrap().0, FIRST.as_bytes());
    drop(writer);
    let mut again = open(&model, OpenMode::Write);
    again.append_message(&user("on")).unwrap();
    assert!(again.report().is_empty());
    assert!(model.file(&path("20260216_abc.v1.2.bak")).is_none(), "once");
}

#[test]
fn the_second_format_differs_in_one_role() {
    let second = GOLDEN
        .replace("\"version\":3", "\"version\":2")
        .replace("\"role\":\"custom\"", "\"role\":\"hookMessage\"");
    let (model, _) = with_file(second.as_bytes());
    assert_eq!(roles(&open(&model, OpenMode::Read)), ["compactionSummary", "user", "custom"]);
    drop(open(&model, OpenMode::Write));
    assert_eq!(String::from_utf8(bytes(&model)).unwrap(), GOLDEN);
    assert_eq!(model.file(&path("20260216_abc.v2.bak")).unwrap().0, second.as_bytes());
}

#[test]
fn a_fork_of_an_old_file_is_of_the_present_format() {
    let (model, dir) = with_file(FIRST.as_bytes());
    let old = open(&model, OpenMode::Read);
    let fork = old.fork(&dir, "fork.jsonl", relaycode_session::SessionHeader::new("/q")).unwrap();
    assert_eq!((ids(&fork), roles(&fork)), (ids(&old), roles(&old)));
    assert_eq!(fork.header().version, VERSION);
    assert_eq!(bytes(&model), FIRST.as_bytes());
    let branched = old
        .fork_branch("00000002", &dir, "branch.jsonl", relaycode_session::SessionHeader::new("/q"))
        .unwrap();
    assert_eq!((ids(&branched).len(), branched.report().is_empty()), (2, true));
    assert!(Session::open(model, dir, NAME, OpenMode::Write).is_ok());
}

#[test]
fn an_index_of_a_kept_entry_that_makes_no_sense_is_left_out() {
    let odd = FIRST.replace("\"firstKeptEntryIndex\":3", "\"firstKeptEntryIndex\":99");
    let (model, _) = with_file(odd.as_bytes());
    assert_eq!(roles(&open(&model, OpenMode::Write)), ["compactionSummary", "custom"]);
    let odd = FIRST.replace("\"firstKeptEntryIndex\":3", "\"firstKeptEntryIndex\":\"x\"");
    let (model, _) = with_file(odd.as_bytes());
    assert_eq!(roles(&open(&model, OpenMode::Write)), ["compactionSummary", "custom"]);
}
