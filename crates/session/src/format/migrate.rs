//! Older formats, migrated entry by entry.
//!
//! Version 1 has neither `id` nor `parentId` (entries follow one another), and a compaction names the first
//! entry it keeps by its number, where the header is number 0. Version 2 calls the role `custom`
//! `hookMessage`. Ids and parents come from the rows; the rest is done here.

use serde_json::{Map, Value};

use crate::file::EntryTable;

/// The id of the entry with this number in a file without ids.
pub(crate) fn generated_entry_id(number: u64) -> String {
    format!("{:08x}", number + 1)
}

/// Migrates the fields of an entry of format `version`.
pub(crate) fn migrate_entry(fields: &mut Map<String, Value>, version: u64, table: &EntryTable) {
    if version < 2
        && fields.get("type").and_then(Value::as_str) == Some("compaction")
        && let Some(index) = fields.shift_remove("firstKeptEntryIndex")
        && !fields.contains_key("firstKeptEntryId")
    {
        let row = index.as_u64().and_then(|index| u32::try_from(index.checked_sub(1)?).ok());
        if let Some(row) = row.and_then(|row| table.row(row)) {
            fields.insert("firstKeptEntryId".into(), Value::String(row.id.to_string()));
        }
    }
    if version < 3
        && let Some(Value::Object(message)) = fields.get_mut("message")
        && let Some(role) = message.get_mut("role")
        && role.as_str() == Some("hookMessage")
    {
        *role = Value::String("custom".into());
    }
}
