//! `relay models` with a server of every wire and every kind, through the binary: what is said when it goes well, when it
//! does not, and when somebody leaves; and what a project may not decide.

use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use relaycode_testkit::model::{RequestEnd, Script, ScriptedServer, ScriptedTurn, TurnDelay};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::fixture::scratch_project::{Project, Ran};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;
use crate::terminal_questions::Session;

const SECRET: &str = "sk-test-8c1f0e7a5b3d9264wxyz";
/// Every wire, and where its paths begin on the server.
const WIRES: [(&str, &str); 5] = [
    ("anthropic-messages", ""),
    ("openai-completions", "/v1"),
    ("google-generative-ai", "/v1beta"),
    ("ollama", ""),
    ("openai-responses", "/v1"),
];

/// A user whose provider `work` speaks this wire and says this.
fn serving((api, base): (&str, &str), turn: ScriptedTurn) -> (ScriptedServer, Project) {
    let server = ScriptedServer::start(Script::any([turn]));
    let project = Project::new(&[]);
    let file = format!(
        "providers:\n  work:\n    baseUrl: {}{base}\n    api: {api}\n    apiKey: {SECRET}\n    models:\n      \
         - {{id: m1, contextWindow: 32000, maxTokens: 4000, cost: {{input: 3, output: 15}}}}\n",
        server.url()
    );
    fs::write(project.home().join("models.yml"), file).unwrap();
    (server, project)
}

fn test(project: &Project, more: &[&str]) -> Ran {
    let args: Vec<&str> =
        ["models", "test", "work/m1", "--no-discover"].iter().chain(more).copied().collect();
    let ran = project.relay(&args);
    assert!(!format!("{ran:?}").contains("8c1f0e"), "the key came out: {ran:?}");
    ran
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn a_test_is_told_alike_on_every_wire() {
    for wire in WIRES {
        let (server, project) = serving(wire, ScriptedTurn::text("ready").reasoning("hm").repeat(2));
        let ran = test(&project, &[]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
        let lines: Vec<&str> = ran.out.lines().collect();
        assert!(lines[0].starts_with("✓ work/m1 answered · first event after 0."), "{ran:?}");
        assert!(lines[0].ends_with(" s · 10 in, 5 out · $0.000105"), "{ran:?}");
        assert_eq!(lines[1..], ["  it said: ready"], "{ran:?}");
        let object = test(&project, &["--json"]).json();
        let expected = [
            "ok",
            "code",
            "command",
            "model",
            "provider",
            "key",
            "answer",
            "stopReason",
            "firstMs",
            "totalMs",
            "usage",
        ];
        let mut sorted = expected.to_vec();
        sorted.sort_unstable();
        let mut found = keys(&object);
        found.sort_unstable();
        assert_eq!(found, sorted, "{object}");
        assert_eq!((&object["answer"], &object["stopReason"]), (&json!("ready"), &json!("stop")), "{object}");
        assert_eq!(object["usage"]["totalTokens"], 15, "{object}");
        assert_eq!(server.turns()[0].wire, Some(wire.0));
    }
}

#[test]
fn a_failure_ends_with_its_code_and_says_what_to_do_on_every_wire() {
    for wire in WIRES {
        let cases: Vec<(ScriptedTurn, i32, &str, &str)> = vec![
            (ScriptedTurn::status(401), 10, "auth", "in use: key in models.yml, line 5"),
            (ScriptedTurn::status(403), 10, "forbidden", "see your account"),
            (ScriptedTurn::status(404), 10, "notFound", "`relay models show work/m1`"),
            (ScriptedTurn::status(429).header("retry-after", "7"), 10, "rateLimit", "try again in 7 s"),
            (ScriptedTurn::status(500), 10, "server", "try again"),
            (ScriptedTurn::status(408), 12, "timeout", "try again in a minute"),
            (
                ScriptedTurn::text("x").with(|turn| turn.close_before_headers = true),
                11,
                "network",
                "right address",
            ),
            (
                ScriptedTurn::text("half of it").with(|turn| turn.truncate = true),
                11,
                "network",
                "right address",
            ),
            (
                ScriptedTurn::text("one two three").with(|turn| turn.malformed = true),
                10,
                "malformed",
                "try again",
            ),
            (
                ScriptedTurn::raw(["<html>Sign in</html>"]).header("content-type", "text/html"),
                2,
                "config",
                "baseUrl",
            ),
        ];
        for (turn, code, kind, said) in cases {
            let (server, project) = serving(wire, turn.repeat(2));
            let ran = test(&project, &[]);
            assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{} {kind}: {ran:?}", wire.0);
            assert!(ran.err.starts_with("✗ ") && ran.err.lines().count() <= 3, "{ran:?}");
            assert!(ran.err.contains(said), "{said}: {}", ran.err);
            let error = test(&project, &["--json"]).json()["error"].clone();
            assert_eq!((&error["kind"], &error["where"]), (&json!(kind), &json!("work/m1")), "{error}");
            assert_eq!(server.turns().len(), 2, "one request each");
        }
    }
}

#[test]
fn an_interrupt_closes_the_connection_at_once_on_every_wire() {
    for wire in WIRES {
        for turn in [
            ScriptedTurn::text("x").with(|turn| turn.stall_before_headers = Some(TurnDelay::Forever(true))),
            ScriptedTurn::pieces(["one ", "two"]).with(|turn| turn.hang_s = Some(TurnDelay::Forever(true))),
        ] {
            let (server, project) = serving(wire, turn);
            let child = project
                .command(&["models", "test", "work/m1", "--no-discover"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            server.wait_for(|requests| !requests.is_empty());
            let start = Instant::now();
            kill_process(Pid::from_child(&child), Signal::INT).unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(130), "{output:?}");
            assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
            server.wait_for(|requests| matches!(requests[0].end, RequestEnd::ClientClosed(_)));
        }
    }
}

#[test]
fn control_c_at_a_terminal_ends_a_test() {
    let (server, project) = serving(
        WIRES[0],
        ScriptedTurn::text("x").with(|turn| turn.stall_before_headers = Some(TurnDelay::Forever(true))),
    );
    let mut session = Session::start(&project, &["models", "test", "work/m1", "--no-discover"], "");
    server.wait_for(|requests| !requests.is_empty());
    session.type_in("\u{3}");
    let (code, seen) = session.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("interrupted"), "{seen}");
}

#[test]
fn each_kind_of_server_on_this_machine_is_asked_what_it_has() {
    let mut transcript = Transcript::default();
    for (provider, base, without) in
        [("ollama", "", "/props"), ("llama.cpp", "/v1", "/api/v0/models"), ("lm-studio", "/v1", "/props")]
    {
        let script = Script::any([ScriptedTurn::text("ready").repeat(2)])
            .models(["tiny", "other"])
            .without_path(without);
        let server = ScriptedServer::start(script);
        let project = Project::new(&[]);
        let file = format!("providers:\n  {provider}: {{baseUrl: '{}{base}'}}\n", server.url());
        fs::write(project.home().join("models.yml"), file).unwrap();
        transcript.add(&format!("{provider}: listed"), &project.relay(&["models", &format!("{provider}/*")]));
        let tested = project.relay(&["models", "test", &format!("{provider}/tiny")]);
        transcript.add(&format!("{provider}: tested"), &tested);
    }
    relay_snapshot!(transcript, @"
    # ollama: listed
    exit 0
    ----- stdout -----
      model                 reads  $ per 1M in / out  can             key
      ollama/tiny:latest      32k  free               thinks          no key needed
      ollama/other:latest     32k  free               thinks          no key needed

    # ollama: tested
    exit 0
    ----- stdout -----
    ✓ ollama/tiny:latest answered · first event after <duration>, all after <duration> · 10 in, 5 out
      it said: ready
    ! taken because the words fit, not the name

    # llama.cpp: listed
    exit 0
    ----- stdout -----
      model             reads  $ per 1M in / out  can             key
      llama.cpp/tiny      32k  free                               no key needed
      llama.cpp/other     32k  free                               no key needed

    # llama.cpp: tested
    exit 0
    ----- stdout -----
    ✓ llama.cpp/tiny answered · first event after <duration>, all after <duration> · 10 in, 5 out
      it said: ready

    # lm-studio: listed
    exit 0
    ----- stdout -----
      model             reads  $ per 1M in / out  can             key
      lm-studio/tiny      32k  free                               no key needed
      lm-studio/other     32k  free                               no key needed

    # lm-studio: tested
    exit 0
    ----- stdout -----
    ✓ lm-studio/tiny answered · first event after <duration>, all after <duration> · 10 in, 5 out
      it said: ready
    ");
}

#[test]
fn what_a_project_says_of_providers_is_ignored_and_told_once() {
    let (server, project) = serving(WIRES[0], ScriptedTurn::text("ready").repeat(9));
    let elsewhere = ScriptedServer::start(Script::any([ScriptedTurn::text("caught").repeat(9)]));
    let url = elsewhere.url();
    fs::write(project.path(".env"), format!("ANTHROPIC_BASE_URL={url}\nHTTP_PROXY={url}\n")).unwrap();
    fs::write(project.path("models.yml"), format!("providers:\n  work: {{baseUrl: '{url}'}}\n")).unwrap();
    for args in [
        &["models", "test", "work/m1"][..],
        &["models", "show", "work/m1"],
        &["models", "--all"],
        &["models", "test", "work/m1", "--json"],
    ] {
        let args: Vec<&str> = args.iter().copied().chain(["--no-discover"]).collect();
        let ran = project.relay(&args);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(ran.err.matches("ignored: ").count(), 1, "{args:?}: {ran:?}");
        assert!(ran.err.contains(".env") && ran.err.contains("models.yml"), "{ran:?}");
    }
    assert_eq!((server.turns().len(), elsewhere.connections().opened), (2, 0));
}

#[test]
fn an_error_in_models_yml_is_shown_with_its_place_and_what_relay_knows_stays() {
    let project = Project::new(&[]);
    let mut said = String::new();
    for text in [
        "providers:\n  work: [\n",
        "providers:\n  work:\n    api: smoke-signals\n",
        "roles:\n  defualt: opus\n",
        "retry: {maxDelayMs: -1}\n",
        "- a\n",
    ] {
        fs::write(project.home().join("models.yml"), text).unwrap();
        let ran = project.relay(&["models", "--all", "--no-discover"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        said += &ran.err;
        assert!(ran.out.contains("anthropic/claude-opus-5-5"), "{}", ran.out);
    }
    relay_snapshot!(said, @"
    ! <home>/models.yml:2:9: this is not YAML that relay reads: unclosed bracket '[' at line 2, column 9
      until it is right, only what relay knows by itself is used
    ! <home>/models.yml:3:10: `providers.work.api` must be one of anthropic-messages, openai-completions, google-generative-ai, ollama, openai-responses
      until it is right, only what relay knows by itself is used
    ! <home>/models.yml:2:3: there is no setting `defualt` in `roles`; did you mean `default`?
      until it is right, only what relay knows by itself is used
    ! <home>/models.yml:1:21: `retry.maxDelayMs` must be a whole number from 0 to 3600000
      until it is right, only what relay knows by itself is used
    ! <home>/models.yml:1:1: the file must be a table, not a list
      until it is right, only what relay knows by itself is used
    ");
}

#[test]
fn a_name_that_no_model_has_is_no_other_model() {
    let (server, project) = serving(WIRES[0], ScriptedTurn::text("ready"));
    let mut transcript = Transcript::default();
    for name in ["nope", "m2", "work-m1x", "wrk"] {
        transcript.add(name, &project.relay(&["models", "test", name, "--no-discover"]));
    }
    relay_snapshot!(transcript, @"
    # nope
    exit 2
    ----- stderr -----
    ✗ there is no model `nope`
      `relay models --all` lists every model

    # m2
    exit 2
    ----- stderr -----
    ✗ there is no model `m2`
      `relay models --all` lists every model

    # work-m1x
    exit 2
    ----- stderr -----
    ✗ there is no model `work-m1x`; did you mean `work/m1`?
      `relay models --all` lists every model

    # wrk
    exit 2
    ----- stderr -----
    ✗ there is no model `wrk`
      `relay models --all` lists every model
    ");
    assert_eq!(server.turns().len(), 0, "nobody was asked");
}

#[test]
fn on_a_narrow_terminal_no_line_is_longer_than_it() {
    let project = Project::new(&[]);
    for what in [&["--all", "haiku"][..], &["show", "haiku"], &["--all", "no-such-thing"]] {
        let args: Vec<&str> = ["models"].iter().chain(what).chain(&["--no-discover"]).copied().collect();
        let (mut screen, terminal) = relaycode_testkit::screen::open_pty(40, 60).unwrap();
        let side = || Stdio::from(terminal.try_clone().unwrap());
        let mut command = project.command(&args);
        let mut child = command.env("NO_COLOR", "1").stdout(side()).stderr(side()).spawn().unwrap();
        assert!(child.wait().unwrap().success());
        drop((command, terminal));
        let mut seen = Vec::new();
        // The end of a terminal is an error.
        let _ = screen.read_to_end(&mut seen);
        let seen = String::from_utf8(seen).unwrap();
        assert!(seen.lines().count() > 1, "{seen}");
        for line in seen.lines() {
            let unbroken = line.trim().starts_with("https://");
            assert!(unbroken || line.trim_end().chars().count() <= 40, "{line:?} in\n{seen}");
        }
    }
}
