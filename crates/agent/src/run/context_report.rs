//! How full the model's window is, and of what.

use relaycode_llm::Message;
use relaycode_llm::tokens::{head_tokens, message_tokens};
use relaycode_session::EntryType;

use super::Agent;

/// What the model would read with the next request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextReport {
    pub tokens: u64,
    /// Tokens that the model can read; 0: not known.
    pub window: u64,
    /// From so many on room is made, if that happens by itself.
    pub threshold: Option<u64>,
    /// What is there, estimated.
    pub parts: Vec<ContextPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextPart {
    pub name: &'static str,
    pub tokens: u64,
    pub messages: usize,
}

const NAMES: [&str; 7] =
    ["system prompt", "tools", "summaries", "your messages", "answers", "tool outputs", "notes of relay"];

impl Agent {
    /// How full the model's window is, and of what.
    pub fn context_report(&self) -> ContextReport {
        let mut parts = NAMES.map(|name| ContextPart { name, tokens: 0, messages: 0 });
        parts[0].tokens = head_tokens(&self.system, &[]);
        parts[1].tokens = head_tokens("", &self.definitions);
        let transcript = self.shared.transcript();
        for (message, id) in transcript.messages().iter().zip(transcript.sources()) {
            let kind = transcript.session().row(id).map(|row| row.kind);
            let at = match (message, kind) {
                (_, Some(EntryType::Compaction | EntryType::BranchSummary)) => 2,
                (Message::User(_), Some(EntryType::Message)) => 3,
                (Message::Assistant(_), _) => 4,
                (Message::ToolResult(_), _) => 5,
                (Message::User(_) | Message::Developer(_), _) => 6,
            };
            parts[at].tokens += message_tokens(message);
            parts[at].messages += 1;
        }
        drop(transcript);
        let window = self.window();
        ContextReport {
            tokens: self.context_tokens(),
            window: if window == u64::MAX { 0 } else { window },
            threshold: self.shared.is_auto_compaction().then(|| self.compaction_threshold()),
            parts: parts.into_iter().filter(|part| part.tokens > 0).collect(),
        }
    }
}
