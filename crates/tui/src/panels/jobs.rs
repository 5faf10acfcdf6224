//! What runs in the background.
//!
//! ```text
//!   1 job · bash-1 npm run dev · 3 min 5 s
//! ```

use relaycode_tools::{JobSnapshot, JobStatus};

use crate::cards::{CLOSE_COLUMNS, duration_text};
use crate::layout::conversation_symbol::{ConversationSymbol, symbol};
use crate::layout::span_line::{SpanLine, shown};
use crate::pluralize;
use crate::theme::{ThemeStyle, ThemeToken};

/// One job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    pub id: String,
    /// Its command.
    pub label: String,
    pub status: JobStatus,
    pub duration_ms: u64,
}

#[derive(Debug, Clone, Default)]
pub struct JobsPanel {
    pub rows: Vec<JobRow>,
    pub is_folded: bool,
}

impl From<&JobSnapshot> for JobRow {
    fn from(job: &JobSnapshot) -> JobRow {
        JobRow {
            id: job.id.clone(),
            label: job.label.clone(),
            status: job.status,
            duration_ms: job.duration_ms,
        }
    }
}

impl JobsPanel {
    /// Only what runs is worth a place. At most `most` lines.
    pub fn lines(&self, style: &ThemeStyle, width: usize, most: usize) -> Vec<String> {
        let running: Vec<&JobRow> = self.rows.iter().filter(|job| job.status == JobStatus::Running).collect();
        if running.is_empty() || most == 0 {
            return Vec::new();
        }
        let edge = if width < CLOSE_COLUMNS { "" } else { "  " };
        let count = SpanLine::painted(ThemeToken::Dim, format!("{edge}{}", pluralize(running.len(), "job")));
        let dot = format!(" {} ", symbol(style, ConversationSymbol::Dot));
        let mut lines = Vec::new();
        match running.as_slice() {
            [only] => lines.push(count.with(ThemeToken::Dim, dot).append(only.line(style))),
            many if self.is_folded || most < 3 => {
                let names: Vec<&str> = many.iter().map(|job| job.id.as_str()).collect();
                let names = shown(&style.output, &names.join(", ")).into_owned();
                lines.push(count.with(ThemeToken::Dim, dot).with(ThemeToken::Muted, names));
            }
            many => {
                lines.push(count);
                let room = if many.len() < most { many.len() } else { most - 2 };
                let row = |job: &&JobRow| SpanLine::plain(format!("{edge}  ")).append(job.line(style));
                lines.extend(many.iter().take(room).map(row));
                if many.len() > room {
                    let sign = symbol(style, ConversationSymbol::Ellipsis);
                    let left = format!("{edge}  {sign} {} more", many.len() - room);
                    lines.push(SpanLine::painted(ThemeToken::Dim, left));
                }
            }
        }
        lines.into_iter().map(|line| line.clip(width, &style.output).paint(style)).collect()
    }
}

impl JobRow {
    fn line(&self, style: &ThemeStyle) -> SpanLine {
        let dot = format!(" {} ", symbol(style, ConversationSymbol::Dot));
        SpanLine::painted(ThemeToken::Muted, shown(&style.output, &self.id))
            .then(format!(" {}", shown(&style.output, &self.label)))
            .with(ThemeToken::Dim, format!("{dot}{}", duration_text(self.duration_ms)))
    }
}
