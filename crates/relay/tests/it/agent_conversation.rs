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
    // A paste is part of what is said, and a typed word with @ brings its file.
    session.type_in("@a.txt");
    session.wait_for("@a.txt");
    session.type_in("\x1b[200~ look\nthere\x1b[201~");
    session.wait_for("there");
    session.type_in("\r");
    session.wait_for("+ a.txt");
    session.wait_for("Seen.");
    session.wait_for("› ");
    session.type_in("/quit\r");
    assert_eq!(session.end().0, Some(0));
    let sent = server.requests().last().unwrap().body.to_string();
    assert!(sent.contains("@a.txt look\\nthere") && sent.contains("one\\ntwo"), "{sent}");
}

#[test]
fn a_pasted_word_brings_no_file_and_nothing_outside_comes_along() {
    let (server, project) = serving(WIRES[0], [ScriptedTurn::text("Seen."), ScriptedTurn::text("Again.")]);
    project.put("key.txt", b"sk-pasted");
    fs::write(project.path("../outside.txt"), "sk-outside").unwrap();
    let mut session = Session::start(&project, &[], "");
    session.wait_for("› ");
    session.type_in("\x1b[200~look at @key.txt and @../outside.txt\x1b[201~");
    session.wait_for("outside.txt");
    session.type_in("\r");
    session.wait_for("Seen.");
    session.wait_for("› ");
    session.type_in("@../outside.txt @typo.txt\r");
    session.wait_for("! @../outside.txt is sent as a word: ");
    session.wait_for("! @typo.txt is sent as a word: there is no such file");
    session.wait_for("Again.");
    session.wait_for("› ");
    session.type_in("\x04");
    assert_eq!(session.end().0, Some(0));
    let sent = server.requests().last().unwrap().body.to_string();
    assert!(sent.contains("look at @key.txt") && !sent.contains("sk-"), "{sent}");
}

#[test]
fn a_line_that_is_given_up_is_no_end_and_a_blank_makes_a_command_words() {
    let (server, project) = serving(WIRES[0], [ScriptedTurn::text("Said so.")]);
    let mut session = Session::start(&project, &[], "");
    session.wait_for("› ");
    session.type_in("half a line\x04");
    session.wait_for("half a line");
    session.type_in("\x03");
    session.wait_for("› ");
    session.type_in(" /undo is what I type\r");
    session.wait_for("Said so.");
    session.wait_for("› ");
    session.type_in("\x03");
    assert_eq!(session.end().0, Some(0));
    let sent = server.requests()[0].body.to_string();
    assert!(sent.contains("/undo is what I type") && !sent.contains("half a line"), "{sent}");
}

#[test]
fn what_is_typed_while_the_agent_works_waits_in_the_line() {
    let slow = ScriptedTurn::pieces(["one ", "two ", "three"])
        .with(|turn| turn.hang_s = Some(TurnDelay::Seconds(1.0)));
    let (server, project) = serving(WIRES[1], [slow, ScriptedTurn::text("Next.")]);
    let mut session = Session::start(&project, &[], "");
    session.wait_for("› ");
    session.type_in("Go\r");
    session.wait_for("one ");
    session.type_in("and then @a.txt\r");
    session.wait_for("› and then @a.txt");
    session.type_in("!\r");
    session.wait_for("Next.");
    session.wait_for("› ");
    session.type_in("\x04");
    assert_eq!(session.end().0, Some(0));
    let sent = server.requests()[1].body.to_string();
    assert!(sent.contains("and then @a.txt !") && !sent.contains("one\\ntwo"), "{sent}");
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

#[test]
fn a_goal_is_set_and_worked_on_until_it_is_shown_to_be_reached() {
    let complete = json!({"op": "complete", "evidence": "a.txt says two"});
    let (server, project) = serving(
        WIRES[0],
        [
            ScriptedTurn::text("I will look later."),
            ScriptedTurn::call("goal", complete),
            ScriptedTurn::text("It says two."),
            ScriptedTurn::text("Hello."),
        ],
    );
    let mut session = Session::start(&project, &[], "");
    session.wait_for("› ");
    session.type_in("/goal\r");
    session.wait_for("there is no goal");
    session.wait_for("› ");
    session.type_in("/goal Find out what a.txt says\r");
    session.wait_for("I will look later.");
    session.wait_for("the goal is not reached: the agent goes on (1 of 20)");
    session.wait_for("goal: Find out what a.txt says  complete");
    session.wait_for("It says two.");
    session.wait_for("› ");
    session.type_in("/goal pause\r");
    session.wait_for("the goal is over: it is complete");
    session.wait_for("› ");
    session.type_in("/quit\r");
    assert_eq!(session.end().0, Some(0));
    assert!(server.requests()[0].body.to_string().contains("the user set you a goal"));
}

#[test]
fn a_question_rings_unless_the_user_wants_quiet() {
    for (config, rings) in [("", true), ("agent: {askNotify: false}\n", false)] {
        let question =
            json!({"questions": [{"id": "c", "question": "Which colour?", "options": [{"label": "red"}]}]});
        let (_server, project) =
            serving(WIRES[0], [ScriptedTurn::call("ask", question), ScriptedTurn::text("Fine.")]);
        fs::write(project.home().join("config.yml"), config).unwrap();
        let mut session = Session::start(&project, &[], "");
        session.wait_for("› ");
        session.type_in("Paint it\r");
        session.wait_for("number> ");
        assert_eq!(session.seen().contains('\x07'), rings, "{:?}", session.seen());
        session.type_in("1\r");
        session.wait_for("Fine.");
        session.wait_for("› ");
        session.type_in("\x04");
        assert_eq!(session.end().0, Some(0));
    }
}

#[test]
fn a_job_that_ends_while_nobody_types_is_told_at_once_and_the_model_hears_it_with_the_next_prompt() {
    let (server, project) = serving(
        WIRES[0],
        [
            ScriptedTurn::call(
                "bash",
                json!({"command": "while [ ! -e go ]; do sleep 0.02; done; echo the end", "async": true}),
            ),
            ScriptedTurn::text("It builds."),
            ScriptedTurn::text("I heard."),
        ],
    );
    let mut session = Session::start(&project, &["run", "--access", "full"], "");
    session.wait_for("› ");
    session.type_in("Build\r");
    session.wait_for("It builds.");
    session.wait_for("› ");
    fs::write(project.path("go"), "").unwrap();
    session.wait_for("✓ bash-1 completed, ");
    session.wait_for("› ");
    session.type_in("And?\r");
    session.wait_for("I heard.");
    session.wait_for("› ");
    session.type_in("/quit\r");
    let (code, seen) = session.end();
    assert_eq!((code, seen.matches("bash-1 completed").count()), (Some(0), 1), "{seen}");
    assert!(server.requests()[2].body.to_string().contains("the background job bash-1 ended: completed"));
}

#[test]
fn an_undo_ends_what_still_runs_if_the_user_says_so_and_takes_all_of_it_back_once() {
    let (server, project) = serving(
        WIRES[0],
        [
            ScriptedTurn::call("write", json!({"path": "a.txt", "content": "three\n"})),
            ScriptedTurn::call(
                "bash",
                json!({"command": "echo begun > by-job.txt; sleep 887041", "async": true}),
            ),
            ScriptedTurn::text("It runs."),
            ScriptedTurn::text("I heard."),
        ],
    );
    let before = project.tree();
    let mut session = Session::start(&project, &["run", "--access", "full"], "");
    session.wait_for("› ");
    session.type_in("Serve\r");
    session.wait_for("It runs.");
    session.wait_for("› ");
    while !project.path("by-job.txt").exists() {
        std::thread::yield_now();
    }
    session.type_in("/undo\r");
    session.wait_for("bash-1 (echo begun > by-job.txt; sleep 887041) still runs. End it and undo? [y/N] ");
    session.type_in("\r");
    session.wait_for("not undone: bash-1");
    session.wait_for("› ");
    assert_eq!(project.text("a.txt"), "three\n");
    session.type_in("/undo\r");
    session.wait_for("End it and undo? [y/N] ");
    session.type_in("y\r");
    session.wait_for("! bash-1 failed, ");
    session.wait_for("undone: Serve");
    session.wait_for("› ");
    assert_eq!(project.tree(), before);
    session.type_in("/undo\r");
    session.wait_for("nothing to undo");
    session.wait_for("› ");
    assert_eq!(project.tree(), before, "nothing comes back");
    session.type_in("And?\r");
    session.wait_for("I heard.");
    session.wait_for("› ");
    session.type_in("/quit\r");
    assert_eq!(session.end().0, Some(0));
    let told = server.requests()[3].body.to_string();
    assert!(
        told.contains("the background job bash-1 ended: failed") && told.contains("Command was stopped"),
        "{told}"
    );
}
