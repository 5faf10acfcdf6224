//! Prints a proposal in the form of the contract, so that reading it again gives the same.
//!
//! Fences are longer than anything in the content, paths are quoted where a header would be read
//! differently, and a whole file with significant lines stands between START and END.

use super::DIVIDER;
use super::file_names;
use super::header::{self, HeaderSubject};
use super::lines::ResponseLines;
use super::marker_events::{MarkerEvents, MarkerKind};
use super::markers;
use crate::dialect::{self, Dialect};
use crate::proposal::path::RelPath;
use crate::proposal::{ControlBlock, FileAction, FileEdit, Operation, Proposal};

/// The dialect for exact bytes, as far as they are text.
pub const EXACT_DIALECT: &str = "unified";

/// Reasoning, one block per operation, the control block.
///
/// Blocks that were not read cannot be printed; [`Proposal::reasoning`] holds the text of those that were
/// examples.
pub fn print(proposal: &Proposal) -> String {
    let mut out = String::new();
    let mut reasoning = proposal.reasoning.iter();
    // One paragraph above each block; the surplus comes first.
    let surplus = proposal.reasoning.len().saturating_sub(proposal.operations.len());
    for (at, text) in reasoning.by_ref().take(surplus).enumerate() {
        if at > 0 {
            out.push_str(DIVIDER);
            out.push_str("\n\n");
        }
        out.push_str(text);
        out.push_str("\n\n");
    }
    for (at, operation) in proposal.operations.iter().enumerate() {
        if let Some(text) = reasoning.next() {
            if at == 0 && surplus > 0 {
                out.push_str(DIVIDER);
                out.push_str("\n\n");
            }
            out.push_str(text);
            out.push_str("\n\n");
        }
        print_operation(operation, &mut out);
    }
    if proposal.control.present {
        print_control(&proposal.control, &mut out);
    }
    out
}

fn print_operation(operation: &Operation, out: &mut String) {
    match &operation.action {
        FileAction::Delete { path, old: None } => {
            print_block(path, None, "//TODO: delete this file\n", out);
        }
        FileAction::Rename { from, to } => {
            let (from, to) = (quote(from.as_str()), quote(to.as_str()));
            out.push_str(&format!(
                "```json // rename-file\n{{\n  \"from\": {from},\n  \"to\": {to}\n}}\n```\n\n"
            ));
        }
        FileAction::Write { path, edit, .. } => print_write(path, edit, &operation.action, out),
        // Text as a diff; bytes that are not text have no form in the contract.
        FileAction::Delete { path, .. } | FileAction::Exact { path, .. } => {
            let dialect = dialect::by_name(EXACT_DIALECT);
            let text = dialect.map(|dialect| dialect.print(&operation.action)).unwrap_or_default();
            print_block(path, dialect, &text, out);
        }
    }
}

fn print_write(path: &RelPath, edit: &FileEdit, action: &FileAction, out: &mut String) {
    let whole = dialect::detect("");
    let dialect = dialect::by_name(edit.dialect).unwrap_or(whole);
    let mut text = dialect.print(action);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let is_whole = dialect.name() == whole.name();
    let named = (!is_whole || dialect::detect(&text).name() != whole.name()).then_some(dialect);
    if is_whole && needs_markers(&text) {
        text = format!("// START\n\n{text}\n// END\n");
    }
    print_block(path, named, &text, out);
}

/// Whether a whole file has lines that could be taken for the end of its block or for an instruction.
fn needs_markers(text: &str) -> bool {
    let lines = ResponseLines::new(text);
    MarkerEvents::new(&lines).len() > 0 || markers::is_delete(text)
}

fn print_block(path: &RelPath, dialect: Option<&dyn Dialect>, text: &str, out: &mut String) {
    // A backtick cannot stand in the info string of a backtick fence.
    let mark = if path.as_str().contains('`') { '~' } else { '`' };
    let prose = path.extension().is_some_and(file_names::is_markdown);
    let fence = mark.to_string().repeat(fence_length(text, prose));
    out.push_str(&format!("{fence}{}\n{text}{fence}\n\n", fence_info(path, dialect)));
}

/// Longer than every fence in the text, and long enough that no rule for nested ones applies to a text that
/// may have them.
fn fence_length(text: &str, prose: bool) -> usize {
    let lines = ResponseLines::new(text);
    let events = MarkerEvents::new(&lines);
    let longest = (0..events.len())
        .filter_map(|at| events.get(at))
        .filter_map(|event| match &event.kind {
            MarkerKind::Fence(fence) => Some(fence.length() + 1),
            _ => None,
        })
        .max();
    longest.unwrap_or(3).max(if prose { 4 } else { 3 })
}

/// With the path in quotes if it would be read as something else without.
fn fence_info(path: &RelPath, dialect: Option<&dyn Dialect>) -> String {
    let language = path.extension().filter(|text| text.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let language = language.unwrap_or("text");
    let name = dialect.map(|dialect| format!(" {}", dialect.name())).unwrap_or_default();
    let plain = format!("{language} // {path}{name}");
    let read = header::read(&plain);
    let same = read.subject == HeaderSubject::Path(path.as_str())
        && read.dialect.map(Dialect::name) == dialect.map(Dialect::name);
    if same { plain } else { format!("{language} // \"{path}\"{name}") }
}

fn print_control(control: &ControlBlock, out: &mut String) {
    out.push_str("```yaml\n");
    let mut field = |key: &str, value: &Option<String>| {
        // An id is what makes it a control block at all.
        match value {
            Some(value) => out.push_str(&format!("{key}: {}\n", quote(value))),
            None if key == "projectId" => out.push_str("projectId:\n"),
            None => {}
        }
    };
    field("projectId", &control.project_id);
    field("uuid", &control.uuid);
    field("promptSummary", &control.prompt_summary);
    field("gitCommitMsg", &control.git_commit_msg);
    if !control.change_summary.is_empty() {
        out.push_str("changeSummary:\n");
        for item in &control.change_summary {
            out.push_str(&format!("  - {}: {}\n", quote(&item.verb), quote(&item.path)));
        }
    }
    out.push_str("```\n");
}

/// A string in double quotes that JSON and YAML read alike.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || relaycode_text::hidden::is_hidden(c) => {
                // A path has no such character, so JSON never sees the second form.
                let code = u32::from(c);
                out.push_str(&if code <= 0xffff {
                    format!("\\u{code:04x}")
                } else {
                    format!("\\U{code:08x}")
                });
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
