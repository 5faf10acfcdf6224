//! The title of a new session: the first line of what the user said, and where there is a model for small tasks, what that one
//! makes of it.
//!
//! Invariant: nothing waits for a title. The small model is asked on a thread of its own, once, within [`MAX_TIME`]; whatever is
//! wrong with its answer, the first title stays. A title that the user gave is never changed.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use relaycode_llm::message::UserMessage;
use relaycode_llm::{
    CancelToken, ChatRequest, Message, ModelClient, SecretMask, StopReason, StreamOptions, TokenUsage,
};
use relaycode_text::hidden::is_hidden;
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::Agent;
use crate::event::AgentEvent;
use crate::queue::UserPrompt;
use crate::settings::AgentModel;
use crate::transcript::now;

const INSTRUCTIONS: &str = include_str!("../../prompts/session-title.md");
/// How long the small model may take.
const MAX_TIME: Duration = Duration::from_secs(30);
/// Characters of the user's words that it reads.
const MAX_PROMPT_CHARS: usize = 2_000;
/// Tokens of its answer; some models think before it.
const MAX_TOKENS: u64 = 500;
const MAX_TITLE_CHARS: usize = 80;

/// Where the titles of sessions come from.
#[derive(Default)]
pub enum SessionTitles {
    /// There are none.
    Off,
    /// The first line of the prompt.
    #[default]
    ByRule,
    /// Besides, a model is asked, with connections of its own: they end with its thread.
    ByModel { model: Box<AgentModel>, client: ModelClient },
}

/// A title on its way.
#[derive(Default)]
pub(super) struct PendingTitle {
    /// The session gets it with its first answer.
    first: Option<String>,
    asked: Option<AskedTitle>,
}

struct AskedTitle {
    reply: Arc<OnceLock<TitleReply>>,
    cancel: CancelToken,
}

struct TitleReply {
    title: Option<String>,
    usage: TokenUsage,
}

impl Agent {
    /// The user's first words are there; asks the small model, if there is one.
    pub(super) fn begin_title(&mut self, prompt: &UserPrompt) {
        if !self.shared.transcript().is_new() {
            return;
        }
        let asked = match std::mem::take(&mut self.titles) {
            SessionTitles::Off => return,
            SessionTitles::ByRule => None,
            SessionTitles::ByModel { model, client } => {
                let text = prompt.first_text().chars().take(MAX_PROMPT_CHARS).collect();
                ask_title(*model, client, self.secrets.clone(), text)
            }
        };
        self.pending_title = PendingTitle { first: clean_title(prompt.first_text()), asked };
    }

    /// Gives the session the title that is there by now. A session without an answer gets none: it does not stay.
    pub(super) fn settle_title(&mut self) {
        if !self.shared.transcript().is_answered() {
            return;
        }
        let first = self.pending_title.first.take();
        let mut better = None;
        if let Some(reply) = self.pending_title.asked.as_ref().and_then(|asked| asked.reply.get()) {
            self.usage.add(&reply.usage);
            better.clone_from(&reply.title);
            self.pending_title.asked = None;
        }
        if let Some(title) = better.or(first) {
            self.set_title(&title);
        }
    }

    pub(super) fn set_title(&self, title: &str) {
        let set = self.shared.transcript().set_title(title);
        match set {
            Ok(true) => {
                self.shared.events.publish(AgentEvent::SessionTitled { title: title.to_string() });
            }
            Ok(false) => {}
            Err(error) => self.notice(&format!("the session has no title: {error}")),
        }
    }
}

impl Drop for AskedTitle {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// Asks on a thread of its own; `None` if there can be none.
fn ask_title(
    model: AgentModel,
    client: ModelClient,
    secrets: Option<Arc<dyn SecretMask + Send + Sync>>,
    text: String,
) -> Option<AskedTitle> {
    let reply = Arc::new(OnceLock::new());
    let slot = reply.clone();
    let cancel = CancelToken::default();
    let options = StreamOptions { cancel: cancel.clone(), secrets, ..StreamOptions::default() };
    let request = ChatRequest {
        system: Some(INSTRUCTIONS.trim_end().to_string()),
        messages: vec![Message::User(UserMessage::text(text, now()))],
        thinking: model.thinking,
        max_tokens: Some(MAX_TOKENS),
        ..ChatRequest::default()
    };
    let ask = move || {
        let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return };
        let mut stream = client.stream(&model.model, model.auth, request, options);
        let ended = runtime.block_on(async { timeout(MAX_TIME, stream.finish()).await.is_ok() });
        let message = stream.message();
        let title = clean_title(&message.text()).filter(|_| ended && message.stop_reason == StopReason::Stop);
        let _ = slot.set(TitleReply { title, usage: message.usage });
    };
    std::thread::Builder::new().name("session-title".into()).spawn(ask).ok()?;
    Some(AskedTitle { reply, cancel })
}

/// The first line that says something, without what people do not see, marks of Markdown and quotes around it; short.
fn clean_title(text: &str) -> Option<String> {
    const MARKS: [char; 7] = ['#', '>', '*', '"', '\'', '`', ' '];
    let line = text.lines().map(|line| line.trim().trim_matches(MARKS)).find(|line| !line.is_empty())?;
    let shown = line.chars().map(|c| if c.is_control() { ' ' } else { c }).filter(|c| !is_hidden(*c));
    let shown: String = shown.take(MAX_TITLE_CHARS + 1).collect();
    let words = shown.trim();
    if words.chars().count() <= MAX_TITLE_CHARS {
        return Some(words.to_string()).filter(|words| !words.is_empty());
    }
    let cut: String = words.chars().take(MAX_TITLE_CHARS - 1).collect();
    let end = cut.rfind(' ').filter(|at| *at > cut.len() / 2).unwrap_or(cut.len());
    Some(format!("{}…", cut[..end].trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_short_line_that_people_can_read() {
        let clean = |text: &str| clean_title(text);
        assert_eq!(clean("\n## \"Add retry to the client\"\nmore"), Some("Add retry to the client".into()));
        assert_eq!(clean("a\u{202e}b\tc\u{1b}[31m"), Some("ab c [31m".into()));
        assert_eq!(clean(" \n```\n"), None);
        assert_eq!(clean(&"word ".repeat(50)).unwrap(), format!("{}…", "word ".repeat(15).trim_end()));
        assert_eq!(clean(&"x".repeat(100_000)).unwrap().chars().count(), MAX_TITLE_CHARS);
    }
}
