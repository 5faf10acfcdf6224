//! Who wrote which line.

use relaycode_ledger::record::Record;

use crate::{OutputStyle, PaintRole, StyledText, clock, labelled_line, outcome};

pub struct BlameRow<'a> {
    /// From 1.
    pub number: usize,
    pub text: &'a str,
    /// `None`: not written by relay.
    pub record: Option<&'a Record>,
}

/// Most cells of a title.
const TITLE: usize = 28;

/// Every line: the change that wrote it, its number and its text.
pub fn text_of_all(lines: &[BlameRow<'_>], style: &OutputStyle) -> String {
    let width = lines.last().map_or(1, |line| line.number.to_string().len());
    // Half of a narrow terminal is for the code.
    let room =
        if style.is_narrow() { TITLE.min((style.columns() / 2).saturating_sub(12 + width)) } else { TITLE };
    let mut text = String::new();
    for line in lines {
        let (id, title) = match line.record {
            Some(record) => (record.uuid.short(), title(record)),
            None => (String::new(), String::new()),
        };
        let title = style.clip(&title, room);
        let blanks = " ".repeat(room.saturating_sub(relaycode_text::width::cells(&title)));
        let title = style.paint(PaintRole::Dim, &title);
        let code = style.code(line.text);
        let line = format!("{id:8}  {title}{blanks}  {:>width$}  {code}", line.number);
        text += &format!("{}\n", line.trim_end());
    }
    text
}

/// One line, with everything known about the change that wrote it.
pub fn text_of_one(line: &BlameRow<'_>, style: &OutputStyle) -> String {
    let mut text = format!("{}  {}\n", line.number, style.code(line.text));
    let Some(record) = line.record else {
        let said = "not written by relay: it was there before, or somebody edited it";
        return text + &outcome::indented_line(style, said);
    };
    let when = clock::ago(&record.created_at);
    let rows = [
        ("change", format!("{}, {when}, from {}", record.uuid.short(), record.origin)),
        ("message", record.git_commit_msg.clone().unwrap_or_default()),
        ("asked for", record.prompt_summary.clone().unwrap_or_default()),
    ];
    for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        let label = StyledText::plain(&format!("  {name}"));
        text += &match style.is_narrow() {
            true => labelled_line(style, label, 13, &style.safe(value)),
            false => format!("{}{}\n", label.padded(13).text, style.safe(value)),
        };
    }
    text + &outcome::indented_line(style, &format!("`relay show {}` shows all of it", record.uuid.short()))
}

fn title(record: &Record) -> String {
    let said = record.git_commit_msg.as_ref().or(record.prompt_summary.as_ref());
    said.and_then(|text| text.lines().next()).unwrap_or(&record.origin).to_string()
}
