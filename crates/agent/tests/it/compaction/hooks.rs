//! Somebody who is asked before a conversation is summed up: against it, with a summary of their own, or of no use.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use relaycode_agent::{CompactionAction, CompactionReason, EndReason};
use relaycode_door::Approver;
use relaycode_llm::CancelToken;
use relaycode_session::EntryBody;
use relaycode_testkit::model::ScriptedTurn;
use relaycode_tools::{Host, HostAnswer, HostQuestion, SummaryDecision, SummaryProposal, ToolProgress};
use serde_json::Value;

use super::{compactions, last_sent, say, scene, summary_questions, words};
use crate::fixture::{Nobody, Scene};

/// Decides as it was told, then lets everything happen.
#[derive(Default)]
struct DecidingHost {
    decisions: Mutex<VecDeque<SummaryDecision>>,
    asked: Mutex<Vec<Value>>,
}

impl Host for DecidingHost {
    fn ask(&self, question: &HostQuestion) -> HostAnswer {
        Nobody.ask(question)
    }

    fn with_approver(&self, call: &str, submit: &mut dyn FnMut(&mut dyn Approver)) {
        Nobody.with_approver(call, submit);
    }

    fn before_summary(&self, proposal: &SummaryProposal<'_>, _: &CancelToken) -> SummaryDecision {
        self.asked.lock().unwrap().push(serde_json::to_value(proposal).unwrap());
        self.decisions.lock().unwrap().pop_front().unwrap_or(SummaryDecision::GoOn)
    }

    fn progress(&self, _: &str, _: &ToolProgress) {}
}

fn deciding(
    mut scene: Scene,
    decisions: impl IntoIterator<Item = SummaryDecision>,
) -> (Scene, Arc<DecidingHost>) {
    let host = Arc::new(DecidingHost {
        decisions: Mutex::new(decisions.into_iter().collect()),
        ..Default::default()
    });
    scene.host = host.clone();
    (scene, host)
}

fn outputs(count: usize) -> Vec<ScriptedTurn> {
    (0..count).map(|_| words(3_000)).chain([ScriptedTurn::text("done")]).collect()
}

#[test]
fn who_is_against_it_is_asked_again_once_the_conversation_has_grown() {
    let summary = ScriptedTurn::text("## Goal\nCount.");
    let (scene, host) = deciding(scene(24_000, outputs(6), summary), [SummaryDecision::Cancel]);
    let mut agent = scene.agent();
    let (outcome, events) = say(&mut agent, "Count");
    assert_eq!((outcome.reason, outcome.answer.as_str()), (EndReason::Done, "done"), "{outcome:?}");
    let made = compactions(&events);
    let of = |action| (CompactionReason::Threshold, action);
    assert_eq!(made[..2], [of(CompactionAction::Cancelled), of(CompactionAction::Summarized)], "{made:?}");
    let asked = host.asked.lock().unwrap();
    assert_eq!(asked.len(), made.len());
    assert_eq!((&asked[0]["reason"], &asked[0]["customInstructions"]), (&"threshold".into(), &Value::Null));
    let tokens: Vec<u64> = asked.iter().map(|asked| asked["tokensBefore"].as_u64().unwrap()).collect();
    assert!(tokens[1] > tokens[0] + 1_000, "{tokens:?}");
}

#[test]
fn a_summary_of_theirs_stands_for_the_conversation_and_one_of_no_use_does_not() {
    for (brought, is_taken) in
        [("## Goal\nTHEIRS".to_string(), true), (" ".to_string(), false), ("THEIRS ".repeat(60_000), false)]
    {
        let summary = ScriptedTurn::text("## Goal\nOF THE MODEL");
        let (scene, _) = deciding(scene(16_000, outputs(4), summary), [SummaryDecision::Summary(brought)]);
        let mut agent = scene.agent();
        let (outcome, events) = say(&mut agent, "Count");
        assert_eq!(outcome.reason, EndReason::Done, "{outcome:?}");
        assert_eq!(compactions(&events)[0].1, CompactionAction::Summarized);
        assert_eq!(summary_questions(&scene).is_empty(), is_taken && compactions(&events).len() == 1);
        let entries = scene.read_session();
        let first = entries.entries().find_map(|entry| match entry.unwrap().body {
            EntryBody::Compaction { summary, from_extension, .. } => Some((summary, from_extension)),
            _ => None,
        });
        let (summary, from_extension) = first.unwrap();
        assert_eq!(
            (summary.contains("THEIRS"), from_extension),
            (is_taken, is_taken.then_some(true)),
            "{summary}"
        );
        assert!(last_sent(&scene).contains("Count"), "the user's words are kept in any case");
    }
}

#[test]
fn who_is_against_room_for_a_request_that_is_too_long_ends_the_run() {
    let (mut scene, host) = deciding(
        scene(12_000, outputs(8), ScriptedTurn::text("Short.")),
        std::iter::repeat_n(SummaryDecision::Cancel, 100),
    );
    // The provider knows better than the model's data.
    scene.window = 1_000_000;
    let mut agent = scene.agent();
    let (outcome, events) = say(&mut agent, "Count");
    assert_eq!(outcome.reason, EndReason::ContextOverflow, "{outcome:?}");
    assert_eq!(compactions(&events), [(CompactionReason::Overflow, CompactionAction::Cancelled)]);
    assert_eq!(host.asked.lock().unwrap().len(), 1, "nobody is asked for ever");
    host.decisions.lock().unwrap().clear();
    let (outcome, _) = say(&mut agent, "Again");
    assert_eq!(outcome.reason, EndReason::Done, "the session goes on: {outcome:?}");
}

#[test]
fn a_run_that_is_ended_while_they_think_leaves_everything_as_it_was() {
    let summary = ScriptedTurn::text("## Goal\nCount.");
    let (scene, _) = deciding(scene(200_000, outputs(2), summary), [SummaryDecision::Stopped]);
    let mut agent = scene.agent();
    say(&mut agent, "Count");
    let before = agent.context_tokens();
    let made = agent.compact(Some("the words")).unwrap();
    assert_eq!((made.action, agent.context_tokens()), (CompactionAction::Aborted, before));
    assert_eq!(agent.compact(None).unwrap().action, CompactionAction::Summarized);
}
