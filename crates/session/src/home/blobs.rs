//! Images, stored once by their content: `<home>/blobs/<sha256>`, raw bytes.
//!
//! Invariant: content that does not match its name is never returned.

use std::io;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use relaycode_durable::{Fs, FsDir, atomic};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::home::layout::{BLOBS_DIR, create_dir_in};

/// Prefix of a reference.
pub const REFERENCE: &str = "blob:sha256:";
/// Largest image that is read.
pub const MAX_BLOB_BYTES: u64 = 64 << 20;
/// How deep content is searched for references.
const DEPTH_MOST: usize = 64;

pub struct BlobStore {
    fs: Arc<dyn Fs>,
    dir: FsDir,
}

/// Why an image is not available.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    #[error("`{0}` is no reference to an image")]
    NoReference(String),
    #[error("the image {0} is not in the store any more")]
    Missing(String),
    /// Its content does not match its name.
    #[error("the image {0} is damaged: its bytes do not match its name")]
    Damaged(String),
    #[error("the image {0} cannot be read: {1}")]
    Io(String, io::Error),
}

impl BlobStore {
    /// In relay's home directory, created if needed.
    pub fn open(fs: Arc<dyn Fs>, home: &FsDir) -> io::Result<BlobStore> {
        let dir = create_dir_in(&*fs, home, BLOBS_DIR)?;
        Ok(BlobStore { fs, dir })
    }

    /// The same bytes are stored once. Returns their reference.
    pub fn put(&self, bytes: &[u8]) -> io::Result<String> {
        let hash = hash_of(bytes);
        let reference = format!("{REFERENCE}{hash}");
        if self.fs.stat(&self.dir, &hash).is_ok_and(|stat| stat.len == bytes.len() as u64)
            && self.get(&reference).is_ok()
        {
            return Ok(reference);
        }
        // Two concurrent writers of the same bytes do not disturb each other.
        let scratch = format!("{hash}.{}", crate::format::entry::random_entry_id());
        let written = atomic::write(&*self.fs, (&self.dir, &scratch), (&self.dir, &hash), bytes);
        written.map(|()| reference).map_err(|error| {
            let _ = self.fs.remove_file(&self.dir, &scratch);
            error.source
        })
    }

    pub fn get(&self, reference: &str) -> Result<Vec<u8>, BlobError> {
        let hash = reference.strip_prefix(REFERENCE).filter(|hash| is_hash(hash));
        let Some(hash) = hash else {
            return Err(BlobError::NoReference(reference.chars().take(100).collect()));
        };
        match self.fs.read(&self.dir, hash, MAX_BLOB_BYTES) {
            Ok((bytes, _)) if hash_of(&bytes) == hash => Ok(bytes),
            Ok(_) => Err(BlobError::Damaged(hash.to_string())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(BlobError::Missing(hash.to_string()))
            }
            Err(error) => Err(BlobError::Io(hash.to_string(), error)),
        }
    }
}

impl std::fmt::Debug for BlobStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Blobs")
    }
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn hash_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Replaces references in the `content` of a message by their images, or by a text if one is missing.
/// `depth` is 0. Returns how many are missing.
pub(crate) fn resolve_image_refs(value: &mut Value, blobs: Option<&BlobStore>, depth: usize) -> usize {
    if depth > DEPTH_MOST {
        return 0;
    }
    if is_reference(value) {
        return resolve_image(value, blobs);
    }
    match value {
        Value::Array(items) => items.iter_mut().map(|item| resolve_image_refs(item, blobs, depth + 1)).sum(),
        Value::Object(fields) => match fields.get_mut("content") {
            Some(content) if content.is_array() => resolve_image_refs(content, blobs, depth + 1),
            _ => 0,
        },
        _ => 0,
    }
}

fn is_reference(value: &Value) -> bool {
    value.get("type").and_then(Value::as_str) == Some("image")
        && value.get("data").and_then(Value::as_str).is_some_and(|data| data.starts_with("blob:"))
}

fn resolve_image(block: &mut Value, blobs: Option<&BlobStore>) -> usize {
    let reference = block.get("data").and_then(Value::as_str).unwrap_or_default();
    let problem = match blobs.map(|blobs| blobs.get(reference)) {
        Some(Ok(bytes)) => {
            block["data"] = Value::String(STANDARD.encode(bytes));
            return 0;
        }
        Some(Err(error)) => error.to_string(),
        None => "the store of images is not open".to_string(),
    };
    *block = json!({ "type": "text", "text": format!("[image not shown: {problem}]") });
    1
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use relaycode_proof_crashfs::ModelFs;

    use super::*;

    #[test]
    fn an_image_is_kept_once_and_found_by_what_is_in_it() {
        let model = Arc::new(ModelFs::new());
        let home = model.open_root(Path::new("/")).unwrap();
        let blobs = BlobStore::open(model.clone(), &home).unwrap();
        let reference = blobs.put(b"picture").unwrap();
        assert_eq!(blobs.put(b"picture").unwrap(), reference);
        assert_eq!(blobs.get(&reference).unwrap(), b"picture");
        let file = format!("blobs/{}", &reference[REFERENCE.len()..]);
        assert_eq!(model.snapshot().files.len(), 1);
        assert_eq!(model.file(&file).unwrap().1, 0o600);

        model.put(&file, b"forgery", 0o600).unwrap();
        assert!(matches!(blobs.get(&reference), Err(BlobError::Damaged(_))));
        assert_eq!(blobs.put(b"picture").unwrap(), reference, "a damaged one is made whole");
        assert_eq!(blobs.get(&reference).unwrap(), b"picture");
        model.delete(&file).unwrap();
        assert!(matches!(blobs.get(&reference), Err(BlobError::Missing(_))));
        for foreign in ["blob:sha256:../../etc/passwd", "blob:sha256:", "data"] {
            assert!(matches!(blobs.get(foreign), Err(BlobError::NoReference(_))), "{foreign}");
        }
    }

    #[test]
    fn what_is_missing_becomes_a_text() {
        let missing = format!("{REFERENCE}{}", "0".repeat(64));
        let mut message = json!({ "role": "user", "content": [{ "type": "image", "data": missing, "mimeType": "image/png" }] });
        assert_eq!(resolve_image_refs(&mut message, None, 0), 1);
        assert_eq!(message["content"][0]["type"], "text");
    }
}
