//! Versions of programs, as they print them.

use std::fmt;

/// A version: three numbers. What stands behind a hyphen or a plus does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FriendVersion([u32; 3]);

impl FriendVersion {
    pub(crate) const fn new(major: u32, minor: u32, patch: u32) -> FriendVersion {
        FriendVersion([major, minor, patch])
    }

    /// From a word like `0.166.0`, `v1.2` or `2.2.0-beta.1`.
    pub(crate) fn parse(word: &str) -> Option<FriendVersion> {
        let numbers = word.trim_start_matches('v').split(['-', '+']).next()?;
        let mut numbers = numbers.split('.').map(|number| number.parse().ok());
        Some(FriendVersion([numbers.next()??, numbers.next()??, numbers.next().unwrap_or(Some(0))?]))
    }
}

impl fmt::Display for FriendVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FriendVersion([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        let read = |word| FriendVersion::parse(word).unwrap();
        assert_eq!(read("0.166.0"), FriendVersion::new(0, 166, 0));
        assert_eq!(read("v1.2"), FriendVersion::new(1, 2, 0));
        assert!(read("0.100.0-preview.1") > read("0.61.0") && read("0.9.12") < read("0.61.0"));
        assert_eq!(read("2.2.0+build").to_string(), "2.2.0");
        for word in ["", "latest", "1", "1.x", "relay/1.2.3"] {
            assert_eq!(FriendVersion::parse(word), None, "{word}");
        }
    }
}
