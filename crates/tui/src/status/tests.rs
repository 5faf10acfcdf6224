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
    assert_snapshot!(line, @r#"
    120   ⠋ writing, 12 s · workspace · 12 % · $0.06 · sonnet-5 high · retry-with-… · 1 queued · 2/5 tasks · 1 job · ? keys
    100   ⠋ writing · workspace · 12 % · $0.06 · sonnet-5 high · retry-with-… · 1 queued · 2/5 tasks · 1 job
     80   ⠋ writing · workspace · 12 % · sonnet-5 high · 1 queued · 2/5 tasks · 1 job
     60   ⠋ writing · workspace · 12 % · sonnet-5 · 1 queued
     40   ⠋ writing · workspace · 12 %
     20 ⠋ · workspace
      8 ⠋
    "#);
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
    assert_snapshot!(drawn(&facts, &plain_style(), |_| ConversationActivity::Idle), @r#"
    120   workspace · 12 % of context · anthropic/sonnet-5 high · main · ? keys
    100   workspace · 12 % of context · anthropic/sonnet-5 high · main · ? keys
     80   workspace · 12 % of context · anthropic/sonnet-5 high · main · ? keys
     60   workspace · 12 % · sonnet-5 high · main · ? keys
     40   workspace · 12 % · sonnet-5 high
     20 workspace · 12 %
      8 workspa…
    "#);
}

#[test]
fn planning_with_a_context_that_is_nearly_full_in_ascii() {
    let facts = StatusFacts { mode: Some("plan".into()), context_percent: Some(93), ..facts() };
    let line = drawn(&facts, &ascii_style(), |since| ConversationActivity::Asking { since });
    assert!(line.is_ascii());
    assert_snapshot!(line, @r#"
    120   ! waiting for your answer - plan mode - 93 % - $0.06 - sonnet-5 high - retry-wit... - 1 queued - 2/5 tasks - 1 job
    100   ! waiting for your answer - plan mode - 93 % - sonnet-5 high - 1 queued - 2/5 tasks - 1 job
     80   ! waiting for your answer - plan mode - 93 % - sonnet-5 - 1 queued - 2/5 tasks
     60   ! waiting for your answer - plan mode - 93 % - 1 queued
     40   ! waiting for your answer - plan mode
     20 ! - plan mode
      8 !
    "#);
}

#[test]
fn without_a_model() {
    let facts = StatusFacts { access: "ask".into(), hint: "/model".into(), ..StatusFacts::default() };
    assert_snapshot!(drawn(&facts, &plain_style(), |_| ConversationActivity::Idle), @r#"
    120   no model · ask · /model
    100   no model · ask · /model
     80   no model · ask · /model
     60   no model · ask · /model
     40   no model · ask · /model
     20 no model · ask
      8 no model
    "#);
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
