//! The lines that ask.

use relaycode_change::plan::{FindingKind, PlanFinding};
use relaycode_door::rules::{finding, guarded, project_state};
use relaycode_text::escape::is_unsafe;

use super::*;

const PLAIN: OutputStyle = OutputStyle { color: false, utf8: true, width: Some(80) };
const NARROW: OutputStyle = OutputStyle { color: false, utf8: false, width: Some(40) };

#[test]
fn a_question_says_its_default_and_its_keys() {
    assert_eq!(apply_prompt(&PLAIN), "  apply? [y/N]  d diff · f pick · e edit · w why · ?  ");
    assert_eq!(keep_prompt(&PLAIN), "  keep? [y/N]  d diff · o output · w why · ?  ");
    assert_eq!(new_change_prompt(&NARROW), "  is this a new change? [y/N]\n    w why - ?  ");
    let one = TrustRequest { commands: vec![("linter".into(), "tsc".into())], ..TrustRequest::default() };
    let expected = "  from relaycode.config.json, not seen before. Run it from now on? [y/N] w ?  ";
    assert!(cells(expected) < 80, "a letter fits behind it");
    assert_eq!(trust_prompt(&one, None, "relaycode.config.json", &PLAIN), expected);
}

#[test]
fn on_twenty_columns_a_key_and_its_word_stay_together() {
    let style = OutputStyle { width: Some(20), ..PLAIN };
    assert_eq!(
        apply_prompt(&style),
        "  apply? [y/N]\n    d diff ·\n    f pick ·\n    e edit ·\n    w why · ?  "
    );
    for question in
        [apply_prompt(&style), keep_prompt(&style), new_change_prompt(&style), pick_prompt(&[0, 2], &style)]
    {
        assert!(question.lines().all(|line| cells(line) < 20), "{question}");
    }
}

#[test]
fn every_key_is_explained_and_fits() {
    for all in [APPLY_KEYS, KEEP_KEYS, TRUST_KEYS, NEW_CHANGE_KEYS] {
        let text = key_help(all, &NARROW);
        assert!(text.lines().all(|line| cells(line) <= 40), "{text}");
        assert!(text.is_ascii() && text.ends_with("    ?  show this\n"), "{text}");
    }
}

#[test]
fn reasons_that_the_card_shows_are_not_said_twice() {
    let path = |text: &str| RelPath::parse(text).unwrap();
    let found = |text: &str| PlanFinding {
        kind: FindingKind::Near,
        path: path("a.ts"),
        line: None,
        text: text.to_string(),
    };
    let plan = Plan { findings: vec![found("shown")], ..Plan::default() };
    let rules = [
        project_state::MANUAL.reason(),
        guarded::reason(&path(".github/workflows/ci.yml"), "runs in CI"),
        finding::NEAR.reason(&found("shown")),
        finding::NEAR.reason(&found("new")),
        project_state::NO_KEY.reason(),
    ];
    let expected = "  ! .github/workflows/ci.yml runs in CI
  ! a.ts: new
  ! the answer does not carry this project's key: anybody could have written it
";
    assert_eq!(reasons(&rules, &plan, &PLAIN), expected);
    let hostile = guarded::reason(&path("a"), "\x1b[2J\u{202e}");
    let text = reasons(&[hostile], &plan, &NARROW);
    assert!(text.is_ascii() && !text.chars().any(|c| is_unsafe(c) && c != '\n'), "{text:?}");
}

#[test]
fn files_that_changed_meanwhile_are_counted() {
    let paths: Vec<RelPath> =
        ["src/a.ts", "b", "c"].iter().map(|text| RelPath::parse(text).unwrap()).collect();
    assert_eq!(replanned_warning(&paths[..1], &PLAIN), "! src/a.ts changed meanwhile: planned again\n");
    assert_eq!(replanned_warning(&paths, &PLAIN), "! src/a.ts and 2 more changed meanwhile: planned again\n");
}

#[test]
fn a_reason_becomes_a_text_for_the_model() {
    let text = rejection_preview("the tests\x1b[2J are missing", &PLAIN);
    assert!(text.starts_with("The change was not applied: the tests\\u{1b}[2J are missing. "), "{text}");
}
