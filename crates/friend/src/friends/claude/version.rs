//! Which claude relay knows.

use super::NAME;
use crate::failure::Failure;
use crate::version::{self, Version};

/// The oldest that is used: the oldest that was tried to keep to its recipe and to ask before every tool.
pub(super) const OLDEST: Version = Version::new(2, 1, 197);

/// From what `claude --version` prints, `2.1.325 (Claude Code)`, or from what it says of itself.
pub(super) fn read(text: &str) -> Option<Version> {
    Version::read(text.split_whitespace().next()?)
}

/// Refuses one that is too old. One that does not say is left to the look at its tools.
pub(super) fn check(version: Option<Version>) -> Result<(), Failure> {
    version::check(NAME, version, OLDEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_claude_prints_and_the_old_are_refused() {
        assert_eq!(read("2.1.325 (Claude Code)\n"), Some(Version::new(2, 1, 325)));
        assert_eq!(read("something else"), None);
        assert!(check(read("1.0.128 (Claude Code)")).is_err());
        assert!(check(Some(OLDEST)).is_ok() && check(None).is_ok());
    }
}
