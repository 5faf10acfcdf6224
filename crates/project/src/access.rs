//! What somebody who works for the user may do, in one scale that means the same everywhere.

use std::{fmt, str::FromStr};

use relaycode_exec::FenceAccess;

/// What an agent may do, least first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Look, and change nothing.
    #[default]
    ReadOnly,
    /// Ask before every change and every command.
    Ask,
    /// Change what is in the project, and run commands that are confined to it.
    Workspace,
    /// Everything that the user may do.
    Full,
}

impl Access {
    /// All of them, least first.
    pub const ALL: [Access; 4] = [Access::ReadOnly, Access::Ask, Access::Workspace, Access::Full];

    /// Its name, as written after `--access`.
    pub fn name(self) -> &'static str {
        match self {
            Access::ReadOnly => "read-only",
            Access::Ask => "ask",
            Access::Workspace => "workspace",
            Access::Full => "full",
        }
    }

    /// The fence that a command has at this level; `None`: none.
    pub fn fence(self) -> Option<FenceAccess> {
        match self {
            Access::Full => None,
            Access::ReadOnly => Some(FenceAccess::ReadOnly),
            Access::Ask | Access::Workspace => Some(FenceAccess::Workspace),
        }
    }

    /// Whether changes in the place of work are possible at all.
    pub fn may_write(self) -> bool {
        self > Access::ReadOnly
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that stands for no access.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an access level; use read-only, ask, workspace or full")]
pub struct UnknownAccess(pub String);

impl FromStr for Access {
    type Err = UnknownAccess;

    /// Reads a name; those that other tools give their sandboxes are understood, too.
    fn from_str(name: &str) -> Result<Access, UnknownAccess> {
        match name {
            "read-only" => Ok(Access::ReadOnly),
            "ask" => Ok(Access::Ask),
            "workspace" | "workspace-write" => Ok(Access::Workspace),
            "full" | "danger-full-access" => Ok(Access::Full),
            other => Err(UnknownAccess(other.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back_and_the_sandboxes_of_others_are_understood() {
        for access in Access::ALL {
            assert_eq!(access.name().parse(), Ok(access));
        }
        assert_eq!("workspace-write".parse(), Ok(Access::Workspace));
        assert_eq!("danger-full-access".parse(), Ok(Access::Full));
        assert_eq!("Full".parse::<Access>(), Err(UnknownAccess("Full".to_string())));
        assert!(!Access::ReadOnly.may_write() && Access::Ask.may_write());
    }
}
