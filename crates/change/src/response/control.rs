//! The control block at the end of an answer: the project, the id, a message. YAML as models write it: read
//! strictly first, within a small budget, and line by line if that fails (`gitCommitMsg: feat: x` is not
//! YAML, and everybody knows what it means).
//!
//! What is not understood in here becomes a note. Only one thing stops a plan: a `changeSummary` that
//! lists files that blocks change and one that no block is about. That block is missing.

use std::collections::HashSet;
use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;

use super::file_names;
use super::lines::ResponseLines;
use crate::proposal::path::RelPath;
use crate::proposal::{ControlBlock, FileAction, Operation, ProposalNote, SummaryItem};

/// A longer control block is not read.
pub(super) const CONTROL_BYTES: usize = 64 * 1024;
/// Most rows of `changeSummary` that are read.
const SUMMARY_ROWS: usize = 1_000;
/// Most YAML nodes; twice as many parser events.
const YAML_NODES: usize = 8_192;
/// Deepest YAML nesting.
const YAML_DEPTH: usize = 8;

const KEYS: [&str; 5] = ["projectId", "uuid", "changeSummary", "promptSummary", "gitCommitMsg"];

/// Whether an info line leaves room for a control block.
pub(super) fn may_be_yaml(info: &str) -> bool {
    ["", "yaml", "yml", "text", "txt"].iter().any(|name| name.eq_ignore_ascii_case(info.trim()))
}

/// Whether a text has one of the two keys that make it a control block.
pub(super) fn has_control_keys(text: &str) -> bool {
    if !text.contains("projectId") && !text.contains("uuid") {
        return false;
    }
    text.lines().any(|line| leading_key(line).is_some_and(|(key, _)| ["projectId", "uuid"].contains(&key)))
}

/// Whether a control block certainly belongs to the answer, and not to a file in it whose fence is missing: nothing but
/// its own fence stands below it, and it names an id or, with that fence, a project.
pub(super) fn ends_answer(lines: &ResponseLines<'_>, block: Range<usize>) -> bool {
    let fence = lines.next_nonblank(block.end, lines.end());
    let is_last = fence.is_none_or(|line| {
        lines.get(line).trim_start().starts_with("```")
            && lines.next_nonblank(line + 1, lines.end()).is_none()
    });
    let is_name = |text: &str| !text.is_empty() && !text.contains(['$', '{', '<', '%']);
    let mut keys = block.into_iter().filter_map(|line| leading_key(lines.get(line)));
    is_last
        && keys.any(|(key, value)| {
            let value = value.trim().trim_matches(['"', '\'']);
            (key == "uuid" && uuid::Uuid::try_parse(value).is_ok())
                || (key == "projectId" && fence.is_some() && is_name(value))
        })
}

/// Reads a control block that begins on `line` (from 1).
pub(super) fn read(text: &str, line: usize) -> (ControlBlock, Vec<ProposalNote>) {
    let mut notes = Vec::new();
    if text.len() > CONTROL_BYTES {
        let text = format!("the control block has more than {CONTROL_BYTES} bytes and was not read");
        notes.push(ProposalNote { line, text });
        return (ControlBlock { present: true, ..ControlBlock::default() }, notes);
    }
    let mut control = read_yaml(text).unwrap_or_else(|| read_line_by_line(text, line, &mut notes));
    control.present = true;
    if let Some(id) = &control.uuid {
        match uuid::Uuid::try_parse(id) {
            Ok(id) => control.uuid = Some(id.hyphenated().to_string()),
            Err(_) => {
                let text = format!("`{}` is no uuid; the answer counts as having none", shown(id, 60));
                notes.push(ProposalNote { line, text });
                control.uuid = None;
            }
        }
    }
    (control, notes)
}

/// A control block without a fence: the last run of lines that look like YAML and have one of its keys.
pub(super) fn find_unfenced(lines: &ResponseLines<'_>, within: Range<usize>) -> Option<Range<usize>> {
    let text = lines.slice(within.clone());
    if !text.contains("projectId") && !text.contains("uuid") {
        return None;
    }
    let mut found = None;
    let mut at = within.start;
    while at < within.end {
        if leading_key(lines.get(at)).is_none_or(|(key, _)| !KEYS.contains(&key)) {
            at += 1;
            continue;
        }
        let below = (at + 1..within.end).find(|line| !is_yaml_line(lines.get(*line)));
        let next = below.unwrap_or(within.end);
        let end = lines.last_nonblank(next, at).map_or(next, |last| last + 1);
        if has_control_keys(lines.slice(at..end)) {
            found = Some(at..end);
        }
        at = next;
    }
    found
}

fn is_yaml_line(line: &str) -> bool {
    line.trim().is_empty()
        || line.starts_with([' ', '\t', '#'])
        || line.starts_with("- ")
        || leading_key(line).is_some()
}

/// The key at the beginning of a line, in quotes or not, and what follows its colon.
pub(super) fn leading_key(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.split_once(':')?;
    let key = key.trim_end().trim_matches(['"', '\'']);
    let word =
        !key.is_empty() && key.len() <= 40 && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (word && (rest.is_empty() || rest.starts_with([' ', '\t']))).then_some((key, rest.trim()))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ControlFields {
    project_id: Option<String>,
    uuid: Option<String>,
    change_summary: Option<Value>,
    prompt_summary: Option<Value>,
    git_commit_msg: Option<Value>,
}

/// `None` if it is not YAML, or exceeds the budget.
fn read_yaml(text: &str) -> Option<ControlBlock> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: YAML_NODES,
            max_events: 2 * YAML_NODES,
            max_depth: YAML_DEPTH,
            flow_nesting_limit: YAML_DEPTH,
            max_aliases: 0,
            max_anchors: 0,
            max_merge_keys: 0,
            max_documents: 1,
            max_total_scalar_bytes: CONTROL_BYTES,
        },
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::LastWins,
        strict_booleans: true,
        with_snippet: false,
    };
    let fields: ControlFields = serde_saphyr::from_str_with_options(text, options).ok()?;
    let said = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    Some(ControlBlock {
        present: true,
        project_id: said(fields.project_id),
        uuid: said(fields.uuid),
        git_commit_msg: said(fields.git_commit_msg.as_ref().and_then(as_text)),
        prompt_summary: said(fields.prompt_summary.as_ref().and_then(as_text)),
        change_summary: fields.change_summary.as_ref().map(summary).unwrap_or_default(),
    })
}

/// A value as text: a list is one line per item, `{feat: x}` is what `feat: x` was parsed as.
fn as_text(value: &Value) -> Option<String> {
    let joined = |parts: Vec<String>| (!parts.is_empty()).then(|| parts.join("\n"));
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => joined(items.iter().filter_map(as_text).collect()),
        Value::Object(map) => joined(
            map.iter().map(|(key, value)| format!("{key}: {}", as_text(value).unwrap_or_default())).collect(),
        ),
        other => Some(other.to_string()),
    }
}

fn summary(value: &Value) -> Vec<SummaryItem> {
    let mut items = Vec::new();
    let rows = match value {
        Value::Array(rows) => rows,
        row => std::slice::from_ref(row),
    };
    for (verb, path) in rows.iter().take(SUMMARY_ROWS).filter_map(Value::as_object).flatten() {
        let paths = match path {
            Value::Array(paths) => paths,
            path => std::slice::from_ref(path),
        };
        let item = |path| SummaryItem { verb: verb.clone(), path };
        items.extend(paths.iter().filter_map(summary_path).map(item));
    }
    items.truncate(SUMMARY_ROWS);
    items
}

fn summary_path(value: &Value) -> Option<String> {
    let text = match value {
        Value::Object(map) => format!("{} -> {}", as_text(map.get("from")?)?, as_text(map.get("to")?)?),
        other => as_text(other)?,
    };
    // Quoted blanks are meant; the line ending of a block scalar is not.
    Some(text.trim_end_matches('\n').to_owned()).filter(|text| !text.is_empty())
}

/// For what only looks like YAML.
fn read_line_by_line(text: &str, first: usize, notes: &mut Vec<ProposalNote>) -> ControlBlock {
    let mut control = ControlBlock::default();
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let begins = at;
        at += 1;
        let mut note = |text: String| {
            if notes.is_empty() {
                notes.push(ProposalNote { line: first + begins, text });
            }
        };
        let Some((key, value)) = leading_key(line) else {
            if !is_yaml_line(line) && !["---", "..."].contains(&line.trim()) {
                note(format!("the control block is not valid YAML here: `{}`", shown(line.trim(), 60)));
            }
            continue;
        };
        while at < lines.len() && (lines[at].trim().is_empty() || lines[at].starts_with([' ', '\t', '-'])) {
            at += 1;
        }
        let below = &lines[begins + 1..at];
        if value.starts_with(['[', '{', '&', '*', '!']) {
            let shown = shown(line.trim(), 60);
            note(format!("the control block is not read here, it is no plain value: `{shown}`"));
            continue;
        }
        match key {
            "projectId" => control.project_id = scalar(value, &[]),
            "uuid" => control.uuid = scalar(value, &[]),
            "promptSummary" => control.prompt_summary = scalar(value, below),
            "gitCommitMsg" => control.git_commit_msg = scalar(value, below),
            "changeSummary" => {
                let rows = below.iter().filter_map(|row| summary_row(row));
                control.change_summary = rows.take(SUMMARY_ROWS).collect();
            }
            _ => {}
        }
    }
    control
}

/// A scalar on the key's line, or the lines below it as a block or a list.
fn scalar(value: &str, below: &[&str]) -> Option<String> {
    let quoted = ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let block = value.is_empty() || value.starts_with(['|', '>']);
    let plain = |row: &&str| row.trim().strip_prefix("- ").unwrap_or(row.trim()).trim_matches('"').to_owned();
    let text = match block {
        true => below.iter().map(plain).collect::<Vec<_>>().join("\n"),
        false => quoted.unwrap_or(value).to_owned(),
    };
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn summary_row(row: &str) -> Option<SummaryItem> {
    let (verb, path) = row.trim().strip_prefix("- ")?.split_once(':')?;
    let unquoted = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    let (verb, path) = (unquoted(verb), unquoted(path));
    (!verb.is_empty() && !path.is_empty()).then_some(SummaryItem { verb, path })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum SummaryVerb {
    Write,
    Delete,
    Rename,
}

/// Compares `changeSummary` with the operations; each difference is a note, but a block that is missing is a
/// reason not to apply the others.
pub(super) fn compare_summary(
    control: &ControlBlock,
    operations: &[Operation],
    line: usize,
) -> (Vec<ProposalNote>, Vec<String>) {
    let mut missing = Vec::new();
    if control.change_summary.is_empty() {
        return (Vec::new(), missing);
    }
    let mut done: HashSet<(&str, SummaryVerb)> = HashSet::new();
    for operation in operations {
        let verb = match &operation.action {
            FileAction::Exact { after: Some(_), .. } | FileAction::Write { .. } => SummaryVerb::Write,
            FileAction::Exact { after: None, .. } | FileAction::Delete { .. } => SummaryVerb::Delete,
            FileAction::Rename { .. } => SummaryVerb::Rename,
        };
        done.extend(operation_paths(operation).map(|path| (path.as_str(), verb)));
    }
    let changed: HashSet<&str> = done.iter().map(|(path, _)| *path).collect();
    let rows: Vec<Vec<String>> = control.change_summary.iter().map(|item| item_paths(&item.path)).collect();
    // A summary that is about other files altogether says nothing about these.
    let is_of_these = rows.iter().flatten().any(|path| changed.contains(path.as_str()));
    let is_missing = |paths: &[String]| {
        is_of_these && paths.iter().all(|path| file_names::is_file(path) && !changed.contains(path.as_str()))
    };
    let mut notes = Vec::new();
    let mut listed: HashSet<String> = HashSet::new();
    for (item, paths) in control.change_summary.iter().zip(rows) {
        let Some(verb) = parse_verb(&item.verb) else { continue };
        if !paths.iter().any(|path| done.contains(&(path.as_str(), verb))) {
            let (verb, path) = (shown(&item.verb, 120), shown(&item.path, 120));
            let text = format!("changeSummary says `{verb}: {path}`, but no block does that");
            match is_missing(&paths) {
                true => missing.push(text + "; the answer may be incomplete"),
                false => notes.push(ProposalNote { line, text }),
            }
        }
        listed.extend(paths);
    }
    let mut told: HashSet<&str> = HashSet::new();
    for operation in operations {
        let path = operation.action.path();
        let is_listed = operation_paths(operation).any(|path| listed.contains(path.as_str()));
        if !is_listed && told.insert(path.as_str()) {
            let text = format!("`{path}` is changed by a block, but changeSummary does not list it");
            notes.push(ProposalNote { line: operation.line, text });
        }
    }
    (notes, missing)
}

/// The path of an operation, or both of a rename.
fn operation_paths(operation: &Operation) -> impl Iterator<Item = &RelPath> {
    let from = match &operation.action {
        FileAction::Rename { from, .. } => Some(from),
        _ => None,
    };
    from.into_iter().chain([operation.action.path()])
}

fn parse_verb(verb: &str) -> Option<SummaryVerb> {
    match verb.trim().to_ascii_lowercase().as_str() {
        "new" | "create" | "created" | "add" | "added" | "edit" | "edited" | "modify" | "modified"
        | "update" | "updated" | "change" | "write" => Some(SummaryVerb::Write),
        "delete" | "deleted" | "remove" | "removed" => Some(SummaryVerb::Delete),
        "rename" | "renamed" | "move" | "moved" => Some(SummaryVerb::Rename),
        _ => None,
    }
}

/// The path of a row, or both of a rename, as the operations spell them.
fn item_paths(text: &str) -> Vec<String> {
    let parts = ["->", "→", " to "].into_iter().find_map(|arrow| text.split_once(arrow));
    let parts = parts.map_or(vec![text], |(from, to)| vec![from, to]);
    let plain = |part: &str| {
        let part = part.trim().trim_matches(['`', '"']);
        RelPath::parse(part).map_or(part.to_owned(), |path| path.to_string())
    };
    parts.into_iter().map(plain).collect()
}

fn shown(text: &str, most: usize) -> String {
    text.chars().take(most).collect::<String>().escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_plain_value_is_told_with_its_line() {
        for (text, line) in
            [("projectId: [unclosed\nuuid: x\n", 5), ("projectId: app\na: &a [1]\nb: *a\n", 6)]
        {
            let (control, notes) = read(text, 5);
            assert_eq!(
                (notes[0].line, notes[0].text.contains("no plain value")),
                (line, true),
                "{text}: {notes:?}"
            );
            assert!(control.present);
        }
    }
}
