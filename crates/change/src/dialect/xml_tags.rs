//! Edits between tags, as the agents of editors write them: `<write_to_file>` with `<path>` and `<content>`,
//! `<apply_diff>` and `<replace_in_file>` with `<diff>`, `<edit>` and `<str_replace>` with `<search>` and `<replace>`
//! (under any of their names). They are read into the dialects that they wrap.
//!
//! The text between two tags is taken as it is, without one line break at either end. If all of it shows that it is
//! encoded (`&lt;` and not one `<`), it is refused.

use super::tool_calls;
use super::{Dialect, DialectBlock, DialectError, checked_path, detect};
use crate::proposal::path::RelPath;
use crate::proposal::{EditBody, FileAction, FileEdit, Hunk, Operation, TextSpan};

pub(super) struct XmlTagsDialect;

const NAME: &str = "xml-tags";

/// Tags around one edit.
pub(crate) const ELEMENTS: &[&str] = &[
    "write_to_file",
    "create_file",
    "write_file",
    "replace_in_file",
    "apply_diff",
    "str_replace",
    "search_replace",
    "edit_file",
    "edit",
    "file",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagPart {
    Path,
    Content,
    Diff,
    Search,
    Replace,
    /// How many lines the content has.
    LineCount,
    Remark,
}

/// Tags inside of an edit.
const PARTS: &[(&str, TagPart)] = &[
    ("path", TagPart::Path),
    ("file", TagPart::Path),
    ("file_path", TagPart::Path),
    ("filename", TagPart::Path),
    ("content", TagPart::Content),
    ("file_text", TagPart::Content),
    ("diff", TagPart::Diff),
    ("search", TagPart::Search),
    ("old_str", TagPart::Search),
    ("old_string", TagPart::Search),
    ("old_text", TagPart::Search),
    ("old", TagPart::Search),
    ("find", TagPart::Search),
    ("replace", TagPart::Replace),
    ("new_str", TagPart::Replace),
    ("new_string", TagPart::Replace),
    ("new_text", TagPart::Replace),
    ("new", TagPart::Replace),
    ("line_count", TagPart::LineCount),
    ("description", TagPart::Remark),
    ("explanation", TagPart::Remark),
    ("instructions", TagPart::Remark),
    ("task_progress", TagPart::Remark),
];

/// No opening tag is longer.
const TAG_BYTES: usize = 1_024;

impl Dialect for XmlTagsDialect {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Edits between tags: `<write_to_file>`, `<replace_in_file>`, `<apply_diff>`, `<edit>` with `<search>` and `<replace>`."
    }

    fn recognises(&self, text: &str) -> bool {
        may_begin_edit(text.trim_start()) && find_extent(text, &mut Vec::new()).is_some()
    }

    fn read(&self, block: &DialectBlock<'_>) -> Result<Vec<Operation>, DialectError> {
        let mut reader = TagReader { block, at: 0, counted: (0, block.line), operations: Vec::new() };
        while reader.skip_blanks() {
            reader.element()?;
        }
        if reader.operations.is_empty() {
            return Err(DialectError::at(block.line, "the block is said to be tags, but it has none"));
        }
        Ok(reader.operations)
    }

    /// `read` only yields what other dialects write.
    fn print(&self, _action: &FileAction) -> String {
        String::new()
    }
}

/// Which replacement belongs to which search.
const PAIRS: &[(&str, &str)] = &[
    ("search", "</replace>"),
    ("find", "</replace>"),
    ("old_str", "</new_str>"),
    ("old_string", "</new_string>"),
    ("old_text", "</new_text>"),
    ("old", "</new>"),
];

/// Whether a line is nothing but the tag that opens an edit, or a part of one.
pub(crate) fn is_open_tag(line: &str) -> bool {
    let open = OpenTag::parse(line).filter(|open| open.length == line.len());
    open.is_some_and(|open| is_element(open.name) || part(open.name).is_some())
}

/// Whether a line may begin an edit; [`find_extent`] decides by what follows.
pub(crate) fn may_begin_edit(line: &str) -> bool {
    OpenTag::parse(line).is_some_and(|open| is_element(open.name) || part(open.name) == Some(TagPart::Search))
}

/// Where the edit ends that begins a text which goes on.
pub(crate) enum TagExtent {
    /// After so many bytes.
    Closed(usize),
    /// Its last tag is missing.
    Open,
}

/// Finds the end of the edit at the beginning of a text, if there is one. `missing` are closing tags that do not occur
/// any more, so that they are not looked for again.
pub(crate) fn find_extent(text: &str, missing: &mut Vec<String>) -> Option<TagExtent> {
    let start = text.len() - text.trim_start().len();
    let open = OpenTag::parse(&text[start..])?;
    let mut find = |from: usize, close: &str| {
        if missing.iter().any(|tag| tag == close) {
            return None;
        }
        let found = memchr::memmem::find(&text.as_bytes()[from..], close.as_bytes());
        if found.is_none() {
            missing.push(close.to_owned());
        }
        found.map(|at| from + at + close.len())
    };
    let inner = OpenTag::parse(text[start + open.length..].trim_start());
    if is_element(open.name) && inner.is_some_and(|inner| part(inner.name).is_some()) {
        return Some(find(start, &format!("</{}>", open.name)).map_or(TagExtent::Open, TagExtent::Closed));
    }
    let (name, close) = PAIRS.iter().find(|(name, _)| *name == open.name)?;
    let searched = find(start, &format!("</{name}>"))?;
    let Some(mut end) = find(searched, close) else {
        // `<search>` is also a tag of HTML.
        let replaces = text[searched..].trim_start().starts_with(&close.replace('/', ""));
        return replaces.then_some(TagExtent::Open);
    };
    while text[end..].trim_start().starts_with(&format!("<{name}>")) {
        match find(end, close) {
            Some(next) => end = next,
            None => return Some(TagExtent::Open),
        }
    }
    Some(TagExtent::Closed(end))
}

fn is_element(name: &str) -> bool {
    ELEMENTS.contains(&name)
}

fn part(name: &str) -> Option<TagPart> {
    PARTS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

/// `<name attribute="…">`.
struct OpenTag<'a> {
    name: &'a str,
    attributes: &'a str,
    /// Its bytes.
    length: usize,
}

impl<'a> OpenTag<'a> {
    /// At the beginning of `text`.
    fn parse(text: &'a str) -> Option<OpenTag<'a>> {
        let inside = text.strip_prefix('<')?;
        let name = inside.bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'_').count();
        let end = memchr::memchr2(b'>', b'\n', inside.as_bytes()).filter(|end| *end <= TAG_BYTES)?;
        let (name, attributes) = inside.get(..end)?.split_at(name);
        let bounded = attributes.is_empty() || attributes.starts_with(' ');
        let closed = inside.as_bytes()[end] == b'>';
        (!name.is_empty() && bounded && closed).then_some(OpenTag { name, attributes, length: end + 2 })
    }

    fn path(&self) -> Option<&'a str> {
        ["path", "file", "filename", "file_path", "name"].iter().find_map(|key| {
            let (_, value) = self.attributes.split_once(&format!(" {key}=\""))?;
            value.split_once('"').map(|(path, _)| path)
        })
    }
}

struct TagReader<'a, 'b> {
    block: &'a DialectBlock<'b>,
    at: usize,
    /// A place in the text and its line of the response.
    counted: (usize, usize),
    operations: Vec<Operation>,
}

/// The text between two tags.
#[derive(Clone, Copy)]
struct TagText<'a> {
    text: &'a str,
    line: usize,
    /// The tags stand on lines of their own.
    is_lines: bool,
    /// There is a line break above the closing tag.
    ends_line: bool,
}

/// The parts of one edit.
#[derive(Default)]
struct TagParts<'a> {
    path: Option<(usize, &'a str)>,
    content: Option<TagText<'a>>,
    diff: Option<TagText<'a>>,
    search: Option<TagText<'a>>,
    pairs: Vec<(TagText<'a>, TagText<'a>)>,
    line_count: Option<usize>,
}

impl<'a> TagReader<'a, '_> {
    fn rest(&self) -> &'a str {
        &self.block.text[self.at..]
    }

    /// Whether anything follows.
    fn skip_blanks(&mut self) -> bool {
        self.at += self.rest().len() - self.rest().trim_start().len();
        !self.rest().is_empty()
    }

    /// The line of the response where the reader is; it only moves on.
    fn line(&mut self) -> usize {
        let (from, line) = self.counted;
        let passed = &self.block.text.as_bytes()[from..self.at];
        self.counted = (self.at, line + memchr::memchr_iter(b'\n', passed).count());
        self.counted.1
    }

    fn error<T>(&mut self, reason: impl Into<String>) -> Result<T, DialectError> {
        Err(DialectError::at(self.line(), reason))
    }

    /// One edit: an element with its parts, or parts without one.
    fn element(&mut self) -> Result<(), DialectError> {
        let line = self.line();
        let Some(open) = OpenTag::parse(self.rest()) else {
            return self.error("expected a tag here");
        };
        let mut parts = TagParts { path: open.path().map(|path| (line, path)), ..TagParts::default() };
        let inner = OpenTag::parse(self.rest()[open.length..].trim_start());
        let wraps = is_element(open.name) && inner.is_some_and(|inner| part(inner.name).is_some());
        let close = wraps.then(|| format!("</{}>", open.name));
        if wraps {
            self.at += open.length;
        }
        loop {
            if !self.skip_blanks() {
                match &close {
                    Some(close) => {
                        return self.error(format!("`{close}` is missing; the answer may be cut off"));
                    }
                    None => break,
                }
            }
            if let Some(close) = close.as_ref().filter(|close| self.rest().starts_with(close.as_str())) {
                self.at += close.len();
                break;
            }
            self.part(&mut parts)?;
        }
        self.finish(line, parts)
    }

    fn part(&mut self, parts: &mut TagParts<'a>) -> Result<(), DialectError> {
        let Some(open) = OpenTag::parse(self.rest()) else {
            return self.error("expected a tag here");
        };
        let Some(kind) = part(open.name) else {
            return self.error(format!("`<{}>` is no part of an edit", open.name));
        };
        self.at += open.length;
        let text = self.text(open.name)?;
        let twice = match kind {
            TagPart::Path => parts.path.replace((text.line, text.text.trim())).is_some(),
            TagPart::Content => parts.content.replace(text).is_some(),
            TagPart::Diff => parts.diff.replace(text).is_some(),
            TagPart::Search => parts.search.replace(text).is_some(),
            TagPart::Replace => match parts.search.take() {
                Some(search) => {
                    parts.pairs.push((search, text));
                    false
                }
                None => return self.error(format!("nothing to search for stands before `<{}>`", open.name)),
            },
            TagPart::LineCount => match text.text.trim().parse() {
                Ok(count) => parts.line_count.replace(count).is_some(),
                Err(_) => false,
            },
            TagPart::Remark => false,
        };
        if twice {
            return self.error(format!("`<{}>` is there twice", open.name));
        }
        Ok(())
    }

    /// The text up to the closing tag: the first one that is followed by another tag of an edit or by nothing.
    fn text(&mut self, name: &str) -> Result<TagText<'a>, DialectError> {
        let rest = self.rest();
        let close = format!("</{name}>");
        let ends = |at: &usize| {
            let below = rest[at + close.len()..].trim_start();
            let tag = below.strip_prefix("</").map_or(OpenTag::parse(below).map(|open| open.name), |below| {
                below.split_once('>').map(|(name, _)| name)
            });
            below.is_empty() || tag.is_some_and(|name| part(name).is_some() || is_element(name))
        };
        let Some(end) = memchr::memmem::find_iter(rest.as_bytes(), &close).find(ends) else {
            let reason =
                "is missing, or something follows it that is no part of an edit; the answer may be cut off";
            return self.error(format!("`{close}` {reason}"));
        };
        let body = &rest[..end];
        let quoted = body.trim().strip_prefix("<![CDATA[").and_then(|body| body.strip_suffix("]]>"));
        let body = quoted.unwrap_or(body);
        let (text, leads) = match body.strip_prefix('\n') {
            Some(text) => (text, true),
            None => (body, false),
        };
        let last = text.rfind('\n').filter(|at| text[*at..].trim().is_empty());
        // Only the opening tag's own line break stands between two tags on neighbouring lines.
        let ends_line = last.is_some() || (leads && text.trim().is_empty());
        let text = if ends_line { &text[..last.unwrap_or(0)] } else { text };
        let line = self.line() + usize::from(leads);
        self.at += end + close.len();
        if quoted.is_none() && is_encoded(text) {
            let reason = "this text has `&lt;` and the like where `<` may be meant; send it without them, or in a fence";
            return Err(DialectError::at(line, reason));
        }
        Ok(TagText { text, line, is_lines: leads && ends_line, ends_line })
    }

    fn finish(&mut self, line: usize, parts: TagParts<'a>) -> Result<(), DialectError> {
        let path = self.path(parts.path)?;
        let count = [parts.content.is_some(), parts.diff.is_some(), !parts.pairs.is_empty()];
        if parts.search.is_some() || count.into_iter().filter(|is| *is).count() != 1 {
            return Err(DialectError::at(
                line,
                "an edit has either `<content>`, or `<diff>`, or `<search>` and `<replace>`; the answer may be cut off",
            ));
        }
        if let Some(TagText { text, ends_line, .. }) = parts.content {
            // An empty line below the last one is counted by some.
            let count = text.lines().count();
            if let Some(said) = parts.line_count.filter(|said| *said > count + 1) {
                let reason = format!(
                    "`<line_count>` says {said} lines, but there are {count}; the answer may be cut off"
                );
                return Err(DialectError::at(line, reason));
            }
            let text = if ends_line && !text.is_empty() { format!("{text}\n") } else { text.to_owned() };
            // Only a tool call can say that a file does not end in a line break.
            let is_lines = text.is_empty() || text.ends_with('\n');
            let text = if is_lines { text } else { tool_calls::plain_breaks(text) };
            let dialect = if is_lines { detect("").name() } else { tool_calls::NAME };
            self.push(line, path.clone(), dialect, EditBody::Whole { text, must_be_new: false });
        } else if let Some(TagText { text, line, .. }) = parts.diff {
            let text = format!("{text}\n");
            let block = DialectBlock { path: Some(path.clone()), text: &text, line };
            let dialect = detect(&text);
            if dialect.name() == detect("").name() || dialect.name() == NAME {
                return Err(DialectError::at(line, "`<diff>` holds neither a diff nor SEARCH blocks"));
            }
            self.operations.append(&mut dialect.read(&block)?);
        }
        for (search, replace) in parts.pairs {
            self.replacement(&path, search, replace)?;
        }
        Ok(())
    }

    /// Between tags on lines of their own stand whole lines.
    fn replacement(
        &mut self,
        path: &RelPath,
        search: TagText<'_>,
        replace: TagText<'_>,
    ) -> Result<(), DialectError> {
        let line = search.line;
        if search.text.is_empty() {
            return Err(DialectError::at(line, "there is nothing to search for"));
        }
        if !search.is_lines {
            let plain = |text: &str| tool_calls::plain_breaks(text.to_owned());
            let span = TextSpan { old: plain(search.text), new: plain(replace.text), every: false };
            tool_calls::push_hunk(line, path.clone(), span.into_hunk(line), &mut self.operations);
            return Ok(());
        }
        let lines = |text: &str| text.split('\n').map(str::to_owned).collect();
        let after = if replace.text.is_empty() { Vec::new() } else { lines(replace.text) };
        let hunk = Hunk { line, before: lines(search.text), after, ..Hunk::default() };
        self.push(line, path.clone(), "multi-search-replace", EditBody::Hunks(Vec::from([hunk])));
        Ok(())
    }

    fn path(&self, named: Option<(usize, &str)>) -> Result<RelPath, DialectError> {
        let named = named.map(|(line, path)| Ok((line, checked_path(line, path)?))).transpose()?;
        match (named, &self.block.path) {
            (Some((line, named)), Some(headed)) if named != *headed => Err(DialectError::at(
                line,
                format!("the block is headed `{headed}`, but this tag names `{named}`"),
            )),
            (Some((_, path)), _) => Ok(path),
            (None, _) => self.block.headed_path(),
        }
    }

    fn push(&mut self, line: usize, path: RelPath, dialect: &'static str, body: EditBody) {
        let edit = FileEdit { dialect, body, seen: None };
        self.operations.push(Operation { line, action: FileAction::Write { path, edit, mode: None } });
    }
}

/// Whether a text has entities for `<`, `>` or `&`, and none of these itself.
fn is_encoded(text: &str) -> bool {
    const ENTITIES: [&str; 4] = ["&lt;", "&gt;", "&amp;", "&quot;"];
    let mut found = false;
    for at in memchr::memchr3_iter(b'<', b'>', b'&', text.as_bytes()) {
        if !ENTITIES.iter().any(|entity| text[at..].starts_with(entity)) && !text[at..].starts_with("&#") {
            return false;
        }
        found = true;
    }
    found
}
