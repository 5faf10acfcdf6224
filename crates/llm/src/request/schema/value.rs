//! Small queries and changes of schemas and values.

use serde_json::{Value, json};

use super::{MAX_SCHEMA_DEPTH, walk::SchemaObject};

/// Approximate size in bytes; `None` if it is too deep or exceeds `most`.
pub(super) fn size_within(value: &Value, depth: usize, most: usize) -> Option<usize> {
    if depth > MAX_SCHEMA_DEPTH {
        return None;
    }
    let mut sum = 8;
    match value {
        Value::String(text) => sum += text.len(),
        Value::Array(values) => {
            for value in values {
                sum += size_within(value, depth + 1, most.checked_sub(sum)?)?;
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                sum += name.len() + size_within(value, depth + 1, most.checked_sub(sum + name.len())?)?;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    (sum <= most).then_some(sum)
}

/// An object that allows anything.
pub(super) fn open_object() -> Value {
    json!({"type": "object", "properties": {}})
}

/// A list of anything.
pub(super) fn is_array_of_any(out: &SchemaObject) -> bool {
    out.get("type").is_some_and(|name| name == "array") && !out.get("items").is_some_and(Value::is_object)
}

/// Lookahead or lookbehind.
pub(super) fn looks_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| pattern.contains(look))
}

/// The same, or null.
pub(super) fn or_null(mut schema: Value) -> Value {
    let Some(fields) = schema.as_object_mut() else { return schema };
    if let Some(Value::Array(choices)) = fields.get_mut("anyOf") {
        let null = json!({"type": "null"});
        if !choices.contains(&null) {
            choices.push(null);
        }
        return schema;
    }
    let names = match fields.get("type") {
        Some(Value::String(name)) if name != "null" => json!([name, "null"]),
        Some(Value::Array(names)) if !names.iter().any(|name| name == "null") => {
            let mut names = names.clone();
            names.push("null".into());
            Value::Array(names)
        }
        _ => return schema,
    };
    fields.insert("type".into(), names);
    if let Some(Value::Array(values)) = fields.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    schema
}
