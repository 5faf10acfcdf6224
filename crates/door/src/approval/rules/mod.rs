//! The rules by which a change is let in or a person is asked. One trait, one list, one file per rule or family of rules: what `--allow`
//! takes, records keep, `w` explains and `docs/reference/rules.md` shows comes from here.
//!
//! Most rules look at a plan before anything is written, one at what the check said; a few arise on the way, where
//! somebody makes their [`ApprovalReason`].

pub mod asked_again;
pub mod file_count;
pub mod finding;
pub mod foreign;
pub mod gate;
pub mod guarded;
pub mod project_state;

use relaycode_change::plan::{Plan, PlanFinding};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{door::Door, gate::GateReport, submit::submission::Submission};

/// What makes relay ask a person.
pub trait ApprovalRule: Sync {
    fn text(&self) -> RuleText;

    /// What speaks against applying a plan, before anything is written.
    fn check_plan(&self, change: &CheckedChange<'_>) -> Vec<ApprovalReason> {
        let _ = change;
        Vec::new()
    }

    /// What speaks against keeping a change, once the project's commands have judged it.
    fn check_gate(&self, gate: &GateReport, allowed_errors: u64) -> Vec<ApprovalReason> {
        let _ = (gate, allowed_errors);
        Vec::new()
    }
}

/// What people and machines are told of a rule.
#[derive(Debug, Clone, Copy)]
pub struct RuleText {
    /// Stable: `--allow` takes it, records keep it, `--json` prints it.
    pub name: &'static str,
    /// What it is about, in a few words.
    pub description: &'static str,
    pub consent: RuleConsent,
    /// What would make relay not ask; `None`: it always asks.
    pub how_to_avoid: Option<&'static str>,
}

/// What answers a rule without a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleConsent {
    /// `-y`: it is ordinary.
    Yes,
    /// `-y`, for what the user handed over themselves.
    YesIfHandedOver,
    /// `--allow` with its name: it deserves a thought.
    Allow,
    /// Nothing.
    Person,
}

/// Every rule, in the order in which reasons are listed.
static RULES: &[&dyn ApprovalRule] = &[
    &project_state::NO_CONFIG,
    &project_state::NOT_TRUSTED,
    &project_state::MANUAL,
    &project_state::NO_KEY,
    &project_state::NO_LINTER,
    &file_count::FileCountRule,
    &guarded::GuardedRule,
    &finding::NEAR,
    &finding::PLACEHOLDER,
    &finding::FRAGMENT,
    &finding::OVERWRITE,
    &finding::MASS_DELETION,
    &finding::HIDDEN,
    &finding::SYNTAX,
    &finding::KEY,
    &gate::GateRule,
    &foreign::ForeignChangeRule,
    &asked_again::REVISED,
    &asked_again::CHANGED_MEANWHILE,
];

pub fn all() -> &'static [&'static dyn ApprovalRule] {
    RULES
}

/// What `--allow` takes: everything that `-y` does not cover.
pub fn allowable() -> impl Iterator<Item = RuleText> {
    all().iter().map(|rule| rule.text()).filter(|rule| rule.consent == RuleConsent::Allow)
}

/// A planned change, as the rules look at it.
pub struct CheckedChange<'a> {
    pub door: &'a Door,
    pub submission: &'a Submission<'a>,
    pub plan: &'a Plan,
    /// What the project's file wants counts.
    pub trusted: bool,
}

impl CheckedChange<'_> {
    /// Everything that speaks against applying the plan without a person.
    pub(crate) fn reasons(&self) -> Vec<ApprovalReason> {
        all().iter().flat_map(|rule| rule.check_plan(self)).collect()
    }
}

/// Why a person is asked: a rule, and what it found.
#[derive(Debug, Clone)]
pub struct ApprovalReason {
    pub rule: RuleText,
    /// What it says, for people: it may quote foreign text.
    pub sentence: String,
    /// What stands below the card, where the card does not show it; it may quote foreign text.
    pub notice: Option<String>,
    /// What relay's own checks found, if it is that.
    pub finding: Option<PlanFinding>,
    /// In JSON.
    fields: Map<String, Value>,
}

impl ApprovalReason {
    /// `sentence` may quote foreign text.
    pub(crate) fn new(rule: &dyn ApprovalRule, sentence: impl Into<String>) -> ApprovalReason {
        let (rule, sentence) = (rule.text(), sentence.into());
        let fields = Map::from_iter([("rule".to_string(), rule.name.into())]);
        ApprovalReason { rule, notice: Some(sentence.clone()), sentence, finding: None, fields }
    }

    /// Nothing is off: it is not said below the card.
    pub(crate) fn ordinary(self) -> ApprovalReason {
        ApprovalReason { notice: None, ..self }
    }

    /// What is said below the card, where that can be shorter.
    pub(crate) fn with_notice(self, notice: String) -> ApprovalReason {
        ApprovalReason { notice: Some(notice), ..self }
    }

    /// One more field in JSON.
    pub(crate) fn with_field(mut self, name: &str, value: impl Serialize) -> ApprovalReason {
        self.fields.insert(name.to_string(), serde_json::to_value(value).unwrap_or_default());
        self
    }

    /// The rule's.
    pub fn name(&self) -> &'static str {
        self.rule.name
    }
}

impl Serialize for ApprovalReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.fields.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use relaycode_change::plan::FindingKind;
    use relaycode_change::proposal::path::RelPath;

    use super::*;

    #[test]
    fn names_are_unique_and_say_how_to_answer_them() {
        let rules: Vec<RuleText> = all().iter().map(|rule| rule.text()).collect();
        let names: BTreeSet<&str> = rules.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), rules.len());
        for rule in allowable() {
            let said = rule.how_to_avoid.unwrap_or_default();
            assert!(said.contains(&format!("`--allow {}`", rule.name)), "{said}");
        }
        let always = rules.iter().filter(|rule| rule.how_to_avoid.is_none()).map(|rule| rule.name);
        assert_eq!(always.collect::<Vec<_>>(), ["revised", "changed-meanwhile"]);
    }

    #[test]
    fn json_has_the_name_and_what_it_is_about() {
        let count = file_count::reason(12, 10);
        assert_eq!(serde_json::to_string(&count).unwrap(), r#"{"rule":"file-count","files":12,"bound":10}"#);
        assert_eq!(serde_json::to_string(&project_state::MANUAL.reason()).unwrap(), r#"{"rule":"manual"}"#);
        let finding = PlanFinding {
            kind: FindingKind::Near,
            path: RelPath::parse("a.ts").unwrap(),
            line: Some(3),
            text: "odd".to_string(),
        };
        assert_eq!(
            serde_json::to_string(&finding::NEAR.reason(&finding)).unwrap(),
            r#"{"rule":"found","kind":"near","path":"a.ts","line":3,"text":"odd"}"#
        );
    }
}
