//! `relay sessions show`: a conversation as text.

use relaycode_session::{ContextChange, EntryBody, Session, SessionEntry};
use relaycode_tui::clock;
use relaycode_tui::views::sessions::transcript::{self, TranscriptHeader, TranscriptPart};
use serde_json::{Value, json};

use super::locator::{SessionLocator, session_failure, session_title};
use crate::agent::event_printer::short_count;
use crate::approver::pager::PagedOutput;
use crate::{CommandContext, CommandResult, Exit};

/// Show a conversation
///
/// Who said what on the way to where it goes on; tools on one line each, their results clipped. On a terminal what
/// is long is shown in your pager. Nothing is changed.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SessionsShowArgs {
    /// A number of `relay sessions`, the beginning of an id, or a path; the latest if none is named
    session: Option<String>,

    /// Leave nothing out
    #[arg(long)]
    full: bool,
}

impl SessionsShowArgs {
    pub(super) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let place = SessionLocator::open(ctx)?;
        let info = place.find(self.session.as_deref())?;
        let session = place.open_session(&info)?;
        let damage: Vec<String> = session.report().issues.iter().map(ToString::to_string).collect();
        let path: Vec<&str> = session.path(None);
        if ctx.is_json() {
            let entries = path.iter().map(|id| session.entry(id).map(|entry| entry.to_object()));
            let entries = entries.collect::<Result<Vec<Value>, _>>().map_err(|e| session_failure(&e))?;
            return Ok(ctx.print_result(Exit::Done, json!({
                "path": info.path.to_string_lossy(), "header": session.header(), "entries": entries, "damage": damage,
            })));
        }
        let head = TranscriptHeader {
            id: session.id().to_string(),
            about: session_title(&info),
            cwd: session.header().cwd.clone(),
            created: session.header().timestamp.clone(),
            messages: session.facts().messages,
            damage: damage.into_iter().take(MAX_DAMAGE).collect(),
        };
        let mut output = PagedOutput::new(ctx);
        output.push(|look| transcript::header_text(&head, look), ctx);
        self.for_each_part(&session, &path, &mut |part| {
            output.push(|look| transcript::part_text(part, self.full, look), ctx);
        })?;
        output.finish(ctx)?;
        Ok(Exit::Done)
    }

    /// Shows every part of the conversation, one entry in memory at a time.
    fn for_each_part(
        &self,
        session: &Session,
        path: &[&str],
        see: &mut dyn FnMut(&TranscriptPart),
    ) -> CommandResult {
        for id in path {
            let entry = session.entry(id).map_err(|error| session_failure(&error))?;
            entry_parts(&entry).iter().for_each(&mut *see);
        }
        Ok(Exit::Done)
    }
}

/// Oddities that are listed above a conversation; `relay sessions repair` lists them all.
const MAX_DAMAGE: usize = 5;

/// What an entry is to people.
fn entry_parts(entry: &SessionEntry) -> Vec<TranscriptPart> {
    let time = || clock::local(&entry.timestamp);
    match &entry.body {
        EntryBody::Message { message } => message_parts(message, &time()),
        EntryBody::CustomMessage { custom_type, content, display: true, .. } => {
            let mut parts = vec![TranscriptPart::Speaker { role: custom_type.clone(), detail: time() }];
            content_parts(content, &mut parts);
            parts
        }
        EntryBody::Compaction { summary, tokens_before, .. } => {
            let before = Some(*tokens_before).filter(|tokens| *tokens > 0);
            let before = before.map(|tokens| format!(", in place of {} tokens", short_count(tokens)));
            summary_parts("compaction", summary, format!("{}{}", time(), before.unwrap_or_default()))
        }
        EntryBody::Custom { .. } => match ContextChange::from_body(&entry.body) {
            Some(ContextChange::Undone(id)) => vec![TranscriptPart::Note(format!("undone: {id}"))],
            Some(ContextChange::CutOutputs(lines)) => {
                vec![TranscriptPart::Note(format!("outputs of tools that were cut: {}", lines.len()))]
            }
            None => Vec::new(),
        },
        EntryBody::BranchSummary { summary, .. } => summary_parts("branchSummary", summary, time()),
        EntryBody::ModelChange { model, .. } => vec![TranscriptPart::Note(format!("model: {model}"))],
        EntryBody::ModeChange { mode, .. } => vec![TranscriptPart::Note(format!("mode: {mode}"))],
        _ => Vec::new(),
    }
}

fn summary_parts(role: &str, summary: &str, detail: String) -> Vec<TranscriptPart> {
    vec![TranscriptPart::Speaker { role: role.into(), detail }, TranscriptPart::Text(summary.to_string())]
}

fn message_parts(message: &Value, time: &str) -> Vec<TranscriptPart> {
    let field = |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default();
    let content = message.get("content").unwrap_or(&Value::Null);
    let role = field("role");
    if role == "toolResult" {
        let failed = message.get("isError").and_then(Value::as_bool).unwrap_or(false);
        return vec![TranscriptPart::Result { text: content_text(content), failed }];
    }
    let beside = match (field("provider"), field("model")) {
        ("", "") => time.to_string(),
        (provider, model) => format!("{provider}/{model}"),
    };
    let mut parts = vec![TranscriptPart::Speaker { role: role.to_string(), detail: beside }];
    content_parts(content, &mut parts);
    if !field("errorMessage").is_empty() {
        parts.push(TranscriptPart::Note(format!("ended: {}", field("errorMessage"))));
    }
    parts
}

fn content_parts(content: &Value, parts: &mut Vec<TranscriptPart>) {
    let Value::Array(pieces) = content else {
        parts.extend(content.as_str().map(|text| TranscriptPart::Text(text.to_string())));
        return;
    };
    for piece in pieces {
        let field = |name: &str| piece.get(name).and_then(Value::as_str).unwrap_or_default().to_string();
        match field("type").as_str() {
            "text" => parts.push(TranscriptPart::Text(field("text"))),
            "thinking" if !field("thinking").is_empty() => {
                parts.push(TranscriptPart::Reasoning(field("thinking")));
            }
            "image" => parts.push(TranscriptPart::Image(format!("image {}", field("mimeType")))),
            "toolCall" => {
                let arguments = piece.get("arguments").map(Value::to_string).unwrap_or_default();
                parts.push(TranscriptPart::Call { name: field("name"), arguments });
            }
            _ => {}
        }
    }
}

fn content_text(content: &Value) -> String {
    let mut parts = Vec::new();
    content_parts(content, &mut parts);
    let texts = parts.into_iter().filter_map(|part| match part {
        TranscriptPart::Text(text) => Some(text),
        TranscriptPart::Image(kind) => Some(format!("[{kind}]")),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
