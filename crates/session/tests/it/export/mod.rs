//! Exports, opened in a real browser: everything is there, nothing runs, nothing is requested.

mod escaping;
mod hostile_session;
mod html_page;
mod long_session;
mod markdown;
mod rich_session;

use std::path::Path;

use relaycode_session::export::{self, ExportOptions, ExportSource, ExportSummary};
use relaycode_session::{SessionEntry, SessionHeader};
use serde_json::{Value, json};

/// A session in the making.
#[derive(Default)]
struct Made {
    header: Option<SessionHeader>,
    entries: Vec<SessionEntry>,
    leaf: Option<String>,
    odd: Vec<String>,
}

impl Made {
    fn new(title: &str, cwd: &str) -> Made {
        let header = json!({"type": "session", "version": 3, "id": "1f9d2a6b9c0d1234",
            "timestamp": "2026-02-16T10:20:30.000Z", "cwd": cwd, "title": title});
        Made { header: Some(serde_json::from_value(header).unwrap()), ..Made::default() }
    }

    /// Adds an entry after the last one; returns its id.
    fn add(&mut self, body: Value) -> String {
        let parent = self.entries.last().map(|entry| entry.id.clone());
        self.add_after(parent, body)
    }

    /// Adds an entry after another one; returns its id.
    fn add_after(&mut self, parent: Option<String>, mut body: Value) -> String {
        let number = self.entries.len();
        let id = format!("{number:08x}");
        body["id"] = id.clone().into();
        body["parentId"] = parent.map_or(Value::Null, Value::from);
        body["timestamp"] =
            format!("2026-02-16T{:02}:{:02}:{:02}.000Z", 10 + number / 3600, number / 60 % 60, number % 60)
                .into();
        self.entries.push(SessionEntry::from_object(body).unwrap());
        id
    }

    fn user(&mut self, text: &str) -> String {
        self.add(json!({"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1}}))
    }

    fn assistant(&mut self, content: &Value) -> String {
        self.add(json!({"type": "message", "message": {"role": "assistant", "provider": "anthropic", "model": "large-4", "content": content,
            "usage": {"input": 1200, "output": 340, "cacheRead": 9000, "cacheWrite": 0, "cost": {"total": 0.0123}}, "stopReason": "stop", "timestamp": 1}}))
    }

    fn result(&mut self, tool: &str, text: &str, failed: bool) -> String {
        self.add(
            json!({"type": "message", "message": {"role": "toolResult", "toolCallId": "c", "toolName": tool,
            "content": [{"type": "text", "text": text}], "isError": failed, "timestamp": 1}}),
        )
    }

    fn conversation(&self) -> ExportSource<'_> {
        ExportSource {
            header: self.header.as_ref().unwrap(),
            entries: &self.entries,
            leaf: self.leaf.as_deref(),
            load_issues: &self.odd,
        }
    }

    fn html(&self, file: &Path, options: &ExportOptions) -> ExportSummary {
        let mut out = std::fs::File::create(file).unwrap();
        export::export_html(&self.conversation(), options, &mut out).unwrap()
    }

    fn markdown(&self, options: &ExportOptions) -> String {
        let mut out = Vec::new();
        export::export_markdown(&self.conversation(), options, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }
}
