//! What is heard of a friend while it works. All text in it is foreign.

use crate::DeclinedAction;

pub type EventSink<'a> = dyn FnMut(FriendEvent) + 'a;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FriendEvent {
    /// Before anything is sent: which difference goes to it, or why none does. Only where one is wanted.
    Sending {
        /// In a line without its end.
        summary: String,
        remarks: Vec<String>,
    },
    /// It is there and takes the prompt; by which way.
    Ready {
        /// `app-server`, `exec` …
        transport: &'static str,
    },
    /// It writes its answer: these words come next.
    Text(String),
    /// What was written so far is not the answer (a remark between two tools, a failed attempt): the answer
    /// begins anew.
    AnswerRestarted,
    /// It thinks: these words come next.
    Thinking(String),
    /// It does something: a command, a file it reads, in a few words.
    Action(String),
    Declined(DeclinedAction),
    Retrying(String),
    /// This way did not work, and another is taken; why.
    Fallback(String),
}
