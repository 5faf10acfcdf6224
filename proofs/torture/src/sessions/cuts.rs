//! A session file with every kind of entry, cut off at a byte: all whole entries are there, and it
//! continues; also with the index of the whole file beside it.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use relaycode_durable::Fs;
use relaycode_proof_crashfs::ModelFs;
use relaycode_session::file::index;
use relaycode_session::{EntryBody, OpenMode, Session, SessionEntry, SessionHeader};
use serde_json::{Map, json};

use super::{NAME, Place, said};

/// The file, and where its entries are.
pub(crate) struct Whole {
    bytes: Vec<u8>,
    /// For each entry its id and where its line ends.
    entries: Vec<(String, usize)>,
    index: Vec<u8>,
}

impl Whole {
    /// The same on every run.
    pub(crate) fn new() -> anyhow::Result<Whole> {
        let mut header = SessionHeader::new("/p");
        header.id = "019c3a5f2b7e7c1d9a530c2f5d1e7b66".to_owned();
        header.timestamp = "2026-02-16T10:20:30.000Z".to_owned();
        header.title = Some("Größe \"und\" \\ mehr 🚀".to_owned());
        let mut bytes = serde_json::to_vec(&header)?;
        bytes.push(b'\n');
        let mut entries: Vec<(String, usize)> = Vec::new();
        for round in 0..4 {
            for body in bodies(round, &entries) {
                let number = entries.len();
                let entry = SessionEntry {
                    id: format!("{number:08x}"),
                    parent_id: parent(number),
                    timestamp: format!("2026-02-16T10:{:02}:{:02}.000Z", number / 60, number % 60),
                    body,
                };
                bytes.extend(entry.to_object().to_string().into_bytes());
                entries.push((entry.id, bytes.len()));
                bytes.push(b'\n');
            }
        }
        let model = place(&bytes, None)?;
        drop(Session::open(model.clone(), model.open_root(Path::new("/s"))?, NAME, OpenMode::Write)?);
        let (index, _) =
            model.file(&format!("s/{}", index::index_file_name(NAME))).context("there is no index")?;
        Ok(Whole { bytes, entries, index })
    }

    /// In bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Cuts it at a byte, with and without the index. Returns the number of checks.
    pub(crate) fn cut(&self, at: usize) -> anyhow::Result<u64> {
        for index in [None, Some(&self.index[..])] {
            self.cut_with(at, index).with_context(|| {
                let beside = if index.is_some() { " and the index of the whole file" } else { "" };
                format!("cut at byte {at}{beside} (`cut {at}..{}` repeats only that)", at + 1)
            })?;
        }
        Ok(2)
    }

    fn cut_with(&self, at: usize, index: Option<&[u8]>) -> anyhow::Result<()> {
        let model = place(&self.bytes[..at], index)?;
        let dir = model.open_root(Path::new("/s"))?;
        let place = Place::new(model, dir)?;
        let session = place.open(OpenMode::Read)?.context("there is no session")?;
        let have = said(&session)?;
        let whole: Vec<&str> =
            self.entries.iter().filter(|(_, end)| *end <= at).map(|(id, _)| id.as_str()).collect();
        ensure!(
            have.iter().map(|said| said.id.as_str()).eq(whole.iter().copied()),
            "{} entries are there instead of {}",
            have.len(),
            whole.len()
        );
        session.context().context("there is no context")?;
        drop(session);
        place.goes_on(&have).map(|_| ())
    }
}

/// A disk in memory with these two files.
fn place(bytes: &[u8], index: Option<&[u8]>) -> anyhow::Result<Arc<ModelFs>> {
    let model = Arc::new(ModelFs::new());
    model.mkdir("s")?;
    model.put(&format!("s/{NAME}"), bytes, 0o600)?;
    if let Some(index) = index {
        model.put(&format!("s/{}", index::index_file_name(NAME)), index, 0o600)?;
    }
    Ok(model)
}

/// Each follows the one before, except some that begin another branch.
fn parent(number: usize) -> Option<String> {
    let parent = if number % 13 == 12 { number.checked_sub(7) } else { number.checked_sub(1) };
    parent.map(|parent| format!("{parent:08x}"))
}

fn bodies(round: usize, before: &[(String, usize)]) -> Vec<EntryBody> {
    let message = |message| EntryBody::Message { message };
    let target = before.last().map_or_else(|| "00000000".to_owned(), |(id, _)| id.clone());
    let long = "words, \"quotes\" and\nlines — ".repeat(30 + 10 * round);
    let other = json!({ "type": "from_the_future", "what": { "ever": [true, false, null, 1e9, -0.5] } });
    let signature = "c2lnbmF0dXJl".repeat(20);
    vec![
        EntryBody::SessionInit {
            system_prompt: "You help.".into(),
            task: "t".into(),
            tools: vec!["read".into()],
            output_schema: Some(json!({ "type": "object" })),
        },
        EntryBody::ModelChange { model: "openai/m".into(), role: None },
        message(
            json!({ "role": "user", "content": [{ "type": "text", "text": "Grüße \\ \"und\" \n mehr 🚀" }] }),
        ),
        message(json!({ "role": "assistant", "provider": "anthropic", "model": "a", "stopReason": "toolUse",
            "content": [{ "type": "thinking", "thinking": "hm", "thinkingSignature": signature },
                { "type": "toolCall", "id": "t1", "name": "read", "arguments": { "path": "a{}[]\n" } }],
            "usage": { "input": 1, "output": 2, "cost": { "total": 0.5 } } })),
        message(json!({ "role": "toolResult", "toolCallId": "t1", "toolName": "read", "isError": false,
            "content": [{ "type": "text", "text": long }], "details": { "x": [1, 2, { "y": null }] } })),
        EntryBody::ThinkingLevelChange { thinking_level: Some("high".into()) },
        EntryBody::ServiceTierChange { service_tier: None },
        EntryBody::Custom { custom_type: "x".into(), data: Some(json!({ "state": round })) },
        EntryBody::CustomMessage {
            custom_type: "x".into(),
            content: json!("Put in"),
            display: true,
            details: None,
            attribution: Some("agent".into()),
        },
        EntryBody::Label { target_id: target.clone(), label: Some("checkpoint".into()) },
        EntryBody::TtsrInjection { injected_rules: vec!["a".into(), "b".into()] },
        EntryBody::McpToolSelection { selected_tool_names: vec!["s.t".into()] },
        EntryBody::ModeChange { mode: "plan".into(), data: Some(json!({ "planFile": "p" })) },
        EntryBody::Compaction {
            summary: "What was.".into(),
            short_summary: Some("short".into()),
            first_kept_entry_id: target.clone(),
            tokens_before: 42_000,
            details: None,
            preserve_data: None,
            from_extension: Some(false),
        },
        EntryBody::BranchSummary {
            from_id: target,
            summary: "Left behind".into(),
            details: None,
            from_extension: Some(true),
        },
        EntryBody::Other(other.as_object().cloned().unwrap_or_else(Map::new)),
        message(
            json!({ "role": "assistant", "content": [], "stopReason": "error", "errorMessage": "overloaded" }),
        ),
        message(json!({ "role": "bashExecution", "command": "ls", "output": "a\nb", "exitCode": 0 })),
    ]
}
