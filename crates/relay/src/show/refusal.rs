//! A refusal: which edits do not fit and what is there instead, which ones do fit, what to do next.
//!
//! ```text
//! ✗ refused: 1 of 3 edits does not match                             nothing was changed
//!   src/cart.ts, edit 2 (line 41 of the answer)
//!     looked for   return items.reduce((sum, item) => {
//!     nearest      return items.reduce((total, item) => {                      line 87
//!   edit 1 fits; edit 3 is already in
//! ```

use relaycode_change::path::RelPath;
use relaycode_change::plan::{FittingHunk, HunkState, Nearest, Reason, Refusal, Refused};
use relaycode_change::proposal::{Hunk, Unread};

use super::{LISTED, Part, card, number, two_ended};
use crate::terminal::{Look, Paint, Sign};

/// The refusal. `next` is the command that writes a repair prompt, if there is one to point at.
pub(crate) fn text(
    refused: &Refused,
    unread: &[Unread],
    next: Option<&str>,
    look: &Look,
) -> String {
    let sign = look.paint(Paint::Bad, look.sign(Sign::Refused));
    let left = format!(" refused: {}", headline(refused));
    let left = Part {
        cells: 1 + Part::plain(&left).cells,
        text: format!("{sign}{left}"),
    };
    let state = Part::painted(look, Paint::Dim, "nothing was changed");
    let mut out = two_ended(look, &left, &state);
    let shown = &refused.refusals[..refused.refusals.len().min(LISTED)];
    for (index, refusal) in shown.iter().enumerate() {
        out += &entry(refusal, look);
        let ends_file = shown[index + 1..]
            .iter()
            .all(|later| later.path != refusal.path);
        if let (true, Some(path)) = (ends_file, &refusal.path) {
            out += &fitting_in(&refused.fitting, path);
        }
    }
    if refused.refusals.len() > LISTED {
        let more = format!("and {} more", refused.refusals.len() - LISTED);
        out += &format!("  {}\n", look.paint(Paint::Dim, &more));
    }
    out += &fitting_elsewhere(refused);
    let unread: Vec<Unread> = unread
        .iter()
        .filter(|b| !listed(refused, b))
        .cloned()
        .collect();
    out += &card::remarks(&refused.notes, &unread, look);
    if let Some(next) = next {
        out += &format!(
            "  next: `{}` writes a prompt for your model\n",
            look.safe(next)
        );
    }
    out
}

/// Whether a block that was not read is among the reasons already.
fn listed(refused: &Refused, block: &Unread) -> bool {
    let is = |r: &&Refusal| matches!(r.reason, Reason::Unread { .. }) && r.line == block.line;
    refused.refusals.iter().any(|refusal| is(&refusal))
}

/// What is wrong, in one line without foreign text.
pub(crate) fn headline(refused: &Refused) -> String {
    let count = |test: &dyn Fn(&Reason) -> bool| {
        refused.refusals.iter().filter(|r| test(&r.reason)).count()
    };
    let missing = count(&|r| matches!(r, Reason::NotFound { .. }));
    let ambiguous = count(&|r| matches!(r, Reason::Ambiguous { .. }));
    let blocked = count(&|r| matches!(r, Reason::Hunk { .. }));
    let others = refused.refusals.len() - missing - ambiguous - blocked;
    let edits = missing + ambiguous + blocked + refused.fitting.len();
    let verb = |n: usize, one: &str, many: &str| {
        if n == 1 {
            one.to_string()
        } else {
            many.to_string()
        }
    };
    let mut parts = Vec::new();
    if missing > 0 {
        parts.push((missing, verb(missing, "does not match", "do not match")));
    }
    if ambiguous > 0 {
        parts.push((
            ambiguous,
            verb(ambiguous, "fits in several places", "fit in several places"),
        ));
    }
    if blocked > 0 {
        parts.push((blocked, "cannot be carried out".to_string()));
    }
    let mut texts: Vec<String> = parts
        .into_iter()
        .enumerate()
        .map(|(index, (n, verb))| match index {
            0 => format!("{n} of {} {verb}", number(edits, "edit")),
            _ => format!("{n} {verb}"),
        })
        .collect();
    let only = refused.refusals.first().map(|r| &r.reason);
    match (others, only) {
        (0, _) => {}
        (1, Some(Reason::Nothing { .. })) => texts.push("there is nothing to do".to_string()),
        (_, _) => {
            let more = if texts.is_empty() { "" } else { "other " };
            texts.push(number(others, &format!("{more}problem")));
        }
    }
    texts.join(", ")
}

fn entry(refusal: &Refusal, look: &Look) -> String {
    if let Reason::Nothing { text } = &refusal.reason {
        return format!("  {}\n", look.safe(text));
    }
    let mut out = format!("  {}\n", place(refusal, look));
    match &refusal.reason {
        Reason::NotFound {
            wanted, nearest, ..
        } => out += &missing(wanted, nearest.as_ref(), look),
        Reason::Ambiguous {
            wanted,
            places,
            count,
            ..
        } => {
            out += &looked_for(first_line(wanted), look);
            let lines: Vec<String> = places.iter().map(ToString::to_string).collect();
            let more = match count.saturating_sub(places.len()) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let lines = lines.join(", ");
            out += &format!(
                "    is there {count} times, at lines {lines}{more}; more surrounding lines would tell which\n"
            );
        }
        Reason::Hunk { text, .. }
        | Reason::Conflict { text }
        | Reason::Encoding { text }
        | Reason::Limit { text }
        | Reason::Unread { text }
        | Reason::Nothing { text } => out += &format!("    {}\n", look.safe(text)),
    }
    out
}

fn place(refusal: &Refusal, look: &Look) -> String {
    let mut out = match &refusal.path {
        Some(path) => look.safe(path.as_str()).into_owned(),
        None => String::new(),
    };
    if let Reason::NotFound { hunk, .. }
    | Reason::Ambiguous { hunk, .. }
    | Reason::Hunk { hunk, .. } = refusal.reason
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
    lines
        .clone()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
}

fn missing(wanted: &Hunk, nearest: Option<&Nearest>, look: &Look) -> String {
    let Some(nearest) = nearest else {
        return looked_for(first_line(wanted), look) + "    nothing in the file looks like it\n";
    };
    let first = nearest.first_difference;
    let said = wanted.before.get(first).map_or("", String::as_str);
    let mut out = looked_for(said, look);
    match nearest.text.get(first) {
        Some(real) => {
            let line = Part::painted(look, Paint::Dim, &format!("line {}", nearest.line + first));
            let room = look.columns().saturating_sub(17 + 2 + line.cells);
            let text = format!("    nearest      {}", look.excerpt(real, room));
            out += &two_ended(look, &Part::plain(&text), &line);
        }
        None => out += "    nearest      the file ends before it\n",
    }
    out
}

fn looked_for(line: &str, look: &Look) -> String {
    let room = look.columns().saturating_sub(17);
    format!("    looked for   {}\n", look.excerpt(line, room))
}

/// `edit 1 fits; edit 3 is already in`, for a file that also has failing edits.
fn fitting_in(fitting: &[FittingHunk], path: &RelPath) -> String {
    let here = |state: HunkState| {
        let hunks = fitting
            .iter()
            .filter(move |h| h.path == *path && h.report.state == state);
        hunks.map(|h| h.hunk).collect::<Vec<usize>>()
    };
    let mut parts = Vec::new();
    for (state, one, many) in [
        (HunkState::Applied, "fits", "fit"),
        (HunkState::AlreadyIn, "is already in", "are already in"),
    ] {
        let edits = here(state);
        let numbers: Vec<String> = edits.iter().take(LISTED).map(usize::to_string).collect();
        match edits.len() {
            0 => {}
            1 => parts.push(format!("edit {} {one}", numbers.join(", "))),
            n if n <= LISTED => parts.push(format!("edits {} {many}", numbers.join(", "))),
            n => parts.push(format!("{n} edits {many}")),
        }
    }
    if parts.is_empty() {
        return String::new();
    }
    format!("  {}\n", parts.join("; "))
}

fn fitting_elsewhere(refused: &Refused) -> String {
    let failing = |path: &RelPath| {
        refused
            .refusals
            .iter()
            .any(|r| r.path.as_ref() == Some(path))
    };
    let mut paths: Vec<&RelPath> = refused.fitting.iter().map(|h| &h.path).collect();
    paths.retain(|path| !failing(path));
    let edits = paths.len();
    paths.dedup();
    match edits {
        0 => String::new(),
        1 => "  1 edit of another file is fine\n".to_string(),
        _ => format!(
            "  {edits} edits of {} are fine\n",
            number(paths.len(), "other file")
        ),
    }
}
