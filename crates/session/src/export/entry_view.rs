//! What is shown of an entry, in which order and under which title: the same for every format.
//!
//! Messages are read field by field, so that one odd piece does not hide the rest. What has no form of its
//! own is shown as JSON. Left out are only field names and what nobody can read: signatures, the provider's
//! ids, the wire.

use std::borrow::Cow;

use serde_json::Value;

use super::human_format::{format_money, group_digits, number_at};
use crate::{EntryBody, SessionEntry};

/// Who an entry belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryClass {
    User,
    Assistant,
    /// A tool's result.
    Tool,
    /// Replaces something longer.
    Summary,
    /// The program, an extension, an unknown role.
    Other,
    /// A small line: something changed.
    Note,
}

/// An entry, ready to be written.
#[derive(Debug)]
pub(super) struct EntryView<'a> {
    pub(super) class: EntryClass,
    /// Who speaks, or what happened.
    pub(super) title: Cow<'a, str>,
    /// Details beside the title.
    pub(super) facts: Vec<String>,
    /// It is a failure.
    pub(super) failed: bool,
    pub(super) pieces: Vec<ViewPiece<'a>>,
}

#[derive(Debug)]
pub(super) enum ViewPiece<'a> {
    /// Markdown.
    Prose(&'a str),
    /// Text as it was typed.
    Plain(&'a str),
    /// A model's thinking.
    Thinking(&'a str),
    /// A tool's output.
    Output(&'a str),
    /// Long text that few want to see, under a title.
    Folded(&'static str, &'a str),
    /// A tool call: name and arguments.
    Call(&'a str, &'a Value),
    /// An error.
    Failure(&'a str),
    /// A picture: its claimed type, and its base64.
    Image(&'a str, &'a str),
    Data(&'static str, Cow<'a, Value>),
}

impl<'a> EntryView<'a> {
    pub(super) fn from_entry(entry: &'a SessionEntry) -> EntryView<'a> {
        match &entry.body {
            EntryBody::Message { message } => message_view(message),
            EntryBody::CustomMessage { custom_type, content, display, details, attribution } => {
                let mut shown = EntryView::new(EntryClass::Other, custom_type.as_str().into());
                shown.facts.extend(attribution.iter().map(|who| format!("wanted by {who}")));
                if !display {
                    shown.facts.push("for the model only".into());
                }
                shown.push_content(content, false);
                shown.push_data("details", details.as_ref());
                shown
            }
            body => summary_view(body).unwrap_or_else(|| note_view(body)),
        }
    }

    /// The first words, for an outline.
    pub(super) fn first_words(&self) -> &'a str {
        let mut texts = self.pieces.iter().map(|piece| match piece {
            ViewPiece::Prose(text) | ViewPiece::Plain(text) | ViewPiece::Output(text) => text.trim_start(),
            _ => "",
        });
        texts.find(|text| !text.is_empty()).unwrap_or_default()
    }

    fn new(class: EntryClass, title: Cow<'a, str>) -> EntryView<'a> {
        EntryView { class, title, facts: Vec::new(), failed: false, pieces: Vec::new() }
    }

    fn push_data(&mut self, title: &'static str, value: Option<&'a Value>) {
        self.pieces.extend(value.map(|value| ViewPiece::Data(title, Cow::Borrowed(value))));
    }

    /// `content` is a string, or pieces of any kind.
    fn push_content(&mut self, content: &'a Value, output: bool) {
        let prose = self.class == EntryClass::Assistant;
        let text = |text: &'a str| match (output, prose) {
            (true, _) => ViewPiece::Output(text),
            (false, true) => ViewPiece::Prose(text),
            (false, false) => ViewPiece::Plain(text),
        };
        let blocks = match content {
            Value::String(whole) => return self.pieces.push(text(whole)),
            Value::Array(blocks) => blocks,
            Value::Null => return,
            other => return self.push_data("content", Some(other)),
        };
        for block in blocks {
            let field = |key: &str| block.get(key).and_then(Value::as_str);
            let piece = match field("type") {
                Some("text") => field("text").map(text),
                Some("thinking") => field("thinking").map(|thought| {
                    ViewPiece::Thinking(if thought.is_empty() { "(hidden by the provider)" } else { thought })
                }),
                Some("toolCall") => {
                    let arguments = block.get("arguments").unwrap_or(&Value::Null);
                    field("name").map(|name| ViewPiece::Call(name, arguments))
                }
                Some("image") => {
                    field("data").map(|data| ViewPiece::Image(field("mimeType").unwrap_or("image"), data))
                }
                _ => None,
            };
            self.pieces.push(piece.unwrap_or(ViewPiece::Data("unknown content", Cow::Borrowed(block))));
        }
    }
}

fn message_view(message: &Value) -> EntryView<'_> {
    let field = |key: &str| message.get(key).and_then(Value::as_str);
    let role = field("role").unwrap_or("message without a role");
    let mut shown = match role {
        "user" => EntryView::new(EntryClass::User, "you".into()),
        "assistant" => EntryView::new(EntryClass::Assistant, model_name(message)),
        "toolResult" => EntryView::new(EntryClass::Tool, field("toolName").unwrap_or("tool").into()),
        other => EntryView::new(EntryClass::Other, other.into()),
    };
    shown.failed = message.get("isError").and_then(Value::as_bool).unwrap_or(false);
    shown.push_content(message.get("content").unwrap_or(&Value::Null), shown.class == EntryClass::Tool);
    if let Some(error) = field("errorMessage") {
        shown.failed = true;
        shown.pieces.push(ViewPiece::Failure(error));
    }
    if let Some(reason) = field("stopReason").filter(|reason| !matches!(*reason, "stop" | "toolUse")) {
        shown.failed |= matches!(reason, "error" | "aborted");
        shown.facts.push(format!("ended: {reason}"));
    }
    if let Some(usage) = message.get("usage") {
        shown.facts.extend(usage_text(usage));
    }
    shown.push_data("details", message.get("details"));
    let mut rest = message.as_object().cloned().unwrap_or_default();
    rest.retain(|key, _| !is_shown_elsewhere(key));
    if !rest.is_empty() {
        shown.pieces.push(ViewPiece::Data("more", Cow::Owned(rest.into())));
    }
    shown
}

/// Whether a field of a message is shown in another place, or is nothing that anybody can read.
fn is_shown_elsewhere(field: &str) -> bool {
    let head = ["role", "content", "timestamp", "api", "provider", "model", "responseId", "usage"];
    let rest = ["stopReason", "errorMessage", "toolCallId", "toolName", "isError", "details"];
    head.contains(&field) || rest.contains(&field)
}

/// Who answered: `provider/model`.
pub(super) fn model_name(message: &Value) -> Cow<'_, str> {
    let field = |key: &str| message.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    match (field("provider"), field("model")) {
        (Some(provider), Some(model)) => format!("{provider}/{model}").into(),
        (None, Some(name)) | (Some(name), None) => name.into(),
        (None, None) => "assistant".into(),
    }
}

fn usage_text(usage: &Value) -> Option<String> {
    let words = [("input", "in"), ("output", "out"), ("cacheRead", "cached"), ("cacheWrite", "to the cache")];
    let counts = words.map(|(key, word)| (number_at(usage, key), word));
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts = counts.map(|(count, word)| format!("{} {word}", group_digits(*count)));
    let mut parts: Vec<String> = counts.collect();
    parts.extend(usage.pointer("/cost/total").and_then(Value::as_f64).and_then(format_money));
    (!parts.is_empty()).then(|| parts.join(" · "))
}

fn summary_view(body: &EntryBody) -> Option<EntryView<'_>> {
    use EntryBody::{BranchSummary, Compaction, SessionInit};
    let mut shown = EntryView::new(EntryClass::Summary, "".into());
    match body {
        Compaction {
            summary,
            short_summary,
            first_kept_entry_id,
            tokens_before,
            details,
            preserve_data,
            from_extension,
        } => {
            shown.title = "compaction".into();
            shown.facts.push(format!("{} tokens before", group_digits(*tokens_before)));
            if !first_kept_entry_id.is_empty() {
                shown.facts.push(format!("kept from {first_kept_entry_id}"));
            }
            shown.facts.extend(by_extension(*from_extension));
            shown.pieces.extend(short_summary.iter().map(|short| ViewPiece::Plain(short)));
            shown.pieces.push(ViewPiece::Prose(summary));
            shown.push_data("details", details.as_ref());
            shown.push_data("kept for extensions", preserve_data.as_ref());
        }
        BranchSummary { from_id, summary, details, from_extension } => {
            shown.title = "left behind on another branch".into();
            shown.facts.push(format!("from {from_id}"));
            shown.facts.extend(by_extension(*from_extension));
            shown.pieces.push(ViewPiece::Prose(summary));
            shown.push_data("details", details.as_ref());
        }
        SessionInit { system_prompt, task, tools, output_schema } => {
            shown.title = "start".into();
            if !tools.is_empty() {
                shown.facts.push(format!("tools: {}", tools.join(", ")));
            }
            shown.pieces.push(ViewPiece::Plain(task));
            shown.pieces.push(ViewPiece::Folded("system prompt", system_prompt));
            shown.push_data("output schema", output_schema.as_ref());
        }
        _ => return None,
    }
    Some(shown)
}

fn by_extension(from_extension: Option<bool>) -> Option<String> {
    (from_extension == Some(true)).then(|| "by an extension".to_owned())
}

fn note_view(body: &EntryBody) -> EntryView<'_> {
    use EntryBody::*;
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let title = match body {
        ModelChange { model, role: None } => format!("model: {model}"),
        ModelChange { model, role: Some(role) } => format!("model for {role}: {model}"),
        ThinkingLevelChange { thinking_level } => format!("thinking: {}", or_none(thinking_level)),
        ServiceTierChange { service_tier } => format!("service tier: {}", or_none(service_tier)),
        ModeChange { mode, .. } => format!("mode: {mode}"),
        Custom { custom_type, .. } => format!("kept by {custom_type}"),
        Label { target_id, label: Some(label) } => format!("label on {target_id}: {label}"),
        Label { target_id, label: None } => format!("label taken from {target_id}"),
        TtsrInjection { injected_rules } => format!("rules put in: {}", injected_rules.join(", ")),
        McpToolSelection { selected_tool_names } => {
            format!("tools of other servers: {}", selected_tool_names.join(", "))
        }
        Other(fields) => {
            format!("unknown entry: {}", fields.get("type").and_then(Value::as_str).unwrap_or_default())
        }
        _ => String::new(),
    };
    let mut shown = EntryView::new(EntryClass::Note, title.into());
    match body {
        ModeChange { data, .. } | Custom { data, .. } => {
            shown.push_data("data", data.as_ref());
        }
        Other(fields) => shown.pieces.push(ViewPiece::Data("its fields", Cow::Owned(fields.clone().into()))),
        _ => {}
    }
    shown
}
