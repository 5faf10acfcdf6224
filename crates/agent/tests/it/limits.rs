//! Runs that reach a limit, or that the user ends: what was finished stays, and the conversation can go on.

use std::time::Duration;

use relaycode_agent::{AgentEvent, EndReason, RunLimits, UserPrompt};
use relaycode_testkit::model::{ScriptedTurn, TurnDelay, TurnUsage};
use serde_json::json;

use crate::fixture::{Scene, looks, result_text};

#[test]
fn the_number_of_turns_is_limited() {
    let mut scene = Scene::new([looks(&["a"]), looks(&["b"]), ScriptedTurn::text("Now it is done.")]);
    scene.settings.limits.turns = Some(2);
    let (outcome, _) = scene.run("Go");
    assert_eq!(outcome.reason, EndReason::TurnLimit);
    let message = outcome.message.unwrap();
    assert_eq!(message, "the model has answered 2 times; that is the limit; 1 call was not carried out");
    let results = scene.results();
    assert!(result_text(&results[0]).contains("saw a"));
    assert!(results[1].is_error && result_text(&results[1]).contains("The user has to let you go on"));
    let (outcome, _) = scene.run("Go on");
    assert_eq!((outcome.reason, outcome.answer.as_str()), (EndReason::Done, "Now it is done."));
}

#[test]
fn money_is_limited() {
    // 10 tokens at 10 000 dollars a million are 10 cents.
    let mut scene = Scene::new([looks(&["a"]).repeat(9)]);
    scene.settings.limits.cost = Some(0.25);
    let (outcome, _) = scene.run("Go");
    assert_eq!(outcome.reason, EndReason::CostLimit);
    assert_eq!(scene.server.requests().len(), 3);
    assert!((outcome.usage.cost - 0.3).abs() < 1e-9, "{outcome:?}");
}

#[test]
fn an_answer_that_ends_by_itself_is_done_whatever_it_cost() {
    let usage = TurnUsage { input: 1_000_000, ..TurnUsage::default() };
    let mut scene = Scene::new([ScriptedTurn::text("Done.").usage(usage)]);
    scene.settings.limits = RunLimits { turns: Some(1), cost: Some(0.01), time: None };
    let (outcome, _) = scene.run("Go");
    assert_eq!((outcome.reason, outcome.answer.as_str()), (EndReason::Done, "Done."));
}

#[test]
fn time_is_limited_while_the_model_speaks_and_while_a_tool_runs() {
    let hangs = ScriptedTurn::text("one two three").with(|turn| turn.hang_s = Some(TurnDelay::Forever(true)));
    for turn in [hangs, ScriptedTurn::call("wait", json!({}))] {
        let mut scene = Scene::new([turn]);
        scene.settings.limits.time = Some(Duration::from_millis(300));
        let (outcome, _) = scene.run("Go");
        assert_eq!(outcome.reason, EndReason::TimeLimit, "{outcome:?}");
        scene.messages();
    }
}

#[test]
fn the_user_ends_a_run_in_the_middle_and_finished_results_stay() {
    let scene = Scene::new([
        ScriptedTurn::call("look", json!({"at": "a"}))
            .tool("wait", json!({}))
            .tool("change", json!({"at": "never"})),
        ScriptedTurn::text("Going on."),
    ]);
    let mut agent = scene.agent();
    let handle = agent.handle();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut reader = handle.read_events(0);
            let finished = |event: &AgentEvent| {
                matches!(event, AgentEvent::ToolExecutionEnd { tool_name, .. } if tool_name == "look")
            };
            while reader.next_event().is_some_and(|event| !finished(&event.event)) {}
            assert!(handle.abort());
        });
        agent.prompt(&UserPrompt::text("Go"))
    });
    assert_eq!(outcome.reason, EndReason::Aborted, "{outcome:?}");
    // A client keeps the session open: it may ask for what was said.
    drop((agent, handle));
    let results = scene.results();
    let text = |name: &str| result_text(results.iter().find(|result| result.tool_name == name).unwrap());
    assert!(text("look").contains("saw a"));
    assert!(text("wait").contains("Stopped by the user"));
    assert!(text("change").contains("Not carried out: the user stopped the run"));
    assert_eq!(scene.run("Go on").0.answer, "Going on.");
}
