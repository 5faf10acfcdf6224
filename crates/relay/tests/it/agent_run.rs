//! `relay run` with the scripted model server as the model: answers, sessions, limits, failures, interruptions.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn, TurnDelay};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::fixture::scratch_project::Project;

/// Every wire, and where its paths begin on the server.
pub(crate) const WIRES: [(&str, &str); 5] = [
    ("anthropic-messages", ""),
    ("openai-completions", "/v1"),
    ("google-generative-ai", "/v1beta"),
    ("ollama", ""),
    ("openai-responses", "/v1"),
];

/// A user whose only model follows this script.
pub(crate) fn serving(
    (api, base): (&str, &str),
    turns: impl IntoIterator<Item = ScriptedTurn>,
) -> (ScriptedServer, Project) {
    let server = ScriptedServer::start(Script::any(turns));
    let project = Project::new(&[("a.txt", "one\ntwo\n")]);
    let file = format!(
        "providers:\n  work:\n    baseUrl: {}{base}\n    api: {api}\n    apiKey: sk-test-0123456789\n    models:\n      \
         - {{id: m1, contextWindow: 32000, maxTokens: 4000, cost: {{input: 3, output: 15}}}}\nroles: {{default: work/m1}}\n\
         retry: {{maxRetries: 1, baseDelayMs: 1, requestMaxRetries: 0, streamMaxRetries: 0}}\n",
        server.url()
    );
    fs::write(project.home().join("models.yml"), file).unwrap();
    (server, project)
}

pub(crate) fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_prompt_is_answered_on_every_wire_and_the_session_goes_on() {
    for wire in WIRES {
        let (server, project) =
            serving(wire, [ScriptedTurn::text("It says two."), ScriptedTurn::text("Still two.")]);
        let ran = project.relay(&["run", "What does a.txt say?", "@a.txt"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "It says two.\n"), "{wire:?}: {ran:?}");
        let body = server.requests()[0].body.to_string();
        assert!(body.contains("What does a.txt say?") && body.contains("one\\ntwo"), "{body}");
        let ran = project.relay(&["run", "--continue", "And now?"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Still two.\n"), "{wire:?}: {ran:?}");
        let body = server.requests()[1].body.to_string();
        assert!(body.contains("It says two.") && body.contains("And now?"), "{body}");
    }
}

#[test]
fn events_are_lines_of_json_and_the_result_is_the_last() {
    let (_server, project) =
        serving(WIRES[0], [ScriptedTurn::call("nothing", json!({})), ScriptedTurn::text("Done.")]);
    let ran = project.relay(&["run", "--json", "Go"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines = lines(&ran.out);
    let (result, events) = lines.split_last().unwrap();
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    assert_eq!((&events[0]["type"], &result["type"]), (&json!("agent_start"), &json!("result")));
    assert_eq!((&result["ok"], &result["answer"]), (&json!(true), &json!("Done.")));
    assert_eq!(result["usage"]["turns"], 2);
}

#[test]
fn stdin_goes_along_or_is_the_prompt() {
    let (server, project) = serving(WIRES[1], [ScriptedTurn::text("ok").repeat(2)]);
    let ran = project.pipe(&["run", "Explain"], b"the log says no");
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = project.pipe(&["run", "-"], b"Explain everything");
    assert_eq!(ran.code, 0, "{ran:?}");
    let bodies: Vec<String> = server.requests().iter().map(|request| request.body.to_string()).collect();
    assert!(
        bodies[0].contains("Explain") && bodies[0].contains("<stdin>\\nthe log says no\\n</stdin>"),
        "{}",
        bodies[0]
    );
    assert!(bodies[1].contains("Explain everything") && !bodies[1].contains("<stdin>"), "{}", bodies[1]);
}

#[test]
fn instructions_of_user_and_project_are_in_the_prompt() {
    let (server, project) = serving(WIRES[0], [ScriptedTurn::text("ok")]);
    project.put("AGENTS.md", b"Tabs, please.");
    fs::write(project.home().join("AGENTS.md"), "I like it short.").unwrap();
    assert_eq!(project.relay(&["run", "Go"]).code, 0);
    let system = server.requests()[0].body["system"].to_string();
    assert!(system.find("I like it short.").unwrap() < system.find("Tabs, please.").unwrap(), "{system}");
}

#[test]
fn a_failure_ends_with_its_code() {
    for (turn, code) in [
        (ScriptedTurn::status(401), 10),
        (ScriptedTurn::status(500).repeat(2), 10),
        (ScriptedTurn::text("half").with(|turn| turn.truncate = true).repeat(2), 11),
    ] {
        let (_server, project) = serving(WIRES[1], [turn]);
        let ran = project.relay(&["run", "Go"]);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{ran:?}");
    }
    let (_server, project) = serving(WIRES[0], [ScriptedTurn::call("x", json!({})).repeat(9)]);
    let ran = project.relay(&["run", "--max-turns", "2", "Go"]);
    assert_eq!(ran.code, 11, "{ran:?}");
    assert!(ran.err.contains("the model has answered 2 times; that is the limit"), "{ran:?}");
}

#[test]
fn a_signal_ends_the_run_and_the_session_goes_on() {
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let hangs =
            ScriptedTurn::text("one two three").with(|turn| turn.hang_s = Some(TurnDelay::Forever(true)));
        let (server, project) = serving(WIRES[0], [hangs, ScriptedTurn::text("Going on.")]);
        let mut child = project
            .command(&["run", "Go"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        assert!(server.wait_within(Duration::from_secs(60), |requests| !requests.is_empty()));
        kill_process(Pid::from_child(&child), signal).unwrap();
        let status = child.wait().unwrap();
        if signal != Signal::KILL {
            assert_eq!(status.code(), Some(130), "{signal:?}");
        }
        let ran = project.relay(&["run", "--continue", "Go on"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Going on.\n"), "{signal:?}: {ran:?}");
    }
}

#[test]
fn what_a_prompt_changes_is_one_entry_and_undo_takes_it_back_and_the_model_hears_of_it() {
    let (server, project) = serving(
        WIRES[0],
        [
            ScriptedTurn::call("read", json!({"path": "a.txt"})),
            ScriptedTurn::call("write", json!({"path": "a.txt", "content": "one\nthree\n"}))
                .tool("write", json!({"path": "sub/b.txt", "content": "new\n"})),
            ScriptedTurn::text("Wrote both."),
            ScriptedTurn::text("I see."),
        ],
    );
    let before = project.tree();
    let ran = project.relay(&["run", "Say three instead of two\n\nin every file"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Wrote both.\n"), "{ran:?}");
    assert_eq!(
        (project.text("a.txt").as_str(), project.text("sub/b.txt").as_str()),
        ("one\nthree\n", "new\n")
    );
    let log = project.done(&["log"]);
    assert_eq!(log.matches("Say three instead of two").count(), 1, "{log}");
    assert!(log.contains("agent"), "{log}");
    project.done(&["undo"]);
    assert_eq!(project.tree(), before);
    let ran = project.relay(&["run", "--continue", "What now?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "I see.\n"), "{ran:?}");
    let body = server.requests()[3].body.to_string();
    assert!(body.contains("the user took back all changes that you made for the prompt"), "{body}");
    assert!(body.find("took back").unwrap() < body.find("What now?").unwrap(), "{body}");
}

#[test]
fn what_the_model_took_back_itself_is_part_of_its_prompt_and_no_news_to_it() {
    let write = |path: &str, content: &str| json!({"path": path, "content": content});
    let (server, project) = serving(
        WIRES[0],
        [
            ScriptedTurn::call("write", write("a.txt", "kept\n")),
            ScriptedTurn::call("checkpoint", json!({"goal": "Try"})),
            ScriptedTurn::call("write", write("a.txt", "tried\n")).tool("write", write("b.txt", "tried\n")),
            ScriptedTurn::call("rewind", json!({"report": "No good."})),
            ScriptedTurn::text("Kept it."),
            ScriptedTurn::text("Yes."),
            ScriptedTurn::text("I see."),
        ],
    );
    fs::write(project.home().join("config.yml"), "agent: {checkpoint: true}\n").unwrap();
    let before = project.tree();
    let ran = project.relay(&["run", "Try it"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Kept it.\n"), "{ran:?}");
    assert_eq!(project.text("a.txt"), "kept\n");
    assert!(!project.path("b.txt").exists());
    assert_eq!(project.log().len(), 1, "{:?}", project.log());
    assert_eq!(project.relay(&["run", "--continue", "Is it?"]).code, 0);
    let body = server.requests()[5].body.to_string();
    assert!(!body.contains("the user took back") && body.contains("No good."), "{body}");
    project.done(&["undo"]);
    assert_eq!(project.tree(), before);
    assert_eq!(project.relay(&["run", "--continue", "And now?"]).code, 0);
    let body = server.requests()[6].body.to_string();
    assert!(body.contains("the user took back all changes"), "{body}");
    project.done(&["redo"]);
    assert_eq!(project.text("a.txt"), "kept\n");
    assert!(!project.path("b.txt").exists());
}

#[test]
fn a_new_session_is_named_after_its_prompt_unless_the_user_wants_no_names() {
    for (config, title) in [("", json!("Where is it?")), ("agent: {titles: off}\n", Value::Null)] {
        let (_server, project) = serving(WIRES[0], [ScriptedTurn::text("There.")]);
        fs::write(project.home().join("config.yml"), config).unwrap();
        assert_eq!(project.relay(&["run", "## Where is it?\nI mean the key."]).code, 0);
        let file = session_files(&project).remove(0);
        let header: Value = serde_json::from_str(file.lines().next().unwrap()).unwrap();
        assert_eq!(header["title"], title, "{config}");
    }
}

#[test]
fn the_model_for_small_tasks_is_asked_for_a_name_while_the_other_works() {
    let server = ScriptedServer::start(Script::matching([
        ScriptedTurn::text("Where the key is").with(|turn| turn.expect = Some("m-small".into())),
        ScriptedTurn::call("bash", json!({"command": "until [ -e asked ]; do :; done", "async": false})),
        ScriptedTurn::text("There."),
    ]));
    let project = Project::new(&[("a.txt", "one\n")]);
    let models = format!(
        "providers:\n  work:\n    baseUrl: {}\n    api: anthropic-messages\n    apiKey: sk-test-0123456789\n    models:\n      \
         - {{id: m1, contextWindow: 32000, maxTokens: 4000}}\n      - {{id: m-small, contextWindow: 32000, maxTokens: 4000}}\n\
         roles: {{default: work/m1, smol: work/m-small}}\n",
        server.url()
    );
    fs::write(project.home().join("models.yml"), models).unwrap();
    let ran = std::thread::scope(|scope| {
        let run = scope.spawn(|| project.relay(&["run", "Where is the key?", "--access", "full"]));
        let is_asked =
            |body: &Value| body["model"] == "m-small" && body.to_string().contains("Where is the key?");
        server.wait_for(|requests| requests.iter().any(|request| is_asked(&request.body)));
        project.put("asked", b"");
        run.join().unwrap()
    });
    assert_eq!((ran.code, ran.out.as_str()), (0, "There.\n"), "{ran:?}");
    let header: Value = serde_json::from_str(session_files(&project)[0].lines().next().unwrap()).unwrap();
    assert!(["Where the key is", "Where is the key?"].contains(&header["title"].as_str().unwrap()));
}

/// The texts of the session files.
fn session_files(project: &Project) -> Vec<String> {
    let mut folders = vec![project.home().join("sessions")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "jsonl") {
                files.push(fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}
