//! What stands at a name by which git can be made to run something.

use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Bytes of a control file that can be put back. What is larger is only told to have changed.
const MAX_CONTROL_BYTES: u64 = 1 << 20;
/// Bytes of a file that names a directory or a commit.
const MAX_SMALL_BYTES: u64 = 4 << 10;

/// A file, or what stands in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitControl {
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    /// A symbolic link, with where it leads.
    Link(Vec<u8>),
    Directory,
    /// Something that cannot be put back: too large, or no file. It is told by its number and the time of its last change.
    Unkept {
        inode: u64,
        changed: (i64, i64),
    },
}

impl GitControl {
    pub(super) fn read(path: &Path) -> Option<GitControl> {
        let found = path.symlink_metadata().ok()?;
        if found.is_symlink() {
            return fs::read_link(path)
                .ok()
                .map(|target| GitControl::Link(target.into_os_string().into_vec()));
        }
        if found.is_dir() {
            return Some(GitControl::Directory);
        }
        let bytes = if found.is_file() { read_bytes(path, MAX_CONTROL_BYTES) } else { None };
        Some(match bytes {
            Some(bytes) => GitControl::File { bytes, mode: found.permissions().mode() & 0o7777 },
            None => GitControl::Unkept { inode: found.ino(), changed: (found.ctime(), found.ctime_nsec()) },
        })
    }

    /// Its text, if it is a file with one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            GitControl::File { bytes, .. } => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }
}

/// The text of a regular file, unless it is long.
pub(super) fn read_small(path: &Path) -> Option<String> {
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    let bytes = is_file.then(|| read_bytes(path, MAX_SMALL_BYTES)).flatten()?;
    String::from_utf8(bytes).ok()
}

/// Whether what a directory calls its HEAD is one to git.
pub(super) fn read_head(git: &Path) -> bool {
    let head = git.join("HEAD");
    if let Ok(target) = fs::read_link(&head) {
        return target.starts_with("refs");
    }
    let text = read_small(&head).unwrap_or_default();
    let text = text.trim_end();
    let is_commit = |text: &str| matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    text.strip_prefix("ref:").is_some_and(|name| name.trim_start().starts_with("refs/")) || is_commit(text)
}

fn read_bytes(path: &Path, most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(most + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= most).then_some(bytes)
}
