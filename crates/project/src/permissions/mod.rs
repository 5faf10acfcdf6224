//! The permission engine: what may be done unasked, what asks, and what is refused.
//!
//! Rules come in layers ([`PermissionLayers`]): the user's configuration, the project's (which can only tighten),
//! what the user allowed always here, and the session. Whatever the layer, deny wins over ask, and ask over allow.
//!
//! Holds: every [`PermissionDecision`] names the rule that made it, also where no rule of the user's applies
//! ([`BuiltinRule`]). A line of a shell is read, not matched as text: it is allowed only if everything that it
//! would start, write and read is, and what is not understood asks. Nothing here runs anything or reads what a file
//! of the project holds. Links on the way to a file that is named are followed on the disk, so that the rules for the
//! place where they lead hold, and git's own directories are known there by their names. A link that is made later is the fence's business.
//!
//! | module | what it is for |
//! |---|---|
//! | `rule` | one rule, as it is written: `cargo test *`, `edit src/**`, `npm publish * [network]` |
//! | `layers` | whose rules there are; where each stands |
//! | `store` | the files of rules that `relay permissions add` keeps |
//! | `path_pattern` | paths without disk, and the patterns that rules have for them |
//! | `line` | what a command line would start, write, read and destroy |
//! | `decision` | a request and the answer to it |
//! | `decide` | how rules and a line's reading make a decision |
//! | `permit` | a decision about a command carried out: who is asked what, and what the command is given |

mod decide;
mod decision;
mod layers;
mod line;
mod path_pattern;
mod permit;
mod rule;
mod store;
#[cfg(test)]
mod tests;

pub use decide::{PermissionEngine, ReadRestrictions};
pub use decision::{BuiltinRule, DecidingRule, PermissionDecision, PermissionPlace, PermissionRequest};
pub use layers::{IgnoredRule, PermissionLayer, PermissionLayers, PlacedRule};
pub use line::{
    CommandArgument, CommandRole, DestructiveAct, LineLosses, LineReading, LineTarget, PathNamer, PathUse,
    PathUseKind, StartedCommand, read_arguments, read_line,
};
pub use permit::{CommandPermit, CommandRequest, PermitAnswer, PermitError, PermitQuestion};
pub use rule::{CommandGrant, PathVerb, PermissionEffect, PermissionRule, RuleSubject, RuleSyntaxError};
pub use store::{PermissionStore, PermissionStoreError};
