//! A request to the permission engine, and the answer to it.

use std::path::PathBuf;

use super::layers::PlacedRule;
use super::line::LineReading;
use super::rule::{CommandGrant, PathVerb, PermissionEffect};
use crate::access::Access;

/// What somebody wants to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionRequest {
    /// Give a line to a POSIX shell.
    Line(String),
    /// Start a program with these arguments, without a shell.
    Arguments(Vec<String>),
    /// Read or change a file with a tool of relay's own. Absolute, or beneath the root.
    Path { verb: PathVerb, path: PathBuf },
    /// Send a request of relay's own to a host.
    Host(String),
    /// Use a tool.
    Tool(String),
}

/// Where and how a request would be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionPlace {
    /// The project's root, without links.
    pub root: PathBuf,
    /// Where the command starts; usually the root.
    pub directory: PathBuf,
    /// The user's home directory, if it is known.
    pub home: Option<PathBuf>,
    /// Directories for temporary files, which may always be written.
    pub temporary: Vec<PathBuf>,
    pub access: Access,
    /// Commands run in a fence that holds back what the access level does not allow.
    pub is_fenced: bool,
}

/// What holds where no rule of the user's applies. The names are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BuiltinRule {
    /// Everything that the line starts is known only to look.
    ReadsOnly,
    /// It writes only into temporary directories.
    WritesTemporary,
    /// The fence holds back what is not allowed.
    HeldByFence,
    /// The user gave full access.
    FullAccess,
    /// Relay's own tools may read the project.
    ReadsProject,
    /// Relay's own tools may change the project: every change can be undone.
    EditsProject,
    /// No rule allows it.
    NoRule,
    /// The line cannot be read for certain.
    NotUnderstood,
    /// A deny or ask rule may apply, and nobody can know before it runs.
    MayBeDenied,
    /// Nothing is changed with read-only access.
    ReadOnlyAccess,
    /// Files of git, relay and agents, and start-up files, are never written unasked.
    ProtectedPath,
    /// The host is not a name that can be compared.
    UnclearHost,
    /// A rule gives one command of the line more than the others may have.
    GrantAlone,
}

impl BuiltinRule {
    pub fn name(self) -> &'static str {
        match self {
            BuiltinRule::ReadsOnly => "built-in:reads-only",
            BuiltinRule::WritesTemporary => "built-in:temporary-files",
            BuiltinRule::HeldByFence => "built-in:fence",
            BuiltinRule::FullAccess => "built-in:full-access",
            BuiltinRule::ReadsProject => "built-in:reads-project",
            BuiltinRule::EditsProject => "built-in:edits-project",
            BuiltinRule::NoRule => "built-in:no-rule",
            BuiltinRule::NotUnderstood => "built-in:not-understood",
            BuiltinRule::MayBeDenied => "built-in:may-be-denied",
            BuiltinRule::ReadOnlyAccess => "built-in:read-only-access",
            BuiltinRule::ProtectedPath => "built-in:protected-path",
            BuiltinRule::UnclearHost => "built-in:unclear-host",
            BuiltinRule::GrantAlone => "built-in:grant-alone",
        }
    }
}

/// The rule that decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecidingRule {
    Placed(PlacedRule),
    Builtin(BuiltinRule),
}

impl DecidingRule {
    /// As it is named to people and in records: the rule as it is written, or the stable name of a built-in one.
    pub fn name(&self) -> String {
        match self {
            DecidingRule::Placed(placed) => placed.rule.to_string(),
            DecidingRule::Builtin(rule) => rule.name().to_string(),
        }
    }
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionDecision {
    pub effect: PermissionEffect,
    /// The rule that decided. Of several that allow parts of a line, the first.
    pub rule: DecidingRule,
    /// Everything that had a part in it, the deciding rule first.
    pub rules: Vec<DecidingRule>,
    /// Why, for a person: whole sentences without a dot.
    pub reasons: Vec<String>,
    /// What was read of a command line; `None` for other requests, and for a line that cannot be read at all.
    pub reading: Option<LineReading>,
    /// What all of the line gets beyond the fence: what a rule gives one command of it, if every other one has a rule that gives
    /// the same, or is sure to do nothing with it. Else the line asks, and this is empty.
    pub grants: Vec<CommandGrant>,
    /// Rules that would allow it, if any can: what "always here" would keep.
    pub would_allow: Vec<String>,
}

impl PermissionDecision {
    pub fn is_allowed(&self) -> bool {
        self.effect == PermissionEffect::Allow
    }
}
