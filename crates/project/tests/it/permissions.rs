//! Lines that try to pass a rule, lines that ask nobody for anything, and spoilt ones. `RELAY_LINES=1000000` spoils so many.

use std::path::Path;
use std::time::{Duration, Instant};

use relaycode_project::permissions::{PermissionEngine, PermissionRequest};

use crate::permission_lines::{
    CARRIERS, EVERYDAY, HARMLESS, HOLDOUT, HOSTILE, HOSTILE_FOUND, HOSTILE_OPTIONS, LineMaker, PAYLOADS,
    PIECES, WIDE_RULES, engine, engine_with, lines, wanted_lines,
};

/// Nothing is there.
const PROJECT: &str = "/home/me/project";

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
    let engine = engine(Path::new(PROJECT));
    let mut hostile = lines(HOSTILE);
    hostile.extend(lines(HOSTILE_FOUND));
    for carrier in lines(CARRIERS) {
        hostile.extend(lines(PAYLOADS).iter().map(|payload| carrier.replace('@', payload)));
    }
    assert!(hostile.len() >= 1_400);
    let passed: Vec<&String> = hostile
        .iter()
        .filter(|line| engine.decide(&PermissionRequest::Line((*line).clone())).is_allowed())
        .collect();
    println!("{} hostile lines: {} pass", hostile.len(), passed.len());
    assert!(passed.is_empty(), "{} of {} pass: {passed:#?}", passed.len(), hostile.len());
}

#[test]
fn a_star_leaves_out_options_that_can_do_anything() {
    let engine = engine_with(WIDE_RULES, Path::new(PROJECT));
    let hostile = lines(HOSTILE_OPTIONS);
    let passes = |line: &&String| engine.decide(&PermissionRequest::Line((*line).clone())).is_allowed();
    let passed: Vec<&String> = hostile.iter().filter(passes).collect();
    println!("{} lines with options: {} pass", hostile.len(), passed.len());
    assert!(hostile.len() >= 400 && passed.is_empty(), "{passed:#?}");
}

/// What agents type all the time, and no rule has to allow.
#[test]
fn everyday_lines_need_no_rule() {
    let asked = asked(&engine_with(&[], Path::new(PROJECT)), EVERYDAY);
    println!("{} everyday lines: {} asked", lines(EVERYDAY).len(), asked.len());
    assert!(asked.is_empty(), "{}", asked.join("\n"));
}

#[test]
fn harmless_lines_are_rarely_asked_about() {
    let asked = asked(&engine(Path::new(PROJECT)), HARMLESS);
    println!("{} harmless lines: {} asked", lines(HARMLESS).len(), asked.len());
    assert!(asked.len() * 100 <= 5 * lines(HARMLESS).len(), "{} asked: {}", asked.len(), asked.join("\n"));
}

/// These lines were written before the engine was; nothing was tuned for them.
#[test]
fn harmless_lines_that_were_held_out_are_rarely_asked_about() {
    let asked = asked(&engine(Path::new(PROJECT)), HOLDOUT);
    println!("{} harmless lines, held out: {} asked", lines(HOLDOUT).len(), asked.len());
    assert!(asked.len() * 100 <= 5 * lines(HOLDOUT).len(), "{} asked", asked.len());
}

#[test]
fn no_spoilt_line_makes_the_engine_panic_or_wait() {
    let (engine, maker) = (engine(Path::new(PROJECT)), LineMaker::new());
    let count = wanted_lines(2_000);
    let (mut allowed, mut slowest) = (0, Duration::ZERO);
    for number in 0..count {
        let line = maker.spoilt(number as u64);
        let start = Instant::now();
        allowed += usize::from(engine.decide(&PermissionRequest::Line(line)).is_allowed());
        slowest = slowest.max(start.elapsed());
    }
    println!("{count} lines: {allowed} allowed, slowest {slowest:?}");
    assert!(allowed < count && slowest < Duration::from_secs(5));
}

/// Ten times as much text takes about ten times as long, whatever it repeats.
#[test]
fn the_time_grows_with_the_line() {
    let engine = engine(Path::new(PROJECT));
    let took = |text: String| {
        let start = Instant::now();
        let _ = engine.decide(&PermissionRequest::Line(text));
        start.elapsed()
    };
    for piece in PIECES {
        let of = |bytes: usize| took(format!("echo {}", piece.repeat(bytes / piece.len())));
        let (short, long) = (of(4_000), of(40_000));
        assert!(long < short * 60 + Duration::from_millis(500), "{piece:?}: {short:?}, {long:?}");
    }
}
