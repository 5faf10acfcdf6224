use std::time::{Duration, Instant};

use insta::assert_snapshot;
use relaycode_testkit::hostile_text;
use relaycode_text::width::cells;

use super::*;
use crate::cards::tests::{ascii_style, plain_style};

fn facts() -> StatusFacts {
    StatusFacts {
        model: "anthropic/sonnet-5".into(),
        thinking: Some("high".into()),
        access: "workspace".into(),
        mode: None,
        context_percent: Some(12),
        cost: 0.0612,
        git: Some(GitFacts { branch: "retry-with-backoff".into(), staged: 1, changed: 2, untracked: 0 }),
        queued: 1,
        todo: Some((2, 5)),
        jobs: 1,
        hint: "? keys".into(),
    }
}

fn drawn(facts: &StatusFacts, style: &ThemeStyle, make: impl Fn(Instant) -> ConversationActivity) -> String {
    let began = Instant::now();
    let activity = make(began);
    let widths = [120, 100, 80, 60, 40, 20, 8];
    let lines = widths.map(|width| {
        let line = facts.line(&activity, style, width, (began, began + Duration::from_secs(12)));
        assert!(cells(&line) <= width, "{width}: {line:?}");
        format!("{width:>3} {line}")
    });
    lines.join("\n")
}

#[test]
fn parts_drop_out_as_the_terminal_becomes_narrower() {
    let line = drawn(&facts(), &plain_style(), |since| ConversationActivity::Writing { since });
    assert_snapshot!(line, @"");
}

#[test]
fn idle_in_a_clean_project() {
    let facts = StatusFacts {
        git: Some(GitFacts { branch: "main".into(), ..GitFacts::default() }),
        queued: 0,
        todo: Some((5, 5)),
        jobs: 0,
        cost: 0.0,
        ..facts()
    };
    assert_snapshot!(drawn(&facts, &plain_style(), |_| ConversationActivity::Idle), @"");
}

#[test]
fn planning_with_a_context_that_is_nearly_full_in_ascii() {
    let facts = StatusFacts { mode: Some("plan".into()), context_percent: Some(93), ..facts() };
    let line = drawn(&facts, &ascii_style(), |since| ConversationActivity::Asking { since });
    assert!(line.is_ascii());
    assert_snapshot!(line, @"");
}

#[test]
fn without_a_model() {
    let facts = StatusFacts { access: "ask".into(), hint: "/model".into(), ..StatusFacts::default() };
    assert_snapshot!(drawn(&facts, &plain_style(), |_| ConversationActivity::Idle), @"");
}

#[test]
fn nothing_in_the_line_is_raw_or_too_wide() {
    let began = Instant::now();
    for number in 0..60 {
        let text = hostile_text::hostile_string(number);
        let facts = StatusFacts {
            model: text.clone(),
            thinking: Some(text.clone()),
            access: text.clone(),
            mode: (number % 2 == 0).then(|| text.clone()),
            git: Some(GitFacts { branch: text.clone(), ..GitFacts::default() }),
            hint: text.clone(),
            ..facts()
        };
        let activity = ConversationActivity::Checking { command: text.clone(), since: began };
        for width in 0..90 {
            let line = facts.line(&activity, &plain_style(), width, (began, began));
            assert!(cells(&line) <= width, "{width}: {line:?}");
            assert_eq!(hostile_text::find_unsafe_char(&line, false), None, "{line:?}");
        }
    }
}

#[test]
fn what_is_idle_or_asks_does_not_move() {
    let since = Instant::now();
    assert_eq!(next_status_frame(&ConversationActivity::Idle), None);
    assert_eq!(next_status_frame(&ConversationActivity::Asking { since }), None);
    assert_eq!(next_status_frame(&ConversationActivity::Working { since }), Some(FRAME_TIME));
}
