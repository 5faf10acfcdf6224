//! Real agents against the scripted model server. What they accept is faithful, on the wires that they
//! speak: Anthropic Messages (claude), OpenAI Responses (codex), Google Generative AI (gemini) and chat
//! completions (opencode, pi).

use std::time::Duration;

use relaycode_testkit::agents::{ALL, AgentNotInstalled, AgentRun, AgentScratch, MissingFeature, RealAgent};
use relaycode_testkit::model::{RecordedRequest, Script, ScriptedServer, ScriptedTurn};

/// Printed by a command of the script; a request that contains it proves that the command ran.
const RESULT: &str = "result-42";

/// Does not contain the result itself.
const COMMAND: &str = "printf 'result-%s' 42";

/// Runs the turns with every agent; reports missing ones by name.
fn with_every_agent(
    script: impl Fn(&dyn RealAgent) -> Vec<ScriptedTurn>,
    check: impl Fn(&dyn RealAgent, &AgentRun, &[RecordedRequest]),
) {
    for agent in ALL {
        let server = ScriptedServer::start(Script::new(script(*agent)));
        let scratch = AgentScratch::new();
        match scratch.run(*agent, &server, "Look at it, please.\n") {
            Err(absent) => AgentNotInstalled::skip(&absent),
            Ok(ran) => {
                let turns = server.turns();
                check(*agent, &ran, &turns);
                assert_eq!(ran.code, Some(0), "{}: {ran:#?}", agent.name());
                assert_eq!(scratch.left_running(), [], "{} left processes", agent.name());
                assert!(turns.iter().all(|request| request.header("user-agent").is_some()));
            }
        }
    }
}

/// The agent's answer, or everything known about why there is none.
fn answer(agent: &dyn RealAgent, ran: &AgentRun) -> String {
    agent.answer(&ran.events).unwrap_or_else(|| panic!("{} gave no answer: {ran:#?}", agent.name()))
}

#[test]
fn agents_print_a_plain_answer() {
    with_every_agent(
        |_| vec![ScriptedTurn::text("It is a plain answer.")],
        |agent, ran, turns| {
            assert_eq!(answer(agent, ran), "It is a plain answer.", "{}", agent.name());
            assert_eq!(turns.len(), 1, "{}", agent.name());
        },
    );
}

#[test]
fn agents_run_the_command_that_is_asked_for_and_send_its_result_back() {
    with_every_agent(
        |agent| {
            vec![
                agent.shell_call_turn(ScriptedTurn::text("Let me look."), COMMAND),
                ScriptedTurn::text("It printed the number."),
            ]
        },
        |agent, ran, turns| {
            assert_eq!(answer(agent, ran), "It printed the number.", "{}", agent.name());
            let said = |request: &RecordedRequest| request.body.to_string().contains(RESULT);
            assert_eq!(turns.iter().map(said).collect::<Vec<_>>(), [false, true], "{}", agent.name());
        },
    );
}

#[test]
fn agents_wait_and_try_again_when_there_were_too_many_requests() {
    with_every_agent(
        |_| {
            vec![
                ScriptedTurn::status(429).header("retry-after", "1"),
                ScriptedTurn::text("There was room at last."),
            ]
        },
        |agent, ran, turns| {
            assert_eq!(answer(agent, ran), "There was room at last.", "{}", agent.name());
            assert_eq!(
                turns.iter().map(|request| request.status).collect::<Vec<_>>(),
                [429, 200],
                "{}",
                agent.name()
            );
            let waited = turns[1].at.saturating_sub(turns[0].at);
            assert!(waited >= Duration::from_millis(900), "{} waited {waited:?}", agent.name());
        },
    );
}

#[test]
fn agents_accept_thinking_and_send_it_back_with_its_signature() {
    let thinks = |turn: ScriptedTurn| {
        turn.reasoning("First I think about it.").signature("c2lnbmVkLWJ5LXRoZS1zY3JpcHQ=")
    };
    with_every_agent(
        |agent| {
            let looks = thinks(agent.shell_call_turn(ScriptedTurn::text("Let me look."), COMMAND));
            vec![looks, ScriptedTurn::text("Now I know.").reasoning("Then I think again.")]
        },
        |agent, ran, turns| {
            assert_eq!(answer(agent, ran), "Now I know.", "{}", agent.name());
            let does = |lack| !agent.missing_features().contains(&lack);
            let thought = agent.thought(&ran.events);
            let printed = thought.is_some_and(|thought| thought.contains("think"));
            assert_eq!(printed, does(MissingFeature::PrintsThoughts), "{}", agent.name());
            let second = turns[1].body.to_string();
            let returned = second.contains("First I think about it.");
            assert_eq!(returned, does(MissingFeature::ReturnsThoughts), "{}: {second}", agent.name());
            let signed = second.contains("c2lnbmVkLWJ5LXRoZS1zY3JpcHQ=");
            assert_eq!(signed, does(MissingFeature::ReturnsSignatures), "{}: {second}", agent.name());
        },
    );
}

#[test]
fn agents_understand_a_stream_in_any_pieces_and_try_again_after_a_broken_one() {
    let cut = ScriptedTurn::text("This is cut off.").with(|turn| turn.disconnect_after = Some(5));
    let asks_again =
        |agent: &dyn RealAgent| !agent.missing_features().contains(&MissingFeature::AsksAgainAfterCut);
    with_every_agent(
        |agent| {
            let split = agent
                .shell_call_turn(ScriptedTurn::text("Größer, 大きい, 🦀."), COMMAND)
                .with(|turn| turn.split = Some(7));
            let last = ScriptedTurn::text("Es ging: 🦀.").with(|turn| turn.split = Some(8));
            if asks_again(agent) { vec![split, cut.clone(), last] } else { vec![split, last] }
        },
        |agent, ran, turns| {
            assert_eq!(answer(agent, ran), "Es ging: 🦀.", "{}", agent.name());
            assert_eq!(turns.len(), if asks_again(agent) { 3 } else { 2 }, "{}", agent.name());
        },
    );
}
