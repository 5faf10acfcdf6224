//! The friend codex with the real codex, in a home of its own, pointed at the scripted model server.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use relaycode_friend::friend::answer::DeclinedAction;
use relaycode_friend::friend::event::FriendEvent;
use relaycode_friend::friend::request::TurnLimits;
use relaycode_friend::friends::codex::Codex;
use relaycode_friend::{AskRequest, FriendAnswer, FriendContext, FriendFailure};
use relaycode_testkit::agents::{self, AgentNotInstalled};
use relaycode_testkit::directory_tree::{DirectoryTree, read_tree};
use relaycode_testkit::git::git;
use relaycode_testkit::model::{self, Script, ScriptedServer};
use relaycode_testkit::process::{GENEROUS_TIMEOUT, poll_until};
use relaycode_testkit::process_table::{ProcessStart, find_processes};
use rustix::process::Pid;
use serde_json::json;
use tempfile::TempDir;

use crate::fake_friends::send;
use crate::keeper_fixture::runner;

/// In the environment of everything that codex starts here.
const MARK: &str = "RELAY_FRIEND_TEST";

pub(super) const PATCH: &str = "*** Begin Patch\n*** Add File: new.txt\n+one\n*** End Patch\n";

/// A home, a project and codex itself, pointed at the scripted server.
pub(super) struct Stage {
    pub(super) folder: TempDir,
    pub(super) server: ScriptedServer,
    pub(super) codex: Codex,
    pub(super) version: &'static str,
}

/// What came of a turn.
pub(super) struct Came {
    pub(super) result: Result<FriendAnswer, FriendFailure>,
    pub(super) events: Vec<FriendEvent>,
    pub(super) took: Duration,
}

/// The stage, or a word that codex is missing.
macro_rules! stage {
    ($turns:expr) => {
        match $crate::real::codex::fixture::Stage::new(relaycode_testkit::model::Script::new($turns)) {
            Ok(stage) => stage,
            Err(absent) => return absent.skip(),
        }
    };
}

pub(super) use stage;

impl Stage {
    pub(super) fn new(script: Script) -> Result<Stage, AgentNotInstalled> {
        let agent = agents::ALL.iter().copied().find(|agent| agent.name() == "codex").unwrap();
        let real = agents::find(agent)?;
        let folder = tempfile::Builder::new().prefix("codex-friend-").tempdir().unwrap();
        let server = ScriptedServer::start(script);
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
        let stage = Stage { codex: Codex::at(&program), folder, server, version: agent.version() };
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

    pub(super) fn project(&self) -> PathBuf {
        fs::canonicalize(self.folder.path().join("project")).unwrap()
    }

    pub(super) fn codex_home(&self) -> PathBuf {
        self.folder.path().join("home/.codex")
    }

    pub(super) fn configure(&self, url: &str, top: &str, more: &str) {
        let config = format!(
            "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\n{top}\n[model_providers.scripted]\nname = \"scripted\"\n\
             base_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\nrequest_max_retries = 1\n\
             stream_max_retries = 1\n{more}\n"
        );
        fs::write(self.codex_home().join("config.toml"), config).unwrap();
    }

    pub(super) fn turn(&self, prompt: &str) -> AskRequest {
        AskRequest::new(
            prompt,
            self.project(),
            TurnLimits::new(Duration::from_secs(120), Duration::from_secs(60)),
        )
    }

    pub(super) fn go(&self, turn: &AskRequest) -> Came {
        self.go_until(turn, &|| false, &mut |_| {})
    }

    pub(super) fn go_until(
        &self,
        turn: &AskRequest,
        stop: &(dyn Fn() -> bool + Sync),
        hear: &mut dyn FnMut(&FriendEvent),
    ) -> Came {
        let world = FriendContext {
            runner: runner(),
            home: None,
            env_var: &|_| None,
            stop_requested: stop,
            depth: 0,
        };
        let (began, mut events) = (Instant::now(), Vec::new());
        let mut turn = turn.clone();
        turn.limits.started_at = began;
        let result = send(&self.codex, &turn, &world, &mut |event| {
            hear(&event);
            events.push(event);
        });
        Came { result, events, took: began.elapsed() }
    }

    /// From now on there is no app-server.
    pub(super) fn without_app_server(&self) {
        let program = self.folder.path().join("codex");
        let script = fs::read_to_string(&program).unwrap();
        fs::write(&program, script.replace("exec '", "[ \"$1\" = app-server ] && exit 3\nexec '")).unwrap();
    }

    /// The user once said that this program may always run.
    pub(super) fn always_allow(&self, program: &str) {
        fs::create_dir(self.codex_home().join("rules")).unwrap();
        let rule = format!("prefix_rule(pattern=[\"{program}\"], decision=\"allow\")\n");
        fs::write(self.codex_home().join("rules/default.rules"), rule).unwrap();
    }

    /// What codex started here and is still running.
    pub(super) fn left(&self) -> Vec<Pid> {
        find_processes(self.ours())
    }

    /// Waits until two of them sleep.
    pub(super) fn sleeps(&self) {
        let ours = self.ours();
        let sleeping = || find_processes(|given| ours(given) && given.arguments.starts_with(b"sleep\0"));
        poll_until(GENEROUS_TIMEOUT, || (sleeping().len() == 2).then_some(())).expect("two sleep");
    }

    /// Whether it is one of them.
    pub(super) fn ours(&self) -> impl Fn(&ProcessStart) -> bool {
        let mark = format!("{MARK}={}", self.folder.path().display());
        move |given| given.has_env(&mark)
    }

    /// Everything in the project, git's own files included.
    pub(super) fn tree(&self) -> DirectoryTree {
        read_tree(&self.project(), &[])
    }

    pub(super) fn calls(&self) -> String {
        fs::read_to_string(self.folder.path().join("calls")).unwrap_or_default()
    }
}

impl Came {
    #[track_caller]
    pub(super) fn answer(&self) -> &FriendAnswer {
        match &self.result {
            Ok(answer) => answer,
            Err(failure) => panic!("{failure}: {:#?}", self.events),
        }
    }

    #[track_caller]
    pub(super) fn failure(&self) -> &FriendFailure {
        self.result.as_ref().expect_err("it should have failed")
    }

    pub(super) fn declined(&self) -> Vec<DeclinedAction> {
        let of = |event: &FriendEvent| {
            if let FriendEvent::Declined(what) = event { Some(what.clone()) } else { None }
        };
        self.events.iter().filter_map(of).collect()
    }

    pub(super) fn texts(&self) -> Vec<&str> {
        self.events.iter().filter_map(text).collect()
    }
}

fn text(event: &FriendEvent) -> Option<&str> {
    if let FriendEvent::Text(text) = event { Some(text) } else { None }
}

pub(super) fn shell(command: &str) -> model::ScriptedTurn {
    model::ScriptedTurn::text("I try.").tool("exec_command", json!({"cmd": command}))
}

pub(super) fn escalated(command: &str) -> model::ScriptedTurn {
    let arguments =
        json!({"cmd": command, "sandbox_permissions": "require_escalated", "justification": "I need it"});
    model::ScriptedTurn::text("I try.").tool("exec_command", arguments)
}

pub(super) fn patch(patch: &str) -> model::ScriptedTurn {
    model::ScriptedTurn::text("I patch.").custom_tool("apply_patch", patch)
}
