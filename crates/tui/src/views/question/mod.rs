//! The words around a question: why it is asked, the line that asks, what each key does, and the lists to
//! choose from.

#[cfg(test)]
mod tests;

use relaycode_change::diff::{DiffContent, DiffHunk, DiffLineKind, FileDiff};
use relaycode_change::plan::{FilePlan, Plan};
use relaycode_change::proposal::path::RelPath;
use relaycode_door::ApprovalReason;
use relaycode_ledger::{Digest, TxId};
use relaycode_project::trust::TrustRequest;

use super::{card, rules, trust};
use crate::{Glyph, OutputStyle, PaintRole, StyledText, cells, line_counts, narrow};

pub type QuestionKeys = &'static [(&'static str, &'static str)];

pub const APPLY_KEYS: QuestionKeys = &[
    ("y", "put it on disk, every file or none; `relay undo` undoes it"),
    ("n", "leave everything as it is (so does Enter); a reason may follow: `n the tests are missing`"),
    ("r", "say no with a reason for your model"),
    ("d", "show the diff; `d` and the number or path of a file shows only that one"),
    ("s", "the same side by side"),
    ("f", "pick files, or single places in them"),
    ("e", "edit the result in your editor, then be asked again"),
    ("w", "say which rule made relay ask"),
];

pub const KEEP_KEYS: QuestionKeys = &[
    ("y", "keep it as it is on disk now; `relay undo` undoes it"),
    ("n", "put everything back (so does Enter); a reason may follow"),
    ("r", "say no with a reason for your model"),
    ("d", "show the diff; `d` and the number or path of a file shows only that one"),
    ("s", "the same side by side"),
    ("o", "show what the commands printed"),
    ("w", "say which rule made relay ask"),
];

pub const TRUST_KEYS: QuestionKeys = &[
    ("y", "trust exactly this from now on; when it changes, you are asked again"),
    ("n", "go on without it (so does Enter): nothing of it runs"),
    ("w", "say why relay asks"),
];

pub const NEW_CHANGE_KEYS: QuestionKeys = &[
    ("y", "it is a new change: it gets an id of its own"),
    ("n", "leave everything as it is (so does Enter)"),
    ("w", "say why relay asks"),
];

/// `  apply? [y/N]  d diff · f pick · e edit · w why · ?  `
pub fn apply_prompt(style: &OutputStyle) -> String {
    prompt_line("apply? [y/N] ", &["d diff", "f pick", "e edit", "w why", "?"], style)
}

/// `  keep? [y/N]  d diff · o output · w why · ?  `
pub fn keep_prompt(style: &OutputStyle) -> String {
    prompt_line("keep? [y/N] ", &["d diff", "o output", "w why", "?"], style)
}

/// `  from relaycode.config.json, not seen before. Run them from now on? [y/N] w ?  `
pub fn trust_prompt(
    requested: &TrustRequest,
    before: Option<&TrustRequest>,
    config: &str,
    style: &OutputStyle,
) -> String {
    let question = match requested.commands.len() {
        0 => "Go by it from now on?",
        1 => "Run it from now on?",
        _ => "Run them from now on?",
    };
    let source = trust::source_phrase(requested, before, config, style);
    two_parts(&format!("  {source}."), &format!("{question} [y/N] w ?"), 2, style)
}

/// `  is this a new change? [y/N]  w why · ?  `
pub fn new_change_prompt(style: &OutputStyle) -> String {
    prompt_line("is this a new change? [y/N] ", &["w why", "?"], style)
}

fn prompt_line(question: &str, keys: &[&str], style: &OutputStyle) -> String {
    let dot = style.glyph(Glyph::Dot);
    let all = keys.join(&format!(" {dot} "));
    let room = style.columns().saturating_sub(TYPED);
    if style.is_narrow() && cells(&all) + 4 > room {
        // A key and its word stay together.
        let (last, others) = keys.split_last().unwrap_or((&"", &[]));
        let mut parts: Vec<StyledText> =
            others.iter().map(|key| StyledText::plain(&format!("{key} {dot}"))).collect();
        parts.push(StyledText::plain(last));
        let bounded = OutputStyle { width: Some(room), ..*style };
        let keys = narrow::flow_parts(&bounded, StyledText::plain("    "), 4, 1, &parts);
        let question = bounded.wrap(&format!("  {}", question.trim_end()), 4);
        return format!("{question}\n{}  ", keys.trim_end());
    }
    two_parts(&format!("  {question}"), &all, 4, style)
}

/// Cells for the answer: two blanks and a letter.
const TYPED: usize = 3;

/// The line that asks, with room for the answer; if it is too long, the second part begins its own line.
fn two_parts(first: &str, second: &str, indent: usize, style: &OutputStyle) -> String {
    let width = style.width.map(|columns| columns.saturating_sub(TYPED));
    let style = OutputStyle { width, ..*style };
    let line = format!("{first} {second}");
    if width.is_none_or(|columns| cells(&line) <= columns) {
        return line + "  ";
    }
    let second = format!("{}{second}", " ".repeat(indent));
    format!("{}\n{}  ", style.wrap(first.trim_end(), indent), style.wrap(&second, indent))
}

/// One line per key.
pub fn key_help(keys: QuestionKeys, style: &OutputStyle) -> String {
    let all = keys.iter().chain(&[("?", "show this")]);
    all.map(|(key, does)| style.wrap(&format!("    {key}  {does}"), 7) + "\n").collect()
}

/// Why "apply?" is asked, as far as the card does not show it.
pub fn reasons(rules: &[ApprovalReason], plan: &Plan, style: &OutputStyle) -> String {
    let on_card = |reason: &&ApprovalReason| {
        reason.finding.as_ref().is_some_and(|finding| plan.findings.contains(finding))
    };
    let open = rules.iter().filter(|reason| !on_card(reason)).filter_map(|reason| reason.notice.as_deref());
    let lines: Vec<String> = open.map(|notice| style.safe(notice).into_owned()).collect();
    card::marked_list(&lines, &style.paint(PaintRole::Attention, "!"), style)
}

/// Another answer had the same id.
pub fn same_id_warning(id: TxId, style: &OutputStyle) -> String {
    let said = format!("{} was the id of another answer, which is in the ledger already", id.short());
    super::outcome::warning_line(style, &said)
}

/// Why the question about the same id is asked.
pub fn explain_new_change(answer: Digest, style: &OutputStyle) -> String {
    let said = "  an id stands for one change: a second answer under it is a mistake of the model, or \
                somebody's trick. Nothing else covers this, not even `-y`";
    format!("{}\n{}", style.wrap(said, 2), rules::digest_line(answer, style))
}

/// Why trust is asked for.
pub fn explain_trust(digest: Digest, style: &OutputStyle) -> String {
    let said = "  commands that a project names run with your rights, so none runs before you said yes to \
                exactly it. A no is no obstacle: relay's own checks run, and you decide";
    format!("{}\n{}", style.wrap(said, 2), rules::digest_line(digest, style))
}

/// `! src/a.ts changed meanwhile: planned again`
pub fn replanned_warning(paths: &[RelPath], style: &OutputStyle) -> String {
    let first = paths.first().map_or("a file", |path| path.as_str());
    let more = match paths.len() {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let said = &format!("{}{more} changed meanwhile: planned again", style.safe(first));
    super::outcome::warning_line(style, said)
}

/// The changed files, numbered; with `places`, each hunk of those that have several.
pub fn numbered_files(files: &[(&FilePlan, &FileDiff)], places: bool, style: &OutputStyle) -> String {
    /// Most cells of the quoted line.
    const QUOTED: usize = 40;
    /// Cells of a place before that.
    const PLACE: usize = 36;
    let width = files.len().to_string().len();
    let room = style.columns().saturating_sub(width + 28).max(10);
    let room = if style.is_narrow() { usize::MAX } else { room };
    let names: Vec<String> = files.iter().map(|(file, _)| style.path(file.path.as_str(), room)).collect();
    let widest = names.iter().map(|name| cells(name)).max().unwrap_or(0);
    let lines =
        files.iter().map(|(file, _)| line_counts(style, file.added, file.removed).cells).max().unwrap_or(0);
    let stacked = style.is_narrow() && 4 + width + 5 + widest + 3 + lines > style.columns();
    let mut out = String::new();
    for (index, ((file, diff), name)) in files.iter().zip(&names).enumerate() {
        let number = index + 1;
        let (letter, lines) = (file.change.letter(), line_counts(style, file.added, file.removed));
        out += &match stacked {
            true => {
                let lead = StyledText::plain(&format!("  {number:>width$}  {letter}  "));
                narrow::file_rows_after(style, lead, (None, file.path.as_str()), &lines, "")
            }
            false => {
                let name = StyledText::plain(name).padded(widest).text;
                let text = format!("    {number:>width$}  {letter}  {name}   {}", lines.text);
                format!("{}\n", text.trim_end())
            }
        };
        for (index, hunk) in selectable_hunks(diff).iter().enumerate().filter(|_| places) {
            let number = format!("{number}.{}", index + 1);
            let (part, line, first) = place(hunk, style);
            if style.is_tight(PLACE) {
                let line = StyledText::plain(&format!("line {line}"));
                let parts = [StyledText::plain(&number), line, part];
                out += &narrow::flow_parts(style, StyledText::plain("    "), 6, 2, &parts);
                let first = style.excerpt(first, style.columns().saturating_sub(6));
                out += &format!("{}\n", format!("      {}", style.paint(PaintRole::Dim, &first)).trim_end());
                continue;
            }
            let left = format!("         {number:<6} line {line:<5} ");
            let room = style.columns().saturating_sub(left.len() + part.cells + 3).min(QUOTED);
            let quoted = style.paint(PaintRole::Dim, &style.excerpt(first, room));
            out += &format!("{}\n", format!("{left}{}   {quoted}", part.text).trim_end());
        }
    }
    out
}

/// The hunks of a file that can be picked one by one: none if there is only one.
pub fn selectable_hunks(diff: &FileDiff) -> &[DiffHunk] {
    match &diff.content {
        DiffContent::Text { hunks, endings }
            if hunks.len() > 1 && !endings.is_some_and(|change| change.only) =>
        {
            hunks
        }
        _ => &[],
    }
}

/// A hunk's counts, and the number and text of its first changed line.
fn place<'a>(hunk: &'a DiffHunk, style: &OutputStyle) -> (StyledText, usize, &'a str) {
    let of = |kind: DiffLineKind| hunk.lines.iter().filter(|line| line.kind == kind).count();
    let first = |kind: DiffLineKind| hunk.lines.iter().find(|line| line.kind == kind);
    let first = first(DiffLineKind::Added).or_else(|| first(DiffLineKind::Removed));
    let (line, text) = first.map_or((hunk.new_start, ""), |line| {
        (line.new.or(line.old).unwrap_or(hunk.new_start), line.text.as_str())
    });
    (line_counts(style, of(DiffLineKind::Added), of(DiffLineKind::Removed)), line, text)
}

/// Asks which files and hunks are wanted, with examples that exist. `places`: how many each file has, 0 for one that is
/// taken whole.
pub fn pick_prompt(places: &[usize], style: &OutputStyle) -> String {
    let mut keys = match places.len() {
        0 | 1 => Vec::new(),
        2 => vec!["`1`".to_string(), "all but `-2`".to_string()],
        _ => vec!["`1 3`".to_string(), "all but `-2`".to_string()],
    };
    match example_place(places) {
        Some(place) => keys.extend([format!("place `{place}`"), format!("`d {place}` shows it")]),
        None => keys.push("`d 1` shows it".to_string()),
    }
    keys.push("Enter: back".to_string());
    two_parts("  which?", &keys.join(", "), 4, style)
}

/// What was typed is not among the files and places.
pub fn unknown_pick(word: &str, places: &[usize]) -> String {
    let files = match places.len() {
        0 | 1 => "1".to_string(),
        count => format!("1 to {count}"),
    };
    let example = example_place(places).map(|place| format!(", places such as {place}"));
    format!("`{word}` is none of these: {files}{}", example.unwrap_or_default())
}

/// The second place of the first file that has several.
fn example_place(places: &[usize]) -> Option<String> {
    let file = places.iter().position(|count| *count > 1)?;
    Some(format!("{}.2", file + 1))
}

/// A no with its reason, as text for the model that wrote the change; as shown.
pub fn rejection_preview(reason: &str, style: &OutputStyle) -> String {
    style.wrap(&rejection_message(&style.safe(reason)), 0)
}

/// … and as copied.
pub fn rejection_message(reason: &str) -> String {
    format!(
        "The change was not applied: {reason}. Please send a new version of it; the same id may be used.\n"
    )
}
