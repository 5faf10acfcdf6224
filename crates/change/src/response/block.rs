//! From one block to operations: which file it is about, in which dialect it is written, or why it
//! is no change at all. A block that set out to be a change and is damaged is *broken*; a block that
//! says nothing about a file is an example.

use std::borrow::Cow;

use super::ResponseError;
use super::control;
use super::header::{self, Header, Subject};
use super::lines::Lines;
use super::markers::{self, Between};
use super::naming::{self, FirstLine};
use super::segments::{Form, Segment, Trouble};
use super::shape::{SEARCH_REPLACE, begins_nameless, holds_patch, is_whole, names_files_itself, too_much};
use crate::dialect::{self, Block, Dialect, DialectError};
use crate::limits::Limits;
use crate::path::RelPath;
use crate::proposal::{Action, Note, Operation};

/// What became of a block.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Things to do.
    Operations(Vec<Operation>),
    /// It is the control block.
    Control,
    /// It is no change.
    Example(String),
    /// It set out to be a change; the line (1-based) and the reason.
    Broken(usize, String),
    /// It goes over a limit.
    TooMuch(ResponseError),
}

impl From<DialectError> for Outcome {
    fn from(error: DialectError) -> Outcome {
        Outcome::Broken(error.line, error.reason)
    }
}

/// A block, and what its surroundings say.
pub(super) struct Reading<'a> {
    /// The response.
    pub lines: &'a Lines<'a>,
    /// The block.
    pub segment: &'a Segment,
    /// Where the block above ends: no name is looked for beyond.
    pub floor: usize,
    /// Whether the block above is a change.
    pub below_change: bool,
    /// The file that the last edit was about.
    pub last_path: Option<&'a RelPath>,
    /// How much may be read.
    pub limits: &'a Limits,
    /// Whether the reason why it is an example will be shown to anybody.
    pub explain: bool,
    /// Remarks.
    pub notes: Vec<Note>,
    /// The line (0-based) above the block that gave it its name.
    pub named_by: Option<usize>,
}

impl<'a> Reading<'a> {
    /// Reads the block.
    pub(super) fn outcome(&mut self) -> Outcome {
        let segment = self.segment;
        let line = segment.range.start + 1;
        match segment.trouble {
            Some(Trouble::CutOff) => {
                return Outcome::Broken(
                    line,
                    "the edit that begins here has no end; the answer may be cut off".to_owned(),
                );
            }
            Some(Trouble::Endless) => {
                let reason = "it cannot be told where this diff ends; put it between fences";
                return Outcome::Broken(line, reason.to_owned());
            }
            Some(Trouble::Swallows(next)) if matches!(&segment.form, Form::Fence(fence) if fence.names_file) =>
            {
                return swallows(line, next);
            }
            _ => {}
        }
        if self.is_stray() {
            let reason = format!(
                "this fence opens a block that is never closed; the block that ends on line {} may have lost its own fence",
                self.floor
            );
            return Outcome::Broken(line, reason);
        }
        let first = self.lines.get(segment.range.start);
        let info = match &segment.form {
            Form::Fence(fence) => fence.info(first),
            Form::Tag | Form::Bare => "",
        };
        let mut header = header::read(info);
        if matches!(segment.form, Form::Tag)
            && let Some(path) = naming::tag_path(first)
        {
            header.subject = Subject::Path(path);
        }
        let text = self.lines.block(segment.content.clone(), segment.indent);
        let outcome = self.by_subject(&header, &text);
        self.trouble(outcome)
    }

    /// Whether a bare fence opens nothing, with text between it and the change above: then that
    /// change probably ended earlier, and holds prose. Directly below it is a fence too many, which
    /// harms nobody.
    fn is_stray(&self) -> bool {
        let segment = self.segment;
        let opens_nothing = match segment.trouble {
            Some(Trouble::Swallows(_)) => true,
            Some(Trouble::Unclosed) => {
                let content = segment.content.clone();
                self.lines.next_said(content.start, content.end).is_none()
            }
            _ => false,
        };
        self.below_change
            && opens_nothing
            && matches!(&segment.form, Form::Fence(fence) if fence.is_bare)
            && self.lines.next_said(self.floor, segment.range.start).is_some()
    }

    /// What odd ends mean for what was read between them.
    fn trouble(&mut self, outcome: Outcome) -> Outcome {
        if !matches!(outcome, Outcome::Operations(_)) {
            return outcome;
        }
        let line = self.segment.range.start + 1;
        match self.segment.trouble {
            Some(Trouble::Swallows(next)) => return swallows(line, next),
            Some(Trouble::Unclosed) => {
                let text = "the closing fence of this block is missing; it was read to the end of the answer";
                self.note(line, text);
            }
            Some(Trouble::Nested) => {
                let last = self.segment.range.end;
                let text = format!("this block holds fences of its own; it was taken to end on line {last}");
                self.note(line, text);
            }
            _ => {}
        }
        outcome
    }

    fn by_subject(&mut self, header: &Header<'_>, text: &str) -> Outcome {
        let line = self.segment.range.start + 1;
        match header.subject {
            Subject::Rename => rename(line, text),
            Subject::Doubtful(said) => {
                let said = clipped(said);
                let reason = format!(
                    "`{said}` may be a path or a remark; a path with blanks needs quotes: `// \"{said}\"`"
                );
                Outcome::Broken(line, reason)
            }
            Subject::Path(path) => match RelPath::parse(path) {
                Ok(path) => self.headed(header, path, text),
                Err(error) => Outcome::Broken(line, error.to_string()),
            },
            Subject::None if self.is_control(header, text) => Outcome::Control,
            Subject::None => self.unheaded(header, text),
        }
    }

    /// YAML with the keys of a control block is one, unless the line above names a YAML file.
    fn is_control(&self, header: &Header<'_>, text: &str) -> bool {
        let is_yaml_file = |path: String| path.ends_with(".yml") || path.ends_with(".yaml");
        matches!(self.segment.form, Form::Fence(_))
            && control::is_yaml(header.language)
            && control::has_keys(text)
            && naming::first_line(text, header.language).is_none()
            && !self.above().is_some_and(|(_, line)| naming::path_line(line).is_some_and(is_yaml_file))
    }

    /// A block whose header names the file.
    fn headed(&mut self, header: &Header<'_>, path: RelPath, text: &str) -> Outcome {
        let (body, line) = match self.body(text) {
            Ok(body) => body,
            Err(outcome) => return outcome,
        };
        let below_name = naming::first_line(body, header.language)
            .filter(|first| RelPath::parse(first.path).is_ok_and(|named| named == path))
            .map(|first| &body[first.below..]);
        if markers::delete(body) || below_name.is_some_and(markers::delete) {
            return self.deletion(path);
        }
        let file = path.extension().is_some_and(|extension| ["diff", "patch"].contains(&extension));
        let detected = dialect::detect(body);
        let chosen = match header.dialect {
            Some(dialect) => dialect,
            None if is_whole(detected) && header.is_diff() && !file => {
                dialect::named("new-unified").unwrap_or(detected)
            }
            None => detected,
        };
        let block = Block { path: Some(path), text: body, line };
        let outcome = self.read(chosen, &block);
        let other = detected.name() != chosen.name() && !is_whole(detected);
        if !other || !matches!(outcome, Outcome::Broken(..)) {
            return outcome;
        }
        let second = self.read(detected, &block);
        if !matches!(second, Outcome::Operations(_)) {
            return outcome;
        }
        let (said, is) = (chosen.name(), detected.name());
        self.note(line, format!("the header says `{said}`, but the block is written as `{is}`"));
        second
    }

    /// Reads a block, unless it plainly has more in it than the limits allow.
    fn read(&self, dialect: &dyn Dialect, block: &Block<'_>) -> Outcome {
        if !is_whole(dialect)
            && let Some(error) = too_much(block.text, self.limits)
        {
            return Outcome::TooMuch(error);
        }
        dialect.read(block).map_or_else(Outcome::from, Outcome::Operations)
    }

    /// A block whose header says nothing: its first line, the line above, or its own headers may.
    fn unheaded(&mut self, header: &Header<'_>, text: &str) -> Outcome {
        let (body, line) = match self.body(text) {
            Ok(body) => body,
            Err(outcome) => return outcome,
        };
        let first = naming::first_line(body, header.language);
        let named = first.as_ref().and_then(|first| first.dialect);
        let mut chosen = named.unwrap_or_else(|| dialect::detect(body.trim_start_matches('\n')));
        if is_whole(chosen) && holds_patch(body) {
            chosen = dialect::named("apply-patch").unwrap_or(chosen);
        }
        if is_whole(chosen) {
            return self.unheaded_whole(header, first, body, line);
        }
        let mut block = Block { path: None, text: body, line };
        if !begins_nameless(body) {
            let outcome = self.read(chosen, &block);
            if !matches!(outcome, Outcome::Broken(..)) || names_files_itself(chosen, body) {
                return outcome;
            }
        }
        block.path = match self.name_around(first.map(|first| first.path.to_owned())) {
            Some(name) => match RelPath::parse(&name) {
                Ok(path) => Some(path),
                Err(error) => return Outcome::Broken(line, error.to_string()),
            },
            None => self.last_path.filter(|_| chosen.name() == SEARCH_REPLACE).cloned(),
        };
        self.read(chosen, &block)
    }

    /// The name for an edit that has none itself: from its first line, or from the line above, which
    /// may say more than the path because the edit has to match the file anyway.
    fn name_around(&mut self, first: Option<String>) -> Option<String> {
        if first.is_some() {
            return first;
        }
        let (at, above) = self.above()?;
        let path = naming::path_line(above);
        self.named_by = path.is_some().then_some(at);
        path.or_else(|| naming::mentioned(above))
    }

    /// A whole file whose name stands on the block's first line, or alone on the line above.
    fn unheaded_whole(
        &mut self,
        header: &Header<'_>,
        first: Option<FirstLine<'_>>,
        body: &str,
        line: usize,
    ) -> Outcome {
        let (name, body, line) = match first {
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
            if markers::delete(body) {
                return Outcome::Broken(line, "this block deletes a file but does not name it".to_owned());
            }
            return Outcome::Example(self.example(header));
        };
        match RelPath::parse(&name) {
            Err(error) => Outcome::Broken(line, error.to_string()),
            Ok(path) if markers::delete(body) => self.deletion(path),
            Ok(path) => {
                let block = Block { path: Some(path), text: body, line };
                self.read(dialect::detect(""), &block)
            }
        }
    }

    /// The path that has the line above to itself. What a shell is told to run is not the file.
    fn name_above(&mut self, header: &Header<'_>) -> Option<String> {
        let (at, above) = self.above()?;
        let path = naming::path_line(above)?;
        // One of several names in a list is not the name of the block below it.
        let before = at.checked_sub(1).filter(|before| *before >= self.floor);
        if before.is_some_and(|before| naming::path_line(self.lines.get(before)).is_some()) {
            return None;
        }
        let shell =
            ["bash", "sh", "shell", "console", "zsh", "powershell", "terminal", "cmd", "diff", "patch"];
        let commands = shell.iter().any(|name| name.eq_ignore_ascii_case(header.language));
        let script = [".sh", ".bash", ".zsh", ".ps1", ".cmd", ".bat", ".diff", ".patch"];
        if commands && !script.iter().any(|end| path.ends_with(end)) {
            return None;
        }
        self.named_by = Some(at);
        Some(path)
    }

    /// The nearest line above the block that says something, buttons of a web page left out.
    fn above(&self) -> Option<(usize, &'a str)> {
        let mut at = self.segment.range.start;
        for _ in 0..4 {
            at = self.lines.last_said(at, self.floor)?;
            let line = self.lines.get(at);
            let is_open_tag = markers::tag(line.trim()).is_some() && naming::tag_path(line).is_none();
            if !naming::is_page_furniture(line) && !is_open_tag {
                return Some((at, line));
            }
        }
        None
    }

    /// The text of the block without START and END, and the line (1-based) on which it begins.
    fn body<'t>(&mut self, text: &'t str) -> Result<(&'t str, usize), Outcome> {
        let line = self.segment.content.start + 1;
        match markers::between(text) {
            Between::Pair { text, skipped } => Ok((text, line + skipped)),
            Between::Lone("START") if self.segment.trouble == Some(Trouble::Unclosed) => {
                let reason = "this block begins with START, but END and the closing fence are missing; the answer is cut off";
                Err(Outcome::Broken(line, reason.to_owned()))
            }
            Between::Lone(marker) => {
                let other = if marker == "START" { "END" } else { "START" };
                self.note(
                    line,
                    format!(
                        "this block has a {marker} line but no {other} line; {marker} was taken for content"
                    ),
                );
                Ok((text, line))
            }
            Between::None => Ok((text, line)),
        }
    }

    fn deletion(&self, path: RelPath) -> Outcome {
        Outcome::Operations(vec![Operation {
            line: self.segment.range.start + 1,
            action: Action::Delete { path },
        }])
    }

    fn example(&self, header: &Header<'_>) -> String {
        if !self.explain {
            return String::new();
        }
        let block = match header.language {
            "" => Cow::Borrowed("this block"),
            language => Cow::Owned(format!("this ```{} block", clipped(language))),
        };
        let mention = self.above().and_then(|(_, line)| naming::mentioned(line));
        match mention {
            Some(path) => format!(
                "{block} names no file; treated as an example (the line above mentions `{path}`: if it is that file, write `// {path}` behind the fence)"
            ),
            None => format!("{block} names no file; treated as an example"),
        }
    }

    fn note(&mut self, line: usize, text: impl Into<String>) {
        self.notes.push(Note { line, text: text.into() });
    }
}

fn swallows(line: usize, next: usize) -> Outcome {
    let reason = format!("this block has no closing fence before the block on line {}", next + 1);
    Outcome::Broken(line, reason)
}

/// The block of a rename: `{"from": …, "to": …}`.
fn rename(line: usize, text: &str) -> Outcome {
    #[derive(serde::Deserialize)]
    struct Names {
        from: String,
        to: String,
    }
    let names: Names = match serde_json::from_str(text.trim()) {
        Ok(names) => names,
        Err(error) => {
            let reason = format!("a rename needs JSON with `from` and `to`: {}", clipped(&error.to_string()));
            return Outcome::Broken(line, reason);
        }
    };
    match (RelPath::parse(&names.from), RelPath::parse(&names.to)) {
        (Ok(from), Ok(to)) => {
            Outcome::Operations(vec![Operation { line, action: Action::Rename { from, to } }])
        }
        (Err(error), _) | (_, Err(error)) => Outcome::Broken(line, error.to_string()),
    }
}

/// A piece of the response, fit for a message.
fn clipped(text: &str) -> String {
    text.chars().take(80).collect::<String>().escape_debug().to_string()
}
