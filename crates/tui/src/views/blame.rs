//! Who wrote which line.

use relaycode_ledger::record::Record;

use super::outcome;
use crate::layout::clock;
use crate::layout::style::{OutputStyle, PaintRole};
use crate::{StyledText, labelled_line};

/// One line and who wrote it.
pub struct BlameRow<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// What it says.
    pub text: &'a str,
    /// `None`: not relay.
    pub record: Option<&'a Record>,
}

/// Cells of a title in the list.
const TITLE: usize = 28;

/// Every line: the change that wrote it, its number and its text.
pub fn text_of_all(lines: &[BlameRow<'_>], look: &OutputStyle) -> String {
    let width = lines.last().map_or(1, |line| line.number.to_string().len());
    // Half of a narrow terminal is for the code.
    let room =
        if look.is_narrow() { TITLE.min((look.columns() / 2).saturating_sub(12 + width)) } else { TITLE };
    let mut text = String::new();
    for line in lines {
        let (id, title) = match line.record {
            Some(record) => (record.uuid.short(), title(record)),
            None => (String::new(), String::new()),
        };
        let title = look.clip(&title, room);
        let blanks = " ".repeat(room.saturating_sub(relaycode_text::width::cells(&title)));
        let title = look.paint(PaintRole::Dim, &title);
        let code = look.code(line.text);
        text += format!("{id:8}  {title}{blanks}  {:>width$}  {code}", line.number).trim_end();
        text.push('\n');
    }
    text
}

/// One line, with everything that is known of the change that wrote it.
pub fn text_of_one(line: &BlameRow<'_>, look: &OutputStyle) -> String {
    let mut text = format!("{}  {}\n", line.number, look.code(line.text));
    let Some(record) = line.record else {
        return text
            + &outcome::indented_line(
                look,
                "not written by relay: it was there before, or somebody edited it",
            );
    };
    let when = clock::ago(&record.created_at);
    let rows = [
        ("change", format!("{}, {when}, from {}", record.uuid.short(), record.origin)),
        ("message", record.git_commit_msg.clone().unwrap_or_default()),
        ("asked for", record.prompt_summary.clone().unwrap_or_default()),
    ];
    for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        let label = StyledText::plain(&format!("  {name}"));
        text += &match look.is_narrow() {
            true => labelled_line(look, label, 13, &look.safe(value)),
            false => format!("{}{}\n", label.padded(13).text, look.safe(value)),
        };
    }
    text += &outcome::indented_line(look, &format!("`relay show {}` shows all of it", record.uuid.short()));
    text
}

fn title(record: &Record) -> String {
    let said = record.git_commit_msg.as_ref().or(record.prompt_summary.as_ref());
    said.and_then(|text| text.lines().next()).unwrap_or(&record.origin).to_string()
}
