//! Which codex relay knows.

use super::NAME;
use crate::failure::Failure;
use crate::version::{self, Version};

/// The oldest that is used: the oldest with which every test here was run.
pub(super) const OLDEST: Version = Version::new(0, 154, 0);

/// From what `codex --version` prints: `codex-cli 0.166.0`.
pub(super) fn of_output(printed: &str) -> Option<Version> {
    let line = printed.lines().find(|line| line.starts_with("codex"))?;
    Version::read(line.split_whitespace().next_back()?)
}

/// From the name that the app-server gives itself: `relay/0.166.0 (Debian …)`.
pub(super) fn of_agent(agent: &str) -> Option<Version> {
    Version::read(agent.split_whitespace().next()?.split_once('/')?.1)
}

/// Refuses one that is too old. One that does not say is left to the look at its terms.
pub(super) fn check(version: Option<Version>) -> Result<(), Failure> {
    version::check(NAME, version, OLDEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_codex_prints_and_the_old_are_refused() {
        assert_eq!(of_output("WARNING: x\ncodex-cli 0.166.0\n"), Some(Version::new(0, 166, 0)));
        let agent = "relay/0.167.0-alpha.3 (Debian 12.0.0; x86_64) dumb";
        assert_eq!(of_agent(agent), Some(Version::new(0, 167, 0)));
        assert_eq!(of_agent("something else"), None);
        assert!(check(of_output("codex-cli 0.99.1")).is_err());
        assert!(
            check(Some(OLDEST)).is_ok() && check(Some(Version::new(1, 0, 0))).is_ok() && check(None).is_ok()
        );
    }
}
