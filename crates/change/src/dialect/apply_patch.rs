//! The `*** Begin Patch` envelope: files to add, update, move and delete in one text, places given by `@@`
//! and the lines around them instead of numbers.
//!
//! A patch that begins and has no `*** End Patch` was cut off and is refused. Parts without an envelope are read
//! where something else says that they are complete: a closed fence.

use super::diff::lines::{self, HunkReader};
use super::diff::print;
use super::opening::opening_lines;
use super::patch_marker::{self, PatchMarker};
use super::{Dialect, DialectBlock, DialectError, checked_path, headed};
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
        let mut reader = ApplyPatchReader::default();
        let lines = without_padding(block.lines());
        for (at, text) in lines.iter().enumerate() {
            reader.line(block.line + at, text, &lines[at + 1..])?;
        }
        if let Some(line) = reader.inside.filter(|_| reader.begun) {
            return Err(DialectError::at(
                line,
                "the patch that begins here has no `*** End Patch`; the answer may be cut off",
            ));
        }
        reader.files.extend(reader.file.take());
        if reader.patches == 0 {
            return Err(DialectError::at(
                block.line,
                "the block is said to be a patch, but it has no `*** Begin Patch` line",
            ));
        }
        let headed = block.path.as_ref().filter(|_| reader.files.len() == 1);
        if let Some(path) = &block.path
            && !reader.files.iter().any(|file| headed::is_headed(path, file.path.as_str()))
            && reader.files.len() > 1
        {
            let reason = format!("the block is headed `{path}`, but its patch names other files");
            return Err(DialectError::at(block.line, reason));
        }
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
    patch_marker::parse(line.trim_start())
        .is_some_and(|marker| marker == PatchMarker::Begin || marker.names_file())
}

/// Blanks in front of a line.
fn padding(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Takes off what a patch is indented by, if all of it is.
fn without_padding(mut lines: Vec<&str>) -> Vec<&str> {
    let Some(first) = lines.iter().position(|line| begins(line)) else { return lines };
    let is_end = |line: &&str| patch_marker::parse(line.trim_start()) == Some(PatchMarker::End);
    let end = lines.iter().rposition(is_end).map_or(lines.len(), |end| end + 1).max(first);
    let pad = padding(lines[first]);
    let is_padded = |line: &&str| line.starts_with(pad) || line.trim().is_empty();
    if !pad.is_empty() && lines[first..end].iter().all(is_padded) {
        for line in &mut lines[first..end] {
            *line = line.strip_prefix(pad).unwrap_or_default();
        }
    }
    lines
}

/// The first line of a shell command that feeds the patch to a tool.
fn is_wrapper(line: &str) -> bool {
    line.contains("<<") && !line.starts_with("<<<<<")
}

#[derive(Default)]
struct ApplyPatchReader {
    patches: usize,
    /// The line of the patch being read.
    inside: Option<usize>,
    /// It has a `*** Begin Patch`.
    begun: bool,
    /// The blanks before the first line that names a file.
    pad: String,
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
    fn line(&mut self, line: usize, text: &str, below: &[&str]) -> Result<(), DialectError> {
        let marker = self.marker(line, text, below)?;
        if let Some((path, change)) = marker.as_ref().and_then(begin_file) {
            if self.inside.is_none() {
                self.inside = Some(line);
                self.patches += 1;
            }
            if self.files.is_empty() && self.file.is_none() {
                padding(text).clone_into(&mut self.pad);
            }
            self.files.extend(self.file.take());
            self.file = Some(ApplyPatchFile { line, path: checked_path(line, path)?, change });
            return Ok(());
        }
        match marker {
            Some(PatchMarker::Begin) => {
                if let Some(open) = self.inside.filter(|_| self.begun) {
                    return Err(DialectError::at(
                        line,
                        format!("a patch begins here before the one of line {open} has ended"),
                    ));
                }
                self.files.extend(self.file.take());
                (self.inside, self.begun) = (Some(line), true);
                self.patches += 1;
                return Ok(());
            }
            Some(PatchMarker::End) => {
                (self.inside, self.begun) = (None, false);
                self.files.extend(self.file.take());
                return Ok(());
            }
            _ => {}
        }
        if self.inside.is_none() {
            // A shell's wrapper, the end of a heredoc, a fence.
            return match self.patches > 0 && (text.starts_with("@@") || text.starts_with(['+', '-'])) {
                true => Err(DialectError::at(line, "this line of a patch stands outside of every file")),
                false => Ok(()),
            };
        }
        match &mut self.file {
            Some(file) => file.line(line, text),
            None if text.trim().is_empty() => Ok(()),
            None => Err(DialectError::at(
                line,
                "expected `*** Add File:`, `*** Update File:` or `*** Delete File:` here",
            )),
        }
    }

    /// The marker on a line that begins or ends a patch or a file. With blanks before it, it may also be a
    /// line of context.
    fn marker<'t>(
        &self,
        line: usize,
        text: &'t str,
        below: &[&str],
    ) -> Result<Option<PatchMarker<'t>>, DialectError> {
        let pad = padding(text);
        let Some(marker) = patch_marker::parse(&text[pad.len()..]) else { return Ok(None) };
        let in_hunk = matches!(&self.file, Some(file) if file.takes_context());
        if pad.is_empty() || !in_hunk {
            return Ok(Some(marker));
        }
        let next = below.iter().find(|line| !line.trim().is_empty());
        match marker {
            PatchMarker::End if next.is_none() => return Ok(Some(marker)),
            _ if !marker.names_file() => return Ok(None),
            _ => {}
        }
        let above_hunk = next
            .is_some_and(|next| next.starts_with("@@") || patch_marker::parse(next.trim_start()).is_some());
        if pad == self.pad && (above_hunk || next.is_some_and(|next| next.starts_with(['+', '-']))) {
            return Ok(Some(marker));
        }
        // One blank is how context begins.
        match above_hunk && pad != " " {
            true => Err(DialectError::at(
                line,
                "this line may begin another file or be a line of the one above; write `***` without blanks before it",
            )),
            false => Ok(None),
        }
    }
}

fn begin_file<'t>(marker: &PatchMarker<'t>) -> Option<(&'t str, ApplyPatchChange)> {
    match *marker {
        PatchMarker::Add(path) => Some((path, ApplyPatchChange::Add { lines: Vec::new(), blanks: 0 })),
        PatchMarker::Delete(path) => Some((path, ApplyPatchChange::Delete { old: None })),
        PatchMarker::Update(path) => {
            Some((path, ApplyPatchChange::Update { to: None, reader: Box::default() }))
        }
        _ => None,
    }
}

impl ApplyPatchFile {
    /// Whether a line that begins with a blank is content.
    fn takes_context(&self) -> bool {
        matches!(&self.change, ApplyPatchChange::Update { reader, .. } if reader.is_open())
    }

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
                let bare = if reader.is_open() { text } else { text.trim_start() };
                let marker = patch_marker::parse(bare);
                if let Some(PatchMarker::Move(path)) = marker
                    && !reader.is_open()
                {
                    *to = Some(checked_path(line, path)?);
                } else if marker == Some(PatchMarker::EndOfFile) {
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
            (Some(headed), _) => {
                headed::check_headed(headed, line, "patch", path.as_str())?;
                headed.clone()
            }
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
                let mut hunks = reader.finish()?;
                // Lines that are only added, with nothing that says where, go to the end: that is this notation's rule.
                for hunk in &mut hunks {
                    hunk.at_end |= hunk.before.is_empty() && hunk.scope.is_empty() && hunk.claimed.is_none();
                }
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
