//! `relay` without a command: a conversation at a terminal, and what it says where there is none, or no model.

use std::fs;

use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn, TurnDelay};
use serde_json::json;

use crate::agent_run::{WIRES, serving};
use crate::fixture::scratch_project::Project;
use crate::relay_snapshot;
use crate::terminal_questions::Session;

#[test]
fn words_come_as_they_are_said_and_a_change_is_undone() {
    let (server, project) = serving(
        WIRES[0],
        [
            ScriptedTurn::pieces(["I will ", "write", " it."])
                .tool("write", json!({"path": "a.txt", "content": "three\n"})),
            ScriptedTurn::text("It says three now."),
            ScriptedTurn::text("You took it back."),
        ],
    );
    let mut session = Session::start(&project, &[], "");
    session.wait_for("work/m1 · workspace · /help");
    session.wait_for("› ");
    session.type_in("Make a.txt say three\r");
    session.wait_for("I will write it.");
    session.wait_for("✓ write a.txt  +1 -2");
    session.wait_for("It says three now.");
    session.wait_for("1 edit +1 -2, ");
    session.wait_for("/undo takes it back");
    session.wait_for("› ");
    assert_eq!(project.text("a.txt"), "three\n");
    session.type_in("/undo\r");
    session.wait_for("undone: Make a.txt say three");
    session.wait_for("› ");
    assert_eq!(project.text("a.txt"), "one\ntwo\n");
    session.type_in("What now?\r");
    session.wait_for("You took it back.");
    session.wait_for("› ");
    session.type_in("/quit\r");
    session.wait_for("`relay run --resume ");
    assert_eq!(session.end().0, Some(0));
    let last = server.requests()[2].body.to_string();
    assert!(last.contains("took back all changes that you made"), "{last}");
    assert!(last.contains("It says three now.") && last.contains("What now?"), "{last}");
}

#[test]
fn the_first_interrupt_ends_the_turn_and_the_second_leaves() {
    let hangs =
        ScriptedTurn::text("one two three ").with(|turn| turn.hang_s = Some(TurnDelay::Forever(true)));
    let (_server, project) = serving(WIRES[1], [hangs, ScriptedTurn::text("Still here.")]);
    let mut session = Session::start(&project, &[], "");
    session.wait_for("› ");
    session.type_in("Go\r");
    session.wait_for("one ");
    session.type_in("\x03");
    session.wait_for("stopped; what was finished stays");
    session.wait_for("› ");
    session.type_in("And now?\r");
    session.wait_for("Still here.");
    session.wait_for("› ");
    session.type_in("\x03");
    session.wait_for("`relay run --resume ");
    assert_eq!(session.end().0, Some(0));
}

#[test]
fn a_question_of_the_models_is_answered_at_the_terminal() {
    let question = json!({"questions": [{"id": "c", "question": "Which colour?", "recommended": 1,
        "options": [{"label": "red"}, {"label": "blue"}]}]});
    let (server, project) = serving(
        WIRES[0],
        [
            ScriptedTurn::call("ask", question.clone()),
            ScriptedTurn::call("ask", question),
            ScriptedTurn::text("Fine."),
        ],
    );
    let mut session = Session::start(&project, &["run"], "");
    session.wait_for("› ");
    session.type_in("Paint it\r");
    session.wait_for("Which colour?");
    session.wait_for("2 blue (Recommended)");
    session.wait_for("3 Other (type your own)");
    session.wait_for("number> ");
    session.type_in("1\r");
    session.wait_for("number> ");
    session.type_in("3\r");
    session.wait_for("> ");
    session.type_in("green\r");
    session.wait_for("Fine.");
    session.wait_for("› ");
    session.type_in("\x04");
    assert_eq!(session.end().0, Some(0));
    let bodies: Vec<String> = server.requests().iter().map(|request| request.body.to_string()).collect();
    assert!(bodies[1].contains("User selected: red"), "{}", bodies[1]);
    assert!(bodies[2].contains("User provided custom input: green"), "{}", bodies[2]);
}

#[test]
fn commands_are_understood_and_a_failure_is_no_end() {
    let (server, project) = serving(WIRES[0], [ScriptedTurn::status(400), ScriptedTurn::text("Seen.")]);
    let mut session = Session::start(&project, &[], "");
    session.wait_for("› ");
    session.type_in("/help\r");
    session.wait_for("/model [MODEL]");
    session.wait_for("› ");
    session.type_in("/model\r");
    session.wait_for("work/m1, thinking off");
    session.wait_for("› ");
    session.type_in("/model nobody/nothing\r");
    session.wait_for("✗ ");
    session.wait_for("› ");
    session.type_in("/burn\r");
    session.wait_for("there is no command `/burn`");
    session.wait_for("› ");
    session.type_in("/undo\r");
    session.wait_for("✗ ");
    session.wait_for("› ");
    session.type_in("Hello\r");
    session.wait_for("✗ ");
    session.wait_for("› ");
    // A paste is part of what is said, and a word with @ brings its file.
    session.type_in("\x1b[200~look at @a.txt\nand @nothing\x1b[201~");
    session.wait_for("and @nothing");
    session.type_in("\r");
    session.wait_for("Seen.");
    session.wait_for("› ");
    session.type_in("/quit\r");
    assert_eq!(session.end().0, Some(0));
    let sent = server.requests().last().unwrap().body.to_string();
    assert!(sent.contains("look at @a.txt\\nand @nothing") && sent.contains("one\\ntwo"), "{sent}");
}

#[test]
fn without_a_terminal_it_says_what_to_do() {
    let project = Project::new(&[]);
    relay_snapshot!(project.relay(&[]), @"
    exit 2
    ----- stderr -----
    ✗ a conversation needs a terminal, and there is none here; nothing was changed
      `relay run PROMPT` works on one prompt; `relay --help` lists the commands
    ");
    relay_snapshot!(project.relay(&["run"]), @"
    exit 2
    ----- stderr -----
    ✗ a conversation needs a terminal, and there is none here; nothing was changed
      `relay run PROMPT` works on one prompt; `relay --help` lists the commands
    ");
    assert!(project.listing().is_empty());
}

#[test]
fn without_a_model_it_names_three_ways() {
    let project = Project::new(&[]);
    let mut session = Session::start(&project, &[], "");
    session.wait_for("✗ there is no model yet");
    let (code, seen) = session.end();
    assert_eq!(code, Some(2));
    for way in ["relay keys set anthropic", "Ollama, llama.cpp and LM Studio", "relay friends"] {
        assert!(seen.contains(way), "{way}: {seen}");
    }
}

#[test]
fn a_server_on_this_machine_is_found_by_itself() {
    let server = ScriptedServer::start(Script::any([ScriptedTurn::text("From here.")]).models(["qwen3:8b"]));
    let project = Project::new(&[]);
    fs::create_dir_all(project.home()).unwrap();
    let host = server.address().to_string();
    let mut session = Session::start_with(&project, &[], "", &|command| {
        command.env("OLLAMA_HOST", &host);
    });
    session.wait_for("ollama/qwen3:8b");
    session.wait_for("› ");
    session.type_in("Hello\r");
    session.wait_for("From here.");
    session.wait_for("› ");
    session.type_in("/quit\r");
    assert_eq!(session.end().0, Some(0));
}
