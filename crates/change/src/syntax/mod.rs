//! Syntax errors that a change introduces. A separate check after planning, because parsing costs more than
//! everything else together.
//!
//! Grammars know a language only approximately: unusual but valid code may look wrong to them. So nothing
//! is said about a file as such, only about errors that it did not have before. What is not checked,
//! because of its size or lack of time, is reported.
//!
//! This is the only place in the crate that looks at a clock: some texts take a grammar minutes, so a parse
//! is interrupted when the budget is used up. The same grammars, under the same rule, classify text for
//! colours ([`highlight`]) and say what of a long file can be left out ([`outline`]).

pub mod highlight;
mod language;
pub mod outline;
mod scanner_state;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ast_grep_language::{LanguageExt, SupportLang};
use tree_sitter::{Node, ParseOptions, Parser, Tree};

use crate::plan::findings::{clip_line, lossy_text, text_lines};
use crate::plan::{FileChangeKind, FilePlan, FindingKind, Plan, PlanFinding};
use crate::proposal::work_budget::StopFlag;

/// Larger files are not parsed.
pub const FILE_BYTES: usize = 256 * 1024;

/// What a grammar may take for one file, before and after: a text that it does not get through costs memory all the
/// while.
const FILE_BUDGET: Duration = Duration::from_millis(200);

/// With fewer bytes to parse a thread costs more than it saves.
const BYTES_PER_THREAD: usize = 32 * 1024;

/// The new syntax errors of `plan`, one finding per file, and what was not checked. Files without a grammar
/// are not mentioned. Parsing stops when `budget` is used up or somebody asks to stop.
///
/// A file is parsed once, as it will be; as it was only if that shows errors. Reusing the old tree would need
/// a parse of the old text, which costs as much. The files are spread over at most `threads`.
pub fn check(plan: &Plan, budget: Duration, threads: usize, stop: &StopFlag) -> Vec<PlanFinding> {
    let deadline = Instant::now().checked_add(budget);
    let with_grammar = |file: &'_ FilePlan| language::for_check(&file.path).filter(|_| changes_text(file));
    let files: Vec<(&FilePlan, SupportLang)> =
        plan.files.iter().filter_map(|file| Some((file, with_grammar(file)?))).collect();
    let mut found = Vec::new();
    let mut late: Vec<&FilePlan> = Vec::new();
    for ((file, _), checked) in files.iter().zip(check_files(&files, deadline, threads, stop)) {
        match checked {
            Some(finding) => found.extend(finding),
            None => late.push(file),
        }
    }
    found.extend(timeout_finding(&late, budget));
    found
}

/// What [`check_file`] says of each file, in their order.
fn check_files(
    files: &[(&FilePlan, SupportLang)],
    deadline: Option<Instant>,
    threads: usize,
    stop: &StopFlag,
) -> Vec<Option<Option<PlanFinding>>> {
    let bytes: usize = files.iter().map(|(file, _)| file.after.as_ref().map_or(0, Vec::len)).sum();
    let threads = threads.min(bytes / BYTES_PER_THREAD).min(files.len());
    if threads <= 1 {
        return files.iter().map(|(file, language)| check_file(file, *language, deadline, stop)).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((file, language)) = files.get(at) else { return done };
            done.push((at, check_file(file, *language, deadline, stop)));
        }
    };
    let mut checked = vec![None; files.len()];
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        // A thread that panicked leaves its files unchecked, which is said.
        let done = others.into_iter().flat_map(|other| other.join().unwrap_or_default());
        for (at, outcome) in work().into_iter().chain(done) {
            checked[at] = outcome;
        }
    });
    checked
}

/// A finding if there is one; `None` if the time is over.
fn check_file(
    file: &FilePlan,
    language: SupportLang,
    deadline: Option<Instant>,
    stop: &StopFlag,
) -> Option<Option<PlanFinding>> {
    let bytes = [&file.before, &file.after].into_iter().flatten().map(Vec::len).max().unwrap_or(0);
    if bytes > FILE_BYTES {
        let (size, most) = (bytes.div_ceil(1024), FILE_BYTES / 1024);
        let text = format!("syntax not checked: {size} KiB, the check reads files up to {most} KiB");
        return Some(Some(finding(FindingKind::Skipped, file, None, text)));
    }
    if [&file.before, &file.after].into_iter().any(|text| scanner_state::overflows(&text_of(text), language))
    {
        let text = "syntax not checked: it is nested too deeply for the check".to_owned();
        return Some(Some(finding(FindingKind::Skipped, file, None, text)));
    }
    let own = Instant::now().checked_add(FILE_BUDGET);
    new_error(file, language, &ParseDeadline { time: deadline.min(own), stop })
}

fn changes_text(file: &FilePlan) -> bool {
    let stays =
        matches!(file.change, FileChangeKind::Added | FileChangeKind::Modified | FileChangeKind::Renamed);
    stays && file.after.is_some() && file.before != file.after
}

fn text_of(bytes: &Option<Vec<u8>>) -> String {
    let text = bytes.as_deref().and_then(lossy_text).unwrap_or_default();
    text.trim_start_matches('\u{FEFF}').to_owned()
}

/// A finding if the file has more errors after the change than before; `None` if the time is over.
fn new_error(
    file: &FilePlan,
    language: SupportLang,
    until: &ParseDeadline<'_>,
) -> Option<Option<PlanFinding>> {
    let after = text_of(&file.after);
    let errors = parse_errors(&after, language, until)?;
    if errors.is_empty() || language::is_template(&after, language) {
        return Some(None);
    }
    let before = text_of(&file.before);
    let old = parse_errors(&before, language, until)?;
    if errors.len() <= old.len() {
        return Some(None);
    }
    let old_lines: HashSet<&str> = old.iter().map(|error| line_at(&before, error.line)).collect();
    let is_new = |error: &&SyntaxError| !old_lines.contains(line_at(&after, error.line));
    let first = errors.iter().find(is_new).or(errors.first());
    Some(first.map(|first| {
        let text = sentence(first, line_at(&after, first.line), language);
        finding(FindingKind::Syntax, file, Some(first.line + 1), text)
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

/// The outermost ones, in order; `None` if the time is over.
fn parse_errors(text: &str, language: SupportLang, until: &ParseDeadline<'_>) -> Option<Vec<SyntaxError>> {
    let tree = parse(text, language, until)?;
    let mut cursor = tree.walk();
    let mut found = Vec::new();
    loop {
        let node = cursor.node();
        let wrong = node.is_error() || node.is_missing();
        if wrong {
            let missing = node.is_missing().then(|| node.kind().to_owned());
            found.push(SyntaxError { line: first_line(node), missing });
        }
        // Visit only what contains an error.
        if !wrong && node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(found);
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

/// When parsing has to end.
struct ParseDeadline<'a> {
    /// `None`: never.
    time: Option<Instant>,
    stop: &'a StopFlag,
}

impl ParseDeadline<'_> {
    fn is_over(&self) -> bool {
        self.stop.is_set() || self.time.is_some_and(|time| Instant::now() >= time)
    }
}

/// `None` if the time is over, or the grammar must not be given the text.
fn parse(text: &str, language: SupportLang, until: &ParseDeadline<'_>) -> Option<Tree> {
    if until.is_over() || scanner_state::overflows(text, language) {
        return None;
    }
    let text = text.as_bytes();
    let mut parser = Parser::new();
    parser.set_language(&language.get_ts_language()).ok()?;
    let mut stop = |_: &_| if until.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let options = ParseOptions::new().progress_callback(&mut stop);
    parser.parse_with_options(&mut |at, _| text.get(at..).unwrap_or_default(), None, Some(options))
}

fn sentence(error: &SyntaxError, line: &str, language: SupportLang) -> String {
    let language = language::name(language);
    match &error.missing {
        Some(what) if !what.is_empty() && what.chars().all(|c| c.is_ascii_punctuation()) => {
            format!("does not parse as {language}: `{what}` is missing")
        }
        _ if line.trim().is_empty() => format!("does not parse as {language}"),
        _ => format!("does not parse as {language}: `{}`", clip_line(line)),
    }
}

fn line_at(text: &str, line: usize) -> &str {
    text_lines(text).nth(line).unwrap_or_default().trim()
}

fn finding(kind: FindingKind, file: &FilePlan, line: Option<usize>, text: String) -> PlanFinding {
    PlanFinding { kind, path: file.path.clone(), line, text }
}

fn timeout_finding(late: &[&FilePlan], budget: Duration) -> Option<PlanFinding> {
    let first = late.first()?;
    let used_up = format!("the {} ms for the check were used up", budget.as_millis());
    let text = match late.len() {
        1 => format!("syntax not checked: {used_up}"),
        count => format!("syntax of {count} files from here on not checked: {used_up}"),
    };
    Some(finding(FindingKind::Skipped, first, None, text))
}
