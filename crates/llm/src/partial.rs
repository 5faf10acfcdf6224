//! JSON while it comes: what the arguments of a tool call are so far.

use serde_json::{Map, Value};

/// JSON text of which more comes.
#[derive(Debug, Default)]
pub struct PartialJson {
    text: String,
}

impl PartialJson {
    /// More of it.
    pub fn push(&mut self, more: &str) {
        self.text.push_str(more);
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Nothing came yet.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// What it says so far; an empty object if that is no object.
    pub fn so_far(&self) -> Map<String, Value> {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    /// What it says, now that nothing more comes.
    pub fn finish(self) -> Map<String, Value> {
        self.so_far()
    }
}
