//! Modes in a session that moves, is steered, or would be handed over: no way lets the agent do more than it may.

use relaycode_agent::{Agent, AgentEvent, AgentModeError, HandoffError, ModeRequest, UserPrompt};
use relaycode_session::{EntryRole, Session};
use relaycode_testkit::model::ScriptedTurn;
use relaycode_tools::registry;
use serde_json::json;

use crate::fixture::Scene;

fn scene(turns: impl IntoIterator<Item = ScriptedTurn>) -> Scene {
    let mut scene = Scene::new(turns);
    scene.tools = registry::all().to_vec();
    scene
}

/// An agent whose session has a place for a plan.
fn agent(scene: &Scene) -> Agent {
    let mut agent = scene.agent();
    agent.workspace_mut().artifacts = Some(scene.root().join("session"));
    agent
}

fn prompts(session: &Session) -> Vec<String> {
    let rows = session.rows().iter().filter(|row| row.role == EntryRole::User);
    rows.map(|row| row.id.to_string()).collect()
}

#[test]
fn other_tools_leave_a_session_its_way_out_of_planning() {
    let scene = scene([ScriptedTurn::text("one")]);
    let mut agent = agent(&scene);
    agent.set_tools(scene.tools.clone());
    assert!(!agent.has_tool("exit_plan"), "it never planned");
    agent.begin_planning().unwrap();
    let without = |name: &&std::sync::Arc<dyn relaycode_tools::Tool>| name.name() != "exit_plan";
    agent.set_tools(scene.tools.iter().filter(without).cloned().collect());
    assert!(agent.has_tool("exit_plan"));
}

#[test]
fn moving_in_the_tree_never_ends_planning_and_takes_it_up_again() {
    let scene = scene(["one", "two", "three"].map(ScriptedTurn::text));
    let mut agent = agent(&scene);
    agent.prompt(&UserPrompt::text("First"));
    agent.begin_planning().unwrap();
    agent.prompt(&UserPrompt::text("Second"));
    let said = agent.with_session(prompts);
    agent.move_to(&said[0], false, None).unwrap();
    assert_eq!((agent.mode(), agent.workspace().is_planning()), (Some("plan"), true));
    let mode = |agent: &Agent| agent.with_session(|session| session.context().unwrap().mode);
    assert_eq!(mode(&agent), "plan", "the session says so, too");
    agent.leave_mode().unwrap();
    assert_eq!((agent.mode(), agent.workspace().is_planning(), mode(&agent).as_str()), (None, false, "none"));
    agent.move_to(&said[1], false, None).unwrap();
    assert_eq!((agent.mode(), agent.workspace().is_planning()), (Some("plan"), true));
    assert!(matches!(agent.write_handoff(None), Err(HandoffError::Planning)));
}

#[test]
fn a_client_begins_and_ends_planning_between_two_answers() {
    let write = || ScriptedTurn::call("write", json!({"path": "a.txt", "content": "x\n"}));
    let scene = scene([write(), ScriptedTurn::text("I cannot."), write(), ScriptedTurn::text("Done.")]);
    let mut agent = agent(&scene);
    let handle = agent.handle();
    agent.workspace().set_group(Some("prompt-1".into()), Some("Go".into()));
    handle.request_mode(ModeRequest::Enter("plan".into()));
    assert_eq!(agent.prompt(&UserPrompt::text("Go")).answer, "I cannot.");
    assert!(!scene.root().join("a.txt").exists());
    handle.request_mode(ModeRequest::Leave);
    assert_eq!(agent.prompt(&UserPrompt::text("Go")).answer, "Done.");
    assert!(scene.root().join("a.txt").exists());
    assert!(matches!(agent.enter_mode("dream"), Err(AgentModeError::Unknown(_))));
    handle.request_mode(ModeRequest::Enter("dream".into()));
    let outcome = agent.prompt(&UserPrompt::text("Go"));
    assert_eq!(outcome.message.as_deref(), Some("there is no mode `dream`"), "what cannot hold ends the run");
    drop(agent);
    let mut reader = handle.read_events(0);
    let modes: Vec<String> = std::iter::from_fn(|| reader.next_event())
        .filter_map(|event| match &event.event {
            AgentEvent::ModeChanged { mode, .. } => Some(mode.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(modes, ["plan", "plan", "none"], "told when it begins, with each run, and when it ends");
}
