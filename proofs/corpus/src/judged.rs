//! The verdict on one case, with enough of an account to see why without running it again.

use serde::Serialize;

use super::exceptions::{self, Facts};

/// What came out, measured against what the case expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Outcome {
    /// Exactly the expected bytes.
    Correct,
    /// The plan leaves everything as it is, where something else was expected or nothing was.
    NoOp,
    /// The engine said no and gave reasons.
    Refused,
    /// Other bytes than a later text that is not a strict expectation.
    Differs,
    /// Applied where another tool found no exact place: a person has looked, or has to.
    Review,
    /// The case itself is damaged: what it is about was lost.
    Damaged,
    /// Not the expected bytes, for a reviewed reason.
    Excepted,
    /// Anything else: this must never happen.
    Wrong,
}

/// One judged case.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Judged {
    /// The set it comes from.
    pub set: String,
    /// Its group within the set: the mutation, the kind, the strategy.
    pub group: String,
    /// Its id.
    pub id: String,
    /// What came out.
    pub outcome: Outcome,
    /// Whether that is what the case asks for.
    pub good: bool,
    /// Whether a hunk matched only nearly (a person would be asked).
    pub near: bool,
    /// Equal except for the newline at the very end.
    pub newline_only: bool,
    /// Equal except for line endings.
    pub endings_only: bool,
    /// The reviewed reason why the case's own expectation is not followed.
    pub exception: Option<&'static str>,
    /// Time for planning, or for reading where there is nothing to plan.
    pub micros: u64,
    /// How it came about, line by line.
    pub account: Vec<String>,
}

impl Judged {
    /// A case about which nothing is known yet.
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

    /// Records an outcome that is what the case asks for.
    pub(crate) fn good(mut self, outcome: Outcome) -> Judged {
        self.outcome = outcome;
        self.good = true;
        self
    }

    /// Records an outcome that is not what the case asks for.
    pub(crate) fn bad(mut self, outcome: Outcome) -> Judged {
        self.outcome = outcome;
        self
    }

    /// Records an outcome; a reviewed exception turns a wrong one into a refused expectation.
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
