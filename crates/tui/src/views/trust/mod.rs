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
use relaycode_text::width::cells;

use super::outcome;
use crate::layout::style::{OutputStyle, PaintRole};
use crate::pluralize;

/// Blanks in a row that are shown as such.
const BLANKS: usize = 7;
/// Names up to this width are filled up so that the values stand below one another.
const NAME_CELLS: usize = 28;

/// What it wants; against what it wanted `before`, where the user said yes to that.
pub fn text(wants: &TrustRequest, before: Option<&TrustRequest>, look: &OutputStyle) -> String {
    let mut out = look.wrap(&headline(wants), 2) + "\n";
    let old = before.unwrap_or(wants);
    out += &rows(&compare(&old.commands, &wants.commands), look);
    let settings = compare(&old.settings, &wants.settings);
    if !settings.is_empty() {
        out += &outcome::indented_line(look, "these settings decide who approves");
        out += &rows(&settings, look);
    }
    let git = compare(&old.git, &wants.git);
    if !git.is_empty() {
        out += &outcome::indented_line(look, "the repository runs these on `relay git commit`");
        out += &rows(&git, look);
    }
    out
}

/// `from relaycode.config.json, not seen before`
pub fn source_phrase(
    wants: &TrustRequest,
    before: Option<&TrustRequest>,
    config: &str,
    look: &OutputStyle,
) -> String {
    let seen = match before {
        None => "not seen before",
        Some(before) if before == wants => "trusted as it is",
        Some(_) => "changed since you trusted it",
    };
    format!("from {}, {seen}", look.safe(config))
}

fn headline(wants: &TrustRequest) -> String {
    let commands = pluralize(wants.commands.len(), "command");
    match (wants.commands.is_empty(), wants.settings.is_empty()) {
        (true, true) => "this project wants nothing that needs trust".to_string(),
        (false, true) => format!("this project wants to run {commands}"),
        (false, false) => format!("this project wants to run {commands} and to say who approves"),
        (true, false) => "this project wants to say who approves".to_string(),
    }
}

/// One name and its value, and whether that is new or gone.
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

fn rows(rows: &[TrustRow<'_>], look: &OutputStyle) -> String {
    let names: Vec<String> = rows.iter().map(|row| look.safe(row.name).into_owned()).collect();
    let width = names.iter().map(|name| cells(name)).filter(|width| *width <= NAME_CELLS).max().unwrap_or(0);
    let mut out = String::new();
    for (row, name) in rows.iter().zip(&names) {
        let value = look.safe(row.value);
        let value = count_blanks(if value.is_empty() { "(nothing)" } else { &value });
        let gap = " ".repeat(width.saturating_sub(cells(name)) + 3);
        let beside = 4 + cells(name) + gap.len();
        let below = look.is_tight(beside);
        let indent = if below { 6 } else { beside };
        let room = look.width.map_or(usize::MAX, |columns| columns.saturating_sub(indent).max(1));
        let value = fold(&value, room).join(&format!("\n{}", " ".repeat(indent)));
        let text = match below {
            true => {
                let name = fold(name, look.columns().saturating_sub(4).max(1)).join("\n    ");
                format!("  {} {name}\n{}{value}", row.sign, " ".repeat(indent))
            }
            false => format!("  {} {name}{gap}{value}", row.sign),
        };
        out += &match row.sign {
            "+" => look.paint(PaintRole::Good, &text),
            "-" => look.paint(PaintRole::Bad, &text),
            _ => text,
        };
        out.push('\n');
    }
    out
}

/// The text with long runs of blanks counted.
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

/// The text in lines of at most `room` cells, broken after a blank where there is one in their second
/// half, anywhere else. Every character is there.
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
