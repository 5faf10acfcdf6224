//! The question that is asked, as lines: a rule across the screen, what it is about, the keys.

use std::time::Instant;

use relaycode_text::width::cells;

use super::panel_question::{PanelQuestion, QuestionKind};
use super::{DialogState, QuestionPanel};
use crate::cards::duration_text;
use crate::layout::conversation_symbol::{ConversationSymbol, symbol};
use crate::layout::span_line::{SpanLine, shown};
use crate::theme::{ThemeStyle, ThemeToken};

/// Characters of a text that are looked at.
const MAX_CHARS: usize = 8_000;
/// Lines of a text that are drawn, the end of which can be scrolled to.
const MAX_TEXT_LINES: usize = 400;

/// The lines, and where the cursor is if words are typed.
pub type QuestionLines = (Vec<String>, Option<(usize, usize)>);

impl QuestionPanel {
    /// At most `height` lines, 4 or more; nothing if nothing is asked.
    pub fn lines(&self, style: &ThemeStyle, width: usize, height: usize, now: Instant) -> QuestionLines {
        let Some(question) = self.waiting.front() else { return (Vec::new(), None) };
        let sheet = QuestionSheet { style, width: width.max(2), state: &self.state, question };
        let head = sheet.head(self.waiting.len(), now);
        let mut text = sheet.text();
        let (foot, cursor) = sheet.foot();
        let room = height.saturating_sub(head.len() + foot.len()).max(1);
        let all = text.len();
        if all > room {
            // The line that says so takes one itself.
            let room = room.saturating_sub(1);
            let start = self.state.scroll.min(all - room);
            text = text.into_iter().skip(start).take(room).collect();
            let sign = symbol(style, ConversationSymbol::Ellipsis);
            let more = format!("    {sign} lines {}-{} of {all} (PgUp, PgDn)", start + 1, start + room);
            text.push(SpanLine::painted(ThemeToken::Dim, more).clip(width, &style.output).paint(style));
        }
        let above = head.len() + text.len();
        let mut lines = head;
        lines.extend(text);
        lines.extend(foot);
        let cut = lines.len().saturating_sub(height.max(1));
        // The keys are at the end, and matter most.
        lines.drain(..cut);
        let cursor = cursor.map(|(row, column)| ((above + row).saturating_sub(cut), column));
        (lines, cursor)
    }
}

struct QuestionSheet<'a> {
    style: &'a ThemeStyle,
    width: usize,
    state: &'a DialogState,
    question: &'a PanelQuestion,
}

impl QuestionSheet<'_> {
    fn safe(&self, text: &str) -> String {
        let cut: String = text.chars().take(MAX_CHARS).collect();
        shown(&self.style.output, &cut).into_owned()
    }

    fn paint(&self, lines: Vec<SpanLine>) -> Vec<String> {
        lines.into_iter().map(|line| line.clip(self.width, &self.style.output).paint(self.style)).collect()
    }

    /// What is asked, with how many wait and how long.
    fn head(&self, waiting: usize, now: Instant) -> Vec<String> {
        let mut beside = Vec::new();
        if waiting > 1 {
            beside.push(format!("1 of {waiting} questions"));
        }
        if let Some(deadline) = self.question.deadline.filter(|_| !self.state.is_begun) {
            let left = deadline.saturating_duration_since(now).as_millis().div_ceil(1_000);
            let left = u64::try_from(left).unwrap_or(u64::MAX).saturating_mul(1_000);
            beside.push(format!("{} left", duration_text(left).replace(".0 s", " s")));
        }
        let dot = format!(" {} ", symbol(self.style, ConversationSymbol::Dot));
        let beside = SpanLine::painted(ThemeToken::Warning, beside.join(&dot));
        let sign = SpanLine::plain("  ")
            .with(ThemeToken::Warning, symbol(self.style, ConversationSymbol::Attention))
            .then(" ");
        let below = SpanLine::plain("    ");
        let mut lines = Vec::new();
        for (at, text) in self.title().lines().enumerate() {
            let begin = if at == 0 { sign.clone() } else { below.clone() };
            let mut line = begin;
            line.push_strong(Some(ThemeToken::Text), text);
            lines.extend(line.wrap(self.width, &below));
        }
        if !beside.is_empty() {
            let joined =
                lines.last().cloned().and_then(|last| last.justify(beside.clone(), self.width.min(100)));
            match (joined, lines.len()) {
                (Some(joined), 1) => lines[0] = joined,
                _ => lines.insert(0, below.append(beside)),
            }
        }
        self.paint(lines)
    }

    /// Safe.
    fn title(&self) -> String {
        let text = match &self.question.kind {
            QuestionKind::Permission { command: Some(_), .. } => "run this command?".to_string(),
            QuestionKind::Permission { reason, .. } => format!("{reason}. Allow it?"),
            _ => self.question.text.clone(),
        };
        let lines = text.trim().lines().take(MAX_TEXT_LINES);
        let lines: Vec<String> = lines.map(|line| self.safe(line.trim_end())).collect();
        lines.join("\n")
    }

    /// What it is about, painted.
    fn text(&self) -> Vec<String> {
        match &self.question.kind {
            QuestionKind::Permission { command, reason, .. } => {
                let mut lines = Vec::new();
                if let Some(command) = command {
                    let bar = SpanLine::plain("    ")
                        .with(ThemeToken::BorderAccent, symbol(self.style, ConversationSymbol::Bar))
                        .then(" ");
                    for line in command.trim_end().lines().take(MAX_TEXT_LINES) {
                        let line = bar.clone().with(ThemeToken::BashMode, self.safe(line));
                        lines.extend(line.wrap(self.width, &bar));
                    }
                    let below = SpanLine::plain("    ");
                    lines.extend(
                        below.clone().with(ThemeToken::Muted, self.safe(reason)).wrap(self.width, &below),
                    );
                }
                self.paint(lines)
            }
            QuestionKind::Choice { options, several, default, .. } => {
                self.paint(self.option_lines(options, *several, *default))
            }
            QuestionKind::Text => Vec::new(),
        }
    }

    fn option_lines(&self, options: &[String], several: bool, default: Option<usize>) -> Vec<SpanLine> {
        let wide = options.len().to_string().len();
        let mut lines = Vec::new();
        for (at, option) in options.iter().enumerate() {
            let is_here = at == self.state.cursor && (self.state.has_moved || default == Some(at));
            let pointer = if is_here { symbol(self.style, ConversationSymbol::Prompt) } else { " " };
            let mut lead = SpanLine::plain("  ").with(ThemeToken::Accent, pointer).then(" ");
            if several {
                let is_chosen = self.state.chosen.contains(&at);
                let sign = if is_chosen { "[x] " } else { "[ ] " };
                lead = lead.with(if is_chosen { ThemeToken::Success } else { ThemeToken::Dim }, sign);
            }
            lead = lead.with(ThemeToken::Accent, format!("{:>wide$} ", at + 1));
            let below = SpanLine::plain(" ".repeat(lead.cells()));
            let token = if is_here { ThemeToken::Accent } else { ThemeToken::Text };
            let mut line = lead.with(token, self.safe(option));
            // The model's recommendation is the default, and says so already.
            if default == Some(at) && !option.ends_with("(Recommended)") {
                line = line.with(ThemeToken::Dim, " (default)");
            }
            lines.extend(line.wrap(self.width, &below));
        }
        lines
    }

    /// Words that are typed, remarks and keys, painted; the place of the cursor among them.
    fn foot(&self) -> (Vec<String>, Option<(usize, usize)>) {
        let mut lines = Vec::new();
        let mut cursor = None;
        if self.state.is_explained
            && let QuestionKind::Permission { rule, always, .. } = &self.question.kind
        {
            let below = SpanLine::plain("    ");
            let mut text =
                below.clone().with(ThemeToken::Muted, format!("the rule `{}` asks", self.safe(rule)));
            if let Some(always) = always {
                text = text.with(
                    ThemeToken::Muted,
                    format!("; always would keep `{}` for this project", self.safe(always)),
                );
            }
            lines.extend(text.wrap(self.width, &below));
        }
        if let Some(hint) = &self.state.hint {
            lines.push(SpanLine::plain("    ").with(ThemeToken::Warning, self.safe(hint)));
        }
        if self.state.shows_keys {
            lines.extend(self.key_lines());
        }
        if let Some(typing) = &self.state.typing {
            let label = if typing.is_reason { "no, because " } else { "" };
            let prompt = symbol(self.style, ConversationSymbol::Prompt);
            let lead = SpanLine::plain("    ")
                .with(ThemeToken::Accent, format!("{prompt} "))
                .with(ThemeToken::Muted, label);
            let (before, after) = typing.parts();
            let last = before.rsplit('\n').next().unwrap_or_default();
            let before_cursor = self.safe(last);
            let rest = self.safe(after.split('\n').next().unwrap_or_default());
            // The end of a long line is where it is typed.
            let room = self.width.saturating_sub(lead.cells() + 1).max(1);
            let kept = end_of(&before_cursor, room);
            cursor = Some((lines.len(), lead.cells() + cells(kept)));
            lines.push(lead.then(kept).then(rest));
        }
        lines.extend(self.hint_line());
        (self.paint(lines), cursor)
    }

    /// The keys, in a line or more.
    fn hint_line(&self) -> Vec<SpanLine> {
        let dot = symbol(self.style, ConversationSymbol::Dot);
        let keys: Vec<(String, String)> = self.hints();
        let mut lines: Vec<SpanLine> = Vec::new();
        for (key, does) in keys {
            let part = SpanLine::painted(ThemeToken::Accent, key).with(ThemeToken::Muted, format!(" {does}"));
            match lines.last_mut() {
                Some(line) if line.cells() + 3 + part.cells() <= self.width => {
                    *line = std::mem::take(line).with(ThemeToken::Dim, format!(" {dot} ")).append(part);
                }
                // A rule that would be kept is never shown in part.
                _ => lines.extend(
                    SpanLine::plain("    ").append(part).wrap(self.width, &SpanLine::plain("      ")),
                ),
            }
        }
        lines
    }

    fn hints(&self) -> Vec<(String, String)> {
        let hint = |key: &str, does: &str| (key.to_string(), does.to_string());
        if let Some(typing) = &self.state.typing {
            let back =
                if self.question.is_text() { hint("Esc", "stops everything") } else { hint("Esc", "back") };
            return vec![hint("Enter", if typing.is_reason { "says no" } else { "answers" }), back];
        }
        match &self.question.kind {
            QuestionKind::Permission { always, rule, .. } => {
                let mut keys = vec![hint("y", "once")];
                if let Some(always) = always {
                    keys.push(hint("a", &format!("always `{}` here", self.safe(always))));
                }
                keys.push(hint("Enter", "no"));
                if self.question.free_text {
                    keys.push(hint("n", "no, and say why"));
                }
                if !rule.is_empty() {
                    keys.push(hint("w", "which rule"));
                }
                keys
            }
            QuestionKind::Choice { several, default, is_plan, .. } => {
                let mut keys =
                    vec![if *several { hint("1-9, Space", "marks") } else { hint("1-9", "chooses") }];
                match (self.state.has_moved, several, default) {
                    (true, true, _) => keys.push(hint("Enter", "answers")),
                    (true, false, _) => keys.push(hint("Enter", "takes this one")),
                    (false, _, Some(_)) => keys.push(hint("Enter", "the default")),
                    (false, _, None) => {}
                }
                if self.question.free_text {
                    keys.push(hint("t", if *is_plan { "say what should change" } else { "type an answer" }));
                }
                keys.push(hint("Esc", "stops everything"));
                keys
            }
            QuestionKind::Text => Vec::new(),
        }
    }

    /// What each key does.
    fn key_lines(&self) -> Vec<SpanLine> {
        let keys: Vec<(&str, &str)> = match &self.question.kind {
            QuestionKind::Permission { .. } => vec![
                ("y", "allow it this time"),
                ("a", "allow it from now on in this project, as a rule that `relay permissions` lists"),
                ("n", "do not allow it, and tell the agent why; Enter says no without a word"),
                ("w", "show which rule asks"),
            ],
            _ => vec![("1-9", "the number of an option"), ("Enter", "the option that is marked")],
        };
        let mut lines = Vec::new();
        for (key, does) in keys {
            let lead = SpanLine::plain("    ").with(ThemeToken::Accent, key).then("  ");
            let below = SpanLine::plain(" ".repeat(lead.cells()));
            lines.extend(lead.with(ThemeToken::Muted, does).wrap(self.width, &below));
        }
        lines
    }
}

/// The end of a text that takes at most so many cells.
fn end_of(text: &str, room: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += cells(c.encode_utf8(&mut [0; 4]));
        if used > room {
            return &text[at + c.len_utf8()..];
        }
    }
    text
}
