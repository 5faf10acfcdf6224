//! Calls of editing tools as agents print them, in JSON: a text editor's `str_replace`, `create` and `insert`, the
//! `Edit`, `MultiEdit` and `Write` of Claude Code, and lists of such edits; alone, in a list, or one per line, perhaps
//! inside of `{"name": …, "input": {…}}`.
//!
//! A replacement means exactly these characters, which may begin and end inside of a line, and only once in the file
//! (unless `replace_all`): see [`TextSpan`].

mod json;

use serde_json::error::Category;

use super::{Dialect, DialectBlock, DialectError, checked_path};
use crate::proposal::path::RelPath;
use crate::proposal::{EditBody, FileAction, FileEdit, Hunk, Operation, TextSpan};
use json::{CallList, EditorCall};

pub(super) struct ToolCallsDialect;

pub(super) const NAME: &str = "tool-calls";

/// No tool and no path has a longer name.
const NAME_BYTES: usize = 4_096;

impl Dialect for ToolCallsDialect {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Calls of an agent's editing tools in JSON: `str_replace`, `create`, `insert`, `Edit`, `MultiEdit`, `Write`, `delete_file`, `move_file`."
    }

    fn recognises(&self, text: &str) -> bool {
        json::begins_call(text) && is_call(text)
    }

    fn read(&self, block: &DialectBlock<'_>) -> Result<Vec<Operation>, DialectError> {
        let at = |(line, reason): (usize, String)| DialectError::at(block.line + line, reason);
        let mut operations = Vec::new();
        for (line, effects) in parse(block.text).map_err(at)? {
            for effect in effects.map_err(|reason| at((line, reason)))? {
                push_effect(block, block.line + line, effect, &mut operations)?;
            }
        }
        if operations.is_empty() {
            return Err(DialectError::at(
                block.line,
                "the block is said to be tool calls, but none changes a file",
            ));
        }
        Ok(operations)
    }

    fn remark(&self, text: &str) -> Option<String> {
        let parsed = parse(text).ok()?;
        let effects = parsed.iter().filter_map(|(_, effects)| effects.as_ref().ok()).flatten();
        let is_unknown = |effect: &&CallEffect| matches!(effect.change, CallChange::Unknown);
        let count = effects.filter(is_unknown).count();
        (count > 0).then(|| "other tool calls in this block were not carried out".to_owned())
    }

    fn print(&self, action: &FileAction) -> String {
        let edit = match action {
            FileAction::Write { edit, .. } => edit,
            FileAction::Delete { path, .. } => {
                return format!("{}\n", serde_json::json!({"name": "delete_file", "input": {"path": path}}));
            }
            FileAction::Rename { from, to } => {
                let input = serde_json::json!({"source": from, "destination": to});
                return format!("{}\n", serde_json::json!({"name": "move_file", "input": input}));
            }
            // `read` never yields one.
            FileAction::Exact { .. } => return String::new(),
        };
        let calls: Vec<serde_json::Value> = match &edit.body {
            EditBody::Whole { text, must_be_new: true } => {
                Vec::from([serde_json::json!({"command": "create", "file_text": text})])
            }
            EditBody::Whole { text, .. } => {
                Vec::from([serde_json::json!({"name": "write", "content": text})])
            }
            EditBody::Hunks(hunks) => hunks.iter().filter_map(print_hunk).collect(),
        };
        calls.iter().map(|call| format!("{call}\n")).collect()
    }
}

fn print_hunk(hunk: &Hunk) -> Option<serde_json::Value> {
    let TextSpan { old, new, every } = hunk.span.as_deref()?;
    Some(match hunk.claimed {
        Some(line) => serde_json::json!({"insert_line": line.saturating_sub(1), "insert_text": new}),
        None => serde_json::json!({"old_string": old, "new_string": new, "replace_all": every}),
    })
}

/// Whether some lines begin like a call.
pub(crate) fn begins_call(text: &str) -> bool {
    json::begins_call(text)
}

/// How many bytes the call has that begins a text which goes on; of one that is not valid, up to the line where that
/// shows.
pub(crate) fn leading_call(text: &str) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<CallList>();
    match values.next()? {
        Ok(calls) => {
            let end = values.byte_offset();
            changes_something(&effects_of(calls)).then_some(end)
        }
        Err(error) => {
            let lines = text.split_inclusive('\n').take(error.line());
            let end = lines.map(str::len).sum();
            json::sets_out(&text[..end]).then_some(end)
        }
    }
}

/// Whether a whole text is calls, or set out to be.
fn is_call(text: &str) -> bool {
    match parse(text) {
        Ok(calls) => calls.iter().any(|(_, effects)| changes_something(effects)),
        Err(_) => json::sets_out(text),
    }
}

/// What the calls of one value do, or why they cannot be carried out.
type CallEffects = Result<Vec<CallEffect>, String>;

fn changes_something(effects: &CallEffects) -> bool {
    let is_unknown = |effect: &CallEffect| matches!(effect.change, CallChange::Unknown);
    !matches!(effects, Ok(effects) if effects.iter().all(is_unknown))
}

/// The effects of each value, with the line (from 0) where it begins.
fn parse(text: &str) -> Result<Vec<(usize, CallEffects)>, (usize, String)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<CallList>();
    let mut parsed = Vec::new();
    let (mut from, mut line) = (0, 0);
    while let Some(value) = values.next() {
        let calls = value.map_err(|error| (error_line(&error), json_error(&error)))?;
        let blanks = text[from..].len() - text[from..].trim_start().len();
        line += breaks(&text[from..from + blanks]);
        parsed.push((line, effects_of(calls)));
        let end = values.byte_offset();
        line += breaks(&text[from + blanks..end]);
        from = end;
    }
    Ok(parsed)
}

fn breaks(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

/// From 0. What is wrong with a line break is wrong with the line that it ends.
fn error_line(error: &serde_json::Error) -> usize {
    error.line().saturating_sub(1 + usize::from(error.column() == 0))
}

fn json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    match error.classify() {
        Category::Eof => "the tool call that begins here has no end; the answer may be cut off".to_owned(),
        Category::Data => format!("this tool call cannot be read: {text}"),
        _ => format!("this tool call is not valid JSON: {text}"),
    }
}

/// What a call does to a file.
struct CallEffect {
    path: Option<String>,
    change: CallChange,
}

enum CallChange {
    Whole {
        text: String,
        must_be_new: bool,
    },
    Replace(TextSpan),
    Insert {
        below: usize,
        text: String,
    },
    Delete,
    MoveTo(String),
    /// None that relay knows; the tool may run something.
    Unknown,
}

fn effects_of(CallList(calls): CallList) -> CallEffects {
    let mut effects = Vec::new();
    for call in calls {
        add_effects(call, &CallContext::default(), &mut effects)?;
    }
    Ok(effects)
}

/// What the objects around a call say about it.
#[derive(Default, Clone)]
struct CallContext {
    name: Option<String>,
    path: Option<String>,
    /// It is one of several edits, or the input of a tool.
    inner: bool,
    /// It was read out of a string.
    in_string: bool,
}

fn add_effects(call: EditorCall, around: &CallContext, effects: &mut Vec<CallEffect>) -> Result<(), String> {
    let EditorCall { name, command, path, is_file_path, old, new, is_tool_text, from, to, .. } = call;
    let known = effects.len();
    let name = name.or_else(|| around.name.clone());
    let path = path.or_else(|| around.path.clone());
    if [&name, &path].into_iter().flatten().any(|text| text.len() > NAME_BYTES) {
        return Err(format!("this tool call has a name of more than {NAME_BYTES} bytes"));
    }
    let (old, new) = (old.map(plain_breaks), new.map(plain_breaks));
    let mut push = |change| effects.push(CallEffect { path: path.clone(), change });
    let writes = || {
        let name = name.as_deref().unwrap_or_default().to_ascii_lowercase();
        ["write", "create"].iter().any(|verb| name.contains(verb))
    };
    let wholes = usize::from(call.file_text.is_some()) + usize::from(call.content.is_some());
    if wholes + usize::from(old.is_some()) + usize::from(call.insert_line.is_some()) > 1 {
        return Err("this tool call says several things at once".to_owned());
    }
    let missing = |what: &str| Err(format!("this tool call has no `{what}`"));
    match (command.as_deref(), old, new) {
        (Some("undo_edit"), ..) => return Err("`undo_edit` cannot be carried out".to_owned()),
        (Some("create"), ..) if call.file_text.is_none() && call.content.is_none() => {
            return missing("file_text");
        }
        (Some("str_replace"), None, _) => return missing("old_str"),
        (Some("insert"), ..) if call.insert_line.is_none() => return missing("insert_line"),
        (_, Some(old), Some(text)) if old.is_empty() && is_tool_text => {
            push(CallChange::Whole { text, must_be_new: true });
        }
        (Some("str_replace"), Some(old), new) => {
            push(CallChange::Replace(TextSpan { old, new: new.unwrap_or_default(), every: call.every }));
        }
        // `search` and `replace` are also what other JSON has.
        (_, Some(old), Some(new)) if is_tool_text || path.is_some() => {
            push(CallChange::Replace(TextSpan { old, new, every: call.every }));
        }
        (_, Some(_), None) if is_tool_text => return missing("new_str"),
        (_, None, Some(text)) if call.insert_line.is_some() => {
            push(CallChange::Insert { below: call.insert_line.unwrap_or_default(), text });
        }
        _ if call.insert_line.is_some() => return missing("insert_text"),
        _ => {}
    }
    if let Some(text) = call.file_text {
        push(CallChange::Whole { text: plain_breaks(text), must_be_new: true });
    } else if let Some(text) =
        call.content.filter(|_| is_file_path || writes() || (around.inner && path.is_some()))
    {
        let must_be_new = command.as_deref() == Some("create");
        push(CallChange::Whole { text: plain_breaks(text), must_be_new });
    }
    if effects.len() == known && call.inner.is_empty() && call.arguments.is_none() {
        let verb = command.as_deref().or(name.as_deref());
        let is_command = command.is_some();
        if let Some(verb) = verb {
            effects.extend(file_effect(verb, is_command, path, from.zip(to), around)?);
        }
        return Ok(());
    }
    let inner = CallContext { name, path, inner: true, in_string: around.in_string };
    if let Some(text) = call.arguments {
        return add_arguments(&text, inner, effects);
    }
    call.inner.into_iter().try_for_each(|call| add_effects(call, &inner, effects))
}

/// What a tool or command does of which no text is known.
fn file_effect(
    verb: &str,
    is_command: bool,
    path: Option<String>,
    moved: Option<(String, String)>,
    around: &CallContext,
) -> Result<Option<CallEffect>, String> {
    let plain: String =
        verb.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase();
    // Other JSON has such words, too.
    let is_tool = (around.inner && around.name.is_some()) || plain.ends_with("file");
    let is_one_of = |names: &[&str]| is_tool && names.contains(&plain.as_str());
    match (path, moved) {
        (Some(path), None) if is_one_of(&["deletefile", "removefile", "delete", "remove"]) => {
            Ok(Some(CallEffect { path: Some(path), change: CallChange::Delete }))
        }
        (None, Some((from, to))) if is_one_of(&["movefile", "renamefile", "move", "rename"]) => {
            Ok(Some(CallEffect { path: Some(from), change: CallChange::MoveTo(to) }))
        }
        (Some(path), _) if json::is_changer(verb) && (is_tool || (is_command && is_relative_file(&path))) => {
            Err(format!(
                "`{}` would change `{}` in a way that relay does not know; send it as an edit",
                verb.escape_debug(),
                path.escape_debug()
            ))
        }
        _ if around.inner && !json::is_reader(verb) => {
            Ok(Some(CallEffect { path: None, change: CallChange::Unknown }))
        }
        _ => Ok(None),
    }
}

fn is_relative_file(path: &str) -> bool {
    RelPath::parse(path).is_ok_and(|path| path.extension().is_some())
}

/// With `\n` for every line break; doing it again changes nothing.
pub(super) fn plain_breaks(text: String) -> String {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return text;
    }
    let last = text.rfind('\n').map_or(0, |at| at + 1);
    let lines = text[..last].split_terminator('\n');
    lines.map(|line| format!("{}\n", line.trim_end_matches('\r'))).collect::<String>() + &text[last..]
}

/// The arguments of a call as JSON in a string; a string in that string is none.
fn add_arguments(text: &str, mut around: CallContext, effects: &mut Vec<CallEffect>) -> Result<(), String> {
    if around.in_string {
        return Err("this tool call has strings of JSON inside of each other".to_owned());
    }
    around.in_string = true;
    let CallList(calls) = match serde_json::from_str(text) {
        Ok(calls) => calls,
        Err(error) if json::sets_out(text) => return Err(json_error(&error)),
        Err(_) => return Ok(()),
    };
    calls.into_iter().try_for_each(|call| add_effects(call, &around, effects))
}

fn push_effect(
    block: &DialectBlock<'_>,
    line: usize,
    effect: CallEffect,
    operations: &mut Vec<Operation>,
) -> Result<(), DialectError> {
    if matches!(effect.change, CallChange::Unknown) {
        return Ok(());
    }
    let named = effect.path.map(|path| checked_path(line, &path)).transpose()?;
    let path = match (named, &block.path) {
        (Some(named), Some(headed)) if named != *headed => {
            let reason = format!("the block is headed `{headed}`, but this call names `{named}`");
            return Err(DialectError::at(line, reason));
        }
        (Some(path), _) => path,
        (None, _) => block.headed_path()?,
    };
    let hunk = match effect.change {
        CallChange::Delete => {
            operations.push(Operation { line, action: FileAction::Delete { path, old: None } });
            return Ok(());
        }
        CallChange::MoveTo(to) => {
            let action = FileAction::Rename { from: path, to: checked_path(line, &to)? };
            operations.push(Operation { line, action });
            return Ok(());
        }
        CallChange::Unknown => return Ok(()),
        CallChange::Whole { text, must_be_new } => {
            operations.push(write(line, path, EditBody::Whole { text, must_be_new }));
            return Ok(());
        }
        CallChange::Replace(span) if span.old.is_empty() => {
            return Err(DialectError::at(line, "this tool call has no old text to look for"));
        }
        CallChange::Replace(span) => span.into_hunk(line),
        CallChange::Insert { below, text } => {
            let span = TextSpan { new: text, ..TextSpan::default() };
            Hunk { before: Vec::new(), claimed: Some(below.saturating_add(1)), ..span.into_hunk(line) }
        }
    };
    push_hunk(line, path, hunk, operations);
    Ok(())
}

/// Adds a hunk to the operation above if that is about the same file.
pub(super) fn push_hunk(line: usize, path: RelPath, hunk: Hunk, operations: &mut Vec<Operation>) {
    if let Some(Operation { action: FileAction::Write { path: open, edit, .. }, .. }) = operations.last_mut()
        && *open == path
        && edit.dialect == NAME
        && let EditBody::Hunks(hunks) = &mut edit.body
    {
        hunks.push(hunk);
    } else {
        operations.push(write(line, path, EditBody::Hunks(Vec::from([hunk]))));
    }
}

fn write(line: usize, path: RelPath, body: EditBody) -> Operation {
    let edit = FileEdit { dialect: NAME, body, seen: None };
    Operation { line, action: FileAction::Write { path, edit, mode: None } }
}
