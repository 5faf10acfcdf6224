//! The mark that `checkpoint` set, until `rewind` was carried out. It lives no longer than its prompt.

use relaycode_door::TxId;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum CheckpointState {
    #[default]
    None,
    Active(ConversationMark),
    /// The files are as at the mark; the loop takes the conversation there.
    Rewinding(RewindRequest),
}

/// A place in a conversation, and what had been changed there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationMark {
    /// The call that set it.
    pub call: String,
    pub goal: String,
    pub group: Option<String>,
    /// The group's changes so far.
    pub members: Vec<TxId>,
    /// The model was told once that it has to go back.
    pub is_reminded: bool,
}

/// What is left of what came after a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewindRequest {
    pub mark: ConversationMark,
    /// In the model's words.
    pub report: String,
    /// The files that were taken back.
    pub files: Vec<String>,
}
