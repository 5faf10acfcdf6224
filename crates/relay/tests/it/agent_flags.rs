//! Each option of `relay run` acts.

use std::fs;

use relaycode_testkit::model::{ScriptedTurn, TurnUsage};
use serde_json::{Value, json};

use crate::agent_run::{WIRES, lines, serving};

/// A text file with this schema: an object with a whole number `n`.
const SCHEMA: &str = r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}"#;

#[test]
fn output_schema_prints_the_value_alone() {
    let (server, project) = serving(WIRES[0], [ScriptedTurn::text("Here:\n```json\n{\"n\": 3}\n```")]);
    project.put("schema.json", SCHEMA.as_bytes());
    let ran = project.relay(&["run", "--output-schema", "schema.json", "Count"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "{\"n\":3}\n"), "{ran:?}");
    let body = server.requests()[0].body.to_string();
    assert!(
        body.contains("one JSON value that follows this JSON schema")
            && body.contains("additionalProperties")
    );
}

#[test]
fn output_schema_repairs_once() {
    let (server, project) =
        serving(WIRES[0], [ScriptedTurn::text("{\"n\": \"three\"}"), ScriptedTurn::text("{\"n\": 3}")]);
    project.put("schema.json", SCHEMA.as_bytes());
    let ran = project.relay(&["run", "--json", "--output-schema", "schema.json", "Count"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let result = lines(&ran.out).pop().unwrap();
    assert_eq!((&result["value"], &result["usage"]["turns"]), (&json!({"n": 3}), &json!(2)));
    assert!(server.requests()[1].body.to_string().contains("does not follow the JSON schema"));
}

#[test]
fn output_schema_that_is_missed_twice_is_no_answer() {
    let (server, project) = serving(WIRES[0], [ScriptedTurn::text("three").repeat(9)]);
    project.put("schema.json", SCHEMA.as_bytes());
    let ran = project.relay(&["run", "--output-schema", "schema.json", "Count"]);
    assert_eq!((ran.code, ran.out.as_str()), (11, ""), "{ran:?}");
    assert!(ran.err.contains("the answer does not follow the schema: there is no JSON in it"), "{ran:?}");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_schema_that_is_none_is_refused_before_anything_is_sent() {
    let (server, project) = serving(WIRES[0], []);
    project.put("schema.json", b"{\"type\": 7}");
    for file in ["schema.json", "missing.json", "."] {
        let ran = project.relay(&["run", "--output-schema", file, "Count"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{file}: {ran:?}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn model_thinking_tools_and_system_prompt_are_in_the_request() {
    let (server, project) = serving(WIRES[0], [ScriptedTurn::text("ok")]);
    let file = project.home().join("models.yml");
    let written = fs::read_to_string(&file).unwrap();
    let two = written.replace(
        "models:\n",
        "models:\n      - {id: m2, contextWindow: 32000, maxTokens: 4000, reasoning: true}\n",
    );
    fs::write(&file, two).unwrap();
    let ran = project.relay(&[
        "run",
        "--model",
        "work/m2",
        "--thinking",
        "high",
        "--tools",
        "read,todo_write",
        "--system-prompt",
        "Be a pirate.",
        "Go",
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let body = &server.requests()[0].body;
    let tools: Vec<&str> =
        body["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!((body["model"].as_str().unwrap(), tools), ("m2", vec!["read", "todo_write"]));
    assert!(
        body["system"].to_string().contains("Be a pirate.")
            && body["system"].to_string().contains("<environment>")
    );
    assert!(body.get("thinking").is_some(), "{body}");
    let ran = project.relay(&["run", "--tools", "burn", "Go"]);
    assert!(ran.code == 2 && ran.err.contains("the tools are read,"), "{ran:?}");
}

#[test]
fn which_tools_there_are_is_the_users_to_say() {
    let names = |config: &str| {
        let (server, project) = serving(WIRES[0], [ScriptedTurn::text("ok")]);
        fs::write(project.home().join("config.yml"), config).unwrap();
        assert_eq!(project.relay(&["run", "Go"]).code, 0);
        let body = server.requests()[0].body.clone();
        let tools = body["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    let usual = names("");
    assert!(usual.contains(&"todo_write".to_string()), "{usual:?}");
    // Nobody can be asked here.
    assert!(!usual.iter().any(|name| ["ask", "checkpoint", "rewind"].contains(&name.as_str())), "{usual:?}");
    let other = names("agent: {todo: false, checkpoint: true}");
    assert!(!other.contains(&"todo_write".to_string()), "{other:?}");
    assert!(other.ends_with(&["checkpoint".to_string(), "rewind".to_string()]), "{other:?}");
}

#[test]
fn access_read_only_changes_nothing() {
    let (server, project) = serving(
        WIRES[0],
        [ScriptedTurn::call("write", json!({"path": "a.txt", "content": "x"})), ScriptedTurn::text("I see.")],
    );
    let ran = project.relay(&["run", "--access", "read-only", "Go"]);
    assert_eq!((ran.code, project.text("a.txt").as_str()), (0, "one\ntwo\n"), "{ran:?}");
    assert!(server.requests()[1].body.to_string().contains("its access is read-only"));
}

#[test]
fn max_cost_ends_the_run_before_its_next_calls() {
    let usage = TurnUsage { input: 1_000_000, ..TurnUsage::default() };
    let turn = ScriptedTurn::call("write", json!({"path": "a.txt", "content": "x"})).usage(usage);
    let (server, project) = serving(WIRES[0], [turn.repeat(9)]);
    let ran = project.relay(&["run", "--max-cost", "2", "Go"]);
    assert_eq!(ran.code, 11, "{ran:?}");
    assert!(
        ran.err.contains("the prompt has cost $3.00, its limit is $2.00; 1 call was not carried out"),
        "{ran:?}"
    );
    assert_eq!((server.requests().len(), project.text("a.txt").as_str()), (1, "one\ntwo\n"));
}

#[test]
fn add_dir_can_be_read_and_not_written() {
    let beside = tempfile::tempdir().unwrap();
    let path = beside.path().canonicalize().unwrap();
    fs::write(path.join("b.txt"), "from beside\n").unwrap();
    let file = path.join("b.txt").display().to_string();
    let (server, project) = serving(
        WIRES[0],
        [
            ScriptedTurn::call("read", json!({"path": file}))
                .tool("write", json!({"path": file, "content": "x"})),
            ScriptedTurn::text("ok"),
        ],
    );
    let ran = project.relay(&["run", "--add-dir", &path.display().to_string(), "Go"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let body = server.requests()[1].body.to_string();
    assert!(body.contains("from beside") && body.contains("can be read but not changed"), "{body}");
    assert_eq!(fs::read_to_string(path.join("b.txt")).unwrap(), "from beside\n");
    let ran = project.relay(&["run", "--add-dir", &file, "Go"]);
    assert!(ran.code == 2 && ran.err.contains("cannot be entered"), "{ran:?}");
}

#[test]
fn an_image_goes_along_as_one() {
    let (server, project) = serving(WIRES[0], [ScriptedTurn::text("A dot.")]);
    let file = fs::read_to_string(project.home().join("models.yml")).unwrap();
    fs::write(project.home().join("models.yml"), file.replace("{id: m1,", "{id: m1, input: [text, image],"))
        .unwrap();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0";
    project.put("dot.png", png);
    let ran = project.relay(&["run", "What is it?", "@dot.png"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "A dot.\n"), "{ran:?}");
    let body = server.requests()[0].body.to_string();
    assert!(body.contains("\"image/png\"") && body.contains("iVBORw0KGgo"), "{body}");
    for (name, what) in [("missing.png", "No such file"), ("a.bin", "it is not text")] {
        project.put("a.bin", b"\0\xff");
        let ran = project.relay(&["run", "What?", &format!("@{name}")]);
        assert!(ran.code == 2 && ran.err.contains(what), "{ran:?}");
    }
}

#[test]
fn resume_takes_a_session_by_its_id() {
    let (server, project) = serving(
        WIRES[2],
        [ScriptedTurn::text("First."), ScriptedTurn::text("Other."), ScriptedTurn::text("Third.")],
    );
    let ran = project.relay(&["run", "--json", "One"]);
    let id = lines(&ran.out).pop().unwrap()["session"].as_str().unwrap().to_string();
    assert_eq!(project.relay(&["run", "Two"]).code, 0);
    let ran = project.relay(&["run", "--resume", &id, "Three"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Third.\n"), "{ran:?}");
    let body: Value = server.requests()[2].body.clone();
    assert!(body.to_string().contains("First.") && !body.to_string().contains("Other."), "{body}");
}

#[test]
fn a_limit_of_money_needs_a_price() {
    let (server, project) = serving(WIRES[1], [ScriptedTurn::text("ok")]);
    let models = project.home().join("models.yml");
    let text = fs::read_to_string(&models).unwrap().replace(", cost: {input: 3, output: 15}", "");
    fs::write(&models, text).unwrap();
    let ran = project.relay(&["run", "--max-cost", "0.5", "Go"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("what work/m1 costs is not known, so no limit of money can hold"), "{ran:?}");
    assert!(server.requests().is_empty());
    fs::write(project.home().join("config.yml"), "agent: {maxCost: 50}\n").unwrap();
    let ran = project.relay(&["run", "Go"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "ok\n"), "{ran:?}");
    assert!(ran.err.contains("! what work/m1 costs is not known"), "{ran:?}");
}

#[test]
fn names_that_are_empty_are_no_names() {
    let (server, project) = serving(WIRES[0], [ScriptedTurn::text("ok")]);
    for option in [["--resume", ""], ["--tools", ""], ["--tools", "read,"]] {
        let ran = project.relay(&["run", option[0], option[1], "Go"]);
        assert_eq!(ran.code, 2, "{option:?}: {ran:?}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn an_answer_without_words_is_none() {
    let (_server, project) = serving(WIRES[1], [ScriptedTurn::text("")]);
    let ran = project.relay(&["run", "Go"]);
    assert_eq!((ran.code, ran.out.as_str()), (11, ""), "{ran:?}");
    assert!(ran.err.contains("the model ended without an answer"), "{ran:?}");
}

#[test]
fn an_answer_that_cannot_be_written_is_a_failure() {
    for more in [&[][..], &["--json"]] {
        let (_server, project) = serving(WIRES[0], [ScriptedTurn::text("The answer.")]);
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut relay = project.command(&[&["run", "Go"], more].concat());
        let ran = relay.stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{said}");
        assert!(said.contains("the output cannot be written"), "{said}");
    }
}
