//! Reading settings out of nodes: each of a known name and kind, everything else refused with its place. No message
//! quotes a value.

use std::collections::BTreeMap;

use relaycode_text::nearest::{meant, nearest};
use relaycode_text::yaml::{Entry, Fault, Item, Node};
use serde_json::{Map, Number, Value, json};

use crate::model::{Compat, Price};
use crate::shown;

use super::file::At;

/// Characters of a text.
const TEXT: usize = 4096;
/// Entries of a list or table.
pub(super) const ENTRIES: usize = 4096;
/// The largest window or answer that is believed.
const TOKENS: u64 = 1 << 40;
/// The highest price per million tokens that is believed.
const DOLLARS: f64 = 1e6;

/// The entries of a table; `what` is its name for messages.
pub(super) fn table<'n>(node: &'n Node, what: &str) -> Result<&'n [Entry], Fault> {
    match &node.value {
        Item::Table(entries) if entries.len() <= ENTRIES => Ok(entries),
        Item::Table(_) => Err(Fault::new(node.at, format!("`{what}` has more than {ENTRIES} entries"))),
        Item::Null => Ok(&[]),
        other => Err(wrong(node, what, "a table", other)),
    }
}

/// The items of a list.
pub(super) fn list<'n>(node: &'n Node, what: &str) -> Result<&'n [Node], Fault> {
    match &node.value {
        Item::List(items) if items.len() <= ENTRIES => Ok(items),
        Item::List(_) => Err(Fault::new(node.at, format!("`{what}` has more than {ENTRIES} entries"))),
        other => Err(wrong(node, what, "a list", other)),
    }
}

/// A list of texts.
pub(super) fn texts(node: &Node, what: &str) -> Result<Vec<String>, Fault> {
    list(node, what)?.iter().map(|item| Ok(text(item, what)?.value)).collect()
}

/// A text that is not empty and has no control characters.
pub(super) fn text(node: &Node, what: &str) -> Result<At<String>, Fault> {
    let Item::Text(text) = &node.value else {
        return Err(wrong(node, what, "text (put it between quotes)", &node.value));
    };
    if text.trim().is_empty() {
        return Err(Fault::new(node.at, format!("`{what}` is empty")));
    }
    if text.chars().count() > TEXT {
        return Err(Fault::new(node.at, format!("`{what}` has more than {TEXT} characters")));
    }
    if text.chars().any(char::is_control) {
        return Err(Fault::new(node.at, format!("`{what}` holds a line end or another control character")));
    }
    Ok(At { value: text.clone(), line: node.at.line })
}

/// True or false.
pub(super) fn switch(node: &Node, what: &str) -> Result<At<bool>, Fault> {
    match node.value {
        Item::Switch(on) => Ok(At { value: on, line: node.at.line }),
        ref other => Err(wrong(node, what, "true or false", other)),
    }
}

/// A whole number in bounds.
pub(super) fn whole(node: &Node, what: &str, from: u64, to: u64) -> Result<At<u64>, Fault> {
    match node.value {
        Item::Whole(number) if (from..=to).contains(&number) => Ok(At { value: number, line: node.at.line }),
        Item::Whole(_) | Item::Number(_) => {
            Err(Fault::new(node.at, format!("`{what}` must be a whole number from {from} to {to}")))
        }
        ref other => Err(wrong(node, what, "a whole number", other)),
    }
}

/// A number of tokens.
pub(super) fn tokens(node: &Node, what: &str) -> Result<At<u64>, Fault> {
    whole(node, what, 1, TOKENS)
}

/// One of several words.
pub(super) fn word(node: &Node, what: &str, words: &[&'static str]) -> Result<At<&'static str>, Fault> {
    let given = text(node, what)?;
    match words.iter().find(|word| **word == given.value) {
        Some(word) => Ok(At { value: word, line: given.line }),
        None => {
            let near = meant(&nearest(&given.value, words.iter().copied(), 2));
            Err(Fault::new(node.at, format!("`{what}` must be one of {}{near}", words.join(", "))))
        }
    }
}

/// An address of the web without user, query or fragment; without its last slash.
pub(super) fn address(node: &Node, what: &str) -> Result<At<String>, Fault> {
    let given = text(node, what)?;
    let value = given.value.trim_end_matches('/').to_string();
    let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split('/').next().unwrap_or_default());
    let plain =
        |c: char| c.is_ascii_graphic() && !matches!(c, '?' | '#' | '@' | '\\' | '<' | '>' | '"' | '`');
    match host {
        Some(host) if !host.is_empty() && value.chars().all(plain) => Ok(At { value, line: given.line }),
        _ => Err(Fault::new(
            node.at,
            format!(
                "`{what}` must begin with https:// or http:// and be an address without user, query or fragment"
            ),
        )),
    }
}

/// Headers of a request.
pub(super) fn headers(node: &Node, what: &str) -> Result<At<BTreeMap<String, String>>, Fault> {
    let mut headers = BTreeMap::new();
    for entry in table(node, what)? {
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if entry.name.is_empty() || !entry.name.chars().all(token) {
            return Err(Fault::new(entry.at, format!("`{}` is no name of a header", shown(&entry.name))));
        }
        let value = text(&entry.node, &format!("{what}.{}", shown(&entry.name)))?;
        headers.insert(entry.name.to_ascii_lowercase(), value.value);
    }
    Ok(At { value: headers, line: node.at.line })
}

/// `text` and `image`: whether images can be read.
pub(super) fn input(node: &Node, what: &str) -> Result<At<bool>, Fault> {
    let mut images = false;
    for item in list(node, what)? {
        images |= word(item, what, &["text", "image"])?.value == "image";
    }
    Ok(At { value: images, line: node.at.line })
}

/// Prices that are named; the others stay.
pub(super) fn cost(node: &Node, what: &str) -> Result<At<Vec<(&'static str, f64)>>, Fault> {
    const NAMES: [&str; 4] = ["input", "output", "cacheRead", "cacheWrite"];
    let mut prices = Vec::new();
    for entry in table(node, what)? {
        let Some(name) = NAMES.into_iter().find(|name| *name == entry.name) else {
            return Err(unknown(entry, what, &NAMES));
        };
        #[expect(clippy::cast_precision_loss, reason = "a price is small")]
        let value = match entry.node.value {
            Item::Whole(number) => number as f64,
            Item::Number(number) => number,
            ref other => return Err(wrong(&entry.node, &format!("{what}.{name}"), "a number", other)),
        };
        if !(0.0..=DOLLARS).contains(&value) {
            let said = format!("`{what}.{name}` must be dollars per million tokens, from 0 to {DOLLARS}");
            return Err(Fault::new(entry.node.at, said));
        }
        prices.push((name, value));
    }
    Ok(At { value: prices, line: node.at.line })
}

/// Puts prices that are named over others.
pub(super) fn priced(price: &mut Price, named: &[(&'static str, f64)]) {
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
pub(super) fn compat(node: &Node, what: &str) -> Result<At<Map<String, Value>>, Fault> {
    let names = serde_json::to_value(Compat::default()).unwrap_or_default();
    let names: Vec<String> = names.as_object().map(|all| all.keys().cloned().collect()).unwrap_or_default();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut all = Map::new();
    for entry in table(node, what)? {
        if !names.contains(&entry.name.as_str()) {
            return Err(unknown(entry, what, &names));
        }
        let value = as_json(&entry.node);
        if serde_json::from_value::<Compat>(json!({ &entry.name: &value })).is_err() {
            let said = format!("`{what}.{}` does not have a value that it can have", entry.name);
            return Err(Fault::new(entry.node.at, said));
        }
        all.insert(entry.name.clone(), value);
    }
    Ok(At { value: all, line: node.at.line })
}

/// Puts switches that are named over others.
pub(super) fn switched(compat: &mut Compat, named: &Map<String, Value>) {
    let Ok(Value::Object(mut all)) = serde_json::to_value(&*compat) else { return };
    all.extend(named.iter().map(|(name, value)| (name.clone(), value.clone())));
    if let Ok(laid) = serde_json::from_value(Value::Object(all)) {
        *compat = laid;
    }
}

/// There is no such setting.
pub(super) fn unknown(entry: &Entry, what: &str, names: &[&str]) -> Fault {
    let near = meant(&nearest(&entry.name, names.iter().copied(), 2));
    let inside = if what.is_empty() { String::new() } else { format!(" in `{what}`") };
    Fault::new(entry.at, format!("there is no setting `{}`{inside}{near}", shown(&entry.name)))
}

fn wrong(node: &Node, what: &str, wanted: &str, got: &Item) -> Fault {
    Fault::new(node.at, format!("`{what}` must be {wanted}, not {}", got.kind()))
}

/// A value as JSON.
fn as_json(node: &Node) -> Value {
    match &node.value {
        Item::Null => Value::Null,
        Item::Switch(on) => Value::Bool(*on),
        Item::Whole(number) => Value::from(*number),
        Item::Number(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
        Item::Text(text) => Value::String(text.clone()),
        Item::List(items) => Value::Array(items.iter().map(as_json).collect()),
        Item::Table(entries) => {
            let entries = entries.iter().map(|entry| (entry.name.clone(), as_json(&entry.node)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
    }
}
