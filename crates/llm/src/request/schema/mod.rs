//! The schemas of tools' arguments, as each wire accepts them.
//!
//! Schemas come from relay's own tools and from foreign servers. One walker, `walk`, reads them all; what a
//! wire accepts is data, `SchemaRules`. The result is an object schema without references, with only
//! keywords that the wire knows and values of the right type. Invariant: whatever came in, depth, size and
//! work are bounded.

mod schema_node;
mod value;
mod walk;

#[cfg(test)]
mod tests;

use serde_json::Value;

/// Deeper levels become "anything".
pub const MAX_SCHEMA_DEPTH: usize = 32;

/// Approximate size; what exceeds it becomes "anything".
pub const MAX_SCHEMA_BYTES: usize = 128 << 10;

/// Deepest strict schema (OpenAI's own limit).
const STRICT_DEPTH_MOST: usize = 10;

/// Whose rules a schema must follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaDialect {
    /// Anthropic Messages: JSON Schema, nearly unchanged.
    Anthropic,
    /// Google Generative AI: the part of JSON Schema that `parametersJsonSchema` is documented to know.
    Google,
    /// OpenAI chat completions, not strict: JSON Schema, nearly unchanged.
    Completions,
    /// OpenAI Responses, not strict: without `oneOf` and without lookaround in patterns.
    Responses,
    /// OpenAI, strict: every property required, nothing beside them.
    Strict,
    /// Ollama: JSON Schema, nearly unchanged.
    Ollama,
}

/// A schema that a wire accepts.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalisedSchema {
    /// Its type is `object`.
    pub schema: Value,
    /// It follows the rules of [`SchemaDialect::Strict`]; false for every other dialect, and if it cannot
    /// be strict: then the schema is that of [`SchemaDialect::Responses`].
    pub strict: bool,
}

/// One that describes no object becomes an open object: its tool would not understand a wrapper, and checks
/// its arguments itself.
pub fn normalise(schema: &Value, dialect: SchemaDialect) -> NormalisedSchema {
    let rules = SchemaRules::for_dialect(dialect);
    let (normalised, clean) = walk::normalise_root(schema, &rules);
    match (rules.strict, clean) {
        (false, _) => NormalisedSchema { schema: normalised, strict: false },
        (true, true) => NormalisedSchema { schema: normalised, strict: true },
        (true, false) => normalise(schema, SchemaDialect::Responses),
    }
}

/// What a dialect accepts.
#[derive(Default)]
struct SchemaRules {
    /// Allowed keywords; `None`: all known ones.
    keywords: Option<&'static str>,
    /// Allowed formats; `None`: all.
    formats: Option<&'static str>,
    /// `oneOf` becomes `anyOf`.
    any_of: bool,
    /// `allOf` is merged into its parent.
    merge_all_of: bool,
    /// `const` becomes `enum`; several types become `anyOf`; a missing type is filled in.
    plain: bool,
    /// Patterns have no lookaround.
    plain_patterns: bool,
    /// The rules of OpenAI's strict mode.
    strict: bool,
}

impl SchemaRules {
    fn for_dialect(dialect: SchemaDialect) -> SchemaRules {
        let lenient = SchemaRules::default();
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
        self.keywords.is_none_or(|keywords| keywords.split(' ').any(|kept| kept == keyword))
    }
}

/// ai.google.dev/api/generate-content, `responseJsonSchema`: the supported keywords.
const GOOGLE: &str = "type title description enum format items prefixItems minItems maxItems minimum maximum anyOf \
    properties additionalProperties required";

const GOOGLE_FORMATS: &str = "date-time date time int32 int64 float double";

/// platform.openai.com/docs/guides/structured-outputs, supported schemas.
const STRICT: &str = "type description enum anyOf properties required additionalProperties items pattern format minimum \
    maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems";

const STRICT_FORMATS: &str = "date-time time date duration email hostname ipv4 ipv6 uuid";
