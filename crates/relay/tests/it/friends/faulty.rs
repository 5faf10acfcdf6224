//! Friends that are missing, old, silent, mad or dying: each ends in its own code and words, within its time and
//! relay's memory, and leaves nothing behind.

use relaycode_friend::friends;
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};

use crate::friends::fixture::{Codex, Stage, answering};
use crate::relay_snapshot;

/// More than anybody needs here who does not wait for ever.
const ENOUGH: &str = "60";

/// A hundred and twenty megabytes.
const FLOOD: &str = "head -c 120000000 /dev/zero | tr '\\0' x";
const LINES: &str = "yes 'a line of no meaning at all, again and again and again' | head -c 120000000";

/// Every friend that is a program.
fn names() -> impl Iterator<Item = &'static str> {
    friends::ALL.iter().map(|friend| friend.name())
}

/// All of them are this script.
fn all(script: &str) -> Stage {
    let stage = names().fold(Stage::new(), |stage, name| stage.script(name, script));
    stage.script("node", "exit 0")
}

fn ask(stage: &Stage, name: &str, timeout: &str) -> (i32, String, String) {
    let mut command = stage.json(&["ask", "x", "--to", name, "--timeout", timeout]);
    let ran = stage.run(command.env("GEMINI_API_KEY", "k"));
    let object = ran.json();
    let error = &object["error"];
    let text = |field: &str| error[field].as_str().unwrap_or_default().to_string();
    assert!(text("message").contains(name), "it is named: {object}");
    assert!(!text("hint").is_empty(), "what to do next is said: {object}");
    (ran.code, text("kind"), text("message"))
}

#[test]
fn one_that_is_not_there_is_named_with_how_to_get_it() {
    let stage = Stage::new();
    for name in names() {
        stage.fails(&["ask", "x", "--to", name], 10, "notInstalled").says(&[
            name,
            "not installed",
            "npm install",
        ]);
        stage.fails(&["review", "--to", name], 10, "notInstalled").says(&[name]);
        stage.fails(&["do", "x", "--to", name], 10, "notInstalled").says(&[name]);
    }
    // A file that cannot be run, a directory, one whose interpreter is not there, an empty one.
    let stage = stage.script("gemini", "").script("opencode", "").script("node", "exit 0");
    std::fs::write(stage.bin("codex"), "no program").unwrap();
    std::fs::create_dir(stage.bin("claude")).unwrap();
    std::fs::write(stage.bin("gemini"), "#!/nowhere/node\n").unwrap();
    std::fs::write(stage.bin("opencode"), "").unwrap();
    for name in names() {
        let (code, kind, message) = ask(&stage, name, ENOUGH);
        assert_eq!(code, 10, "{name}: {kind} {message}");
    }
}

#[test]
fn one_that_is_too_old_or_not_signed_in_gets_no_prompt() {
    let stage = Stage::new().codex(&Codex { version: "0.1.0", ..Codex::answering("Fine.") });
    relay_snapshot!(stage.fails(&["ask", "x"], 10, "tooOld"), @"
    exit 10
    ----- stderr -----
    ✗ codex 0.1.0 is too old: relay knows 0.154.0 and later; nothing was changed
      bring it up to date; `relay friends` shows what is installed
    ");
    let account = r#"{"account":null,"requiresOpenaiAuth":true}"#;
    let stage = stage.codex(&Codex { account, ..Codex::answering("Fine.") });
    relay_snapshot!(stage.fails(&["ask", "x"], 10, "notSignedIn"), @"
    exit 10
    ----- stderr -----
    ✗ codex is not signed in: it has no account and no key; nothing was changed
      run `codex login`
    ");
    assert!(!stage.log().contains("turn/start"));
    let stage = stage.script("claude", "case $1 in --version) echo 2.1.325;; *) echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"result\":\"Invalid API key · Please run /login\"}'; exit 1;; esac");
    relay_snapshot!(stage.fails(&["ask", "x", "--to", "claude"], 10, "notSignedIn"), @"
    exit 10
    ----- stderr -----
    ✗ claude is not signed in: Invalid API key · Please run /login; nothing was changed
      run `claude auth login`, or set ANTHROPIC_API_KEY
    ");
}

#[test]
fn one_that_never_begins_runs_out_of_its_time() {
    let stage = all("exec sleep 1000");
    for name in names() {
        let (code, kind, message) = ask(&stage, name, "2");
        assert_eq!((code, kind.as_str()), (12, "timedOut"), "{message}");
        assert!(message.contains("2 s"), "{message}");
    }
}

#[test]
fn one_that_waits_for_its_network_for_ever_is_not_waited_for() {
    let turn = format!(
        "while :; do echo '{}'; sleep 0.2; done",
        r#"{"method":"error","params":{"error":{"message":"stream disconnected: error sending request for url (http://127.0.0.1:9/)"},"willRetry":true}}"#
    );
    let stage = Stage::new().codex(&Codex::turning(&turn));
    let (code, kind, message) = ask(&stage, "codex", ENOUGH);
    assert_eq!((code, kind.as_str()), (10, "unreachable"), "{message}");
    assert!(message.matches("error sending").count() == 1, "{message}");
    // One that says nothing at all has the idle limit.
    let stage = Stage::new().codex(&Codex::turning("sleep 1000"));
    relay_snapshot!(stage.fails(&["ask", "x", "--idle-timeout", "1"], 12, "timedOut"), @"
    exit 12
    ----- stderr -----
    ✗ codex timed out after 1 s without a sign of life; nothing was changed
      give it longer with `--idle-timeout SECONDS`
    ");
}

#[test]
fn one_that_dies_says_nothing_or_raves_has_given_no_answer() {
    let known = "case $1 in mcp) echo '[]'; exit 0;; --version) echo 'codex 2.1.325'; exit 0;; esac";
    let scraps = "echo '{}'; echo '[]'; echo null; echo '{\"id\":1}'; echo '{\"id\":1,\"result\":5}'; exit 0";
    // Whoever of them has failed; codex, which is asked in another way then, has just said nothing.
    let every: Vec<&str> = names().collect();
    let others: Vec<&str> = names().filter(|name| *name != "codex").collect();
    for (script, failed) in [
        ("exit 0", &others),
        ("exit 7", &every),
        ("echo 'out of memory' >&2; exit 3", &every),
        ("kill -9 $$", &every),
        // More lines than are read of codex.
        ("head -c 1000000 /dev/urandom; exit 0", &every),
        (scraps, &others),
        ("head -c 300000 /dev/urandom; head -c 300000 /dev/urandom >&2; exit 1", &every),
    ] {
        let script = format!("{known}; {script}");
        let stage = all(&script);
        for name in names() {
            let (code, kind, message) = ask(&stage, name, ENOUGH);
            let expected = if failed.contains(&name) { (10, "friendFailed") } else { (11, "noAnswer") };
            assert_eq!((code, kind.as_str()), expected, "{name}, {script}: {message}");
            assert!(!script.contains("memory") || message.contains("out of memory"), "{name}: {message}");
            assert!(message.chars().count() < 2_500, "{name}: {}", message.len());
        }
    }
}

#[test]
fn one_that_is_killed_in_the_middle_of_its_answer_has_failed() {
    let half = r#"echo '{"id":5,"result":{"turn":{"id":"t"}}}'; echo '{"method":"item/agentMessage/delta","params":{"threadId":"01a1de0c-0000-7000-8000-000000000001","delta":"Half an ans"}}'; kill -9 $$"#;
    let stage = Stage::new().codex(&Codex::turning(half));
    relay_snapshot!(stage.fails(&["ask", "x"], 10, "friendFailed"), @"
    exit 10
    ----- stderr -----
    ✗ codex failed: it was ended by signal 9; nothing was changed
      `relay friends --test` says whether it answers at all
    ");
    let ran = stage.run(&mut stage.json(&["ask", "x", "--stream"]));
    let last: serde_json::Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    assert_eq!((ran.code, &last["error"]["kind"]), (10, &"friendFailed".into()), "{ran:?}");
    let ran = stage.relay(&["ask", "x", "--stream"]);
    assert_eq!(ran.code, 10, "half an answer is none: {ran:?}");
}

#[test]
fn a_flood_does_not_reach_relays_memory() {
    for flood in [FLOOD, LINES] {
        // Into the answer, and past it.
        let stage = Stage::new().codex(&Codex::turning(&format!("{flood}; exit 0")));
        let (code, kind, message) = ask(&stage, "codex", ENOUGH);
        assert_eq!(code, 10, "{kind} {message}");
        let stage =
            Stage::new().codex(&Codex::turning(&format!("{{ {flood}; }} >&2; {}", answering("Fine."))));
        let said = stage.works(&["ask", "x"]);
        assert_eq!(said["answers"][0]["text"], "Fine.");
    }
    let stage = all(&format!("{{ {FLOOD}; }}; exit 1"));
    for name in names().filter(|name| *name != "codex") {
        let (code, kind, message) = ask(&stage, name, ENOUGH);
        assert_eq!(code, 10, "{name}: {kind} {message}");
    }
}

#[test]
fn nothing_outlives_a_question() {
    let keeps_stdout = "sleep 1000 & ";
    let leaves = "setsid sh -c 'trap \"\" TERM HUP INT; while :; do sleep 1000; done' & ";
    let leaves_twice = "setsid setsid sh -c 'trap \"\" TERM; exec >/dev/null 2>&1 </dev/null; sleep 1000' & ";
    for helper in [keeps_stdout, leaves, leaves_twice] {
        let stage = Stage::new().codex(&Codex::turning(&format!("{helper}{}", answering("Fine."))));
        assert_eq!(stage.works(&["ask", "x"])["answers"][0]["text"], "Fine.");
        let stage = Stage::new().codex(&Codex::turning(&format!("{helper} exit 1")));
        stage.fails(&["ask", "x"], 10, "friendFailed");
    }
    let stage = all(&format!("{leaves} trap '' TERM; sleep 1000"));
    for name in names() {
        assert_eq!(ask(&stage, name, "1").0, 12, "{name}");
    }
}

#[test]
fn a_model_server_that_says_nothing_or_nonsense_has_given_no_answer() {
    let stage = Stage::new();
    let models = stage.project.home().join("models.yml");
    for (turn, code, kind) in [
        (ScriptedTurn::text(""), 11, "noAnswer"),
        (ScriptedTurn::text(" \n\u{200b}"), 11, "noAnswer"),
        (ScriptedTurn::status(401), 10, "notSignedIn"),
        (ScriptedTurn::status(400), 10, "friendFailed"),
        (ScriptedTurn::raw(["no json at all\n", "<html>"]), 10, "friendFailed"),
    ] {
        let server = ScriptedServer::start(Script::any([turn]).models(["m"]));
        let retry = "retry: {requestMaxRetries: 0, streamMaxRetries: 0, baseDelayMs: 1}\n";
        std::fs::write(&models, format!("providers: {{ollama: {{baseUrl: '{}'}}}}\n{retry}", server.url()))
            .unwrap();
        stage.fails(&["ask", "x", "--to", "ollama/m", "--timeout", ENOUGH], code, kind).says(&["ollama"]);
    }
}
