//! Which codex relay knows.

use super::NAME;
use crate::failure::Failure;

/// The oldest that is used: the oldest with which every test here was run.
pub(super) const OLDEST: Version = Version(0, 154, 0);

/// A version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(u32, u32, u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Version {
    /// From what `codex --version` prints: `codex-cli 0.166.0`.
    pub(super) fn of_output(printed: &str) -> Option<Version> {
        let line = printed.lines().find(|line| line.starts_with("codex"))?;
        Version::read(line.split_whitespace().next_back()?)
    }

    /// From the name that the app-server gives itself: `relay/0.166.0 (Debian …)`.
    pub(super) fn of_agent(agent: &str) -> Option<Version> {
        Version::read(agent.split_whitespace().next()?.split_once('/')?.1)
    }

    fn read(text: &str) -> Option<Version> {
        let (numbers, _) = text.split_once(['-', '+']).unwrap_or((text, ""));
        let mut numbers = numbers.splitn(3, '.').map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(Version(next()?, next()?, next()?))
    }
}

/// Refuses one that is too old. One that does not say is left to the look at its terms.
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
    fn versions_are_read_from_what_codex_prints_and_the_old_are_refused() {
        assert_eq!(Version::of_output("WARNING: x\ncodex-cli 0.166.0\n"), Some(Version(0, 166, 0)));
        assert_eq!(
            Version::of_agent("relay/0.167.0-alpha.3 (Debian 12.0.0; x86_64) dumb"),
            Some(Version(0, 167, 0))
        );
        assert_eq!(Version::of_agent("something else"), None);
        assert!(check(Version::of_output("codex-cli 0.99.1")).is_err());
        assert!(check(Some(OLDEST)).is_ok() && check(Some(Version(1, 0, 0))).is_ok() && check(None).is_ok());
    }
}
