//! `relay sessions show`: a conversation as text.

use std::rc::Rc;

use relaycode_session::{Body, Entry, Session};
use relaycode_tui::clock;
use relaycode_tui::look::Look;
use relaycode_tui::sessions::talk::{self, Head, Part};
use serde_json::{Value, json};

use super::place::{Place, about, failed};
use crate::approver::{pager::Pager, programs_at_the_terminal};
use crate::ask;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::programs::Programs;
use crate::project::runner;
use crate::signals::Held;

/// Show a conversation
///
/// Who said what on the way to where it goes on; tools on one line each, their results clipped. On a terminal what
/// is long is shown in your pager. Nothing is changed.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ShowArgs {
    /// A number of `relay sessions`, the beginning of an id, or a path; the latest if none is named
    #[arg(value_name = "SESSION")]
    session: Option<String>,

    /// Leave nothing out
    #[arg(long)]
    full: bool,
}

impl ShowArgs {
    pub(super) fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let place = Place::of(context)?;
        let info = place.find(self.session.as_deref())?;
        let session = place.read(&info)?;
        let damage: Vec<String> = session.report().oddities.iter().map(ToString::to_string).collect();
        let path: Vec<&str> = session.path(None);
        if context.json() {
            let entries = path.iter().map(|id| session.entry(id).map(|entry| entry.to_object()));
            let entries = entries.collect::<Result<Vec<Value>, _>>().map_err(|error| failed(&error))?;
            context.console.json(&json!({
                "ok": true, "code": Exit::Done as u8, "command": "sessions", "path": info.path.to_string_lossy(),
                "header": session.header(), "entries": entries, "damage": damage,
            }));
            return Ok(Exit::Done);
        }
        let head = Head {
            id: session.id().to_string(),
            about: about(&info),
            cwd: session.header().cwd.clone(),
            created: session.header().timestamp.clone(),
            messages: session.facts().messages,
            damage: damage.into_iter().take(MAX_DAMAGE).collect(),
        };
        let look = context.console.out_look();
        let paged = if look.width.is_some() && !context.quiet() { ask::terminal() } else { None };
        let Some(terminal) = paged else {
            context.console.out(&talk::head(&head, &look));
            return self
                .each(&session, &path, &mut |part| context.console.out(&talk::part(part, self.full, &look)));
        };
        let mut parts = Vec::new();
        self.each(&session, &path, &mut |part| parts.push(part.clone()))?;
        let text = |look: &Look| {
            let said = parts.iter().map(|part| talk::part(part, self.full, look));
            std::iter::once(talk::head(&head, look)).chain(said).collect::<String>()
        };
        context.console.flush();
        let run = programs_at_the_terminal(runner()?, Rc::new(Held::begin()?));
        Pager { terminal: &terminal, look, programs: &Programs::read(), run: &run }.show(&text);
        Ok(Exit::Done)
    }

    /// Shows every part of the conversation, one entry in memory at a time.
    fn each(&self, session: &Session, path: &[&str], see: &mut dyn FnMut(&Part)) -> Result<Exit, Failure> {
        for id in path {
            let entry = session.entry(id).map_err(|error| failed(&error))?;
            parts(&entry).iter().for_each(&mut *see);
        }
        Ok(Exit::Done)
    }
}

/// Oddities that are listed above a conversation; `relay sessions repair` lists them all.
const MAX_DAMAGE: usize = 5;

/// What an entry is to people.
fn parts(entry: &Entry) -> Vec<Part> {
    let time = || clock::local(&entry.timestamp);
    match &entry.body {
        Body::Message { message } => message_parts(message, &time()),
        Body::CustomMessage { custom_type, content, display: true, .. } => {
            let mut parts = vec![Part::Who { role: custom_type.clone(), beside: time() }];
            content_parts(content, &mut parts);
            parts
        }
        Body::Compaction { summary, .. } => {
            vec![Part::Who { role: "compaction".into(), beside: time() }, Part::Text(summary.clone())]
        }
        Body::BranchSummary { summary, .. } => {
            vec![Part::Who { role: "branchSummary".into(), beside: time() }, Part::Text(summary.clone())]
        }
        Body::ModelChange { model, .. } => vec![Part::Note(format!("model: {model}"))],
        Body::ModeChange { mode, .. } => vec![Part::Note(format!("mode: {mode}"))],
        _ => Vec::new(),
    }
}

fn message_parts(message: &Value, time: &str) -> Vec<Part> {
    let field = |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default();
    let content = message.get("content").unwrap_or(&Value::Null);
    let role = field("role");
    if role == "toolResult" {
        let failed = message.get("isError").and_then(Value::as_bool).unwrap_or(false);
        return vec![Part::Result { text: text_of(content), failed }];
    }
    let beside = match (field("provider"), field("model")) {
        ("", "") => time.to_string(),
        (provider, model) => format!("{provider}/{model}"),
    };
    let mut parts = vec![Part::Who { role: role.to_string(), beside }];
    content_parts(content, &mut parts);
    if !field("errorMessage").is_empty() {
        parts.push(Part::Note(format!("ended: {}", field("errorMessage"))));
    }
    parts
}

fn content_parts(content: &Value, parts: &mut Vec<Part>) {
    let Value::Array(pieces) = content else {
        parts.extend(content.as_str().map(|text| Part::Text(text.to_string())));
        return;
    };
    for piece in pieces {
        let field = |name: &str| piece.get(name).and_then(Value::as_str).unwrap_or_default().to_string();
        match field("type").as_str() {
            "text" => parts.push(Part::Text(field("text"))),
            "thinking" if !field("thinking").is_empty() => parts.push(Part::Thought(field("thinking"))),
            "image" => parts.push(Part::Image(format!("image {}", field("mimeType")))),
            "toolCall" => {
                let arguments = piece.get("arguments").map(Value::to_string).unwrap_or_default();
                parts.push(Part::Call { name: field("name"), arguments });
            }
            _ => {}
        }
    }
}

fn text_of(content: &Value) -> String {
    let mut parts = Vec::new();
    content_parts(content, &mut parts);
    let texts = parts.into_iter().filter_map(|part| match part {
        Part::Text(text) => Some(text),
        Part::Image(kind) => Some(format!("[{kind}]")),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
