//! The schema of the file for editors, and the file that `init` writes. Both come from the list of keys.

use serde_json::{Map, Value as Json, json};

use super::PROJECT_ID_CHARACTERS;
use super::keys::{ConfigKey, ConfigScope, ConfigTextRule, ConfigValueKind, KEYS, SECTIONS};

/// The JSON Schema (2020-12) of `relaycode.config.json` in its present form. The older names are not in it:
/// relay reads them, and an editor should say that they are not the present ones.
pub fn json_schema() -> Json {
    let mut properties = Map::new();
    properties.insert(
        "$schema".to_string(),
        json!({"type": "string", "description": "Where an editor finds this schema."}),
    );
    for key in keys_of(None) {
        properties.insert(key.name.to_string(), property(key));
    }
    for (section, meaning) in
        SECTIONS.into_iter().filter(|(section, _)| keys_of(Some(section)).next().is_some())
    {
        let inner: Map<String, Json> =
            keys_of(Some(section)).map(|key| (key.section_and_name().1.to_string(), property(key))).collect();
        let object = json!({
            "type": "object",
            "description": meaning,
            "properties": inner,
            "additionalProperties": false,
        });
        properties.insert(section.to_string(), object);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "relaycode.config.json",
        "description": "The configuration of a project for relay.",
        "type": "object",
        "properties": properties,
        "required": ["projectId"],
        "additionalProperties": false,
    })
}

/// The text of a new `relaycode.config.json`: the usual keys with their defaults.
pub fn initial_file(project_id: &str) -> String {
    let line = |indent: &str, key: &ConfigKey| {
        let value = if key.name == "projectId" { Json::from(project_id) } else { key.default() };
        format!("{indent}{}: {value}", Json::from(key.section_and_name().1))
    };
    let mut parts: Vec<String> = keys_of(None).map(|key| line("  ", key)).collect();
    for (section, _) in SECTIONS {
        let lines: Vec<String> =
            keys_of(Some(section)).filter(|key| key.written_by_init).map(|key| line("    ", key)).collect();
        if lines.is_empty() {
            continue;
        }
        parts.push(format!("  {}: {{\n{}\n  }}", Json::from(section), lines.join(",\n")));
    }
    format!("{{\n{}\n}}\n", parts.join(",\n"))
}

fn keys_of(section: Option<&'static str>) -> impl Iterator<Item = &'static ConfigKey> {
    KEYS.iter().filter(move |key| key.section_and_name().0 == section && !key.user_only)
}

fn property(key: &ConfigKey) -> Json {
    let mut property = match key.kind {
        ConfigValueKind::Text(ConfigTextRule::ProjectId) => json!({
            "type": "string",
            "minLength": 1,
            "maxLength": PROJECT_ID_CHARACTERS,
            "pattern": "^\\S(.*\\S)?$",
        }),
        ConfigValueKind::Text(_) => json!({"type": "string"}),
        ConfigValueKind::Switch => json!({"type": "boolean"}),
        ConfigValueKind::Rules(_) => json!({"type": "array", "items": {"type": "string"}}),
        ConfigValueKind::CommandRules => json!({"type": "array", "items": {"type": "object"}}),
        ConfigValueKind::Number { least, most, or_none } => {
            let kind = if or_none { json!(["integer", "null"]) } else { json!("integer") };
            json!({"type": kind, "minimum": least, "maximum": most})
        }
        ConfigValueKind::Choice(choices) => {
            json!({"enum": choices.iter().map(|choice| choice.name).collect::<Vec<_>>()})
        }
    };
    let acts = if key.scope == ConfigScope::WatchOnly { " Used by `relay watch`." } else { "" };
    property["description"] = Json::from(format!("{}{acts}", key.meaning));
    if !matches!(key.kind, ConfigValueKind::Text(ConfigTextRule::ProjectId)) {
        property["default"] = key.default();
    }
    property
}
