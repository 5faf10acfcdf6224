//! What a file held in the last commit, byte by byte: no filter, no conversion.

use std::{ffi::OsString, os::unix::ffi::OsStringExt};

use super::{Git, GitResult, OUTPUT_BYTES, checked_path};

/// Bytes of a file.
const FILE: usize = 64 << 20;

impl Git<'_> {
    /// The bytes of `path`, relative to the project's root, in the last commit; `None` if it is no file
    /// there, or if there is no commit yet.
    ///
    /// # Errors
    /// If git cannot say, or the file is too large.
    pub fn content_at_head(&self, path: &str) -> GitResult<Option<Vec<u8>>> {
        let path = checked_path(path)?;
        let Some(head) = self.head_commit()? else { return Ok(None) };
        let repository = self.repository()?;
        let full = [&repository.prefix[..], path.as_bytes()].concat();
        // `HEAD:path` would be shorter, but some paths mean something else there.
        let literal = OsString::from_vec([b":(literal)", &full[..]].concat());
        let words = ["ls-tree", "-z", "--full-tree", &head, "--"].into_iter().map(OsString::from);
        let words: Vec<OsString> = words.chain([literal]).collect();
        let listed = self.ask(&words)?;
        let object = listed.split(|byte| *byte == 0).find_map(|entry| blob_id(entry, &full));
        let Some(object) = object else { return Ok(None) };
        self.run_checked(self.safe_policy()?, &["cat-file", "blob", &object], FILE).map(Some)
    }

    /// The last commit; `None` before the first one.
    pub(super) fn head_commit(&self) -> GitResult<Option<String>> {
        let (code, finished) =
            self.try_ask(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], OUTPUT_BYTES)?;
        if code == 1 {
            return Ok(None);
        }
        let answer = self.checked_output(finished, self.safe_policy()?, "rev-parse", OUTPUT_BYTES)?;
        Ok(Some(String::from_utf8_lossy(&answer).trim().to_string()))
    }
}

/// The object of a line of a tree's list, if it is the file at `full`.
fn blob_id(entry: &[u8], full: &[u8]) -> Option<String> {
    let cut = entry.iter().position(|byte| *byte == b'\t')?;
    let words = std::str::from_utf8(&entry[..cut]).ok()?;
    let mut words = words.split(' ');
    let (mode, kind, object) = (words.next()?, words.next()?, words.next()?);
    let is_file = kind == "blob" && mode.starts_with("100") && &entry[cut + 1..] == full;
    is_file.then(|| object.to_string())
}
