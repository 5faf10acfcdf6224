//! The protocol as data: what the reference page, the JSON schema and the Python client are written from.

use relaycode_agent::AgentEvent;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::PROTOCOL_VERSION;
use super::commands;
use super::error::RpcErrorCode;
use super::frame::RpcFrame;

/// A command, as a program sees it.
#[derive(Debug, Clone)]
pub struct CommandReference {
    pub name: &'static str,
    pub about: &'static str,
    /// It answers a request of relay's.
    pub is_answer: bool,
    /// JSON schema of what stands beside `id` and `type`; and its name among the definitions.
    pub params: Value,
    pub params_type: String,
    /// The same of `data`.
    pub data: Value,
    pub data_type: String,
}

/// All of it. Schemas refer to `definitions`.
#[derive(Debug, Clone)]
pub struct ProtocolReference {
    pub version: u32,
    pub commands: Vec<CommandReference>,
    /// JSON schema of everything that relay writes.
    pub frame: Value,
    /// JSON schema of what `event` frames carry.
    pub event: Value,
    /// JSON schema of error codes.
    pub error_code: Value,
    pub definitions: Map<String, Value>,
}

/// What this relay speaks.
pub fn protocol() -> ProtocolReference {
    // As values are written, not as they are read: defaults are always there.
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let commands = commands::ALL
        .iter()
        .map(|entry| {
            let (params, data) = ((entry.params)(&mut generator), (entry.data)(&mut generator));
            CommandReference {
                name: entry.name,
                about: entry.about,
                is_answer: entry.is_answer,
                params_type: referred(&params),
                params: resolve(params, &generator),
                data_type: referred(&data),
                data: resolve(data, &generator),
            }
        })
        .collect();
    let frame = schema_of::<RpcFrame<'_>>(&mut generator);
    let event = schema_of::<AgentEvent>(&mut generator);
    let error_code = schema_of::<RpcErrorCode>(&mut generator);
    let definitions = generator.take_definitions(true);
    ProtocolReference { version: PROTOCOL_VERSION, commands, frame, event, error_code, definitions }
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    let schema = generator.subschema_for::<T>();
    resolve(schema, generator)
}

/// The name that a reference refers to.
fn referred(schema: &Schema) -> String {
    let to = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.rsplit('/').next());
    to.unwrap_or_default().to_string()
}

/// What stands behind a reference.
fn resolve(schema: Schema, generator: &SchemaGenerator) -> Value {
    let definition = generator.definitions().get(&referred(&schema)).cloned();
    definition.unwrap_or_else(|| schema.to_value())
}

impl ProtocolReference {
    /// One JSON schema of every line in both directions.
    pub fn to_schema(&self) -> Value {
        let commands = self.commands.iter().map(|command| {
            let mut line = command.params.clone();
            let id = if command.is_answer {
                json!({ "type": "string" })
            } else {
                json!({ "type": ["string", "number", "null"] })
            };
            line["properties"]["id"] = id;
            line["properties"]["type"] = json!({ "const": command.name });
            let mut required = vec![json!("type")];
            required.extend(line["required"].as_array().cloned().unwrap_or_default());
            line["required"] = required.into();
            line["title"] = command.name.into();
            line["description"] = command.about.into();
            line
        });
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": format!("relay rpc, protocol version {}", self.version),
            "description": "`command` is a line that a program writes, `frame` one that relay writes, `data` what the answer to a command has.",
            "properties": {
                "command": { "oneOf": commands.collect::<Vec<_>>() },
                "frame": self.frame,
                "data": { "properties": self.commands.iter().filter(|command| !command.is_answer)
                    .map(|command| (command.name.to_string(), command.data.clone())).collect::<Map<_, _>>() },
            },
            "$defs": self.definitions,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_referred_to_is_defined() {
        let protocol = protocol();
        let text = protocol.to_schema().to_string();
        let mut at = 0;
        while let Some(found) = text[at..].find("#/$defs/") {
            let name: String = text[at + found + 8..].chars().take_while(|c| *c != '"').collect();
            assert!(protocol.definitions.contains_key(&name), "{name}");
            at += found + 8;
        }
        assert!(at > 0);
    }

    #[test]
    fn every_event_and_frame_has_a_name() {
        let protocol = protocol();
        for schema in [&protocol.event, &protocol.frame] {
            for variant in schema["oneOf"].as_array().unwrap() {
                assert!(variant["properties"]["type"]["const"].is_string(), "{variant}");
                assert!(variant["description"].is_string(), "{variant}");
            }
        }
    }
}
