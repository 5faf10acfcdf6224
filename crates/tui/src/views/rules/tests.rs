//! Why relay asks, as people see it.

use relaycode_change::plan::{FindingKind, PlanFinding};
use relaycode_change::proposal::path::RelPath;
use relaycode_text::escape::is_unsafe;

use super::*;

const PLAIN: OutputStyle = OutputStyle { color: false, utf8: true, width: Some(80) };
const ASCII: OutputStyle = OutputStyle { color: false, utf8: false, width: Some(80) };

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn found(kind: FindingKind, text: &str) -> ApprovalRule {
    ApprovalRule::Found(PlanFinding {
        kind,
        path: path("src/cart.ts"),
        line: Some(87),
        text: text.to_string(),
    })
}

fn guarded(name: &str) -> ApprovalRule {
    ApprovalRule::Guarded { path: path(name), why: "runs in CI".to_string() }
}

fn every() -> Vec<ApprovalRule> {
    let finding = |kind| found(kind, "odd");
    vec![
        ApprovalRule::Manual,
        ApprovalRule::NotTrusted,
        ApprovalRule::NoKey,
        ApprovalRule::NoLinter,
        ApprovalRule::NoConfig,
        ApprovalRule::FileCount { files: 12, bound: 10 },
        guarded("a.yml"),
        finding(FindingKind::Near),
        finding(FindingKind::Placeholder),
        finding(FindingKind::MassDeletion),
        finding(FindingKind::Hidden),
        finding(FindingKind::Syntax),
        finding(FindingKind::Skipped),
        ApprovalRule::Gate { text: "worse".to_string() },
        ApprovalRule::Revised,
        ApprovalRule::ChangedMeanwhile { paths: vec![path("a"), path("b")] },
    ]
}

#[test]
fn each_rule_is_named_with_what_would_make_it_not_ask() {
    let rules =
        [guarded(".github/workflows/ci.yml"), guarded("ci.sh"), found(FindingKind::Near, "fits only nearly")];
    let expected = "  relay asks because of 3 rules
    guarded   .github/workflows/ci.yml is guarded: it runs in CI
              ci.sh is guarded: it runs in CI
              `--allow guarded` lets it pass
    near      src/cart.ts line 87: fits only nearly
              `--allow near` lets it pass
  a yes counts for exactly this: ba7816bf8f01
";
    assert_eq!(text(&rules, Some(Digest::of(b"abc")), &PLAIN), expected);
    assert_eq!(text(&[], None, &PLAIN), "  no rule speaks against it\n");
}

#[test]
fn what_allow_covers_is_said_with_the_name_that_it_takes() {
    for rule in every() {
        let instead = how_to_avoid(rule.name());
        if let Some(allow) = rule.allowed_by() {
            assert!(
                instead.is_some_and(|text| text.contains(&format!("`--allow {}`", allow.name()))),
                "{rule:?}"
            );
        }
        assert!(!rule_sentence(&rule, &PLAIN).is_empty());
        let always = matches!(rule, ApprovalRule::Revised | ApprovalRule::ChangedMeanwhile { .. });
        assert_eq!(instead.is_none(), always, "{rule:?}");
    }
}

#[test]
fn the_bound_that_is_broken_is_named() {
    let few = ApprovalRule::FileCount { files: 1, bound: 2 };
    assert_eq!(rule_sentence(&few, &PLAIN), "it changes 1 file, and `patch.minFileChanges` is 2");
    let many = ApprovalRule::FileCount { files: 12, bound: 10 };
    assert_eq!(rule_sentence(&many, &PLAIN), "it changes 12 files, and `patch.maxFileChanges` is 10");
}

#[test]
fn many_of_one_rule_do_not_hide_the_others() {
    let mut rules: Vec<ApprovalRule> = (0..40).map(|index| guarded(&format!("{index}.yml"))).collect();
    rules.push(ApprovalRule::NoKey);
    let shown = text(&rules, None, &PLAIN);
    assert!(shown.contains("… and 28 more\n") && shown.contains("no-key "), "{shown}");
}

#[test]
fn hostile_text_never_reaches_a_terminal_raw() {
    let hostile = "a\x1b[2Jb\u{202e}c\nd\u{9b}31m";
    let mut rules = every();
    rules.push(ApprovalRule::Guarded { path: path("a"), why: hostile.to_string() });
    rules.push(ApprovalRule::Gate { text: hostile.to_string() });
    rules.push(found(FindingKind::Syntax, hostile));
    for style in [PLAIN, ASCII, OutputStyle { width: Some(40), ..ASCII }] {
        let shown = text(&rules, None, &style);
        assert_eq!(shown.chars().find(|c| is_unsafe(*c) && *c != '\n'), None, "{shown:?}");
        assert!(style.utf8 || shown.is_ascii(), "{shown}");
    }
}
