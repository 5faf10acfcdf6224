//! One place of a schema, with everything said about it there and elsewhere.

use std::collections::BTreeSet;

use serde_json::Value;

use super::walk::SchemaObject;

/// The layers of one place, nearest first.
#[derive(Default)]
pub(super) struct SchemaNode<'a> {
    pub(super) layers: Vec<&'a SchemaObject>,
    /// How many of the references being followed were pushed for it.
    pub(super) followed: usize,
    /// It refers to itself.
    pub(super) cycle: bool,
}

impl<'a> SchemaNode<'a> {
    pub(super) fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.layers.iter().find_map(|layer| layer.get(keyword))
    }

    /// Of all layers; for a name the nearest.
    pub(super) fn properties(&self) -> Vec<(&'a String, &'a Value)> {
        let mut seen = BTreeSet::new();
        let all = self.layers.iter().filter_map(|layer| layer.get("properties")?.as_object()).flatten();
        all.filter(|(name, _)| seen.insert(name.as_str())).collect()
    }

    pub(super) fn required(&self) -> Vec<&'a str> {
        let mut seen = BTreeSet::new();
        let all = self.layers.iter().filter_map(|layer| layer.get("required")?.as_array()).flatten();
        all.filter_map(Value::as_str).filter(|name| seen.insert(*name)).collect()
    }

    /// Of all layers, in order.
    pub(super) fn keywords(&self) -> Vec<&'a str> {
        let mut seen = BTreeSet::new();
        let all = self.layers.iter().flat_map(|layer| layer.keys().map(String::as_str));
        all.filter(|keyword| seen.insert(*keyword)).collect()
    }

    /// Its type, if it has only one besides `null`.
    pub(super) fn single_type(&self) -> Option<&'a str> {
        match self.get("type")? {
            Value::String(name) => Some(name),
            Value::Array(names) => {
                let mut names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
                names.next().filter(|_| names.next().is_none())
            }
            _ => None,
        }
    }
}
