//! Texts built to cost are read, planned or refused, and compared within their time.

use relaycode_change::plan::tree::{MemoryTree, OverlayTree};
use relaycode_change::plan::{NoSeenTexts, plan};
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::path::RelPath;
use relaycode_change::{diff, response};
use relaycode_testkit::clock;
use relaycode_testkit::costly::{self, CostlyShape, PROCESSOR_TIME};
use std::time::Duration;

fn cost(shape: &CostlyShape) -> (Duration, String) {
    let case = shape.case();
    let mut tree = MemoryTree::default();
    for (path, bytes) in case.files {
        tree.insert(RelPath::parse(&path).unwrap(), bytes);
    }
    let limits = PlanLimits::default();
    let start = clock::processor_time();
    let mut told = String::new();
    match response::read_all(&case.response, &limits) {
        Err(error) => told = error.to_string(),
        Ok(answers) => {
            let mut tree = OverlayTree::new(&tree);
            for answer in &answers {
                let read = clock::processor_time().saturating_sub(start);
                match plan(&answer.proposal, &tree, &NoSeenTexts, &limits) {
                    Ok(plan) => {
                        let planned = clock::processor_time().saturating_sub(start);
                        told += &format!(
                            "planned {} {} ({read:?} {planned:?}) ",
                            plan.files.len(),
                            diff::diff_plan(&plan).len()
                        );
                        tree.apply_plan(&plan);
                    }
                    Err(refused) => {
                        let first = format!("{:?}", refused.refusals[0].reason);
                        let first: String = first.chars().take(150).collect();
                        told += &format!("refused {} {} ({read:?})", refused.refusals.len(), first);
                    }
                }
            }
        }
    }
    (clock::processor_time().saturating_sub(start), told)
}

#[test]
fn zz_measure() {
    let only = std::env::var("ONLY").unwrap_or_default();
    for shape in costly::known() {
        if !shape.name().contains(&only) {
            continue;
        }
        let (taken, told) = cost(&shape);
        eprintln!(
            "{:>8.0} ms {}{} | {}",
            taken.as_secs_f64() * 1e3,
            if taken > PROCESSOR_TIME { "SLOW " } else { "" },
            shape.name(),
            told
        );
    }
}
