//! The user's own file, which is YAML, as the same nodes that the reader of literals makes.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

use super::literal::{DEPTH, Entry, Fault, Literal, Node, Place};

/// Scalars and collections in the file.
const NODES: usize = 100_000;

/// Reads `text`. An empty file is an empty object.
pub(super) fn yaml(text: &str) -> Result<Node, Fault> {
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
    let empty = text.lines().all(|line| matches!(line.trim_start().chars().next(), None | Some('#')));
    if empty {
        return Ok(Node { at: Place { line: 1, column: 1 }, value: Literal::Table(Vec::new()) });
    }
    let read: Result<Spanned<Raw>, _> = serde_saphyr::from_str_with_options(text, options);
    read.map(node).map_err(|error| {
        let at = error.location().map_or_else(Place::default, |at| place(at.line(), at.column()));
        let what = super::error::shown(error.to_string().lines().next().unwrap_or_default());
        Fault { at, what: format!("this is not YAML that relay reads: {what}"), computed: false }
    })
}

fn place<N: TryInto<usize>>(line: N, column: N) -> Place {
    Place { line: line.try_into().unwrap_or(0), column: column.try_into().unwrap_or(0) }
}

fn node(raw: Spanned<Raw>) -> Node {
    let at = place(raw.referenced.line(), raw.referenced.column());
    let value = match raw.value {
        Raw::Plain(value) => value,
        Raw::List(items) => Literal::List(items.into_iter().map(node).collect()),
        Raw::Table(entries) => Literal::Table(entries.into_iter().map(entry).collect()),
    };
    Node { at, value }
}

fn entry((key, value): (Spanned<String>, Spanned<Raw>)) -> Entry {
    let at = place(key.referenced.line(), key.referenced.column());
    Entry { name: key.value, at, node: node(value) }
}

/// What the library hands over.
enum Raw {
    Plain(Literal),
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
        Ok(Raw::Plain(Literal::Switch(on)))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Raw, E> {
        Ok(Raw::Plain(Literal::Number(number as f64)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Raw, E> {
        Ok(Raw::Plain(Literal::Number(number as f64)))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Raw, E> {
        Ok(Raw::Plain(Literal::Number(number)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Plain(Literal::Text(text.to_string())))
    }

    fn visit_unit<E: Error>(self) -> Result<Raw, E> {
        Ok(Raw::Plain(Literal::Null))
    }

    fn visit_none<E: Error>(self) -> Result<Raw, E> {
        Ok(Raw::Plain(Literal::Null))
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
