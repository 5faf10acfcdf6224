//! The user's own file, which is YAML, as the same nodes that the reader of literals makes.

use relaycode_text::yaml::{self, Item};

use super::literal::{Entry, Fault, Literal, Node, Place};

/// Reads `text`. An empty file is an empty object.
pub(super) fn yaml(text: &str) -> Result<Node, Fault> {
    yaml::read(text).map(node).map_err(|fault| Fault {
        at: place(fault.at),
        what: fault.what,
        computed: false,
    })
}

fn place(at: yaml::Place) -> Place {
    Place { line: at.line, column: at.column }
}

fn node(read: yaml::Node) -> Node {
    let value = match read.value {
        Item::Null => Literal::Null,
        Item::Switch(on) => Literal::Switch(on),
        Item::Whole(number) => Literal::Number(number as f64),
        Item::Number(number) => Literal::Number(number),
        Item::Text(text) => Literal::Text(text),
        Item::List(items) => Literal::List(items.into_iter().map(node).collect()),
        Item::Table(entries) => Literal::Table(entries.into_iter().map(entry).collect()),
    };
    Node { at: place(read.at), value }
}

fn entry(read: yaml::Entry) -> Entry {
    Entry { name: read.name, at: place(read.at), node: node(read.node) }
}
