//! The friend codex with a program that plays what codex was heard to say (`tests/data/codex`, recorded), and
//! what it might say when things go wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use relaycode_friend::AnswerFormat;
use relaycode_friend::friend::answer::{DeclinedAction, DeclinedActionKind};
use relaycode_friend::friend::event::FriendEvent;
use relaycode_friend::friend::request::TurnLimits;
use relaycode_friend::friends::codex::Codex;
use relaycode_friend::{AskRequest, Friend, FriendAnswer, FriendContext, FriendFailure, TurnMemory};
use relaycode_project::access::Access;
use relaycode_testkit::process::{CLEANUP_TIMEOUT, GENEROUS_TIMEOUT, poll_until};
use relaycode_testkit::process_table::{ProcessStart, find_processes};
use rustix::process::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake_friends::{send, since};
use crate::keeper_fixture::runner;

/// The thread of the recordings.
const THREAD: &str = "01a1de0c-0000-7000-8000-000000000001";

/// In the environment of everything that a player starts.
const MARK: &str = "RELAY_FRIEND_PLAY";

/// What the player does in the places where plays differ, in the language of the shell.
struct Play {
    /// Before anything is read.
    first: &'static str,
    agent: &'static str,
    account: &'static str,
    sandbox: &'static str,
    approvals: &'static str,
    /// When the prompt has come.
    turn: String,
    /// What `codex exec` prints, and its code.
    exec: (&'static str, i32),
}

impl Default for Play {
    fn default() -> Play {
        Play {
            first: "",
            agent: "relay/0.166.0 (a machine)",
            account: r#"{"account":null,"requiresOpenaiAuth":false}"#,
            sandbox: r#"{"type":"readOnly","networkAccess":false}"#,
            approvals: "on-request",
            turn: String::new(),
            exec: ("", 9),
        }
    }
}

struct Stage {
    folder: TempDir,
    codex: Codex,
}

impl Play {
    fn recorded(name: &str) -> Play {
        Play {
            turn: format!("cat '{}/tests/data/codex/{name}.jsonl'", env!("CARGO_MANIFEST_DIR")),
            ..Play::default()
        }
    }

    fn turning(turn: &str) -> Play {
        Play { turn: turn.to_string(), ..Play::default() }
    }

    fn stage(&self) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("project")).unwrap();
        fs::write(root.join("exec.jsonl"), self.exec.0).unwrap();
        let echo = format!(
            r#"{{"id":4,"result":{{"thread":{{"id":"{THREAD}"}},"model":"m","cwd":"%s","approvalPolicy":"{}","approvalsReviewer":"user","sandbox":{},"activePermissionProfile":{{"id":"%s"}}}}}}"#,
            self.approvals, self.sandbox
        );
        let script = format!(
            r#"#!/bin/sh
here=$PWD
cd '{root}'
export {MARK}='{root}'
echo "$*" >>calls
case "$1" in
--version) echo 'codex-cli 0.166.0'; exit 0 ;;
mcp) echo '[]'; exit 0 ;;
exec) cat >prompt; cat exec.jsonl; echo 'last words' >&2; exit {code} ;;
esac
{first}
while IFS= read -r line; do
  printf '%s\n' "$line" >>said
  case "$line" in
  *'"method":"initialize"'*) echo '{{"id":1,"result":{{"userAgent":"{agent}","codexHome":"/nowhere"}}}}' ;;
  *'"method":"account/read"'*) echo '{{"id":2,"result":{account}}}' ;;
  *'"method":"config/read"'*) echo '{{"id":3,"result":{{"config":{{}}}}}}' ;;
  *'"method":"thread/'*)
    profile=${{line#*'"default_permissions":"'}}
    printf '{echo}\n' "$here" "${{profile%%'"'*}}" ;;
  *'"method":"turn/start"'* | *'"method":"review/start"'*)
    {turn} ;;
  esac
done
"#,
            root = root.display(),
            code = self.exec.1,
            first = self.first,
            agent = self.agent,
            account = self.account,
            turn = self.turn,
        );
        let program = root.join("codex");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Stage { codex: Codex::at(&program), folder }
    }
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
        self.go_until(turn, &|| false)
    }

    fn go_until(
        &self,
        turn: &AskRequest,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> (Result<FriendAnswer, FriendFailure>, Vec<FriendEvent>) {
        let world = FriendContext {
            runner: runner(),
            home: None,
            env_var: &|_| None,
            stop_requested: stop,
            depth: 0,
        };
        let mut events = Vec::new();
        let result = send(&self.codex, turn, &world, &mut |event| events.push(event));
        (result, events)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// Such of those that a player started and that still run.
    fn left(&self, such: impl Fn(&ProcessStart) -> bool) -> Vec<Pid> {
        let mark = format!("{MARK}={}", self.folder.path().display());
        find_processes(|given| given.has_env(&mark) && such(given))
    }

    /// The messages that codex got.
    fn said(&self) -> Vec<Value> {
        self.read("said").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn prompts(&self) -> usize {
        self.said().iter().filter(|message| message["method"] == "turn/start").count()
    }
}

fn texts(events: &[FriendEvent]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|event| if let FriendEvent::Text(text) = event { Some(text.as_str()) } else { None })
        .collect()
}

/// A turn of one whole message.
fn answering(text: &str) -> String {
    let item = json!({"type": "agentMessage", "id": "m", "text": text});
    let lines = [
        json!({"id": 5, "result": {"turn": {"id": "t"}}}),
        json!({"method": "item/completed", "params": {"threadId": THREAD, "item": item}}),
        json!({"method": "turn/completed", "params": {"threadId": THREAD, "turn": {"status": "completed"}}}),
    ];
    lines.map(|line| format!("echo '{line}'\n")).concat()
}

#[test]
fn a_recorded_turn_is_heard_as_it_was_said() {
    let stage = Play::recorded("text").stage();
    let (result, events) = stage.go(&stage.turn());
    let answer = result.unwrap();
    assert_eq!(
        (answer.text.as_str(), answer.transport, answer.model.as_deref()),
        ("Hello there", "app-server", Some("m"))
    );
    assert_eq!(answer.usage.map(|usage| (usage.input, usage.output)), Some((10, 5)));
    assert_eq!(texts(&events), ["Hel", "lo ", "there"]);
    assert_eq!(
        events[..2],
        [
            FriendEvent::Ready { transport: "app-server" },
            FriendEvent::Thinking("thinking about it".to_string())
        ]
    );
    let methods: Vec<Value> = stage.said().iter().map(|message| message["method"].clone()).collect();
    assert_eq!(
        methods,
        ["initialize", "initialized", "account/read", "config/read", "thread/start", "turn/start"]
            .map(Value::from)
    );
    let thread = &stage.said()[4]["params"];
    assert_eq!((&thread["approvalPolicy"], &thread["ephemeral"]), (&json!("on-request"), &json!(true)));
    let profile = thread["config"]["default_permissions"].as_str().unwrap();
    let files = &thread["config"][format!("permissions.{profile}.filesystem")];
    assert_eq!(*files, json!({":root": "read", "/nowhere/auth.json": "deny"}));
}

#[test]
fn what_a_recorded_turn_asks_for_is_declined() {
    let declined = |kind, what: &str| DeclinedAction { kind, what: what.to_string() };
    let files = ["main.rs", "new.txt"]
        .map(|name| declined(DeclinedActionKind::Write, &format!("/projects/demo/{name}")));
    let command = [declined(DeclinedActionKind::Command, "/bin/bash -lc 'touch made.txt'")];
    for (name, expected) in [("declined-change", &files[..]), ("declined-command", &command[..])] {
        let stage = Play::recorded(name).stage();
        let (result, events) = stage.go(&stage.turn());
        assert_eq!(result.unwrap().declined, expected, "{name}");
        assert!(expected.iter().all(|what| events.contains(&FriendEvent::Declined(what.clone()))), "{name}");
        let answers: Vec<Value> = stage.said().iter().map(|message| message["result"].clone()).collect();
        // What is said after the turn is over may not be read any more.
        assert!(answers.iter().all(|answer| answer.is_null() || *answer == json!({"decision": "decline"})));
    }
}

#[test]
fn a_write_by_shell_that_the_sandbox_stopped_is_named() {
    let command = "/bin/bash -lc 'touch made.txt; true'";
    let item = |output: &str| {
        json!({"type": "commandExecution", "id": "c", "command": command, "status": "completed", "exitCode": 0,
               "aggregatedOutput": output})
    };
    let ran =
        |output| json!({"method": "item/completed", "params": {"threadId": THREAD, "item": item(output)}});
    let said = |output| format!("cat <<'EOF'\n{}\nEOF\n{}", ran(output), answering("ok"));
    let stage = Play::turning(&said("touch: cannot touch 'made.txt': Read-only file system\n")).stage();
    let (result, events) = stage.go(&stage.turn());
    let expected = DeclinedAction { kind: DeclinedActionKind::Command, what: command.to_string() };
    assert_eq!(result.unwrap().declined, std::slice::from_ref(&expected));
    assert!(events.contains(&FriendEvent::Declined(expected)));
    let stage = Play::turning(&said("done\n")).stage();
    assert_eq!(stage.go(&stage.turn()).0.unwrap().declined, []);
}

/// codex 0.166 says at each start that it has no `bubblewrap`, in colours, and goes on.
#[test]
fn what_codex_says_when_it_starts_is_not_why_a_turn_took_too_long() {
    let first = "printf '\\033[31mERROR\\033[0m something harmless at the start\\n' >&2";
    let stage = Play { first, ..Play::turning("sleep 1000") }.stage();
    let mut turn = stage.turn();
    turn.limits = TurnLimits::new(GENEROUS_TIMEOUT, Duration::from_secs(1));
    let (result, _) = stage.go(&turn);
    assert!(matches!(&result, Err(FriendFailure::TimedOut { said, .. }) if said.is_empty()), "{result:?}");
    // What it says during the turn may be.
    let stage = Play::turning("printf '\\033[31mERROR\\033[0m the disk is full\\n' >&2; sleep 1000").stage();
    let mut turn = stage.turn();
    turn.limits = TurnLimits::new(GENEROUS_TIMEOUT, Duration::from_secs(1));
    let (result, _) = stage.go(&turn);
    assert!(
        matches!(&result, Err(FriendFailure::TimedOut { said, .. }) if said == "ERROR the disk is full"),
        "{result:?}"
    );
}

#[test]
fn what_is_asked_for_is_answered_with_no_whatever_it_is() {
    for (method, expected) in [
        ("item/fileChange/requestApproval", json!({"decision": "decline"})),
        ("item/commandExecution/requestApproval", json!({"decision": "decline"})),
        ("applyPatchApproval", json!({"decision": "denied"})),
        ("item/permissions/requestApproval", json!({"permissions": {}, "scope": "turn"})),
        ("item/tool/requestUserInput", json!({"answers": {}})),
        ("mcpServer/elicitation/request", json!({"action": "decline"})),
        ("something/new", Value::Null),
    ] {
        let asks = json!({"id": "theirs", "method": method, "params": {"threadId": THREAD}});
        let turn =
            format!("echo '{asks}'\nIFS= read -r line\nprintf '%s\\n' \"$line\" >>said\n{}", answering("ok"));
        let stage = Play::turning(&turn).stage();
        let (result, _) = stage.go(&stage.turn());
        assert_eq!(result.unwrap().declined.len(), 1, "{method}");
        let answer = stage.said().into_iter().find(|message| message["id"] == "theirs").unwrap();
        assert_eq!(answer["result"], expected, "{method}");
        assert_eq!(answer["error"].is_null(), !expected.is_null(), "{method}");
    }
}

#[test]
fn a_recorded_review_answers_with_the_reviewers_words() {
    let stage = Play::recorded("review").stage();
    let mut turn = stage.turn();
    turn.diff = since("origin/main");
    let (result, events) = stage.go(&turn);
    let text = result.unwrap().text;
    assert!(text.starts_with("expl\n\nReview comment:"), "{text}");
    assert_eq!(texts(&events), [text.as_str()]);
    let target = json!({"type": "baseBranch", "branch": "origin/main"});
    assert_eq!(stage.said()[5]["params"]["target"], target);
}

#[test]
fn a_recorded_failure_of_the_server_is_a_failure_with_its_words() {
    let stage = Play::recorded("server-error").stage();
    let (result, events) = stage.go(&stage.turn());
    assert!(
        matches!(&result, Err(FriendFailure::Failed { said, .. }) if said.contains("high demand")),
        "{result:?}"
    );
    assert!(
        matches!(&events[1], FriendEvent::Retrying(said) if said.contains("Reconnecting... 1/1")),
        "{events:?}"
    );
}

#[test]
fn a_schema_is_sent_and_the_answer_is_read() {
    let stage = Play::recorded("schema").stage();
    let mut turn = stage.turn();
    turn.format = AnswerFormat::Json(json!({"type": "object"}));
    assert_eq!(stage.go(&turn).0.unwrap().value, Some(json!({"ok": true})));
    assert_eq!(stage.said()[5]["params"]["outputSchema"], json!({"type": "object"}));
}

#[test]
fn other_terms_than_ours_are_refused_before_the_prompt_is_said() {
    let network = r#"{"type":"readOnly","networkAccess":true}"#;
    let writing = r#"{"type":"workspaceWrite","writableRoots":[],"networkAccess":false}"#;
    let plays = [
        Play { sandbox: network, ..Play::recorded("text") },
        Play { sandbox: writing, ..Play::recorded("text") },
        Play { sandbox: "null", ..Play::recorded("text") },
        Play { approvals: "never", ..Play::recorded("text") },
    ];
    for play in plays {
        let stage = play.stage();
        let (result, events) = stage.go(&stage.turn());
        assert!(matches!(result, Err(FriendFailure::AccessMismatch { .. })), "{result:?}");
        assert_eq!((stage.prompts(), events), (0, Vec::new()));
    }
    let stage = Play::recorded("text").stage();
    let mut turn = stage.turn();
    turn.access = Access::Workspace;
    assert!(
        matches!(stage.go(&turn).0, Err(FriendFailure::AccessMismatch { .. })),
        "less than asked for is other, too"
    );
    turn.access = Access::ReadOnly;
    turn.memory = TurnMemory::Resume("01a1de0c-0000-7000-8000-00000000000f".to_string());
    assert!(
        matches!(stage.go(&turn).0, Err(FriendFailure::UnknownSession { .. })),
        "another thread than the one asked for"
    );
    assert_eq!(stage.prompts(), 0);
}

#[test]
fn one_that_is_too_old_or_not_signed_in_or_not_there_is_named_so() {
    let stage = Play { agent: "relay/0.120.0 (x)", ..Play::recorded("text") }.stage();
    let (result, _) = stage.go(&stage.turn());
    assert!(matches!(&result, Err(FriendFailure::TooOld { found, .. }) if found == "0.120.0"), "{result:?}");
    let account = r#"{"account":null,"requiresOpenaiAuth":true}"#;
    let stage = Play { account, ..Play::recorded("text") }.stage();
    assert!(matches!(stage.go(&stage.turn()).0, Err(FriendFailure::NotSignedIn { .. })));
    let stage = Stage { codex: Codex::at(&PathBuf::from("/nowhere/codex")), ..stage };
    assert!(matches!(stage.go(&stage.turn()).0, Err(FriendFailure::NotInstalled { .. })));
    let world = FriendContext {
        runner: runner(),
        home: None,
        env_var: &|_| None,
        stop_requested: &|| false,
        depth: 0,
    };
    assert_eq!(stage.codex.probe(&world).found, None);
}

const EXEC: &str = r#"no event
{"type":"thread.started","thread_id":"01a1de0c-0000-7000-8000-00000000000e"}
{"type":"turn.started"}
{"type":"error","message":"Reconnecting... 1/5"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"A remark."}}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"By the other way."}}
{"type":"turn.completed","usage":{"input_tokens":7,"output_tokens":3}}
"#;

#[test]
fn an_app_server_that_does_not_start_is_tried_three_times_and_then_exec() {
    let stage = Play { first: "echo broken >&2; exit 4", exec: (EXEC, 0), ..Play::default() }.stage();
    let mut turn = stage.turn();
    turn.memory = TurnMemory::Begin;
    let (result, events) = stage.go(&turn);
    let answer = result.unwrap();
    assert_eq!((answer.text.as_str(), answer.transport), ("By the other way.", "exec"));
    assert_eq!(answer.session.as_deref(), Some("01a1de0c-0000-7000-8000-00000000000e"));
    let why = events
        .iter()
        .find_map(|event| if let FriendEvent::Fallback(why) = event { Some(why.clone()) } else { None });
    assert!(why.as_ref().is_some_and(|why| why.contains("code 4") && why.contains("broken")), "{why:?}");
    let calls = stage.read("calls");
    assert_eq!(calls.lines().filter(|call| call.starts_with("app-server")).count(), 3);
    assert!(calls.contains("exec --json --skip-git-repo-check --ignore-rules -s read-only -C "), "{calls}");
    assert!(!calls.contains("the prompt"), "a prompt never travels in arguments");
    assert_eq!(stage.read("prompt"), "the prompt");
    // The sandbox stands before the subcommand, and another session than the one asked for is none.
    turn.memory = TurnMemory::Resume(THREAD.to_string());
    assert!(matches!(stage.go(&turn).0, Err(FriendFailure::UnknownSession { .. })));
    let last = stage.read("calls").lines().last().unwrap().to_string();
    assert!(last.find("-s read-only").unwrap() < last.find(" resume ").unwrap(), "{last}");
}

#[test]
fn an_exec_that_fails_or_stops_half_way_is_no_answer() {
    let half = EXEC.split("{\"type\":\"turn.completed\"").next().unwrap();
    let failed = r#"{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: no"}}"#;
    for (exec, expected) in
        [((half, 0), "before it was done"), ((EXEC, 3), "code 3"), ((half, 7), "last words")]
    {
        let stage = Play { first: "exit 4", exec, ..Play::default() }.stage();
        let (result, _) = stage.go(&stage.turn());
        assert!(
            matches!(&result, Err(FriendFailure::Failed { said, .. }) if said.contains(expected)),
            "{result:?}"
        );
    }
    let stage = Play { first: "exit 4", exec: (failed, 1), ..Play::default() }.stage();
    assert!(matches!(stage.go(&stage.turn()).0, Err(FriendFailure::NotSignedIn { .. })));
}

#[test]
fn a_prompt_is_said_again_only_where_nothing_can_have_been_changed_or_answered() {
    let dies = r#"echo '{"id":5,"result":{"turn":{"id":"t"}}}'; exit 1"#;
    let stage = Play { exec: (EXEC, 0), ..Play::turning(dies) }.stage();
    assert_eq!(stage.go(&stage.turn()).0.unwrap().transport, "exec");
    assert_eq!(stage.prompts(), 3);

    let delta = json!({"method": "item/agentMessage/delta", "params": {"threadId": THREAD, "itemId": "m", "delta": "A"}});
    let speaks = format!("echo '{delta}'; exit 1");
    let stage = Play { exec: (EXEC, 0), ..Play::turning(&speaks) }.stage();
    assert!(matches!(stage.go(&stage.turn()).0, Err(FriendFailure::Failed { .. })), "it had begun to answer");
    assert_eq!(stage.prompts(), 1);

    let sandbox = r#"{"type":"dangerFullAccess"}"#;
    let stage = Play { sandbox, approvals: "never", exec: (EXEC, 0), ..Play::turning(dies) }.stage();
    let mut turn = stage.turn();
    turn.access = Access::Full;
    assert!(matches!(stage.go(&turn).0, Err(FriendFailure::Failed { .. })), "it may have changed something");
    assert_eq!(stage.prompts(), 1);
}

#[test]
fn no_words_are_no_answer() {
    for words in ["", "  \n", "Reviewer failed to output a response."] {
        let stage = Play::turning(&answering(words)).stage();
        let (result, _) = stage.go(&stage.turn());
        assert!(matches!(result, Err(FriendFailure::NoAnswer { .. })), "{words:?}: {result:?}");
    }
}

#[test]
fn what_other_threads_do_is_not_part_of_the_turn() {
    let done =
        json!({"method": "turn/completed", "params": {"threadId": "another", "turn": {"status": "failed"}}});
    let stage = Play::turning(&format!("echo '{done}'\n{}", answering("Mine."))).stage();
    assert_eq!(stage.go(&stage.turn()).0.unwrap().text, "Mine.");
}

#[test]
fn garbage_is_passed_over_and_a_flood_of_it_is_a_failure() {
    let some = format!("echo hello; echo '[1]'; echo '{{}}'\n{}", answering("In spite of it."));
    let stage = Play::turning(&some).stage();
    assert_eq!(stage.go(&stage.turn()).0.unwrap().text, "In spite of it.");
    let stage = Play::turning("yes garbage").stage();
    let (result, _) = stage.go(&stage.turn());
    assert!(
        matches!(&result, Err(FriendFailure::Failed { said, .. }) if said.contains("garbage")),
        "{result:?}"
    );
}

#[test]
fn an_answer_without_end_is_too_much() {
    let delta = |text: &str| json!({"method": "item/agentMessage/delta", "params": {"threadId": THREAD, "itemId": "m", "delta": text}});
    let stage = Play::turning(&format!("yes '{}'", delta(&"a".repeat(50_000)))).stage();
    let (result, _) = stage.go(&stage.turn());
    assert!(matches!(result, Err(FriendFailure::AnswerTooLarge { .. })), "{result:?}");
}

#[test]
fn to_try_again_is_no_sign_of_life() {
    let error = json!({"method": "error", "params": {"threadId": THREAD, "willRetry": true,
        "error": {"message": "Reconnecting... 1/5", "additionalDetails": "high demand"}}});
    let again = format!("while :; do echo '{error}'; sleep 0.1; done");
    let stage = Play::turning(&again).stage();
    let mut turn = stage.turn();
    turn.limits = TurnLimits::new(GENEROUS_TIMEOUT, Duration::from_secs(6));
    let (result, events) = stage.go(&turn);
    assert!(matches!(result, Err(FriendFailure::TimedOut { idle: true, .. })), "{result:?}");
    assert!(events.iter().filter(|event| matches!(event, FriendEvent::Retrying(_))).count() > 2);
}

#[test]
fn a_stop_is_heard_before_hello_and_in_the_middle_and_nothing_is_left() {
    let stubborn = "trap '' TERM INT HUP\nsetsid sh -c 'trap \"\" TERM; sleep 300; :' &\nsleep 300";
    for play in [Play { first: stubborn, ..Play::default() }, Play::turning(stubborn)] {
        let stage = play.stage();
        let stop = AtomicBool::new(false);
        let mut asked = None;
        let (result, _) = std::thread::scope(|scope| {
            let (asked, stage, stop) = (&mut asked, &stage, &stop);
            scope.spawn(move || {
                let sleep = || stage.left(|given| given.arguments.starts_with(b"sleep\0")).len() == 2;
                poll_until(GENEROUS_TIMEOUT, || sleep().then_some(()))
                    .expect("it sleeps, and so does its child");
                *asked = Some(Instant::now());
                stop.store(true, Ordering::SeqCst);
            });
            stage.go_until(&stage.turn(), &|| stop.load(Ordering::SeqCst))
        });
        let took = asked.unwrap().elapsed();
        assert!(matches!(result, Err(FriendFailure::Cancelled { .. })), "{result:?}");
        assert!(took < CLEANUP_TIMEOUT, "{took:?}");
        assert_eq!(stage.left(|_| true), []);
    }
}

#[test]
fn a_hang_at_the_start_is_a_timeout_when_there_is_no_time_for_another_way() {
    let stage = Play { first: "sleep 300", ..Play::default() }.stage();
    let mut turn = stage.turn();
    turn.limits = TurnLimits::new(Duration::from_secs(2), GENEROUS_TIMEOUT);
    let (result, _) = stage.go(&turn);
    assert!(matches!(result, Err(FriendFailure::TimedOut { idle: false, .. })), "{result:?}");
}
