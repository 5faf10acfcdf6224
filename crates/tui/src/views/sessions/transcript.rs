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

use crate::layout::style::{Glyph, OutputStyle, PaintRole};
use crate::layout::styled_text::{human_size, pluralize};
use crate::views::outcome;

/// Lines of what somebody said that are shown, unless all is asked for.
const SAID_LINES: usize = 400;
/// Lines of what a tool gave back.
const RESULT_LINES: usize = 4;
/// Lines of what a model thought.
const THOUGHT_LINES: usize = 1;
/// Cells of a line where lines may be long, unless all is asked for.
const LONGEST: usize = 1000;

/// The top of a conversation.
#[derive(Debug, Clone, Default)]
pub struct TranscriptHeader {
    /// The session's id.
    pub id: String,
    /// Its title, or what was said first.
    pub about: String,
    /// The directory it is about.
    pub cwd: String,
    /// When it began, RFC 3339.
    pub created: String,
    /// How many messages it has, on all branches.
    pub messages: u64,
    /// What is wrong with the file, in sentences.
    pub damage: Vec<String>,
}

/// A part of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptPart {
    /// Somebody speaks: the role's name, when or by what, and whether it failed.
    Speaker {
        /// `user`, `assistant`, …
        role: String,
        /// Beside it: the time, the model.
        detail: String,
    },
    /// What they say.
    Text(String),
    /// What a model thought.
    Reasoning(String),
    /// A picture.
    Image(String),
    /// A tool is called.
    Call {
        /// Which.
        name: String,
        /// With what, on one line.
        arguments: String,
    },
    /// What a tool gave back.
    Result {
        /// The text.
        text: String,
        /// It failed.
        failed: bool,
    },
    /// Something happened that nobody said.
    Note(String),
}

/// What a role is called.
pub fn role_label(role: &str) -> &str {
    match role {
        "user" => "you",
        "toolResult" => "tool",
        "compaction" => "summary",
        "branchSummary" => "left behind",
        other => other,
    }
}

/// The top.
pub fn header_text(head: &TranscriptHeader, look: &OutputStyle) -> String {
    let about = head.about.split_whitespace().collect::<Vec<_>>().join(" ");
    let room = look.width.map_or(LONGEST, |width| width.saturating_sub(head.id.len() + 2).max(12));
    let mut out = look.safe(&head.id).into_owned();
    if !about.is_empty() {
        out += &format!("  {}", look.paint(PaintRole::Strong, &look.clip(&about, room)));
    }
    out.push('\n');
    let dot = look.glyph(Glyph::Dot);
    let messages = pluralize(usize::try_from(head.messages).unwrap_or(usize::MAX), "message");
    let began = crate::layout::clock::local(&head.created);
    // What a damaged header does not say is left out.
    let known = [look.path_in(&head.cwd, 2), messages, look.safe(&began).to_string()];
    let known: Vec<String> = known.into_iter().filter(|part| !part.is_empty()).collect();
    let line = format!("  {}", known.join(&format!(" {dot} ")));
    out += &format!("{}\n", look.paint(PaintRole::Dim, &look.wrap(&line, 2)));
    for damage in &head.damage {
        out += &outcome::warning_line(look, &look.safe(damage));
    }
    if !head.damage.is_empty() {
        let next =
            format!("`relay sessions repair {}` writes what can be read in its place", look.safe(&head.id));
        out += &outcome::indented_line(look, &next);
    }
    out
}

/// A part; `full` leaves nothing out.
pub fn part_text(part: &TranscriptPart, full: bool, look: &OutputStyle) -> String {
    match part {
        TranscriptPart::Speaker { role, detail: beside } => {
            let beside = look.paint(PaintRole::Dim, &look.clip(beside, 80));
            let line =
                format!("\n{}  {beside}", look.paint(PaintRole::Strong, &look.clip(role_label(role), 40)));
            format!("{}\n", line.trim_end())
        }
        TranscriptPart::Text(text) => indented_block(text, 2, line_limit(SAID_LINES, full), full, None, look),
        TranscriptPart::Reasoning(text) => {
            let dim = Some(PaintRole::Dim);
            format!("  {}\n", look.paint(PaintRole::Dim, "thought"))
                + &indented_block(text, 4, line_limit(THOUGHT_LINES, full), full, dim, look)
        }
        TranscriptPart::Image(kind) => {
            format!("  {}\n", look.paint(PaintRole::Dim, &look.clip(&format!("[{kind}]"), 80)))
        }
        TranscriptPart::Call { name, arguments } => {
            let arguments = arguments.split_whitespace().collect::<Vec<_>>().join(" ");
            let line = format!("{name} {arguments}");
            let room =
                if full { usize::MAX } else { look.width.unwrap_or(LONGEST).saturating_sub(4).max(12) };
            format!("  {} {}\n", look.glyph(Glyph::Incoming), look.clip(line.trim_end(), room))
        }
        TranscriptPart::Result { text, failed } => {
            let (paint, lead) = if *failed { (PaintRole::Bad, "failed") } else { (PaintRole::Dim, "") };
            let mark =
                if lead.is_empty() { String::new() } else { format!("      {}\n", look.paint(paint, lead)) };
            mark + &indented_block(text, 6, line_limit(RESULT_LINES, full), full, Some(PaintRole::Dim), look)
        }
        TranscriptPart::Note(text) => {
            let line = format!("  {} {}", look.glyph(Glyph::Dot), look.clip(text, LONGEST));
            format!("\n{}\n", look.paint(PaintRole::Dim, &look.wrap(&line, 4)))
        }
    }
}

fn line_limit(lines: usize, full: bool) -> usize {
    if full { usize::MAX } else { lines }
}

/// Lines of foreign text, indented; what is left out is counted.
fn indented_block(
    text: &str,
    indent: usize,
    most: usize,
    full: bool,
    paint: Option<PaintRole>,
    look: &OutputStyle,
) -> String {
    let edge = " ".repeat(indent);
    let text = text.trim_end();
    let painted = |line: &str| paint.map_or_else(|| line.to_string(), |paint| look.paint(paint, line));
    let room = match look.width {
        _ if full => usize::MAX,
        // What somebody said is wrapped; what a tool gave back is cut.
        Some(width) if paint.is_some() => width.saturating_sub(indent).max(12),
        _ => LONGEST,
    };
    let mut out = String::new();
    let mut lines = text.lines();
    for line in lines.by_ref().take(most) {
        let line = line.trim_end();
        if line.is_empty() {
            out.push('\n');
            continue;
        }
        let (shown, left) = cut_line(line, room);
        let safe = look.code(shown);
        let more = if left > 0 {
            format!("{} {} more", look.glyph(Glyph::More), human_size(left))
        } else {
            String::new()
        };
        let laid_out = match paint {
            None => look.wrap(&format!("{edge}{safe}{more}"), indent),
            Some(_) => format!("{edge}{safe}{more}"),
        };
        out += &format!("{}\n", painted(&laid_out));
    }
    let rest = lines.count();
    if rest > 0 {
        let said = format!("{edge}{} {} more", look.glyph(Glyph::More), pluralize(rest, "line"));
        out += &format!("{}\n", look.paint(PaintRole::Dim, &said));
    }
    out
}

/// So much of a line as may be shown, by characters, and how many bytes are left.
fn cut_line(line: &str, room: usize) -> (&str, usize) {
    match line.char_indices().nth(room) {
        Some((at, _)) => (&line[..at], line.len() - at),
        None => (line, 0),
    }
}
