//! What a run does, for people on stderr or as lines of JSON on stdout.

use relaycode_agent::event::NoticeLevel;
use relaycode_agent::{AgentEvent, SequencedEvent};
use relaycode_llm::request::secrets::Secrets;
use relaycode_llm::{Message, StopReason};
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
            let said = format!("{error_message}; attempt {attempt} of {max_attempts} in {seconds} s");
            (LogLevel::Warn, outcome::warning_line(&look, &look.safe(&said)))
        }
        AgentEvent::RetryFallbackApplied { from, to, .. } => {
            (LogLevel::Warn, outcome::warning_line(&look, &look.safe(&format!("{to} goes on for {from}"))))
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
