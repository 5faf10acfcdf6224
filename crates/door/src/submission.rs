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
    /// Who made it, where its origin has many of a kind: a friend's name.
    pub author: Option<String>,
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
    /// All of them.
    pub const ALL: [Origin; 6] =
        [Origin::File, Origin::Stdin, Origin::Clipboard, Origin::Paste, Origin::Agent, Origin::Friend];

    /// The user gave it to relay themselves.
    pub fn handed_over(self) -> bool {
        matches!(self, Origin::File | Origin::Stdin)
    }

    /// relay made the proposal itself, of what a friend did when the user asked for it in this very command.
    /// The key says that a text was written for this project; here nobody else could have slipped one in, so
    /// that there is none to ask for. Everything that is about the change and not about its author stays.
    pub fn asked_for(self) -> bool {
        matches!(self, Origin::Friend)
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

/// Characters of a friend's name in records.
const AUTHOR: usize = 40;
/// What an origin in records is called that is no door's.
const NO_AUTHORS: [&str; 3] = ["original", "record", "revert"];

impl Submission<'_> {
    /// Where it came from, as records say it: the friend's own name, unless that could be taken for something
    /// else.
    pub fn recorded_origin(&self) -> &str {
        let plain = |name: &&str| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            (1..=AUTHOR).contains(&name.len())
                && name.bytes().all(fits)
                && name.starts_with(|c: char| c.is_ascii_alphabetic())
                && !NO_AUTHORS.contains(name)
                && !Origin::ALL.iter().any(|origin| origin.name() == *name)
        };
        let author = self.author.as_deref().filter(|_| self.origin == Origin::Friend);
        author.filter(plain).unwrap_or(self.origin.name())
    }

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
            author: None,
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
        assert!(Origin::ALL.iter().all(|origin| origin.asked_for() == (*origin == Origin::Friend)));
    }

    #[test]
    fn a_record_names_the_friend_unless_that_could_mean_something_else() {
        let proposal = Proposal::default();
        let mut submission = Submission {
            proposal: &proposal,
            answer: Digest::of(b""),
            origin: Origin::Friend,
            author: Some("codex".to_string()),
            consent: Consent::default(),
            limits: Limits::default(),
            syntax: true,
            group: None,
            now: String::new(),
        };
        assert_eq!(submission.recorded_origin(), "codex");
        for odd in ["clipboard", "revert", "two words", "a\nb", "", "-x", &"x".repeat(41)] {
            submission.author = Some(odd.to_string());
            assert_eq!(submission.recorded_origin(), "friend", "{odd:?}");
        }
        submission.author = Some("codex".to_string());
        submission.origin = Origin::File;
        assert_eq!(submission.recorded_origin(), "file");
    }
}
