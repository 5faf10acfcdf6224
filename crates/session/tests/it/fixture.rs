//! A directory on the model file system, and a session with every kind of entry.

use std::path::Path;
use std::sync::Arc;

use relaycode_durable::{Fs, FsDir};
use relaycode_llm::Message;
use relaycode_llm::message::UserMessage;
use relaycode_proof_crashfs::ModelFs;
use relaycode_session::{EntryBody, OpenMode, Session, SessionError};
use serde_json::json;

/// The session's file.
pub(crate) const NAME: &str = "20260216_abc.jsonl";

/// The model and its directory `s`.
pub(crate) fn place() -> (Arc<ModelFs>, FsDir) {
    let model = Arc::new(ModelFs::new());
    model.mkdir("s").unwrap();
    let dir = at(&model);
    (model, dir)
}

pub(crate) fn at(model: &Arc<ModelFs>) -> FsDir {
    model.open_root(Path::new("/s")).unwrap()
}

pub(crate) fn path(name: &str) -> String {
    format!("s/{name}")
}

pub(crate) fn with_file(bytes: &[u8]) -> (Arc<ModelFs>, FsDir) {
    let (model, dir) = place();
    model.put(&path(NAME), bytes, 0o600).unwrap();
    (model, dir)
}

pub(crate) fn bytes(model: &ModelFs) -> Vec<u8> {
    model.file(&path(NAME)).unwrap().0
}

pub(crate) fn try_open(model: &Arc<ModelFs>, mode: OpenMode) -> Result<Session, SessionError> {
    Session::open(model.clone(), at(model), NAME, mode)
}

pub(crate) fn open(model: &Arc<ModelFs>, mode: OpenMode) -> Session {
    try_open(model, mode).unwrap()
}

pub(crate) fn ids(session: &Session) -> Vec<String> {
    session.rows().iter().map(|row| row.id.to_string()).collect()
}

pub(crate) fn user(text: &str) -> Message {
    Message::User(UserMessage::text(text, 1))
}

pub(crate) fn answer(text: &str) -> EntryBody {
    let content = json!([{ "type": "text", "text": text }]);
    EntryBody::Message {
        message: json!({ "role": "assistant", "provider": "p", "model": "m", "content": content }),
    }
}

/// A session with every kind of entry, on two branches; each entry but the branch follows the one before.
pub(crate) fn rich() -> Vec<String> {
    let bodies = [
        r#""type":"session_init","#.to_string() + r#""systemPrompt":"You help.","task":"t","tools":["read"],"outputSchema":{"type":"object"}"#,
        r#""type":"model_change","model":"openai/m","role":"default""#.into(),
        r#""type":"message","message":{"role":"user","content":[{"type":"text","text":"Grüße \\ \"und\" \n mehr 🚀"}],"timestamp":1}"#.into(),
        r#""type":"message","message":{"role":"assistant","provider":"anthropic","model":"a","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"c2ln"},{"type":"toolCall","id":"t1","name":"read","arguments":{"path":"a{}[]\n"}}],"stopReason":"toolUse","usage":{"input":1,"output":2,"cost":{"total":0.5}},"timestamp":2}"#.into(),
        r#""type":"message","message":{"role":"toolResult","toolCallId":"t1","toolName":"read","content":[{"type":"text","text":"line\nline"}],"details":{"x":[1,2,{"y":null}]},"isError":false,"timestamp":3}"#.into(),
        r#""type":"thinking_level_change","thinkingLevel":"high""#.into(),
        r#""type":"service_tier_change","serviceTier":null"#.into(),
        r#""type":"custom","customType":"x","data":{"state":1}"#.into(),
        r#""type":"custom_message","customType":"x","content":"Injected","display":true,"attribution":"agent""#.into(),
        r#""type":"label","targetId":"00000003","label":"checkpoint""#.into(),
        r#""type":"ttsr_injection","injectedRules":["a","b"]"#.into(),
        r#""type":"mcp_tool_selection","selectedToolNames":["s.t"]"#.into(),
        r#""type":"mode_change","mode":"plan","data":{"planFile":"p"}"#.into(),
        r#""type":"compaction","summary":"What was.","shortSummary":"short","firstKeptEntryId":"00000004","tokensBefore":42000,"fromExtension":false"#.into(),
        r#""type":"branch_summary","fromId":"00000003","summary":"Left behind","fromExtension":true"#.into(),
        r#""type":"from_the_future","what":{"ever":[true,false,null,1e9,-0.5]}"#.into(),
        r#""type":"message","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"overloaded"}"#.into(),
        r#""type":"message","message":{"role":"bashExecution","command":"ls","output":"a\nb","exitCode":0}"#.into(),
        format!(r#""type":"message","message":{{"role":"user","content":"{}"}}"#, "words ".repeat(60)),
    ];
    let mut lines = vec![
        r#"{"type":"session","version":3,"id":"abc","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/p","title":"T","titleSource":"auto","x":{"kept":1}}"#.to_string(),
    ];
    for (number, body) in bodies.iter().enumerate() {
        let parent = match number {
            0 => "null".to_string(),
            14 => r#""00000003""#.to_string(),
            _ => format!(r#""{number:08}""#),
        };
        let kind = body.split(',').next().unwrap();
        let rest = body.get(kind.len()..).unwrap();
        lines.push(format!(
            r#"{{{kind},"id":"{:08}","parentId":{parent},"timestamp":"2026-02-16T10:21:{number:02}.000Z"{rest}}}"#,
            number + 1
        ));
    }
    lines
}

/// The file of [`rich`].
pub(crate) fn rich_file() -> Vec<u8> {
    let mut text = rich().join("\n");
    text.push('\n');
    text.into_bytes()
}

/// The ids of [`rich`], in order.
pub(crate) fn rich_ids() -> Vec<String> {
    (1..rich().len()).map(|number| format!("{number:08}")).collect()
}
