//! Who wrote which line.

use relaycode_ledger::record::{Record, title};

use crate::{OutputStyle, PaintRole, StyledText, cells, clock, labelled_line, outcome};

pub struct BlameRow<'a> {
    /// From 1.
    pub number: usize,
    pub text: &'a str,
    /// `None`: not written by relay.
    pub record: Option<&'a Record>,
}

/// Most cells of a title beside its lines.
const TITLE: usize = 28;
/// … and least; with less room, titles stand below.
const SHORTEST_TITLE: usize = 12;
/// Cells that code gets before titles stand beside it.
const CODE: usize = 80;

/// Every line: the change that wrote it, its number and its text. Where the titles of changes would take room from the
/// code, they stand below it.
///
/// ```text
/// 3f9c1e2a   1  export function total(items) {
///            2    return sum(items);
///
/// 3f9c1e2a  2 min ago  feat: round totals to cents
/// ```
pub fn text_of_all(lines: &[BlameRow<'_>], style: &OutputStyle) -> String {
    let width = lines.last().map_or(1, |line| line.number.to_string().len());
    let beside = |columns: usize| columns.saturating_sub(ID + 2 + 2 + width + 2 + CODE).min(TITLE);
    let room = style.width.map_or(TITLE, beside);
    let has_titles = room >= SHORTEST_TITLE;
    let mut text = String::new();
    for line in lines {
        let id = line.record.map(|record| record.uuid.short()).unwrap_or_default();
        let title = match has_titles {
            true => {
                let title = line.record.map(title::title).unwrap_or_default();
                let title =
                    StyledText::painted(style, PaintRole::Dim, &style.clip(&style.title(&title), room));
                title.padded(room).text + "  "
            }
            false => String::new(),
        };
        let code = style.code(line.text);
        let line = format!("{id:ID$}  {title}{:>width$}  {code}", line.number);
        text += &format!("{}\n", line.trim_end());
    }
    if !has_titles {
        text += &legend(lines, style);
    }
    text
}

/// Cells of an id.
const ID: usize = 8;

/// The changes that wrote lines, in the order in which they appear.
fn legend(lines: &[BlameRow<'_>], style: &OutputStyle) -> String {
    let mut records: Vec<&Record> = Vec::new();
    for record in lines.iter().filter_map(|line| line.record) {
        if records.iter().all(|known| known.uuid != record.uuid) {
            records.push(record);
        }
    }
    let times: Vec<String> =
        records.iter().map(|record| style.clip(&clock::ago(&record.created_at), TIME)).collect();
    let widest = times.iter().map(|time| cells(time)).max().unwrap_or(0);
    let mut text = String::new();
    for (record, time) in records.iter().zip(times) {
        let time = StyledText::painted(style, PaintRole::Dim, &time).padded(widest);
        let lead = StyledText::plain(&format!("{:ID$}  ", record.uuid.short())).append(&time);
        let room = style.columns().saturating_sub(lead.cells + 2);
        let title = style.clip(&style.title(&title::title(record)), room);
        text += &format!("{}\n", format!("{}  {title}", lead.text).trim_end());
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// Most cells of a time; anything longer is not a time.
const TIME: usize = 14;

/// One line, with everything known about the change that wrote it.
pub fn text_of_one(line: &BlameRow<'_>, style: &OutputStyle) -> String {
    let mut text = format!("{}  {}\n", line.number, style.code(line.text));
    let Some(record) = line.record else {
        let said = "not written by relay: it was there before, or somebody edited it";
        return text + &outcome::indented_line(style, said);
    };
    let (when, title) = (clock::ago(&record.created_at), title::title(record));
    let rows = [
        ("change", format!("{}, {when}, from {}", record.uuid.short(), record.origin)),
        ("title", style.title(&title).into_owned()),
        ("asked for", record.prompt_summary.clone().filter(|asked| *asked != title).unwrap_or_default()),
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
