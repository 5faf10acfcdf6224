//! The user's own file, which is YAML, as the same nodes that the reader of literals makes.

use relaycode_text::yaml::{self, YamlValue};

use super::literal::{ConfigPosition, LiteralEntry, LiteralError, LiteralNode, LiteralValue};

/// Reads `text`. An empty file is an empty object.
pub(super) fn parse_yaml(text: &str) -> Result<LiteralNode, LiteralError> {
    yaml::read(text).map(node).map_err(|fault| LiteralError {
        at: place(fault.position),
        what: fault.message,
        computed: false,
    })
}

fn place(at: yaml::YamlSourcePosition) -> ConfigPosition {
    ConfigPosition { line: at.line, column: at.column }
}

fn node(read: yaml::YamlNode) -> LiteralNode {
    let value = match read.value {
        YamlValue::Null => LiteralValue::Null,
        YamlValue::Bool(on) => LiteralValue::Switch(on),
        YamlValue::Integer(number) => LiteralValue::Number(number as f64),
        YamlValue::Float(number) => LiteralValue::Number(number),
        YamlValue::Text(text) => LiteralValue::Text(text),
        YamlValue::List(items) => LiteralValue::List(items.into_iter().map(node).collect()),
        YamlValue::Table(entries) => LiteralValue::Table(entries.into_iter().map(entry).collect()),
    };
    LiteralNode { at: place(read.position), value }
}

fn entry(read: yaml::YamlEntry) -> LiteralEntry {
    LiteralEntry { name: read.name, at: place(read.position), node: node(read.node) }
}
