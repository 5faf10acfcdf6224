//! What a tool needs and only whoever wires relay has: a person to ask, an approver for the door, a place for live output.

use std::time::Duration;

use relaycode_door::Approver;
use relaycode_llm::CancelToken;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workspace::ProposedPlan;

/// Handed to every call; the loop passes it on, the binary implements it.
pub trait Host: Sync {
    /// Asks a person. The first answer wins; after the deadline the default counts.
    fn ask(&self, question: &HostQuestion) -> HostAnswer;

    /// Calls `submit` once, with an approver for the door's questions of this call.
    fn with_approver(&self, call: &str, submit: &mut dyn FnMut(&mut dyn Approver));

    /// Shows a plan that a person is about to be asked about.
    fn show_plan(&self, _proposed: &ProposedPlan) {}

    /// Shows a plan and asks what becomes of it.
    fn ask_about_plan(&self, proposed: &ProposedPlan, question: &HostQuestion) -> HostAnswer {
        self.show_plan(proposed);
        self.ask(question)
    }

    /// The question about a plan waits for whoever is first; `id` and `wait` are the question's.
    fn plan_question_opened(&self, _id: &str, _proposed: &ProposedPlan, _wait: Option<Duration>) {}

    /// It does not wait any more.
    fn plan_question_closed(&self, _id: &str, _answer: &HostAnswer) {}

    /// Before a conversation is summed up: whether it may be, or the summary of somebody who knows better.
    fn before_summary(&self, _proposal: &SummaryProposal<'_>, _cancel: &CancelToken) -> SummaryDecision {
        SummaryDecision::GoOn
    }

    /// Shows live output of a call. May be called often: the host draws at most every 50 ms.
    fn progress(&self, call: &str, progress: &ToolProgress);
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostQuestion {
    /// The call that asks.
    pub call: String,
    pub text: String,
    /// What can be chosen; empty: free text.
    pub options: Vec<String>,
    /// More than one option may be chosen.
    pub several: bool,
    /// The option that counts if nobody answers in time.
    pub default: Option<usize>,
    pub deadline: Option<Duration>,
    /// Beside the options, words are an answer: of a no the reason, of a plan what should be different.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub free_text: bool,
    /// What kind of question it is, for whoever shows more than its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<QuestionAbout>,
}

/// What a question is about, beside its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum QuestionAbout {
    /// Whether something may be done: the first option is a yes for once, the last one a no.
    Permission {
        /// What would run, if it is a command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        /// Why it is asked.
        reason: String,
        /// The rule that asks.
        rule: String,
        /// The rule that the second option would keep, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        always: Option<String>,
    },
    /// Whether a plan is carried out.
    Plan { title: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum HostAnswer {
    /// By their places in the question.
    Options {
        chosen: Vec<usize>,
    },
    Text {
        text: String,
    },
    /// Nobody answered in time; the default, if there is one, counts.
    TimedOut,
    /// The user wants the whole run to stop.
    Stop,
    /// There is nobody to ask.
    Unavailable,
}

/// A part of the conversation that a summary is about to stand for.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SummaryProposal<'a> {
    /// `threshold`, `overflow`, `manual` or `idle`
    pub reason: &'a str,
    pub tokens_before: u64,
    /// The session's entry from which on everything stays as it is.
    pub first_kept_entry_id: &'a str,
    /// What the user wants the summary to look at.
    pub custom_instructions: Option<&'a str>,
    /// A longer summary is not taken.
    pub max_summary_tokens: u64,
}

/// What becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SummaryDecision {
    GoOn,
    /// The conversation stays as it is.
    Cancel,
    /// This one is taken, if it is of use.
    Summary(String),
    /// The user stopped the run meanwhile.
    Stopped,
}

/// Live output of a call that still runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolProgress {
    /// What it does at the moment, in a few words.
    pub status: String,
    /// The end of what it printed so far.
    pub tail: String,
}
