//! A conversation as text: who said what, tools on one line each, their results clipped.
//!
//! ```text
//! you  2026-03-10 14:02
//!   round totals to cents in the cart
//!
//! assistant  anthropic/sonnet
//!   I'll round in one place.
//!   ▸ read {"path":"src/cart.ts"}
//!       export function total() {
//!       … 40 more lines
//! ```

use crate::{Glyph, OutputStyle, PaintRole, human_size, outcome, pluralize};

/// Lines shown of a message, unless everything is asked for.
const SAID_LINES: usize = 400;
/// Lines shown of a tool's result.
const RESULT_LINES: usize = 4;
/// Lines shown of a model's thinking.
const THOUGHT_LINES: usize = 1;
/// Most cells of a line where lines may be long, unless everything is asked for.
const LONGEST: usize = 1000;

/// The top of a conversation.
#[derive(Debug, Clone, Default)]
pub struct TranscriptHeader {
    pub id: String,
    /// Its title, or the first prompt.
    pub about: String,
    /// The directory it is about.
    pub cwd: String,
    /// When it began, RFC 3339.
    pub created: String,
    /// On all branches.
    pub messages: u64,
    /// What is wrong with the file, in sentences.
    pub damage: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptPart {
    /// A new speaker: role, time or model, and whether it failed.
    Speaker {
        /// `user`, `assistant`, …
        role: String,
        /// The time, the model.
        detail: String,
    },
    Text(String),
    /// A model's thinking.
    Reasoning(String),
    Image(String),
    Call {
        name: String,
        /// On one line.
        arguments: String,
    },
    Result {
        text: String,
        failed: bool,
    },
    /// An event that nobody said.
    Note(String),
}

/// A role as people call it.
pub fn role_label(role: &str) -> &str {
    match role {
        "user" => "you",
        "toolResult" => "tool",
        "compaction" => "summary",
        "branchSummary" => "left behind",
        other => other,
    }
}

pub fn header_text(head: &TranscriptHeader, style: &OutputStyle) -> String {
    let about = head.about.split_whitespace().collect::<Vec<_>>().join(" ");
    let room = style.width.map_or(LONGEST, |width| width.saturating_sub(head.id.len() + 2).max(12));
    let mut out = style.safe(&head.id).into_owned();
    if !about.is_empty() {
        out += &format!("  {}", style.paint(PaintRole::Strong, &style.clip(&about, room)));
    }
    out.push('\n');
    let dot = style.glyph(Glyph::Dot);
    let messages = pluralize(usize::try_from(head.messages).unwrap_or(usize::MAX), "message");
    let began = crate::layout::clock::local(&head.created);
    // A damaged header may not say everything.
    let known = [style.path_in(&head.cwd, 2), messages, style.safe(&began).to_string()];
    let known: Vec<String> = known.into_iter().filter(|part| !part.is_empty()).collect();
    let line = format!("  {}", known.join(&format!(" {dot} ")));
    out += &format!("{}\n", style.paint(PaintRole::Dim, &style.wrap(&line, 2)));
    for damage in &head.damage {
        out += &outcome::warning_line(style, &style.safe(damage));
    }
    if !head.damage.is_empty() {
        let next =
            format!("`relay sessions repair {}` writes what can be read in its place", style.safe(&head.id));
        out += &outcome::indented_line(style, &next);
    }
    out
}

/// `full` leaves nothing out.
pub fn part_text(part: &TranscriptPart, full: bool, style: &OutputStyle) -> String {
    match part {
        TranscriptPart::Speaker { role, detail: beside } => {
            let beside = style.paint(PaintRole::Dim, &style.clip(beside, 80));
            let line =
                format!("\n{}  {beside}", style.paint(PaintRole::Strong, &style.clip(role_label(role), 40)));
            format!("{}\n", line.trim_end())
        }
        TranscriptPart::Text(text) => indented_block(text, 2, SAID_LINES, full, None, style),
        TranscriptPart::Reasoning(text) => {
            let dim = Some(PaintRole::Dim);
            format!("  {}\n", style.paint(PaintRole::Dim, "thought"))
                + &indented_block(text, 4, THOUGHT_LINES, full, dim, style)
        }
        TranscriptPart::Image(kind) => {
            format!("  {}\n", style.paint(PaintRole::Dim, &style.clip(&format!("[{kind}]"), 80)))
        }
        TranscriptPart::Call { name, arguments } => {
            let arguments = arguments.split_whitespace().collect::<Vec<_>>().join(" ");
            let line = format!("{name} {arguments}");
            let room =
                if full { usize::MAX } else { style.width.unwrap_or(LONGEST).saturating_sub(4).max(12) };
            format!("  {} {}\n", style.glyph(Glyph::Incoming), style.clip(line.trim_end(), room))
        }
        TranscriptPart::Result { text, failed } => {
            let mark = match failed {
                true => format!("      {}\n", style.paint(PaintRole::Bad, "failed")),
                false => String::new(),
            };
            mark + &indented_block(text, 6, RESULT_LINES, full, Some(PaintRole::Dim), style)
        }
        TranscriptPart::Note(text) => {
            let line = format!("  {} {}", style.glyph(Glyph::Dot), style.clip(text, LONGEST));
            format!("\n{}\n", style.paint(PaintRole::Dim, &style.wrap(&line, 4)))
        }
    }
}

/// Foreign text, indented; counts the lines it leaves out.
fn indented_block(
    text: &str,
    indent: usize,
    most: usize,
    full: bool,
    paint: Option<PaintRole>,
    style: &OutputStyle,
) -> String {
    let edge = " ".repeat(indent);
    let text = text.trim_end();
    let painted = |line: &str| paint.map_or_else(|| line.to_string(), |paint| style.paint(paint, line));
    let room = match style.width {
        _ if full => usize::MAX,
        // What somebody said is wrapped; a tool's result is cut.
        Some(width) if paint.is_some() => width.saturating_sub(indent).max(12),
        _ => LONGEST,
    };
    let mut out = String::new();
    let mut lines = text.lines();
    for line in lines.by_ref().take(if full { usize::MAX } else { most }) {
        let line = line.trim_end();
        if line.is_empty() {
            out.push('\n');
            continue;
        }
        let (shown, left) = cut_line(line, room);
        let safe = style.code(shown);
        let more = match left {
            0 => String::new(),
            left => format!("{} {} more", style.glyph(Glyph::More), human_size(left)),
        };
        let laid_out = match paint {
            None => style.wrap(&format!("{edge}{safe}{more}"), indent),
            Some(_) => format!("{edge}{safe}{more}"),
        };
        out += &format!("{}\n", painted(&laid_out));
    }
    let rest = lines.count();
    if rest > 0 {
        let said = format!("{edge}{} {} more", style.glyph(Glyph::More), pluralize(rest, "line"));
        out += &format!("{}\n", style.paint(PaintRole::Dim, &said));
    }
    out
}

/// The visible beginning of a line, by characters, and how many bytes are left.
fn cut_line(line: &str, room: usize) -> (&str, usize) {
    match line.char_indices().nth(room) {
        Some((at, _)) => (&line[..at], line.len() - at),
        None => (line, 0),
    }
}
