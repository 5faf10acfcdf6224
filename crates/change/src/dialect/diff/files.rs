//! A diff of one or several files: where each begins, what its headers say, and the resulting operations.
//! Both diff dialects read through this file; they differ only in how many files they allow.
//!
//! A file without a hunk, a mode or a new name is refused: the answer was cut off.

use super::super::{DialectBlock, DialectError, checked_path, headed};
use super::lines::{self, HunkHeader, HunkReader};
use super::mail;
use super::names::{self, DiffFileName};
use crate::proposal::path::RelPath;
use crate::proposal::{EditBody, FileAction, FileEdit, GitFileMode, Hunk, Operation};

/// Most empty lines between a file's names and its first hunk.
const BLANKS_BELOW_NAMES: usize = 2;

/// What stands above the hunks with a name in it.
const NAME_LINES: [&str; 5] = ["diff --git ", "--- ", "+++ ", "rename from ", "rename to "];

#[derive(Debug, Default)]
pub(in super::super) struct DiffFileSection {
    line: usize,
    /// From `---` and `+++`.
    names: Option<(DiffFileName, DiffFileName)>,
    /// From `diff --git`.
    git_names: Option<(String, String)>,
    created: bool,
    deleted: bool,
    mode: Option<GitFileMode>,
    renamed_from: Option<String>,
    renamed_to: Option<String>,
    /// git says that the text differs.
    text_differs: bool,
    hunks: Vec<Hunk>,
}

pub(in super::super) fn read(block: &DialectBlock<'_>) -> Result<Vec<DiffFileSection>, DialectError> {
    let lines = block.lines();
    let first = lines.iter().find(|line| !line.trim().is_empty()).copied().unwrap_or_default();
    let ranges = if mail::begins_mail(first) {
        if let Some((at, reason)) = mail::read_headers(lines.iter().copied()).encoded {
            return Err(DialectError::at(block.line + at, reason));
        }
        mail::diff_ranges(&lines, |at| begins_diff(&lines, at))
    } else {
        std::iter::once(skip_preamble(&lines)..lines.len()).collect()
    };
    let mut reader = DiffReader {
        first: block.line,
        lines: &lines,
        end: 0,
        files: Vec::new(),
        file: None,
        hunks: HunkReader::default(),
    };
    for range in ranges {
        reader.end = range.end;
        let mut at = range.start;
        while at < range.end {
            at += reader.step(at)?;
        }
        reader.close()?;
    }
    if reader.files.is_empty() {
        return Err(DialectError::at(
            block.line,
            "the block is said to be a diff, but no line of it begins with `@@`, `+` or `-`",
        ));
    }
    Ok(reader.files)
}

fn begins_diff(lines: &[&str], at: usize) -> bool {
    lines[at].starts_with("diff --")
        || lines[at].starts_with("Index: ")
        || lines[at].starts_with("@@@ ")
        || lines::parse_hunk_header(lines[at]).is_some()
        || is_file_header(lines, at)
}

/// Where the diff begins. A path line may stand above it.
fn skip_preamble(lines: &[&str]) -> usize {
    let start = (0..lines.len()).find(|at| begins_diff(lines, *at)).unwrap_or(lines.len());
    let has_changes = lines[..start].iter().any(|line| line.starts_with(['+', '-']));
    if has_changes { 0 } else { start }
}

/// `--- x` above `+++ y`. A single `--- x` is a removed `-- x`.
fn is_file_header(lines: &[&str], at: usize) -> bool {
    lines[at].starts_with("--- ") && lines.get(at + 1).is_some_and(|line| line.starts_with("+++ "))
}

struct DiffReader<'a> {
    first: usize,
    lines: &'a [&'a str],
    /// Where the diff being read ends.
    end: usize,
    files: Vec<DiffFileSection>,
    file: Option<DiffFileSection>,
    hunks: HunkReader,
}

impl DiffReader<'_> {
    /// Reads the line at `at`; returns how many lines that took.
    fn step(&mut self, at: usize) -> Result<usize, DialectError> {
        let (text, line) = (self.lines[at], self.first + at);
        let is_name = |text: &str| NAME_LINES.iter().any(|start| text.starts_with(start));
        if !self.hunks.is_open() && is_name(text) && names::has_quoted_backslash(text) {
            return Err(DialectError::at(line, "a file with a backslash in its name cannot be changed"));
        }
        if let Some(rest) = text.strip_prefix("diff --git ") {
            self.begin(line)?.git_names = names::git_names(rest);
            return Ok(1);
        }
        if text.starts_with("diff --cc ") || text.starts_with("@@@ ") {
            return Err(DialectError::at(
                line,
                "this is the combined diff of a merge, which cannot be applied; send an ordinary diff",
            ));
        }
        if self.is_next_file(at) {
            let (old, new) = (&text[4..], &self.lines[at + 1][4..]);
            let names = (names::parse_name(old), names::parse_name(new));
            let awaits_names =
                !self.hunks.is_open() && self.file.as_ref().is_some_and(|file| file.names.is_none());
            let file = if awaits_names { self.file_at(line) } else { self.begin(line)? };
            file.names = Some(names);
            return Ok(2);
        }
        if let Some(header) = lines::parse_hunk_header(text) {
            self.hunk(line, header);
        } else if self.is_index(at) {
            self.begin(line)?;
        } else if self.hunks.is_headless() && matches!(text.trim_end(), "..." | "…") {
            self.hunks.close();
        } else if self.hunks.is_open() || !self.is_above_hunks(line, text)? {
            if text.starts_with("+++ ") && self.is_empty() {
                return Err(DialectError::at(line, "a `+++` line needs a `---` line above it"));
            }
            self.file_at(line);
            self.hunks.push_line(line, text);
        }
        Ok(1)
    }

    /// Whether no line of any hunk was read.
    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.hunks.is_empty()
    }

    /// Whether a new file begins here. Inside a hunk the two lines may also be a removed and an
    /// added one; those are not followed by the header of a hunk.
    fn is_next_file(&self, at: usize) -> bool {
        if at + 1 >= self.end || !is_file_header(self.lines, at) {
            return false;
        }
        let is_null = |line: &str| line[4..].trim_end() == "/dev/null";
        let null = is_null(self.lines[at]) || is_null(self.lines[at + 1]);
        if null || !self.hunks.is_headed() {
            return true;
        }
        self.lines[at + 2..]
            .iter()
            .take(BLANKS_BELOW_NAMES + 1)
            .find(|line| !line.is_empty())
            .is_some_and(|next| lines::parse_hunk_header(next).is_some())
    }

    /// Whether the `Index:` line of a Subversion diff is here.
    fn is_index(&self, at: usize) -> bool {
        self.lines[at].starts_with("Index: ")
            && self
                .lines
                .get(at + 1)
                .is_some_and(|next| next.starts_with("=====") || is_file_header(self.lines, at + 1))
    }

    fn hunk(&mut self, line: usize, header: HunkHeader) {
        self.file_at(line);
        self.hunks.push_header(line, header);
    }

    fn file_at(&mut self, line: usize) -> &mut DiffFileSection {
        self.file.get_or_insert_with(|| DiffFileSection { line, ..DiffFileSection::default() })
    }

    fn begin(&mut self, line: usize) -> Result<&mut DiffFileSection, DialectError> {
        self.close()?;
        Ok(self.file_at(line))
    }

    fn close(&mut self) -> Result<(), DialectError> {
        let hunks = std::mem::take(&mut self.hunks).finish()?;
        if let Some(mut file) = self.file.take() {
            file.hunks = hunks;
            self.files.push(file);
        }
        Ok(())
    }

    /// Reads a line above the first hunk; `false` if it belongs to the hunk.
    fn is_above_hunks(&mut self, line: usize, text: &str) -> Result<bool, DialectError> {
        match &mut self.file {
            // After `+++`, and without any header, lines are a hunk's.
            Some(file) if file.names.is_none() => file.read_extended_header(line, text),
            _ => Ok(text.trim().is_empty()),
        }
    }
}

/// What git names an empty file by (SHA-1, SHA-256).
const EMPTY_HASHES: [&str; 2] = [
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
];

/// Whether `old..new`, perhaps with a mode behind it, stand for different texts.
fn hashes_differ(text: &str) -> bool {
    let Some((old, new)) = text.split_whitespace().next().and_then(|hashes| hashes.split_once("..")) else {
        return false;
    };
    let is_empty = |hash: &str| {
        hash.bytes().all(|byte| byte == b'0') || EMPTY_HASHES.iter().any(|empty| empty.starts_with(hash))
    };
    old != new && !(is_empty(old) && is_empty(new))
}

fn file_mode(line: usize, text: &str) -> Result<GitFileMode, DialectError> {
    match text.trim() {
        "100755" => Ok(GitFileMode::Executable),
        "100644" | "100664" => Ok(GitFileMode::Regular),
        "120000" => Err(DialectError::at(line, "symbolic links are not supported")),
        "160000" => Err(DialectError::at(line, "submodules are not supported")),
        other => Err(DialectError::at(line, format!("`{}` is not a file mode", other.escape_debug()))),
    }
}

impl DiffFileSection {
    /// A line between the beginning of a file and its names; `false` if it is none of those that
    /// git and Subversion write.
    fn read_extended_header(&mut self, line: usize, text: &str) -> Result<bool, DialectError> {
        if let Some(mode) = text.strip_prefix("new file mode ") {
            self.created = true;
            self.mode = Some(file_mode(line, mode)?);
        } else if let Some(mode) = text.strip_prefix("new mode ") {
            self.mode = Some(file_mode(line, mode)?);
        } else if let Some(mode) = text.strip_prefix("deleted file mode ") {
            file_mode(line, mode)?;
            self.deleted = true;
        } else if let Some(name) = text.strip_prefix("rename from ") {
            self.renamed_from = Some(names::unquote_name(name).into_owned());
        } else if let Some(name) = text.strip_prefix("rename to ") {
            self.renamed_to = Some(names::unquote_name(name).into_owned());
        } else if text.starts_with("copy from ") || text.starts_with("copy to ") {
            return Err(DialectError::at(line, "copies are not supported, send the whole file"));
        } else if text.starts_with("Binary files ") || text.starts_with("GIT binary patch") {
            return Err(DialectError::at(line, "binary files cannot be changed by a diff in an answer"));
        } else if let Some(hashes) = text.strip_prefix("index ") {
            self.text_differs |= hashes_differ(hashes);
        } else if let Some(share) = text.strip_prefix("similarity index ") {
            self.text_differs |= share.trim() != "100%";
        } else {
            const LAYOUT: [&str; 3] = ["old mode ", "dissimilarity index ", "====="];
            let blank = text.trim().is_empty();
            return Ok(blank || LAYOUT.iter().any(|start| text.starts_with(start)));
        }
        Ok(true)
    }

    /// Whether the diff was cut off above its first hunk. git names the files above hunks only; others may
    /// name a file that goes without quoting it.
    fn lacks_hunks(&self) -> bool {
        let goes = self.git_names.is_none() && self.new_is_null();
        self.hunks.is_empty() && (self.text_differs || (self.names.is_some() && !goes))
    }

    pub(in super::super) fn line(&self) -> usize {
        self.line
    }

    /// For adding the hunks of another section about the same file.
    pub(in super::super) fn hunks_mut(&mut self) -> &mut Vec<Hunk> {
        &mut self.hunks
    }

    /// Whether this section only adds hunks for the file of `first`.
    pub(in super::super) fn continues_file(&self, first: &DiffFileSection) -> bool {
        self.git_names.is_none() && self.names.is_some() && self.names == first.names
    }

    /// In order. `headed` is the path in the block's header, if that decides.
    pub(in super::super) fn into_operations(
        self,
        headed: Option<&RelPath>,
        dialect: &'static str,
    ) -> Result<Vec<Operation>, DialectError> {
        let line = self.line;
        let operation = |action| Operation { line, action };
        let created = self.created || self.old_is_null();
        let deleted = self.deleted || self.new_is_null();
        if created && deleted {
            return Err(DialectError::at(
                line,
                "the diff says both that the file is new and that it is deleted",
            ));
        }
        if self.lacks_hunks() {
            let path = self.path(headed).map_or_else(|_| "this file".to_owned(), |path| format!("`{path}`"));
            return Err(DialectError::at(
                line,
                format!("the diff of {path} has no hunks; the answer may be cut off here"),
            ));
        }
        if deleted {
            let path = self.path(headed)?;
            let old = self.deleted_lines()?;
            return Ok(vec![operation(FileAction::Delete { path, old })]);
        }
        let rename = self.rename(headed)?;
        let path = match &rename {
            Some((_, to)) => to.clone(),
            None => self.path(headed)?,
        };
        let mode = self.mode;
        let body = if created {
            Some(self.new_text()?)
        } else if self.hunks.is_empty() && mode.is_none() {
            None
        } else {
            Some(EditBody::Hunks(self.hunks))
        };
        if body.is_none() && rename.is_none() {
            return Err(DialectError::at(
                line,
                format!("the diff of `{path}` has no hunks; the answer may be cut off here"),
            ));
        }
        let moved = rename.map(|(from, to)| operation(FileAction::Rename { from, to }));
        let written = body.map(|body| {
            let edit = FileEdit { dialect, body, seen: None };
            operation(FileAction::Write { path, edit, mode })
        });
        Ok(moved.into_iter().chain(written).collect())
    }

    fn old_is_null(&self) -> bool {
        matches!(self.names, Some((DiffFileName::Null, _)))
    }

    fn new_is_null(&self) -> bool {
        matches!(self.names, Some((_, DiffFileName::Null)))
    }

    fn path(&self, headed: Option<&RelPath>) -> Result<RelPath, DialectError> {
        if let Some(path) = headed {
            return self.check_headed(path).map(|()| path.clone());
        }
        let (old, new) = match (&self.names, &self.git_names) {
            (Some((DiffFileName::File(old), DiffFileName::File(new))), _) => (old, new),
            (
                Some(
                    (DiffFileName::Null, DiffFileName::File(name))
                    | (DiffFileName::File(name), DiffFileName::Null),
                ),
                _,
            ) => {
                return checked_path(self.line, names::without_side_prefix(name));
            }
            (_, Some((old, new))) => (old, new),
            _ => {
                return Err(DialectError::at(
                    self.line,
                    "the diff names no file; put its path into the block's header",
                ));
            }
        };
        self.check_git_names()?;
        let shared = names::shared_path(old, new).ok_or_else(|| {
            DialectError::at(
                self.line,
                format!(
                    "the diff names two files, `{}` and `{}`; to rename, say `rename from` and `rename to`",
                    old.escape_debug(),
                    new.escape_debug()
                ),
            )
        })?;
        checked_path(self.line, shared)
    }

    /// Whether a name of the diff means the file of the block's header, or it has none.
    pub(in super::super) fn is_headed(&self, path: &RelPath) -> bool {
        let mut names = self.file_names().peekable();
        names.peek().is_none() || names.any(|name| headed::is_side(name) || headed::is_headed(path, name))
    }

    fn check_headed(&self, path: &RelPath) -> Result<(), DialectError> {
        match self.file_names().last() {
            Some(name) if !self.is_headed(path) => headed::check_headed(path, self.line, "diff", name),
            _ => Ok(()),
        }
    }

    /// As written; from `---` and `+++` if they are there.
    fn file_names(&self) -> impl Iterator<Item = &str> {
        fn file(name: &DiffFileName) -> Option<&str> {
            match name {
                DiffFileName::File(name) => Some(name),
                DiffFileName::Null => None,
            }
        }
        let git = self.git_names.as_ref().filter(|_| self.names.is_none());
        let git = git.into_iter().flat_map(|(old, new)| [old.as_str(), new.as_str()]);
        self.names.iter().flat_map(|(old, new)| [old, new]).filter_map(file).chain(git)
    }

    /// `diff --git` and `+++` must name the same file.
    fn check_git_names(&self) -> Result<(), DialectError> {
        let (Some((_, DiffFileName::File(name))), Some((_, git))) = (&self.names, &self.git_names) else {
            return Ok(());
        };
        if names::shared_path(git, name).is_some() {
            return Ok(());
        }
        let (git, name) = (git.escape_debug(), name.escape_debug());
        Err(DialectError::at(
            self.line,
            format!(
                "`diff --git` names `{git}` and the line with `+++` names `{name}`; which file is meant?"
            ),
        ))
    }

    fn rename(&self, headed: Option<&RelPath>) -> Result<Option<(RelPath, RelPath)>, DialectError> {
        let (from, to) = match (&self.renamed_from, &self.renamed_to) {
            (None, None) => return Ok(None),
            (Some(from), Some(to)) => (checked_path(self.line, from)?, checked_path(self.line, to)?),
            _ => {
                return Err(DialectError::at(self.line, "a rename needs both `rename from` and `rename to`"));
            }
        };
        match headed {
            Some(path) if *path != from && *path != to => Err(DialectError::at(
                self.line,
                format!("the block is headed `{path}`, but its diff renames `{from}` to `{to}`"),
            )),
            _ => Ok(Some((from, to))),
        }
    }

    /// The text of a new file. An empty line that lost its `+` belongs to the text: a file that does not
    /// exist has no context.
    fn new_text(&self) -> Result<EditBody, DialectError> {
        if self.hunks.is_empty() && !self.created {
            return Err(DialectError::at(
                self.line,
                "the diff of a new file has no lines; the answer may be cut off here",
            ));
        }
        let mut text = String::new();
        for hunk in &self.hunks {
            if hunk.before.iter().any(|line| !line.trim().is_empty())
                || hunk.kept.as_ref().map(Vec::len) != Some(hunk.before.len())
            {
                return Err(DialectError::at(
                    hunk.line,
                    "the diff says that the file is new, but not all of its lines begin with `+`",
                ));
            }
            for line in &hunk.after {
                text.push_str(line);
                text.push('\n');
            }
        }
        if self.hunks.last().and_then(|hunk| hunk.final_newline) == Some(false) {
            text.pop();
        }
        Ok(EditBody::Whole { text, must_be_new: true })
    }

    /// The lines of a file that goes; `None` if the diff does not have them.
    fn deleted_lines(self) -> Result<Option<Vec<String>>, DialectError> {
        match self.hunks.iter().find(|hunk| hunk.after.iter().any(|line| !line.trim().is_empty())) {
            Some(hunk) => Err(DialectError::at(
                hunk.line,
                "the diff says that the file is deleted, but not all of its lines begin with `-`",
            )),
            None if self.hunks.is_empty() => Ok(None),
            None => Ok(Some(self.hunks.into_iter().flat_map(|hunk| hunk.before).collect())),
        }
    }
}
