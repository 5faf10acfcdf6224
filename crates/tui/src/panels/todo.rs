//! What is to be done: phases with their tasks, what is done, what it is at.
//!
//! ```text
//!   todo · 2 of 5 done · now: add retry
//!     Client
//!       ✓ read the client
//!       ▸ add retry
//!       ○ write a test
//! ```

use relaycode_tools::{TodoPhase, TodoStatus};

use crate::cards::CLOSE_COLUMNS;
use crate::layout::conversation_symbol::{ConversationSymbol, symbol};
use crate::layout::span_line::{SpanLine, shown};
use crate::theme::{ThemeStyle, ThemeToken};

/// Characters of a task that are looked at.
const MAX_CHARS: usize = 1_000;

/// The list as a panel.
#[derive(Debug, Clone, Default)]
pub struct TodoPanel {
    pub phases: Vec<TodoPhase>,
    pub is_folded: bool,
}

/// Tasks that are done or given up, and all.
pub fn todo_progress(phases: &[TodoPhase]) -> (usize, usize) {
    let is_over = |status: TodoStatus| matches!(status, TodoStatus::Completed | TodoStatus::Abandoned);
    let tasks = || phases.iter().flat_map(|phase| &phase.tasks);
    (tasks().filter(|task| is_over(task.status)).count(), tasks().count())
}

impl TodoPanel {
    /// Nothing once everything is done. At most `most` lines: where it works, and what comes next.
    pub fn lines(&self, style: &ThemeStyle, width: usize, most: usize) -> Vec<String> {
        let (done, all) = todo_progress(&self.phases);
        if done == all || most == 0 {
            return Vec::new();
        }
        let edge = if width < CLOSE_COLUMNS { "" } else { "  " };
        let dot = format!(" {} ", symbol(style, ConversationSymbol::Dot));
        let mut head = SpanLine::painted(ThemeToken::Dim, format!("{edge}todo{dot}{done} of {all} done"));
        let tasks = self.phases.iter().flat_map(|phase| &phase.tasks);
        if let Some(task) = tasks.clone().find(|task| task.status == TodoStatus::InProgress)
            && (self.is_folded || most < 4)
        {
            let task: String = task.content.chars().take(MAX_CHARS).collect();
            head = head
                .with(ThemeToken::Dim, format!("{dot}now: "))
                .with(ThemeToken::Text, shown(&style.output, &task));
        }
        let mut lines = vec![head];
        if !self.is_folded && most >= 4 {
            let all = todo_lines(&self.phases, style, width, if width < CLOSE_COLUMNS { 1 } else { 4 });
            lines.extend(window(all, &self.phases, most - 1, style));
        }
        lines.into_iter().map(|line| line.clip(width, &style.output).paint(style)).collect()
    }
}

/// As many lines as have room, around the task that is worked on.
fn window(lines: Vec<SpanLine>, phases: &[TodoPhase], most: usize, style: &ThemeStyle) -> Vec<SpanLine> {
    if lines.len() <= most {
        return lines;
    }
    let mut at = 0;
    let mut active = 0_usize;
    for phase in phases {
        at += 1;
        for task in &phase.tasks {
            if task.status == TodoStatus::InProgress {
                active = at;
            }
            at += 1;
        }
    }
    let room = most - 1;
    let start = active.saturating_sub(room / 2).min(lines.len() - room);
    let left_out = lines.len() - room;
    let mut shown: Vec<SpanLine> = lines.into_iter().skip(start).take(room).collect();
    let sign = symbol(style, ConversationSymbol::Ellipsis);
    shown.push(SpanLine::painted(ThemeToken::Dim, format!("    {sign} {left_out} more")));
    shown
}

/// Phases and tasks, one line each.
pub(crate) fn todo_lines(
    phases: &[TodoPhase],
    style: &ThemeStyle,
    width: usize,
    indent: usize,
) -> Vec<SpanLine> {
    let edge = " ".repeat(indent);
    let text =
        |text: &str| shown(&style.output, &text.chars().take(MAX_CHARS).collect::<String>()).into_owned();
    let mut lines = Vec::new();
    for phase in phases {
        lines.push(SpanLine::plain(edge.as_str()).with(ThemeToken::Muted, text(&phase.name)));
        for task in &phase.tasks {
            let (sign, paint, token) = match task.status {
                TodoStatus::Pending => (ConversationSymbol::TaskOpen, ThemeToken::Dim, ThemeToken::Text),
                TodoStatus::InProgress => {
                    (ConversationSymbol::TaskActive, ThemeToken::Accent, ThemeToken::Accent)
                }
                TodoStatus::Completed => (ConversationSymbol::TaskDone, ThemeToken::Success, ThemeToken::Dim),
                TodoStatus::Abandoned => (ConversationSymbol::TaskDropped, ThemeToken::Dim, ThemeToken::Dim),
            };
            let line = SpanLine::plain(format!("{edge}  "))
                .with(paint, symbol(style, sign))
                .then(" ")
                .with(token, text(&task.content));
            lines.push(line);
        }
    }
    lines.into_iter().map(|line| line.clip(width, &style.output)).collect()
}
