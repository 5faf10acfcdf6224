//! A refusal: which edits do not fit and what is there instead, which ones fit, what to do next.
//!
//! ```text
//! ✗ refused: 1 of 3 edits does not match                             nothing was changed
//!   src/cart.ts, edit 2 (line 41 of the answer)
//!     looked for   return items.reduce((sum, item) => {
//!     nearest      return items.reduce((total, item) => {                      line 87
//!   edit 1 fits; edit 3 is already in
//! ```

use std::collections::HashSet;

use relaycode_change::plan::{
    FittingHunk, HunkState, NearestPlace, PlanRefusal, RefusalEntry, RefusalReason,
};
use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{Hunk, UnreadBlock};

use super::card;
use crate::{
    Glyph, LIST_LIMIT, OutputStyle, PaintRole, StyledText, justified_line, more_line, outcome, pluralize,
};

/// `next` is a sentence on how to get a repair prompt, if there is one.
pub fn text(
    refused: &PlanRefusal,
    unread: &[UnreadBlock],
    next: Option<&str>,
    style: &OutputStyle,
) -> String {
    let sign = style.paint(PaintRole::Bad, style.glyph(Glyph::Refused));
    let what = match headline(refused) {
        headline if headline == NO_CHANGES => headline,
        headline => format!("refused: {headline}"),
    };
    let mut out = crate::headline_with_state(style, &sign, &what, "nothing was changed");
    let shown = &refused.refusals[..refused.refusals.len().min(LIST_LIMIT)];
    for (index, refusal) in shown.iter().enumerate() {
        out += &entry(refusal, style);
        let ends_file = shown[index + 1..].iter().all(|later| later.path != refusal.path);
        let fits = refusal.path.as_ref().filter(|_| ends_file).and_then(|p| fitting_in(&refused.fitting, p));
        out += &fits.map(|fits| style.wrap(&format!("  {fits}"), 4) + "\n").unwrap_or_default();
    }
    out += &more_line(style, "  ", refused.refusals.len());
    out += &fitting_elsewhere(refused, style);
    let unread: Vec<UnreadBlock> = unread.iter().filter(|b| !listed(refused, b)).cloned().collect();
    out += &card::remarks(&refused.notes, &unread, style);
    if let Some(next) = next {
        out += &outcome::indented_line(style, &style.safe(next));
    }
    out
}

/// Whether an unread block is among the reasons already.
fn listed(refused: &PlanRefusal, block: &UnreadBlock) -> bool {
    let is = |r: &&RefusalEntry| matches!(r.reason, RefusalReason::Unread { .. }) && r.line == block.line;
    refused.refusals.iter().any(|refusal| is(&refusal))
}

/// What is wrong, in one line without foreign text.
pub fn headline(refused: &PlanRefusal) -> String {
    let mut kinds: Vec<(RefusalKind, usize)> = Vec::new();
    for refusal in &refused.refusals {
        let kind = refusal_kind(&refusal.reason);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    let failing: usize = kinds.iter().filter(|((noun, ..), _)| *noun == "edit").map(|(_, n)| n).sum();
    let edits = failing + refused.fitting.len();
    let mut whole_told = false;
    let mut parts = Vec::new();
    for ((noun, one, many), count) in kinds {
        let subject = match noun {
            "" => String::new(),
            "edit" if edits == 1 => "the edit ".to_string(),
            "edit" if !whole_told => format!("{count} of {} ", pluralize(edits, "edit")),
            "edit" => format!("{count} "),
            noun => format!("{} ", pluralize(count, noun)),
        };
        whole_told |= noun == "edit";
        parts.push(format!("{subject}{}", if count == 1 { one } else { many }));
    }
    parts.join(", ")
}

/// Said of an answer that changes nothing.
const NO_CHANGES: &str = "no file changes found in this text";

/// What is counted, and what is said of one and of several.
type RefusalKind = (&'static str, &'static str, &'static str);

fn refusal_kind(reason: &RefusalReason) -> RefusalKind {
    match reason {
        RefusalReason::NotFound { .. } => ("edit", "does not match", "do not match"),
        RefusalReason::Ambiguous { .. } => ("edit", "fits in several places", "fit in several places"),
        RefusalReason::Hunk { .. } => ("edit", "cannot be carried out", "cannot be carried out"),
        RefusalReason::Conflict { .. } => ("change", "does not fit the project", "do not fit the project"),
        RefusalReason::Encoding { .. } => ("file", "cannot be edited as text", "cannot be edited as text"),
        RefusalReason::Limit { .. } => ("", "over a limit", "over a limit"),
        RefusalReason::Unread { .. } => ("block", "cannot be read", "cannot be read"),
        RefusalReason::Nothing { .. } => ("", NO_CHANGES, NO_CHANGES),
    }
}

fn entry(refusal: &RefusalEntry, style: &OutputStyle) -> String {
    if let RefusalReason::Nothing { text } = &refusal.reason {
        return style.wrap_if_narrow(&format!("  {}", style.safe(text)), 2) + "\n";
    }
    let mut out = style.wrap_if_narrow(&format!("  {}", place(refusal, style)), 4) + "\n";
    match &refusal.reason {
        RefusalReason::NotFound { wanted, nearest, .. } => out += &missing(wanted, nearest.as_ref(), style),
        RefusalReason::Ambiguous { wanted, places, count, .. } => {
            out += &looked_for(first_line(wanted), style);
            let lines: Vec<String> = places.iter().map(ToString::to_string).collect();
            let more = match count.saturating_sub(places.len()) {
                0 => lines.join(", "),
                more => format!("{} and {more} more", lines.join(", ")),
            };
            let said = format!(
                "    is there {count} times, at lines {more}; more surrounding lines would tell which"
            );
            out += &(style.wrap_if_narrow(&said, 4) + "\n");
        }
        RefusalReason::Hunk { text, .. }
        | RefusalReason::Conflict { text }
        | RefusalReason::Encoding { text }
        | RefusalReason::Limit { text }
        | RefusalReason::Unread { text }
        | RefusalReason::Nothing { text } => {
            out += &(style.wrap(&format!("    {}", style.safe(text)), 4) + "\n");
        }
    }
    out
}

fn place(refusal: &RefusalEntry, style: &OutputStyle) -> String {
    let mut out = match &refusal.path {
        Some(path) => style.path_in(path.as_str(), 3),
        None => String::new(),
    };
    if let RefusalReason::NotFound { hunk, .. }
    | RefusalReason::Ambiguous { hunk, .. }
    | RefusalReason::Hunk { hunk, .. } = refusal.reason
    {
        out += &format!(", edit {hunk}");
    }
    match (refusal.line, out.is_empty()) {
        (0, true) => "the answer".to_string(),
        (0, false) => out,
        (line, true) => format!("line {line} of the answer"),
        (line, false) => format!("{out} (line {line} of the answer)"),
    }
}

fn first_line(hunk: &Hunk) -> &str {
    let lines = hunk.before.iter().map(String::as_str);
    lines.clone().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

fn missing(wanted: &Hunk, nearest: Option<&NearestPlace>, style: &OutputStyle) -> String {
    let Some(nearest) = nearest else {
        let said = style.wrap("    nothing in the file looks like it", 4);
        return looked_for(first_line(wanted), style) + &said + "\n";
    };
    let first = nearest.first_difference;
    let said = wanted.before.get(first).map_or("", String::as_str);
    let mut out = looked_for(said, style);
    match nearest.text.get(first) {
        Some(real) => {
            let line = StyledText::painted(style, PaintRole::Dim, &format!("line {}", nearest.line + first));
            if style.is_tight(BESIDE) {
                let head = StyledText::plain("    nearest, ").append(&line);
                return out + &format!("{}\n", head.text) + &below(real, style);
            }
            let room = style.columns().saturating_sub(BESIDE + 2 + line.cells);
            let text = format!("    nearest      {}", quoted(real, room, style));
            out += &justified_line(style, &StyledText::plain(&text), &line);
        }
        None if style.is_tight(BESIDE) => {
            out += &(style.wrap("    nearest: the file ends before it", 6) + "\n");
        }
        None => out += "    nearest      the file ends before it\n",
    }
    out
}

/// Cells before a quoted line.
const BESIDE: usize = 17;

/// A line of code, or a stand-in for a blank one.
fn quoted(line: &str, room: usize, style: &OutputStyle) -> String {
    match style.excerpt(line, room) {
        text if text.is_empty() => "(an empty line)".to_string(),
        text => text,
    }
}

fn looked_for(line: &str, style: &OutputStyle) -> String {
    if style.is_tight(BESIDE) {
        return format!("    looked for\n{}", below(line, style));
    }
    let room = style.columns().saturating_sub(BESIDE);
    format!("    looked for   {}\n", quoted(line, room, style))
}

/// A quoted line below its label.
fn below(line: &str, style: &OutputStyle) -> String {
    const INDENT: usize = 6;
    let room = style.columns().saturating_sub(INDENT);
    let text = style.wrap(&format!("{}{}", " ".repeat(INDENT), quoted(line, room, style)), INDENT);
    format!("{text}\n")
}

/// `edit 1 fits; edit 3 is already in`, for a file that also has failing edits.
fn fitting_in(fitting: &[FittingHunk], path: &RelPath) -> Option<String> {
    let here = |state: HunkState| {
        let hunks = fitting.iter().filter(move |h| h.path == *path && h.report.state == state);
        hunks.map(|h| h.hunk).collect::<Vec<usize>>()
    };
    let mut parts = Vec::new();
    for (state, one, many) in
        [(HunkState::Applied, "fits", "fit"), (HunkState::AlreadyIn, "is already in", "are already in")]
    {
        let edits = here(state);
        let numbers: Vec<String> = edits.iter().take(LIST_LIMIT).map(usize::to_string).collect();
        match edits.len() {
            0 => {}
            1 => parts.push(format!("edit {} {one}", numbers.join(", "))),
            n if n <= LIST_LIMIT => parts.push(format!("edits {} {many}", numbers.join(", "))),
            n => parts.push(format!("{n} edits {many}")),
        }
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The edits of files without failing ones.
fn fitting_elsewhere(refused: &PlanRefusal, style: &OutputStyle) -> String {
    /// Most files that are named.
    const NAMED: usize = 3;
    let failing: HashSet<&RelPath> = refused.refusals.iter().filter_map(|r| r.path.as_ref()).collect();
    let mut paths: Vec<&RelPath> = refused.fitting.iter().map(|hunk| &hunk.path).collect();
    paths.retain(|path| !failing.contains(path));
    let edits = paths.len();
    paths.dedup();
    if paths.len() > NAMED {
        return style.wrap(&format!("  {edits} edits of {} other files fit", paths.len()), 4) + "\n";
    }
    let line = |path: &RelPath| {
        let fits = fitting_in(&refused.fitting, path).unwrap_or_default();
        style.wrap_if_narrow(&format!("  {}: {fits}", style.path_in(path.as_str(), 3)), 4) + "\n"
    };
    paths.into_iter().map(line).collect()
}
