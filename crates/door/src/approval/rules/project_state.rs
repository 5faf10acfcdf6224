//! What the project, its user or the answer leaves open, whatever the change does: one rule for each.

use relaycode_project::{checkout::NamedProject, config::ApprovalMode};

use super::{ApprovalReason, ApprovalRule, CheckedChange, RuleConsent, RuleText};

pub struct ProjectStateRule {
    name: &'static str,
    description: &'static str,
    consent: RuleConsent,
    how_to_avoid: &'static str,
    sentence: &'static str,
    /// Nothing is off: it is not said below the card.
    ordinary: bool,
    applies: fn(&CheckedChange<'_>) -> bool,
}

pub static NO_CONFIG: ProjectStateRule = ProjectStateRule {
    name: "no-config",
    description: "the project has no configuration",
    consent: RuleConsent::Yes,
    how_to_avoid: "`-y` answers it; `relay init` makes one",
    sentence: "the project has no configuration",
    ordinary: true,
    applies: |change| !change.submission.origin.is_in_turn() && !is_configured(change),
};

pub static NOT_TRUSTED: ProjectStateRule = ProjectStateRule {
    name: "not-trusted",
    description: "the project's commands are not trusted, so none of them counts",
    // A person said no to them, or was not asked.
    consent: RuleConsent::Person,
    how_to_avoid: "`relay trust` shows them and asks",
    sentence: "the project's commands and settings are not trusted, so none of them counts",
    ordinary: false,
    applies: |change| is_judged(change) && !change.trusted,
};

pub static MANUAL: ProjectStateRule = ProjectStateRule {
    name: "manual",
    description: "`patch.approvalMode` is `manual`: you want to be asked",
    consent: RuleConsent::Yes,
    how_to_avoid: "`-y` answers it; with `auto` and a linter relay asks only when something is off",
    sentence: "`patch.approvalMode` is `manual`: every change is asked about",
    ordinary: true,
    applies: |change| {
        is_configured(change) && change.door.config().patch.approval_mode == ApprovalMode::Manual
    },
};

pub static NO_KEY: ProjectStateRule = ProjectStateRule {
    name: "no-key",
    description: "the answer does not carry the project's key, so anybody could have written it",
    // Only what the user handed over is known to be theirs: any page can write a clipboard.
    consent: RuleConsent::YesIfHandedOver,
    how_to_avoid: "`relay prompt` gives your model the key; for a file that you hand over, `-y` will do",
    sentence: "the answer does not carry this project's key: anybody could have written it",
    ordinary: false,
    applies: |change| {
        let named = change.submission.proposal.control.project_id.as_deref();
        is_judged(change)
            && !change.submission.origin.is_requested()
            && change.door.match_project_id(named) != Some(NamedProject::WithKey)
    },
};

pub static NO_LINTER: ProjectStateRule = ProjectStateRule {
    name: "no-linter",
    description: "no linter is set, so nothing could judge the result",
    consent: RuleConsent::Yes,
    how_to_avoid: "`-y` answers it; set `patch.linter`, and relay can decide by itself",
    sentence: "no linter is set that could judge the result",
    ordinary: true,
    applies: |change| is_judged(change) && change.door.config().patch.linter.is_empty(),
};

/// Whether the author has to be known and the project's commands have to judge it.
fn is_judged(change: &CheckedChange<'_>) -> bool {
    is_configured(change) && !change.submission.origin.is_in_turn()
}

fn is_configured(change: &CheckedChange<'_>) -> bool {
    change.door.loaded.file.is_some()
}

impl ApprovalRule for ProjectStateRule {
    fn text(&self) -> RuleText {
        let ProjectStateRule { name, description, consent, how_to_avoid, .. } = *self;
        RuleText { name, description, consent, how_to_avoid: Some(how_to_avoid) }
    }

    fn check_plan(&self, change: &CheckedChange<'_>) -> Vec<ApprovalReason> {
        Vec::from_iter((self.applies)(change).then(|| self.reason()))
    }
}

impl ProjectStateRule {
    pub fn reason(&self) -> ApprovalReason {
        let reason = ApprovalReason::new(self, self.sentence);
        if self.ordinary { reason.ordinary() } else { reason }
    }
}
