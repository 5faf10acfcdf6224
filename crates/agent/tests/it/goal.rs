//! A goal: the agent goes on by itself within bounds, the session keeps it, and it ends with evidence.

use relaycode_agent::{AgentEvent, EndReason, RunLimits, UserPrompt};
use relaycode_testkit::model::ScriptedTurn;
use relaycode_tools::{GoalStatus, registry};
use serde_json::{Value, json};

use crate::fixture::{Scene, WIRES};

fn scene(turns: impl IntoIterator<Item = ScriptedTurn>) -> Scene {
    let mut scene = Scene::new(turns);
    scene.tools = registry::all().to_vec();
    scene
}

fn goal(arguments: Value) -> ScriptedTurn {
    ScriptedTurn::call("goal", arguments)
}

fn create() -> ScriptedTurn {
    goal(json!({"op": "create", "objective": "All tests pass"}))
}

fn look() -> ScriptedTurn {
    ScriptedTurn::call("find", json!({"paths": ["*"]}))
}

fn notices(events: &[AgentEvent]) -> Vec<&str> {
    let texts = events.iter().filter_map(|event| match event {
        AgentEvent::Notice { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn the_agent_goes_on_until_the_goal_is_shown_to_be_reached_on_every_wire() {
    for wire in WIRES {
        let complete = goal(json!({"op": "complete", "evidence": "12 passed"}));
        let turns = [
            create(),
            ScriptedTurn::text("Later."),
            look(),
            ScriptedTurn::text("Almost."),
            complete,
            ScriptedTurn::text("Reached."),
        ];
        let scene = Scene { wire, ..scene(turns) };
        let (outcome, events) = scene.run("Make all tests pass");
        assert_eq!((outcome.reason, outcome.answer.as_str()), (EndReason::Done, "Reached."), "{wire:?}");
        let rounds: Vec<(u64, u64)> = events
            .iter()
            .filter_map(|event| match event {
                AgentEvent::GoalContinued { round, most } => Some((*round, *most)),
                _ => None,
            })
            .collect();
        assert_eq!(rounds, [(1, 20), (2, 20)]);
        assert!(scene.sent(2).contains("<goal>\\nAll tests pass\\n</goal>"), "{}", scene.sent(2));
        let kept = scene.agent().workspace().goal().unwrap();
        assert_eq!((kept.status, kept.evidence.as_deref()), (GoalStatus::Complete, Some("12 passed")));
    }
}

#[test]
fn a_goal_goes_on_with_its_session_and_waits_where_it_is_paused() {
    let scene = scene([
        create(),
        goal(json!({"op": "pause"})),
        ScriptedTurn::text("I need the key."),
        ScriptedTurn::text("Still nothing."),
        look(),
        ScriptedTurn::text("And?"),
        goal(json!({"op": "drop"})),
        ScriptedTurn::text("Dropped."),
    ]);
    assert_eq!(scene.run("Go").0.answer, "I need the key.");
    assert_eq!(scene.agent().workspace().goal().unwrap().status, GoalStatus::Paused);
    assert_eq!(scene.run("Well?").0.answer, "Still nothing.");
    let mut agent = scene.agent();
    assert!(agent.set_goal("Another").is_err());
    agent.set_goal_status(GoalStatus::Active).unwrap();
    assert_eq!(agent.prompt(&UserPrompt::text("Go on")).answer, "Dropped.");
    drop(agent);
    assert!(scene.sent(4).contains("the user changed the goal. Goal (active): All tests pass"));
    assert_eq!(scene.agent().workspace().goal().unwrap().status, GoalStatus::Dropped);
}

#[test]
fn a_model_that_does_nothing_for_its_goal_is_left_alone() {
    let scene = scene([create(), ScriptedTurn::text("Later."), ScriptedTurn::text("I would rather not.")]);
    let (outcome, events) = scene.run("Go");
    assert_eq!((outcome.reason, outcome.answer.as_str()), (EndReason::Done, "I would rather not."));
    assert_eq!(
        notices(&events),
        ["the goal is not reached, and the agent does nothing for it: it waits for you"]
    );
}

#[test]
fn the_bound_of_the_user_and_the_limits_of_the_run_hold() {
    let turns = |count| {
        [create()]
            .into_iter()
            .chain(std::iter::repeat_with(|| [look(), ScriptedTurn::text("More.")]).take(count).flatten())
    };
    for most in [0, 2] {
        let mut scene = scene(turns(9));
        scene.settings.goal_continuations = most;
        let (outcome, events) = scene.run("Go");
        assert_eq!((outcome.reason, outcome.usage.turns), (EndReason::Done, 3 + 2 * most));
        let said = "the goal is not reached after the agent went on by itself 2 times: it waits for you";
        assert_eq!(notices(&events).contains(&said), most == 2, "{:?}", notices(&events));
    }
    let mut scene = scene(turns(9));
    scene.settings.limits = RunLimits { turns: Some(3), ..RunLimits::default() };
    let (outcome, _) = scene.run("Go");
    assert_eq!(outcome.reason, EndReason::TurnLimit);
    assert!(outcome.message.unwrap().ends_with("; the goal is not reached"));
    scene.messages();
}

#[test]
fn what_the_user_says_meanwhile_comes_before_the_goal() {
    let scene = scene([
        create(),
        ScriptedTurn::text("Later."),
        goal(json!({"op": "drop"})),
        ScriptedTurn::text("Dropped."),
    ]);
    let mut agent = scene.agent();
    agent.handle().follow_up(UserPrompt::text("Forget it")).unwrap();
    assert_eq!(agent.prompt(&UserPrompt::text("Go")).answer, "Dropped.");
    assert!(scene.sent(2).contains("Forget it") && !scene.sent(2).contains("not reached yet"));
}
