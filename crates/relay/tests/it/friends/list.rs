//! `relay friends` where there is nobody, or nobody well; and friends whose words a terminal would obey.

use relaycode_friend::friends;
use relaycode_testkit::hostile_text::find_unsafe_char;
use serde_json::json;

use crate::friends::fixture::{Codex, Stage, THREAD, answering};
use crate::relay_snapshot;

#[test]
fn with_nobody_there_it_says_how_to_get_somebody() {
    let stage = Stage::bare();
    let ran = stage.relay(&["friends"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for package in ["@openai/codex", "@anthropic-ai/claude-code", "@google/gemini-cli", "opencode-ai"] {
        assert!(ran.out.contains(package), "how to get it: {package}: {ran:?}");
    }
    let listed = stage.works(&["friends"]);
    assert!(
        listed["friends"]
            .as_array()
            .unwrap()
            .iter()
            .take(friends::ALL.len())
            .all(|friend| friend["found"].is_null()),
        "{listed}"
    );
    // relay's own agent is always there, and is asked for a word only by its name.
    let own = &listed["friends"][friends::ALL.len()];
    assert_eq!((&own["name"], &own["found"].is_string()), (&json!("self"), &true), "{listed}");
    assert!(ran.out.contains("self"), "{ran:?}");
    let tested = stage.works(&["friends", "--test"]);
    assert!(tested["friends"].as_array().unwrap().iter().all(|friend| friend["test"].is_null()), "{tested}");
    relay_snapshot!(stage.fails(&["friends", "nobody"], 2, "friend"), @"
    exit 2
    ----- stderr -----
    ✗ there is no friend `nobody`. There are codex, claude, gemini, opencode, self, anthropic, openai, google, xai, deepseek, mistral, zai, moonshot, groq, cerebras, together, fireworks, openrouter, vercel-gateway, github-models, ollama, llama.cpp, lm-studio
      `relay friends` shows who is there, `relay models` which servers there are
    ");
    relay_snapshot!(stage.fails(&["friends", "claud"], 2, "friend"), @"
    exit 2
    ----- stderr -----
    ✗ there is no friend `claud`; did you mean `claude`? There are codex, claude, gemini, opencode, self, anthropic, openai, google, xai, deepseek, mistral, zai, moonshot, groq, cerebras, together, fireworks, openrouter, vercel-gateway, github-models, ollama, llama.cpp, lm-studio
      `relay friends` shows who is there, `relay models` which servers there are
    ");
    let ran = stage.relay(&["friends", "sessions"]);
    relay_snapshot!(ran, @"
    exit 0
    ----- stdout -----
      no conversation goes on by name; `relay ask … --session NAME` begins one
    ");
}

#[test]
fn a_broken_one_is_shown_as_broken_and_does_not_hide_the_others() {
    let stage = Stage::bare()
        .codex(&Codex::answering("OK"))
        .script("claude", "echo 'no such library' >&2; exit 127")
        .script("gemini", "kill -9 $$")
        .script("opencode", "echo 0.0.1");
    let ran = stage.relay(&["friends"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("no such library") && ran.out.contains("0.166.0"), "{ran:?}");
    assert!(ran.out.contains("needs node"), "{ran:?}");
    let ran = stage.run(&mut stage.json(&["friends", "codex", "claude", "--test"]));
    let listed = ran.json();
    assert_eq!(listed["friends"][0]["test"]["ok"], true, "{listed}");
    assert_eq!(listed["friends"][1]["test"]["ok"], false, "{listed}");
    assert_eq!(ran.code, 10, "{ran:?}");
    let stage = Stage::bare().codex(&Codex { version: "0.1.0", ..Codex::answering("OK") });
    let ran = stage.relay(&["friends", "codex"]);
    relay_snapshot!(ran, @"
    exit 0
    ----- stdout -----
    ! codex  0.1.0 · there · reads files, changes files, streams, reviews by itself, remembers sessions, follows schemas, has a sandbox of its own
             too old: relay knows 0.154.0 and later; install it with `npm install -g @openai/codex`
    ");
}

/// A bit of everything.
const HOSTILE: &str =
    "a\u{1b}]52;c;aGk=\u{7}b\u{1b}[2J\u{9b}31m\u{202e}c\u{200b}d\u{e0041}e\u{fe0f}\rf\u{7f}";

#[test]
fn p9_nothing_that_a_friend_says_reaches_the_terminal_raw() {
    let say = |message: serde_json::Value| format!("cat <<'END'\n{message}\nEND\n");
    let long = format!("{HOSTILE}{}", "x".repeat(1 << 20));
    let started = |item: serde_json::Value| {
        say(json!({"method": "item/started", "params": {"threadId": THREAD, "item": item}}))
    };
    let delta = say(
        json!({"method": "item/agentMessage/delta", "params": {"threadId": THREAD, "itemId": "m", "delta": HOSTILE}}),
    );
    let asks = |method: &str, params: serde_json::Value| {
        say(json!({"id": "q", "method": method, "params": params})) + "IFS= read -r line\n"
    };
    let turn = [
        started(json!({"type": "commandExecution", "id": "c", "command": HOSTILE})),
        started(json!({"type": "mcpToolCall", "id": "t", "server": HOSTILE, "tool": HOSTILE})),
        started(json!({"type": "fileChange", "id": "f", "changes": [{"path": HOSTILE, "kind": {"type": "add"}, "diff": ""}]})),
        asks("item/commandExecution/requestApproval", json!({"threadId": THREAD, "itemId": "c", "command": HOSTILE, "reason": HOSTILE})),
        asks("item/fileChange/requestApproval", json!({"threadId": THREAD, "itemId": "f", "reason": HOSTILE})),
        asks(HOSTILE, json!({"threadId": THREAD})),
        delta,
        say(json!({"method": "error", "params": {"threadId": THREAD, "willRetry": true, "error": {"message": HOSTILE}}})),
    ]
    .concat();
    let good = Codex::turning(&format!("{turn}{}", answering(&format!("{HOSTILE}\n{long}"))));
    let failed = say(json!({"id": 5, "result": {"turn": {"id": "t"}}}))
        + &say(
            json!({"method": "turn/completed", "params": {"threadId": THREAD, "turn": {"status": "failed", "error": {"message": format!("{HOSTILE} {long}")}}}}),
        );
    let bad = Codex::turning(&format!("{turn}{failed}"));
    let raving = Codex {
        first: format!("cat >&2 <<'END'\n{HOSTILE}\n{long}\n{HOSTILE}\nEND\nexit 1"),
        ..Codex::answering("x")
    };
    let working = Codex::working(&format!("touch '{}'; echo x >a.txt", HOSTILE.replace('/', "")));
    for codex in [good, bad, raving, working] {
        let does = codex.writes;
        let stage = Stage::new().codex(&codex);
        let commands: &[&[&str]] = match does {
            true => &[&["do", "x"], &["do", "x", "--stream", "--diff"]],
            false => &[
                &["ask", "x"],
                &["ask", "x", "--stream"],
                &["review"],
                &["review", "--verdict"],
                &["friends", "codex", "--test"],
            ],
        };
        for words in commands {
            for more in [&["--color", "always"][..], &["--json"], &["-v"]] {
                let words: Vec<&str> = more.iter().chain(*words).copied().collect();
                let output = stage.command(&words).output().unwrap();
                assert!(
                    output.status.code().is_some_and(|code| code < 100 && code != 1),
                    "{words:?}: {output:?}"
                );
                for bytes in [output.stdout, output.stderr] {
                    let text = String::from_utf8(bytes).unwrap();
                    assert_eq!(
                        find_unsafe_char(&text, more[0] == "--color"),
                        None,
                        "{words:?}: {:.2000}",
                        text.escape_debug().to_string()
                    );
                }
            }
        }
    }
}
