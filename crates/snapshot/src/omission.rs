//! What was left out, and why: nothing is passed over in silence.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Something that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omission {
    /// What; a directory ends with a slash. Foreign text.
    pub path: String,
    /// Why, as the rest of a sentence that begins with the path.
    pub reason: String,
    /// How many files that is, if it is a directory.
    pub files: usize,
    /// How many bytes they have.
    pub bytes: u64,
}

/// What was left out, gathered by path and reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OmissionList(BTreeMap<(String, String), (usize, u64)>);

impl OmissionList {
    /// Adds so many files of so many bytes.
    pub fn add(&mut self, path: &str, reason: &str, files: usize, bytes: u64) {
        let sum = self.0.entry((path.to_string(), reason.to_string())).or_default();
        sum.0 += files;
        sum.1 += bytes;
    }

    /// Whether nothing was left out.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of it, by path.
    pub fn into_sorted(self) -> impl Iterator<Item = Omission> {
        self.0.into_iter().map(|((path, reason), (files, bytes))| Omission { path, reason, files, bytes })
    }
}
