//! Blocks of text to find and text to replace it with.
//!
//! ```text
//! <<<<<<< SEARCH
//! old lines
//! =======
//! new lines
//! >>>>>>> REPLACE
//! ```
//!
//! A block is taken whole or not at all: one without its separator or its end was cut off, and one whose
//! separator could be either of two lines is refused. A line of content that looks like a marker is written
//! with a backslash before it.

mod markers;
mod separator;

use super::opening::{PATH_LINES, is_fence, opening_lines, path_line};
use super::{Dialect, DialectBlock, DialectError, headed};
use crate::proposal::path::RelPath;
use crate::proposal::{EditBody, FileAction, FileEdit, Hunk, Operation};
use markers::{
    SearchMarker, SearchMarkerStyle, escape_marker, parse_line_marker, parse_marker, unescape_marker,
};

pub(super) struct SearchReplaceDialect;

const NAME: &str = "multi-search-replace";
/// Stands below the line numbers of a SEARCH, also where there are none.
const DASHES: &str = "-------";

impl Dialect for SearchReplaceDialect {
    fn name(&self) -> &'static str {
        NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["search-replace"]
    }

    fn description(&self) -> &'static str {
        "Blocks of text to find and text to put there, between `<<<<<<< SEARCH` and `>>>>>>> REPLACE`."
    }

    fn recognises(&self, text: &str) -> bool {
        opening_lines(text).next().is_some_and(|line| {
            matches!(
                parse_marker(line.trim_start()),
                Some(SearchMarker::Search { .. } | SearchMarker::Conflict)
            )
        })
    }

    fn read(&self, block: &DialectBlock<'_>) -> Result<Vec<Operation>, DialectError> {
        let lines = block.lines();
        let mut reader = SearchReplaceReader {
            first: block.line,
            lines: &lines,
            files: SearchReplaceFiles::default(),
            above: None,
            leading: 0,
        };
        let mut at = 0;
        while at < lines.len() {
            at = reader.step(at)?;
        }
        reader.files.operations(block)
    }

    fn print(&self, action: &FileAction) -> String {
        let mut out = String::new();
        if let FileAction::Write { edit: FileEdit { body: EditBody::Hunks(hunks), .. }, .. } = action {
            for hunk in hunks {
                print_hunk(hunk, &mut out);
            }
        }
        out
    }
}

struct SearchReplaceReader<'a> {
    first: usize,
    lines: &'a [&'a str],
    files: SearchReplaceFiles,
    /// The last meaningful line outside of a hunk.
    above: Option<usize>,
    /// How many such lines come before the first hunk.
    leading: usize,
}

impl SearchReplaceReader<'_> {
    /// Reads the line at `at`, or the hunk that begins there; returns where to continue.
    fn step(&mut self, at: usize) -> Result<usize, DialectError> {
        let line = self.lines[at];
        let bare = line.trim_start();
        let number = self.first + at;
        let (ends, path) = match parse_marker(bare) {
            Some(SearchMarker::Search { ends, path }) => (ends, path),
            Some(SearchMarker::Conflict) => {
                return Err(DialectError::at(
                    number,
                    "these are merge conflict markers; write `<<<<<<< SEARCH` and `>>>>>>> REPLACE`",
                ));
            }
            Some(SearchMarker::Separator { .. } | SearchMarker::Replace(_)) => {
                return Err(DialectError::at(
                    number,
                    format!("`{}` stands outside of a SEARCH block", clip_for_message(bare)),
                ));
            }
            None => return self.outside(at).map(|()| at + 1),
        };
        let name = path.map(|path| (number, path)).or_else(|| self.name_above());
        let indent = &line[..line.len() - bare.len()];
        let end = self.end_of(at, ends, indent)?;
        let hunk = self.hunk(at, end, ends, indent)?;
        self.files.add(number, name, hunk);
        self.above = None;
        Ok(end + 1)
    }

    /// A line outside of hunks. Only lines that name the file may come before the first one: text that says
    /// more is a whole file in which hunks occur, such as a test of this code.
    fn outside(&mut self, at: usize) -> Result<(), DialectError> {
        let line = self.lines[at];
        if line.trim().is_empty() || is_fence(line) {
            return Ok(());
        }
        self.above = Some(at);
        if !self.files.files.is_empty() {
            return Ok(());
        }
        self.leading += 1;
        if self.leading > PATH_LINES || path_line(line).is_none() {
            return Err(DialectError::at(
                self.first + at,
                "only the file's path may stand before the first `<<<<<<< SEARCH`",
            ));
        }
        Ok(())
    }

    /// The file named by the last line above; prose further up does not count.
    fn name_above(&self) -> Option<(usize, RelPath)> {
        let at = self.above?;
        Some((self.first + at, path_line(self.lines[at])?))
    }

    /// Where the hunk that begins at `start` ends.
    fn end_of(&self, start: usize, ends: SearchMarkerStyle, indent: &str) -> Result<usize, DialectError> {
        for at in start + 1..self.lines.len() {
            let Some(bare) = self.lines[at].strip_prefix(indent) else {
                continue;
            };
            match parse_marker(bare) {
                Some(SearchMarker::Replace(found)) if found.sign == ends.sign => return Ok(at),
                Some(SearchMarker::Search { ends: found, .. }) if found.sign == ends.sign => {
                    return Err(DialectError::at(
                        self.first + at,
                        format!(
                            "a SEARCH block begins here before the one of line {} has ended",
                            self.first + start
                        ),
                    ));
                }
                _ => {}
            }
        }
        Err(DialectError::at(
            self.first + start,
            "the SEARCH block that begins here has no `>>>>>>> REPLACE`; the answer may be cut off",
        ))
    }

    fn hunk(
        &self,
        start: usize,
        end: usize,
        ends: SearchMarkerStyle,
        indent: &str,
    ) -> Result<Hunk, DialectError> {
        let mut hunk = Hunk { line: self.first + start, ..Hunk::default() };
        let begin = self.line_markers(start + 1, end, &mut hunk);
        let body = &self.lines[begin..end];
        let separator = separator::find(body, ends, indent)
            .map_err(|reason| reason.to_dialect_error(self.first + start, self.first + begin))?;
        let (mut before, after) = (&body[..separator.start], &body[separator.end..]);
        if begin == start + 1 && Self::has_lone_dashes(before, after) {
            before = &before[1..];
        }
        hunk.before = before.iter().map(|line| unescape_marker(line)).collect();
        hunk.after.reserve_exact(body.len() - separator.end);
        for (at, line) in body.iter().enumerate().skip(separator.end) {
            if parse_line_marker(line).is_some() {
                return Err(DialectError::at(
                    self.first + begin + at,
                    format!(
                        "`{}` belongs below SEARCH, not into the replacement; content that looks like it begins with a backslash",
                        clip_for_message(line)
                    ),
                ));
            }
            hunk.after.push(unescape_marker(line));
        }
        Ok(hunk)
    }

    /// Reads `:start_line:`, `:end_line:` and the dashes below them; returns where the content begins.
    fn line_markers(&self, from: usize, end: usize, hunk: &mut Hunk) -> usize {
        let mut at = from;
        while at < end
            && let Some((is_start, number)) = parse_line_marker(self.lines[at].trim_start())
        {
            if is_start {
                hunk.claimed = Some(number);
            } else {
                hunk.claimed_end = Some(number);
            }
            at += 1;
        }
        let dashes = |line: &str| line.len() >= 5 && line.bytes().all(|byte| byte == b'-');
        if at > from && at < end && dashes(self.lines[at].trim()) {
            at += 1;
        }
        at
    }

    /// Whether the dashes stand there without the numbers above them, and are not content: neither all of the
    /// old text nor the beginning of the new one.
    fn has_lone_dashes(before: &[&str], after: &[&str]) -> bool {
        let is_dashes = |line: Option<&&str>| line.is_some_and(|line| line.trim() == DASHES);
        is_dashes(before.first()) && before.len() > 1 && !is_dashes(after.first())
    }
}

/// A line of the response, clipped for a message.
fn clip_for_message(line: &str) -> String {
    line.chars().take(60).collect::<String>().escape_debug().to_string()
}

/// The hunks read so far, with the files named by lines of the block itself.
#[derive(Default)]
struct SearchReplaceFiles {
    files: Vec<SearchReplaceFile>,
}

struct SearchReplaceFile {
    line: usize,
    name: Option<(usize, RelPath)>,
    hunks: Vec<Hunk>,
}

impl SearchReplaceFiles {
    fn add(&mut self, line: usize, name: Option<(usize, RelPath)>, hunk: Hunk) {
        if let Some(last) = self.files.last_mut() {
            let same = match (&name, &last.name) {
                (None, _) => true,
                (Some((_, new)), Some((_, old))) => new == old,
                (Some(_), None) => false,
            };
            if same {
                last.hunks.push(hunk);
                return;
            }
        }
        self.files.push(SearchReplaceFile { line, name, hunks: vec![hunk] });
    }

    fn operations(self, block: &DialectBlock<'_>) -> Result<Vec<Operation>, DialectError> {
        if self.files.is_empty() {
            return Err(DialectError::at(
                block.line,
                "the block is said to be search and replace, but it has no `<<<<<<< SEARCH` line",
            ));
        }
        let files = match &block.path {
            Some(path) => vec![self.for_headed(block.line, path)?],
            None => self.files,
        };
        files.into_iter().map(|file| file.operation(block)).collect()
    }

    /// All hunks, for the one file that the block's header names.
    fn for_headed(self, line: usize, path: &RelPath) -> Result<SearchReplaceFile, DialectError> {
        let mut hunks = Vec::new();
        let mut other: Option<RelPath> = None;
        for mut file in self.files {
            if let Some((at, name)) = file.name.filter(|(_, name)| name != path) {
                // One other spelling is the same file; two are two files.
                if !headed::is_headed(path, name.as_str())
                    || other.as_ref().is_some_and(|other| *other != name)
                    || (other.is_none() && !hunks.is_empty())
                {
                    return Err(DialectError::at(
                        at,
                        format!(
                            "the block is headed `{path}`, but this line names `{name}`; give each file a block of its own"
                        ),
                    ));
                }
                other = Some(name);
            }
            hunks.append(&mut file.hunks);
        }
        Ok(SearchReplaceFile { line, name: Some((line, path.clone())), hunks })
    }
}

impl SearchReplaceFile {
    fn operation(self, block: &DialectBlock<'_>) -> Result<Operation, DialectError> {
        let path = match self.name {
            Some((_, path)) => path,
            None => block.headed_path()?,
        };
        Ok(Operation {
            line: self.line,
            action: FileAction::Write {
                path,
                edit: FileEdit { dialect: NAME, body: EditBody::Hunks(self.hunks), seen: None },
                mode: None,
            },
        })
    }
}

fn print_hunk(hunk: &Hunk, out: &mut String) {
    out.push_str("<<<<<<< SEARCH\n");
    if let Some(line) = hunk.claimed {
        out.push_str(&format!(":start_line:{line}\n"));
    }
    if let Some(line) = hunk.claimed_end {
        out.push_str(&format!(":end_line:{line}\n"));
    }
    if hunk.claimed.is_some() || hunk.claimed_end.is_some() {
        out.push_str("-------\n");
    }
    for line in &hunk.before {
        out.push_str(&escape_marker(line));
        out.push('\n');
    }
    out.push_str("=======\n");
    for line in &hunk.after {
        out.push_str(&escape_marker(line));
        out.push('\n');
    }
    out.push_str(">>>>>>> REPLACE\n");
}
