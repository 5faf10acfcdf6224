//! Real agents as relay finds them: by their names on the path, with settings in a home. Each is asked
//! once, with everything allowed, so that anything forbidden is relay's doing.

use std::fs;
use std::process::Command;

use relaycode_testkit::agents::{ALL, AgentNotInstalled, AgentRun, AgentScratch, RealAgent};
use relaycode_testkit::model::{RecordedRequest, Script, ScriptedServer, ScriptedTurn};
use relaycode_testkit::process::{GENEROUS_TIMEOUT, output};

/// Longer than one argument of a program may be.
const LARGE: usize = 180_000;

/// Runs every agent in a repository with one file; reports missing ones by name.
fn in_a_repository(
    prompt: &str,
    script: impl Fn(&dyn RealAgent) -> Vec<ScriptedTurn>,
    check: impl Fn(&str, &AgentScratch, &AgentRun, &[RecordedRequest]),
) {
    for agent in ALL {
        let server = ScriptedServer::start(Script::new(script(*agent)));
        let scratch = AgentScratch::new();
        let git = output(
            Command::new("git").args(["init", "-q"]).current_dir(scratch.project()),
            b"",
            GENEROUS_TIMEOUT,
        );
        assert!(git.unwrap().is_some(), "git init");
        fs::write(scratch.project().join("old.txt"), "one\ntwo\nthree\n").unwrap();
        let settled = scratch.install_agent(*agent, &server.url());
        let Ok(resident) = settled.inspect_err(AgentNotInstalled::skip) else { continue };
        // By its name: the path is part of the test.
        let mut shell = resident.command("/bin/sh");
        shell.args(["-c", "exec \"$0\" \"$@\"", agent.name()]).args(agent.arguments());
        let ran = scratch.run_command(&mut shell, prompt);
        assert_eq!(ran.code, Some(0), "{}: {ran:#?}", agent.name());
        assert!(agent.answer(&ran.events).is_some(), "{}: {ran:#?}", agent.name());
        check(agent.name(), &scratch, &ran, &server.turns());
        assert_eq!(scratch.left_running(), [], "{} left processes", agent.name());
        assert!(server.requests().iter().all(|request| request.status == 200), "{}", agent.name());
    }
}

#[test]
fn residents_write_change_and_run_what_the_script_says() {
    in_a_repository(
        "Write it, please.",
        |agent| {
            let mut turns =
                vec![agent.write_file_turn(ScriptedTurn::text("I write."), "src/new.txt", "eins\nzwei\n")];
            turns.extend(agent.replace_turns(ScriptedTurn::text("I change."), "old.txt", "two", "zwei"));
            turns.push(agent.shell_call_turn(ScriptedTurn::text("I run."), "echo ran > ran.txt"));
            turns.push(ScriptedTurn::text("It is done."));
            turns
        },
        |name, scratch, ran, _| {
            let has = |file: &str| fs::read_to_string(scratch.project().join(file)).unwrap_or_default();
            assert_eq!(has("src/new.txt"), "eins\nzwei\n", "{name}: {ran:#?}");
            assert_eq!(has("old.txt"), "one\nzwei\nthree\n", "{name}: {ran:#?}");
            assert_eq!(has("ran.txt"), "ran\n", "{name}: {ran:#?}");
        },
    );
}

#[test]
fn residents_take_a_prompt_larger_than_an_argument() {
    let line = "All of this is to be read, down to the last word.\n";
    let prompt = format!("{}The last word is heron.", line.repeat(LARGE / line.len()));
    in_a_repository(
        &prompt,
        |_| vec![ScriptedTurn::text("It is heron.")],
        |name, _, ran, turns| {
            assert_eq!(turns.len(), 1, "{name}: {ran:#?}");
            let body = turns[0].body.to_string();
            assert!(body.contains("The last word is heron."), "{name}");
            assert_eq!(body.matches("down to the last word.").count(), LARGE / line.len(), "{name}");
        },
    );
}
