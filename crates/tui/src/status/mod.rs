//! The status line: how things stand, as parts that become shorter and then drop out, the least important first, as the terminal
//! becomes narrower.
//!
//! ```text
//!   ⠋ writing · workspace · 12 % of context · $0.06 · sonnet-5 high · main +2 ~1 · 2 of 5 done · 1 job · ? keys
//!   ⠋ workspace · 12 % · 1 job
//! ```

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use crate::cards::CLOSE_COLUMNS;
use crate::conversation::{ConversationActivity, FRAME_TIME, cost_text};
use crate::layout::conversation_symbol::{ConversationSymbol, spinner, symbol};
use crate::layout::span_line::{SpanLine, shown};
use crate::pluralize;
use crate::theme::{ThemeStyle, ThemeToken};

/// Characters of a name that are looked at.
const MAX_CHARS: usize = 120;
/// From so many per cent on, the context is nearly full.
const FULL_CONTEXT: u64 = 80;

/// How things stand. Names may be foreign text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StatusFacts {
    /// `anthropic/sonnet-5`; empty: there is none.
    pub model: String,
    /// How much it thinks, if it does.
    pub thinking: Option<String>,
    /// `read-only`, `ask`, `workspace`, `full`.
    pub access: String,
    /// `plan`.
    pub mode: Option<String>,
    /// Of the model's window, in per cent.
    pub context_percent: Option<u64>,
    /// US dollars, of the session.
    pub cost: f64,
    pub git: Option<GitFacts>,
    /// Messages that wait to be said.
    pub queued: usize,
    /// Tasks that are done, and all.
    pub todo: Option<(usize, usize)>,
    pub jobs: usize,
    /// What a key does, said at the end: `? keys`.
    pub hint: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GitFacts {
    /// Or the beginning of a commit, if no branch is checked out.
    pub branch: String,
    pub staged: usize,
    pub changed: usize,
    pub untracked: usize,
}

/// What matters more stays longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SegmentRank {
    Hint,
    Git,
    Cost,
    Thinking,
    Jobs,
    Todo,
    Model,
    Queue,
    Context,
    /// What it does, in words.
    Activity,
    Access,
    /// Without a model nothing works.
    NoModel,
    /// That it does something at all.
    Spinner,
}

struct StatusSegment {
    rank: SegmentRank,
    line: SpanLine,
    /// Said in fewer cells, if it can be.
    short: Option<SpanLine>,
    /// It belongs to the segment before it.
    is_beside: bool,
}

impl StatusFacts {
    /// One line that fits, without a newline. `began` is when the spinner began to turn.
    pub fn line(
        &self,
        activity: &ConversationActivity,
        style: &ThemeStyle,
        width: usize,
        (began, now): (Instant, Instant),
    ) -> String {
        let mut segments = self.segments(activity, style, (began, now));
        let edge = if width < CLOSE_COLUMNS { "" } else { "  " };
        let joined = loop {
            let joined = join(&segments, edge, style);
            if joined.cells() <= width || segments.is_empty() {
                break joined;
            }
            let long = segments.iter_mut().filter(|segment| segment.short.is_some());
            if let Some(segment) = long.min_by_key(|segment| segment.rank) {
                segment.line = segment.short.take().unwrap_or_default();
                continue;
            }
            if segments.len() == 1 {
                break joined;
            }
            let least = segments.iter().map(|segment| segment.rank).min();
            segments.retain(|segment| Some(segment.rank) != least);
        };
        joined.clip(width, &style.output).paint(style)
    }

    fn segments(
        &self,
        activity: &ConversationActivity,
        style: &ThemeStyle,
        (began, now): (Instant, Instant),
    ) -> Vec<StatusSegment> {
        let name = |text: &str| {
            let cut: String = text.chars().take(MAX_CHARS).collect();
            shown(&style.output, cut.trim()).into_owned()
        };
        let mut segments = SegmentList::default();
        if !activity.is_idle() {
            let sign = match activity {
                ConversationActivity::Asking { .. } => symbol(style, ConversationSymbol::Attention),
                _ => spinner(style, now.saturating_duration_since(began).as_millis()),
            };
            segments.add(SegmentRank::Spinner, SpanLine::painted(ThemeToken::Accent, sign), None);
            let text = name(&activity.text(now));
            let short = text.split(',').next().map(|word| SpanLine::painted(ThemeToken::Muted, word));
            let short = short.filter(|short| short.cells() < text.chars().count());
            segments.add_beside(SegmentRank::Activity, SpanLine::painted(ThemeToken::Muted, text), short);
        }
        if self.model.is_empty() {
            let line = SpanLine::painted(ThemeToken::Warning, "no model");
            segments.add(SegmentRank::NoModel, line, None);
        }
        let access = SpanLine::painted(ThemeToken::StatusLinePath, name(&self.access));
        segments.add(
            SegmentRank::Access,
            match &self.mode {
                Some(mode) => SpanLine::painted(ThemeToken::Warning, format!("{} mode", name(mode))),
                None => access,
            },
            None,
        );
        if let Some(percent) = self.context_percent {
            let token =
                if percent >= FULL_CONTEXT { ThemeToken::Warning } else { ThemeToken::StatusLineContext };
            let line = SpanLine::painted(token, format!("{percent} % of context"));
            segments.add(SegmentRank::Context, line, Some(SpanLine::painted(token, format!("{percent} %"))));
        }
        if let Some(cost) = cost_text(self.cost) {
            segments.add(SegmentRank::Cost, SpanLine::painted(ThemeToken::StatusLineCost, cost), None);
        }
        if !self.model.is_empty() {
            let model = name(&self.model);
            let short = model.rsplit('/').next().filter(|short| short.len() < model.len());
            let short = short.map(|short| SpanLine::painted(ThemeToken::StatusLineModel, short));
            segments.add(SegmentRank::Model, SpanLine::painted(ThemeToken::StatusLineModel, &model), short);
            if let Some(thinking) =
                self.thinking.as_deref().filter(|level| !level.is_empty() && *level != "off")
            {
                let line = SpanLine::painted(thinking_token(thinking), name(thinking));
                segments.add_beside(SegmentRank::Thinking, line, None);
            }
        }
        if let Some(git) = &self.git {
            let (line, short) = git.segment(style, &name(&git.branch));
            segments.add(SegmentRank::Git, line, short);
        }
        if self.queued > 0 {
            let line = SpanLine::painted(ThemeToken::Accent, format!("{} queued", self.queued));
            segments.add(SegmentRank::Queue, line, None);
        }
        if let Some((done, all)) = self.todo.filter(|(done, all)| done < all) {
            let line = SpanLine::painted(ThemeToken::Muted, format!("{done} of {all} tasks"));
            let short = SpanLine::painted(ThemeToken::Muted, format!("{done}/{all} tasks"));
            segments.add(SegmentRank::Todo, line, Some(short));
        }
        if self.jobs > 0 {
            let line = SpanLine::painted(ThemeToken::StatusLineSubagents, pluralize(self.jobs, "job"));
            segments.add(SegmentRank::Jobs, line, None);
        }
        if !self.hint.is_empty() {
            segments.add(SegmentRank::Hint, SpanLine::painted(ThemeToken::Dim, name(&self.hint)), None);
        }
        segments.0
    }
}

/// When the line looks different by itself.
pub fn next_status_frame(activity: &ConversationActivity) -> Option<Duration> {
    activity.is_animated().then_some(FRAME_TIME)
}

#[derive(Default)]
struct SegmentList(Vec<StatusSegment>);

impl SegmentList {
    fn add(&mut self, rank: SegmentRank, line: SpanLine, short: Option<SpanLine>) {
        self.0.push(StatusSegment { rank, line, short, is_beside: false });
    }

    fn add_beside(&mut self, rank: SegmentRank, line: SpanLine, short: Option<SpanLine>) {
        self.0.push(StatusSegment { rank, line, short, is_beside: true });
    }
}

fn join(segments: &[StatusSegment], edge: &str, style: &ThemeStyle) -> SpanLine {
    let dot = format!(" {} ", symbol(style, ConversationSymbol::Dot));
    let mut line = SpanLine::plain(edge);
    for (at, segment) in segments.iter().filter(|segment| !segment.line.is_empty()).enumerate() {
        line = match (at, segment.is_beside) {
            (0, _) => line,
            (_, true) => line.then(" "),
            (_, false) => line.with(ThemeToken::StatusLineSep, dot.as_str()),
        };
        line = line.append(segment.line.clone());
    }
    line
}

fn thinking_token(level: &str) -> ThemeToken {
    match level {
        "minimal" => ThemeToken::ThinkingMinimal,
        "low" => ThemeToken::ThinkingLow,
        "medium" => ThemeToken::ThinkingMedium,
        "high" => ThemeToken::ThinkingHigh,
        "xhigh" => ThemeToken::ThinkingXhigh,
        _ => ThemeToken::ThinkingOff,
    }
}

impl GitFacts {
    /// `main +2 ~1 ?3`: staged, changed, untracked.
    fn segment(&self, style: &ThemeStyle, branch: &str) -> (SpanLine, Option<SpanLine>) {
        /// Longer names are cut when there is little room.
        const SHORT: usize = 12;
        let counts = [
            (self.staged, "+", ThemeToken::StatusLineStaged),
            (self.changed, "~", ThemeToken::StatusLineDirty),
            (self.untracked, "?", ThemeToken::StatusLineUntracked),
        ];
        let is_clean = counts.iter().all(|(count, ..)| *count == 0);
        let token = if is_clean { ThemeToken::StatusLineGitClean } else { ThemeToken::StatusLineGitDirty };
        let name = SpanLine::painted(token, branch);
        let mut line = name.clone();
        for (count, sign, token) in counts.iter().filter(|(count, ..)| *count > 0) {
            line = line.then(" ").with(*token, format!("{sign}{count}"));
        }
        let short = name.clip(SHORT, &style.output);
        (line.clone(), (short.cells() < line.cells()).then_some(short))
    }
}
