//! Reads settings from YAML: known names and types only, everything else is refused with its position. No message
//! quotes a value.

use std::{collections::BTreeMap, fmt::Display};

use relaycode_text::nearest::{did_you_mean, nearest_names};
use relaycode_text::yaml::{YamlEntry, YamlError, YamlNode, YamlValue};
use serde_json::{Map, Number, Value, json};

use super::models_file::AtLine;
use crate::display_text;
use crate::models::model::{ModelPrice, ServerCompat};

/// Most characters of a text.
const TEXT: usize = 4096;
/// Most entries of a list or table.
pub(super) const ENTRIES: usize = 4096;
/// Larger windows and output limits are refused.
const TOKENS: u64 = 1 << 40;
/// Higher prices per million tokens are refused.
const DOLLARS: f64 = 1e6;

/// A value, and its name for messages.
#[derive(Clone)]
pub(super) struct YamlField<'n> {
    pub(super) node: &'n YamlNode,
    pub(super) label: String,
}

impl<'n> YamlField<'n> {
    /// A setting at the top of the file.
    pub(super) fn top(entry: &'n YamlEntry) -> YamlField<'n> {
        YamlField { node: &entry.node, label: entry.name.clone() }
    }

    pub(super) fn child(&self, entry: &'n YamlEntry) -> YamlField<'n> {
        YamlField { node: &entry.node, label: format!("{}.{}", self.label, display_text(&entry.name)) }
    }

    /// `what` goes on after the label.
    pub(super) fn error(&self, what: impl Display) -> YamlError {
        YamlError::new(self.node.position, format!("`{}` {what}", self.label))
    }

    pub(super) fn unknown_child(&self, entry: &YamlEntry, names: &[&str]) -> YamlError {
        unknown_field(entry, &format!(" in `{}`", self.label), names)
    }

    fn wrong_type(&self, wanted: &str) -> YamlError {
        self.error(format!("must be {wanted}, not {}", self.node.value.kind()))
    }

    pub(super) fn at_line<T>(&self, value: T) -> AtLine<T> {
        AtLine { value, line: self.node.position.line }
    }

    pub(super) fn table(&self) -> Result<&'n [YamlEntry], YamlError> {
        match &self.node.value {
            YamlValue::Table(entries) if entries.len() <= ENTRIES => Ok(entries),
            YamlValue::Table(_) => Err(self.error(format!("has more than {ENTRIES} entries"))),
            YamlValue::Null => Ok(&[]),
            _ => Err(self.wrong_type("a table")),
        }
    }

    /// Its items, each with the label of the list.
    pub(super) fn list(&self) -> Result<impl Iterator<Item = YamlField<'n>> + use<'n>, YamlError> {
        match &self.node.value {
            YamlValue::List(items) if items.len() <= ENTRIES => {
                let label = self.label.clone();
                Ok(items.iter().map(move |node| YamlField { node, label: label.clone() }))
            }
            YamlValue::List(_) => Err(self.error(format!("has more than {ENTRIES} entries"))),
            _ => Err(self.wrong_type("a list")),
        }
    }

    pub(super) fn texts(&self) -> Result<Vec<String>, YamlError> {
        self.list()?.map(|item| Ok(item.text()?.value)).collect()
    }

    /// Not empty, without control characters.
    pub(super) fn text(&self) -> Result<AtLine<String>, YamlError> {
        let YamlValue::Text(text) = &self.node.value else {
            return Err(self.wrong_type("text (put it between quotes)"));
        };
        if text.trim().is_empty() {
            return Err(self.error("is empty"));
        }
        if text.chars().count() > TEXT {
            return Err(self.error(format!("has more than {TEXT} characters")));
        }
        if text.chars().any(char::is_control) {
            return Err(self.error("holds a line end or another control character"));
        }
        Ok(self.at_line(text.clone()))
    }

    pub(super) fn boolean(&self) -> Result<AtLine<bool>, YamlError> {
        match self.node.value {
            YamlValue::Bool(on) => Ok(self.at_line(on)),
            _ => Err(self.wrong_type("true or false")),
        }
    }

    /// A whole number within bounds.
    pub(super) fn integer(&self, from: u64, to: u64) -> Result<AtLine<u64>, YamlError> {
        match self.node.value {
            YamlValue::Integer(number) if (from..=to).contains(&number) => Ok(self.at_line(number)),
            YamlValue::Integer(_) | YamlValue::Float(_) => {
                Err(self.error(format!("must be a whole number from {from} to {to}")))
            }
            _ => Err(self.wrong_type("a whole number")),
        }
    }

    /// A number of tokens.
    pub(super) fn tokens(&self) -> Result<AtLine<u64>, YamlError> {
        self.integer(1, TOKENS)
    }

    pub(super) fn one_of(&self, words: &[&'static str]) -> Result<AtLine<&'static str>, YamlError> {
        let given = self.text()?.value;
        match words.iter().find(|word| **word == given) {
            Some(word) => Ok(self.at_line(word)),
            None => {
                let near = did_you_mean(&nearest_names(&given, words.iter().copied(), 2));
                Err(self.error(format!("must be one of {}{near}", words.join(", "))))
            }
        }
    }

    /// A web address without user, query or fragment; its trailing slash is removed.
    pub(super) fn address(&self) -> Result<AtLine<String>, YamlError> {
        let value = self.text()?.value.trim_end_matches('/').to_string();
        let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"));
        let host = rest.map(|rest| rest.split('/').next().unwrap_or_default());
        let plain =
            |c: char| c.is_ascii_graphic() && !matches!(c, '?' | '#' | '@' | '\\' | '<' | '>' | '"' | '`');
        match host {
            Some(host) if !host.is_empty() && value.chars().all(plain) => Ok(self.at_line(value)),
            _ => Err(self.error(
                "must begin with https:// or http:// and be an address without user, query or fragment",
            )),
        }
    }

    pub(super) fn headers(&self) -> Result<AtLine<BTreeMap<String, String>>, YamlError> {
        let mut headers = BTreeMap::new();
        for entry in self.table()? {
            let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            if entry.name.is_empty() || !entry.name.chars().all(token) {
                let said = format!("`{}` is no name of a header", display_text(&entry.name));
                return Err(YamlError::new(entry.position, said));
            }
            headers.insert(entry.name.to_ascii_lowercase(), self.child(entry).text()?.value);
        }
        Ok(self.at_line(headers))
    }

    /// `text` and `image`: whether images can be read.
    pub(super) fn input(&self) -> Result<AtLine<bool>, YamlError> {
        let mut images = false;
        for item in self.list()? {
            images |= item.one_of(&["text", "image"])?.value == "image";
        }
        Ok(self.at_line(images))
    }

    /// The named prices.
    pub(super) fn cost(&self) -> Result<AtLine<Vec<(&'static str, f64)>>, YamlError> {
        const NAMES: [&str; 4] = ["input", "output", "cacheRead", "cacheWrite"];
        let mut prices = Vec::new();
        for entry in self.table()? {
            let Some(name) = NAMES.into_iter().find(|name| *name == entry.name) else {
                return Err(self.unknown_child(entry, &NAMES));
            };
            let field = self.child(entry);
            #[expect(clippy::cast_precision_loss, reason = "a price is small")]
            let value = match entry.node.value {
                YamlValue::Integer(number) => number as f64,
                YamlValue::Float(number) => number,
                _ => return Err(field.wrong_type("a number")),
            };
            if !(0.0..=DOLLARS).contains(&value) {
                let said = format!("must be dollars per million tokens, from 0 to {DOLLARS}");
                return Err(field.error(said));
            }
            prices.push((name, value));
        }
        Ok(self.at_line(prices))
    }

    /// The named compatibility switches; each is checked on its own, so that the error names the wrong one.
    pub(super) fn compat(&self) -> Result<AtLine<Map<String, Value>>, YamlError> {
        let names = serde_json::to_value(ServerCompat::default()).unwrap_or_default();
        let names: Vec<String> =
            names.as_object().map(|all| all.keys().cloned().collect()).unwrap_or_default();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut all = Map::new();
        for entry in self.table()? {
            if !names.contains(&entry.name.as_str()) {
                return Err(self.unknown_child(entry, &names));
            }
            let value = as_json(&entry.node);
            if serde_json::from_value::<ServerCompat>(json!({ &entry.name: &value })).is_err() {
                return Err(self.child(entry).error("does not have a value that it can have"));
            }
            all.insert(entry.name.clone(), value);
        }
        Ok(self.at_line(all))
    }
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

/// Overwrites the named switches.
pub(super) fn apply_compat(compat: &mut ServerCompat, named: &Map<String, Value>) {
    let Ok(Value::Object(mut all)) = serde_json::to_value(&*compat) else { return };
    all.extend(named.iter().map(|(name, value)| (name.clone(), value.clone())));
    if let Ok(laid) = serde_json::from_value(Value::Object(all)) {
        *compat = laid;
    }
}

/// `place` says where, as it goes on in the sentence.
pub(super) fn unknown_field(entry: &YamlEntry, place: &str, names: &[&str]) -> YamlError {
    let near = did_you_mean(&nearest_names(&entry.name, names.iter().copied(), 2));
    let said = format!("there is no setting `{}`{place}{near}", display_text(&entry.name));
    YamlError::new(entry.position, said)
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
