//! The friend claude with a program that plays what claude says, in other orders and with things going wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use relaycode_friend::friend::answer::DeclinedActionKind;
use relaycode_friend::friend::event::FriendEvent;
use relaycode_friend::friend::request::TurnLimits;
use relaycode_friend::friends::claude::Claude;
use relaycode_friend::{AskRequest, FriendAnswer, FriendContext, FriendFailure, TurnMemory};
use relaycode_testkit::process::GENEROUS_TIMEOUT;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake_friends::send;
use crate::keeper_fixture::runner;

/// What the player does in the places where plays differ, in the language of the shell.
struct Play {
    /// Before anything is read.
    first: &'static str,
    /// When it is asked to begin.
    hello: &'static str,
    /// What it says of itself, beside its session and its directory.
    init: Value,
    /// When the real prompt has come.
    turn: String,
}

const HELLO: &str =
    r#"echo '{"response":{"response":{},"request_id":"1","subtype":"success"},"type":"control_response"}'"#;

fn init() -> Value {
    json!({"type": "system", "subtype": "init", "tools": ["Read", "Grep", "Glob"], "mcp_servers": [],
        "model": "m", "permissionMode": "default", "claude_code_version": "2.1.325", "session_id": "s", "cwd": "HERE"})
}

fn result(text: &str) -> Value {
    json!({"is_error": false, "permission_denials": [], "usage": {"input_tokens": 10, "output_tokens": 5},
        "subtype": "success", "result": text, "type": "result"})
}

fn say(message: &Value) -> String {
    format!("cat <<'END'\n{message}\nEND\n")
}

fn ask(number: u32, callback: &str, input: &Value) -> String {
    let request = json!({"subtype": "hook_callback", "callback_id": callback, "input": input});
    say(&json!({"request": request, "request_id": format!("q{number}"), "type": "control_request"}))
}

fn tool(number: u32, name: &str, input: &Value) -> String {
    ask(number, "tool", &json!({"tool_name": name, "tool_input": input, "tool_use_id": format!("t{number}")}))
}

impl Default for Play {
    fn default() -> Play {
        Play { first: "", hello: HELLO, init: init(), turn: say(&result("Hello.")) }
    }
}

impl Play {
    fn turning(turn: String) -> Play {
        Play { turn, ..Play::default() }
    }

    fn stage(&self) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("project")).unwrap();
        fs::write(root.join("init.json"), format!("{}\n", self.init)).unwrap();
        let script = format!(
            r#"#!/bin/sh
here=$PWD
cd '{root}'
echo "$*" >>calls
case "$1" in --version) echo '2.1.325 (Claude Code)'; exit 0 ;; esac
init() {{ sed "s|HERE|$here|" init.json; }}
{first}
while IFS= read -r line; do
  printf '%s\n' "$line" >>said
  case "$line" in
  *'"subtype":"initialize"'*) {hello}
    ;;
  *'relay asks what'*)
    echo '{{"request":{{"callback_id":"prompt","subtype":"hook_callback"}},"request_id":"k","type":"control_request"}}' ;;
  *'"request_id":"k"'*) init; echo '{knocked}' ;;
  *'the prompt'*)
    {turn} ;;
  esac
done
"#,
            root = root.display(),
            first = self.first,
            hello = self.hello,
            knocked = result("blocked"),
            turn = self.turn,
        );
        let program = root.join("claude");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Stage { claude: Claude::at(&program), folder }
    }

    fn go(&self) -> (Result<FriendAnswer, FriendFailure>, Vec<FriendEvent>) {
        let stage = self.stage();
        stage.go(&stage.turn())
    }
}

struct Stage {
    folder: TempDir,
    claude: Claude,
}

impl Stage {
    fn turn(&self) -> AskRequest {
        AskRequest::new(
            "the prompt",
            fs::canonicalize(self.folder.path().join("project")).unwrap(),
            TurnLimits::new(GENEROUS_TIMEOUT, GENEROUS_TIMEOUT),
        )
    }

    fn go(&self, turn: &AskRequest) -> (Result<FriendAnswer, FriendFailure>, Vec<FriendEvent>) {
        let stop = &|| false;
        let world = FriendContext {
            runner: runner(),
            home: None,
            env_var: &|_| None,
            stop_requested: stop,
            depth: 0,
        };
        let mut events = Vec::new();
        let result = send(&self.claude, turn, &world, &mut |event| events.push(event));
        (result, events)
    }

    fn said(&self) -> Vec<Value> {
        let said = fs::read_to_string(self.folder.path().join("said")).unwrap_or_default();
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn heard_the_prompt(&self) -> bool {
        self.said().iter().any(|message| message.to_string().contains("the prompt"))
    }
}

#[test]
fn an_answer_is_heard_between_garbage_with_its_keys_in_any_order() {
    let garbage = "echo; echo '{'; echo '[1]'; printf '\\033[31mred\\n'; printf '\\377\\376\\n'\n";
    let text = json!({"event": {"delta": {"text": "Hello.", "type": "text_delta"}, "type": "content_block_delta"},
        "type": "stream_event"});
    let (result, events) =
        Play::turning([garbage, &say(&text), garbage, &say(&result("Hello."))].concat()).go();
    let answer = result.unwrap();
    assert_eq!(
        (answer.text.as_str(), answer.transport, answer.model.as_deref()),
        ("Hello.", "stdio", Some("m"))
    );
    assert_eq!(events, [FriendEvent::Ready { transport: "stdio" }, FriendEvent::Text("Hello.".to_string())]);
}

#[test]
fn a_failure_that_calls_itself_a_success_is_a_failure() {
    let mut failure = result("API Error: 529 overloaded");
    failure["is_error"] = json!(true);
    let (result, _) = Play::turning(say(&failure)).go();
    assert!(matches!(result.unwrap_err(), FriendFailure::Failed { said, .. } if said.contains("529")));
    let mut unsaid = self::result("Hello.");
    unsaid.as_object_mut().unwrap().remove("is_error");
    assert!(Play::turning(say(&unsaid)).go().0.is_err(), "no word of it is no good word");
    assert!(matches!(Play::turning(say(&self::result(" \n"))).go().0, Err(FriendFailure::NoAnswer { .. })));
}

#[test]
fn what_it_asks_is_answered_and_what_is_declined_counts_once() {
    let mut end = result("Done.");
    end["permission_denials"] = json!([{"tool_use_id": "t1", "tool_name": "Write", "tool_input": {}},
        {"tool_use_id": "t9", "tool_name": "Bash", "tool_input": {"command": "ls"}}]);
    let again = json!({"subtype": "can_use_tool", "tool_name": "Write", "input": {"file_path": "a"}, "tool_use_id": "t1"});
    let turn = [
        tool(1, "Write", &json!({"file_path": "a"})),
        say(&json!({"request": again, "request_id": "q2", "type": "control_request"})),
        tool(3, "Read", &json!({"file_path": "b"})),
        say(&json!({"request": {"subtype": "elicitation"}, "request_id": "q4", "type": "control_request"})),
        // The answers are read before the end is told.
        "for _ in 1 2 3 4; do IFS= read -r line; printf '%s\\n' \"$line\" >>said; done\n".to_string(),
        say(&end),
    ];
    let stage = Play::turning(turn.concat()).stage();
    let (result, events) = stage.go(&stage.turn());
    let declined = result.unwrap().declined;
    assert_eq!(
        declined.iter().map(|it| it.kind).collect::<Vec<_>>(),
        [DeclinedActionKind::Write, DeclinedActionKind::Command]
    );
    assert_eq!(events.iter().filter(|event| matches!(event, FriendEvent::Declined(_))).count(), 2);
    let answer = |id: &str| {
        let said = stage.said();
        let answer = said.iter().find(|message| message["response"]["request_id"] == id).unwrap();
        answer["response"].clone()
    };
    let decision = |id: &str| answer(id)["response"]["hookSpecificOutput"]["permissionDecision"].clone();
    assert_eq!((decision("q1"), decision("q3")), (json!("deny"), json!("allow")));
    assert_eq!(answer("q2")["response"]["behavior"], "deny");
    assert_eq!(answer("q4")["subtype"], "error");
    assert_eq!(answer("k")["response"]["decision"], "block");
}

#[test]
fn one_that_works_with_something_else_does_not_hear_the_prompt() {
    let changed = |key: &str, value: Value| {
        let mut init = init();
        init[key] = value;
        init
    };
    for (init, word) in [
        (changed("tools", json!(["Read", "Write"])), "Write"),
        (changed("tools", Value::Null), "tools"),
        (changed("permissionMode", json!("bypassPermissions")), "bypassPermissions"),
        (changed("permissionMode", json!("acceptEdits")), "acceptEdits"),
        (changed("mcp_servers", json!([{"name": "x"}])), "tool servers"),
        (changed("cwd", json!("/")), "directory"),
    ] {
        let stage = Play { init, ..Play::default() }.stage();
        let (result, events) = stage.go(&stage.turn());
        let failure = result.unwrap_err();
        assert!(
            matches!(&failure, FriendFailure::AccessMismatch { got, .. } if got.contains(word)),
            "{failure:?}"
        );
        assert!(!stage.heard_the_prompt() && events.is_empty(), "{word}");
    }
    let stage = Play { init: changed("claude_code_version", json!("2.1.100")), ..Play::default() }.stage();
    assert!(matches!(stage.go(&stage.turn()).0, Err(FriendFailure::TooOld { .. })));
    let stage = Play::default().stage();
    let mut turn = stage.turn();
    turn.memory = TurnMemory::Begin;
    assert!(
        matches!(stage.go(&turn).0, Err(FriendFailure::UnknownSession { .. })),
        "another session than was begun"
    );
    assert!(!stage.heard_the_prompt());
}

#[test]
fn one_that_acts_without_asking_is_ended() {
    // It takes the first prompt for a prompt.
    let hello = r#"echo '{"type":"control_response","response":{"subtype":"success","request_id":"1","response":{}}}'
        echo '{"type":"assistant","message":{"content":[]}}'"#;
    let stage = Play { hello, ..Play::default() }.stage();
    assert!(matches!(stage.go(&stage.turn()).0, Err(FriendFailure::AccessMismatch { .. })));
    assert!(!stage.heard_the_prompt());
}

#[test]
fn death_at_every_point_is_a_failure_that_says_how_it_ended() {
    for (play, words) in [
        (Play { first: "exit 3", ..Play::default() }, "code 3"),
        (Play { hello: "exit 3", ..Play::default() }, "code 3"),
        (Play { hello: "kill -9 $$", ..Play::default() }, "signal 9"),
        (
            Play {
                hello: r#"echo '{"type":"control_response","response":{"subtype":"error","request_id":"1","error":"no"}}'"#,
                ..Play::default()
            },
            "it does not take relay's questions: no",
        ),
    ] {
        let stage = play.stage();
        let (result, events) = stage.go(&stage.turn());
        assert!(
            matches!(result.as_ref().unwrap_err(), FriendFailure::Failed { said, .. } if said.contains(words)),
            "{result:?}"
        );
        assert!(events.is_empty() && !stage.heard_the_prompt(), "{events:?}");
    }
    for (turn, words) in [
        ("exit 0", "code 0"),
        ("echo last words >&2; exit 1", "last words"),
        ("kill -9 $$", "signal 9"),
        (
            r#"echo '{"type":"assistant","message":{"content":[{"type":"text","text":"Half"}]}}'; exit 0"#,
            "code 0",
        ),
        (r#"printf '{"type":"result","is_error":false'; exit 0"#, "code 0"),
    ] {
        let (result, _) = Play::turning(turn.to_string()).go();
        assert!(
            matches!(result.as_ref().unwrap_err(), FriendFailure::Failed { said, .. } if said.contains(words)),
            "{result:?}"
        );
    }
}

#[test]
fn one_that_never_answers_is_ended_at_the_limit() {
    for play in [
        Play { first: "while :; do sleep 1; done", ..Play::default() },
        Play { hello: ":", ..Play::default() },
        Play::turning(":".to_string()),
        Play::turning("trap '' TERM; while :; do sleep 1; done".to_string()),
    ] {
        let stage = play.stage();
        let mut turn = stage.turn();
        turn.limits = TurnLimits::new(Duration::from_secs(3), GENEROUS_TIMEOUT);
        let began = Instant::now();
        let (result, _) = stage.go(&turn);
        assert!(matches!(result.unwrap_err(), FriendFailure::TimedOut { idle: false, .. }));
        assert!(began.elapsed() < GENEROUS_TIMEOUT);
    }
}

#[test]
fn output_without_end_is_not_kept_and_not_waited_for() {
    // One line without an end, and lines that are nothing.
    let (result, _) = Play::turning("head -c 100000000 /dev/zero | tr '\\0' x; echo".to_string()).go();
    assert!(matches!(result.unwrap_err(), FriendFailure::AnswerTooLarge { .. }));
    let (result, _) = Play::turning("yes".to_string()).go();
    assert!(
        matches!(result.unwrap_err(), FriendFailure::Failed { said, .. } if said.contains("no messages"))
    );
}
