//! Hearing friends while they work: a line that says what goes on, their words as they come, or an object per event.
//!
//! Only the thread of the command writes; friends on other threads are heard through it.

use relaycode_friend::Event;
use relaycode_friend::answer::DeclinedKind;
use relaycode_project::config::LogLevel;
use relaycode_tui::look::Paint;
use relaycode_tui::outcome;
use serde_json::{Value, json};

use crate::approver::spinner::Spinner;
use crate::context::Context;
use crate::providers;

/// Hears one or several friends.
pub(crate) struct Listener {
    names: Vec<String>,
    how: How,
    spinner: Option<Spinner>,
    /// Words of the answer stand on the screen.
    begun: bool,
    /// The last of them ended a line.
    at_line_start: bool,
    /// Remarks so far, and the last one.
    remarks: usize,
    last: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// Only that something goes on.
    Line,
    /// The words as they come.
    Words,
    /// One object per event.
    Objects,
}

impl Listener {
    /// Begins to hear these friends. With `stream` their words are shown as they come: for people only where there
    /// is one friend, for two would speak across each other.
    pub(crate) fn begin(names: Vec<String>, stream: bool, context: &Context<'_>) -> Listener {
        let how = match (stream, context.json()) {
            (true, true) => How::Objects,
            (true, false) if names.len() == 1 => How::Words,
            _ => How::Line,
        };
        let label = format!("{} {} working", names.join(", "), if names.len() == 1 { "is" } else { "are" });
        let spinner = providers::spinner(context, &label);
        Listener { names, how, spinner, begun: false, at_line_start: true, remarks: 0, last: String::new() }
    }

    /// Whether the answer was shown while it came.
    pub(crate) fn has_shown(&self) -> bool {
        self.begun
    }

    /// Hears something.
    pub(crate) fn hear(&mut self, friend: usize, event: &Event, context: &mut Context<'_>) {
        let name = self.names.get(friend).cloned().unwrap_or_default();
        if self.how == How::Objects {
            if let Some(object) = object(&name, event) {
                context.console.json(&object);
                context.console.flush();
            }
            return;
        }
        match event {
            Event::Text(words) if self.how == How::Words => self.words(words, context),
            Event::Anew if self.how == How::Words && self.begun => self.apart(context),
            Event::Doing(what) | Event::Thinking(what) => {
                if let Some(spinner) = &self.spinner {
                    spinner.prints(what.as_bytes());
                }
            }
            Event::Declined(declined) => {
                let what = match declined.kind {
                    DeclinedKind::Write => "to write",
                    DeclinedKind::Command => "to run",
                    DeclinedKind::Other => "to use",
                };
                self.remark(
                    &format!("{name} was not allowed {what} {}", declined.what),
                    LogLevel::Info,
                    context,
                );
            }
            Event::Retrying(why) => {
                self.remark(&format!("{name} tries again: {why}"), LogLevel::Info, context);
            }
            Event::OtherWay(why) => {
                self.remark(&format!("{name} is asked in another way: {why}"), LogLevel::Warn, context);
            }
            Event::Sending { what, remarks } => self.sending(&name, what, remarks, context),
            Event::Text(_) | Event::Anew | Event::Ready { .. } => {}
        }
    }

    /// Nothing more is heard. The line that said what goes on is gone, and what was shown ends with a line's end.
    pub(crate) fn end(&mut self, context: &mut Context<'_>) {
        self.spinner = None;
        if self.begun && !self.at_line_start {
            context.console.out("\n");
            self.at_line_start = true;
        }
        context.console.flush();
    }

    fn words(&mut self, words: &str, context: &mut Context<'_>) {
        if words.is_empty() {
            return;
        }
        self.spinner = None;
        let words = if self.begun { words } else { words.trim_start_matches('\n') };
        let safe = context.console.out_look().block(words).into_owned();
        self.at_line_start = safe.ends_with('\n');
        self.begun |= !safe.is_empty();
        context.console.out(&safe);
        context.console.flush();
    }

    /// What was said so far is not the answer.
    fn apart(&mut self, context: &mut Context<'_>) {
        let look = context.console.out_look();
        let end = if self.at_line_start { "" } else { "\n" };
        let text = format!("{end}{}\n", look.paint(Paint::Dim, "---"));
        context.console.out(&text);
        context.console.flush();
        self.at_line_start = true;
    }

    /// Which difference goes to a friend, before it goes.
    fn sending(&mut self, name: &str, what: &str, remarks: &[String], context: &mut Context<'_>) {
        if context.hears(LogLevel::Info) {
            let look = context.console.err_look();
            self.beside(&outcome::aside(&look, &look.safe(&format!("for {name}: {what}"))), context);
        }
        for said in remarks {
            self.remark(said, LogLevel::Warn, context);
        }
    }

    fn remark(&mut self, said: &str, level: LogLevel, context: &mut Context<'_>) {
        // A friend may say the same for ever.
        if !context.hears(level) || said == self.last || self.remarks > MOST_REMARKS {
            return;
        }
        self.last = said.to_string();
        self.remarks += 1;
        let said = if self.remarks > MOST_REMARKS { "more of this is not shown" } else { said };
        let look = context.console.err_look();
        self.beside(&outcome::remark(&look, &look.excerpt(said, MOST_SAID)), context);
    }

    /// Whole lines beside the words.
    fn beside(&mut self, text: &str, context: &mut Context<'_>) {
        match &self.spinner {
            Some(spinner) => spinner.say(text),
            None => {
                let end = if self.begun && !self.at_line_start { "\n" } else { "" };
                self.at_line_start = true;
                context.console.err(&format!("{end}{text}"));
            }
        }
    }
}

/// Remarks while one question is asked.
const MOST_REMARKS: usize = 100;

/// Cells of a remark that quotes a friend.
const MOST_SAID: usize = 300;

/// The event as one object, if it is worth one.
fn object(name: &str, event: &Event) -> Option<Value> {
    Some(match event {
        Event::Sending { what, remarks } => {
            json!({"event": "sending", "friend": name, "text": what, "remarks": remarks})
        }
        Event::Ready { way } => json!({"event": "ready", "friend": name, "way": way}),
        Event::Text(text) => json!({"event": "text", "friend": name, "text": text}),
        Event::Anew => json!({"event": "anew", "friend": name}),
        Event::Thinking(text) => json!({"event": "thinking", "friend": name, "text": text}),
        Event::Doing(text) => json!({"event": "doing", "friend": name, "text": text}),
        Event::Declined(declined) => json!({"event": "declined", "friend": name, "declined": declined}),
        Event::Retrying(text) => json!({"event": "retrying", "friend": name, "text": text}),
        Event::OtherWay(text) => json!({"event": "otherWay", "friend": name, "text": text}),
    })
}
