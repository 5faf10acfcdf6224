//! The files of a conversation, over all of its compactions: which ones were looked at, and which ones were changed.

use serde_json::{Value, json};

/// Files of each list; the newest stay.
const MAX_FILES: usize = 200;

/// The newest last; a file that was changed is not among those that were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileLists {
    pub read: Vec<String>,
    pub modified: Vec<String>,
}

impl FileLists {
    /// What an earlier compaction noted.
    pub fn from_details(details: &Value) -> FileLists {
        let list = |name: &str| {
            let names = details.get(name).and_then(Value::as_array).into_iter().flatten();
            names.filter_map(|name| name.as_str().map(str::to_string)).collect()
        };
        FileLists { read: list("readFiles"), modified: list("modifiedFiles") }
    }

    pub fn to_details(&self) -> Value {
        json!({ "readFiles": self.read, "modifiedFiles": self.modified })
    }

    pub fn note_read(&mut self, path: String) {
        if !self.modified.contains(&path) {
            push_newest(&mut self.read, path);
        }
    }

    pub fn note_modified(&mut self, path: String) {
        self.read.retain(|known| *known != path);
        push_newest(&mut self.modified, path);
    }
}

fn push_newest(list: &mut Vec<String>, path: String) {
    list.retain(|known| *known != path);
    list.push(path);
    if list.len() > MAX_FILES {
        list.remove(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_go_on_and_what_was_changed_is_not_only_read() {
        let mut files = FileLists::from_details(&json!({"readFiles": ["a", "b"], "modifiedFiles": ["c"]}));
        for path in ["c", "d", "a"] {
            files.note_read(path.to_string());
        }
        files.note_modified("b".to_string());
        assert_eq!(files.to_details(), json!({"readFiles": ["d", "a"], "modifiedFiles": ["c", "b"]}));
        assert_eq!(FileLists::from_details(&json!(7)), FileLists::default());
        for at in 0..=MAX_FILES {
            files.note_modified(at.to_string());
        }
        assert_eq!((files.modified.len(), files.modified[0].as_str()), (MAX_FILES, "1"));
    }
}
