//! Shrinks an entry to be saved: long strings are cut, images go to the store, transient fields are left
//! out.
//!
//! Invariant: every field keeps its type, and a signature is whole or empty, because its maker refuses half
//! of one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::BlobStore;

/// Longest string that is saved.
pub const MAX_PERSIST_CHARS: usize = 500_000;
/// Appended to a string that was cut.
pub const TRUNCATION_NOTICE: &str = "[Session persistence truncated large content]";
/// Deepest nesting in an entry, itself counted; readers support hardly more, and would lose the whole
/// entry.
pub const MAX_ENTRY_DEPTH: usize = 100;
/// From this many base64 characters on, an image goes to the store.
pub const MIN_BLOB_CHARS: usize = 1024;

/// Fields that only matter while streaming.
const TRANSIENT: [&str; 2] = ["partialJson", "jsonlEvents"];
/// Fields that are whole or empty.
const SIGNATURES: [&str; 4] = ["thinkingSignature", "textSignature", "thoughtSignature", "signature"];

pub(crate) fn shrink_entry(entry: &mut Value, blobs: Option<&BlobStore>) {
    // No recursion: a model's output may be nested deeper than the stack.
    let mut waiting: Vec<(&mut Value, usize)> = vec![(entry, 1)];
    while let Some((value, depth)) = waiting.pop() {
        if depth > MAX_ENTRY_DEPTH && (value.is_array() || value.is_object()) {
            *value = Value::String(TRUNCATION_NOTICE.to_string());
        }
        match value {
            Value::String(text) => truncate_text(text),
            Value::Array(items) => {
                for item in items.iter_mut() {
                    if !store_image(item, blobs) {
                        waiting.push((item, depth + 1));
                    }
                }
            }
            Value::Object(fields) => {
                for name in TRANSIENT {
                    fields.shift_remove(name);
                }
                for name in SIGNATURES {
                    match fields.get_mut(name) {
                        Some(Value::String(signature)) if is_long(signature) => signature.clear(),
                        _ => {}
                    }
                }
                if fields.get("lineCount").is_some_and(Value::is_number)
                    && let Some(Value::String(content)) = fields.get_mut("content")
                    && is_long(content)
                {
                    truncate_text(content);
                    let lines = content.split('\n').count();
                    fields.insert("lineCount".into(), lines.into());
                }
                waiting.extend(fields.values_mut().map(|value| (value, depth + 1)));
            }
            _ => {}
        }
    }
}

fn is_long(text: &str) -> bool {
    text.len() > MAX_PERSIST_CHARS && text.chars().nth(MAX_PERSIST_CHARS).is_some()
}

fn truncate_text(text: &mut String) {
    if !is_long(text) {
        return;
    }
    let keep = MAX_PERSIST_CHARS - TRUNCATION_NOTICE.len() - 2;
    let end = text.char_indices().nth(keep).map_or(text.len(), |(at, _)| at);
    text.truncate(end);
    text.push_str("\n\n");
    text.push_str(TRUNCATION_NOTICE);
}

/// Puts an image into the store. One that cannot be stored stays in the entry, whole: a cut one is useless.
fn store_image(block: &mut Value, blobs: Option<&BlobStore>) -> bool {
    let is_image = block.get("type").and_then(Value::as_str) == Some("image");
    let Some(Value::String(data)) = block.get_mut("data").filter(|_| is_image) else { return false };
    if data.starts_with(crate::home::blobs::REFERENCE) {
        return true;
    }
    if data.len() >= MIN_BLOB_CHARS
        && let Some(blobs) = blobs
        && let Ok(bytes) = STANDARD.decode(data.as_bytes())
        && let Ok(reference) = blobs.put(&bytes)
    {
        *data = reference;
    }
    true
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use relaycode_durable::Fs;
    use relaycode_proof_crashfs::ModelFs;
    use serde_json::json;

    use super::*;

    #[test]
    fn long_strings_are_cut_and_say_so() {
        let mut entry = json!({
            "edge": "x".repeat(MAX_PERSIST_CHARS), "long": "ü".repeat(MAX_PERSIST_CHARS + 1),
            "thinkingSignature": "s".repeat(MAX_PERSIST_CHARS + 1), "partialJson": "{", "jsonlEvents": [1],
            "read": { "content": "a\n".repeat(300_000), "lineCount": 300_000 }, "kept": { "content": "a\nb", "lineCount": 7 },
        });
        shrink_entry(&mut entry, None);
        assert_eq!(entry["edge"].as_str().unwrap().len(), MAX_PERSIST_CHARS);
        let long = entry["long"].as_str().unwrap();
        assert!(
            long.ends_with(TRUNCATION_NOTICE) && long.chars().count() == MAX_PERSIST_CHARS,
            "{}",
            long.len()
        );
        assert_eq!(entry["thinkingSignature"], "");
        assert!(entry.get("partialJson").is_none() && entry.get("jsonlEvents").is_none());
        let lines = entry["read"]["content"].as_str().unwrap().split('\n').count();
        assert_eq!(entry["read"]["lineCount"], lines);
        assert_eq!(entry["kept"]["lineCount"], 7, "what was not cut is as it was");
    }

    #[test]
    fn what_is_nested_too_deep_to_be_read_again_is_cut_where_it_is() {
        let nested = |depth: usize| (1..depth).fold(json!({ "leaf": 1 }), |inner, _| json!({ "a": inner }));
        let mut entry = nested(MAX_ENTRY_DEPTH);
        shrink_entry(&mut entry, None);
        assert_eq!(entry, nested(MAX_ENTRY_DEPTH));
        let mut entry = json!({ "text": "kept", "arguments": nested(127) });
        shrink_entry(&mut entry, None);
        assert_eq!(entry["text"], "kept");
        let line = entry.to_string();
        assert!(line.contains(TRUNCATION_NOTICE) && serde_json::from_str::<Value>(&line).is_ok());
    }

    #[test]
    fn images_go_to_the_store_from_a_size_on() {
        let model = Arc::new(ModelFs::new());
        let home = model.open_root(Path::new("/")).unwrap();
        let blobs = BlobStore::open(model, &home).unwrap();
        let large = STANDARD.encode(vec![7_u8; 768]);
        assert_eq!(large.len(), MIN_BLOB_CHARS);
        let small = STANDARD.encode(vec![7_u8; 765]);
        let image = |data: &str| json!({ "type": "image", "data": data, "mimeType": "image/png" });
        let mut entry = json!({ "message": { "content": [image(&large), image(&small), image("not base64 ".repeat(200).as_str())] } });
        let before = entry.clone();
        shrink_entry(&mut entry, None);
        assert_eq!(entry, before, "without a store they stay");
        shrink_entry(&mut entry, Some(&blobs));
        let content = &entry["message"]["content"];
        assert!(content[0]["data"].as_str().unwrap().starts_with("blob:sha256:"));
        assert_eq!(content[1], before["message"]["content"][1]);
        assert_eq!(content[2], before["message"]["content"][2]);
        crate::home::blobs::resolve_image_refs(&mut entry["message"], Some(&blobs), 0);
        assert_eq!(entry, before);
    }
}
