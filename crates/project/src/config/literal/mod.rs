//! A reader of values that are written out: objects, lists, texts, numbers, `true`, `false`, `null`.
//!
//! One grammar for `.json` and for the object in a module: JSON, and also comments, trailing commas,
//! unquoted keys, single quotes, and template strings in which nothing is inserted. Nothing is ever run;
//! what would have to be is a [`LiteralError`] that says so. Every key and value knows its place. Linear in the
//! text, bounded in depth; a key that stands twice is a fault, so that nobody depends on which one wins.

mod cursor;
mod module;
mod text;
mod value;

#[cfg(test)]
mod tests;

pub(super) use module::parse_module;
use value::LiteralReader;

/// Objects and lists within each other.
pub(super) const DEPTH: usize = 32;

/// A place in a text, both from 1, columns in characters; 0 is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ConfigPosition {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LiteralNode {
    pub(super) at: ConfigPosition,
    pub(super) value: LiteralValue,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum LiteralValue {
    Null,
    Switch(bool),
    Number(f64),
    Text(String),
    List(Vec<LiteralNode>),
    Table(Vec<LiteralEntry>),
}

/// A key of an object with its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LiteralEntry {
    pub(super) name: String,
    pub(super) at: ConfigPosition,
    pub(super) node: LiteralNode,
}

/// Why a text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LiteralError {
    pub(super) at: ConfigPosition,
    pub(super) what: String,
    /// It would have to be run.
    pub(super) computed: bool,
}

/// Reads a text that is one value.
pub(super) fn parse_json(text: &str) -> Result<LiteralNode, LiteralError> {
    let mut reader = LiteralReader::new(text, false);
    reader.cursor.skip_blanks()?;
    let node = reader.value(0)?;
    reader.cursor.skip_blanks()?;
    match reader.cursor.peek() {
        None => Ok(node),
        Some(_) => Err(reader.cursor.fault("there is more text after the end of the object")),
    }
}
