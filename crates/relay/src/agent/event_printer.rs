//! What a run does, for people on stderr or as lines of JSON on stdout.

use relaycode_agent::event::NoticeLevel;
use relaycode_agent::stream_rules::TriggeredRule;
use relaycode_agent::{AgentEvent, CompactionAction, CompactionReason, SequencedEvent};
use relaycode_llm::request::secrets::Secrets;
use relaycode_llm::{Message, StopReason};
use relaycode_text::plural::pluralize;
use relaycode_tui::outcome;
use serde_json::Value;

use crate::{CommandContext, LogLevel};

/// Prints one event.
pub(crate) fn print_event(event: &SequencedEvent, secrets: Option<&Secrets>, ctx: &mut CommandContext<'_>) {
    if ctx.is_json() {
        ctx.print_json(event);
        ctx.console.flush();
    }
    let look = ctx.console.err_style();
    let (level, text) = match &event.event {
        AgentEvent::MessageEnd { message, .. } => match &**message {
            // The last answer goes to stdout when everything is over.
            Message::Assistant(answer) if answer.stop_reason == StopReason::ToolUse => {
                let text = answer.text();
                let text = secrets.map_or(text.as_str().into(), |secrets| secrets.unmask_text(&text));
                if text.trim().is_empty() {
                    return;
                }
                (LogLevel::Info, format!("{}\n", look.block(text.trim())))
            }
            _ => return,
        },
        AgentEvent::ToolExecutionEnd { tool_name, is_error, card, .. } => {
            let field = |name: &str| card.get(name).and_then(Value::as_str).unwrap_or_default();
            let title = Some(field("title")).filter(|title| !title.is_empty()).unwrap_or(tool_name);
            let line = format!("{title}  {}", field("summary"));
            let line = look.safe(line.trim_end()).into_owned();
            let line = if *is_error {
                outcome::warning_line(&look, &line)
            } else {
                outcome::success_line(&look, &line)
            };
            (LogLevel::Info, line)
        }
        AgentEvent::RequestRetry { attempt, max_attempts, delay_ms, error_message }
        | AgentEvent::AutoRetryStart { attempt, max_attempts, delay_ms, error_message } => {
            let seconds = delay_ms.div_ceil(1000);
            let wait = if seconds > 0 { format!(" in {seconds} s") } else { String::new() };
            let said = format!("{error_message}; attempt {attempt} of {max_attempts}{wait}");
            (LogLevel::Warn, outcome::warning_line(&look, &look.safe(&said)))
        }
        AgentEvent::CredentialSwitched { provider, key, of, error_message } => {
            let said = format!("{error_message}; {provider} is asked with key {key} of {of}");
            (LogLevel::Warn, outcome::warning_line(&look, &look.safe(&said)))
        }
        AgentEvent::RetryFallbackApplied { from, to, .. } => {
            (LogLevel::Warn, outcome::warning_line(&look, &look.safe(&format!("{to} goes on for {from}"))))
        }
        AgentEvent::ProjectCheckEnd { command, result, errors, new_errors, told } => {
            let counted = match (errors, new_errors) {
                (Some(0) | None, _) => String::new(),
                (Some(errors), Some(new)) => format!(": {}, {new} new", errors_text(*errors)),
                (Some(errors), None) => format!(": {}", errors_text(*errors)),
            };
            let told = if *told { "; the agent goes on with them" } else { "" };
            let line = look.safe(&format!("check {command} {result}{counted}{told}")).into_owned();
            if *errors == Some(0) {
                (LogLevel::Info, outcome::success_line(&look, &line))
            } else {
                (LogLevel::Warn, outcome::warning_line(&look, &line))
            }
        }
        AgentEvent::TtsrTriggered { rules, interrupted } => {
            let names = TriggeredRule::list_names(rules);
            let said = match interrupted {
                true => format!("stopped by {names}; the model answers again"),
                false => format!("the model was reminded of {names}"),
            };
            (LogLevel::Info, outcome::warning_line(&look, &look.safe(&said)))
        }
        AgentEvent::GoalContinued { round, most } => {
            let said = format!("the goal is not reached: the agent goes on ({round} of {most})");
            (LogLevel::Info, outcome::success_line(&look, &said))
        }
        AgentEvent::ModeChanged { mode, is_fresh, .. } => {
            let said = match (mode.as_str(), is_fresh) {
                ("none", true) => "the plan is carried out, with a conversation of its own",
                ("none", false) => "the agent no longer plans",
                _ => "planning: nothing changes but the plan, until you approve it",
            };
            (LogLevel::Info, outcome::success_line(&look, said))
        }
        AgentEvent::AutoCompactionEnd {
            action, tokens_before, tokens_after, error_message, reason, ..
        } => {
            let sizes = format!("{} → {} tokens", short_count(*tokens_before), short_count(*tokens_after));
            let sizes = if look.utf8 { sizes } else { sizes.replace('→', "->") };
            let why = error_message.as_deref().unwrap_or_default();
            let (is_fine, said) = match action {
                CompactionAction::Pruned => (true, format!("old outputs cut: {sizes}")),
                CompactionAction::Summarized => (true, format!("conversation summed up: {sizes}")),
                CompactionAction::SummarizedByRule => {
                    (false, format!("conversation shortened without a model: {sizes} ({why})"))
                }
                CompactionAction::Nothing if *reason != CompactionReason::Manual => return,
                CompactionAction::Nothing => (false, format!("the conversation stays as it is: {why}")),
                CompactionAction::Cancelled => (false, format!("the conversation stays as it is: {why}")),
                CompactionAction::Aborted => (false, "stopped: the conversation stays as it is".to_string()),
                // It is told by itself.
                CompactionAction::Promoted => return,
            };
            let line = if is_fine { outcome::success_line } else { outcome::warning_line };
            (if is_fine { LogLevel::Info } else { LogLevel::Warn }, line(&look, &look.safe(&said)))
        }
        AgentEvent::ContextPromoted { from, to } => {
            let said = format!("{to} goes on for {from}, which has no more room");
            (LogLevel::Info, outcome::warning_line(&look, &look.safe(&said)))
        }
        AgentEvent::Notice { level, text } => {
            let level = match level {
                NoticeLevel::Info => LogLevel::Info,
                NoticeLevel::Warning => LogLevel::Warn,
            };
            (level, outcome::warning_line(&look, &look.safe(text)))
        }
        _ => return,
    };
    ctx.eprint_at(level, &text);
}

/// `950`, `31.2k`
pub(crate) fn short_count(count: u64) -> String {
    if count < 1_000 { count.to_string() } else { format!("{:.1}k", count as f64 / 1_000.0) }
}

fn errors_text(count: u64) -> String {
    pluralize(usize::try_from(count).unwrap_or(usize::MAX), "error")
}
