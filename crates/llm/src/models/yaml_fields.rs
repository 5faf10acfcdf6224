//! Reads settings from YAML nodes: known names and types only, everything else is refused with its
//! position. No message quotes a value.

use std::collections::BTreeMap;

use relaycode_text::nearest::{did_you_mean, nearest_names};
use relaycode_text::yaml::{YamlEntry, YamlError, YamlNode, YamlValue};
use serde_json::{Map, Number, Value, json};

use crate::display_text;
use crate::models::model::{ModelPrice, ServerCompat};

use super::models_file::AtLine;

/// Most characters of a text.
const TEXT: usize = 4096;
/// Most entries of a list or table.
pub(super) const ENTRIES: usize = 4096;
/// Larger windows and output limits are refused.
const TOKENS: u64 = 1 << 40;
/// Higher prices per million tokens are refused.
const DOLLARS: f64 = 1e6;

/// `label` is its name for messages.
pub(super) fn table<'n>(node: &'n YamlNode, label: &str) -> Result<&'n [YamlEntry], YamlError> {
    match &node.value {
        YamlValue::Table(entries) if entries.len() <= ENTRIES => Ok(entries),
        YamlValue::Table(_) => {
            Err(YamlError::new(node.position, format!("`{label}` has more than {ENTRIES} entries")))
        }
        YamlValue::Null => Ok(&[]),
        other => Err(wrong_type(node, label, "a table", other)),
    }
}

pub(super) fn list<'n>(node: &'n YamlNode, label: &str) -> Result<&'n [YamlNode], YamlError> {
    match &node.value {
        YamlValue::List(items) if items.len() <= ENTRIES => Ok(items),
        YamlValue::List(_) => {
            Err(YamlError::new(node.position, format!("`{label}` has more than {ENTRIES} entries")))
        }
        other => Err(wrong_type(node, label, "a list", other)),
    }
}

pub(super) fn texts(node: &YamlNode, label: &str) -> Result<Vec<String>, YamlError> {
    list(node, label)?.iter().map(|item| Ok(text(item, label)?.value)).collect()
}

/// Not empty, without control characters.
pub(super) fn text(node: &YamlNode, label: &str) -> Result<AtLine<String>, YamlError> {
    let YamlValue::Text(text) = &node.value else {
        return Err(wrong_type(node, label, "text (put it between quotes)", &node.value));
    };
    if text.trim().is_empty() {
        return Err(YamlError::new(node.position, format!("`{label}` is empty")));
    }
    if text.chars().count() > TEXT {
        return Err(YamlError::new(node.position, format!("`{label}` has more than {TEXT} characters")));
    }
    if text.chars().any(char::is_control) {
        return Err(YamlError::new(
            node.position,
            format!("`{label}` holds a line end or another control character"),
        ));
    }
    Ok(AtLine { value: text.clone(), line: node.position.line })
}

pub(super) fn boolean(node: &YamlNode, label: &str) -> Result<AtLine<bool>, YamlError> {
    match node.value {
        YamlValue::Bool(on) => Ok(AtLine { value: on, line: node.position.line }),
        ref other => Err(wrong_type(node, label, "true or false", other)),
    }
}

/// A whole number within bounds.
pub(super) fn integer(node: &YamlNode, label: &str, from: u64, to: u64) -> Result<AtLine<u64>, YamlError> {
    match node.value {
        YamlValue::Integer(number) if (from..=to).contains(&number) => {
            Ok(AtLine { value: number, line: node.position.line })
        }
        YamlValue::Integer(_) | YamlValue::Float(_) => Err(YamlError::new(
            node.position,
            format!("`{label}` must be a whole number from {from} to {to}"),
        )),
        ref other => Err(wrong_type(node, label, "a whole number", other)),
    }
}

/// A number of tokens.
pub(super) fn tokens(node: &YamlNode, label: &str) -> Result<AtLine<u64>, YamlError> {
    integer(node, label, 1, TOKENS)
}

pub(super) fn one_of(
    node: &YamlNode,
    label: &str,
    words: &[&'static str],
) -> Result<AtLine<&'static str>, YamlError> {
    let given = text(node, label)?;
    match words.iter().find(|word| **word == given.value) {
        Some(word) => Ok(AtLine { value: word, line: given.line }),
        None => {
            let near = did_you_mean(&nearest_names(&given.value, words.iter().copied(), 2));
            Err(YamlError::new(node.position, format!("`{label}` must be one of {}{near}", words.join(", "))))
        }
    }
}

/// A web address without user, query or fragment; its trailing slash is removed.
pub(super) fn address(node: &YamlNode, label: &str) -> Result<AtLine<String>, YamlError> {
    let given = text(node, label)?;
    let value = given.value.trim_end_matches('/').to_string();
    let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split('/').next().unwrap_or_default());
    let plain =
        |c: char| c.is_ascii_graphic() && !matches!(c, '?' | '#' | '@' | '\\' | '<' | '>' | '"' | '`');
    match host {
        Some(host) if !host.is_empty() && value.chars().all(plain) => Ok(AtLine { value, line: given.line }),
        _ => Err(YamlError::new(
            node.position,
            format!(
                "`{label}` must begin with https:// or http:// and be an address without user, query or fragment"
            ),
        )),
    }
}

pub(super) fn headers(node: &YamlNode, label: &str) -> Result<AtLine<BTreeMap<String, String>>, YamlError> {
    let mut headers = BTreeMap::new();
    for entry in table(node, label)? {
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if entry.name.is_empty() || !entry.name.chars().all(token) {
            return Err(YamlError::new(
                entry.position,
                format!("`{}` is no name of a header", display_text(&entry.name)),
            ));
        }
        let value = text(&entry.node, &format!("{label}.{}", display_text(&entry.name)))?;
        headers.insert(entry.name.to_ascii_lowercase(), value.value);
    }
    Ok(AtLine { value: headers, line: node.position.line })
}

/// `text` and `image`: whether images can be read.
pub(super) fn input(node: &YamlNode, label: &str) -> Result<AtLine<bool>, YamlError> {
    let mut images = false;
    for item in list(node, label)? {
        images |= one_of(item, label, &["text", "image"])?.value == "image";
    }
    Ok(AtLine { value: images, line: node.position.line })
}

/// The named prices.
pub(super) fn cost(node: &YamlNode, label: &str) -> Result<AtLine<Vec<(&'static str, f64)>>, YamlError> {
    const NAMES: [&str; 4] = ["input", "output", "cacheRead", "cacheWrite"];
    let mut prices = Vec::new();
    for entry in table(node, label)? {
        let Some(name) = NAMES.into_iter().find(|name| *name == entry.name) else {
            return Err(unknown_field(entry, label, &NAMES));
        };
        #[expect(clippy::cast_precision_loss, reason = "a price is small")]
        let value = match entry.node.value {
            YamlValue::Integer(number) => number as f64,
            YamlValue::Float(number) => number,
            ref other => return Err(wrong_type(&entry.node, &format!("{label}.{name}"), "a number", other)),
        };
        if !(0.0..=DOLLARS).contains(&value) {
            let said = format!("`{label}.{name}` must be dollars per million tokens, from 0 to {DOLLARS}");
            return Err(YamlError::new(entry.node.position, said));
        }
        prices.push((name, value));
    }
    Ok(AtLine { value: prices, line: node.position.line })
}

/// Overwrites the named prices.
pub(super) fn apply_price(price: &mut ModelPrice, named: &[(&'static str, f64)]) {
    for (name, value) in named {
        match *name {
            "input" => price.input = *value,
            "output" => price.output = *value,
            "cacheRead" => price.cache_read = *value,
            _ => price.cache_write = *value,
        }
    }
}

/// The named compatibility switches; each is checked on its own, so that the error names the wrong one.
pub(super) fn compat(node: &YamlNode, label: &str) -> Result<AtLine<Map<String, Value>>, YamlError> {
    let names = serde_json::to_value(ServerCompat::default()).unwrap_or_default();
    let names: Vec<String> = names.as_object().map(|all| all.keys().cloned().collect()).unwrap_or_default();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut all = Map::new();
    for entry in table(node, label)? {
        if !names.contains(&entry.name.as_str()) {
            return Err(unknown_field(entry, label, &names));
        }
        let value = as_json(&entry.node);
        if serde_json::from_value::<ServerCompat>(json!({ &entry.name: &value })).is_err() {
            let said = format!("`{label}.{}` does not have a value that it can have", entry.name);
            return Err(YamlError::new(entry.node.position, said));
        }
        all.insert(entry.name.clone(), value);
    }
    Ok(AtLine { value: all, line: node.position.line })
}

/// Overwrites the named switches.
pub(super) fn apply_compat(compat: &mut ServerCompat, named: &Map<String, Value>) {
    let Ok(Value::Object(mut all)) = serde_json::to_value(&*compat) else { return };
    all.extend(named.iter().map(|(name, value)| (name.clone(), value.clone())));
    if let Ok(laid) = serde_json::from_value(Value::Object(all)) {
        *compat = laid;
    }
}

pub(super) fn unknown_field(entry: &YamlEntry, label: &str, names: &[&str]) -> YamlError {
    let near = did_you_mean(&nearest_names(&entry.name, names.iter().copied(), 2));
    let inside = if label.is_empty() { String::new() } else { format!(" in `{label}`") };
    YamlError::new(
        entry.position,
        format!("there is no setting `{}`{inside}{near}", display_text(&entry.name)),
    )
}

fn wrong_type(node: &YamlNode, label: &str, wanted: &str, got: &YamlValue) -> YamlError {
    YamlError::new(node.position, format!("`{label}` must be {wanted}, not {}", got.kind()))
}

fn as_json(node: &YamlNode) -> Value {
    match &node.value {
        YamlValue::Null => Value::Null,
        YamlValue::Bool(on) => Value::Bool(*on),
        YamlValue::Integer(number) => Value::from(*number),
        YamlValue::Float(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
        YamlValue::Text(text) => Value::String(text.clone()),
        YamlValue::List(items) => Value::Array(items.iter().map(as_json).collect()),
        YamlValue::Table(entries) => {
            let entries = entries.iter().map(|entry| (entry.name.clone(), as_json(&entry.node)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
    }
}
