//! Schemas from input types, and input values from arguments: one type says what a tool takes.

use relaycode_llm::request;
use relaycode_text::nearest::nearest_names;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::tool::{ToolError, ToolInvocation};

/// A tool as a model reads about it: the schema is that of `Input`, whose doc comments describe the fields.
pub(crate) fn define<Input: JsonSchema>(name: &str, description: &str) -> request::Tool {
    let schema = schemars::schema_for!(Input);
    let mut parameters = schema.to_value();
    if let Value::Object(fields) = &mut parameters {
        for noise in ["$schema", "title", "description", "additionalProperties"] {
            fields.remove(noise);
        }
        // A tool without fields still takes an object.
        fields.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    request::Tool { name: name.to_string(), description: description.trim().to_string(), parameters }
}

/// The arguments of a call.
pub(crate) fn read_input<Input: DeserializeOwned>(call: &ToolInvocation<'_>) -> Result<Input, ToolError> {
    serde_json::from_value(Value::Object(call.arguments.clone())).map_err(|error| {
        let near = unknown_field(&error.to_string()).map(|hint| format!(" ({hint})")).unwrap_or_default();
        ToolError::refused(format!("the arguments are not valid: {error}{near}; correct them and call again"))
    })
}

/// Of an error about a field that there is not: the fields that are called most like it.
fn unknown_field(error: &str) -> Option<String> {
    let mut names = error.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let wrong = names.next()?;
    let near = nearest_names(wrong, names, 1);
    near.first().map(|name| format!("did you mean `{name}`?"))
}

/// A list that a model may also give as one string.
pub(crate) fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
        None,
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
        OneOrMany::None => Vec::new(),
    })
}

pub(crate) fn yes() -> bool {
    true
}
