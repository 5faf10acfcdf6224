//! Titles of sessions: by the first line of the prompt, by a small model, and never in the way of an answer.

use relaycode_agent::{AgentEvent, EndReason, UserPrompt};
use relaycode_llm::Message;
use relaycode_llm::message::UserMessage;
use relaycode_session::format::header::TitleSource;
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn, TurnDelay};

use crate::fixture::Scene;

fn titled(turns: impl IntoIterator<Item = ScriptedTurn>, title_turns: Vec<ScriptedTurn>) -> Scene {
    let server = ScriptedServer::start(Script::any(title_turns));
    Scene { title_server: Some(server), ..Scene::new(turns) }
}

fn title(scene: &Scene) -> Option<String> {
    scene.read_session().header().title.clone()
}

#[test]
fn without_a_small_model_the_first_line_of_the_prompt_is_the_title() {
    let scene = Scene::new([ScriptedTurn::text("Yes."), ScriptedTurn::text("No.")]);
    let (_, events) = scene.run("# Is this right?\nLook at a.rs");
    assert_eq!(title(&scene).as_deref(), Some("Is this right?"));
    assert_eq!(scene.read_session().header().title_source, Some(TitleSource::Auto));
    assert!(events.contains(&AgentEvent::SessionTitled { title: "Is this right?".into() }));
    let (_, events) = scene.run("And that?");
    assert_eq!(title(&scene).as_deref(), Some("Is this right?"), "the first prompt counts");
    assert!(!events.iter().any(|event| matches!(event, AgentEvent::SessionTitled { .. })));
}

#[test]
fn a_session_without_an_answer_has_no_title() {
    let scene = Scene::new([ScriptedTurn::default().with(|turn| turn.status = Some(400))]);
    assert_eq!(scene.run("Go").0.reason, EndReason::ModelFailed);
    assert_eq!(title(&scene), None);
}

#[test]
fn the_small_model_names_the_session_and_reads_the_prompt_alone() {
    let scene = titled(
        [ScriptedTurn::text("one"), ScriptedTurn::text("two").repeat(500)],
        vec![ScriptedTurn::text("\"Retry with backoff\"\n")],
    );
    let mut agent = scene.agent();
    agent.prompt(&UserPrompt::text("Add retry with backoff to the client, please"));
    // When its answer comes is nobody's promise: it counts with a later turn.
    let mut prompts = 0;
    while title(&scene).as_deref() != Some("Retry with backoff") {
        scene.title_server.as_ref().unwrap().wait_for(|requests| requests.len() == 1);
        assert_eq!(agent.prompt(&UserPrompt::text("And?")).reason, EndReason::Done);
        prompts += 1;
        assert!(prompts < 500, "{:?}", title(&scene));
    }
    let requests = scene.title_server.as_ref().unwrap().requests();
    assert_eq!(requests.len(), 1);
    let body = requests[0].body.to_string();
    assert!(
        body.contains("Add retry with backoff to the client, please") && !body.contains("Be brief"),
        "{body}"
    );
}

#[test]
fn a_small_model_that_fails_or_says_nothing_leaves_the_first_title() {
    for bad in [
        ScriptedTurn::default().with(|turn| turn.status = Some(500)),
        ScriptedTurn::text(""),
        ScriptedTurn::text("cut off").with(|turn| turn.truncate = true),
        ScriptedTurn::pieces(["never", "done"]).with(|turn| turn.hang_s = Some(TurnDelay::Forever(true))),
    ] {
        let scene = titled([ScriptedTurn::text("one")], vec![bad.repeat(20)]);
        assert_eq!(scene.run("Go on").0.reason, EndReason::Done);
        assert_eq!(title(&scene).as_deref(), Some("Go on"));
    }
}

#[test]
fn a_title_of_the_users_is_never_changed() {
    let scene = Scene::new([ScriptedTurn::text("one")]);
    let mut session = scene.session();
    session.append_message(&Message::User(UserMessage::text("Before", 0))).unwrap();
    session.set_title("Mine", TitleSource::User).unwrap();
    session.flush().unwrap();
    drop(session);
    scene.run("Go");
    assert_eq!(title(&scene).as_deref(), Some("Mine"));
}
