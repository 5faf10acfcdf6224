//! The user's own directory, where every ledger has a copy: `RELAY_HOME`, else `~/.relaycode`; and how far up
//! a project is looked for: not in the directories of `RELAY_CEILING_DIRECTORIES`, nor above them; and
//! whether a command of a gate runs this process (`RELAY_GATE`). The environment is read for it here and
//! nowhere else.

use std::ffi::OsString;
use std::path::PathBuf;

use relaycode_door::gate::GATE_VARIABLE;

/// What is the user's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RelayHome {
    /// The directory; `None` if nothing says where it is, and then there is no copy.
    pub(crate) path: Option<PathBuf>,
    /// The home directory, which is no project.
    pub(crate) user_home: Option<PathBuf>,
    /// Where looking for a project ends.
    pub(crate) ceilings: Vec<PathBuf>,
    /// The project whose gate runs this process, if one does.
    pub(crate) gate: Option<PathBuf>,
}

impl RelayHome {
    /// Reads it from the process.
    pub(crate) fn from_env() -> RelayHome {
        RelayHome::from_lookup(|name| std::env::var_os(name))
    }

    fn from_lookup(get: impl Fn(&str) -> Option<OsString>) -> RelayHome {
        let set = |name: &str| get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = set("RELAY_HOME").or_else(|| set("HOME").map(|home| home.join(".relaycode")));
        let ceilings = get("RELAY_CEILING_DIRECTORIES").unwrap_or_default();
        let ceilings = std::env::split_paths(&ceilings).filter(|path| path.is_absolute()).collect();
        // A relative one would be another directory wherever relay is started.
        let absolute = |path: Option<PathBuf>| path.filter(|path| path.is_absolute());
        RelayHome {
            path: absolute(home),
            user_home: absolute(set("HOME")),
            ceilings,
            gate: set(GATE_VARIABLE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relay_home_comes_before_the_users_own() {
        let home = |set: &[(&str, &str)]| {
            let get = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into());
            RelayHome::from_lookup(get).path
        };
        assert_eq!(home(&[("RELAY_HOME", "/r"), ("HOME", "/h")]), Some("/r".into()));
        assert_eq!(home(&[("RELAY_HOME", ""), ("HOME", "/h")]), Some("/h/.relaycode".into()));
        assert_eq!(home(&[("RELAY_HOME", "r")]), None);
        assert_eq!(home(&[]), None);
    }
}
