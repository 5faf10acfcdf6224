//! A directory as a tree, two levels deep, what changed last first.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::file_text::{MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES, format_bytes};

/// Levels that are shown.
const MAX_DEPTH: usize = 2;
/// Entries of a directory below the first level.
const MAX_CHILDREN: usize = 12;
/// Entries of one directory that are looked at.
const MAX_ENTRIES: usize = 10_000;
/// What is relay's and git's own.
const HIDDEN: [&str; 2] = [".git", ".relaycode"];

/// A tree as text.
pub(super) struct DirectoryTree {
    pub text: String,
    pub entries: usize,
    /// Not everything is shown.
    pub truncated: bool,
}

struct TreeItem {
    name: String,
    is_dir: bool,
    bytes: u64,
    changed: Option<SystemTime>,
}

impl DirectoryTree {
    pub(super) fn read(path: &Path, now: SystemTime, most: usize) -> std::io::Result<DirectoryTree> {
        let mut tree = DirectoryTree { text: String::new(), entries: 0, truncated: false };
        let most = most.min(MAX_OUTPUT_LINES);
        tree.add(path, now, 1, most)?;
        if tree.entries == 0 {
            tree.text = "(empty directory)\n".to_string();
        }
        Ok(tree)
    }

    fn add(&mut self, path: &Path, now: SystemTime, depth: usize, most: usize) -> std::io::Result<()> {
        let mut items = list(path)?;
        items.sort_by(|a, b| b.changed.cmp(&a.changed).then_with(|| a.name.cmp(&b.name)));
        let limit = if depth == 1 { usize::MAX } else { MAX_CHILDREN };
        let indent = "  ".repeat(depth - 1);
        for (at, item) in items.iter().enumerate() {
            if at == limit || self.entries == most || self.text.len() > MAX_OUTPUT_BYTES - 512 {
                self.text.push_str(&format!("{indent}[{} more]\n", items.len() - at));
                self.truncated = true;
                return Ok(());
            }
            let age = item.changed.and_then(|changed| now.duration_since(changed).ok()).map(format_age);
            let age = age.map(|age| format!(", {age} ago")).unwrap_or_default();
            let name = item.name.escape_debug();
            if item.is_dir {
                self.text.push_str(&format!(
                    "{indent}{name}/{}\n",
                    age.replacen(", ", " (", 1) + if age.is_empty() { "" } else { ")" }
                ));
            } else {
                self.text.push_str(&format!("{indent}{name} ({}{age})\n", format_bytes(item.bytes)));
            }
            self.entries += 1;
            if item.is_dir && depth < MAX_DEPTH {
                // What cannot be listed is still named.
                let _ = self.add(&path.join(&item.name), now, depth + 1, most);
            }
        }
        Ok(())
    }
}

fn list(path: &Path) -> std::io::Result<Vec<TreeItem>> {
    let mut items = Vec::new();
    for entry in fs::read_dir(path)?.take(MAX_ENTRIES) {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if HIDDEN.contains(&name.as_str()) {
            continue;
        }
        let found = entry.metadata().ok();
        items.push(TreeItem {
            name,
            is_dir: found.as_ref().is_some_and(fs::Metadata::is_dir),
            bytes: found.as_ref().map_or(0, fs::Metadata::len),
            changed: found.and_then(|found| found.modified().ok()),
        });
    }
    Ok(items)
}

/// `5m`, `3h`, `12d`.
fn format_age(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}
