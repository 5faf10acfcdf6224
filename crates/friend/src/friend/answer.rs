//! What came of a turn that went well.

use serde_json::Value;

use crate::ask::verdict::ReviewVerdict;

/// What a friend answered. There is none without words: see [`crate::FriendFailure::NoAnswer`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FriendAnswer {
    /// Its words. With a schema, the JSON as it was written.
    pub text: String,
    /// The same, read: only with a schema, and only if it follows it.
    pub value: Option<Value>,
    /// What a review comes to: only if a verdict was asked for.
    pub verdict: Option<ReviewVerdict>,
    /// The id by which its session can be taken up again, if that was wanted and it can.
    pub session: Option<String>,
    /// The model that answered, if the friend says.
    pub model: Option<String>,
    pub declined: Vec<DeclinedAction>,
    /// How many tokens it took, if the friend says.
    pub usage: Option<FriendUsage>,
    /// By which way it was reached: `app-server`, `exec` …
    pub transport: &'static str,
    /// What a person should know beside the answer, a sentence each.
    pub remarks: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeclinedAction {
    pub kind: DeclinedActionKind,
    /// The file, the command, the tool. Foreign text.
    pub what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DeclinedActionKind {
    Write,
    Command,
    /// Anything else that needs leave: a tool, the network, a question to the user.
    Other,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FriendUsage {
    /// What was read, from the cache or not.
    pub input: u64,
    pub output: u64,
}
