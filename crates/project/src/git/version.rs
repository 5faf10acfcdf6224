//! Which git this is.

use std::fmt;

/// The oldest git that can be told to leave a repository alone that lies among the files
/// (`safe.bareRepository`).
pub(super) const OLDEST_SUPPORTED: GitVersion = GitVersion { major: 2, minor: 38 };
/// The oldest git that can be told to take no attributes from the work tree (`--attr-source`). An older
/// one reads them, and finds every filter that they could name silenced.
pub(super) const ATTR_SOURCE_SINCE: GitVersion = GitVersion { major: 2, minor: 41 };

/// A version of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitVersion {
    /// The first number.
    pub major: u32,
    /// The second.
    pub minor: u32,
}

impl GitVersion {
    /// Reads what `git version` prints.
    pub(super) fn parse(text: &str) -> Option<GitVersion> {
        let mut numbers = text.strip_prefix("git version ")?.split('.');
        let mut number = || -> Option<u32> {
            let part = numbers.next()?;
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part[..end].parse().ok()
        };
        Some(GitVersion { major: number()?, minor: number()? })
    }
}

impl fmt::Display for GitVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_with_whatever_follows_them() {
        let read = |text| GitVersion::parse(text).map(|version| version.to_string());
        assert_eq!(read("git version 2.47.3\n").as_deref(), Some("2.47"));
        assert_eq!(read("git version 2.39.5 (Apple Git-154)").as_deref(), Some("2.39"));
        assert_eq!(read("git version 2.50rc1").as_deref(), Some("2.50"));
        assert_eq!(read("git version 3.0.windows.1").as_deref(), Some("3.0"));
        assert_eq!(read("hub 1.2"), None);
        assert!(
            GitVersion { major: 2, minor: 37 } < OLDEST_SUPPORTED
                && OLDEST_SUPPORTED < GitVersion { major: 3, minor: 0 }
        );
    }
}
