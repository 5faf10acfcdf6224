//! What the engine has to reach, as data. A group without a target only has to be free of wrong results.

use std::fmt;

use super::judged::{Judged, Outcome};

/// Sets in which every row has an expectation. Reviewed exceptions and refusals of what upstream applies
/// must stay under [`BUDGET_PERCENT`] of the set, or within [`BUDGET_CASES`].
const BUDGETED: &[&str] = &["aider", "roo", "diffapply", "relaycode"];
const BUDGET_PERCENT: f64 = 3.0;
const BUDGET_CASES: usize = 3;

pub(crate) struct Target {
    pub set: &'static str,
    pub group: &'static str,
    pub measure: Measure,
    /// The limit, in percent.
    pub percent: f64,
}

/// What is counted for a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// At least this many are what the case asks for.
    Good,
    /// At most this many are refused.
    Refused,
}

const fn good(group: &'static str, percent: f64) -> Target {
    Target { set: "mutations", group, measure: Measure::Good, percent }
}

pub(crate) const TARGETS: &[Target] = &[
    good("exact", 100.0),
    good("file is CRLF", 100.0),
    good("trailing blanks", 100.0),
    good("dedented", 97.0),
    good("file has tabs", 90.0),
    good("smart quotes", 98.0),
    good("one letter missing", 85.0),
    good("one blank line missing", 95.0),
    good("two places", 100.0),
    good("target removed", 100.0),
    good("already applied", 100.0),
    Target { set: "relay_ledger", group: "unified diffs", measure: Measure::Good, percent: 85.0 },
    Target { set: "relay_ledger", group: "unified diffs", measure: Measure::Refused, percent: 3.0 },
];

impl Target {
    /// Whether the target is about this case.
    fn covers(&self, case: &Judged) -> bool {
        let group = case.group.strip_suffix(" (as text)").unwrap_or(&case.group);
        self.set == case.set && self.group == group
    }

    /// In percent.
    fn measured(&self, cases: &[&Judged]) -> f64 {
        let counted = cases.iter().filter(|case| match self.measure {
            Measure::Good => case.good,
            Measure::Refused => case.outcome == Outcome::Refused,
        });
        100.0 * counted.count() as f64 / cases.len().max(1) as f64
    }

    fn met(&self, cases: &[&Judged]) -> bool {
        match self.measure {
            Measure::Good => self.measured(cases) >= self.percent,
            Measure::Refused => self.measured(cases) <= self.percent,
        }
    }

    fn words(&self, cases: &[&Judged]) -> String {
        let mark = if self.met(cases) { "ok" } else { "MISS" };
        match self.measure {
            Measure::Good => format!("≥ {} % {mark}", self.percent),
            Measure::Refused => format!("≤ {} % refused {mark}", self.percent),
        }
    }
}

/// The targets of one group in words.
pub(crate) fn words(cases: &[&Judged]) -> String {
    let Some(first) = cases.first() else {
        return String::new();
    };
    let words: Vec<String> =
        TARGETS.iter().filter(|target| target.covers(first)).map(|target| target.words(cases)).collect();
    words.join(", ")
}

/// What a set may leave out, and what it does leave out.
pub(crate) struct Budget {
    set: &'static str,
    cases: usize,
    refused: usize,
    excepted: usize,
    damaged: usize,
    newline_only: usize,
}

impl Budget {
    fn met(&self) -> bool {
        let spent = self.refused + self.excepted;
        spent <= BUDGET_CASES || 100.0 * (spent as f64) < BUDGET_PERCENT * self.cases as f64
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<13} {} refused against the expectation + {} exceptions of {}: at most {BUDGET_CASES} or under {BUDGET_PERCENT} % {}; not in this: {} damaged, {} equal but for the final newline",
            self.set,
            self.refused,
            self.excepted,
            self.cases,
            if self.met() { "ok" } else { "MISS" },
            self.damaged,
            self.newline_only,
        )
    }
}

/// The budgets of the sets that were run.
pub(crate) fn budgets(judged: &[Judged]) -> Vec<Budget> {
    let mut budgets = Vec::new();
    for set in BUDGETED {
        let cases: Vec<&Judged> = judged.iter().filter(|case| case.set == *set).collect();
        let count = |is: &dyn Fn(&Judged) -> bool| cases.iter().filter(|case| is(case)).count();
        let excepted = count(&|case| case.exception.is_some());
        let refused = cases
            .iter()
            .filter(|case| !case.good && case.exception.is_none())
            .filter(|case| matches!(case.outcome, Outcome::Refused | Outcome::NoOp))
            .count();
        if !cases.is_empty() {
            budgets.push(Budget {
                set,
                cases: cases.len(),
                refused,
                excepted,
                damaged: count(&|case| case.outcome == Outcome::Damaged),
                newline_only: count(&|case| case.good && case.newline_only),
            });
        }
    }
    budgets
}

/// How many targets are missed; groups that were not run are not counted.
pub(crate) fn missed(judged: &[Judged]) -> usize {
    let targets = TARGETS.iter().filter(|target| {
        let cases: Vec<&Judged> = judged.iter().filter(|case| target.covers(case)).collect();
        !cases.is_empty() && !target.met(&cases)
    });
    let budgets = budgets(judged);
    targets.count() + budgets.iter().filter(|budget| !budget.met()).count()
}
