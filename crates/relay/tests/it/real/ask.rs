//! `relay ask`: every friend answers, piece by piece where that is wanted, and changes nothing; of several each for
//! itself.

use relaycode_testkit::model::ScriptedTurn;
use relaycode_testkit::screen::{TestScreen, on_terminal};
use serde_json::Value;

use super::fixture::{LONG, Stage, all, each, programs};

#[test]
fn every_friend_answers_and_streams() {
    each(all(), |stage| {
        let name = stage.name;
        stage.says([ScriptedTurn::text("It is a heron.")]);
        let ran = stage.run(&["ask", "Which bird is it?", "--to", name]).ends(name, 0);
        assert_eq!(ran.out, "It is a heron.\n", "{name}: {ran:#?}");

        let pieces = ["It is ", "a heron, ", "I ", "think."];
        stage.says([ScriptedTurn::pieces(pieces).with(|turn| turn.chunk_delay_ms = 300)]);
        let words = ["ask", "Which bird is it?", "--to", name, "--stream", "--json"];
        let ran = stage.run(&words).ends(name, 0);
        let events = ran.events();
        let texts: Vec<&str> = events
            .iter()
            .filter(|event| event["event"] == "text")
            .filter_map(|event| event["text"].as_str())
            .collect();
        assert!(texts.len() >= 2, "{name}: {ran:#?}");
        assert_eq!(texts.concat(), pieces.concat(), "{name}");
        assert!(events.last().is_some_and(|last| last["event"] == Value::Null), "{name}: the end comes last");
        let answer = &ran.json()["answers"][0];
        assert_eq!((&answer["text"], &answer["friend"]), (&pieces.concat().into(), &name.into()), "{ran:#?}");
        println!("{name}: {} events of text, {:?}", texts.len(), ran.took);
    });
}

#[test]
fn every_friend_is_declined_what_it_wants_to_write() {
    each(programs(), |stage| {
        let name = stage.name;
        stage.says(stage.tries_to_write());
        stage.says([ScriptedTurn::text("I could not.")]);
        let before = stage.tree();
        let ran = stage.run(&["ask", "Change everything.", "--to", name, "--json"]).ends(name, 0);
        assert_eq!(stage.tree(), before, "{name}: {ran:#?}");
        assert_eq!(stage.server.turns_left(), 0, "{name} tried all of it");
        let object = ran.json();
        assert_eq!(
            (&object["changed"], &object["unchecked"]),
            (&Value::Array(Vec::new()), &Value::Null),
            "{name}"
        );
        let answer = &object["answers"][0];
        assert_eq!(answer["text"], "I could not.", "{name}: {ran:#?}");
        let declined = answer["declined"].as_array().unwrap();
        assert!(
            declined.iter().any(|one| one["what"].as_str().unwrap().contains("new.txt")),
            "{name}: {declined:?}"
        );
        // Commands run in codex's own sandbox, which says no by itself; the others ask.
        let commands = declined.iter().filter(|one| one["kind"] == "command").count();
        assert!(commands == 1 || name == "codex", "{name}: {declined:?}");
        println!("{name}: {} declined, {:?}", declined.len(), ran.took);
    });
}

#[test]
fn two_friends_answer_side_by_side_or_below_each_other_and_one_that_fails_takes_nothing_from_the_other() {
    let Some(mut stage) = Stage::of("codex") else { return };
    let Some(claude) = stage.with("claude") else { return };
    let words = ["ask", "Which bird is it?", "--to", "codex,claude"];
    let say = || {
        stage.says([ScriptedTurn::text("A heron.").with(|turn| turn.delay_ms = 300)]);
        claude.push(&ScriptedTurn::text("A stork."));
    };
    say();
    let ran = stage.run(&words).ends("both", 0);
    let (heron, stork) = (ran.out.find("A heron.").unwrap(), ran.out.find("A stork.").unwrap());
    assert!(ran.out.starts_with("codex") && heron < stork, "{ran:#?}");

    say();
    let mut command = on_terminal(env!("CARGO_BIN_EXE_relay"));
    command.args(words);
    stage.surround(&mut command);
    command.env("TERM", "xterm-256color");
    let mut screen = TestScreen::start(command, 140, 24);
    screen.wait_for(|screen| screen.scrollback_text().contains("A stork."), LONG);
    let text = screen.scrollback_text();
    assert!(text.lines().any(|line| line.contains("A heron.") && line.ends_with("│ A stork.")), "{text}");
    assert!(screen.wait_exit().success());

    stage.says([ScriptedTurn::text("A heron.")]);
    claude.push(&ScriptedTurn::status(400).repeat(9));
    let ran = stage.run(&words).ends("one of both", 10);
    assert!(ran.out.contains("A heron.") && ran.err.contains("claude"), "{ran:#?}");
}
