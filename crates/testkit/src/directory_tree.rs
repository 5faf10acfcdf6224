//! Everything beneath a directory, to be compared later.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::expect::expect_ok;

/// Mode and bytes by name: of a link its target, of anything but a file no bytes.
pub type DirectoryTree = BTreeMap<String, (u32, Vec<u8>)>;

/// Everything beneath `root`, except these names at its top.
#[track_caller]
pub fn read_tree(root: &Path, without: &[&str]) -> DirectoryTree {
    let mut tree = DirectoryTree::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(directory) = waiting.pop() {
        for entry in expect_ok(fs::read_dir(&directory), "a directory cannot be listed") {
            let path = expect_ok(entry, "a directory cannot be listed").path();
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            if without.contains(&name.as_str()) {
                continue;
            }
            let stat = expect_ok(fs::symlink_metadata(&path), &name);
            let bytes = if stat.is_file() {
                expect_ok(fs::read(&path), &name)
            } else if stat.is_symlink() {
                expect_ok(fs::read_link(&path), &name).into_os_string().into_encoded_bytes()
            } else {
                Vec::new()
            };
            tree.insert(name, (stat.mode(), bytes));
            if stat.is_dir() {
                waiting.push(path);
            }
        }
    }
    tree
}
