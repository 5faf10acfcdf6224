//! Lines that try to pass a rule, and lines that ask nobody for anything. `⏎` in the files is the end of a line.

use std::path::PathBuf;

use relaycode_project::access::Access;
use relaycode_project::permissions::{
    PermissionEffect, PermissionEngine, PermissionLayer, PermissionLayers, PermissionPlace, PermissionRequest,
};

const HOSTILE: &str = include_str!("permission_lines/hostile.txt");
const CARRIERS: &str = include_str!("permission_lines/carriers.txt");
const PAYLOADS: &str = include_str!("permission_lines/payloads.txt");
const HARMLESS: &str = include_str!("permission_lines/harmless.txt");
const HOLDOUT: &str = include_str!("permission_lines/harmless_holdout.txt");

/// What somebody who works on several kinds of projects would allow.
const RULES: &[&str] = &[
    "cargo *",
    "npm test *",
    "npm run *",
    "npm ls *",
    "npx tsc *",
    "pytest *",
    "python -m pytest *",
    "python3 -m pytest *",
    "make *",
    "go test *",
    "go build *",
    "go vet *",
    "tsc *",
    "git status *",
    "git diff *",
    "git log *",
    "git show *",
];

fn engine() -> PermissionEngine {
    let mut layers = PermissionLayers::default();
    for rule in RULES {
        layers.add_text(PermissionLayer::User, PermissionEffect::Allow, rule);
    }
    assert!(layers.ignored().is_empty());
    let root = PathBuf::from("/home/me/project");
    PermissionEngine::new(
        layers,
        PermissionPlace {
            directory: root.clone(),
            root,
            home: Some(PathBuf::from("/home/me")),
            temporary: vec![PathBuf::from("/tmp")],
            access: Access::Ask,
            is_fenced: true,
        },
    )
}

fn lines(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.is_empty()).map(|line| line.replace('⏎', "\n")).collect()
}

fn asked(engine: &PermissionEngine, text: &str) -> Vec<String> {
    let mut asked = Vec::new();
    for line in lines(text) {
        let decision = engine.decide(&PermissionRequest::Line(line.clone()));
        if !decision.is_allowed() {
            asked.push(format!("{line}\n      {}", decision.reasons.join("; ")));
        }
    }
    asked
}

#[test]
fn no_line_passes_a_rule_by_hiding_what_it_does() {
    let engine = engine();
    let mut hostile = lines(HOSTILE);
    for carrier in lines(CARRIERS) {
        hostile.extend(lines(PAYLOADS).iter().map(|payload| carrier.replace('@', payload)));
    }
    assert!(hostile.len() >= 400);
    let passed: Vec<&String> = hostile
        .iter()
        .filter(|line| engine.decide(&PermissionRequest::Line((*line).clone())).is_allowed())
        .collect();
    assert!(passed.is_empty(), "{} of {} pass: {passed:#?}", passed.len(), hostile.len());
}

#[test]
fn harmless_lines_are_rarely_asked_about() {
    let asked = asked(&engine(), HARMLESS);
    assert!(asked.len() * 100 <= 5 * lines(HARMLESS).len(), "{} asked: {}", asked.len(), asked.join("\n"));
}

/// These lines were written before the engine was; nothing was tuned for them.
#[test]
fn harmless_lines_that_were_held_out_are_rarely_asked_about() {
    let asked = asked(&engine(), HOLDOUT);
    assert!(asked.len() * 100 <= 5 * lines(HOLDOUT).len(), "{} asked", asked.len());
}
