//! The user's own directory, where every ledger has a copy: `RELAY_HOME`, else `~/.relaycode`. The
//! environment is read for it here and nowhere else.

use std::ffi::OsString;
use std::path::PathBuf;

/// The directory; `None` if nothing says where it is, and then there is no copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Home(pub(crate) Option<PathBuf>);

impl Home {
    /// Reads it from the process.
    pub(crate) fn read() -> Home {
        Home::from(|name| std::env::var_os(name))
    }

    fn from(get: impl Fn(&str) -> Option<OsString>) -> Home {
        let set = |name: &str| get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = set("RELAY_HOME").or_else(|| set("HOME").map(|home| home.join(".relaycode")));
        // A relative one would be another directory wherever relay is started.
        Home(home.filter(|home| home.is_absolute()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relay_home_comes_before_the_users_own() {
        let home = |set: &[(&str, &str)]| {
            let get = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into());
            Home::from(get).0
        };
        assert_eq!(home(&[("RELAY_HOME", "/r"), ("HOME", "/h")]), Some("/r".into()));
        assert_eq!(home(&[("RELAY_HOME", ""), ("HOME", "/h")]), Some("/h/.relaycode".into()));
        assert_eq!(home(&[("RELAY_HOME", "r")]), None);
        assert_eq!(home(&[]), None);
    }
}
