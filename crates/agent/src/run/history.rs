//! `history://`: what the model does not see any more, read from the session. The session is the truth, so nothing is kept for it.

use relaycode_llm::Message;
use relaycode_llm::message::{AssistantContent, UserContent};
use relaycode_session::{EntryBody, SessionError};
use relaycode_text::plural::pluralize;
use relaycode_tools::ConversationHistory;

use super::AgentShared;
use crate::compaction::user_words::to_text;

/// Bytes of text that one address gives; there are addresses for each message, too.
const MAX_BYTES: usize = 16 << 20;

impl ConversationHistory for AgentShared {
    fn read(&self, rest: &str) -> Result<String, String> {
        let unreadable = |error: SessionError| format!("the session cannot be read: {error}");
        match rest {
            "" => {
                let (words, _) = self.transcript().user_words(&mut |_| false).map_err(unreadable)?;
                Ok(format!(
                    "The user said {}: `history://user`. An entry of the conversation has its address beside it: `history://3f9c1e2a`.\n",
                    pluralize(words.len(), "message")
                ))
            }
            "user" => self.user_messages().map_err(unreadable),
            id => {
                let entry = self.transcript().session().entry(id);
                let entry = entry.map_err(|_| {
                    format!("there is no entry `{id}`; `history://user` lists what the user said")
                })?;
                entry_text(&entry.body).ok_or_else(|| format!("the entry `{id}` has no text"))
            }
        }
    }
}

impl AgentShared {
    fn user_messages(&self) -> Result<String, SessionError> {
        let (words, _) = self.transcript().user_words(&mut |_| false)?;
        let mut text = String::new();
        for said in words.iter().rev() {
            let transcript = self.transcript();
            let body = transcript.session().entry(&said.entry_id)?.body;
            text.push_str(&format!(
                "history://{}\n{}\n\n",
                said.entry_id,
                entry_text(&body).unwrap_or_default()
            ));
            if text.len() > MAX_BYTES {
                text.push_str("(The others are too much for one address.)\n");
                break;
            }
        }
        Ok(text)
    }
}

fn entry_text(body: &EntryBody) -> Option<String> {
    match body {
        EntryBody::Message { message } => match serde_json::from_value(message.clone()).ok()? {
            Message::User(message) | Message::Developer(message) => Some(to_text(&message.content)),
            Message::ToolResult(result) => Some(to_text(&result.content)),
            Message::Assistant(answer) => {
                let pieces = answer.content.iter().filter_map(|piece| match piece {
                    AssistantContent::Text(text) => Some(text.text.clone()),
                    AssistantContent::ToolCall(call) => Some(format!(
                        "{} {}",
                        call.name,
                        serde_json::to_string(&call.arguments).unwrap_or_default()
                    )),
                    AssistantContent::Thinking(_) => None,
                });
                Some(pieces.collect::<Vec<_>>().join("\n"))
            }
        },
        EntryBody::CustomMessage { content, .. } => match content {
            serde_json::Value::String(text) => Some(text.clone()),
            pieces => Some(to_text(&serde_json::from_value::<Vec<UserContent>>(pieces.clone()).ok()?)),
        },
        EntryBody::Compaction { summary, .. } | EntryBody::BranchSummary { summary, .. } => {
            Some(summary.clone())
        }
        _ => None,
    }
}
