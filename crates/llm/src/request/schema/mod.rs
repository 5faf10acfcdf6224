//! The schemas of tools' arguments, as each wire accepts them.
//!
//! Schemas come from relay's own tools and from foreign servers. One walker, `walk`, reads them all; what a wire takes is
//! data, [`SchemaRules`]. What comes out is an object schema without references, holding only keywords that the wire
//! knows, with values of the right kind. Invariant: whatever came in, its depth and size are bounded, and so is the
//! work.

mod schema_node;
mod value;
mod walk;

#[cfg(test)]
mod tests;

use serde_json::Value;

/// Levels that are read; what lies deeper may be anything.
pub const MAX_SCHEMA_DEPTH: usize = 32;

/// Bytes that a schema may have, roughly; what is beyond may be anything.
pub const MAX_SCHEMA_BYTES: usize = 128 << 10;

/// Levels that a strict schema may have (OpenAI's own bound).
const STRICT_DEPTH_MOST: usize = 10;

/// Whose rules a schema must keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaDialect {
    /// Anthropic Messages: JSON Schema, nearly as it is.
    Anthropic,
    /// Google Generative AI: the part of JSON Schema that `parametersJsonSchema` is documented to know.
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
pub struct NormalisedSchema {
    /// The schema. Its type is `object`.
    pub schema: Value,
    /// It keeps the rules of [`SchemaDialect::Strict`]; false for every other dialect, and where it cannot be strict: then the
    /// schema is that of [`SchemaDialect::Responses`].
    pub strict: bool,
}

/// The schema as `dialect` accepts it. One that describes no object becomes an open object: the tool that it belongs to
/// would not know what to do with a wrapping, and says itself what it does not take.
pub fn normalise(schema: &Value, dialect: SchemaDialect) -> NormalisedSchema {
    let rules = SchemaRules::for_dialect(dialect);
    let (normalised, clean) = walk::normalise_root(schema, &rules);
    match (rules.strict, clean) {
        (false, _) => NormalisedSchema { schema: normalised, strict: false },
        (true, true) => NormalisedSchema { schema: normalised, strict: true },
        (true, false) => normalise(schema, SchemaDialect::Responses),
    }
}

/// What a dialect takes.
struct SchemaRules {
    /// Keywords that stay; `None`: all that are known.
    keywords: Option<&'static [&'static str]>,
    /// Formats that stay; `None`: all.
    formats: Option<&'static [&'static str]>,
    /// `oneOf` becomes `anyOf`.
    any_of: bool,
    /// `allOf` is merged into what it stands in.
    merge_all_of: bool,
    /// `const` becomes `enum`; several types become `anyOf`; a missing type is filled in.
    plain: bool,
    /// Patterns must not look around.
    plain_patterns: bool,
    /// The rules of OpenAI's strict mode.
    strict: bool,
}

impl SchemaRules {
    fn for_dialect(dialect: SchemaDialect) -> SchemaRules {
        let lenient = SchemaRules {
            keywords: None,
            formats: None,
            any_of: false,
            merge_all_of: false,
            plain: false,
            plain_patterns: false,
            strict: false,
        };
        match dialect {
            SchemaDialect::Anthropic | SchemaDialect::Completions | SchemaDialect::Ollama => lenient,
            SchemaDialect::Responses => {
                SchemaRules { any_of: true, merge_all_of: true, plain_patterns: true, ..lenient }
            }
            SchemaDialect::Google => SchemaRules {
                keywords: Some(GOOGLE),
                formats: Some(GOOGLE_FORMATS),
                any_of: true,
                merge_all_of: true,
                plain: true,
                ..lenient
            },
            SchemaDialect::Strict => SchemaRules {
                keywords: Some(STRICT),
                formats: Some(STRICT_FORMATS),
                any_of: true,
                merge_all_of: true,
                plain: true,
                plain_patterns: true,
                strict: true,
            },
        }
    }

    fn keeps(&self, keyword: &str) -> bool {
        self.keywords.is_none_or(|keywords| keywords.contains(&keyword))
    }
}

/// ai.google.dev/api/generate-content, `responseJsonSchema`: the keywords that are supported.
const GOOGLE: &[&str] = &[
    "type",
    "title",
    "description",
    "enum",
    "format",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "properties",
    "additionalProperties",
    "required",
];

const GOOGLE_FORMATS: &[&str] = &["date-time", "date", "time", "int32", "int64", "float", "double"];

/// platform.openai.com/docs/guides/structured-outputs, supported schemas.
const STRICT: &[&str] = &[
    "type",
    "description",
    "enum",
    "anyOf",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
];

const STRICT_FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
