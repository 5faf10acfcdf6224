//! Prints a proposal in the form of the contract, so that reading it again gives the same.
//!
//! Fences are longer than anything in the content, paths are quoted where a header would be read
//! differently, and a whole file with significant lines stands between START and END.

use relaycode_text::escape::is_unsafe;

use super::DIVIDER;
use super::block_shape::is_headless_diff;
use super::file_names;
use super::header::{self, HeaderSubject};
use super::lines::ResponseLines;
use super::marker_events::MarkerEvents;
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
    let Proposal { reasoning, operations, control, .. } = proposal;
    // One paragraph above each block; the surplus stands above the first one too.
    let surplus = reasoning.len().saturating_sub(operations.len());
    let (first, others) = reasoning.split_at((surplus + 1).min(reasoning.len()));
    let first = (!first.is_empty()).then(|| first.join(&format!("\n\n{DIVIDER}\n\n")));
    let mut paragraphs = first.into_iter().chain(others.iter().cloned()).map(|text| text + "\n\n");
    let mut out = String::new();
    if let Some(subject) = control.git_commit_msg.as_ref().filter(|_| !control.present) {
        // It came from a mail.
        out.push_str(&format!("Subject: [PATCH] {subject}\n\n"));
    }
    if operations.is_empty() {
        out.extend(paragraphs.next());
    }
    for operation in operations {
        out.extend(paragraphs.next());
        print_operation(operation, &mut out);
    }
    if control.present {
        print_control(control, &mut out);
    }
    out
}

fn print_operation(operation: &Operation, out: &mut String) {
    match &operation.action {
        FileAction::Delete { path, old: None } => print_block(path, None, "//TODO: delete this file\n", out),
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
    let is_plain = dialect::detect(&text).name() == whole.name() && !is_headless_diff(&text);
    let named = (!is_whole || !is_plain).then_some(dialect);
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
    let longest = (0..events.len()).filter_map(|at| events.fence(at)).map(|fence| fence.length() + 1).max();
    longest.unwrap_or(3).max(if prose { 4 } else { 3 })
}

/// With the path in quotes if it would be read as something else without.
fn fence_info(path: &RelPath, dialect: Option<&dyn Dialect>) -> String {
    let language = fence_language(path);
    let name = dialect.map(|dialect| format!(" {}", dialect.name())).unwrap_or_default();
    let plain = format!("{language} // {path}{name}");
    let read = header::read(&plain);
    let same = read.subject == HeaderSubject::Path(path.as_str())
        && read.dialect.map(Dialect::name) == dialect.map(Dialect::name);
    if same { plain } else { format!("{language} // \"{path}\"{name}") }
}

/// The extension of a file, if an info line can have it.
pub(crate) fn fence_language(path: &RelPath) -> &str {
    let plain = |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    path.extension().filter(plain).unwrap_or("text")
}

fn print_control(control: &ControlBlock, out: &mut String) {
    out.push_str("```yaml\n");
    // An id is what makes it a control block at all.
    if control.project_id.is_none() {
        out.push_str("projectId:\n");
    }
    for (key, value) in [
        ("projectId", &control.project_id),
        ("uuid", &control.uuid),
        ("promptSummary", &control.prompt_summary),
        ("gitCommitMsg", &control.git_commit_msg),
    ] {
        out.extend(value.iter().map(|value| format!("{key}: {}\n", quote(value))));
    }
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
            '"' | '\\' | '\n' | '\t' => out.extend(c.escape_default()),
            '\0'..='\u{ffff}' if is_unsafe(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            // A path has no such character, so JSON never sees this form.
            _ if is_unsafe(c) => out.push_str(&format!("\\U{:08x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}
