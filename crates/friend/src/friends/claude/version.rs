//! Which claude relay knows.

use super::NAME;
use crate::failure::Failure;

/// The oldest that is used: the oldest that was tried to keep to its recipe and to ask before every tool.
pub(super) const OLDEST: Version = Version(2, 1, 197);

/// A version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(u32, u32, u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Version {
    /// From what `claude --version` prints, `2.1.325 (Claude Code)`, or from what it says of itself.
    pub(super) fn read(text: &str) -> Option<Version> {
        let word = text.split_whitespace().next()?;
        let (numbers, _) = word.split_once(['-', '+']).unwrap_or((word, ""));
        let mut numbers = numbers.splitn(3, '.').map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(Version(next()?, next()?, next()?))
    }
}

/// Refuses one that is too old. One that does not say is left to the look at its tools.
pub(super) fn check(version: Option<Version>) -> Result<(), Failure> {
    match version {
        Some(found) if found < OLDEST => Err(Failure::TooOld {
            friend: NAME.to_string(),
            found: found.to_string(),
            oldest: OLDEST.to_string(),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_claude_prints_and_the_old_are_refused() {
        assert_eq!(Version::read("2.1.325 (Claude Code)\n"), Some(Version(2, 1, 325)));
        assert_eq!(Version::read("2.2.0-beta.1"), Some(Version(2, 2, 0)));
        assert_eq!(Version::read("something else"), None);
        assert!(check(Version::read("1.0.128 (Claude Code)")).is_err());
        assert!(check(Some(OLDEST)).is_ok() && check(None).is_ok());
    }
}
