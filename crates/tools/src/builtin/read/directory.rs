//! A directory as a tree, two levels deep, what changed last first.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use relaycode_project::permissions::ReadRestrictions;
use relaycode_text::plural::pluralize;

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
    /// Entries that a rule denies or asks about.
    left_out: usize,
}

/// What is looked at, and what is not.
pub(super) struct DirectoryView<'a> {
    pub now: SystemTime,
    /// Entries that are shown.
    pub most: usize,
    pub rules: &'a ReadRestrictions,
}

struct TreeItem {
    name: String,
    is_dir: bool,
    bytes: u64,
    changed: Option<SystemTime>,
}

/// The entries of one directory.
struct DirectoryItems {
    items: Vec<TreeItem>,
    /// Beyond those that are looked at.
    unseen: usize,
    left_out: usize,
}

impl DirectoryTree {
    pub(super) fn read(path: &Path, view: &DirectoryView<'_>) -> std::io::Result<DirectoryTree> {
        let mut tree = DirectoryTree { text: String::new(), entries: 0, truncated: false, left_out: 0 };
        tree.add(path, 1, view)?;
        if tree.entries == 0 && tree.left_out == 0 {
            tree.text = "(empty directory)\n".to_string();
        }
        if tree.left_out > 0 {
            let entries = pluralize(tree.left_out, "entry");
            let note = format!("[{entries} left out: a rule of the user's or the project's is about them]\n");
            tree.text.push_str(&note);
        }
        Ok(tree)
    }

    fn add(&mut self, path: &Path, depth: usize, view: &DirectoryView<'_>) -> std::io::Result<()> {
        let most = view.most.min(MAX_OUTPUT_LINES);
        let DirectoryItems { mut items, unseen, left_out } = DirectoryItems::read(path, view.rules)?;
        self.left_out += left_out;
        items.sort_by(|a, b| b.changed.cmp(&a.changed).then_with(|| a.name.cmp(&b.name)));
        let limit = if depth == 1 { usize::MAX } else { MAX_CHILDREN };
        let indent = "  ".repeat(depth - 1);
        for (at, item) in items.iter().enumerate() {
            if at == limit || self.entries == most || self.text.len() > MAX_OUTPUT_BYTES - 512 {
                self.text.push_str(&format!("{indent}[{} more]\n", items.len() - at + unseen));
                self.truncated = true;
                return Ok(());
            }
            let age = item.changed.and_then(|changed| view.now.duration_since(changed).ok()).map(format_age);
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
                let _ = self.add(&path.join(&item.name), depth + 1, view);
            }
        }
        if unseen > 0 {
            self.text.push_str(&format!("{indent}[{unseen} more]\n"));
            self.truncated = true;
        }
        Ok(())
    }
}

impl DirectoryItems {
    fn read(path: &Path, rules: &ReadRestrictions) -> std::io::Result<DirectoryItems> {
        let mut found = DirectoryItems { items: Vec::new(), unseen: 0, left_out: 0 };
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if HIDDEN.contains(&name.as_str()) {
                continue;
            }
            if found.items.len() == MAX_ENTRIES {
                found.unseen += 1;
                continue;
            }
            if rules.rule_for(&entry.path()).is_some() {
                found.left_out += 1;
                continue;
            }
            let metadata = entry.metadata().ok();
            found.items.push(TreeItem {
                name,
                is_dir: metadata.as_ref().is_some_and(fs::Metadata::is_dir),
                bytes: metadata.as_ref().map_or(0, fs::Metadata::len),
                changed: metadata.and_then(|metadata| metadata.modified().ok()),
            });
        }
        Ok(found)
    }
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
