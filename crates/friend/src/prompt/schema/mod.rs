//! JSON schemas: whether a value follows one. Every structured answer is held to its schema here, also where the
//! friend says that it did so itself.
//!
//! What is understood is the part of JSON Schema that says what a value looks like: `type`, `enum`, `const`,
//! `properties`, `required`, `additionalProperties`, `items`, `prefixItems`, the `min…` and `max…` family,
//! `anyOf`, `oneOf`, `allOf`, `not`, and `$ref` to a place in the same schema. A keyword that says more and is not
//! understood (`pattern`, `uniqueItems` …) is not checked, and [`AnswerSchema::remarks`] says so; a `$ref` to anywhere
//! else is refused, because nothing could be said of the value. Schemas and values are foreign: work and depth are
//! bounded, and a value that takes too long to check does not follow the schema.

mod check;
mod extract;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub use check::SchemaViolation;
pub use extract::extract_json;

/// Bytes of a schema.
const BYTES: usize = 256 << 10;
/// How deep a schema may be nested.
const DEPTH: usize = 64;

const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

#[derive(Debug, Clone)]
pub struct AnswerSchema {
    root: Value,
    remarks: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema cannot be used: {}{what}", if at.is_empty() { String::new() } else { format!("at {at}: ") })]
pub struct SchemaError {
    /// Where in it, as a JSON pointer.
    pub at: String,
    pub what: String,
}

impl AnswerSchema {
    /// Reads a schema.
    ///
    /// # Errors
    /// If it is none, refers to somewhere else, or is too large.
    pub fn new(root: Value) -> Result<AnswerSchema, SchemaError> {
        if root.to_string().len() > BYTES {
            return Err(schema_error("", &format!("it is larger than {} KiB", BYTES >> 10)));
        }
        let mut remarks = Vec::new();
        validate_schema(&root, &root, "", 0, &mut remarks)?;
        remarks.sort();
        remarks.dedup();
        Ok(AnswerSchema { root, remarks })
    }

    pub fn as_json(&self) -> &Value {
        &self.root
    }

    /// What is not checked, a sentence each.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Whether a value of this type could follow it, as far as its first line says.
    fn admits_type(&self, value: &Value) -> bool {
        check::has_any_type(value, self.root.get("type"))
    }
}

/// Looks through a schema before it is used, so that checking needs no further errors.
fn validate_schema(
    schema: &Value,
    root: &Value,
    at: &str,
    depth: usize,
    remarks: &mut Vec<String>,
) -> Result<(), SchemaError> {
    if depth > DEPTH {
        return Err(schema_error(at, "it is nested too deeply"));
    }
    let Value::Object(keywords) = schema else {
        return if schema.is_boolean() { Ok(()) } else { Err(schema_error(at, "it is no object")) };
    };
    for (keyword, value) in keywords {
        let at = format!("{at}/{keyword}");
        let mut below = |value: &Value, at: &str| validate_schema(value, root, at, depth + 1, remarks);
        match keyword.as_str() {
            "properties" | "$defs" | "definitions" => {
                let Value::Object(named) = value else { return Err(schema_error(&at, "it is no object")) };
                for (name, value) in named {
                    below(value, &format!("{at}/{name}"))?;
                }
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                let list = value.as_array().filter(|list| !list.is_empty());
                let list = list.ok_or_else(|| schema_error(&at, "it is no list"))?;
                for (number, value) in list.iter().enumerate() {
                    below(value, &format!("{at}/{number}"))?;
                }
            }
            "items" | "additionalProperties" | "not" => below(value, &at)?,
            "enum" if !value.is_array() => return Err(schema_error(&at, "it is no list")),
            "type" => validate_types(value, &at)?,
            "required" => {
                let names = value.as_array().is_some_and(|names| names.iter().all(Value::is_string));
                names.then_some(()).ok_or_else(|| schema_error(&at, "it is no list of names"))?;
            }
            "$ref" => {
                let target = value.as_str().and_then(|target| target.strip_prefix('#'));
                let found = target.and_then(|pointer| root.pointer(pointer));
                found.ok_or_else(|| schema_error(&at, "it points to nothing in this schema"))?;
            }
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                value.as_u64().ok_or_else(|| schema_error(&at, "it is no count"))?;
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                value.as_f64().ok_or_else(|| schema_error(&at, "it is no number"))?;
            }
            // Checked as they are, or nothing about what a value looks like.
            "const" | "enum" | "$comment" | "$id" | "$schema" | "contentEncoding" | "contentMediaType" => {}
            "default" | "deprecated" | "description" | "examples" | "format" | "readOnly" | "title" => {}
            "writeOnly" => {}
            other => remarks.push(format!("`{}` in the schema is not checked", other.escape_debug())),
        }
    }
    Ok(())
}

fn validate_types(value: &Value, at: &str) -> Result<(), SchemaError> {
    let known = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    let fits = match value {
        Value::Array(names) => !names.is_empty() && names.iter().all(known),
        name => known(name),
    };
    if fits { Ok(()) } else { Err(schema_error(at, "it is no type")) }
}

fn schema_error(at: &str, what: &str) -> SchemaError {
    SchemaError { at: at.to_string(), what: what.to_string() }
}
