//! Versions of programs, as they print them.

use std::fmt;

/// A version: three numbers. What stands behind a hyphen or a plus does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version([u32; 3]);

impl Version {
    pub(crate) const fn new(major: u32, minor: u32, patch: u32) -> Version {
        Version([major, minor, patch])
    }

    /// From a word like `0.166.0`, `v1.2` or `2.2.0-beta.1`.
    pub(crate) fn read(word: &str) -> Option<Version> {
        let numbers = word.trim_start_matches('v').split(['-', '+']).next()?;
        let mut numbers = numbers.split('.').map(|number| number.parse().ok());
        Some(Version([numbers.next()??, numbers.next()??, numbers.next().unwrap_or(Some(0))?]))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Version([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        let read = |word| Version::read(word).unwrap();
        assert_eq!(read("0.166.0"), Version::new(0, 166, 0));
        assert_eq!(read("v1.2"), Version::new(1, 2, 0));
        assert!(read("0.100.0-preview.1") > read("0.61.0") && read("0.9.12") < read("0.61.0"));
        assert_eq!(read("2.2.0+build").to_string(), "2.2.0");
        for word in ["", "latest", "1", "1.x", "relay/1.2.3"] {
            assert_eq!(Version::read(word), None, "{word}");
        }
    }
}
