use super::*;
use crate::plan::HunkReport;

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_string).collect()
}

fn path(text: &str) -> Option<RelPath> {
    Some(RelPath::parse(text).unwrap())
}

fn not_found_in(file: &str, before: &str, nearest: Option<NearestPlace>) -> RefusalEntry {
    RefusalEntry {
        path: path(file),
        line: 41,
        reason: RefusalReason::NotFound {
            hunk: 2,
            of: 3,
            wanted: Box::new(Hunk { before: lines(before), ..Hunk::default() }),
            nearest,
        },
    }
}

fn fitting(file: &str, hunk: usize, state: HunkState) -> FittingHunk {
    FittingHunk {
        path: RelPath::parse(file).unwrap(),
        hunk,
        report: HunkReport {
            line: 1,
            state,
            rung: "exact",
            chosen_by: None,
            claimed: None,
            used: 1,
            doubt: None,
            runner_up: None,
            differences: Vec::new(),
        },
    }
}

fn stale() -> PlanRefusal {
    let nearest = NearestPlace {
        line: 86,
        text: lines("function total(items) {\n  return items.reduce((total, item) => {\n    return total;"),
        first_difference: 1,
        score: 0.9,
    };
    PlanRefusal {
        refusals: vec![not_found_in(
            "src/cart.ts",
            "function total(items) {\n  return items.reduce((sum, item) => {\n    return total;",
            Some(nearest),
        )],
        fitting: vec![
            fitting("src/cart.ts", 1, HunkState::Applied),
            fitting("src/cart.ts", 3, HunkState::AlreadyIn),
        ],
        notes: Vec::new(),
    }
}

#[test]
fn a_stale_edit_is_shown_with_the_line_that_differs() {
    let text = repair_prompt(&stale());
    for part in [
        "## src/cart.ts, edit 2 of 3, line 41 of your answer\n",
        "```\n  return items.reduce((sum, item) => {\n```\n",
        "Line 87 of the file is really:\n```\n  return items.reduce((total, item) => {\n```\n",
        "86 | function total(items) {\n87 |   return items.reduce((total, item) => {\n",
        "Already in, do not send again: src/cart.ts edit 3.\n",
        "These fit, repeat them unchanged: src/cart.ts edit 1.\n",
        "The same uuid may be used again.",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}

#[test]
fn an_edit_with_several_places_lists_them() {
    let refused = PlanRefusal {
        refusals: vec![RefusalEntry {
            path: path("a.py"),
            line: 7,
            reason: RefusalReason::Ambiguous {
                hunk: 1,
                of: 1,
                wanted: Box::new(Hunk { before: lines("return None"), ..Hunk::default() }),
                places: vec![4, 90],
                count: 12,
                rung: "exact",
            },
        }],
        ..PlanRefusal::default()
    };
    let text = repair_prompt(&refused);
    assert!(text.contains("12 times, at lines 4, 90 and 10 more."), "{text}");
    assert!(text.contains("Add more surrounding lines"));
    assert!(text.contains("```\nreturn None\n```"));
}

#[test]
fn other_reasons_are_one_sentence() {
    let refused = PlanRefusal {
        refusals: vec![RefusalEntry {
            path: path("new.ts"),
            line: 3,
            reason: RefusalReason::Conflict { text: "the file exists already".into() },
        }],
        ..PlanRefusal::default()
    };
    let text = repair_prompt(&refused);
    assert!(text.contains("## new.ts, line 3 of your answer\nThe file exists already.\n"), "{text}");
}

#[test]
fn quoted_backticks_cannot_close_the_fence() {
    let refused = PlanRefusal {
        refusals: vec![not_found_in("doc.md", "````js\nx\n````", None)],
        ..PlanRefusal::default()
    };
    let text = repair_prompt(&refused);
    assert!(text.contains("`````\n````js\nx\n````\n`````\n"), "{text}");
}

#[test]
fn hundreds_of_failures_stay_within_the_bound() {
    let long = "x".repeat(1_000);
    let many = vec![long.as_str(); 20].join("\n");
    let refusals = (0..200)
        .map(|_| not_found_in("src/cart.ts", &many, None))
        .chain((0..50).map(|_| not_found_in("src/b.ts", "short", None)))
        .collect();
    let fitting =
        (0..500).map(|n| fitting(&format!("{}/f{n}.rs", "d".repeat(200)), n, HunkState::Applied)).collect();
    let text = repair_prompt(&PlanRefusal { refusals, fitting, notes: Vec::new() });
    assert!(text.chars().count() <= PROMPT_CHARS, "{}", text.chars().count());
    assert!(text.contains("more failed, left out here for length"));
    assert!(text.contains("The same uuid may be used again."), "{text}");
    let backticks = "`".repeat(100_000);
    let text = repair_prompt(&PlanRefusal {
        refusals: vec![not_found_in("a", &backticks, None)],
        ..PlanRefusal::default()
    });
    assert!(text.chars().count() <= PROMPT_CHARS);
}

#[test]
fn odd_positions_do_not_panic() {
    for (first_difference, text) in [(0, ""), (5, "a"), (1, "a\nb"), (99, "a\nb\nc")] {
        let nearest = NearestPlace { line: 1, text: lines(text), first_difference, score: 0.5 };
        repair_prompt(&PlanRefusal {
            refusals: vec![not_found_in("a", "x\ny", Some(nearest))],
            ..PlanRefusal::default()
        });
    }
    repair_prompt(&PlanRefusal::default());
}
