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
    /// Pasted into the terminal, from a clipboard.
    Paste,
    /// relay's own agent.
    Agent,
    /// Another agent.
    Friend,
}

impl Origin {
    /// The user gave it to relay themselves.
    pub fn handed_over(self) -> bool {
        matches!(self, Origin::File | Origin::Stdin)
    }

    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Origin::File => "file",
            Origin::Stdin => "stdin",
            Origin::Clipboard => "clipboard",
            Origin::Paste => "paste",
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

impl Submission<'_> {
    /// Whether the user said yes to this beforehand.
    pub fn covers(&self, rule: &Rule) -> bool {
        let Consent { yes, allow } = &self.consent;
        match (rule, rule.allowed_by()) {
            (_, Some(name)) => allow.contains(&name),
            // What a person said no to, or was not asked about, needs one.
            (Rule::NotTrusted, None) => false,
            // Only what the user handed over is known to be theirs: any page can write a clipboard.
            (Rule::NoKey, None) => *yes && self.origin.handed_over(),
            (_, None) => *yes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_covers_what_is_ordinary_and_nothing_else() {
        let proposal = Proposal::default();
        let submission = |origin, allow: &[Allow]| Submission {
            proposal: &proposal,
            answer: Digest::of(b""),
            origin,
            consent: Consent { yes: true, allow: allow.to_vec() },
            limits: Limits::default(),
            syntax: true,
            group: None,
            now: String::new(),
        };
        let gate = Rule::Gate { text: String::new() };
        let file = submission(Origin::File, &[]);
        assert!(file.covers(&Rule::Manual) && file.covers(&Rule::NoLinter) && file.covers(&Rule::NoKey));
        assert!(!file.covers(&Rule::NotTrusted) && !file.covers(&gate));
        assert!(submission(Origin::Stdin, &[Allow::Gate]).covers(&gate));
        for origin in [Origin::Clipboard, Origin::Paste, Origin::Agent, Origin::Friend] {
            assert!(!submission(origin, &[]).covers(&Rule::NoKey), "{origin:?}");
        }
    }
}
