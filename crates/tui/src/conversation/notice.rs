//! What happened beside answers and calls, in a sentence each.

use relaycode_agent::event::NoticeLevel;
use relaycode_agent::stream_rules::TriggeredRule;
use relaycode_agent::{AgentEvent, CompactionAction, CompactionReason, EndReason};
use relaycode_tools::GoalStatus;

use crate::cards::CLOSE_COLUMNS;
use crate::layout::conversation_symbol::{ConversationSymbol, symbol};
use crate::layout::span_line::{SpanLine, shown};
use crate::pluralize;
use crate::theme::{ThemeStyle, ThemeToken};

/// Characters of a sentence.
const MAX_CHARS: usize = 4_000;
/// Lines of it.
const MAX_LINES: usize = 12;

/// How much a sentence matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeSign {
    /// As it should be.
    Done,
    Plain,
    Attention,
    Failed,
}

/// A sentence with a sign before it. Foreign text may be in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationNotice {
    pub sign: NoticeSign,
    pub text: String,
}

impl ConversationNotice {
    pub fn new(sign: NoticeSign, text: impl Into<String>) -> ConversationNotice {
        ConversationNotice { sign, text: text.into() }
    }

    pub(super) fn lines(&self, style: &ThemeStyle, width: usize) -> Vec<SpanLine> {
        let edge = if width < CLOSE_COLUMNS { "" } else { "  " };
        let (sign, token, text_token) = match self.sign {
            NoticeSign::Done => (ConversationSymbol::Done, ThemeToken::Success, ThemeToken::Muted),
            NoticeSign::Plain => (ConversationSymbol::Dot, ThemeToken::Dim, ThemeToken::Muted),
            NoticeSign::Attention => (ConversationSymbol::Attention, ThemeToken::Warning, ThemeToken::Text),
            NoticeSign::Failed => (ConversationSymbol::Failed, ThemeToken::Error, ThemeToken::Text),
        };
        let text: String = self.text.chars().take(MAX_CHARS).collect();
        let text = if style.output.utf8 { text } else { text.replace('→', "->") };
        let lead = SpanLine::plain(edge).with(token, symbol(style, sign)).then(" ");
        let below = SpanLine::plain(" ".repeat(lead.cells()));
        let mut lines = Vec::new();
        for (at, line) in text.trim().lines().enumerate() {
            let begin = if at == 0 { lead.clone() } else { below.clone() };
            lines.extend(begin.with(text_token, shown(&style.output, line.trim_end())).wrap(width, &below));
        }
        if lines.len() > MAX_LINES {
            lines.truncate(MAX_LINES - 1);
            lines.push(below.with(ThemeToken::Dim, symbol(style, ConversationSymbol::Ellipsis)));
        }
        lines
    }

    /// The sentence of an event that is told in one. `None`: it is shown in another way, or not at all.
    pub fn of_event(event: &AgentEvent) -> Option<ConversationNotice> {
        let (sign, text) = sentence(event)?;
        Some(ConversationNotice { sign, text })
    }
}

fn sentence(event: &AgentEvent) -> Option<(NoticeSign, String)> {
    use NoticeSign::{Attention, Done, Plain};
    Some(match event {
        AgentEvent::RequestRetry { attempt, max_attempts, delay_ms, error_message }
        | AgentEvent::AutoRetryStart { attempt, max_attempts, delay_ms, error_message } => {
            let seconds = delay_ms.div_ceil(1_000);
            let wait = if seconds > 0 { format!(" in {seconds} s") } else { String::new() };
            (Attention, format!("{error_message}; try {attempt} of {max_attempts}{wait}"))
        }
        AgentEvent::CredentialSwitched { provider, key, of, error_message } => {
            (Attention, format!("{error_message}; using {provider} key {key} of {of} from now on"))
        }
        AgentEvent::RetryFallbackApplied { from, to, .. } => {
            (Attention, format!("{to} takes over from {from}, which does not answer"))
        }
        AgentEvent::ContextPromoted { from, to } => {
            (Plain, format!("{to} takes over from {from}, which has no more room"))
        }
        AgentEvent::ConversationRewound { report, .. } => {
            (Done, format!("went back to the checkpoint\n{}", clip_lines(report, 4)))
        }
        AgentEvent::GoalChanged { goal } => {
            let what = match goal.status {
                GoalStatus::Active => "goal",
                GoalStatus::Paused => "goal paused",
                GoalStatus::Complete => "goal reached",
                GoalStatus::Dropped => "goal dropped",
            };
            let evidence = goal.evidence.as_deref().map(|evidence| format!("\n{}", clip_lines(evidence, 4)));
            let sign = if goal.status == GoalStatus::Complete { Done } else { Plain };
            (sign, format!("{what}: {}{}", clip_lines(&goal.objective, 3), evidence.unwrap_or_default()))
        }
        AgentEvent::GoalContinued { round, most } => {
            (Plain, format!("the goal is not reached yet: going on ({round} of {most})"))
        }
        AgentEvent::ModeChanged { mode, is_fresh, .. } => match (mode.as_str(), is_fresh) {
            ("none", true) => (Done, "carrying out the plan in a fresh conversation".to_string()),
            ("none", false) => (Done, "no longer planning".to_string()),
            _ => (Done, "planning: nothing changes but the plan, until you approve it".to_string()),
        },
        AgentEvent::AutoCompactionEnd {
            action, tokens_before, tokens_after, error_message, reason, ..
        } => {
            let sizes = format!("{} → {} tokens", short_count(*tokens_before), short_count(*tokens_after));
            let why = error_message.as_deref().unwrap_or_default();
            match action {
                CompactionAction::Pruned => (Plain, format!("cut old outputs: {sizes}")),
                CompactionAction::Summarized => (Done, format!("summed up the conversation: {sizes}")),
                CompactionAction::SummarizedByRule => {
                    (Attention, format!("shortened the conversation without a model: {sizes} ({why})"))
                }
                CompactionAction::Nothing if *reason != CompactionReason::Manual => return None,
                CompactionAction::Nothing | CompactionAction::Cancelled => {
                    (Attention, format!("the conversation stays as it is: {why}"))
                }
                CompactionAction::Aborted => {
                    (Attention, "stopped: the conversation stays as it is".to_string())
                }
                // It is told by itself.
                CompactionAction::Promoted => return None,
            }
        }
        AgentEvent::CompactionUndone { tokens, .. } => {
            (Done, format!("the whole conversation counts again: {} tokens", short_count(*tokens)))
        }
        AgentEvent::ConversationMoved { entry_id, summary } => {
            let whence =
                if entry_id.is_some() { "going on from here" } else { "going on from the beginning" };
            match summary {
                Some(summary) => {
                    (Done, format!("{whence}; what was left in short:\n{}", clip_lines(summary, 4)))
                }
                None => (Done, whence.to_string()),
            }
        }
        AgentEvent::ProjectCheckEnd { command, result, errors, new_errors, told } => {
            let counted = match (errors, new_errors) {
                (Some(0) | None, _) => String::new(),
                (Some(errors), Some(new)) => format!(": {}, {new} new", pluralize(*errors, "error")),
                (Some(errors), None) => format!(": {}", pluralize(*errors, "error")),
            };
            let told = if *told { "; the agent looks at them" } else { "" };
            let sign = if *errors == Some(0) { Done } else { Attention };
            (sign, format!("check `{command}` {result}{counted}{told}"))
        }
        AgentEvent::TtsrTriggered { rules, interrupted } => {
            let names = TriggeredRule::list_names(rules);
            match interrupted {
                true => (Attention, format!("stopped by your rule {names}; the model answers again")),
                false => (Plain, format!("the model was reminded of {names}")),
            }
        }
        AgentEvent::Notice { level, text } => match level {
            NoticeLevel::Info => (Plain, text.clone()),
            NoticeLevel::Warning => (Attention, text.clone()),
        },
        AgentEvent::AgentEnd { reason, message, .. } => end_sentence(*reason, message.as_deref())?,
        _ => return None,
    })
}

fn end_sentence(reason: EndReason, message: Option<&str>) -> Option<(NoticeSign, String)> {
    let said = |usual: &str| message.map_or_else(|| usual.to_string(), str::to_string);
    Some(match reason {
        EndReason::Done | EndReason::Compacted => return None,
        EndReason::Aborted => (NoticeSign::Attention, "stopped; what was finished stays".to_string()),
        EndReason::Length => (
            NoticeSign::Attention,
            said("the answer reached the model's output limit; say `go on` to hear the rest"),
        ),
        EndReason::ModelFailed => (NoticeSign::Failed, said("the model did not answer")),
        EndReason::ContextOverflow => (
            NoticeSign::Failed,
            said("the conversation is longer than the model can read; `/compact` makes room"),
        ),
        EndReason::TurnLimit | EndReason::TimeLimit | EndReason::CostLimit => {
            (NoticeSign::Attention, said("a limit was reached; say something to go on"))
        }
        EndReason::Repetition => {
            (NoticeSign::Attention, said("the model repeated itself; say something to go on"))
        }
        EndReason::SessionFailed => (NoticeSign::Failed, said("the session cannot be written")),
        EndReason::ToolFailed => (NoticeSign::Failed, said("a tool failed; nothing can go on")),
    })
}

pub(super) fn clip_lines(text: &str, most: usize) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    let left_out = lines.len().saturating_sub(most);
    let kept = lines[..lines.len() - left_out].join("\n");
    if left_out > 0 { format!("{kept}\n({} more)", pluralize(left_out, "line")) } else { kept }
}

/// `950`, `21k`, `1.2M`
pub(crate) fn short_count(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..9_950 => format!("{}.{}k", count / 1_000, count % 1_000 / 100),
        9_950..999_500 => format!("{}k", (count + 500) / 1_000),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}
