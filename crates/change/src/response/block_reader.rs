//! From one block to operations: which file it is about, its dialect, or why it is not a change at all. A
//! damaged block that set out to be a change is *broken*; a block that says nothing about a file is an
//! example.

use std::borrow::Cow;

use super::ResponseError;
use super::block_shape::{
    SEARCH_REPLACE, begins_nameless, exceeded_limit, has_changed_lines, holds_named_search, holds_patch,
    is_headless_diff, is_kept_as_file, is_shell, is_whole_file, names_files_itself, unescape_edit,
};
use super::control;
use super::file_names::{self, FirstLineName};
use super::header::{self, FenceHeader, HeaderSubject};
use super::lines::ResponseLines;
use super::markers::{self, StartEndMarkers};
use super::remarks::BlockRemark;
use super::segments::{BlockSegment, SegmentDefect, SegmentForm};
use crate::dialect::patch_marker::{self, PatchMarker};
use crate::dialect::{self, Dialect, DialectBlock, DialectError, headed, heredocs};
use crate::proposal::limits::PlanLimits;
use crate::proposal::path::RelPath;
use crate::proposal::{FileAction, Operation, ProposalNote};

#[derive(Debug)]
pub(super) enum BlockOutcome {
    Operations(Vec<Operation>),
    Control,
    /// Not a change; the reason.
    Example(String),
    /// It set out to be a change; the line (from 1) and the reason.
    Broken(usize, String),
    /// It exceeds a limit.
    TooMuch(ResponseError),
}

impl From<DialectError> for BlockOutcome {
    fn from(error: DialectError) -> BlockOutcome {
        BlockOutcome::Broken(error.line, error.reason)
    }
}

/// How the names of files end that hold commands or diffs.
const SCRIPTS: &[&str] = &[".sh", ".bash", ".zsh", ".ps1", ".cmd", ".bat", ".diff", ".patch"];

/// A block, and what its surroundings say.
pub(super) struct BlockReader<'a> {
    pub lines: &'a ResponseLines<'a>,
    pub segment: &'a BlockSegment,
    /// Where the block above ends: names are not looked for beyond.
    pub floor: usize,
    /// The block above is a change.
    pub below_change: bool,
    /// The file of the last edit.
    pub last_path: Option<&'a RelPath>,
    pub limits: &'a PlanLimits,
    /// Whether anybody will see the reason why it is an example.
    pub explain: bool,
    pub notes: Vec<ProposalNote>,
    /// The line (from 0) above the block that named its file.
    pub name_line: Option<usize>,
}

impl<'a> BlockReader<'a> {
    pub(super) fn read_block(&mut self) -> BlockOutcome {
        let segment = self.segment;
        let line = segment.range.start + 1;
        match segment.defect {
            Some(SegmentDefect::CutOff) => {
                return BlockOutcome::Broken(
                    line,
                    "the edit that begins here has no end; the answer may be cut off".to_owned(),
                );
            }
            Some(SegmentDefect::UncertainEnd) => {
                let reason = "it cannot be told where this diff ends; put it between fences";
                return BlockOutcome::Broken(line, reason.to_owned());
            }
            Some(SegmentDefect::RunsInto(next)) if matches!(&segment.form, SegmentForm::Fence(fence) if fence.names_file) =>
            {
                return swallowing_outcome(line, next);
            }
            _ => {}
        }
        if self.is_stray() {
            let reason = format!(
                "this fence opens a block that is never closed; the block that ends on line {} may have lost its own fence",
                self.floor
            );
            return BlockOutcome::Broken(line, reason);
        }
        let first = self.lines.get(segment.range.start);
        let info = match &segment.form {
            SegmentForm::Fence(fence) => fence.info(first),
            SegmentForm::Tag | SegmentForm::Bare => "",
        };
        let mut header = header::read(info);
        if matches!(segment.form, SegmentForm::Tag)
            && let Some(path) = file_names::tag_path(first)
        {
            header.subject = HeaderSubject::Path(path);
        }
        let mut text = self.lines.block_text(segment.content.clone(), segment.indent);
        let as_it_is = header.dialect.is_some_and(is_whole_file);
        match unescape_edit(&text).filter(|_| !as_it_is) {
            Some(Ok(unescaped)) => text = Cow::Owned(unescaped),
            Some(Err(reason)) => return BlockOutcome::Broken(line, reason.to_owned()),
            None => {}
        }
        let outcome = self.by_subject(&header, &text);
        let outcome = self.check_name_above(outcome);
        self.apply_defect(outcome)
    }

    /// Refuses a change of another file than the line names that stands directly above it and says nothing else.
    fn check_name_above(&self, outcome: BlockOutcome) -> BlockOutcome {
        let BlockOutcome::Operations(operations) = &outcome else { return outcome };
        let start = self.segment.range.start;
        let line_at = |above: usize| {
            let at = start.checked_sub(above).filter(|at| *at >= self.floor)?;
            Some(self.lines.get(at).trim())
                .filter(|line| !line.starts_with(['-', '+', '*', '<']) || line.starts_with("**"))
        };
        let name_at = |above: usize| line_at(above).and_then(file_names::path_line);
        // One of several names in a list is not the name of the block below it.
        let Some(name) = name_at(1).filter(|_| name_at(2).is_none() && self.name_line.is_none()) else {
            return outcome;
        };
        let is_named = |path: &RelPath| {
            let above = RelPath::parse(&name);
            headed::is_headed(path, &name)
                || above.is_ok_and(|above| headed::is_headed(&above, path.as_str()))
        };
        let named = operations.iter().any(|operation| match &operation.action {
            FileAction::Rename { from, to } => is_named(from) || is_named(to),
            action => is_named(action.path()),
        });
        match operations.first() {
            Some(first) if !named => {
                let path = first.action.path();
                let reason = format!(
                    "the line above this block names `{}`, but the block is for `{path}`",
                    clipped(&name)
                );
                BlockOutcome::Broken(start + 1, reason)
            }
            _ => outcome,
        }
    }

    /// Whether a bare fence opens nothing, with text between it and the change above: then that change
    /// probably ended earlier, and contains prose. Directly below it is a superfluous fence, which harms
    /// nobody.
    fn is_stray(&self) -> bool {
        let segment = self.segment;
        let opens_nothing = match segment.defect {
            Some(SegmentDefect::RunsInto(_)) => true,
            Some(SegmentDefect::Unclosed | SegmentDefect::Open) => {
                let content = segment.content.clone();
                self.lines.next_nonblank(content.start, content.end).is_none()
            }
            _ => false,
        };
        self.below_change
            && opens_nothing
            && matches!(&segment.form, SegmentForm::Fence(fence) if fence.is_bare)
            && self.lines.next_nonblank(self.floor, segment.range.start).is_some()
    }

    /// What odd ends mean for what was read between them.
    fn apply_defect(&mut self, outcome: BlockOutcome) -> BlockOutcome {
        let line = self.segment.range.start + 1;
        match outcome {
            BlockOutcome::Operations(_) => {}
            BlockOutcome::Control if self.segment.defect == Some(SegmentDefect::Open) => {
                let reason = "the control block has no closing fence; the answer may be cut off here";
                return BlockOutcome::Broken(line, reason.to_owned());
            }
            _ => return outcome,
        }
        match self.segment.defect {
            Some(SegmentDefect::RunsInto(next)) => return swallowing_outcome(line, next),
            // A patch says itself where it ends.
            Some(SegmentDefect::Open) if !self.ends_by_itself() => {
                let reason = "the closing fence of this block is missing; the answer may be cut off here";
                return BlockOutcome::Broken(line, reason.to_owned());
            }
            Some(SegmentDefect::Unclosed | SegmentDefect::Open) => {
                self.note(line, "the closing fence of this block is missing");
            }
            Some(SegmentDefect::Nested) => {
                let last = self.segment.range.end;
                let text = format!("this block holds fences of its own; it was taken to end on line {last}");
                self.note(line, text);
            }
            _ => {}
        }
        outcome
    }

    /// Whether the content says itself where it ends: it is a patch with both of its ends, or stands between START and
    /// END. An end without its beginning is a line of a file that was cut off there.
    fn ends_by_itself(&self) -> bool {
        let content = self.segment.content.clone();
        let Some(last) = self.lines.last_nonblank(content.end, content.start) else { return false };
        let first = (content.start..last).map(|line| self.lines.get(line).trim());
        let mut first = first.filter(|line| !line.is_empty()).take(3);
        let end = self.lines.get(last);
        if patch_marker::parse(end.trim()) == Some(PatchMarker::End) {
            // The command of a heredoc may stand above.
            return first.any(|line| patch_marker::parse(line) == Some(PatchMarker::Begin));
        }
        let names_file =
            |line: &&str| line.starts_with("#!") || file_names::first_line_name(line, "").is_some();
        markers::is_end(end) && first.find(|line| !names_file(line)).is_some_and(markers::is_start)
    }

    fn by_subject(&mut self, header: &FenceHeader<'_>, text: &str) -> BlockOutcome {
        let line = self.segment.range.start + 1;
        match header.subject {
            HeaderSubject::Rename => rename_outcome(line, text),
            HeaderSubject::Ambiguous(said) => {
                let said = clipped(said);
                let reason =
                    format!("`{said}` may be a path or a remark; write a path in quotes: `// \"{said}\"`");
                BlockOutcome::Broken(line, reason)
            }
            HeaderSubject::Path(path) if file_names::names_lines(path) => {
                let path = clipped(path);
                let reason =
                    format!("`{path}` names some lines of a file; send the whole file, or an edit of it");
                BlockOutcome::Broken(line, reason)
            }
            HeaderSubject::Path(path)
                if header.remark.is_some()
                    && header.dialect.is_none_or(is_whole_file)
                    && is_whole_file(dialect::detect(text)) =>
            {
                remarked_outcome(line, path, header.remark)
            }
            HeaderSubject::Path(path) => match RelPath::parse(path) {
                Ok(path) => self.read_headed(header, path, text),
                Err(error) => BlockOutcome::Broken(line, error.to_string()),
            },
            HeaderSubject::None if header.cited.is_some() => {
                self.read_cited(header, header.cited.unwrap_or_default(), text)
            }
            HeaderSubject::None if self.is_control(header, text) => BlockOutcome::Control,
            HeaderSubject::None => self.read_unheaded(header, text),
        }
    }

    /// A block whose header quotes lines of a file: an edit if it is written as one, never the whole file.
    fn read_cited(&mut self, header: &FenceHeader<'_>, path: &str, text: &str) -> BlockOutcome {
        if is_whole_file(dialect::detect(text)) {
            return BlockOutcome::Example(format!("this block quotes lines of `{}`", clipped(path)));
        }
        match RelPath::parse(path) {
            Ok(path) => self.read_headed(header, path, text),
            Err(error) => BlockOutcome::Broken(self.segment.range.start + 1, error.to_string()),
        }
    }

    /// YAML with the keys of a control block is one, unless the line above names a YAML file.
    fn is_control(&self, header: &FenceHeader<'_>, text: &str) -> bool {
        let is_yaml_file = |path: String| path.ends_with(".yml") || path.ends_with(".yaml");
        matches!(self.segment.form, SegmentForm::Fence(_))
            && control::may_be_yaml(header.language)
            && control::has_control_keys(text)
            && file_names::first_line_name(text, header.language).is_none()
            && !self
                .line_above()
                .is_some_and(|(_, line)| file_names::path_line(line).is_some_and(is_yaml_file))
    }

    /// A block whose header names the file.
    fn read_headed(&mut self, header: &FenceHeader<'_>, path: RelPath, text: &str) -> BlockOutcome {
        let (body, line) = match self.content_lines(text, header, Some(&path)) {
            Ok(body) => body,
            Err(outcome) => return outcome,
        };
        let body = body.as_ref();
        let first = file_names::first_line_name(body, header.language)
            .filter(|first| RelPath::parse(first.path).is_ok_and(|named| named == path));
        let below_name = first.as_ref().map(|first| &body[first.below..]);
        if markers::is_delete(body) || below_name.is_some_and(markers::is_delete) {
            return self.delete_outcome(path);
        }
        let file = path.extension().is_some_and(|extension| ["diff", "patch"].contains(&extension));
        let mut detected = dialect::detect(body);
        if is_kept_as_file(detected, path.as_str()) {
            detected = dialect::detect("");
        }
        let chosen = match header.dialect {
            Some(dialect) => dialect,
            None if is_whole_file(detected) && !file && (header.is_diff() || is_headless_diff(body)) => {
                dialect::by_name("new-unified").unwrap_or(detected)
            }
            None => detected,
        };
        if let Some(first) = first.filter(|first| is_whole_file(chosen) && first.remark.is_some()) {
            return remarked_outcome(line, first.path, first.remark);
        }
        let block = DialectBlock { path: Some(path), text: body, line };
        let outcome = self.read_dialect(chosen, &block);
        let other = detected.name() != chosen.name() && !is_whole_file(detected);
        if !other || !matches!(outcome, BlockOutcome::Broken(..)) {
            return outcome;
        }
        let second = self.read_dialect(detected, &block);
        if !matches!(second, BlockOutcome::Operations(_)) {
            return outcome;
        }
        let (said, is) = (chosen.name(), detected.name());
        self.note(line, format!("the header says `{said}`, but the block is written as `{is}`"));
        second
    }

    /// Reads a block, unless it obviously exceeds the limits.
    fn read_dialect(&mut self, dialect: &dyn Dialect, block: &DialectBlock<'_>) -> BlockOutcome {
        if !is_whole_file(dialect)
            && let Some(error) = exceeded_limit(block.text, self.limits)
        {
            return BlockOutcome::TooMuch(error);
        }
        if matches!(self.segment.form, SegmentForm::Bare) && dialect.name() == heredocs::NAME {
            let above = (self.floor..self.segment.range.start).rev().map(|line| self.lines.get(line));
            if let Some(reason) = heredocs::hindrance_above(above) {
                return BlockOutcome::Broken(block.line, reason);
            }
        }
        let read = dialect.read(block);
        if let Some(remark) = read.as_ref().ok().and_then(|_| dialect.remark(block.text)) {
            self.note(block.line, remark);
        }
        read.map_or_else(BlockOutcome::from, BlockOutcome::Operations)
    }

    /// Whether a block that looks like the dialect rather is a file, or a script that only shows it.
    fn is_file_in_form(
        &self,
        dialect: &dyn Dialect,
        header: &FenceHeader<'_>,
        first: Option<&FirstLineName<'_>>,
        body: &str,
    ) -> bool {
        if !is_kept_as_file(dialect, ".md") {
            return false;
        }
        let above = || self.line_above().and_then(|(_, line)| file_names::path_line(line));
        let named = first.map(|first| first.path.to_owned()).or_else(above);
        if dialect.name() != heredocs::NAME {
            return named.is_some_and(|name| is_kept_as_file(dialect, &name));
        }
        let commands =
            is_shell(header.language) || (header.language.is_empty() && heredocs::begins_heredoc(body));
        !commands || named.is_some_and(|name| SCRIPTS.iter().any(|end| name.ends_with(end)))
    }

    /// A block whose header says nothing: its first line, the line above, or its own headers may.
    fn read_unheaded(&mut self, header: &FenceHeader<'_>, text: &str) -> BlockOutcome {
        let (body, line) = match self.content_lines(text, header, None) {
            Ok(body) => body,
            Err(outcome) => return outcome,
        };
        let body = body.as_ref();
        let first = file_names::first_line_name(body, header.language);
        let named = first.as_ref().and_then(|first| first.dialect);
        let mut chosen = named.unwrap_or_else(|| dialect::detect(body.trim_start_matches('\n')));
        if named.is_none() && self.is_file_in_form(chosen, header, first.as_ref(), body) {
            chosen = dialect::detect("");
        }
        if is_whole_file(chosen) && holds_patch(body) {
            chosen = dialect::by_name("apply-patch").unwrap_or(chosen);
        }
        let mut block = DialectBlock { path: None, text: body, line };
        if is_whole_file(chosen) && named.is_none() && self.is_unnamed_diff(header, first.as_ref(), body) {
            chosen = dialect::by_name("new-unified").unwrap_or(chosen);
            if let Some(first) = &first {
                block.text = &body[first.below..];
                block.line += first.skipped;
            }
        }
        if is_whole_file(chosen) {
            return self.read_unheaded_whole(header, first, body, line);
        }
        if !begins_nameless(body) {
            let outcome = self.read_dialect(chosen, &block);
            if !matches!(outcome, BlockOutcome::Broken(..)) || names_files_itself(chosen, body) {
                return outcome;
            }
        }
        block.path = match self.name_around(first.map(|first| first.path.to_owned())) {
            Some(name) => match RelPath::parse(&name) {
                Ok(path) => Some(path),
                Err(error) => return BlockOutcome::Broken(line, error.to_string()),
            },
            None => self.last_path.filter(|_| chosen.name() == SEARCH_REPLACE).cloned(),
        };
        self.read_dialect(chosen, &block)
    }

    /// Whether a block without `@@` is an edit because its fence says so. The text of a diff file is none.
    fn is_unnamed_diff(
        &self,
        header: &FenceHeader<'_>,
        first: Option<&FirstLineName<'_>>,
        body: &str,
    ) -> bool {
        let above = || self.line_above().and_then(|(_, line)| file_names::path_line(line));
        let name = first.map(|first| first.path.to_owned()).or_else(above);
        let is_file = name.is_some_and(|name| name.ends_with(".diff") || name.ends_with(".patch"));
        header.is_diff() && has_changed_lines(body) && !is_file
    }

    /// The name for an edit that has none itself: from its first line, or from the line above, which may
    /// say more than the path because the edit has to match the file anyway.
    fn name_around(&mut self, first: Option<String>) -> Option<String> {
        if first.is_some() {
            return first;
        }
        let (at, above) = self.line_above()?;
        let path = file_names::path_line(above);
        self.name_line = path.is_some().then_some(at);
        path.or_else(|| file_names::mentioned_path(above))
    }

    /// A whole file whose name is on the block's first line, or alone on the line above.
    fn read_unheaded_whole(
        &mut self,
        header: &FenceHeader<'_>,
        first: Option<FirstLineName<'_>>,
        body: &str,
        line: usize,
    ) -> BlockOutcome {
        let (name, body, line) = match first {
            Some(first) if first.remark.is_some() => return remarked_outcome(line, first.path, first.remark),
            Some(first) if first.below > 0 => {
                let below = &body[first.below..];
                let text = below.trim_start_matches('\n');
                let line = line + first.skipped + below.len() - text.len();
                (Some(first.path.to_owned()), text, line)
            }
            Some(first) => (Some(first.path.to_owned()), body, line),
            None => (self.name_above(header), body, line),
        };
        let Some(name) = name else {
            if markers::is_delete(body) {
                return BlockOutcome::Broken(
                    line,
                    "this block deletes a file but does not name it".to_owned(),
                );
            }
            if holds_named_search(body) {
                let reason = "this block holds edits, but it cannot be told which file they are for; put its path into the header";
                return BlockOutcome::Broken(line, reason.to_owned());
            }
            return BlockOutcome::Example(self.example_reason(header));
        };
        match RelPath::parse(&name) {
            Err(error) => BlockOutcome::Broken(line, error.to_string()),
            Ok(path) if markers::is_delete(body) => self.delete_outcome(path),
            Ok(path) => {
                let block = DialectBlock { path: Some(path), text: body, line };
                self.read_dialect(dialect::detect(""), &block)
            }
        }
    }

    /// The path alone on the line above. The argument of a shell command is not the file.
    fn name_above(&mut self, header: &FenceHeader<'_>) -> Option<String> {
        let (at, above) = self.line_above()?;
        let path = file_names::path_line(above)?;
        // One of several names in a list is not the name of the block below it.
        let before = at.checked_sub(1).filter(|before| *before >= self.floor);
        if before.is_some_and(|before| file_names::path_line(self.lines.get(before)).is_some()) {
            return None;
        }
        let patch = ["diff", "patch"].iter().any(|name| name.eq_ignore_ascii_case(header.language));
        if (patch || is_shell(header.language)) && !SCRIPTS.iter().any(|end| path.ends_with(end)) {
            return None;
        }
        self.name_line = Some(at);
        Some(path)
    }

    /// The nearest meaningful line above the block, ignoring buttons of a web page.
    fn line_above(&self) -> Option<(usize, &'a str)> {
        let mut at = self.segment.range.start;
        for _ in 0..4 {
            at = self.lines.last_nonblank(at, self.floor)?;
            let line = self.lines.get(at);
            let is_open_tag =
                markers::parse_tag(line.trim()).is_some() && file_names::tag_path(line).is_none();
            if !file_names::is_page_button(line) && !is_open_tag {
                return Some((at, line));
            }
        }
        None
    }

    /// Without START and END, and the line (from 1) where it begins. `named` is the file that the header names.
    fn content_lines<'t>(
        &mut self,
        text: &'t str,
        header: &FenceHeader<'_>,
        named: Option<&RelPath>,
    ) -> Result<(Cow<'t, str>, usize), BlockOutcome> {
        let line = self.segment.content.start + 1;
        let found = markers::strip_start_end(text);
        if matches!(found, StartEndMarkers::None | StartEndMarkers::Lone("END"))
            && let Some((content, skipped)) = framed_below_first_lines(text, header.language, named)
        {
            return Ok((Cow::Owned(content), line + skipped));
        }
        match found {
            StartEndMarkers::Pair { text, skipped } => Ok((Cow::Borrowed(text), line + skipped)),
            StartEndMarkers::Lone("START")
                if matches!(self.segment.defect, Some(SegmentDefect::Unclosed | SegmentDefect::Open)) =>
            {
                let reason = "this block begins with START, but END and the closing fence are missing; the answer is cut off";
                Err(BlockOutcome::Broken(line, reason.to_owned()))
            }
            StartEndMarkers::Lone(marker) => {
                let other = if marker == "START" { "END" } else { "START" };
                self.note(
                    line,
                    format!(
                        "this block has a {marker} line but no {other} line; {marker} was taken for content"
                    ),
                );
                Ok((Cow::Borrowed(text), line))
            }
            StartEndMarkers::None => Ok((Cow::Borrowed(text), line)),
        }
    }

    fn delete_outcome(&self, path: RelPath) -> BlockOutcome {
        BlockOutcome::Operations(vec![Operation {
            line: self.segment.range.start + 1,
            action: FileAction::Delete { path, old: None },
        }])
    }

    fn example_reason(&self, header: &FenceHeader<'_>) -> String {
        if !self.explain {
            return String::new();
        }
        let block = match header.language {
            "" => Cow::Borrowed("this block"),
            language => Cow::Owned(format!("this ```{} block", clipped(language))),
        };
        let mention = self.line_above().and_then(|(_, line)| file_names::mentioned_path(line));
        match mention {
            Some(path) => format!(
                "{block} names no file; treated as an example (the line above mentions `{path}`: if it is that file, write `// {path}` behind the fence)"
            ),
            None => format!("{block} names no file; treated as an example"),
        }
    }

    fn note(&mut self, line: usize, text: impl Into<String>) {
        self.notes.push(ProposalNote { line, text: text.into() });
    }
}

/// The content of a block in which START stands below a `#!` line, which belongs to the file, or below a line that repeats
/// the path, which does not if the header has it. With the number of lines that were dropped above it.
fn framed_below_first_lines(text: &str, language: &str, named: Option<&RelPath>) -> Option<(String, usize)> {
    let mut rest = text;
    let (mut kept, mut dropped) = (String::new(), 0);
    for _ in 0..2 {
        let first_line = rest.find('\n').map(|end| &rest[..=end])?;
        if first_line.starts_with("#!") {
            kept.push_str(first_line);
        } else {
            let path = file_names::first_line_name(first_line, language)?.path;
            if named.is_some_and(|named| RelPath::parse(path).is_ok_and(|path| path == *named)) {
                dropped += 1;
            } else {
                kept.push_str(first_line);
            }
        }
        rest = &rest[first_line.len()..];
        if let StartEndMarkers::Pair { text, skipped } = markers::strip_start_end(rest) {
            return Some((kept + text, dropped + skipped));
        }
    }
    None
}

/// A block that would be a whole file, but for a remark behind its path.
fn remarked_outcome(line: usize, path: &str, remark: Option<BlockRemark>) -> BlockOutcome {
    let path = clipped(path);
    match remark {
        Some(BlockRemark::Shown) => {
            BlockOutcome::Example(format!("this block is not said to be the new text of `{path}`"))
        }
        _ => {
            let reason = format!(
                "this block is said to be only a part of `{path}`; send the whole file, or an edit of it"
            );
            BlockOutcome::Broken(line, reason)
        }
    }
}

fn swallowing_outcome(line: usize, next: usize) -> BlockOutcome {
    let reason = format!("this block has no closing fence before the block on line {}", next + 1);
    BlockOutcome::Broken(line, reason)
}

/// The block of a rename: `{"from": …, "to": …}`.
fn rename_outcome(line: usize, text: &str) -> BlockOutcome {
    #[derive(serde::Deserialize)]
    struct RenameBlock {
        from: String,
        to: String,
    }
    let names: RenameBlock = match serde_json::from_str(text.trim()) {
        Ok(names) => names,
        Err(error) => {
            let reason = format!("a rename needs JSON with `from` and `to`: {}", clipped(&error.to_string()));
            return BlockOutcome::Broken(line, reason);
        }
    };
    match (RelPath::parse(&names.from), RelPath::parse(&names.to)) {
        (Ok(from), Ok(to)) => {
            BlockOutcome::Operations(vec![Operation { line, action: FileAction::Rename { from, to } }])
        }
        (Err(error), _) | (_, Err(error)) => BlockOutcome::Broken(line, error.to_string()),
    }
}

/// A piece of the response, clipped for a message.
fn clipped(text: &str) -> String {
    text.chars().take(80).collect::<String>().escape_debug().to_string()
}
