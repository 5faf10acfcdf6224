//! A record: what was done, when, where it came from, and what its author said.
//!
//! ```text
//! 3f9c1e2a  feat: round totals to cents                            3 files  +24 −5
//!     M  src/cart.ts   +12 −5
//!   when       2026-03-10 14:02, 2 min ago
//!   from       stdin, on main at 9e101c6
//! ```

use relaycode_change::plan::FileChangeKind;
use relaycode_ledger::TxId;
use relaycode_ledger::record::{FileRecord, Record, title};

use super::card;
use crate::{
    Glyph, LIST_LIMIT, OutputStyle, PaintRole, StyledText, clock, labelled_line, line_counts, more_line,
    pluralize,
};

/// What happened to a transaction later.
#[derive(Debug, Clone, Copy, Default)]
pub struct RevertStatus {
    pub undone: bool,
    /// Some of its files were taken back.
    pub partly_undone: bool,
    pub reverted_by: Option<TxId>,
}

/// A record, and what of it is shown.
pub struct RecordView {
    pub record: Record,
    /// As much of its id as tells it from all others.
    pub short_id: String,
    pub revert_status: RevertStatus,
    /// The files that were asked for.
    pub files: Vec<FileRecord>,
}

pub fn file_change(record: &Record, file: &FileRecord) -> FileChangeKind {
    match (&file.before, &file.after) {
        (None, _) => FileChangeKind::Added,
        (_, None) if record.is_result_unknown(file) => FileChangeKind::Modified,
        (_, None) => FileChangeKind::Deleted,
        _ if file.renamed_from.is_some() => FileChangeKind::Renamed,
        _ => FileChangeKind::Modified,
    }
}

pub fn text(shown: &RecordView, style: &OutputStyle) -> String {
    let record = &shown.record;
    let mut out = head(shown, style);
    out += &rows(&shown.record, &shown.files, style);
    out += &directory_rows(&shown.record, style);
    let mut field = |name: &str, value: &str| {
        let label = StyledText::plain("  ").append(&StyledText::painted(style, PaintRole::Dim, name));
        out += &labelled_line(style, label, 2 + NAME, &style.safe(value));
    };
    field("id", &record.uuid.to_string());
    field("when", &format!("{}, {}", clock::local(&record.created_at), clock::ago(&record.created_at)));
    field("from", &origin(record));
    if let Some(group) = &record.group {
        field("group", group);
    }
    if let Some(by) = &record.decided_by {
        field("yes by", by);
    }
    for said in record.gate.iter().flat_map(|gate| gate.lines()) {
        field("checks", said);
    }
    let state = match &shown.revert_status {
        RevertStatus { undone: true, .. } => Some("undone"),
        RevertStatus { partly_undone: true, .. } => Some("partly undone"),
        _ => None,
    };
    if let Some(state) = state {
        let by = shown.revert_status.reverted_by.map(|id| format!(" by {}", id.short()));
        field("state", &format!("{state}{}", by.unwrap_or_default()));
    }
    for id in &record.revert_of {
        field("undoes", &id.short());
    }
    if let Some(asked) = &record.prompt_summary {
        field("asked for", &clipped(asked));
    }
    out += &message(record, style);
    out += &paragraphs_under("its author said", &record.reasoning, style);
    out += &listed("edits that did not match exactly", &record.matches, style);
    out += &listed("notes", &record.notes, style);
    out
}

/// Instead of a diff whose bytes are gone.
pub fn no_diff(file: &FileRecord, style: &OutputStyle) -> String {
    let text = format!("{}: its content is not kept any more", style.path_in(&file.path, 1));
    format!("\n{}\n", style.paint(PaintRole::Dim, &style.wrap_if_narrow(&text, 2)))
}

/// Cells of a field's name.
const NAME: usize = 11;
/// Most characters of a text that its author may have made long.
const CLIPPED: usize = 400;

fn head(shown: &RecordView, style: &OutputStyle) -> String {
    let files = &shown.files;
    let (added, removed) = files.iter().fold((0_usize, 0_usize), |(added, removed), file| {
        (added.saturating_add(file.added), removed.saturating_add(file.removed))
    });
    let totals = [StyledText::plain(&pluralize(files.len(), "file")), line_counts(style, added, removed)];
    let mark =
        if shown.revert_status.undone { format!(" {}", style.glyph(Glyph::Reverted)) } else { String::new() };
    let id = format!("{}{mark}  ", shown.short_id);
    card::title_with_totals(style, StyledText::plain(&id), &style.title(&title::title(&shown.record)), totals)
}

/// Where it came from, and what was checked out.
fn origin(record: &Record) -> String {
    let short = |commit: &String| commit.chars().take(7).collect::<String>();
    let place = match (&record.branch, record.head.as_ref().map(short)) {
        (Some(branch), Some(head)) => format!(", on {branch} at {head}"),
        (Some(branch), None) => format!(", on {branch}"),
        (None, Some(head)) => format!(", at {head}"),
        (None, None) => String::new(),
    };
    format!("{}{place}", record.origin)
}

fn rows(record: &Record, files: &[FileRecord], style: &OutputStyle) -> String {
    let rows = files.iter().map(|file| card::CardFileRow {
        letter: file_change(record, file).letter(),
        from: file.renamed_from.as_deref(),
        path: &file.path,
        counts: line_counts(style, file.added, file.removed),
        about: String::new(),
    });
    card::file_list(rows.collect(), 24, usize::MAX, style)
}

/// What became of directories, beyond those that came and went with files in them.
fn directory_rows(record: &Record, style: &OutputStyle) -> String {
    let holds = |directory: &str| {
        let inside = |path: &str| path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'));
        record.result.iter().any(|file| inside(&file.path) || inside(file.old_path()))
    };
    let row = |letter: char, path: &str, what: &str| {
        let line = format!("    {letter}  {}/  {what}", style.path_in(path, 7));
        format!("{}\n", line.trim_end())
    };
    let made = record.made_directories.iter().filter(|path| !holds(path)).map(|path| row('A', path, ""));
    let removed = record.removed_directories.iter().filter(|gone| !holds(&gone.path));
    let removed = removed.map(|gone| row('D', &gone.path, ""));
    let arrow = style.glyph(Glyph::Arrow);
    let modes = record
        .directory_modes
        .iter()
        .map(|change| row('M', &change.path, &format!("{:04o} {arrow} {:04o}", change.before, change.after)));
    made.chain(removed).chain(modes).take(LIST_LIMIT).collect()
}

/// Without its first line, which is the title.
fn message(record: &Record, style: &OutputStyle) -> String {
    let Some(message) = &record.git_commit_msg else {
        return String::new();
    };
    let lines: Vec<String> =
        message.lines().skip_while(|line| line.trim().is_empty()).skip(1).map(str::to_string).collect();
    let text = lines.join("\n").trim().to_string();
    if text.is_empty() { text } else { paragraphs_under("message", &[text], style) }
}

/// Paragraphs, clipped, under a heading.
fn paragraphs_under(heading: &str, paragraphs: &[String], style: &OutputStyle) -> String {
    /// Most paragraphs.
    const SHOWN: usize = 3;
    let paragraphs: Vec<&String> = paragraphs.iter().filter(|text| !text.trim().is_empty()).collect();
    if paragraphs.is_empty() {
        return String::new();
    }
    let mut out = format!("  {}\n", style.paint(PaintRole::Dim, heading));
    for text in paragraphs.iter().take(SHOWN) {
        for line in clipped(text).lines() {
            let line = style.wrap(&format!("    {}", style.safe(line)), 4);
            out += &format!("{}\n", line.trim_end());
        }
    }
    if paragraphs.len() > SHOWN {
        let more =
            format!("and {} more; --json has it all", pluralize(paragraphs.len() - SHOWN, "paragraph"));
        out += &format!("{}\n", style.paint(PaintRole::Dim, &style.wrap(&format!("    {more}"), 4)));
    }
    out
}

fn clipped(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(CLIPPED) {
        Some((at, _)) => format!("{} ...", text[..at].trim_end()),
        None => text.to_string(),
    }
}

fn listed(heading: &str, lines: &[String], style: &OutputStyle) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let heading = style.wrap(&format!("  {heading}"), 2);
    let mut out = format!("{}\n", style.paint(PaintRole::Dim, &heading));
    for line in lines.iter().take(LIST_LIMIT) {
        out += &(style.wrap(&format!("    {}", style.safe(line)), 6) + "\n");
    }
    out + &more_line(style, "    ", lines.len())
}
