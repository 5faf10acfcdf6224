//! What git is told to leave out, as it says it: whole directories where it can.

use super::{Git, GitResult, split_nul};

/// Bytes of the list.
const LIST: usize = 16 << 20;

impl Git<'_> {
    /// The files and directories below the project's root that git ignores, relative to it; directories end in
    /// `/`, and what is below one is not listed. In no order.
    ///
    /// # Errors
    /// If git cannot say.
    pub fn ignored(&self) -> GitResult<Vec<Vec<u8>>> {
        let words =
            ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--", "."];
        let list = self.run_checked(self.safe_policy()?, &words, LIST)?;
        Ok(split_nul(&list).map(<[u8]>::to_vec).collect())
    }
}
