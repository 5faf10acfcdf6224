//! The terms on which a friend is asked or reviews: where, with what access, in which form, and how long it may take.

use std::path::PathBuf;
use std::time::Duration;

use relaycode_project::access::Access;
use serde_json::Value;

use super::AskError;
use crate::friend::Friend;
use crate::friend::turn::{TurnLimits, TurnMemory};

/// What holds for every question, whatever it is about.
#[derive(Debug, Clone)]
pub struct AskOptions {
    /// The project.
    pub root: PathBuf,
    /// What the friend may do there.
    pub access: Access,
    /// The model, as the friend names it; `None`: as it is configured.
    pub model: Option<String>,
    /// The JSON schema that the answer has to follow.
    pub schema: Option<Value>,
    /// What the friend remembers.
    pub memory: TurnMemory,
    /// How long it may take in all, by whatever ways.
    pub total: Duration,
    /// How long it may show no sign of life.
    pub idle: Duration,
    /// Whether the project is compared afterwards. Only with read-only access; whoever asks several friends at once
    /// compares once, around all of them.
    pub check_tree: bool,
}

impl AskOptions {
    /// From now on, if there is any time at all.
    pub(crate) fn turn_limits(&self) -> Result<TurnLimits, AskError> {
        if self.total.is_zero() || self.idle.is_zero() {
            return Err(AskError::ZeroTimeout);
        }
        Ok(TurnLimits::new(self.total, self.idle))
    }

    /// The project's directory, without links.
    pub(crate) fn real_directory(&self) -> Result<PathBuf, AskError> {
        let real = self.root.canonicalize().ok().filter(|real| real.is_dir());
        real.ok_or_else(|| AskError::NotADirectory { path: self.root.clone() })
    }

    /// Whether this friend may be given the access.
    pub(crate) fn check_access(&self, friend: &dyn Friend) -> Result<(), AskError> {
        let can = friend.abilities().access;
        if can.contains(&self.access) {
            return Ok(());
        }
        Err(AskError::AccessNotSupported { friend: friend.name().to_string(), access: self.access, can })
    }
}
