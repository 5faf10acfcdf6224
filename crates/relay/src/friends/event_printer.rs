//! Hearing friends while they work: a line that says what goes on, their words as they come, or an object per event.
//!
//! Only the thread of the command writes; friends on other threads are heard through it.

use relaycode_friend::FriendEvent;
use relaycode_friend::friend::answer::DeclinedActionKind;
use relaycode_tui::{PaintRole, outcome};
use serde_json::{Value, json};

use crate::approver::spinner::Spinner;
use crate::{CommandContext, LogLevel, providers};

pub(crate) struct FriendEventPrinter {
    friend_names: Vec<String>,
    output: EventOutput,
    spinner: Option<Spinner>,
    text_started: bool,
    /// The last of them ended a line.
    at_line_start: bool,
    /// Remarks so far, and the last one.
    remark_count: usize,
    last_remark: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EventOutput {
    Spinner,
    Text,
    Json,
}

impl FriendEventPrinter {
    /// Begins to hear these friends. With `stream` their words are shown as they come: for people only where there
    /// is one friend, for two would speak across each other.
    pub(crate) fn new(names: Vec<String>, stream: bool, ctx: &CommandContext<'_>) -> FriendEventPrinter {
        let how = match (stream, ctx.is_json()) {
            (true, true) => EventOutput::Json,
            (true, false) if names.len() == 1 => EventOutput::Text,
            _ => EventOutput::Spinner,
        };
        let label = format!("{} {} working", names.join(", "), if names.len() == 1 { "is" } else { "are" });
        let spinner = providers::start_spinner(ctx, &label);
        FriendEventPrinter {
            friend_names: names,
            output: how,
            spinner,
            text_started: false,
            at_line_start: true,
            remark_count: 0,
            last_remark: String::new(),
        }
    }

    pub(crate) fn has_printed_text(&self) -> bool {
        self.text_started
    }

    pub(crate) fn print_event(&mut self, friend: usize, event: &FriendEvent, ctx: &mut CommandContext<'_>) {
        let name = self.friend_names.get(friend).cloned().unwrap_or_default();
        if self.output == EventOutput::Json {
            ctx.console.print_json(&event_json(&name, event));
            ctx.console.flush();
            return;
        }
        match event {
            FriendEvent::Text(words) if self.output == EventOutput::Text => self.print_text(words, ctx),
            FriendEvent::AnswerRestarted if self.output == EventOutput::Text && self.text_started => {
                self.print_separator(ctx);
            }
            FriendEvent::Action(what) | FriendEvent::Thinking(what) => {
                if let Some(spinner) = &self.spinner {
                    spinner.push_output(what.as_bytes());
                }
            }
            FriendEvent::Declined(declined) => {
                let what = match declined.kind {
                    DeclinedActionKind::Write => "to write",
                    DeclinedActionKind::Command => "to run",
                    DeclinedActionKind::Other => "to use",
                };
                let said = format!("{name} was not allowed {what} {}", declined.what);
                self.print_remark(&said, LogLevel::Info, ctx);
            }
            FriendEvent::Retrying(why) => {
                self.print_remark(&format!("{name} tries again: {why}"), LogLevel::Info, ctx);
            }
            FriendEvent::Fallback(why) => {
                self.print_remark(&format!("{name} is asked in another way: {why}"), LogLevel::Warn, ctx);
            }
            FriendEvent::Sending { summary: what, remarks } => {
                self.print_sending(&name, what, remarks, ctx);
            }
            FriendEvent::Text(_) | FriendEvent::AnswerRestarted | FriendEvent::Ready { .. } => {}
        }
    }

    /// Nothing more is heard. The line that said what goes on is gone, and what was shown ends with a line's end.
    pub(crate) fn finish(&mut self, ctx: &mut CommandContext<'_>) {
        self.spinner = None;
        if self.text_started && !self.at_line_start {
            ctx.console.print("\n");
            self.at_line_start = true;
        }
        ctx.console.flush();
    }

    fn print_text(&mut self, words: &str, ctx: &mut CommandContext<'_>) {
        if words.is_empty() {
            return;
        }
        self.spinner = None;
        let words = if self.text_started { words } else { words.trim_start_matches('\n') };
        let safe = ctx.console.out_style().block(words).into_owned();
        self.at_line_start = safe.ends_with('\n');
        self.text_started |= !safe.is_empty();
        ctx.console.print(&safe);
        ctx.console.flush();
    }

    fn print_separator(&mut self, ctx: &mut CommandContext<'_>) {
        let look = ctx.console.out_style();
        let end = if self.at_line_start { "" } else { "\n" };
        ctx.console.print(&format!("{end}{}\n", look.paint(PaintRole::Dim, "---")));
        ctx.console.flush();
        self.at_line_start = true;
    }

    fn print_sending(&mut self, name: &str, what: &str, remarks: &[String], ctx: &mut CommandContext<'_>) {
        if ctx.wants(LogLevel::Info) {
            let look = ctx.console.err_style();
            let line = outcome::indented_line(&look, &look.safe(&format!("for {name}: {what}")));
            self.eprint_lines(&line, ctx);
        }
        for said in remarks {
            self.print_remark(said, LogLevel::Warn, ctx);
        }
    }

    fn print_remark(&mut self, said: &str, level: LogLevel, ctx: &mut CommandContext<'_>) {
        // A friend may say the same for ever.
        if !ctx.wants(level) || said == self.last_remark || self.remark_count > MAX_REMARKS {
            return;
        }
        self.last_remark = said.to_string();
        self.remark_count += 1;
        let said = if self.remark_count > MAX_REMARKS { "more of this is not shown" } else { said };
        let look = ctx.console.err_style();
        self.eprint_lines(&outcome::warning_line(&look, &look.excerpt(said, MAX_REMARK_CELLS)), ctx);
    }

    /// Whole lines beside the words.
    fn eprint_lines(&mut self, text: &str, ctx: &mut CommandContext<'_>) {
        match &self.spinner {
            Some(spinner) => spinner.print_above(text),
            None => {
                let end = if self.text_started && !self.at_line_start { "\n" } else { "" };
                self.at_line_start = true;
                ctx.console.eprint(&format!("{end}{text}"));
            }
        }
    }
}

/// Remarks while one question is asked.
const MAX_REMARKS: usize = 100;

/// Cells of a remark that quotes a friend.
const MAX_REMARK_CELLS: usize = 300;

/// The event as one object.
fn event_json(name: &str, event: &FriendEvent) -> Value {
    let (kind, field, value) = match event {
        FriendEvent::Sending { summary, remarks } => {
            return json!({"event": "sending", "friend": name, "text": summary, "remarks": remarks});
        }
        FriendEvent::AnswerRestarted => return json!({"event": "anew", "friend": name}),
        FriendEvent::Ready { transport } => ("ready", "way", json!(transport)),
        FriendEvent::Text(text) => ("text", "text", json!(text)),
        FriendEvent::Thinking(text) => ("thinking", "text", json!(text)),
        FriendEvent::Action(text) => ("doing", "text", json!(text)),
        FriendEvent::Declined(declined) => ("declined", "declined", json!(declined)),
        FriendEvent::Retrying(text) => ("retrying", "text", json!(text)),
        FriendEvent::Fallback(text) => ("otherWay", "text", json!(text)),
    };
    json!({"event": kind, "friend": name, field: value})
}
