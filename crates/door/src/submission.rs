//! What goes in: a proposal, where it came from, and what the user said beforehand.

use relaycode_change::limits::Limits;
use relaycode_change::proposal::Proposal;
use relaycode_ledger::Digest;

use crate::rule::{Allow, Rule};

/// A proposal on its way in.
#[derive(Debug, Clone)]
pub struct Submission<'a> {
    /// What was understood of the answer.
    pub proposal: &'a Proposal,
    /// The digest of the text it was read from.
    pub answer: Digest,
    /// Where it came from.
    pub origin: Origin,
    /// What the user said beforehand.
    pub consent: Consent,
    /// How much is planned.
    pub limits: Limits,
    /// Look for new syntax errors.
    pub syntax: bool,
    /// The group that the change belongs to.
    pub group: Option<String>,
    /// The time now, ISO 8601 in UTC.
    pub now: String,
}

/// Where a proposal came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A file that the user named.
    File,
    /// A pipe that the user made.
    Stdin,
    /// The clipboard, which any page can write.
    Clipboard,
    /// relay's own agent.
    Agent,
    /// Another agent.
    Friend,
}

impl Origin {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Origin::File => "file",
            Origin::Stdin => "stdin",
            Origin::Clipboard => "clipboard",
            Origin::Agent => "agent",
            Origin::Friend => "friend",
        }
    }
}

/// What the user said beforehand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Consent {
    /// `-y`: yes to ordinary questions.
    pub yes: bool,
    /// `--allow`: yes to these, which `-y` does not cover.
    pub allow: Vec<Allow>,
}

impl Consent {
    /// Whether the user said yes to this beforehand.
    pub fn covers(&self, rule: &Rule) -> bool {
        match (rule, rule.allowed_by()) {
            (_, Some(allow)) => self.allow.contains(&allow),
            // What a person said no to, or was not asked about, needs one.
            (Rule::NotTrusted, None) => false,
            (_, None) => self.yes,
        }
    }
}
