//! YAML that the user wrote, as nodes that know their line and column. The library that reads it is known here alone.
//!
//! No aliases, no merge keys, no duplicate names, bounded depth and count: a file of settings needs none of it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

use crate::width::shown;

/// How deep values may be nested.
const DEPTH: usize = 32;
/// Scalars and collections in the file.
const NODES: usize = 100_000;
/// Cells of foreign text in a message.
const SHOWN: usize = 80;

/// A line and a column, from 1; 0 where nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it stands.
    pub at: Place,
    /// The value.
    pub value: Item,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// Nothing.
    Null,
    /// True or false.
    Switch(bool),
    /// A number without fraction or sign.
    Whole(u64),
    /// Any other number.
    Number(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Named values, in the order in which they stand.
    Table(Vec<Entry>),
}

/// A named value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// Where the name stands.
    pub at: Place,
    /// The value.
    pub node: Node,
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub at: Place,
    /// What.
    pub what: String,
}

impl Fault {
    /// Something wrong at a place.
    pub fn new(at: Place, what: impl Into<String>) -> Fault {
        Fault { at, what: what.into() }
    }
}

impl Item {
    /// What kind of value it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Item::Null => "nothing",
            Item::Switch(_) => "true or false",
            Item::Whole(_) | Item::Number(_) => "a number",
            Item::Text(_) => "text",
            Item::List(_) => "a list",
            Item::Table(_) => "a table",
        }
    }
}

/// Reads `text`. An empty file is an empty table.
///
/// # Errors
/// What is no such YAML, and where.
pub fn read(text: &str) -> Result<Node, Fault> {
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
    let empty = text.lines().all(|line| matches!(line.trim_start().chars().next(), None | Some('#')));
    if empty {
        return Ok(Node { at: Place { line: 1, column: 1 }, value: Item::Table(Vec::new()) });
    }
    let read: Result<Spanned<Raw>, _> = serde_saphyr::from_str_with_options(text, options);
    read.map(node).map_err(|error| {
        let at = error.location().map_or_else(Place::default, |at| place(at.line(), at.column()));
        let what = shown(error.to_string().lines().next().unwrap_or_default(), SHOWN);
        Fault::new(at, format!("this is not YAML that relay reads: {what}"))
    })
}

fn place<N: TryInto<usize>>(line: N, column: N) -> Place {
    Place { line: line.try_into().unwrap_or(0), column: column.try_into().unwrap_or(0) }
}

fn node(raw: Spanned<Raw>) -> Node {
    let at = place(raw.referenced.line(), raw.referenced.column());
    let value = match raw.value {
        Raw::Plain(value) => value,
        Raw::List(items) => Item::List(items.into_iter().map(node).collect()),
        Raw::Table(entries) => Item::Table(entries.into_iter().map(entry).collect()),
    };
    Node { at, value }
}

fn entry((key, value): (Spanned<String>, Spanned<Raw>)) -> Entry {
    let at = place(key.referenced.line(), key.referenced.column());
    Entry { name: key.value, at, node: node(value) }
}

/// What the library hands over.
enum Raw {
    Plain(Item),
    List(Vec<Spanned<Raw>>),
    Table(Vec<(Spanned<String>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, on: bool) -> Result<Raw, E> {
        Ok(Raw::Plain(Item::Switch(on)))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Raw, E> {
        let whole = u64::try_from(number).map(Item::Whole);
        Ok(Raw::Plain(whole.unwrap_or(Item::Number(number as f64))))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Raw, E> {
        Ok(Raw::Plain(Item::Whole(number)))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Raw, E> {
        Ok(Raw::Plain(Item::Number(number)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Plain(Item::Text(text.to_string())))
    }

    fn visit_unit<E: Error>(self) -> Result<Raw, E> {
        Ok(Raw::Plain(Item::Null))
    }

    fn visit_none<E: Error>(self) -> Result<Raw, E> {
        Ok(Raw::Plain(Item::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut table = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            table.push(entry);
        }
        Ok(Raw::Table(table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_place_and_bombs_are_refused() {
        let node = read("a:\n  b: 3\n  c: [x, 1.5, true, null]\n").unwrap();
        let Item::Table(entries) = &node.value else { panic!("no table") };
        let Item::Table(inner) = &entries[0].node.value else { panic!("no table") };
        assert_eq!((inner[0].at.line, inner[0].node.at.column), (2, 6));
        let Item::List(list) = &inner[1].node.value else { panic!("no list") };
        let values: Vec<&Item> = list.iter().map(|node| &node.value).collect();
        assert_eq!(values, [&Item::Text("x".into()), &Item::Number(1.5), &Item::Switch(true), &Item::Null]);
        assert_eq!(read("a: 1\na: 2\n").unwrap_err().at.line, 2);
        assert!(read("a: &x [1]\nb: *x\n").is_err());
        assert!(read(&"[".repeat(100_000)).is_err());
        assert_eq!(read("# nothing\n").unwrap().value, Item::Table(Vec::new()));
    }
}
