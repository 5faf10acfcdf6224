//! What git was told to leave out of a project: build results, dependencies, secrets of one's own.

use super::{Git, GitError};

/// Bytes of the list.
const LIST: usize = 32 << 20;

impl Git<'_> {
    /// The files and directories that git ignores, relative to the project's root; of a directory that is ignored as a
    /// whole only its own name, ending in a slash. Names that are not UTF-8 are left out.
    ///
    /// # Errors
    /// If there is no repository, or git cannot say.
    pub fn ignored(&self) -> Result<Vec<String>, GitError> {
        let words = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let list = self.ask(self.safe()?, &words, LIST)?;
        let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.filter_map(|name| std::str::from_utf8(name).ok()).map(ToString::to_string).collect())
    }
}
