//! Many edits on large files: what is honest is planned, what is ambiguous is refused, and nothing takes long.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use relaycode_change::plan::tree::MemoryTree;
use relaycode_change::plan::{NoSeenTexts, Plan, PlanRefusal, RefusalReason, plan};
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::work_budget::StopFlag;
use relaycode_change::response;
use relaycode_testkit::clock;
use relaycode_testkit::costly::{CostlyShape, FAMILIES, PROCESSOR_TIME};
use relaycode_testkit::fuzz::FuzzCase;

/// A debug build is so many times slower.
const DEBUG: u32 = if cfg!(debug_assertions) { 8 } else { 1 };

fn planned(case: &FuzzCase, limits: &PlanLimits) -> Result<Plan, Box<PlanRefusal>> {
    let mut tree = MemoryTree::default();
    for (path, bytes) in &case.files {
        tree.insert(RelPath::parse(path).unwrap(), bytes.clone());
    }
    let proposal = response::read(&case.response, limits).unwrap();
    plan(&proposal, &tree, &NoSeenTexts, limits)
}

/// A diff that replaces these lines (from 1) of a text, with so many lines of context below.
fn replacing(text: &str, lines: impl Iterator<Item = usize>, context: usize) -> (FuzzCase, String) {
    let all: Vec<&str> = text.lines().collect();
    let mut after: Vec<String> = all.iter().map(ToString::to_string).collect();
    let mut diff = "```diff\n--- a/a.txt\n+++ b/a.txt\n".to_owned();
    for line in lines {
        let below: String = all[line..line + context].iter().map(|line| format!(" {line}\n")).collect();
        let count = context + 1;
        diff += &format!("@@ -{line},{count} +{line},{count} @@\n-{}\n+new {line}\n{below}", all[line - 1]);
        after[line - 1] = format!("new {line}");
    }
    (FuzzCase::with_file(&(diff + "```\n"), "a.txt", text), after.join("\n") + "\n")
}

#[test]
fn two_thousand_edits_of_a_hundred_thousand_lines_are_planned() {
    let text: String = (0..100_000).map(|line| format!("l{}\n", line % 99_999)).collect();
    let (case, after) = replacing(&text, (1..=99_000).step_by(50), 2);
    let start = clock::processor_time();
    let plan = planned(&case, &PlanLimits::default());
    let plan = plan.unwrap_or_else(|refused| panic!("{:?}", refused.refusals[0]));
    let taken = clock::processor_time().saturating_sub(start);
    assert_eq!(plan.files[0].after.as_deref(), Some(after.as_bytes()));
    assert!(taken < PROCESSOR_TIME * DEBUG, "{taken:?}");
}

/// More places than are told apart: the very line that the author names is one of those that are kept.
#[test]
fn among_many_places_only_the_named_line_counts() {
    let text = "a\nb\n".repeat(10_000);
    let (case, after) = replacing(&text, (1..19_990).step_by(62), 0);
    let plan = planned(&case, &PlanLimits::default()).unwrap();
    assert_eq!(plan.files[0].after.as_deref(), Some(after.as_bytes()));
    let (mut case, _) = replacing(&text, (1..19_990).step_by(62), 0);
    case.response = case.response.replacen("@@ -63,1", "@@ -64,1", 1);
    let refused = planned(&case, &PlanLimits::default()).unwrap_err();
    assert!(matches!(refused.refusals[0].reason, RefusalReason::Ambiguous { hunk: 2, .. }), "{refused:?}");
}

#[test]
fn work_and_bytes_end_at_their_limits_and_a_stop_ends_both() {
    let text = "a\nb\n".repeat(10_000);
    let (case, _) = replacing(&text, (1..19_990).step_by(620), 0);
    let reason = |limits: PlanLimits| match planned(&case, &limits).unwrap_err().refusals.remove(0).reason {
        RefusalReason::Limit { text } => text,
        other => panic!("{other:?}"),
    };
    assert!(reason(PlanLimits { work: 100_000, ..PlanLimits::default() }).contains("the limit `work`"));
    let bytes = 2 * text.len();
    assert!(reason(PlanLimits { total_bytes: bytes, ..PlanLimits::default() }).contains("the limit `total`"));
    assert!(planned(&case, &PlanLimits { total_bytes: bytes + 1_000, ..PlanLimits::default() }).is_ok());
    let stop = StopFlag::new(Arc::new(AtomicBool::new(true)));
    assert_eq!(reason(PlanLimits { stop, ..PlanLimits::default() }), "planning was stopped");
}

#[test]
fn every_family_of_costly_texts_is_read_and_planned_in_time() {
    for family in 0..FAMILIES.len() {
        let shape = CostlyShape { family, hunks: 100, depth: 6, lines: 8_000, width: 12, variety: 40 };
        let case = shape.case();
        let start = clock::processor_time();
        if response::read(&case.response, &PlanLimits::default()).is_ok() {
            let _ = planned(&case, &PlanLimits::default());
        }
        let taken = clock::processor_time().saturating_sub(start);
        assert!(taken < PROCESSOR_TIME * DEBUG, "{}: {taken:?}", shape.name());
    }
}
