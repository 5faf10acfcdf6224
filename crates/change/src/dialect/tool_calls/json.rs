//! The JSON of tool calls, read strictly: known keys, known types, a fixed depth. Other JSON fails at its first
//! unknown key, so that looking at it costs nothing.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A call, its input, its list of edits, an edit; one more for a function around it.
const DEPTH: usize = 5;

/// One object of a call, and those inside of it.
#[derive(Debug, Default)]
pub(super) struct EditorCall {
    /// Of the tool.
    pub name: Option<String>,
    pub command: Option<String>,
    pub path: Option<String>,
    /// It is called `file_path`, which says that it is a tool's.
    pub is_file_path: bool,
    pub old: Option<String>,
    pub new: Option<String>,
    /// The old text has one of the names that only tools use.
    pub is_tool_text: bool,
    pub file_text: Option<String>,
    pub content: Option<String>,
    pub insert_line: Option<usize>,
    /// Of a file that is moved, where it was and where it goes.
    pub from: Option<String>,
    pub to: Option<String>,
    pub every: bool,
    pub inner: Vec<EditorCall>,
    /// JSON in a string.
    pub arguments: Option<String>,
}

/// One value of a text: a call, or a list of them.
pub(super) struct CallList(pub Vec<EditorCall>);

impl<'de> Deserialize<'de> for CallList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CallList, D::Error> {
        CallListSeed(DEPTH).deserialize(deserializer).map(CallList)
    }
}

struct CallListSeed(usize);

impl<'de> DeserializeSeed<'de> for CallListSeed {
    type Value = Vec<EditorCall>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.0 == 0 {
            return Err(D::Error::custom("calls are nested too deeply"));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CallListSeed {
    type Value = Vec<EditorCall>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a tool call")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        // Not at the top, where a string is just a string.
        if self.0 == DEPTH {
            return Err(E::custom("a tool call is an object"));
        }
        Ok(Vec::from([EditorCall { arguments: Some(text.to_owned()), ..EditorCall::default() }]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut calls = Vec::new();
        while let Some(mut inner) = seq.next_element_seed(CallListSeed(self.0 - 1))? {
            calls.append(&mut inner);
        }
        Ok(calls)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut call = EditorCall::default();
        while let Some(key) = map.next_key::<String>()? {
            let slot = match key.as_str() {
                "name" | "tool" | "tool_name" | "toolName" | "recipient_name" => &mut call.name,
                "command" => &mut call.command,
                "path" | "file" | "filename" | "file_path" | "filePath" => {
                    call.is_file_path = matches!(key.as_str(), "file_path" | "filePath");
                    &mut call.path
                }
                "old_str" | "old_string" | "oldString" | "old_text" | "oldText" => {
                    call.is_tool_text = true;
                    &mut call.old
                }
                "search" => &mut call.old,
                "new_str" | "new_string" | "newString" | "new_text" | "newText" | "insert_text"
                | "replace" => &mut call.new,
                "file_text" => &mut call.file_text,
                "content" => &mut call.content,
                "source" | "source_path" | "from" | "old_path" | "oldPath" => &mut call.from,
                "destination" | "destination_path" | "to" | "new_path" | "newPath" => &mut call.to,
                "replace_all" | "replaceAll" => {
                    call.every = map.next_value()?;
                    continue;
                }
                "insert_line" => {
                    call.insert_line = Some(map.next_value()?);
                    continue;
                }
                "expected_replacements" if map.next_value::<u64>()? == 1 => continue,
                "input" | "arguments" | "parameters" | "args" | "function" | "edits" | "tool_calls" => {
                    call.inner.append(&mut map.next_value_seed(CallListSeed(self.0 - 1))?);
                    continue;
                }
                "view_range" => {
                    map.next_value::<(i64, i64)>()?;
                    continue;
                }
                "id" | "type" | "tool_use_id" | "call_id" | "description" | "instruction" | "explanation" => {
                    map.next_value::<Option<String>>()?;
                    continue;
                }
                other => {
                    let other: String = other.chars().take(40).collect();
                    return Err(A::Error::custom(format!(
                        "`{}` is no key of a known tool",
                        other.escape_debug()
                    )));
                }
            };
            let text = map.next_value::<String>()?;
            if slot.replace(text).is_some() {
                return Err(A::Error::custom(format!("`{key}` is there twice")));
            }
        }
        Ok(Vec::from([call]))
    }
}

/// The keys with which the first object of a call may begin.
const FIRST_KEYS: &[&str] = &[
    "name",
    "tool",
    "tool_name",
    "toolName",
    "recipient_name",
    "command",
    "path",
    "file",
    "filename",
    "file_path",
    "filePath",
    "old_str",
    "old_string",
    "oldString",
    "old_text",
    "oldText",
    "new_str",
    "new_string",
    "newString",
    "file_text",
    "content",
    "insert_line",
    "replace_all",
    "replaceAll",
    "input",
    "arguments",
    "parameters",
    "args",
    "function",
    "edits",
    "tool_calls",
    "id",
    "type",
    "tool_use_id",
    "call_id",
    "search",
    "replace",
];

/// Whether a text begins like a call: brackets, then one of its keys.
pub(super) fn begins_call(text: &str) -> bool {
    let inner = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '[' | '{'));
    let opened = text.trim_start().starts_with(['{', '[']);
    opened
        && inner
            .strip_prefix('"')
            .and_then(|rest| rest.get(..rest.find('"').filter(|end| *end <= 20)?))
            .is_some_and(|key| FIRST_KEYS.contains(&key))
}

/// Whether a text that is no valid call set out to be one: it has the keys of one, with texts as their values.
pub(super) fn sets_out(text: &str) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| has_text(text, key));
    let old = has(&["old_str", "old_string", "oldString", "oldText", "old_text"]);
    let new = has(&["new_str", "new_string", "newString", "newText", "new_text", "insert_text"]);
    let path = has(&["path", "file_path", "filePath"]);
    let name = ["name", "tool", "tool_name", "toolName"].iter().find_map(|key| text_of(text, key));
    let has_input =
        ["\"input\"", "\"arguments\"", "\"parameters\"", "\"args\""].iter().any(|key| text.contains(key));
    (old && (new || path))
        || (path && (new || has(&["file_text"])))
        || (path && has_input && name.is_some_and(is_changer))
}

/// Whether a tool or command of this name certainly changes files.
pub(super) fn is_changer(name: &str) -> bool {
    const CHANGERS: &[&str] = &[
        "append",
        "delete",
        "edit",
        "insert",
        "modify",
        "move",
        "overwrite",
        "patch",
        "remove",
        "rename",
        "replace",
        "rewrite",
        "write",
    ];
    !is_reader(name) && CHANGERS.iter().any(|verb| name.to_ascii_lowercase().contains(verb))
}

/// Whether a tool or command of this name only looks at files.
pub(super) fn is_reader(name: &str) -> bool {
    const READERS: &[&str] =
        &["find", "get", "glob", "grep", "list", "ls", "open", "read", "search", "todo", "view"];
    let name = name.to_ascii_lowercase();
    READERS.iter().any(|verb| name.starts_with(verb))
}

/// The text of a key.
fn text_of<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("\"{key}\""))?;
    rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?.split('"').next()
}

/// Whether the key stands there with a text as its value, perhaps in a string itself.
fn has_text(text: &str, key: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, key).any(|at| {
        let quoted = at > 0 && bytes[at - 1] == b'"';
        let rest = text[at + key.len()..].trim_start_matches('\\').strip_prefix('"');
        let value = rest.and_then(|rest| rest.trim_start().strip_prefix(':'));
        quoted && value.is_some_and(|value| value.trim_start().trim_start_matches('\\').starts_with('"'))
    })
}
