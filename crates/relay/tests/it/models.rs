//! `relay models`, through the binary, with a scripted server in the place of providers.

use std::fs;
use std::time::{Duration, Instant};

use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn, TurnDelay};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::fixture::scratch_project::{Project, Ran};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

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
    relay_snapshot!(project.relay(&["models", "--no-discover"]), @"
    exit 0
    ----- stdout -----
      no model here has a key yet; `relay keys set anthropic` stores one, `relay models --all` lists them all
    ");
    relay_snapshot!(project.relay(&["models", "--all", "--no-discover"]), @"
    exit 0
    ----- stdout -----
      model                                 reads  $ per 1M in / out  can             key
      anthropic/claude-opus-5-5                1M  $4 / $20           thinks, images  no key
      anthropic/claude-fable-5-1               1M  $10 / $50          thinks, images  no key
      anthropic/claude-sonnet-5-5              1M  $2 / $10           thinks, images  no key
      anthropic/claude-haiku-5-5               1M  $0.10 / $0.50      thinks, images  no key
      anthropic/claude-haiku-4-5-20251001    200k  $1 / $5            thinks, images  no key
      openai/gpt-6.1-sol                       1M  $2 / $10           thinks, images  no key
      openai/gpt-6-astra                       1M  $10 / $50          thinks, images  no key
      openai/gpt-6-sol                         1M  $2 / $10           thinks, images  no key
      openai/gpt-6-luna                        1M  $0.10 / $0.50      thinks, images  no key
      google/gemini-3.8-flash                  1M  $0.75 / $3.75      thinks, images  no key
      google/gemini-3.1-pro-preview            1M  $2 / $12           thinks, images  no key
      xai/grok-4.6                           500k  $2 / $6            thinks, images  no key
      deepseek/deepseek-v4-pro                 1M  $0.435 / $0.87     thinks          no key
      deepseek/deepseek-v4-flash               1M  $0.14 / $0.28      thinks          no key
    ");
    project.pipe(&["keys", "set", "openai", "--stdin"], SECRET.as_bytes());
    relay_snapshot!(project.relay(&["models", "--no-discover"]), @"
    exit 0
    ----- stdout -----
      model                reads  $ per 1M in / out  can             key
      openai/gpt-6.1-sol      1M  $2 / $10           thinks, images  stored key
      openai/gpt-6-astra      1M  $10 / $50          thinks, images  stored key
      openai/gpt-6-sol        1M  $2 / $10           thinks, images  stored key
      openai/gpt-6-luna       1M  $0.10 / $0.50      thinks, images  stored key
      10 more models without a key; `relay models --all` lists them, `relay keys set` stores one
    ");
    let object = project.relay(&["models", "--all", "--no-discover", "--json", "claude", "haiku"]).json();
    let ids: Vec<_> =
        object["models"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["claude-haiku-5-5", "claude-haiku-4-5-20251001"]);
    assert_eq!(object["models"][0]["from"]["cost"], json!({"from": "built-in"}));
    let none = project.relay(&["models", "--all", "--no-discover", "no-such\u{1b}[31mthing"]);
    relay_snapshot!(none, @r"
    exit 0
    ----- stdout -----
      no model fits `no-such\u{1b}[31mthing`; `relay models --all` lists them
    ");
    assert!(!none.out.contains('\u{1b}'), "{none:?}");
}

#[test]
fn one_model_is_shown_with_where_each_value_comes_from() {
    let project = project(None);
    let file = "providers:\n  anthropic:\n    apiKey: MY_KEY\n    modelOverrides:\n      claude-opus-5-5: {maxTokens: 1000}\n  \
                work:\n    baseUrl: https://w.example/v1\n    auth: none\n    api: openai-completions\n    models:\n      \
                - {id: 'a:b', contextWindow: 5000}\nroles: {default: opus:high, smol: work/a:b}\n";
    fs::write(project.home().join("models.yml"), file).unwrap();
    relay_snapshot!(project.relay(&["models", "show", "opus:low", "--no-discover"]), @"
    exit 0
    ----- stdout -----
    anthropic/claude-opus-5-5
      name      Claude Opus 5.5  built in
      thinking  low
      wire      anthropic-messages  built in
      address   https://api.anthropic.com  built in
      context   1 000 000 tokens  built in
      answer    1 000 tokens  models.yml, line 5
      thinks    yes  built in
      images    yes  built in
      price     $4 in, $20 out, $0.20 from the cache, $5 into it per million tokens  built in
      key       models.yml line 3 takes the key of anthropic from MY_KEY, which is not set
    ! taken because the words fit, not the name
    ");
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
    relay_snapshot!(project.relay(&["models", "show", "claude-opus-5-6", "--no-discover"]), @"
    exit 2
    ----- stderr -----
    ✗ there is no model `claude-opus-5-6`; did you mean `claude-opus-5-5`?
      `relay models --all` lists every model
    ");
}

#[test]
fn a_broken_models_yml_is_shown_and_stops_only_what_needs_it() {
    let project = project(None);
    let path = project.home().join("models.yml");
    fs::write(&path, format!("providers:\n  anthropic:\n    apikey: {SECRET}\n")).unwrap();
    let list = project.relay(&["models", "--all", "--no-discover"]);
    assert_eq!(list.code, 0, "{list:?}");
    assert!(list.out.contains("anthropic/claude-opus-5-5"), "built-ins stay: {}", list.out);
    relay_snapshot!(list.err, @"
    ! <home>/models.yml:3:5: there is no setting `apikey` in `providers.anthropic`; did you mean `apiKey`?
      until it is right, only what relay knows by itself is used
    ");
    let mut transcript = Transcript::default();
    for args in [&["models", "show", "opus"][..], &["models", "test", "opus"], &["models", "test"]] {
        let ran = project.relay(args);
        assert!(!ran.err.contains("8c1f0e"), "{}", ran.err);
        transcript.add(&args.join(" "), &ran);
    }
    relay_snapshot!(transcript, @"
    # models show opus
    exit 2
    ----- stderr -----
    ✗ there is no setting `apikey` in `providers.anthropic`; did you mean `apiKey`?
      in <home>/models.yml:3:5
      correct models.yml; `relay models` reads it again

    # models test opus
    exit 2
    ----- stderr -----
    ✗ there is no setting `apikey` in `providers.anthropic`; did you mean `apiKey`?
      in <home>/models.yml:3:5
      correct models.yml; `relay models` reads it again

    # models test
    exit 2
    ----- stderr -----
    ✗ there is no setting `apikey` in `providers.anthropic`; did you mean `apiKey`?
      in <home>/models.yml:3:5
      correct models.yml; `relay models` reads it again
    ");
    let object = project.relay(&["models", "--no-discover", "--json"]).json();
    assert_eq!((&object["trouble"]["line"], &object["trouble"]["column"]), (&json!(3), &json!(5)));
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    relay_snapshot!(project.relay(&["models", "--no-discover"]), @"
    exit 0
    ----- stdout -----
      no model here has a key yet; `relay keys set anthropic` stores one, `relay models --all` lists them all
    ----- stderr -----
    ! others may change <home>/models.yml; run `chmod go-w <home>/models.yml`
      until it is right, only what relay knows by itself is used
    ");
}

#[test]
fn a_test_says_how_long_it_took_and_what_it_cost() {
    let (server, project) = serving(ScriptedTurn::text("ready"));
    relay_snapshot!(test(&project, &[]), @"
    exit 0
    ----- stdout -----
    ✓ anthropic/claude-opus-5-5 answered · first event after <duration>, all after <duration> · 10 in, 5 out · $0.000140
      it said: ready
    ");
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
    let mut transcript = Transcript::default();
    for (what, turn) in [
        ("401", ScriptedTurn::status(401)),
        ("404", ScriptedTurn::status(404)),
        ("429", ScriptedTurn::status(429).header("retry-after", "7")),
        ("500", ScriptedTurn::status(500)),
        ("closed", ScriptedTurn::text("x").with(|turn| turn.close_before_headers = true)),
    ] {
        let (server, project) = serving(turn);
        transcript.add(what, &test(&project, &[]));
        assert_eq!(server.turns().len(), 1, "one request, whatever happens");
    }
    relay_snapshot!(transcript, @"
    # 401
    exit 10
    ----- stderr -----
    ✗ anthropic does not accept the key (status 401): scripted failure with status 401. Set a key that works: `relay keys set anthropic`
      in anthropic/claude-opus-5-5
      in use: key in models.yml, line 4; get another at https://platform.claude.com/settings/keys

    # 404
    exit 10
    ----- stderr -----
    ✗ anthropic has no such model or address (status 404): scripted failure with status 404. See `relay models` for what there is, and baseUrl in models.yml
      in anthropic/claude-opus-5-5
      `relay models show anthropic/claude-opus-5-5` shows the name and the address

    # 429
    exit 10
    ----- stderr -----
    ✗ anthropic takes no more requests for now (status 429): scripted failure with status 429
      in anthropic/claude-opus-5-5
      try again in 7 s

    # 500
    exit 10
    ----- stderr -----
    ✗ anthropic failed (status 500): scripted failure with status 500
      in anthropic/claude-opus-5-5
      try again; if it stays so, the fault is with anthropic

    # closed
    exit 11
    ----- stderr -----
    ✗ the connection to anthropic at 127.0.0.1:<port> broke: connection closed before message completed
      in anthropic/claude-opus-5-5
      try again; if it stays so, is http://127.0.0.1:<port> the right address, and reachable from here?
    ");
    let nobody = project(None);
    let file = format!("providers:\n  anthropic: {{baseUrl: 'http://127.0.0.1:9', apiKey: {SECRET}}}\n");
    fs::write(nobody.home().join("models.yml"), file).unwrap();
    let ran = test(&nobody, &["--json"]);
    assert_eq!((ran.code, &ran.json()["error"]["kind"]), (11, &json!("network")), "{ran:?}");
    let keyless = Project::new(&[]);
    relay_snapshot!(test(&keyless, &[]), @"
    exit 2
    ----- stderr -----
    ✗ there is no key for anthropic; `relay keys set anthropic` stores one, or set ANTHROPIC_API_KEY (get it at https://platform.claude.com/settings/keys)
    ");
    relay_snapshot!(keyless.relay(&["models", "test", "--no-discover"]), @"
    exit 2
    ----- stderr -----
    ✗ no provider has a key yet; `relay keys set anthropic` stores one
    ");
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
    relay_snapshot!(project.relay(&["models", "show", "tiny:1b"]), @"
    exit 0
    ----- stdout -----
    ollama/tiny:1b
      name      tiny:1b  assumed
      wire      ollama  built in
      address   http://127.0.0.1:<port>  models.yml, line 2
      context   32 768 tokens  its server says so
      answer    16 384 tokens  assumed
      thinks    yes  its server says so
      images    no  its server says so
      price     unknown, or none  assumed
      key       no key needed
    ");
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
    let mut transcript = Transcript::default();
    for command in [format!("echo {SECRET}; exit 3"), format!("echo {SECRET}; echo more"), "true".to_string()]
    {
        put(&command);
        transcript.add(&command, &test(&project, &[]));
    }
    relay_snapshot!(transcript, @"
    # echo sk-test-8c1f0e7a5b3d9264wxyz; exit 3
    exit 2
    ----- stderr -----
    ✗ the command for the key of anthropic (models.yml line 2) ended with code 3

    # echo sk-test-8c1f0e7a5b3d9264wxyz; echo more
    exit 2
    ----- stderr -----
    ✗ the command for the key of anthropic (models.yml line 2) printed something that has a line end or another control character in it; was more than the key copied?

    # true
    exit 2
    ----- stderr -----
    ✗ the command for the key of anthropic (models.yml line 2) printed something that is empty
    ");
}
