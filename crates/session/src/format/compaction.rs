//! What relay adds to the format's compactions, in entries that other programs pass by (`custom`): outputs of tools that were cut
//! to a line, and changes of the context that no longer count.
//!
//! Nothing is rewritten: an entry that was cut is whole in the file, and what was undone is there, too.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::EntryBody;

/// The `customType` of outputs that were cut.
pub const CUT_OUTPUTS: &str = "cut-outputs";
/// The `customType` of an undone compaction, or of cuts that were undone.
pub const COMPACTION_UNDONE: &str = "compaction-undone";

/// What an entry changes of the context that it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextChange {
    /// By the entries of the results: the line that stands for each.
    CutOutputs(BTreeMap<String, String>),
    /// The entry of this id does not count.
    Undone(String),
}

impl ContextChange {
    pub fn to_body(&self) -> EntryBody {
        let (custom_type, data) = match self {
            ContextChange::CutOutputs(lines) => (CUT_OUTPUTS, json!({ "outputs": lines })),
            ContextChange::Undone(id) => (COMPACTION_UNDONE, json!({ "entryId": id })),
        };
        EntryBody::Custom { custom_type: custom_type.to_string(), data: Some(data) }
    }

    pub fn from_body(body: &EntryBody) -> Option<ContextChange> {
        let EntryBody::Custom { custom_type, data: Some(data) } = body else { return None };
        match custom_type.as_str() {
            CUT_OUTPUTS => {
                let lines = serde_json::from_value(data.get("outputs")?.clone()).ok()?;
                Some(ContextChange::CutOutputs(lines))
            }
            COMPACTION_UNDONE => Some(ContextChange::Undone(data.get("entryId")?.as_str()?.to_string())),
            _ => None,
        }
    }
}

/// The message of a result that was cut: the line in place of its content.
pub(crate) fn cut_message(message: &mut Value, line: &str) {
    if message.get("role").and_then(Value::as_str) == Some("toolResult") {
        message["content"] = json!([{ "type": "text", "text": line }]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_comes_back_as_it_was_written_and_nothing_else_is_one() {
        let cut = ContextChange::CutOutputs([("a".to_string(), "cut".to_string())].into_iter().collect());
        for change in [cut, ContextChange::Undone("b".into())] {
            assert_eq!(ContextChange::from_body(&change.to_body()), Some(change));
        }
        for (custom_type, data) in [
            ("other", json!({ "entryId": "a" })),
            (CUT_OUTPUTS, json!({ "outputs": [1] })),
            (COMPACTION_UNDONE, json!({ "entryId": 7 })),
        ] {
            let body = EntryBody::Custom { custom_type: custom_type.into(), data: Some(data) };
            assert_eq!(ContextChange::from_body(&body), None);
        }
    }
}
