//! What the user was told of a project once and need not hear again. It is kept in the user's own directory, per
//! directory of a project; where it cannot be kept nothing counts as new, because it would be said every time.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::user_files::{DirectoryInode, UserFileStore, json_file};

/// The folder in the user's own directory.
const FOLDER: &str = "notices";
/// Bytes of a project's file.
const FILE_BYTES: u64 = 64 << 10;
/// Notices that are remembered; the oldest go first.
const NOTICES: usize = 100;

/// What was said, of all projects.
#[derive(Debug, Clone)]
pub struct NoticeStore {
    store: UserFileStore,
}

/// A project's file.
#[derive(Debug, Serialize, Deserialize)]
struct NoticeFile {
    /// For people; the file's name is what counts.
    path: String,
    #[serde(flatten)]
    mark: DirectoryInode,
    said: Vec<String>,
}

impl NoticeStore {
    /// Kept in `home`, the user's own directory.
    pub fn new(home: Option<&Path>) -> NoticeStore {
        NoticeStore { store: UserFileStore::new(home, FOLDER, FILE_BYTES) }
    }

    /// Whether `notice` was never said about the project at `root`; from now on it was.
    pub fn is_new(&self, root: &Path, notice: &str) -> bool {
        self.remember(root, notice).unwrap_or(false)
    }

    fn remember(&self, root: &Path, notice: &str) -> Option<bool> {
        let place = self.store.directory(root).ok()?;
        let bytes = self.store.read(&place).ok()?;
        let file: Option<NoticeFile> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let mut said = file.filter(|file| file.mark == place.mark).map(|file| file.said).unwrap_or_default();
        if said.iter().any(|known| known == notice) {
            return Some(false);
        }
        said.push(notice.to_string());
        said.drain(..said.len().saturating_sub(NOTICES));
        let path = place.path.to_string_lossy().into_owned();
        let file = NoticeFile { path, mark: place.mark, said };
        self.store.write(&place, &json_file(&file).ok()?).ok()?;
        Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_new_once_in_each_project_and_never_where_it_cannot_be_kept() {
        let temp = tempfile::tempdir().unwrap();
        let (home, one, two) = (temp.path().join("home"), temp.path().join("one"), temp.path().join("two"));
        for project in [&one, &two] {
            std::fs::create_dir(project).unwrap();
        }
        let notices = NoticeStore::new(Some(&home));
        for project in [&one, &two] {
            assert!(notices.is_new(project, "a"));
            assert!(!notices.is_new(project, "a"));
            assert!(notices.is_new(project, "b"));
        }
        for n in 0..2 * NOTICES {
            assert!(notices.is_new(&one, &n.to_string()));
        }
        assert!(notices.is_new(&one, "a"), "the oldest is forgotten");
        assert!(!NoticeStore::new(None).is_new(&one, "c"));
        assert!(!NoticeStore::new(Some(&one)).is_new(&one, "c"), "it lies inside the project");
    }
}
