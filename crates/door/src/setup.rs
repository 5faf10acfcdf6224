//! What `relay init` puts into a project: a configuration and a line in `.gitignore`. Both are a change like
//! any other, made by the ledger, so that they can be taken back.

use relaycode_change::plan::tree::{PlanTree, TreeEntry};
use relaycode_change::proposal::path::RelPath;
use relaycode_ledger::transaction::change::{AfterContent, FileChange, NewMode};
use relaycode_project::config;

/// The project's configuration.
pub const CONFIG_FILE: &str = "relaycode.config.json";
/// Where git is told what it does not keep.
const IGNORE_FILE: &str = ".gitignore";
/// The line in it.
const IGNORE_LINE: &str = ".relaycode/";

/// What a project needs.
pub struct SetupChanges {
    /// What is missing; empty if everything is in place.
    pub changes: Vec<FileChange<'static>>,
    /// Why `.gitignore` is left as it is, though the line may not be in it. `.relaycode` has a `.gitignore` of its own.
    pub ignore_file_left: Option<String>,
}

/// `configured`: there is a configuration, in whatever form.
pub fn setup_changes(tree: &dyn PlanTree, project_id: &str, configured: bool) -> SetupChanges {
    let mut changes = Vec::new();
    if !configured && let Ok(path) = RelPath::parse(CONFIG_FILE) {
        changes.extend(write_change(path, None, config::initial_file(project_id).into_bytes()));
    }
    if let Ok(path) = RelPath::parse(IGNORE_FILE) {
        let before = match tree.entry(&path) {
            Ok(TreeEntry::Missing) => None,
            Ok(TreeEntry::File { bytes, .. }) => Some(bytes),
            // Whoever made it something else has reasons.
            Ok(TreeEntry::Other(what)) => {
                return SetupChanges { changes, ignore_file_left: Some(format!("it is {what}")) };
            }
            Err(_) => {
                let why = "it is too large or cannot be read".to_string();
                return SetupChanges { changes, ignore_file_left: Some(why) };
            }
        };
        if let Some(after) = with_ignore_line(before.as_deref().unwrap_or_default()) {
            changes.extend(write_change(path, before, after));
        }
    }
    SetupChanges { changes, ignore_file_left: None }
}

fn write_change(path: RelPath, before: Option<Vec<u8>>, bytes: Vec<u8>) -> Option<FileChange<'static>> {
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    let added = lines(&bytes) - before.as_deref().map_or(0, lines);
    let after = Some(AfterContent { bytes: bytes.into(), mode: NewMode::Keep });
    Some(FileChange { path, renamed_from: None, before: before.map(Into::into), after, added, removed: 0 })
}

/// The file with the line at its end, in its own line endings; `None` if it has it.
fn with_ignore_line(before: &[u8]) -> Option<Vec<u8>> {
    let names = [".relaycode", ".relaycode/", "/.relaycode", "/.relaycode/"];
    let has = before.split(|byte| *byte == b'\n').any(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        names.iter().any(|name| line.trim_ascii_end() == name.as_bytes())
    });
    if has {
        return None;
    }
    let ending: &[u8] = if before.windows(2).any(|pair| pair == b"\r\n") { b"\r\n" } else { b"\n" };
    let mut after = before.to_vec();
    if !after.is_empty() && !after.ends_with(b"\n") {
        after.extend_from_slice(ending);
    }
    after.extend_from_slice(IGNORE_LINE.as_bytes());
    after.extend_from_slice(ending);
    Some(after)
}

#[cfg(test)]
mod tests {
    use relaycode_change::plan::tree::MemoryTree;

    use super::*;

    #[test]
    fn the_line_is_added_once_in_the_files_own_endings() {
        let after =
            |before: &str| with_ignore_line(before.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(after("").as_deref(), Some(".relaycode/\n"));
        assert_eq!(after("a\n").as_deref(), Some("a\n.relaycode/\n"));
        assert_eq!(after("a").as_deref(), Some("a\n.relaycode/\n"));
        assert_eq!(after("a\r\nb").as_deref(), Some("a\r\nb\r\n.relaycode/\r\n"));
        for there in [".relaycode\n", "x\n/.relaycode/\n", ".relaycode/ \r\n", ".relaycode/"] {
            assert_eq!(after(there), None, "{there:?}");
        }
        assert!(after("# .relaycode/\n!.relaycode/\n").is_some());
    }

    #[test]
    fn what_is_in_place_is_left_alone() {
        let mut tree = MemoryTree::default();
        let paths = |tree: &MemoryTree, configured| -> Vec<String> {
            setup_changes(tree, "app", configured)
                .changes
                .iter()
                .map(|change| change.path.to_string())
                .collect()
        };
        assert_eq!(paths(&tree, false), [CONFIG_FILE, IGNORE_FILE]);
        assert_eq!(paths(&tree, true), [IGNORE_FILE]);
        tree.insert(RelPath::parse(IGNORE_FILE).unwrap(), ".relaycode/\n");
        assert!(paths(&tree, true).is_empty());
    }
}
