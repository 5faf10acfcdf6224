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

use crate::look::{Look, Paint, Sign};
use crate::outcome;
use crate::part::{number, size};

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
pub struct Head {
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
pub enum Part {
    /// Somebody speaks: the role's name, when or by what, and whether it failed.
    Who {
        /// `user`, `assistant`, …
        role: String,
        /// Beside it: the time, the model.
        beside: String,
    },
    /// What they say.
    Text(String),
    /// What a model thought.
    Thought(String),
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
pub fn who(role: &str) -> &str {
    match role {
        "user" => "you",
        "toolResult" => "tool",
        "compaction" => "summary",
        "branchSummary" => "left behind",
        other => other,
    }
}

/// The top.
pub fn head(head: &Head, look: &Look) -> String {
    let about = head.about.split_whitespace().collect::<Vec<_>>().join(" ");
    let room = look.width.map_or(LONGEST, |width| width.saturating_sub(head.id.len() + 2).max(12));
    let mut out = look.safe(&head.id).into_owned();
    if !about.is_empty() {
        out += &format!("  {}", look.paint(Paint::Strong, &look.clip(&about, room)));
    }
    out.push('\n');
    let dot = look.sign(Sign::Dot);
    let messages = number(usize::try_from(head.messages).unwrap_or(usize::MAX), "message");
    let began = crate::clock::local(&head.created);
    // What a damaged header does not say is left out.
    let known = [look.path_in(&head.cwd, 2), messages, look.safe(&began).to_string()];
    let known: Vec<String> = known.into_iter().filter(|part| !part.is_empty()).collect();
    let line = format!("  {}", known.join(&format!(" {dot} ")));
    out += &format!("{}\n", look.paint(Paint::Dim, &look.wrap(&line, 2)));
    for damage in &head.damage {
        out += &outcome::remark(look, &look.safe(damage));
    }
    if !head.damage.is_empty() {
        let next =
            format!("`relay sessions repair {}` writes what can be read in its place", look.safe(&head.id));
        out += &outcome::aside(look, &next);
    }
    out
}

/// A part; `full` leaves nothing out.
pub fn part(part: &Part, full: bool, look: &Look) -> String {
    match part {
        Part::Who { role, beside } => {
            let beside = look.paint(Paint::Dim, &look.clip(beside, 80));
            let line = format!("\n{}  {beside}", look.paint(Paint::Strong, &look.clip(who(role), 40)));
            format!("{}\n", line.trim_end())
        }
        Part::Text(text) => block(text, 2, most(SAID_LINES, full), full, None, look),
        Part::Thought(text) => {
            let dim = Some(Paint::Dim);
            format!("  {}\n", look.paint(Paint::Dim, "thought"))
                + &block(text, 4, most(THOUGHT_LINES, full), full, dim, look)
        }
        Part::Image(kind) => format!("  {}\n", look.paint(Paint::Dim, &look.clip(&format!("[{kind}]"), 80))),
        Part::Call { name, arguments } => {
            let arguments = arguments.split_whitespace().collect::<Vec<_>>().join(" ");
            let line = format!("{name} {arguments}");
            let room =
                if full { usize::MAX } else { look.width.unwrap_or(LONGEST).saturating_sub(4).max(12) };
            format!("  {} {}\n", look.sign(Sign::Incoming), look.clip(line.trim_end(), room))
        }
        Part::Result { text, failed } => {
            let (paint, lead) = if *failed { (Paint::Bad, "failed") } else { (Paint::Dim, "") };
            let mark =
                if lead.is_empty() { String::new() } else { format!("      {}\n", look.paint(paint, lead)) };
            mark + &block(text, 6, most(RESULT_LINES, full), full, Some(Paint::Dim), look)
        }
        Part::Note(text) => {
            let line = format!("  {} {}", look.sign(Sign::Dot), look.clip(text, LONGEST));
            format!("\n{}\n", look.paint(Paint::Dim, &look.wrap(&line, 4)))
        }
    }
}

fn most(lines: usize, full: bool) -> usize {
    if full { usize::MAX } else { lines }
}

/// Lines of foreign text, indented; what is left out is counted.
fn block(text: &str, indent: usize, most: usize, full: bool, paint: Option<Paint>, look: &Look) -> String {
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
        let (shown, left) = cut(line, room);
        let safe = look.code(shown);
        let more =
            if left > 0 { format!("{} {} more", look.sign(Sign::More), size(left)) } else { String::new() };
        let laid_out = match paint {
            None => look.wrap(&format!("{edge}{safe}{more}"), indent),
            Some(_) => format!("{edge}{safe}{more}"),
        };
        out += &format!("{}\n", painted(&laid_out));
    }
    let rest = lines.count();
    if rest > 0 {
        let said = format!("{edge}{} {} more", look.sign(Sign::More), number(rest, "line"));
        out += &format!("{}\n", look.paint(Paint::Dim, &said));
    }
    out
}

/// So much of a line as may be shown, by characters, and how many bytes are left.
fn cut(line: &str, room: usize) -> (&str, usize) {
    match line.char_indices().nth(room) {
        Some((at, _)) => (&line[..at], line.len() - at),
        None => (line, 0),
    }
}
