//! YAML written by the user, as nodes that know their line and column. The parsing library is used here
//! only.
//!
//! No aliases, no merge keys, no duplicate names, bounded depth and count: settings need none of that.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Location, Spanned};

use crate::width::clip_for_message;

/// Deepest nesting.
const DEPTH: usize = 32;
/// Most scalars and collections in a file.
const NODES: usize = 100_000;
/// Most cells of foreign text in a message.
const SHOWN: usize = 80;

/// Line and column, counted from 1; 0 where unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct YamlSourcePosition {
    pub line: usize,
    pub column: usize,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "Spanned<YamlValue>")]
pub struct YamlNode {
    pub position: YamlSourcePosition,
    pub value: YamlValue,
}

#[derive(Debug, Clone, PartialEq)]
pub enum YamlValue {
    Null,
    Bool(bool),
    /// A whole number without a sign.
    Integer(u64),
    /// Any other number.
    Float(f64),
    Text(String),
    List(Vec<YamlNode>),
    /// Named values, in the order of the file.
    Table(Vec<YamlEntry>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct YamlEntry {
    pub name: String,
    pub position: YamlSourcePosition,
    pub node: YamlNode,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlError {
    pub position: YamlSourcePosition,
    pub message: String,
}

impl YamlError {
    pub fn new(at: YamlSourcePosition, what: impl Into<String>) -> YamlError {
        YamlError { position: at, message: what.into() }
    }
}

impl YamlValue {
    /// The kind of value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            YamlValue::Null => "nothing",
            YamlValue::Bool(_) => "true or false",
            YamlValue::Integer(_) | YamlValue::Float(_) => "a number",
            YamlValue::Text(_) => "text",
            YamlValue::List(_) => "a list",
            YamlValue::Table(_) => "a table",
        }
    }
}

/// Reads `text`. An empty file is an empty table.
pub fn read(text: &str) -> Result<YamlNode, YamlError> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_documents: 1,
            max_depth: DEPTH,
            flow_nesting_limit: DEPTH,
            max_nodes: NODES,
            max_events: 2 * NODES,
            max_aliases: 0,
            max_anchors: 0,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::AsOrdinary,
        strict_booleans: true,
        with_snippet: false,
        emit_comments: false,
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.lines().all(|line| matches!(line.trim_start().chars().next(), None | Some('#'))) {
        let position = YamlSourcePosition { line: 1, column: 1 };
        return Ok(YamlNode { position, value: YamlValue::Table(Vec::new()) });
    }
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let at = error.location().as_ref().map(position).unwrap_or_default();
        let what = clip_for_message(error.to_string().lines().next().unwrap_or_default(), SHOWN);
        YamlError::new(at, format!("this is not YAML that relay reads: {what}"))
    })
}

fn position(at: &Location) -> YamlSourcePosition {
    let number = |number: u64| usize::try_from(number).unwrap_or(0);
    YamlSourcePosition { line: number(at.line()), column: number(at.column()) }
}

impl From<Spanned<YamlValue>> for YamlNode {
    fn from(node: Spanned<YamlValue>) -> YamlNode {
        YamlNode { position: position(&node.referenced), value: node.value }
    }
}

impl<'de> Deserialize<'de> for YamlValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<YamlValue, D::Error> {
        deserializer.deserialize_any(YamlVisitor)
    }
}

struct YamlVisitor;

impl<'de> Visitor<'de> for YamlVisitor {
    type Value = YamlValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, on: bool) -> Result<YamlValue, E> {
        Ok(YamlValue::Bool(on))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<YamlValue, E> {
        Ok(u64::try_from(number).map_or(YamlValue::Float(number as f64), YamlValue::Integer))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<YamlValue, E> {
        Ok(YamlValue::Integer(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<YamlValue, E> {
        Ok(YamlValue::Float(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<YamlValue, E> {
        Ok(YamlValue::Text(text.to_string()))
    }

    fn visit_unit<E: Error>(self) -> Result<YamlValue, E> {
        Ok(YamlValue::Null)
    }

    fn visit_none<E: Error>(self) -> Result<YamlValue, E> {
        Ok(YamlValue::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<YamlValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(YamlValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<YamlValue, A::Error> {
        let mut table = Vec::new();
        while let Some((key, node)) = entries.next_entry::<Spanned<String>, YamlNode>()? {
            table.push(YamlEntry { position: position(&key.referenced), name: key.value, node });
        }
        Ok(YamlValue::Table(table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_place_and_bombs_are_refused() {
        let node = read("a:\n  b: 3\n  c: [x, 1.5, true, null]\n").unwrap();
        let YamlValue::Table(entries) = &node.value else { panic!("no table") };
        let YamlValue::Table(inner) = &entries[0].node.value else { panic!("no table") };
        assert_eq!((inner[0].position.line, inner[0].node.position.column), (2, 6));
        let YamlValue::List(list) = &inner[1].node.value else { panic!("no list") };
        let values: Vec<&YamlValue> = list.iter().map(|node| &node.value).collect();
        assert_eq!(
            values,
            [&YamlValue::Text("x".into()), &YamlValue::Float(1.5), &YamlValue::Bool(true), &YamlValue::Null]
        );
        assert_eq!(read("a: 1\na: 2\n").unwrap_err().position.line, 2);
        assert!(read("a: &x [1]\nb: *x\n").is_err());
        assert!(read(&"[".repeat(100_000)).is_err());
        assert_eq!(read("# nothing\n").unwrap().value, YamlValue::Table(Vec::new()));
    }
}
