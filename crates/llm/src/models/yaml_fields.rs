//! Reading settings out of nodes: each of a known name and kind, everything else refused with its place. No message
//! quotes a value.

use std::collections::BTreeMap;

use relaycode_text::nearest::{did_you_mean, nearest_names};
use relaycode_text::yaml::{YamlEntry, YamlError, YamlNode, YamlValue};
use serde_json::{Map, Number, Value, json};

use crate::display_text;
use crate::models::model::{ModelPrice, ServerCompat};

use super::models_file::AtLine;

/// Characters of a text.
const TEXT: usize = 4096;
/// Entries of a list or table.
pub(super) const ENTRIES: usize = 4096;
/// The largest window or answer that is believed.
const TOKENS: u64 = 1 << 40;
/// The highest price per million tokens that is believed.
const DOLLARS: f64 = 1e6;

/// The entries of a table; `what` is its name for messages.
pub(super) fn table<'n>(node: &'n YamlNode, what: &str) -> Result<&'n [YamlEntry], YamlError> {
    match &node.value {
        YamlValue::Table(entries) if entries.len() <= ENTRIES => Ok(entries),
        YamlValue::Table(_) => {
            Err(YamlError::new(node.position, format!("`{what}` has more than {ENTRIES} entries")))
        }
        YamlValue::Null => Ok(&[]),
        other => Err(wrong_type(node, what, "a table", other)),
    }
}

/// The items of a list.
pub(super) fn list<'n>(node: &'n YamlNode, what: &str) -> Result<&'n [YamlNode], YamlError> {
    match &node.value {
        YamlValue::List(items) if items.len() <= ENTRIES => Ok(items),
        YamlValue::List(_) => {
            Err(YamlError::new(node.position, format!("`{what}` has more than {ENTRIES} entries")))
        }
        other => Err(wrong_type(node, what, "a list", other)),
    }
}

/// A list of texts.
pub(super) fn texts(node: &YamlNode, what: &str) -> Result<Vec<String>, YamlError> {
    list(node, what)?.iter().map(|item| Ok(text(item, what)?.value)).collect()
}

/// A text that is not empty and has no control characters.
pub(super) fn text(node: &YamlNode, what: &str) -> Result<AtLine<String>, YamlError> {
    let YamlValue::Text(text) = &node.value else {
        return Err(wrong_type(node, what, "text (put it between quotes)", &node.value));
    };
    if text.trim().is_empty() {
        return Err(YamlError::new(node.position, format!("`{what}` is empty")));
    }
    if text.chars().count() > TEXT {
        return Err(YamlError::new(node.position, format!("`{what}` has more than {TEXT} characters")));
    }
    if text.chars().any(char::is_control) {
        return Err(YamlError::new(
            node.position,
            format!("`{what}` holds a line end or another control character"),
        ));
    }
    Ok(AtLine { value: text.clone(), line: node.position.line })
}

/// True or false.
pub(super) fn boolean(node: &YamlNode, what: &str) -> Result<AtLine<bool>, YamlError> {
    match node.value {
        YamlValue::Bool(on) => Ok(AtLine { value: on, line: node.position.line }),
        ref other => Err(wrong_type(node, what, "true or false", other)),
    }
}

/// A whole number in bounds.
pub(super) fn integer(node: &YamlNode, what: &str, from: u64, to: u64) -> Result<AtLine<u64>, YamlError> {
    match node.value {
        YamlValue::Integer(number) if (from..=to).contains(&number) => {
            Ok(AtLine { value: number, line: node.position.line })
        }
        YamlValue::Integer(_) | YamlValue::Float(_) => {
            Err(YamlError::new(node.position, format!("`{what}` must be a whole number from {from} to {to}")))
        }
        ref other => Err(wrong_type(node, what, "a whole number", other)),
    }
}

/// A number of tokens.
pub(super) fn tokens(node: &YamlNode, what: &str) -> Result<AtLine<u64>, YamlError> {
    integer(node, what, 1, TOKENS)
}

/// One of several words.
pub(super) fn one_of(
    node: &YamlNode,
    what: &str,
    words: &[&'static str],
) -> Result<AtLine<&'static str>, YamlError> {
    let given = text(node, what)?;
    match words.iter().find(|word| **word == given.value) {
        Some(word) => Ok(AtLine { value: word, line: given.line }),
        None => {
            let near = did_you_mean(&nearest_names(&given.value, words.iter().copied(), 2));
            Err(YamlError::new(node.position, format!("`{what}` must be one of {}{near}", words.join(", "))))
        }
    }
}

/// An address of the web without user, query or fragment; without its last slash.
pub(super) fn address(node: &YamlNode, what: &str) -> Result<AtLine<String>, YamlError> {
    let given = text(node, what)?;
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
                "`{what}` must begin with https:// or http:// and be an address without user, query or fragment"
            ),
        )),
    }
}

/// Headers of a request.
pub(super) fn headers(node: &YamlNode, what: &str) -> Result<AtLine<BTreeMap<String, String>>, YamlError> {
    let mut headers = BTreeMap::new();
    for entry in table(node, what)? {
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if entry.name.is_empty() || !entry.name.chars().all(token) {
            return Err(YamlError::new(
                entry.position,
                format!("`{}` is no name of a header", display_text(&entry.name)),
            ));
        }
        let value = text(&entry.node, &format!("{what}.{}", display_text(&entry.name)))?;
        headers.insert(entry.name.to_ascii_lowercase(), value.value);
    }
    Ok(AtLine { value: headers, line: node.position.line })
}

/// `text` and `image`: whether images can be read.
pub(super) fn input(node: &YamlNode, what: &str) -> Result<AtLine<bool>, YamlError> {
    let mut images = false;
    for item in list(node, what)? {
        images |= one_of(item, what, &["text", "image"])?.value == "image";
    }
    Ok(AtLine { value: images, line: node.position.line })
}

/// Prices that are named; the others stay.
pub(super) fn cost(node: &YamlNode, what: &str) -> Result<AtLine<Vec<(&'static str, f64)>>, YamlError> {
    const NAMES: [&str; 4] = ["input", "output", "cacheRead", "cacheWrite"];
    let mut prices = Vec::new();
    for entry in table(node, what)? {
        let Some(name) = NAMES.into_iter().find(|name| *name == entry.name) else {
            return Err(unknown_field(entry, what, &NAMES));
        };
        #[expect(clippy::cast_precision_loss, reason = "a price is small")]
        let value = match entry.node.value {
            YamlValue::Integer(number) => number as f64,
            YamlValue::Float(number) => number,
            ref other => return Err(wrong_type(&entry.node, &format!("{what}.{name}"), "a number", other)),
        };
        if !(0.0..=DOLLARS).contains(&value) {
            let said = format!("`{what}.{name}` must be dollars per million tokens, from 0 to {DOLLARS}");
            return Err(YamlError::new(entry.node.position, said));
        }
        prices.push((name, value));
    }
    Ok(AtLine { value: prices, line: node.position.line })
}

/// Puts prices that are named over others.
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

/// Switches of compatibility that are named; each is looked at on its own, so that the one that is wrong is named.
pub(super) fn compat(node: &YamlNode, what: &str) -> Result<AtLine<Map<String, Value>>, YamlError> {
    let names = serde_json::to_value(ServerCompat::default()).unwrap_or_default();
    let names: Vec<String> = names.as_object().map(|all| all.keys().cloned().collect()).unwrap_or_default();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut all = Map::new();
    for entry in table(node, what)? {
        if !names.contains(&entry.name.as_str()) {
            return Err(unknown_field(entry, what, &names));
        }
        let value = as_json(&entry.node);
        if serde_json::from_value::<ServerCompat>(json!({ &entry.name: &value })).is_err() {
            let said = format!("`{what}.{}` does not have a value that it can have", entry.name);
            return Err(YamlError::new(entry.node.position, said));
        }
        all.insert(entry.name.clone(), value);
    }
    Ok(AtLine { value: all, line: node.position.line })
}

/// Puts switches that are named over others.
pub(super) fn apply_compat(compat: &mut ServerCompat, named: &Map<String, Value>) {
    let Ok(Value::Object(mut all)) = serde_json::to_value(&*compat) else { return };
    all.extend(named.iter().map(|(name, value)| (name.clone(), value.clone())));
    if let Ok(laid) = serde_json::from_value(Value::Object(all)) {
        *compat = laid;
    }
}

/// There is no such setting.
pub(super) fn unknown_field(entry: &YamlEntry, what: &str, names: &[&str]) -> YamlError {
    let near = did_you_mean(&nearest_names(&entry.name, names.iter().copied(), 2));
    let inside = if what.is_empty() { String::new() } else { format!(" in `{what}`") };
    YamlError::new(
        entry.position,
        format!("there is no setting `{}`{inside}{near}", display_text(&entry.name)),
    )
}

fn wrong_type(node: &YamlNode, what: &str, wanted: &str, got: &YamlValue) -> YamlError {
    YamlError::new(node.position, format!("`{what}` must be {wanted}, not {}", got.kind()))
}

/// A value as JSON.
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
