//! Syntax errors that a change introduces. A separate check after planning, because parsing costs more than
//! everything else together.
//!
//! Grammars know a language only approximately: unusual but valid code may look wrong to them. So nothing
//! is said about a file as such, only about errors that it did not have before. What is not checked,
//! because of its size or lack of time, is reported.
//!
//! This is the only place in the crate that looks at a clock: some texts take a grammar minutes, so a parse
//! is interrupted when the budget is used up. The same grammars, under the same rule, classify text for
//! colours ([`highlight`]).

pub mod highlight;
mod language;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use ast_grep_language::{LanguageExt, SupportLang};
use tree_sitter::{Node, ParseOptions, Parser, Tree};

use crate::plan::findings::{clip_line, lossy_text, text_lines};
use crate::plan::{FileChangeKind, FilePlan, FindingKind, Plan, PlanFinding};

/// Larger files are not parsed.
pub const FILE_BYTES: usize = 256 * 1024;

/// The new syntax errors of `plan`, one finding per file, and what was not checked. Files without a grammar
/// are not mentioned. Parsing stops when `budget` is used up.
pub fn check(plan: &Plan, budget: Duration) -> Vec<PlanFinding> {
    let deadline = Instant::now().checked_add(budget);
    let mut found = Vec::new();
    let mut late: Vec<&FilePlan> = Vec::new();
    for file in plan.files.iter().filter(|file| changes_text(file)) {
        let Some(language) = language::for_check(&file.path) else { continue };
        let bytes = largest(file);
        if bytes > FILE_BYTES {
            found.push(size_finding(file, bytes));
            continue;
        }
        match new_error(file, language, deadline) {
            Ok(finding) => found.extend(finding),
            Err(ParseTimeout) => late.push(file),
        }
    }
    found.extend(timeout_finding(&late, budget));
    found
}

fn changes_text(file: &FilePlan) -> bool {
    let stays =
        matches!(file.change, FileChangeKind::Added | FileChangeKind::Modified | FileChangeKind::Renamed);
    stays && file.after.is_some() && file.before != file.after
}

fn largest(file: &FilePlan) -> usize {
    let sizes = [&file.before, &file.after].map(|bytes| bytes.as_ref().map_or(0, Vec::len));
    sizes[0].max(sizes[1])
}

/// The budget is used up.
#[derive(Debug)]
struct ParseTimeout;

/// A finding if the file has more errors after the change than before.
fn new_error(
    file: &FilePlan,
    language: SupportLang,
    deadline: Option<Instant>,
) -> Result<Option<PlanFinding>, ParseTimeout> {
    let text = |bytes: &Option<Vec<u8>>| {
        let text = bytes.as_deref().and_then(lossy_text).unwrap_or_default();
        text.trim_start_matches('\u{FEFF}').to_owned()
    };
    let (before, after) = (text(&file.before), text(&file.after));
    let errors = parse_errors(&after, language, deadline)?;
    if errors.is_empty() || language::is_template(&after, language) {
        return Ok(None);
    }
    let old = parse_errors(&before, language, deadline)?;
    if errors.len() <= old.len() {
        return Ok(None);
    }
    let old_lines: HashSet<&str> = old.iter().map(|error| line_at(&before, error.line)).collect();
    let is_new = |error: &&SyntaxError| !old_lines.contains(line_at(&after, error.line));
    let first = errors.iter().find(is_new).or(errors.first());
    Ok(first.map(|first| PlanFinding {
        kind: FindingKind::Syntax,
        path: file.path.clone(),
        line: Some(first.line + 1),
        text: sentence(first, line_at(&after, first.line), language),
    }))
}

/// A place that the grammar does not understand.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SyntaxError {
    /// From 0.
    line: usize,
    /// What is missing there, if that is the error.
    missing: Option<String>,
}

/// The outermost ones, in order.
fn parse_errors(
    text: &str,
    language: SupportLang,
    deadline: Option<Instant>,
) -> Result<Vec<SyntaxError>, ParseTimeout> {
    let tree = parse(text.as_bytes(), language, deadline).ok_or(ParseTimeout)?;
    let mut cursor = tree.walk();
    let mut found = Vec::new();
    loop {
        let node = cursor.node();
        let wrong = node.is_error() || node.is_missing();
        if wrong {
            found.push(SyntaxError {
                line: first_line(node),
                missing: node.is_missing().then(|| node.kind().to_owned()),
            });
        }
        // Visit only what contains an error.
        if !wrong && node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Ok(found);
            }
        }
    }
}

/// Where an error shows. One that spans the whole file says little; the first inside it says more.
fn first_line(error: Node<'_>) -> usize {
    let mut line = error.start_position().row;
    let mut cursor = error.walk();
    while cursor.goto_first_child() {
        while !cursor.node().has_error() {
            if !cursor.goto_next_sibling() {
                return line;
            }
        }
        if cursor.node().is_error() || cursor.node().is_missing() {
            line = cursor.node().start_position().row;
        }
    }
    line
}

/// `None`: without a deadline.
fn parse(text: &[u8], language: SupportLang, deadline: Option<Instant>) -> Option<Tree> {
    let late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    if late() {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&language.get_ts_language()).ok()?;
    let mut stop = |_: &_| match late() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let options = ParseOptions::new().progress_callback(&mut stop);
    parser.parse_with_options(&mut |at, _| text.get(at..).unwrap_or_default(), None, Some(options))
}

fn sentence(error: &SyntaxError, line: &str, language: SupportLang) -> String {
    let (number, language) = (error.line + 1, language::name(language));
    match &error.missing {
        Some(what) if !what.is_empty() && what.chars().all(|c| c.is_ascii_punctuation()) => {
            format!("line {number} does not parse as {language}: `{what}` is missing")
        }
        _ if line.trim().is_empty() => format!("line {number} does not parse as {language}"),
        _ => format!("line {number} does not parse as {language}: `{}`", clip_line(line)),
    }
}

fn line_at(text: &str, line: usize) -> &str {
    text_lines(text).nth(line).unwrap_or_default().trim()
}

fn size_finding(file: &FilePlan, bytes: usize) -> PlanFinding {
    PlanFinding {
        kind: FindingKind::Skipped,
        path: file.path.clone(),
        line: None,
        text: format!(
            "syntax not checked: {} KiB, the check reads files up to {} KiB",
            bytes.div_ceil(1024),
            FILE_BYTES / 1024
        ),
    }
}

fn timeout_finding(late: &[&FilePlan], budget: Duration) -> Option<PlanFinding> {
    let first = late.first()?;
    let budget = budget.as_millis();
    let text = match late.len() {
        1 => format!("syntax not checked: the {budget} ms for the check were used up"),
        count => format!(
            "syntax of {count} files from here on not checked: the {budget} ms for the check were used up"
        ),
    };
    Some(PlanFinding { kind: FindingKind::Skipped, path: first.path.clone(), line: None, text })
}
