//! The one JSON value in what a friend wrote.
//!
//! The rule, in this order: the whole answer is JSON; or blocks between fences are, and nothing else counts; or
//! objects and lists stand in the prose. Values of a type that the schema's `type` does not admit do not count
//! (a `[1]` in the prose), and the same value twice counts once. Exactly one must be left: of two answers nobody
//! can say which one is meant.

use serde_json::Value;

use super::AnswerSchema;

/// How often the text is read over to find values in prose. Brackets that are never closed cost a look each.
const LOOKS: usize = 8;

/// The one value in `text` that the schema is about.
///
/// # Errors
/// What is wrong: there is none, or there are several.
pub fn extract_json(text: &str, schema: &AnswerSchema) -> Result<Value, String> {
    if let Ok(value) = serde_json::from_str(text.trim()) {
        return Ok(value);
    }
    let mut found = fenced(text);
    if found.is_empty() {
        found = bare(text).ok_or("there are too many brackets in it to find the JSON")?;
    }
    let mut values: Vec<Value> = Vec::new();
    for value in found.into_iter().filter(|value| schema.admits_type(value)) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    match (values.len(), values.pop()) {
        (1, Some(value)) => Ok(value),
        (0, _) => Err("there is no JSON in it".to_string()),
        (count, _) => Err(format!("there are {count} JSON values in it, and one is needed")),
    }
}

fn fenced(text: &str) -> Vec<Value> {
    let mut values = Vec::new();
    let mut open: Option<(&str, String)> = None;
    for line in text.lines() {
        let fence = fence(line);
        open = match (open, fence) {
            (None, Some(fence)) => Some((fence, String::new())),
            (Some((began, block)), Some(fence))
                if fence.starts_with(began) && line.trim().len() == fence.len() =>
            {
                values.extend(serde_json::from_str::<Value>(block.trim()).ok());
                None
            }
            (Some((began, mut block)), _) => {
                block.push_str(line);
                block.push('\n');
                Some((began, block))
            }
            (None, None) => None,
        };
    }
    values
}

fn fence(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    (length >= 3).then(|| &line[..length])
}

/// Objects and lists in prose, the outermost; `None` if finding them takes too much.
fn bare(text: &str) -> Option<Vec<Value>> {
    let mut values = Vec::new();
    let (mut at, mut left) = (0, text.len().saturating_mul(LOOKS));
    while let Some(next) = text[at..].find(['{', '[']) {
        at += next;
        let rest = &text[at..];
        let mut reader = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match reader.next() {
            Some(Ok(value)) => {
                at += reader.byte_offset().max(1);
                values.push(value);
            }
            Some(Err(error)) => {
                left = left.checked_sub(read_until(rest, error.line(), error.column()))?;
                at += 1;
            }
            None => break,
        }
    }
    Some(values)
}

/// How many bytes were read up to this line and column.
fn read_until(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (before + column).max(1)
}
