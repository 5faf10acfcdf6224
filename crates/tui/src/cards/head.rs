//! The first line of a card: what was done to what, what came of it, how long it took.

use relaycode_tools::{CardBody, CardExit};

use super::{CLOSE_COLUMNS, CallCard};
use crate::layout::conversation_symbol::{ConversationSymbol, symbol};
use crate::layout::span_line::{SpanLine, shown};
use crate::theme::{ThemeStyle, ThemeToken};

/// Where what came of a call begins, on a wide terminal.
const MAX_OUTCOME_COLUMN: usize = 64;
/// Cells that a title needs to be told apart from others; with less, what came of it goes below.
const MIN_TITLE_CELLS: usize = 20;
/// Calls that were quicker do not say so, unless they ran a command.
const MIN_SHOWN_MS: u64 = 500;
/// Characters of a title or an outcome that are looked at.
const MAX_CHARS: usize = 2_000;
/// Lines that a reason takes.
const MAX_REASON_LINES: usize = 4;

/// A line's parts, safe and not painted yet.
pub(crate) struct CardHead {
    pub(crate) sign: SpanLine,
    pub(crate) title: SpanLine,
    pub(crate) outcome: SpanLine,
    /// The outcome may take lines of its own: it says why something failed.
    pub(crate) is_reason: bool,
}

impl CardHead {
    pub(super) fn of(call: &CallCard, style: &ThemeStyle) -> CardHead {
        let sign = match call.is_error {
            true => SpanLine::painted(ThemeToken::Error, symbol(style, ConversationSymbol::Failed)),
            false => SpanLine::painted(ThemeToken::Success, symbol(style, ConversationSymbol::Bullet)),
        };
        let (outcome, is_reason) = outcome(call, style);
        CardHead { sign, title: title_line(call.title(), style), outcome, is_reason }
    }
}

/// `edit src/a.rs`, the tool painted.
pub(crate) fn title_line(title: &str, style: &ThemeStyle) -> SpanLine {
    let title: String = title.chars().take(MAX_CHARS).collect();
    let title = if style.output.utf8 { title } else { title.replace('…', "...") };
    let title = shown(&style.output, title.trim()).into_owned();
    let (tool, rest) = title.split_once(' ').map_or((title.as_str(), ""), |(tool, rest)| (tool, rest));
    let line = SpanLine::painted(ThemeToken::ToolTitle, tool);
    if rest.is_empty() { line } else { line.then(format!(" {rest}")) }
}

fn outcome(call: &CallCard, style: &ThemeStyle) -> (SpanLine, bool) {
    let card = &call.card;
    let mut parts = Vec::new();
    let mut is_reason = false;
    match (&card.body, card.exit) {
        (CardBody::Diff { files }, _) if !call.is_error => parts.push(counts(
            files.iter().map(|file| file.added).sum(),
            files.iter().map(|file| file.removed).sum(),
            style,
        )),
        // Its own line says more.
        (CardBody::Image(_), _) if !call.is_error => {}
        (_, Some(exit)) => parts.extend(exit_text(exit).map(|(token, text)| SpanLine::painted(token, text))),
        _ => {
            let summary: String = card.summary.chars().take(MAX_CHARS).collect();
            let summary = shown(&style.output, summary.trim()).into_owned();
            is_reason = call.is_error;
            let token = if call.is_error { ThemeToken::Error } else { ThemeToken::Muted };
            parts.push(SpanLine::painted(token, summary));
        }
    }
    let took = card.duration_ms.filter(|took| card.exit.is_some() || *took >= MIN_SHOWN_MS);
    // A person who answers is not timed.
    let took = took.filter(|_| !matches!(call.tool.as_str(), "ask" | "exit_plan"));
    parts.extend(took.map(|took| SpanLine::painted(ThemeToken::Dim, duration_text(took))));
    parts.retain(|part| !part.is_empty());
    let dot = format!(" {} ", symbol(style, ConversationSymbol::Dot));
    let joined = parts.into_iter().reduce(|line, part| line.with(ThemeToken::Dim, dot.as_str()).append(part));
    (joined.unwrap_or_default(), is_reason)
}

fn exit_text(exit: CardExit) -> Option<(ThemeToken, String)> {
    Some(match exit {
        CardExit::Exited { code: 0 } => return None,
        CardExit::Exited { code } => (ThemeToken::Error, format!("exit {code}")),
        CardExit::Signalled { signal } => (ThemeToken::Error, format!("ended by signal {signal}")),
        CardExit::TimedOut => (ThemeToken::Error, "timed out".to_string()),
        CardExit::Stopped => (ThemeToken::Warning, "stopped".to_string()),
        CardExit::Unknown => return None,
    })
}

/// `+31 −4`, without a half that is zero.
pub(crate) fn counts(added: usize, removed: usize, style: &ThemeStyle) -> SpanLine {
    let mut line = SpanLine::default();
    if added > 0 {
        line.push(Some(ThemeToken::ToolDiffAdded), format!("+{added}"));
    }
    if removed > 0 {
        if added > 0 {
            line.push(None, " ");
        }
        let minus = symbol(style, ConversationSymbol::Minus);
        line.push(Some(ThemeToken::ToolDiffRemoved), format!("{minus}{removed}"));
    }
    if line.is_empty() { SpanLine::painted(ThemeToken::Muted, "no change") } else { line }
}

/// One line, or more where it does not fit.
pub(crate) fn head_lines(head: &CardHead, style: &ThemeStyle, width: usize) -> Vec<SpanLine> {
    let edge = if width < CLOSE_COLUMNS { "" } else { "  " };
    let lead = SpanLine::plain(edge).append(head.sign.clone()).then(" ");
    let indent = lead.cells();
    let line = lead.append(head.title.clone());
    if head.outcome.is_empty() {
        return vec![line.clip(width, &style.output)];
    }
    let column = (width * 2 / 3).min(MAX_OUTCOME_COLUMN);
    let outcome = head.outcome.cells();
    if line.cells() + 2 <= column && column + outcome <= width {
        return vec![line.padded(column).append(head.outcome.clone())];
    }
    if line.cells() + 2 + outcome <= width {
        return vec![line.then("  ").append(head.outcome.clone())];
    }
    let room = width.saturating_sub(outcome + 2);
    if room >= indent + MIN_TITLE_CELLS && !head.is_reason {
        return vec![line.clip(room, &style.output).then("  ").append(head.outcome.clone())];
    }
    let below = SpanLine::plain(" ".repeat(indent + 2));
    let mut lines = vec![line.clip(width, &style.output)];
    let mut reason = below.clone().append(head.outcome.clone()).wrap(width, &below);
    reason.truncate(MAX_REASON_LINES);
    lines.extend(reason);
    lines
}

/// `0.4 s`, `12 s`, `3 min 5 s`, `1 h 4 min`
pub(crate) fn duration_text(ms: u64) -> String {
    match ms / 1_000 {
        0..10 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        seconds @ 10..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => match (seconds / 60, seconds % 60) {
            (minutes, 0) => format!("{minutes} min"),
            (minutes, rest) => format!("{minutes} min {rest} s"),
        },
        seconds => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}
