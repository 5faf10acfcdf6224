//! The verdict on one case, with enough detail to see why without running it again.

use serde::Serialize;

use super::exceptions::{self, Facts};

/// The result, compared to what the case expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Outcome {
    /// Exactly the expected bytes.
    Correct,
    /// The plan changes nothing, whatever was expected.
    NoOp,
    /// The engine refused and gave reasons.
    Refused,
    /// Differs from a later text that is not a strict expectation.
    Differs,
    /// Applied where another tool found no exact place: a person has looked, or has to.
    Review,
    /// The case itself is damaged.
    Damaged,
    /// Not the expected bytes, for a reviewed reason.
    Excepted,
    /// Anything else: this must never happen.
    Wrong,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Judged {
    pub set: String,
    /// Its group within the set: the mutation, the kind, the strategy.
    pub group: String,
    pub id: String,
    pub outcome: Outcome,
    /// The outcome is what the case asks for.
    pub good: bool,
    /// A hunk matched only nearly (a person would be asked).
    pub near: bool,
    /// Equal except for the newline at the very end.
    pub newline_only: bool,
    /// Equal except for line endings.
    pub endings_only: bool,
    /// The reviewed reason why the case's own expectation is not followed.
    pub exception: Option<&'static str>,
    /// Time for planning, or for reading if there is nothing to plan.
    pub micros: u64,
    /// How it came about, line by line.
    pub account: Vec<String>,
}

impl Judged {
    /// Nothing is known yet.
    pub(crate) fn new(set: &str, group: &str, id: &str) -> Judged {
        Judged {
            set: set.to_owned(),
            group: group.to_owned(),
            id: id.to_owned(),
            outcome: Outcome::Wrong,
            good: false,
            near: false,
            newline_only: false,
            endings_only: false,
            exception: None,
            micros: 0,
            account: Vec::new(),
        }
    }

    /// An outcome that the case asks for.
    pub(crate) fn good(mut self, outcome: Outcome) -> Judged {
        self.outcome = outcome;
        self.good = true;
        self
    }

    /// An outcome that the case does not ask for.
    pub(crate) fn bad(mut self, outcome: Outcome) -> Judged {
        self.outcome = outcome;
        self
    }

    /// A reviewed exception turns a wrong outcome into a refused expectation.
    pub(crate) fn settle(mut self, outcome: Outcome, good: bool, facts: &Facts<'_>) -> Judged {
        self.outcome = outcome;
        self.good = good;
        if !good && facts.are_lost() {
            self.outcome = Outcome::Damaged;
            return self;
        }
        if !good && self.exception.is_none() {
            self.exception = exceptions::reason(facts);
        }
        if self.exception.is_some() && outcome == Outcome::Wrong {
            self.outcome = Outcome::Excepted;
        }
        self
    }

    /// Adds a line to the account.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.account.push(text.into());
    }
}
