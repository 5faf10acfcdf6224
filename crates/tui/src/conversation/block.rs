//! The pieces of a conversation, in order: each is drawn once it is finished, and then no more.

use relaycode_llm::message::UserContent;

use super::answer::{AnswerText, ThoughtText};
use super::call::{CallBlock, CallState};
use super::notice::ConversationNotice;
use super::turn_summary::TurnSummary;
use super::{ConversationHead, LiveClock};
use crate::cards::{CLOSE_COLUMNS, CardExtent, CardLook, duration_text};
use crate::layout::conversation_symbol::{ConversationSymbol, spinner, symbol};
use crate::layout::span_line::{SpanLine, shown};
use crate::pluralize;
use crate::theme::{ThemeStyle, ThemeToken};

/// Lines of a prompt that are shown.
const MAX_PROMPT_LINES: usize = 30;
/// Lines of a plan.
const MAX_PLAN_LINES: usize = 200;
/// Characters of a line.
const MAX_CHARS: usize = 4_000;
/// An answer of more lines is set apart from the calls that follow it.
const LONG_ANSWER: usize = 3;

pub(super) enum ConversationBlock {
    Head(ConversationHead),
    Prompt(PromptBlock),
    Answer(Box<AnswerText>),
    Thought(ThoughtText),
    Call(CallBlock),
    Plan(PlanBlock),
    Notice(ConversationNotice),
    TurnSummary(TurnSummary),
}

/// What the user said.
pub(super) struct PromptBlock {
    pub(super) text: String,
    /// Names of what went along.
    pub(super) attached: Vec<String>,
}

/// A plan that somebody is asked about.
pub(super) struct PlanBlock {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) is_edited: bool,
}

/// What was drawn last, for the blank lines between.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum DrawnKind {
    #[default]
    Nothing,
    Prompt,
    ShortAnswer,
    LongAnswer,
    /// A call of one line.
    BareCall,
    /// One with a body.
    Call,
    /// Set apart from everything.
    Apart,
    Line,
}

pub(super) struct BlockLook<'a> {
    pub(super) expand_key: &'a str,
    pub(super) unfold_key: &'a str,
}

impl ConversationBlock {
    pub(super) fn is_finished(&self) -> bool {
        match self {
            ConversationBlock::Answer(answer) => !answer.is_open(),
            ConversationBlock::Thought(thought) => !thought.is_open(),
            ConversationBlock::Call(call) => call.is_ended(),
            _ => true,
        }
    }

    /// Whether a blank line goes before it.
    pub(super) fn is_set_apart(&self, after: DrawnKind) -> bool {
        match (self, after) {
            (_, DrawnKind::Nothing) => false,
            (_, DrawnKind::Prompt | DrawnKind::Apart) => true,
            (
                ConversationBlock::Prompt(_)
                | ConversationBlock::Plan(_)
                | ConversationBlock::TurnSummary(_)
                | ConversationBlock::Head(_),
                _,
            ) => true,
            (ConversationBlock::Answer(_), after) => after == DrawnKind::Call,
            (ConversationBlock::Call(_), after) => after == DrawnKind::LongAnswer,
            _ => false,
        }
    }

    /// What it is, drawn with so many lines.
    pub(super) fn drawn_kind(&self, lines: usize) -> DrawnKind {
        match self {
            ConversationBlock::Prompt(_) => DrawnKind::Prompt,
            ConversationBlock::Answer(_) if lines > LONG_ANSWER => DrawnKind::LongAnswer,
            ConversationBlock::Answer(_) => DrawnKind::ShortAnswer,
            ConversationBlock::Call(_) if lines > 1 => DrawnKind::Call,
            ConversationBlock::Call(_) => DrawnKind::BareCall,
            ConversationBlock::Plan(_) | ConversationBlock::Head(_) => DrawnKind::Apart,
            ConversationBlock::Thought(_)
            | ConversationBlock::Notice(_)
            | ConversationBlock::TurnSummary(_) => DrawnKind::Line,
        }
    }

    /// Lines that cannot change any more and were not given out yet.
    pub(super) fn take_finished(
        &mut self,
        look: &BlockLook<'_>,
        style: &ThemeStyle,
        width: usize,
    ) -> Vec<String> {
        match self {
            ConversationBlock::Answer(answer) => {
                indented(answer.take_finished(style, text_width(width)), width)
            }
            ConversationBlock::Thought(thought) if thought.is_shown => {
                thought_lines(thought.take_finished(style, text_width(width).saturating_sub(2)), style, width)
            }
            ConversationBlock::Thought(thought) if thought.is_open() => Vec::new(),
            ConversationBlock::Call(call) if !call.is_ended() => Vec::new(),
            _ => self.still_lines(look, style, width),
        }
    }

    /// Those of a block that does not change.
    fn still_lines(&self, look: &BlockLook<'_>, style: &ThemeStyle, width: usize) -> Vec<String> {
        let lines = match self {
            ConversationBlock::Head(head) => return head.lines(style, width),
            ConversationBlock::Call(CallBlock { state: CallState::Ended(card), .. }) => {
                let expand_key = Some(look.expand_key.to_string());
                return card.lines(&CardLook { extent: CardExtent::Folded, expand_key }, style, width);
            }
            ConversationBlock::Answer(_) | ConversationBlock::Call(_) => Vec::new(),
            ConversationBlock::Thought(thought) => vec![folded_thought(thought, look, style, width)],
            ConversationBlock::Prompt(prompt) => prompt.lines(style, width),
            ConversationBlock::Plan(plan) => plan.lines(style, width),
            ConversationBlock::Notice(notice) => notice.lines(style, width),
            ConversationBlock::TurnSummary(summary) => summary.lines(style, width),
        };
        lines.into_iter().map(|line| line.clip(width, &style.output).paint(style)).collect()
    }

    /// What of it may still change.
    pub(super) fn live(
        &self,
        clock: &LiveClock,
        look: &BlockLook<'_>,
        style: &ThemeStyle,
        width: usize,
    ) -> Vec<String> {
        match self {
            ConversationBlock::Answer(answer) => indented(answer.live(style, text_width(width)), width),
            ConversationBlock::Thought(thought) if thought.is_shown => {
                thought_lines(thought.live(style, text_width(width).saturating_sub(2)), style, width)
            }
            ConversationBlock::Thought(thought) if thought.is_open() => {
                vec![live_thought(thought, clock, style, width)]
            }
            ConversationBlock::Call(call) if !call.is_ended() => call
                .live_lines(clock, style, width)
                .into_iter()
                .map(|line| line.clip(width, &style.output).paint(style))
                .collect(),
            // It waits for one before it.
            _ => self.still_lines(look, style, width),
        }
    }
}

/// Cells for the words of an answer.
fn text_width(width: usize) -> usize {
    if width < CLOSE_COLUMNS { width } else { width - 2 }
}

fn indented(lines: Vec<String>, width: usize) -> Vec<String> {
    if width < CLOSE_COLUMNS {
        return lines;
    }
    let indent = |line: String| if line.is_empty() { line } else { format!("  {line}") };
    lines.into_iter().map(indent).collect()
}

fn thought_lines(lines: Vec<String>, style: &ThemeStyle, width: usize) -> Vec<String> {
    let bar = style.paint(ThemeToken::ThinkingText, symbol(style, ConversationSymbol::Bar));
    indented(lines.into_iter().map(|line| format!("{bar} {line}")).collect(), width)
}

/// `∴ thought for 4 s · 120 words (Ctrl-T)`
fn folded_thought(thought: &ThoughtText, look: &BlockLook<'_>, style: &ThemeStyle, width: usize) -> SpanLine {
    let took = thought.began.zip(thought.ended).map(|(began, ended)| ended.saturating_duration_since(began));
    let took = took.filter(|took| took.as_secs() >= 1);
    let took =
        took.map(|took| format!(" for {}", duration_text(took.as_secs() * 1_000).replace(".0 s", " s")));
    let edge = if width < CLOSE_COLUMNS { "" } else { "  " };
    let dot = symbol(style, ConversationSymbol::Dot);
    let text = format!(
        "{edge}{} thought{} {dot} {}",
        symbol(style, ConversationSymbol::Thought),
        took.unwrap_or_default(),
        pluralize(thought.count, "word")
    );
    let line = SpanLine::painted(ThemeToken::ThinkingText, text);
    let hint = SpanLine::painted(ThemeToken::Dim, format!(" ({})", look.unfold_key));
    if look.unfold_key.is_empty() || line.cells() + hint.cells() > width { line } else { line.append(hint) }
}

fn live_thought(thought: &ThoughtText, clock: &LiveClock, style: &ThemeStyle, width: usize) -> String {
    let edge = if width < CLOSE_COLUMNS { "" } else { "  " };
    let dot = symbol(style, ConversationSymbol::Dot);
    let mut text = "thinking".to_string();
    if thought.count > 0 {
        text += &format!(" {dot} {}", pluralize(thought.count, "word"));
    }
    let line = SpanLine::plain(edge)
        .with(ThemeToken::Accent, spinner(style, clock.elapsed_ms()))
        .with(ThemeToken::ThinkingText, format!(" {text}"));
    line.clip(width, &style.output).paint(style)
}

impl PromptBlock {
    pub(super) fn of_content(content: &[UserContent], unmask: impl Fn(&str) -> String) -> PromptBlock {
        let mut texts = content.iter().filter_map(|piece| match piece {
            UserContent::Text(text) => Some(text.text.as_str()),
            UserContent::Image(_) => None,
        });
        let text = unmask(texts.next().unwrap_or_default());
        let mut attached: Vec<String> = texts.map(attached_name).collect();
        let images = content.iter().filter(|piece| matches!(piece, UserContent::Image(_))).count();
        if images > 0 {
            attached.push(pluralize(images, "image"));
        }
        PromptBlock { text, attached }
    }

    fn lines(&self, style: &ThemeStyle, width: usize) -> Vec<SpanLine> {
        let sign = symbol(style, ConversationSymbol::Prompt);
        let lead = SpanLine::painted(ThemeToken::Accent, sign).then(" ");
        let below = SpanLine::plain(" ".repeat(lead.cells()));
        let all = self.text.trim_end().lines().count();
        let mut lines = Vec::new();
        for (at, line) in self.text.trim_end().lines().take(MAX_PROMPT_LINES).enumerate() {
            let begin = if at == 0 { lead.clone() } else { below.clone() };
            let text: String = line.trim_end().chars().take(MAX_CHARS).collect();
            lines.extend(
                begin.with(ThemeToken::UserMessageText, shown(&style.output, &text)).wrap(width, &below),
            );
        }
        if lines.is_empty() {
            lines.push(lead);
        }
        if all > MAX_PROMPT_LINES {
            let sign = symbol(style, ConversationSymbol::Ellipsis);
            let left_out = format!("{sign} {}", pluralize(all - MAX_PROMPT_LINES, "more line"));
            lines.push(below.clone().with(ThemeToken::Dim, left_out));
        }
        for name in &self.attached {
            let name: String = name.chars().take(MAX_CHARS).collect();
            lines.push(below.clone().with(ThemeToken::Dim, format!("+ {}", shown(&style.output, &name))));
        }
        lines
    }
}

/// The file of `<file path="src/a.rs">`, else how much it is.
fn attached_name(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let name = first.strip_prefix("<file path=\"").and_then(|rest| rest.strip_suffix("\">"));
    name.map_or_else(|| pluralize(text.lines().count(), "line"), str::to_string)
}

impl PlanBlock {
    fn lines(&self, style: &ThemeStyle, width: usize) -> Vec<SpanLine> {
        let edge = if width < CLOSE_COLUMNS { "" } else { "  " };
        let title: String = self.title.chars().take(MAX_CHARS).collect();
        let edited = if self.is_edited { ", edited since the agent wrote it" } else { "" };
        let head = SpanLine::plain(edge)
            .with(ThemeToken::MdHeading, format!("plan: {}", shown(&style.output, &title)))
            .with(ThemeToken::Warning, edited);
        let mut lines = head.wrap(width, &SpanLine::plain(format!("{edge}  ")));
        let bar = SpanLine::plain(edge)
            .with(ThemeToken::BorderAccent, symbol(style, ConversationSymbol::Bar))
            .then(" ");
        let text = self.text.trim_end();
        for line in text.lines().take(MAX_PLAN_LINES) {
            let cut: String = line.trim_end().chars().take(MAX_CHARS).collect();
            lines.extend(bar.clone().then(shown(&style.output, &cut)).wrap(width, &bar));
        }
        let left_out = text.lines().count().saturating_sub(MAX_PLAN_LINES);
        if left_out > 0 {
            let sign = symbol(style, ConversationSymbol::Ellipsis);
            lines.push(bar.with(ThemeToken::Dim, format!("{sign} {}", pluralize(left_out, "more line"))));
        }
        lines
    }
}
