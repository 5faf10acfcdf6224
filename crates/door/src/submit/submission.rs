//! What goes in: a proposal, where it came from, and what the user said beforehand.

use relaycode_change::proposal::{Proposal, limits::PlanLimits};
use relaycode_ledger::{Digest, SET_ASIDE_ORIGIN};

use crate::approval::rules::{ApprovalReason, RuleConsent};

/// A proposal on its way in.
#[derive(Debug, Clone)]
pub struct Submission<'a> {
    /// What was understood of the answer.
    pub proposal: &'a Proposal,
    /// The digest of the text it was read from.
    pub answer: Digest,
    pub origin: SubmissionOrigin,
    /// Who made it, where its origin has many of a kind: a friend's name.
    pub author: Option<String>,
    /// What the user said beforehand.
    pub consent: Consent,
    /// How much is planned.
    pub limits: PlanLimits,
    /// Look for new syntax errors.
    pub syntax: bool,
    /// The group that the change belongs to.
    pub group: Option<String>,
    /// The time now, ISO 8601 in UTC.
    pub now: String,
}

/// Where a proposal came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubmissionOrigin {
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

impl SubmissionOrigin {
    pub const ALL: [SubmissionOrigin; 6] =
        [Self::File, Self::Stdin, Self::Clipboard, Self::Paste, Self::Agent, Self::Friend];

    /// The user gave it to relay themselves.
    pub fn is_handed_over(self) -> bool {
        matches!(self, SubmissionOrigin::File | SubmissionOrigin::Stdin)
    }

    /// relay made the proposal itself, of what a friend did when the user asked for it in this very command.
    /// The key says that a text was written for this project; here nobody else could have slipped one in, so
    /// that there is none to ask for. Everything that is about the change and not about its author stays.
    pub fn is_requested(self) -> bool {
        matches!(self, SubmissionOrigin::Friend)
    }

    /// relay's own agent made it in a turn that the user began. It can read what is odd about its own text and correct it, so
    /// such findings go back to it instead of to a person; and the project's commands run once when the turn ends, not for
    /// every edit. What could harm the user is asked about as always.
    pub fn is_in_turn(self) -> bool {
        matches!(self, SubmissionOrigin::Agent)
    }

    /// The name in records; here in the order of the variants.
    pub fn name(self) -> &'static str {
        ["file", "stdin", "clipboard", "paste", "agent", "friend"][self as usize]
    }
}

/// What the user said beforehand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Consent {
    /// `-y`: yes to ordinary questions.
    pub yes: bool,
    /// `--allow`: yes to the rules of these names, which `-y` does not cover.
    pub allow: Vec<&'static str>,
}

/// Characters of a friend's name in records.
const MAX_AUTHOR_CHARS: usize = 40;
/// What an origin in records is called that is no door's.
pub const RESERVED_ORIGINS: [&str; 7] =
    ["init", "original", "record", "redo", "revert", SET_ASIDE_ORIGIN, "undo"];

impl Submission<'_> {
    /// Where it came from, as records say it: the friend's own name, unless that could be taken for something
    /// else.
    pub fn recorded_origin(&self) -> &str {
        let plain = |name: &&str| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            (1..=MAX_AUTHOR_CHARS).contains(&name.len())
                && name.bytes().all(fits)
                && name.starts_with(|c: char| c.is_ascii_alphabetic())
                && !RESERVED_ORIGINS.contains(name)
                && !SubmissionOrigin::ALL.iter().any(|origin| origin.name() == *name)
        };
        let author = self.author.as_deref().filter(|_| self.origin == SubmissionOrigin::Friend);
        author.filter(plain).unwrap_or(self.origin.name())
    }

    /// Whether the user said yes to this beforehand.
    pub fn covers(&self, reason: &ApprovalReason) -> bool {
        let Consent { yes, allow } = &self.consent;
        match reason.rule.consent {
            RuleConsent::Yes => *yes,
            RuleConsent::YesIfHandedOver => *yes && self.origin.is_handed_over(),
            RuleConsent::Allow => allow.contains(&reason.name()),
            RuleConsent::Person => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::rules::gate;
    use crate::approval::rules::project_state::{MANUAL, NO_KEY, NO_LINTER, NOT_TRUSTED};

    #[test]
    fn a_yes_covers_what_is_ordinary_and_nothing_else() {
        let proposal = Proposal::default();
        let submission = |origin, allow: &[&'static str]| Submission {
            proposal: &proposal,
            answer: Digest::of(b""),
            origin,
            author: None,
            consent: Consent { yes: true, allow: allow.to_vec() },
            limits: PlanLimits::default(),
            syntax: true,
            group: None,
            now: String::new(),
        };
        let gate = gate::reason(String::new());
        let file = submission(SubmissionOrigin::File, &[]);
        assert!(
            file.covers(&MANUAL.reason())
                && file.covers(&NO_LINTER.reason())
                && file.covers(&NO_KEY.reason())
        );
        assert!(!file.covers(&NOT_TRUSTED.reason()) && !file.covers(&gate));
        assert!(submission(SubmissionOrigin::Stdin, &["gate"]).covers(&gate));
        for origin in [
            SubmissionOrigin::Clipboard,
            SubmissionOrigin::Paste,
            SubmissionOrigin::Agent,
            SubmissionOrigin::Friend,
        ] {
            assert!(!submission(origin, &[]).covers(&NO_KEY.reason()), "{origin:?}");
        }
        assert!(
            SubmissionOrigin::ALL
                .iter()
                .all(|origin| origin.is_requested() == (*origin == SubmissionOrigin::Friend))
        );
        assert!(
            SubmissionOrigin::ALL
                .iter()
                .all(|origin| origin.is_in_turn() == (*origin == SubmissionOrigin::Agent))
        );
    }

    #[test]
    fn a_record_names_the_friend_unless_that_could_mean_something_else() {
        let proposal = Proposal::default();
        let mut submission = Submission {
            proposal: &proposal,
            answer: Digest::of(b""),
            origin: SubmissionOrigin::Friend,
            author: Some("codex".to_string()),
            consent: Consent::default(),
            limits: PlanLimits::default(),
            syntax: true,
            group: None,
            now: String::new(),
        };
        assert_eq!(submission.recorded_origin(), "codex");
        for odd in
            ["clipboard", "revert", "undo", "redo", "init", "two words", "a\nb", "", "-x", &"x".repeat(41)]
        {
            submission.author = Some(odd.to_string());
            assert_eq!(submission.recorded_origin(), "friend", "{odd:?}");
        }
        submission.author = Some("codex".to_string());
        submission.origin = SubmissionOrigin::File;
        assert_eq!(submission.recorded_origin(), "file");
    }
}
