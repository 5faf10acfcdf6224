//! `read`: files with anchors, directories, images, artifacts.

mod directory;
mod image;
mod selector;
mod summary;
#[cfg(test)]
mod tests;
mod unsupported;

use std::io::ErrorKind;
use std::path::Path;
use std::time::SystemTime;

use relaycode_llm::message::UserContent;
use relaycode_llm::request;
use relaycode_text::plural::pluralize;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::card::{CardBody, CardImage, ToolCard};
use crate::file_text::{
    FileText, LineForm, MAX_FILE_BYTES, MAX_OUTPUT_LINES, format_bytes, is_directory, print_lines,
    read_bounded,
};
use crate::internal_urls;
use crate::schema;
use crate::suffix::{SuffixMatch, find_by_suffix};
use crate::tool::{Tool, ToolConcurrency, ToolError, ToolInvocation, ToolOutput, TouchedFiles};
use crate::workspace::ToolWorkspace;
use directory::{DirectoryTree, DirectoryView};
pub use image::image_type;
use image::{MAX_IMAGE_BYTES, image_content};
use selector::{LineSelection, ReadSelector, split_selector};
use summary::FileSummary;

/// Lines shown before and after a range that was asked for.
const LEADING_CONTEXT: usize = 1;
const TRAILING_CONTEXT: usize = 3;
/// Lines of a file's card.
const CARD_BYTES: usize = 16 * 1024;

/// What models are told of lines.
const ANCHORED_LINES: &str = "Each line of a file begins with an anchor, its number and two letters: `41th|def alpha():`. Anchors are \
                              what `edit` takes. They are no part of the file.";
const NUMBERED_LINES: &str =
    "Each line of a file begins with its number: `41|def alpha():`. The number is no part of the file.";
const SUMMARIES: &str = " A file of code or Markdown that is longer is shown without the bodies of its functions and sections, \
     if no selector is given; `… 34 lines (42-75): read src/a.rs:42-75` stands for lines that were not shown, and says how to \
     read them. Read them before you edit or replace them.";

pub(crate) struct ReadTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadInput {
    /// A file, a directory or an address such as `artifact://3`, with a selector if only a part is wanted: `src/main.rs:50-100`,
    /// `:50` (from line 50), `:50+10` (10 lines), `:raw` (as it is, without anchors).
    #[serde(alias = "file_path")]
    path: String,
}

impl Tool for ReadTool {
    fn name(&self) -> &'static str {
        "read"
    }

    fn definition(&self, workspace: &ToolWorkspace) -> request::Tool {
        let lines = if workspace.settings.anchors { ANCHORED_LINES } else { NUMBERED_LINES };
        let summaries = if workspace.settings.read_summarize { SUMMARIES } else { "" };
        let description = include_str!("../../../prompts/read.md")
            .replace("{lines}", lines)
            .replace("{summaries}", summaries);
        schema::define::<ReadInput>(self.name(), &description)
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Shared
    }

    fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
        let ReadInput { path } = schema::read_input(call)?;
        read_path(call, path.trim())
    }

    fn touched_files(&self, _arguments: &Map<String, Value>, details: &Value) -> TouchedFiles {
        let source = details.pointer("/meta/source").or(details.get("resolvedPath")).and_then(Value::as_str);
        let is_file = |path: &&str| !path.contains("://") && details.get("isDirectory").is_none();
        TouchedFiles {
            read: source.filter(is_file).map(str::to_string).into_iter().collect(),
            ..TouchedFiles::default()
        }
    }
}

fn read_path(call: &ToolInvocation<'_>, text: &str) -> Result<ToolOutput, ToolError> {
    call.check_cancelled()?;
    let refused = |error: &dyn std::fmt::Display| ToolError::refused(error.to_string());
    let workspace = call.workspace;
    let (path, selector) = split_selector(text).map_err(|error| refused(&error))?;
    if let Some((urls, rest)) = internal_urls::route(path) {
        let bytes = urls.read(rest, workspace).map_err(ToolError::refused)?;
        return read_text(call, Path::new(path), path, bytes, selector, false);
    }
    if let Some(read) = internal_urls::read_virtual(call, path) {
        return read_text(call, Path::new(path), path, read?, selector, false);
    }
    if let Some((scheme, _)) = path.split_once("://").filter(|(scheme, _)| *scheme != "file") {
        let said = format!(
            "`{scheme}://` cannot be read; files, directories and {} can",
            internal_urls::schemes(workspace)
        );
        return Err(ToolError::refused(said));
    }
    // A file may be called `a:5`.
    let whole = workspace.resolve(text).ok().filter(|found| found.exists);
    let (found, selector) = match whole {
        Some(found) => (found, ReadSelector::default()),
        None => (workspace.resolve(path).map_err(|error| refused(&error))?, selector),
    };
    let mut note = None;
    let mut found_path = found.path;
    if !found.exists {
        if let Some((container, kind)) = unsupported::container_of(text)
            && workspace.resolve(container).is_ok_and(|found| found.exists)
        {
            return Err(ToolError::refused(unsupported_text(container, kind)));
        }
        match find_by_suffix(path, workspace, call.cancel)? {
            SuffixMatch::One(other) => {
                let shown = workspace.shown_path(&other);
                note = Some(format!("[Path '{path}' not found; resolved to '{shown}' via suffix match]\n"));
                found_path = other;
            }
            SuffixMatch::Other(said) => return Err(ToolError::refused(said)),
        }
    }
    workspace.permit_read(call, &found_path)?;
    let shown = workspace.shown_path(&found_path);
    let mut output = if is_directory(&found_path) {
        read_directory(call, &found_path, &shown, selector)?
    } else {
        read_file(call, &found_path, &shown, selector)?
    };
    if let (Some(note), Some(UserContent::Text(first))) = (note, output.content.first_mut()) {
        first.text.insert_str(0, &note);
        if let Some(details) = output.details.as_mut().and_then(|details| details.as_object_mut()) {
            details.insert("suffixResolution".to_string(), json!({ "from": path, "to": shown }));
        }
    }
    Ok(output)
}

fn read_directory(
    call: &ToolInvocation<'_>,
    path: &Path,
    shown: &str,
    selector: ReadSelector,
) -> Result<ToolOutput, ToolError> {
    let most = selector.lines.map_or(MAX_OUTPUT_LINES, |lines| match lines.last {
        Some(last) => last.saturating_sub(lines.first).saturating_add(1),
        None => MAX_OUTPUT_LINES,
    });
    let view = DirectoryView { now: SystemTime::now(), most, rules: &*call.workspace.rules()? };
    let tree = DirectoryTree::read(path, &view)
        .map_err(|error| ToolError::refused(format!("`{shown}` cannot be listed: {error}")))?;
    let summary = pluralize(tree.entries, "entry");
    let body = CardBody::text(tree.text.clone());
    let card = ToolCard::new(format!("read {shown}/"), summary, body);
    let details = json!({ "isDirectory": true, "resolvedPath": path, "meta": { "source": shown, "limits": { "resultLimit": tree.truncated } } });
    Ok(ToolOutput::text(tree.text, card).with_details(details))
}

fn read_file(
    call: &ToolInvocation<'_>,
    path: &Path,
    shown: &str,
    selector: ReadSelector,
) -> Result<ToolOutput, ToolError> {
    let bytes = read_bounded(path, MAX_FILE_BYTES).map_err(|error| {
        let said = match error.kind() {
            ErrorKind::Other => {
                format!("`{shown}` cannot be read: {error}; `search` finds lines in large files")
            }
            _ => format!("`{shown}` cannot be read: {error}"),
        };
        ToolError::refused(said)
    })?;
    let Some(mime_type) = image_type(&bytes) else {
        return read_text(call, path, shown, bytes, selector, true);
    };
    let size = format_bytes(bytes.len() as u64);
    if bytes.len() as u64 > MAX_IMAGE_BYTES {
        let most = format_bytes(MAX_IMAGE_BYTES);
        return Err(ToolError::refused(format!(
            "the image `{shown}` has {size}; at most {most} can be shown"
        )));
    }
    let (width, height) = image::image_size(&bytes).unzip();
    let image = CardImage {
        path: shown.to_string(),
        mime_type: mime_type.to_string(),
        bytes: bytes.len() as u64,
        width,
        height,
    };
    let card = ToolCard::new(format!("read {shown}"), format!("{mime_type}, {size}"), CardBody::Image(image));
    let mut output = ToolOutput::text(format!("Image {shown} [{mime_type}, {size}]"), card);
    output.content.push(UserContent::Image(image_content(&bytes, mime_type)));
    Ok(output.with_details(json!({ "resolvedPath": path, "meta": { "source": shown } })))
}

fn unsupported_text(shown: &str, kind: &str) -> String {
    format!("`{shown}` is {kind}, which `read` cannot open yet; a command can, if there is one for it")
}

fn read_text(
    call: &ToolInvocation<'_>,
    path: &Path,
    shown: &str,
    bytes: Vec<u8>,
    selector: ReadSelector,
    is_file: bool,
) -> Result<ToolOutput, ToolError> {
    let workspace = call.workspace;
    let kind = unsupported::describe_binary(path, &bytes);
    let size = bytes.len() as u64;
    let Some(file) = FileText::new(bytes) else {
        let said = match kind {
            "a binary file" => {
                format!("`{shown}` is a binary file ({}); it cannot be shown as text", format_bytes(size))
            }
            kind => unsupported_text(shown, kind),
        };
        return Err(ToolError::refused(said));
    };
    let lines = file.lines();
    let editable = is_file && file.is_editable(workspace, path);
    let form = match (selector.raw, editable) {
        (true, _) => LineForm::Raw,
        (false, true) => LineForm::Anchored,
        (false, false) => LineForm::Numbered,
    };
    let title = format!("read {shown}");
    if lines.is_empty() {
        if editable {
            workspace.shown().show(path, &file.bytes, &lines, []);
        }
        let card = ToolCard::line(title, "empty");
        return Ok(ToolOutput::text("(empty file)", card).with_details(json!({ "resolvedPath": path })));
    }
    let Some(wanted) = wanted_lines(selector.lines, lines.len(), workspace.settings.read_lines) else {
        let first = selector.lines.map_or(1, |lines| lines.first);
        let text = format!(
            "Line {first} is beyond the end of the file, which has {}. Use :1 to read from the start, or :{} to read the last line.",
            pluralize(lines.len(), "line"),
            lines.len()
        );
        return Ok(ToolOutput::text(text, ToolCard::line(title, "beyond the end"))
            .with_details(json!({ "resolvedPath": path })));
    };
    let printed = print_lines(&lines, wanted.clone(), form);
    let is_long = printed.range.end < lines.len() && selector == ReadSelector::default();
    if is_file && is_long && workspace.settings.read_summarize {
        let (plain, most) = (printed.range.len(), wanted.len());
        if let Some(summary) = FileSummary::of((path, shown), &lines, form, (plain, most)) {
            call.check_cancelled()?;
            if form == LineForm::Anchored {
                workspace.shown().show(path, &file.bytes, &lines, summary.shown.iter().copied());
            }
            return Ok(summarized(path, shown, (lines.len(), size), summary));
        }
    }
    if form == LineForm::Anchored {
        workspace.shown().show(path, &file.bytes, &lines, printed.range.clone());
    }
    let mut text = printed.text.clone();
    let (first, last) = (printed.range.start + 1, printed.range.end);
    let truncated = last < wanted.end
        || (wanted.end < lines.len() && selector.lines.is_none_or(|lines| lines.last.is_none()));
    if truncated {
        text.push_str(&format!(
            "[Lines {first}-{last} of {}. Use :{} to continue.]\n",
            lines.len(),
            last + 1
        ));
    }
    if printed.clipped {
        text.push_str("[The line is too long to be shown whole.]\n");
    }
    if form == LineForm::Numbered
        && is_file
        && workspace.settings.anchors
        && path.starts_with(workspace.root())
    {
        text.push_str("[The file is too large for anchors: it cannot be edited by line.]\n");
    }
    let summary = if printed.range.len() == lines.len() {
        pluralize(lines.len(), "line")
    } else {
        format!("lines {first}-{last} of {}", lines.len())
    };
    let mut plain = String::new();
    for line in &lines[printed.range] {
        if plain.len() + line.len() > CARD_BYTES {
            break;
        }
        plain.push_str(line);
        plain.push('\n');
    }
    let card = ToolCard::new(
        title,
        summary,
        CardBody::Text { text: plain, first_line: Some(first), is_tail: false },
    );
    let mut details = json!({ "resolvedPath": path, "meta": { "source": shown } });
    if truncated {
        details["meta"]["truncation"] = json!({
            "firstLine": first, "lastLine": last, "totalLines": lines.len(), "totalBytes": size, "nextOffset": last + 1,
        });
    }
    Ok(ToolOutput::text(text, card).with_details(details))
}

/// The result for a file of so many lines and bytes.
fn summarized(path: &Path, shown: &str, (total, size): (usize, u64), summary: FileSummary) -> ToolOutput {
    let FileSummary { mut text, shown: lines, elided_spans, elided_lines, covered } = summary;
    let card_text: String = text.chars().take(CARD_BYTES).collect();
    text.push_str(&format!(
        "[{} of {total} left out in {}. Read the ranges that are named, or :1 for the text from its start.]\n",
        pluralize(elided_lines, "line"),
        pluralize(elided_spans, "place"),
    ));
    let mut details = json!({
        "resolvedPath": path,
        "summary": { "lines": lines.len(), "elidedSpans": elided_spans, "elidedLines": elided_lines },
        "meta": { "source": shown },
    });
    if covered < total {
        text.push_str(&format!("[Nothing is shown from line {0} on. Use :{0} to continue.]\n", covered + 1));
        details["meta"]["truncation"] = json!({
            "firstLine": 1, "lastLine": covered, "totalLines": total, "totalBytes": size, "nextOffset": covered + 1,
        });
    }
    let said = format!("{} of {total} lines, as a summary", lines.len());
    let body = CardBody::text(card_text);
    let card = ToolCard::new(format!("read {shown}"), said, body);
    ToolOutput::text(text, card).with_details(details)
}

/// The lines (from 0) that are wanted, with context; `None` if they begin beyond the end.
fn wanted_lines(
    selection: Option<LineSelection>,
    count: usize,
    usual: usize,
) -> Option<std::ops::Range<usize>> {
    let usual = usual.clamp(1, MAX_OUTPUT_LINES);
    let Some(LineSelection { first, last }) = selection else { return Some(0..usual.min(count)) };
    if first > count {
        return None;
    }
    Some(match last {
        Some(last) => {
            let start = (first - 1).saturating_sub(LEADING_CONTEXT);
            start..last.saturating_add(TRAILING_CONTEXT).min(count)
        }
        // One constrained side: the context belongs to it.
        None => {
            let start = (first - 1).saturating_sub(LEADING_CONTEXT);
            start..start.saturating_add(usual).min(count)
        }
    })
}
