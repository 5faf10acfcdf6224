//! Why relay asks, as people see it.

use relaycode_change::plan::{FindingKind, PlanFinding};
use relaycode_change::proposal::path::RelPath;
use relaycode_door::rules as door_rules;
use relaycode_door::rules::finding::{self, FindingRule};
use relaycode_text::escape::is_unsafe;

use super::*;

const PLAIN: OutputStyle = OutputStyle { color: false, utf8: true, width: Some(80) };
const ASCII: OutputStyle = OutputStyle { color: false, utf8: false, width: Some(80) };

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn found(rule: &'static FindingRule, kind: FindingKind, text: &str) -> ApprovalReason {
    rule.reason(&PlanFinding { kind, path: path("src/cart.ts"), line: Some(87), text: text.to_string() })
}

fn guarded(name: &str) -> ApprovalReason {
    door_rules::guarded::reason(&path(name), "runs in CI")
}

fn every() -> Vec<ApprovalReason> {
    vec![
        door_rules::project_state::MANUAL.reason(),
        door_rules::project_state::NOT_TRUSTED.reason(),
        door_rules::project_state::NO_KEY.reason(),
        door_rules::project_state::NO_LINTER.reason(),
        door_rules::project_state::NO_CONFIG.reason(),
        door_rules::file_count::reason(12, 10),
        guarded("a.yml"),
        found(&finding::NEAR, FindingKind::Near, "odd"),
        found(&finding::PLACEHOLDER, FindingKind::Placeholder, "odd"),
        found(&finding::FRAGMENT, FindingKind::Fragment, "odd"),
        found(&finding::OVERWRITE, FindingKind::Overwrite, "odd"),
        found(&finding::MASS_DELETION, FindingKind::MassDeletion, "odd"),
        found(&finding::HIDDEN, FindingKind::Hidden, "odd"),
        found(&finding::SYNTAX, FindingKind::Syntax, "odd"),
        found(&finding::KEY, FindingKind::Key, "odd"),
        door_rules::gate::reason("worse".to_string()),
        door_rules::asked_again::revised(),
        door_rules::asked_again::changed_meanwhile(&[path("a"), path("b")]),
    ]
}

#[test]
fn every_rule_of_the_door_is_looked_at_here() {
    let mut names: Vec<&str> = every().iter().map(ApprovalReason::name).collect();
    let mut listed: Vec<&str> = door_rules::all().iter().map(|rule| rule.text().name).collect();
    // An undo asks about it, in its own words.
    listed.retain(|name| *name != "foreign-change");
    names.sort_unstable();
    listed.sort_unstable();
    assert_eq!(names, listed);
}

#[test]
fn each_rule_is_named_with_what_would_make_it_not_ask() {
    let rules = [
        guarded(".github/workflows/ci.yml"),
        guarded("ci.sh"),
        found(&finding::NEAR, FindingKind::Near, "fits only nearly"),
    ];
    let expected = "  relay asks because of 3 rules
    guarded   .github/workflows/ci.yml is guarded: it runs in CI
              ci.sh is guarded: it runs in CI
              `--allow guarded` lets it pass
    near      src/cart.ts line 87: fits only nearly
              `--allow near` lets it pass
  a yes counts for exactly this: ba7816bf8f01
";
    assert_eq!(text(&rules, AskedIn::Command, Some(Digest::of(b"abc")), &PLAIN), expected);
    assert_eq!(text(&[], AskedIn::Command, None, &PLAIN), "  no rule speaks against it\n");
}

#[test]
fn each_rule_says_what_would_make_it_not_ask() {
    for rule in every() {
        assert!(!rule_sentence(&rule, &PLAIN).is_empty());
        let shown = text(
            std::slice::from_ref(&rule),
            AskedIn::Command,
            None,
            &OutputStyle { width: Some(200), ..PLAIN },
        );
        let instead = rule.rule.how_to_avoid;
        assert!(instead.is_none_or(|instead| shown.contains(instead)), "{shown}");
    }
}

#[test]
fn the_bound_that_is_broken_is_named() {
    let few = door_rules::file_count::reason(1, 2);
    assert_eq!(rule_sentence(&few, &PLAIN), "it changes 1 file, and `patch.minFileChanges` is 2");
    let many = door_rules::file_count::reason(12, 10);
    assert_eq!(rule_sentence(&many, &PLAIN), "it changes 12 files, and `patch.maxFileChanges` is 10");
}

#[test]
fn many_of_one_rule_do_not_hide_the_others() {
    let mut rules: Vec<ApprovalReason> = (0..40).map(|index| guarded(&format!("{index}.yml"))).collect();
    rules.push(door_rules::project_state::NO_KEY.reason());
    let shown = text(&rules, AskedIn::Command, None, &PLAIN);
    assert!(shown.contains("… and 28 more\n") && shown.contains("no-key "), "{shown}");
}

#[test]
fn hostile_text_never_reaches_a_terminal_raw() {
    let hostile = "a\x1b[2Jb\u{202e}c\nd\u{9b}31m";
    let mut rules = every();
    rules.push(door_rules::guarded::reason(&path("a"), hostile));
    rules.push(door_rules::gate::reason(hostile.to_string()));
    rules.push(found(&finding::SYNTAX, FindingKind::Syntax, hostile));
    for style in [PLAIN, ASCII, OutputStyle { width: Some(40), ..ASCII }] {
        let shown = text(&rules, AskedIn::Command, None, &style);
        assert_eq!(shown.chars().find(|c| is_unsafe(*c) && *c != '\n'), None, "{shown:?}");
        assert!(style.utf8 || shown.is_ascii(), "{shown}");
    }
}
