//! What a project wants to be trusted with: its commands and the settings that decide who approves.
//!
//! ```text
//! this project wants to run 2 commands
//!   - linter        tsc
//!   + linter        tsc --noEmit
//!     postCommand   make fmt
//! ```
//!
//! What is trusted is seen whole: long command lines are folded and never cut, and a run of blanks that
//! could push the rest out of sight is counted instead.

#[cfg(test)]
mod tests;

use relaycode_project::trust::TrustRequest;

use crate::{OutputStyle, PaintRole, cells, outcome, pluralize};

/// Longest run of blanks shown as such.
const BLANKS: usize = 7;
/// Names up to this width are padded so that the values align.
const NAME_CELLS: usize = 28;

/// What it wants, compared to what the user trusted `before`.
pub fn text(requested: &TrustRequest, before: Option<&TrustRequest>, style: &OutputStyle) -> String {
    let mut out = style.wrap(&headline(requested), 2) + "\n";
    let old = before.unwrap_or(requested);
    let commands = compare(&old.commands, &requested.commands);
    out += &rows(&commands, style);
    let settings = compare(&old.settings, &requested.settings);
    if !settings.is_empty() {
        out += &outcome::indented_line(style, "these settings decide who approves");
        out += &rows(&settings, style);
    }
    let git = compare(&old.git, &requested.git);
    let alone = commands.is_empty() && settings.is_empty();
    if !git.is_empty() && !alone {
        out += &outcome::indented_line(style, "the repository runs these on `relay git commit`");
    }
    out += &rows(&git, style);
    out
}

/// `from relaycode.config.json, not seen before`
pub fn source_phrase(
    requested: &TrustRequest,
    before: Option<&TrustRequest>,
    config: &str,
    style: &OutputStyle,
) -> String {
    let seen = match before {
        None => "not seen before",
        Some(before) if before == requested => "trusted as it is",
        Some(_) => "changed since you trusted it",
    };
    format!("from {}, {seen}", style.safe(config))
}

fn headline(requested: &TrustRequest) -> String {
    let commands = pluralize(requested.commands.len(), "command");
    match (requested.commands.is_empty(), requested.settings.is_empty()) {
        (true, true) if !requested.git.is_empty() => {
            let programs = pluralize(requested.git.len(), "program");
            format!("this repository wants to run {programs} on `relay git commit`")
        }
        (true, true) => "this project wants nothing that needs trust".to_string(),
        (false, true) => format!("this project wants to run {commands}"),
        (false, false) => format!("this project wants to run {commands} and to say who approves"),
        (true, false) => "this project wants to say who approves".to_string(),
    }
}

/// A name and its value, and whether that is new or gone.
struct TrustRow<'a> {
    sign: &'static str,
    name: &'a str,
    value: &'a str,
}

type NamedValue = (String, String);

fn compare<'a>(old: &'a [NamedValue], new: &'a [NamedValue]) -> Vec<TrustRow<'a>> {
    let row = |sign, (name, value): &'a NamedValue| TrustRow { sign, name, value };
    let mut rows = Vec::new();
    for entry in new {
        if old.contains(entry) {
            rows.push(row(" ", entry));
            continue;
        }
        rows.extend(old.iter().filter(|was| was.0 == entry.0 && !new.contains(was)).map(|was| row("-", was)));
        rows.push(row("+", entry));
    }
    let gone = old.iter().filter(|was| new.iter().all(|(name, _)| *name != was.0));
    rows.extend(gone.map(|was| row("-", was)));
    rows
}

fn rows(rows: &[TrustRow<'_>], style: &OutputStyle) -> String {
    let names: Vec<String> = rows.iter().map(|row| style.safe(row.name).into_owned()).collect();
    let width = names.iter().map(|name| cells(name)).filter(|width| *width <= NAME_CELLS).max().unwrap_or(0);
    let mut out = String::new();
    for (row, name) in rows.iter().zip(&names) {
        let value = style.safe(row.value);
        let value = count_blanks(if value.is_empty() { "(nothing)" } else { &value });
        let gap = " ".repeat(width.saturating_sub(cells(name)) + 3);
        let beside = 4 + cells(name) + gap.len();
        let below = style.is_tight(beside);
        let indent = if below { 6 } else { beside };
        let room = style.width.map_or(usize::MAX, |columns| columns.saturating_sub(indent).max(1));
        let value = fold(&value, room).join(&format!("\n{}", " ".repeat(indent)));
        let text = match below {
            true => {
                let name = fold(name, style.columns().saturating_sub(4).max(1)).join("\n    ");
                format!("  {} {name}\n{}{value}", row.sign, " ".repeat(indent))
            }
            false => format!("  {} {name}{gap}{value}", row.sign),
        };
        out += &match row.sign {
            "+" => style.paint(PaintRole::Good, &text),
            "-" => style.paint(PaintRole::Bad, &text),
            _ => text,
        };
        out.push('\n');
    }
    out
}

/// Replaces long runs of blanks by their count.
fn count_blanks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(' ') {
        let run = rest[at..].len() - rest[at..].trim_start_matches(' ').len();
        out += &rest[..at];
        match run {
            ..=BLANKS => out.extend(std::iter::repeat_n(' ', run)),
            _ => out += &format!(" [{run} blanks] "),
        }
        rest = &rest[at + run..];
    }
    out + rest
}

/// Breaks the text into lines of at most `room` cells, after a blank in a line's second half if there is
/// one, otherwise anywhere. No character is lost.
fn fold(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for c in text.chars() {
        let width = cells(c.encode_utf8(&mut [0; 4]));
        if used + width > room && !line.is_empty() {
            let blank = line.rfind(' ').map(|at| at + 1).filter(|at| *at * 2 > line.len());
            let rest = blank.map(|at| line.split_off(at)).unwrap_or_default();
            used = cells(&rest);
            lines.push(std::mem::replace(&mut line, rest));
        }
        line.push(c);
        used += width;
    }
    lines.push(line);
    lines
}
