//! The model's words as they come, word by word; everything else that happens as in [`crate::agent::event_printer`].

use relaycode_agent::event::MessageUpdate;
use relaycode_agent::{AgentEvent, SequencedEvent};
use relaycode_llm::Message;
use relaycode_llm::request::secrets::Secrets;

use crate::CommandContext;
use crate::agent::event_printer::print_event;

/// Bytes of a word that waits for its end; a longer one is shown in pieces.
const MAX_WORD_BYTES: usize = 4_096;

pub(crate) struct LinePrinter<'a> {
    secrets: Option<&'a Secrets>,
    /// A word that has not ended: a placeholder may be in it, which is shown as what it stands for.
    word: String,
    at_line_start: bool,
}

impl<'a> LinePrinter<'a> {
    pub(crate) fn new(secrets: Option<&'a Secrets>) -> LinePrinter<'a> {
        LinePrinter { secrets, word: String::new(), at_line_start: true }
    }

    pub(crate) fn print(&mut self, event: &SequencedEvent, ctx: &mut CommandContext<'_>) {
        // The terminal may have another size by now.
        ctx.console.update_width();
        match &event.event {
            AgentEvent::MessageUpdate { update: MessageUpdate::TextDelta { delta, .. } } => {
                self.word.push_str(delta);
                let end = self
                    .word
                    .rfind(char::is_whitespace)
                    .map(|at| at + self.word[at..].chars().next().map_or(0, char::len_utf8));
                let end = end.unwrap_or(if self.word.len() > MAX_WORD_BYTES { self.word.len() } else { 0 });
                let rest = self.word.split_off(end);
                let whole = std::mem::replace(&mut self.word, rest);
                self.show(&whole, ctx);
            }
            AgentEvent::MessageUpdate { .. } => {}
            AgentEvent::MessageEnd { message, .. } if matches!(&**message, Message::Assistant(_)) => {
                self.finish(ctx);
            }
            _ => {
                self.finish(ctx);
                print_event(event, self.secrets, ctx);
            }
        }
    }

    /// What comes next begins a line.
    pub(crate) fn finish(&mut self, ctx: &mut CommandContext<'_>) {
        let word = std::mem::take(&mut self.word);
        self.show(&word, ctx);
        if !self.at_line_start {
            ctx.console.print("\n");
            ctx.console.flush();
            self.at_line_start = true;
        }
    }

    fn show(&mut self, text: &str, ctx: &mut CommandContext<'_>) {
        // An answer may begin with empty lines.
        let text = if self.at_line_start { text.trim_start_matches('\n') } else { text };
        if text.is_empty() {
            return;
        }
        let text = self.secrets.map_or(text.into(), |secrets| secrets.unmask_text(text));
        let safe = ctx.console.out_style().block(&text).into_owned();
        self.at_line_start = safe.ends_with('\n');
        ctx.console.print(&safe);
        ctx.console.flush();
    }
}
