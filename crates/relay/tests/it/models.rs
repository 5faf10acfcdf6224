//! `relay models`, through the binary, with a scripted server in the place of providers.

use std::fs;
use std::time::{Duration, Instant};

use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn, TurnDelay};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::fixture::scratch_project::{Project, Ran};

const SECRET: &str = "sk-test-8c1f0e7a5b3d9264wxyz";

/// A project whose user has sent Anthropic's requests to a server of ours.
fn project(server: Option<&ScriptedServer>) -> Project {
    let project = Project::new(&[]);
    if let Some(server) = server {
        let file = format!("providers:\n  anthropic:\n    baseUrl: {}\n    apiKey: {SECRET}\n", server.url());
        fs::write(project.home().join("models.yml"), file).unwrap();
    }
    project
}

fn serving(turn: ScriptedTurn) -> (ScriptedServer, Project) {
    let server = ScriptedServer::start(Script::any([turn]));
    let project = project(Some(&server));
    (server, project)
}

fn test(project: &Project, more: &[&str]) -> Ran {
    let args: Vec<&str> = ["models", "test", "anthropic/claude-opus-5-5", "--no-discover"]
        .iter()
        .chain(more)
        .copied()
        .collect();
    let ran = project.relay(&args);
    assert!(!format!("{ran:?}").contains("8c1f0e"), "the key came out: {ran:?}");
    ran
}

#[test]
fn the_list_shows_what_can_be_used_and_all_shows_the_rest() {
    let project = project(None);
    let empty = project.relay(&["models", "--no-discover"]);
    assert_eq!(empty.code, 0, "{empty:?}");
    assert!(empty.out.contains("relay keys set anthropic"), "{}", empty.out);
    let all = project.relay(&["models", "--all", "--no-discover"]);
    assert!(all.out.contains("anthropic/claude-opus-5-5") && all.out.contains("$4 / $20"), "{}", all.out);
    assert!(all.out.contains("no key"), "{}", all.out);
    project.pipe(&["keys", "set", "openai", "--stdin"], SECRET.as_bytes());
    let some = project.relay(&["models", "--no-discover"]);
    assert!(some.out.contains("openai/gpt-6.1-sol") && !some.out.contains("anthropic/"), "{}", some.out);
    assert!(some.out.contains("stored key") && some.out.contains("without a key"), "{}", some.out);
    let object = project.relay(&["models", "--all", "--no-discover", "--json", "claude", "haiku"]).json();
    let ids: Vec<_> =
        object["models"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["claude-haiku-5-5", "claude-haiku-4-5-20251001"]);
    assert_eq!(object["models"][0]["from"]["cost"], json!({"from": "built-in"}));
    let none = project.relay(&["models", "--all", "--no-discover", "no-such\u{1b}[31mthing"]);
    assert!(none.code == 0 && none.out.contains("no model fits") && !none.out.contains('\u{1b}'), "{none:?}");
}

#[test]
fn one_model_is_shown_with_where_each_value_comes_from() {
    let project = project(None);
    let file = "providers:\n  anthropic:\n    apiKey: MY_KEY\n    modelOverrides:\n      claude-opus-5-5: {maxTokens: 1000}\n  \
                work:\n    baseUrl: https://w.example/v1\n    auth: none\n    api: openai-completions\n    models:\n      \
                - {id: 'a:b', contextWindow: 5000}\nroles: {default: opus:high, smol: work/a:b}\n";
    fs::write(project.home().join("models.yml"), file).unwrap();
    let shown = project.relay(&["models", "show", "opus:low", "--no-discover"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    for part in [
        "anthropic/claude-opus-5-5",
        "1 000 tokens  models.yml, line 5",
        "built in",
        "the words fit",
        "MY_KEY",
    ] {
        assert!(shown.out.contains(part), "{part}: {}", shown.out);
    }
    let object = project.relay(&["models", "show", "smol", "--no-discover", "--json"]).json();
    let model = &object["model"];
    assert_eq!((&model["selector"], &model["contextWindow"]), (&json!("work/a:b"), &json!(5000)));
    assert_eq!(model["from"]["contextWindow"], json!({"from": "models.yml", "line": 11}));
    assert_eq!(
        (&model["key"], &model["from"]["cost"]),
        (&json!({"source": "none"}), &json!({"from": "assumed"}))
    );
    let list = project.relay(&["models", "--all", "--no-discover"]).out;
    assert!(list.contains("default   opus:high → anthropic/claude-opus-5-5"), "{list}");
    let near = project.relay(&["models", "show", "claude-opus-5-6", "--no-discover"]);
    assert_eq!(near.code, 2, "{near:?}");
    assert!(near.err.contains("did you mean") && near.err.contains("claude-opus-5-5"), "{}", near.err);
}

#[test]
fn a_broken_models_yml_is_shown_and_stops_only_what_needs_it() {
    let project = project(None);
    let path = project.home().join("models.yml");
    fs::write(&path, format!("providers:\n  anthropic:\n    apikey: {SECRET}\n")).unwrap();
    let list = project.relay(&["models", "--all", "--no-discover"]);
    assert_eq!(list.code, 0, "{list:?}");
    assert!(list.out.contains("anthropic/claude-opus-5-5"), "built-ins stay: {}", list.out);
    assert!(list.err.starts_with("! ") && list.err.contains("models.yml:3:5"), "{}", list.err);
    assert!(list.err.contains("did you mean `apiKey`?"), "{}", list.err);
    for args in [&["models", "show", "opus"][..], &["models", "test", "opus"], &["models", "test"]] {
        let ran = project.relay(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains("models.yml:3:5") && !ran.err.contains("8c1f0e"), "{}", ran.err);
    }
    let object = project.relay(&["models", "--no-discover", "--json"]).json();
    assert_eq!((&object["trouble"]["line"], &object["trouble"]["column"]), (&json!(3), &json!(5)));
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    let open = project.relay(&["models", "--no-discover"]);
    assert!(open.err.contains("others may change") && open.err.contains("chmod go-w"), "{}", open.err);
}

#[test]
fn a_test_says_how_long_it_took_and_what_it_cost() {
    let (server, project) = serving(ScriptedTurn::text("ready"));
    let ran = test(&project, &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in ["✓ anthropic/claude-opus-5-5 answered", "first event after", "it said: ready", "$0."] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let turns = server.turns();
    assert_eq!(turns.len(), 1);
    // The server remembers only how a key begins.
    assert_eq!(turns[0].header("x-api-key"), Some("sk-test-…"));
    let (_server, project) = serving(ScriptedTurn::text("ready"));
    let object = test(&project, &["--json"]).json();
    assert_eq!((&object["ok"], &object["answer"]), (&json!(true), &json!("ready")), "{object}");
    assert!(
        object["usage"]["cost"]["total"].as_f64().unwrap() > 0.0 && object["totalMs"].is_u64(),
        "{object}"
    );
}

#[test]
fn a_test_that_fails_says_what_to_do_and_ends_with_its_code() {
    for (turn, code, said) in [
        (ScriptedTurn::status(401), 10, "relay keys set anthropic"),
        (ScriptedTurn::status(404), 10, "shows the name and the address"),
        (ScriptedTurn::status(429).header("retry-after", "7"), 10, "try again in 7 s"),
        (ScriptedTurn::status(500), 10, "try again"),
        (ScriptedTurn::text("x").with(|turn| turn.close_before_headers = true), 11, "right address"),
    ] {
        let (server, project) = serving(turn);
        let ran = test(&project, &[]);
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
        assert_eq!(server.turns().len(), 1, "one request, whatever happens");
    }
    let nobody = project(None);
    let file = format!("providers:\n  anthropic: {{baseUrl: 'http://127.0.0.1:9', apiKey: {SECRET}}}\n");
    fs::write(nobody.home().join("models.yml"), file).unwrap();
    let ran = test(&nobody, &["--json"]);
    assert_eq!((ran.code, &ran.json()["error"]["kind"]), (11, &json!("network")), "{ran:?}");
    let keyless = Project::new(&[]);
    let ran = test(&keyless, &[]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.err.contains("`relay keys set anthropic`") && ran.err.contains("ANTHROPIC_API_KEY"),
        "{}",
        ran.err
    );
    let ran = keyless.relay(&["models", "test", "--no-discover"]);
    assert!(ran.code == 2 && ran.err.contains("no provider has a key yet"), "{ran:?}");
}

#[test]
fn an_interrupt_ends_a_test_at_once() {
    let (server, project) = serving(
        ScriptedTurn::text("x").with(|turn| turn.stall_before_headers = Some(TurnDelay::Forever(true))),
    );
    let child = project
        .command(&["models", "test", "anthropic/claude-opus-5-5", "--no-discover"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    server.wait_for(|requests| !requests.is_empty());
    let start = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn servers_on_this_machine_are_asked_what_they_have() {
    let server =
        ScriptedServer::start(Script::new([ScriptedTurn::text("x")]).models(["tiny:1b", "other:latest"]));
    let project = Project::new(&[]);
    let file = format!("providers:\n  ollama: {{baseUrl: '{}'}}\n", server.url());
    fs::write(project.home().join("models.yml"), file).unwrap();
    let object = project.relay(&["models", "ollama/*", "--json"]).json();
    let found: Vec<_> = object["models"].as_array().unwrap().iter().map(|model| &model["selector"]).collect();
    assert_eq!(found, [&json!("ollama/tiny:1b"), &json!("ollama/other:latest")], "{object}");
    assert_eq!(object["models"][0]["from"]["contextWindow"], json!({"from": "server"}), "{object}");
    assert_eq!(object["servers"][0]["models"], 2, "{object}");
    let shown = project.relay(&["models", "show", "tiny:1b"]);
    assert!(shown.code == 0 && shown.out.contains("its server says so"), "{shown:?}");
    let none = project.relay(&["models", "ollama/*", "--json", "--no-discover"]).json();
    assert_eq!(none["models"], json!([]));
}

#[test]
fn a_key_by_a_command_is_used_and_a_bad_command_is_told_without_its_output() {
    let server = ScriptedServer::start(Script::any([ScriptedTurn::text("ready").repeat(3)]));
    let project = Project::new(&[]);
    let put = |command: &str| {
        let file =
            format!("providers:\n  anthropic: {{baseUrl: '{}', apiKey: '!{command}'}}\n", server.url());
        fs::write(project.home().join("models.yml"), file).unwrap();
    };
    put(&format!("echo \" {SECRET} \""));
    assert_eq!(test(&project, &[]).code, 0);
    assert_eq!(server.turns()[0].header("x-api-key"), Some("sk-test-…"));
    for (command, said) in [
        (format!("echo {SECRET}; exit 3"), "ended with code 3"),
        (format!("echo {SECRET}; echo more"), "control character"),
        ("true".to_string(), "is empty"),
    ] {
        put(&command);
        let ran = test(&project, &[]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(said) && ran.err.contains("line 2"), "{}", ran.err);
    }
}
