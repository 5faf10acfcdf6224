//! The `*** Begin Patch` envelope: files to add, update, move and delete in one text, places given by `@@`
//! and the lines around them instead of numbers.
//!
//! Without its `*** End Patch` a patch was cut off and is refused.

use super::diff::lines::{self, HunkReader};
use super::diff::print;
use super::opening::opening_lines;
use super::{Dialect, DialectBlock, DialectError, checked_path};
use crate::proposal::path::RelPath;
use crate::proposal::{EditBody, FileAction, FileEdit, Hunk, Operation};

pub(super) struct ApplyPatchDialect;

const NAME: &str = "apply-patch";
const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";

impl Dialect for ApplyPatchDialect {
    fn name(&self) -> &'static str {
        NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["apply_patch"]
    }

    fn description(&self) -> &'static str {
        "One text from `*** Begin Patch` to `*** End Patch` that adds, updates, moves and deletes files."
    }

    fn recognises(&self, text: &str) -> bool {
        let mut lines = opening_lines(text);
        let first = lines.next().unwrap_or_default();
        begins(first) || (is_wrapper(first) && lines.next().is_some_and(begins))
    }

    fn read(&self, block: &DialectBlock<'_>) -> Result<Vec<Operation>, DialectError> {
        let mut reader = ApplyPatchReader { patches: 0, inside: None, file: None, files: Vec::new() };
        for (at, text) in block.lines().into_iter().enumerate() {
            reader.line(block.line + at, text)?;
        }
        if let Some(line) = reader.inside {
            return Err(DialectError::at(
                line,
                "the patch that begins here has no `*** End Patch`; the answer may be cut off",
            ));
        }
        if reader.patches == 0 {
            return Err(DialectError::at(
                block.line,
                "the block is said to be a patch, but it has no `*** Begin Patch` line",
            ));
        }
        let headed = block.path.as_ref().filter(|_| reader.files.len() == 1);
        let mut operations = Vec::new();
        for file in reader.files {
            file.operations(headed, &mut operations)?;
        }
        Ok(operations)
    }

    fn print(&self, action: &FileAction) -> String {
        let mut out = format!("{BEGIN}\n");
        match action {
            FileAction::Delete { path, old } => {
                out.push_str(&format!("{DELETE} {path}\n"));
                out.extend(old.iter().flatten().map(|line| format!("-{line}\n")));
            }
            FileAction::Rename { from, to } => {
                out.push_str(&format!("{UPDATE} {from}\n{MOVE} {to}\n"));
            }
            FileAction::Write { path, edit, .. } => match &edit.body {
                EditBody::Whole { text, .. } => {
                    out.push_str(&format!("{ADD} {path}\n"));
                    for line in text.split_terminator('\n') {
                        out.push_str(&format!("+{line}\n"));
                    }
                }
                EditBody::Hunks(hunks) => {
                    out.push_str(&format!("{UPDATE} {path}\n"));
                    for hunk in hunks {
                        print_hunk(hunk, &mut out);
                    }
                }
            },
            // `read` never yields one.
            FileAction::Exact { .. } => {}
        }
        out.push_str(END);
        out.push('\n');
        out
    }
}

fn begins(line: &str) -> bool {
    let line = line.trim_end();
    line == BEGIN || [ADD, DELETE, UPDATE].iter().any(|start| line.starts_with(start))
}

/// The first line of a shell command that feeds the patch to a tool.
fn is_wrapper(line: &str) -> bool {
    line.contains("<<") && !line.starts_with("<<<<<")
}

struct ApplyPatchReader {
    patches: usize,
    /// The line of the patch being read.
    inside: Option<usize>,
    file: Option<ApplyPatchFile>,
    files: Vec<ApplyPatchFile>,
}

struct ApplyPatchFile {
    line: usize,
    path: RelPath,
    change: ApplyPatchChange,
}

enum ApplyPatchChange {
    Add {
        lines: Vec<String>,
        blanks: usize,
    },
    Delete {
        /// What stood there, if the patch says so.
        old: Option<Vec<String>>,
    },
    Update {
        to: Option<RelPath>,
        // Much larger than what the other changes hold.
        reader: Box<HunkReader>,
    },
}

impl ApplyPatchReader {
    fn line(&mut self, line: usize, text: &str) -> Result<(), DialectError> {
        let directive = text.trim_end();
        if directive == BEGIN {
            if let Some(open) = self.inside {
                return Err(DialectError::at(
                    line,
                    format!("a patch begins here before the one of line {open} has ended"),
                ));
            }
            self.inside = Some(line);
            self.patches += 1;
            return Ok(());
        }
        if let Some((path, change)) = begin_file(directive) {
            if self.inside.is_none() {
                self.inside = Some(line);
                self.patches += 1;
            }
            self.files.extend(self.file.take());
            let path = checked_path(line, path.trim())?;
            self.file = Some(ApplyPatchFile { line, path, change });
            return Ok(());
        }
        if self.inside.is_none() {
            // A shell's wrapper, the end of a heredoc, a fence.
            return Ok(());
        }
        if directive == END {
            self.inside = None;
            self.files.extend(self.file.take());
            return Ok(());
        }
        match &mut self.file {
            Some(file) => file.line(line, text),
            None if directive.is_empty() => Ok(()),
            None => Err(DialectError::at(
                line,
                "expected `*** Add File:`, `*** Update File:` or `*** Delete File:` here",
            )),
        }
    }
}

fn begin_file(directive: &str) -> Option<(&str, ApplyPatchChange)> {
    if let Some(path) = directive.strip_prefix(ADD) {
        let lines = Vec::new();
        return Some((path, ApplyPatchChange::Add { lines, blanks: 0 }));
    }
    if let Some(path) = directive.strip_prefix(DELETE) {
        return Some((path, ApplyPatchChange::Delete { old: None }));
    }
    let path = directive.strip_prefix(UPDATE)?;
    let reader = Box::default();
    Some((path, ApplyPatchChange::Update { to: None, reader }))
}

impl ApplyPatchFile {
    fn line(&mut self, line: usize, text: &str) -> Result<(), DialectError> {
        match &mut self.change {
            ApplyPatchChange::Add { lines, blanks } => {
                if let Some(added) = text.strip_prefix('+') {
                    // Empty lines between others are content that lost its `+`.
                    lines.extend(std::iter::repeat_n(String::new(), std::mem::take(blanks)));
                    lines.push(added.to_owned());
                    return Ok(());
                }
                *blanks += 1;
                self.blank(line, text, "every line of a new file begins with `+`; this one does not")
            }
            ApplyPatchChange::Delete { old } => {
                if let Some(removed) = text.strip_prefix('-') {
                    old.get_or_insert_default().push(removed.to_owned());
                    return Ok(());
                }
                self.blank(line, text, "only removed lines can follow `*** Delete File:`")
            }
            ApplyPatchChange::Update { to, reader } => {
                if let Some(path) = text.strip_prefix(MOVE)
                    && !reader.is_open()
                {
                    *to = Some(checked_path(line, path.trim())?);
                } else if text.trim_end() == END_OF_FILE {
                    reader.mark_at_end();
                } else if let Some(header) = lines::parse_hunk_header(text) {
                    reader.push_header(line, header);
                } else {
                    reader.push_line(line, text);
                }
                Ok(())
            }
        }
    }

    fn blank(&self, line: usize, text: &str, reason: &str) -> Result<(), DialectError> {
        if text.trim().is_empty() {
            return Ok(());
        }
        Err(DialectError::at(line, format!("{reason} (`{}`)", self.path)))
    }

    fn operations(
        self,
        headed: Option<&RelPath>,
        operations: &mut Vec<Operation>,
    ) -> Result<(), DialectError> {
        let ApplyPatchFile { line, path, change } = self;
        let mut push = |action| operations.push(Operation { line, action });
        let path = match (headed, &change) {
            (Some(headed), ApplyPatchChange::Update { to: Some(to), .. }) => {
                if *headed != path && headed != to {
                    return Err(DialectError::at(
                        line,
                        format!("the block is headed `{headed}`, but its patch moves `{path}` to `{to}`"),
                    ));
                }
                path
            }
            (Some(headed), _) => headed.clone(),
            (None, _) => path,
        };
        match change {
            ApplyPatchChange::Delete { old } => push(FileAction::Delete { path, old }),
            ApplyPatchChange::Add { lines, .. } => {
                let text = lines.into_iter().map(|line| line + "\n").collect();
                let must_be_new = true;
                push(write(path, EditBody::Whole { text, must_be_new }));
            }
            ApplyPatchChange::Update { to, reader } => {
                let hunks = reader.finish()?;
                if hunks.is_empty() && to.is_none() {
                    return Err(DialectError::at(
                        line,
                        format!("the update of `{path}` has no lines; the answer may be cut off here"),
                    ));
                }
                let path = match to {
                    None => path,
                    Some(to) => {
                        push(FileAction::Rename { from: path, to: to.clone() });
                        to
                    }
                };
                if !hunks.is_empty() {
                    push(write(path, EditBody::Hunks(hunks)));
                }
            }
        }
        Ok(())
    }
}

fn write(path: RelPath, body: EditBody) -> FileAction {
    FileAction::Write { path, edit: FileEdit { dialect: NAME, body, seen: None }, mode: None }
}

fn print_hunk(hunk: &Hunk, out: &mut String) {
    print::print_hunk(hunk, out);
    if hunk.at_end {
        out.push_str(END_OF_FILE);
        out.push('\n');
    }
}
