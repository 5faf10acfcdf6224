//! Models that fail while they sum up, people who stop it, settings, and what is never done twice.

use relaycode_agent::{AgentEvent, CompactionAction, CompactionReason, EndReason};
use relaycode_llm::Message;
use relaycode_llm::message::{AssistantContent, AssistantMessage, TextContent, UserMessage};
use relaycode_session::ContextChange;
use relaycode_testkit::model::{ScriptedTurn, TurnDelay};

use super::{compactions, last_sent, say, scene, summary_questions, words};

fn four_outputs() -> Vec<ScriptedTurn> {
    vec![words(3_000), words(3_000), words(3_000), ScriptedTurn::text("done")]
}

#[test]
fn a_summary_that_is_of_no_use_is_replaced_by_one_without_a_model() {
    let long = ScriptedTurn::text("again ".repeat(40_000));
    for (bad, why) in [
        (ScriptedTurn::default(), "no summary"),
        (long, "longer than what it stands for"),
        (ScriptedTurn::status(500), "failed"),
        (ScriptedTurn::status(401), "does not accept the key"),
        (ScriptedTurn::status(400), "does not take the request"),
    ] {
        let scene = scene(16_000, four_outputs(), bad);
        let mut agent = scene.agent();
        let (outcome, events) = say(&mut agent, "Count");
        assert_eq!(
            (outcome.reason, outcome.answer.as_str()),
            (EndReason::Done, "done"),
            "{why}: {outcome:?}"
        );
        let made = compactions(&events);
        let by_rule = (CompactionReason::Threshold, CompactionAction::SummarizedByRule);
        assert!(!made.is_empty() && made.iter().all(|one| *one == by_rule), "{why}: {made:?}");
        let said = events.iter().any(|event| {
            matches!(event, AgentEvent::AutoCompactionEnd { error_message: Some(error), .. } if error.contains(why))
        });
        assert!(said, "{why}: {events:?}");
        assert!(last_sent(&scene).contains("No model could sum this up"), "{why}");
        assert!(last_sent(&scene).contains("[call] words"), "{why}: what was done stands there");
    }
}

#[test]
fn a_summariser_that_refuses_its_input_gets_less_of_it() {
    let mut scene = scene(6_000, [ScriptedTurn::text("done")], ScriptedTurn::text("Short."));
    scene.window = 1_000_000;
    // The provider counts far more than such words look like.
    let mut session = scene.session();
    for at in 0..6 {
        let answer = AssistantMessage {
            content: vec![AssistantContent::Text(TextContent {
                text: "abcdef ".repeat(2_200),
                ..TextContent::default()
            })],
            ..AssistantMessage::default()
        };
        session.append_message(&Message::User(UserMessage::text(format!("Say {at}"), at))).unwrap();
        session.append_message(&Message::Assistant(answer)).unwrap();
    }
    drop(session);
    let mut agent = scene.agent();
    let (outcome, events) = say(&mut agent, "Count");
    assert_eq!(outcome.reason, EndReason::Done, "{outcome:?}");
    assert_eq!(
        compactions(&events).last(),
        Some(&(CompactionReason::Overflow, CompactionAction::Summarized))
    );
    let asked = summary_questions(&scene);
    assert!(asked.len() > 1 && asked.last().unwrap().len() < asked[0].len() * 2 / 3, "{}", asked.len());
}

#[test]
fn a_user_who_stops_it_leaves_the_conversation_as_it_was() {
    let hangs = ScriptedTurn::text("one two").with(|turn| turn.hang_s = Some(TurnDelay::Forever(true)));
    let scene = scene(16_000, four_outputs(), hangs);
    let mut agent = scene.agent();
    let handle = agent.handle();
    let (outcome, events) = std::thread::scope(|scope| {
        scope.spawn(|| {
            scene
                .server
                .wait_for(|requests| requests.iter().any(|request| request.body.get("tools").is_none()));
            assert!(handle.abort());
        });
        say(&mut agent, "Count")
    });
    assert_eq!(outcome.reason, EndReason::Aborted);
    assert_eq!(compactions(&events), [(CompactionReason::Threshold, CompactionAction::Aborted)]);
    assert!(agent.with_session(|session| session.latest_context_change().unwrap().0.is_none()));
    // Also outside of a run.
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            let asked =
                |request: &relaycode_testkit::model::RecordedRequest| request.body.get("tools").is_none();
            scene.server.wait_for(|requests| requests.iter().filter(|request| asked(request)).count() == 2);
            assert!(handle.abort());
        });
        agent.compact(None).unwrap()
    });
    assert_eq!(outcome.action, CompactionAction::Aborted);
    assert!(agent.with_session(|session| session.latest_context_change().unwrap().0.is_none()));
}

#[test]
fn a_model_that_refuses_everything_ends_the_run_and_is_not_asked_for_ever() {
    let mut scene = scene(10, [], ScriptedTurn::text("x"));
    scene.window = 100_000;
    let mut agent = scene.agent();
    let (outcome, _) = say(&mut agent, &"word ".repeat(5_000));
    assert_eq!(outcome.reason, EndReason::ContextOverflow);
    let requests = scene.server.requests().len();
    assert!(requests < 40, "{requests}");
    // The session goes on.
    let (outcome, _) = say(&mut agent, "Again");
    assert_eq!(outcome.reason, EndReason::ContextOverflow);
}

#[test]
fn what_saves_nothing_is_not_done_again() {
    // The system prompt alone is beyond the threshold.
    let mut scene = scene(16_000, (0..6).map(|_| ScriptedTurn::text("ok")), ScriptedTurn::text("Short."));
    scene.settings.compaction.threshold_tokens = Some(10);
    let mut agent = scene.agent();
    let mut made = 0;
    for at in 0..6 {
        let (outcome, events) = say(&mut agent, &format!("Say {at}"));
        assert_eq!(outcome.reason, EndReason::Done);
        made += compactions(&events).len();
    }
    assert!(made <= 2, "{made}");
}

#[test]
fn an_undone_compaction_is_not_made_again_by_itself() {
    let scene = scene(
        16_000,
        four_outputs().into_iter().chain([ScriptedTurn::text("ok"), ScriptedTurn::text("ok")]),
        ScriptedTurn::text("Short."),
    );
    let mut agent = scene.agent();
    say(&mut agent, "Count");
    assert!(agent.undo_compaction().unwrap().is_some());
    let (outcome, events) = say(&mut agent, "And now?");
    assert_eq!((outcome.reason, compactions(&events).len()), (EndReason::Done, 0), "it still fits");
    drop(agent);
    let mut agent = scene.agent();
    let (_, events) = say(&mut agent, "And now?");
    assert_eq!(compactions(&events).len(), 0, "nor after a resume");
}

#[test]
fn every_setting_acts() {
    type Change = fn(&mut relaycode_agent::CompactionSettings);
    let run = |change: Change| {
        let mut scene = scene(16_000, four_outputs(), ScriptedTurn::text("Short."));
        change(&mut scene.settings.compaction);
        let mut agent = scene.agent();
        let (outcome, events) = say(&mut agent, "Count");
        (outcome, compactions(&events))
    };
    let threshold = [(CompactionReason::Threshold, CompactionAction::Summarized)];
    assert_eq!(run(|_| {}).1, threshold);
    assert_eq!(run(|settings| settings.enabled = false).1, []);
    assert_eq!(run(|settings| settings.mid_turn = false).1, [], "only before a prompt");
    assert_eq!(run(|settings| settings.threshold_percent = Some(95)).1, []);
    assert_eq!(run(|settings| settings.threshold_tokens = Some(15_000)).1, []);
    assert_eq!(run(|settings| settings.reserve_tokens = 256).1, []);
    let (outcome, made) = run(|settings| settings.auto_continue = false);
    assert_eq!((outcome.reason, made.as_slice()), (EndReason::Compacted, threshold.as_slice()));
}

#[test]
fn an_answer_that_ended_for_lack_of_room_goes_on() {
    let turns = [
        words(3_000),
        words(3_200),
        ScriptedTurn::text("first half").stop("max_tokens"),
        ScriptedTurn::text("second half"),
    ];
    let run = |auto_continue: bool| {
        let mut scene = scene(16_000, turns.clone(), ScriptedTurn::text("Short."));
        scene.settings.compaction.mid_turn = false;
        scene.settings.compaction.auto_continue = auto_continue;
        let mut agent = scene.agent();
        (say(&mut agent, "Count").0, last_sent(&scene))
    };
    let (outcome, sent) = run(true);
    assert_eq!((outcome.reason, outcome.answer.as_str()), (EndReason::Done, "second half"));
    assert!(sent.contains("Room was made; go on where you were"), "{sent}");
    assert_eq!(run(false).0.reason, EndReason::Length);
}

#[test]
fn room_is_made_while_nobody_says_anything_if_that_is_wanted() {
    let mut scene = scene(100_000, [words(3_000), ScriptedTurn::text("ok")], ScriptedTurn::text("Short."));
    let mut agent = scene.agent();
    say(&mut agent, "Count");
    assert_eq!(agent.compact_idle().unwrap(), None);
    drop(agent);
    scene.settings.compaction.idle_tokens = Some(2_000);
    let mut agent = scene.agent();
    let outcome = agent.compact_idle().unwrap().unwrap();
    assert_eq!(outcome.action, CompactionAction::Summarized);
    assert_eq!(agent.compact_idle().unwrap(), None, "once");
}

#[test]
fn a_session_that_was_left_in_the_middle_of_a_compaction_is_as_before() {
    // The entry is written last, in one piece: what is not there was never begun.
    let scene = scene(50_000, [words(500), ScriptedTurn::text("ok")], ScriptedTurn::text("Short."));
    let mut agent = scene.agent();
    say(&mut agent, "Count");
    let before = agent.with_session(|session| session.context().unwrap());
    agent.compact(None).unwrap();
    drop(agent);
    let path = scene.root().join(crate::fixture::NAME);
    let text = std::fs::read_to_string(&path).unwrap();
    let last = text.trim_end().rfind('\n').unwrap();
    for end in [last + 1, last + 2, last + 40, text.len() - 2] {
        std::fs::write(&path, &text[..end]).unwrap();
        let _ = std::fs::remove_file(path.with_extension("jsonl.idx"));
        let agent = scene.agent();
        let after = agent.with_session(|session| session.context().unwrap());
        assert_eq!(after.messages, before.messages, "cut at {end} of {}", text.len());
    }
}

#[test]
fn changes_of_the_context_are_understood_by_the_session_alone() {
    let change = ContextChange::Undone("x".into());
    assert_eq!(ContextChange::from_body(&change.to_body()), Some(change));
}
