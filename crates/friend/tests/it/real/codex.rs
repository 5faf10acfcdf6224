//! The friend codex with the real codex: what it is refused, what it remembers, how it fails, and how it ends.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use relaycode_friend::answer::{Declined, DeclinedKind};
use relaycode_friend::event::Event;
use relaycode_friend::friends::codex::Codex;
use relaycode_friend::turn::Limits;
use relaycode_friend::{Answer, Failure, Friend, Memory, Task, Turn, World};
use relaycode_project::access::Access;
use relaycode_testkit::agents::{self, Absent};
use relaycode_testkit::model::{self, Script, Server};
use relaycode_testkit::process::{LONG, until};
use serde_json::json;
use tempfile::TempDir;

use crate::stage::runner;

/// In the environment of everything that codex starts here.
const MARK: &str = "RELAY_FRIEND_TEST";

const PATCH: &str = "*** Begin Patch\n*** Add File: new.txt\n+one\n*** End Patch\n";

/// A home, a project and codex itself, pointed at the scripted server.
struct Stage {
    folder: TempDir,
    server: Server,
    codex: Codex,
}

/// What came of a turn.
struct Came {
    result: Result<Answer, Failure>,
    events: Vec<Event>,
    took: Duration,
}

/// The stage, or a word that codex is missing.
macro_rules! stage {
    ($turns:expr) => {
        match Stage::new(Script::new($turns)) {
            Ok(stage) => stage,
            Err(absent) => return absent.skip(),
        }
    };
}

impl Stage {
    fn new(script: Script) -> Result<Stage, Absent> {
        let agent = agents::ALL.iter().copied().find(|agent| agent.name() == "codex").unwrap();
        let real = agents::find(agent)?;
        let folder = tempfile::Builder::new().prefix("codex-friend-").tempdir().unwrap();
        let server = Server::start(script);
        let root = folder.path();
        for name in ["home/.codex", "project", "tmp"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let program = root.join("codex");
        let script = format!(
            "#!/bin/sh\nexport HOME='{0}/home' CODEX_HOME='{0}/home/.codex' TMPDIR='{0}/tmp' SCRIPTED_KEY=k NO_PROXY='*' \
             no_proxy='*' {MARK}='{0}'\nprintf '%s\\n' \"$*\" >>'{0}/calls'\nexec '{1}' \"$@\"\n",
            root.display(),
            real.display()
        );
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let stage = Stage { codex: Codex::at(&program), folder, server };
        stage.configure(&stage.server.url(), "", "");
        git(&stage.project(), &["init", "-q", "-b", "main"]);
        fs::write(stage.project().join("main.rs"), "fn main() {}\n").unwrap();
        git(&stage.project(), &["add", "."]);
        git(&stage.project(), &["commit", "-qm", "first"]);
        git(&stage.project(), &["checkout", "-qb", "feature"]);
        fs::write(stage.project().join("main.rs"), "fn main() { run() }\n").unwrap();
        git(&stage.project(), &["commit", "-qam", "second"]);
        Ok(stage)
    }

    fn project(&self) -> PathBuf {
        fs::canonicalize(self.folder.path().join("project")).unwrap()
    }

    fn codex_home(&self) -> PathBuf {
        self.folder.path().join("home/.codex")
    }

    fn configure(&self, url: &str, top: &str, more: &str) {
        let config = format!(
            "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\n{top}\n[model_providers.scripted]\nname = \"scripted\"\n\
             base_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\nrequest_max_retries = 1\n\
             stream_max_retries = 1\n{more}\n"
        );
        fs::write(self.codex_home().join("config.toml"), config).unwrap();
    }

    fn turn(&self, prompt: &str) -> Turn {
        Turn {
            task: Task::Prompt(prompt.to_string()),
            directory: self.project(),
            access: Access::ReadOnly,
            model: None,
            schema: None,
            memory: Memory::None,
            limits: Limits::new(Duration::from_secs(120), Duration::from_secs(60)),
        }
    }

    fn go(&self, turn: &Turn) -> Came {
        self.go_until(turn, &|| false, &mut |_| {})
    }

    fn go_until(&self, turn: &Turn, stop: &(dyn Fn() -> bool + Sync), hear: &mut dyn FnMut(&Event)) -> Came {
        let world = World { runner: runner(), home: None, variable: &|_| None, stop, depth: 0 };
        let (began, mut events) = (Instant::now(), Vec::new());
        let mut turn = turn.clone();
        turn.limits.began = began;
        let result = self.codex.turn(&turn, &world, &mut |event| {
            hear(&event);
            events.push(event);
        });
        Came { result, events, took: began.elapsed() }
    }

    /// What codex started here and is still running.
    fn left(&self) -> Vec<String> {
        let mark = format!("{MARK}={}", self.folder.path().display());
        let of = |entry: fs::DirEntry| {
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let mut marks = environment.split(|byte| *byte == 0);
            marks
                .any(|entry| entry == mark.as_bytes())
                .then(|| entry.file_name().to_string_lossy().into_owned())
        };
        fs::read_dir("/proc").unwrap().flatten().filter_map(of).collect()
    }

    /// Everything in the project, git's own files included.
    fn tree(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut all = Vec::new();
        collect(&self.project(), &mut all);
        all.sort();
        all
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.folder.path().join("calls")).unwrap_or_default()
    }
}

impl Came {
    #[track_caller]
    fn answer(&self) -> &Answer {
        match &self.result {
            Ok(answer) => answer,
            Err(failure) => panic!("{failure}: {:#?}", self.events),
        }
    }

    #[track_caller]
    fn failure(&self) -> &Failure {
        self.result.as_ref().expect_err("it should have failed")
    }

    fn declined(&self) -> Vec<Declined> {
        let of = |event: &Event| if let Event::Declined(what) = event { Some(what.clone()) } else { None };
        self.events.iter().filter_map(of).collect()
    }

    fn texts(&self) -> Vec<&str> {
        let of = |event| if let &Event::Text(ref text) = event { Some(text.as_str()) } else { None };
        self.events.iter().filter_map(of).collect()
    }
}

fn collect(folder: &Path, all: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            all.push((entry.path(), Vec::new()));
            collect(&entry.path(), all);
        } else {
            all.push((entry.path(), fs::read(entry.path()).unwrap_or_default()));
        }
    }
}

fn git(folder: &Path, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@example.com", "-C"]).arg(folder).args(words);
    assert!(command.status().unwrap().success(), "{words:?}");
}

fn shell(command: &str) -> model::Turn {
    model::Turn::text("I try.").tool("exec_command", json!({"cmd": command}))
}

fn escalated(command: &str) -> model::Turn {
    let arguments =
        json!({"cmd": command, "sandbox_permissions": "require_escalated", "justification": "I need it"});
    model::Turn::text("I try.").tool("exec_command", arguments)
}

fn patch(patch: &str) -> model::Turn {
    model::Turn::text("I patch.").custom_tool("apply_patch", patch)
}

#[test]
fn an_ask_is_answered_and_leaves_nothing_behind() {
    let stage = stage!([model::Turn::text("It is fine.").reasoning("Let me think.")]);
    let before = stage.tree();
    let came = stage.go(&stage.turn("-- is it fine?"));
    let answer = came.answer();
    assert_eq!(
        (answer.text.as_str(), answer.way, answer.session.as_deref()),
        ("It is fine.", "app-server", None)
    );
    assert_eq!(answer.model.as_deref(), Some("gpt-5.5"));
    assert_eq!(answer.usage.map(|usage| (usage.input, usage.output)), Some((10, 5)));
    assert_eq!(came.events.first(), Some(&Event::Ready { way: "app-server" }));
    assert!(came.events.iter().any(|event| matches!(event, Event::Thinking(_))), "{:?}", came.events);
    let request = &stage.server.turns()[0];
    assert!(request.body["input"].to_string().contains("-- is it fine?"));
    assert!(request.header("x-codex-turn-metadata").unwrap().contains("\"sandbox_mode\":\"read-only\""));
    assert_eq!(stage.tree(), before);
    assert_eq!(stage.left(), [] as [String; 0]);
}

#[test]
fn an_answer_is_streamed_and_a_remark_before_a_tool_is_not_the_answer() {
    let stage = stage!([
        shell("cat main.rs"),
        model::Turn::pieces(["One ", "two ", "three."]).with(|turn| turn.chunk_delay_ms = 20)
    ]);
    let came = stage.go(&stage.turn("Stream, please."));
    assert_eq!(came.answer().text, "One two three.");
    let begins_anew = came.events.iter().position(|event| *event == Event::Anew).unwrap();
    let after = &came.events[begins_anew..];
    assert_eq!(after.iter().filter(|event| matches!(event, Event::Text(_))).count(), 3, "{:?}", came.events);
    assert!(came.texts().ends_with(&["One ", "two ", "three."]));
    assert!(
        came.events.iter().any(|event| matches!(event, Event::Doing(what) if what.contains("cat main.rs")))
    );
    assert!(stage.server.turns()[1].body.to_string().contains("run()"), "it read the file");
}

#[test]
fn a_prompt_of_180_kb_arrives_whole() {
    let stage = stage!([model::Turn::text("Read.")]);
    let prompt: String =
        (0..).map(|n| format!("line {n} of a long prompt, Größe 大\n")).take(5_000).collect();
    assert!(prompt.len() > 180_000, "{}", prompt.len());
    assert_eq!(stage.go(&stage.turn(&prompt)).answer().text, "Read.");
    let input = stage.server.turns()[0].body["input"].clone();
    let texts: Vec<&str> =
        input.as_array().unwrap().iter().filter_map(|item| item["content"][0]["text"].as_str()).collect();
    assert!(texts.contains(&prompt.as_str()));
}

#[test]
fn writes_that_a_read_only_friend_asks_for_are_declined_and_the_tree_stays_as_it_is() {
    let stage = stage!([
        patch(PATCH),
        escalated("touch made.txt"),
        shell("touch made.txt; echo x >> .git/config; touch .git/hooks/post-commit"),
        model::Turn::text("I could not."),
    ]);
    let before = stage.tree();
    let came = stage.go(&stage.turn("Change it."));
    assert_eq!(came.answer().text, "I could not.");
    assert_eq!(stage.tree(), before);
    let declined = &came.answer().declined;
    assert_eq!(*declined, came.declined());
    assert_eq!(declined.len(), 2, "{declined:?}");
    assert_eq!(declined[0].kind, DeclinedKind::Write);
    assert!(declined[0].what.ends_with("new.txt"), "{declined:?}");
    assert_eq!(declined[1].kind, DeclinedKind::Command);
    assert!(declined[1].what.contains("touch made.txt"), "{declined:?}");
    assert!(stage.server.turns()[3].body.to_string().contains("Read-only file system"));
}

#[test]
fn rules_that_the_user_saved_let_no_command_out_of_the_read_only_sandbox() {
    let stage = stage!([shell("touch made.txt"), model::Turn::text("I could not.")]);
    fs::create_dir(stage.codex_home().join("rules")).unwrap();
    let rule = "prefix_rule(pattern=[\"touch\"], decision=\"allow\")\n";
    fs::write(stage.codex_home().join("rules/default.rules"), rule).unwrap();
    // Nor does a sandbox that the user chose, or a reviewer of theirs that says yes.
    stage.configure(
        &stage.server.url(),
        "sandbox_mode = \"danger-full-access\"\napprovals_reviewer = \"auto_review\"",
        "",
    );
    let before = stage.tree();
    assert_eq!(stage.go(&stage.turn("Change it.")).answer().text, "I could not.");
    assert_eq!(stage.tree(), before);
}

#[test]
fn a_resumed_session_remembers_and_is_as_read_only_as_the_first_turn() {
    let stage = stage!([
        model::Turn::text("I keep the word."),
        patch(PATCH),
        shell("touch made.txt"),
        model::Turn::text("I could not."),
    ]);
    let before = stage.tree();
    let mut turn = stage.turn("The word is heron.");
    turn.memory = Memory::Begin;
    let session = stage.go(&turn).answer().session.clone().unwrap();
    let mut turn = stage.turn("Now write.");
    turn.memory = Memory::Resume(session.clone());
    let came = stage.go(&turn);
    assert_eq!(
        (came.answer().text.as_str(), came.answer().session.as_ref()),
        ("I could not.", Some(&session))
    );
    assert_eq!(came.declined().len(), 1, "{:?}", came.events);
    assert_eq!(stage.tree(), before);
    let requests = stage.server.turns();
    assert!(requests[1].body.to_string().contains("The word is heron."));
    for request in &requests {
        assert!(request.header("x-codex-turn-metadata").unwrap().contains("\"sandbox_mode\":\"read-only\""));
    }
    assert_eq!(came.answer().usage.map(|usage| usage.output), Some(15), "of this turn alone");
}

#[test]
fn a_session_that_codex_does_not_know_is_none() {
    let stage = stage!([model::Turn::text("Never said.")]);
    for id in ["01a1de01-0000-7000-8000-000000000000", "a name", "-o"] {
        let mut turn = stage.turn("Hello?");
        turn.memory = Memory::Resume(id.to_string());
        let came = stage.go(&turn);
        assert!(
            matches!(came.failure(), Failure::NoSession { id: of, .. } if of == id),
            "{:?}",
            came.failure()
        );
    }
    assert_eq!(stage.server.turns().len(), 0);
}

#[test]
fn its_own_review_answers_and_writes_nothing() {
    let finding = json!({
        "findings": [{"title": "[P1] It loops", "body": "For ever.", "confidence_score": 0.9, "priority": 1,
            "code_location": {"absolute_file_path": "/x/main.rs", "line_range": {"start": 1, "end": 1}}}],
        "overall_correctness": "patch is incorrect", "overall_explanation": "It is wrong.", "overall_confidence_score": 0.8,
    });
    let stage = stage!([patch(PATCH), shell("touch made.txt"), model::Turn::text(finding.to_string())]);
    let before = stage.tree();
    let mut turn = stage.turn("");
    turn.task = Task::Review { base: "main".to_string() };
    let came = stage.go(&turn);
    let text = &came.answer().text;
    assert!(text.contains("It is wrong.") && text.contains("It loops"), "{text}");
    assert_eq!(came.texts().concat(), *text, "the raw form is not shown");
    assert_eq!(stage.tree(), before);
    for request in stage.server.turns() {
        assert!(request.header("x-codex-turn-metadata").unwrap().contains("\"sandbox_mode\":\"read-only\""));
    }
}

#[test]
fn a_review_without_words_is_no_answer_and_one_against_a_commit_is_left_to_others() {
    let stage = stage!([model::Turn::default()]);
    let mut turn = stage.turn("");
    turn.task = Task::Review { base: "main".to_string() };
    let came = stage.go(&turn);
    assert!(matches!(came.failure(), Failure::NoAnswer { .. }), "{:?}", came.result);
    for base in ["HEAD~1", "0123abc", "-o/x", "main..feature"] {
        turn.task = Task::Review { base: base.to_string() };
        assert!(matches!(stage.go(&turn).failure(), Failure::Cannot { .. }), "{base}");
    }
}

#[test]
fn a_schema_is_handed_on_and_the_answer_is_read() {
    let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"],
        "additionalProperties": false});
    let stage = stage!([model::Turn::text("{\"ok\":true}"), model::Turn::text("no JSON")]);
    let mut turn = stage.turn("Is it ok?");
    turn.schema = Some(schema.clone());
    assert_eq!(stage.go(&turn).answer().value, Some(json!({"ok": true})));
    assert_eq!(stage.server.turns()[0].body["text"]["format"]["schema"], schema);
    assert!(matches!(stage.go(&turn).failure(), Failure::NotByTheSchema { .. }));
}

#[test]
fn a_friend_with_the_workspace_writes_there_and_nowhere_else() {
    let stage = stage!([
        patch(PATCH),
        shell("echo two > two.txt; touch ../outside.txt /tmp/relay-friend-outside.txt"),
        patch(&PATCH.replace("new.txt", "../outside.txt")),
        escalated("touch ../outside.txt"),
        model::Turn::text("Done as far as I may."),
    ]);
    let rule = "prefix_rule(pattern=[\"touch\"], decision=\"allow\")\n";
    fs::create_dir(stage.codex_home().join("rules")).unwrap();
    fs::write(stage.codex_home().join("rules/default.rules"), rule).unwrap();
    let mut turn = stage.turn("Change it.");
    turn.access = Access::Workspace;
    let came = stage.go(&turn);
    assert_eq!(came.answer().text, "Done as far as I may.");
    assert_eq!(fs::read_to_string(stage.project().join("new.txt")).unwrap(), "one\n");
    assert_eq!(fs::read_to_string(stage.project().join("two.txt")).unwrap(), "two\n");
    assert!(!stage.folder.path().join("outside.txt").exists());
    assert!(!Path::new("/tmp/relay-friend-outside.txt").exists());
    let files: Vec<&str> = came.answer().declined.iter().map(|declined| declined.what.as_str()).collect();
    assert!(files.iter().any(|file| file.ends_with("outside.txt")), "{files:?}");
}

#[test]
fn a_friend_with_full_access_is_not_confined() {
    let stage = stage!([shell("touch ../outside.txt"), model::Turn::text("Done.")]);
    let mut turn = stage.turn("Change it.");
    turn.access = Access::Full;
    assert_eq!(stage.go(&turn).answer().text, "Done.");
    assert!(stage.folder.path().join("outside.txt").exists());
}

#[test]
fn an_access_that_nobody_tested_is_refused() {
    let stage = stage!([]);
    let mut turn = stage.turn("Change it.");
    turn.access = Access::Ask;
    assert!(matches!(stage.go(&turn).failure(), Failure::Cannot { .. }));
    assert_eq!(stage.calls(), "");
}

#[test]
fn nothing_that_the_users_settings_name_is_run() {
    let stage = stage!([model::Turn::text("Quiet.").repeat(2)]);
    let touch = |name: &str| stage.folder.path().join(name).display().to_string();
    let hooks: String = ["SessionStart", "UserPromptSubmit", "Stop"]
        .map(|event| {
            let command = format!("touch {}", touch("ran-hook"));
            format!(
                "[[hooks.{event}]]\n[[hooks.{event}.hooks]]\ntype = \"command\"\ncommand = \"{command}\"\n"
            )
        })
        .concat();
    let server = |name: &str, mark: &str| {
        format!("[mcp_servers.{name}]\ncommand = \"touch\"\nargs = [\"{}\"]\n", touch(mark))
    };
    let trust = format!("[projects.\"{}\"]\ntrust_level = \"trusted\"\n", stage.project().display());
    stage.configure(
        &stage.server.url(),
        &format!("notify = [\"touch\", \"{}\"]\nbypass_hook_trust = true", touch("ran-notify")),
        &[hooks, server("plain", "ran-mcp"), server("\"a.b\"", "ran-mcp-dotted"), trust].concat(),
    );
    fs::create_dir(stage.project().join(".codex")).unwrap();
    fs::write(stage.project().join(".codex/config.toml"), server("project", "ran-mcp-project")).unwrap();
    assert_eq!(stage.go(&stage.turn("Quietly, please.")).answer().text, "Quiet.");
    // The other way, too.
    let calls = stage.folder.path().join("codex");
    let no_server =
        fs::read_to_string(&calls).unwrap().replace("exec '", "[ \"$1\" = app-server ] && exit 3\nexec '");
    fs::write(&calls, no_server).unwrap();
    let came = stage.go(&stage.turn("Quietly, please."));
    assert_eq!((came.answer().text.as_str(), came.answer().way), ("Quiet.", "exec"));
    let ran = fs::read_dir(stage.folder.path()).unwrap().flatten().map(|entry| entry.file_name());
    let ran: Vec<_> = ran.filter(|name| name.to_string_lossy().starts_with("ran-")).collect();
    assert_eq!(ran, [] as [&str; 0]);
}

#[test]
fn without_the_app_server_exec_does_all_of_it_as_read_only() {
    let stage = stage!([
        patch(PATCH),
        shell("touch made.txt"),
        model::Turn::text("I could not."),
        patch(PATCH),
        shell("touch made.txt"),
        model::Turn::text("Nor now."),
        patch(PATCH),
        model::Turn::text("It is wrong."),
        model::Turn::text("{\"ok\":true}"),
    ]);
    let program = stage.folder.path().join("codex");
    let no_server =
        fs::read_to_string(&program).unwrap().replace("exec '", "[ \"$1\" = app-server ] && exit 3\nexec '");
    fs::write(&program, no_server).unwrap();
    fs::create_dir(stage.codex_home().join("rules")).unwrap();
    let rule = "prefix_rule(pattern=[\"touch\"], decision=\"allow\")\n";
    fs::write(stage.codex_home().join("rules/default.rules"), rule).unwrap();
    let before = stage.tree();
    let mut turn = stage.turn("Change it.");
    turn.memory = Memory::Begin;
    let came = stage.go(&turn);
    assert_eq!((came.answer().text.as_str(), came.answer().way), ("I could not.", "exec"));
    assert!(came.events.iter().any(|event| matches!(event, Event::OtherWay(why) if why.contains("code 3"))));
    assert_eq!(stage.calls().lines().filter(|call| call.starts_with("app-server")).count(), 3);
    let session = came.answer().session.clone().unwrap();
    turn.memory = Memory::Resume(session.clone());
    let came = stage.go(&turn);
    assert_eq!((came.answer().text.as_str(), came.answer().session.as_ref()), ("Nor now.", Some(&session)));
    turn.memory = Memory::Resume("01a1de01-0000-7000-8000-000000000000".to_string());
    assert!(matches!(stage.go(&turn).failure(), Failure::NoSession { .. }), "an unknown one");
    turn.memory = Memory::None;
    turn.task = Task::Review { base: "main".to_string() };
    assert_eq!(stage.go(&turn).answer().text, "It is wrong.");
    let mut turn = stage.turn("Is it ok?");
    turn.schema =
        Some(json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"],
        "additionalProperties": false}));
    assert_eq!(stage.go(&turn).answer().value, Some(json!({"ok": true})));
    assert_eq!(stage.tree(), before);
    for request in stage.server.turns() {
        assert!(request.header("x-codex-turn-metadata").unwrap().contains("\"sandbox_mode\":\"read-only\""));
    }
}

#[test]
fn a_turn_that_takes_too_long_is_ended_with_everything_it_started() {
    let stage = stage!([shell("setsid sleep 300 & sleep 300")]);
    let mut turn = stage.turn("Sleep.");
    turn.limits.total = Duration::from_secs(6);
    let came = stage.go(&turn);
    assert!(matches!(came.failure(), Failure::TimedOut { idle: false, .. }), "{:?}", came.failure());
    assert!(came.took < Duration::from_secs(10), "{:?}", came.took);
    assert_eq!(stage.left(), [] as [String; 0]);
}

#[test]
fn a_model_that_says_nothing_is_not_waited_for_longer_than_idle() {
    let stage = stage!([
        model::Turn::text("x").with(|turn| turn.stall_before_headers = Some(model::Wait::Forever(true)))
    ]);
    let mut turn = stage.turn("Hello?");
    turn.limits.idle = Duration::from_secs(4);
    let came = stage.go(&turn);
    assert!(matches!(came.failure(), Failure::TimedOut { idle: true, .. }), "{:?}", came.failure());
    assert_eq!(stage.left(), [] as [String; 0]);
}

#[test]
fn a_server_that_refuses_connections_is_noticed_early() {
    let stage = stage!([]);
    // A port that nobody listens at: it was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    stage.configure(&format!("http://127.0.0.1:{port}"), "", "");
    let came = stage.go(&stage.turn("Hello?"));
    assert!(matches!(came.failure(), Failure::Unreachable { .. }), "{:?}", came.failure());
    assert!(came.took < Duration::from_secs(40), "{:?}", came.took);
    assert!(came.events.iter().any(|event| matches!(event, Event::Retrying(_))));
    assert_eq!(stage.left(), [] as [String; 0]);
}

#[test]
fn a_refused_key_and_a_broken_server_are_told_apart() {
    let stage = stage!([model::Turn::status(401).repeat(2), model::Turn::status(500).repeat(8)]);
    let came = stage.go(&stage.turn("Hello?"));
    assert!(
        matches!(came.failure(), Failure::NotSignedIn { said, .. } if said.contains("401")),
        "{:?}",
        came.failure()
    );
    let came = stage.go(&stage.turn("Hello?"));
    assert!(matches!(came.failure(), Failure::Failed { .. }), "{:?}", came.failure());
}

#[test]
fn without_an_account_nothing_is_asked_and_the_look_says_so() {
    let stage = stage!([]);
    let world = World { runner: runner(), home: None, variable: &|_| None, stop: &|| false, depth: 0 };
    let presence = stage.codex.look(&world);
    assert_eq!(presence.version.as_deref(), Some("0.166.0"));
    assert_eq!((presence.signed_in, presence.trouble), (None, None), "its provider is the user's own");
    fs::write(stage.codex_home().join("config.toml"), "model = \"gpt-5.5\"\n").unwrap();
    let presence = stage.codex.look(&world);
    assert_eq!(presence.signed_in, Some(false));
    assert!(presence.trouble.unwrap().contains("codex login"));
    assert!(matches!(stage.go(&stage.turn("Hello?")).failure(), Failure::NotSignedIn { .. }));
    fs::write(stage.codex_home().join("auth.json"), "{\"OPENAI_API_KEY\": \"sk-not-a-real-key\"}").unwrap();
    assert_eq!(stage.codex.look(&world).signed_in, Some(true));
    assert_eq!(stage.left(), [] as [String; 0]);
}

#[test]
fn a_codex_that_is_killed_is_started_again_unless_it_may_have_changed_something() {
    for access in [Access::ReadOnly, Access::Workspace] {
        let slow =
            model::Turn::text("x").with(|turn| turn.stall_before_headers = Some(model::Wait::Forever(true)));
        let stage = stage!([slow, model::Turn::text("The second time.")]);
        let mut turn = stage.turn("Hello?");
        turn.access = access;
        let came = std::thread::scope(|scope| {
            scope.spawn(|| {
                stage.server.wait_for(|requests| !requests.is_empty());
                for pid in stage.left() {
                    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
                    if name.starts_with("codex") {
                        assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
                    }
                }
            });
            stage.go(&turn)
        });
        if access == Access::ReadOnly {
            assert_eq!(came.answer().text, "The second time.");
        } else {
            assert!(matches!(came.failure(), Failure::Failed { said, .. } if said.contains("signal 9")));
            assert_eq!(stage.server.turns().len(), 1, "the prompt was said once");
        }
        assert_eq!(stage.left(), [] as [String; 0]);
    }
}

#[test]
fn a_stop_ends_the_turn_and_all_its_processes_quickly() {
    let stage = stage!([shell("setsid sleep 300 & sleep 300")]);
    let stop = AtomicBool::new(false);
    let mut asked = None;
    let came = std::thread::scope(|scope| {
        let asked = &mut asked;
        scope.spawn(|| {
            until(LONG, || fs::read_dir("/proc").ok().filter(|_| stage.left().len() >= 4));
            *asked = Some(Instant::now());
            stop.store(true, Ordering::SeqCst);
        });
        stage.go_until(&stage.turn("Sleep."), &|| stop.load(Ordering::SeqCst), &mut |_| {})
    });
    let took = asked.unwrap().elapsed();
    assert!(matches!(came.failure(), Failure::Cancelled { .. }), "{:?}", came.failure());
    assert!(took < Duration::from_millis(2_500), "{took:?}");
    assert_eq!(stage.left(), [] as [String; 0]);
}
