//! What of the user's home no command in a fence sees: keys, tokens, and what lets somebody be the user elsewhere.

use std::fs;
use std::path::{Path, PathBuf};

use crate::protected::SECRETS_IN_HOME;

/// What of relay's own directory is no secret: what commands keep there.
const RELAY_OPEN: &str = "cache";

/// The secrets that exist.
pub(super) fn find(user_home: Option<&Path>, relay_home: Option<&Path>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    if let Some(home) = user_home {
        found.extend(SECRETS_IN_HOME.iter().map(|name| home.join(name)).filter(|path| path.exists()));
    }
    let entries = relay_home.into_iter().flat_map(fs::read_dir).flatten().flatten();
    found.extend(entries.filter(|entry| entry.file_name() != RELAY_OPEN).map(|entry| entry.path()));
    found
}
