//! A call in a few words, from its arguments: for one that still runs, or that was refused before it had anything to show.

use serde_json::Value;

/// What says most about a call, by the names that tools give their arguments.
const TELLING: [&str; 14] = [
    "command",
    "path",
    "file_path",
    "pattern",
    "paths",
    "query",
    "url",
    "title",
    "question",
    "goal",
    "objective",
    "id",
    "op",
    "name",
];
/// Characters that are looked at.
const MAX_CHARS: usize = 400;

/// `bash cargo test`, `edit src/a.rs`. Foreign text, on one line.
pub fn call_title(tool: &str, arguments: &Value) -> String {
    let patched = arguments.get("input").and_then(Value::as_str).and_then(patched_path).map(str::to_string);
    let said = patched.or_else(|| TELLING.iter().find_map(|name| telling_text(arguments.get(name)?)));
    let said =
        said.or_else(|| arguments.get("questions")?.get(0)?.get("question")?.as_str().map(str::to_string));
    let said = said.or_else(|| match arguments {
        Value::Null => None,
        Value::Object(fields) if fields.is_empty() => None,
        other => Some(other.to_string()),
    });
    let title = match said {
        Some(said) => format!("{tool} {}", first_line(&said)),
        None => tool.to_string(),
    };
    title.chars().take(MAX_CHARS).collect()
}

fn telling_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.chars().take(MAX_CHARS).collect()),
        Value::Array(items) => {
            let texts: Vec<&str> = items.iter().filter_map(Value::as_str).take(8).collect();
            (!texts.is_empty()).then(|| texts.join(" "))
        }
        _ => None,
    }
}

fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    if lines.next().is_some() { format!("{first} …") } else { first.to_string() }
}

/// The first file of a patch, or of sections that begin with `§PATH`.
fn patched_path(patch: &str) -> Option<&str> {
    let line = patch.lines().take(4).find_map(|line| {
        let line = line.trim();
        ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "§"]
            .iter()
            .find_map(|begin| line.strip_prefix(begin))
    })?;
    Some(line.trim()).filter(|path| !path.is_empty() && !path.contains(' '))
}
