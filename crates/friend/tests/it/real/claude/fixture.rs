//! A scratch home with claude in it, a project, and a model server.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use relaycode_friend::friend::answer::DeclinedAction;
use relaycode_friend::friend::event::FriendEvent;
use relaycode_friend::friend::request::TurnLimits;
use relaycode_friend::friends::claude::Claude;
use relaycode_friend::{AskRequest, Friend, FriendAnswer, FriendContext, FriendFailure};
use relaycode_testkit::agents::{self, AgentNotInstalled, AgentScratch};
use relaycode_testkit::directory_tree::{DirectoryTree, read_tree};
use relaycode_testkit::git::git;
use relaycode_testkit::model::{self, Script, ScriptedServer};
use serde_json::{Value, json};

use crate::fake_friends::send;
use crate::keeper_fixture::runner;

/// Far more than a turn takes that goes well.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// A stage with this script, or a test that says why it is skipped.
macro_rules! stage {
    ($turns:expr) => {
        match $crate::real::claude::fixture::Stage::new($turns, None) {
            Ok(stage) => stage,
            Err(absent) => return absent.skip(),
        }
    };
    (at $url:expr) => {
        match $crate::real::claude::fixture::Stage::new([], Some($url)) {
            Ok(stage) => stage,
            Err(absent) => return absent.skip(),
        }
    };
}
pub(super) use stage;

pub(super) struct Stage {
    pub(super) server: ScriptedServer,
    pub(super) scratch: AgentScratch,
    claude: Claude,
}

/// What came of a turn.
#[derive(Debug)]
pub(super) struct Came {
    result: Result<FriendAnswer, FriendFailure>,
    pub(super) events: Vec<FriendEvent>,
    pub(super) took: Duration,
}

impl Stage {
    pub(super) fn new(
        turns: impl IntoIterator<Item = model::ScriptedTurn>,
        url: Option<&str>,
    ) -> Result<Stage, AgentNotInstalled> {
        let agent = agents::find_by_name("claude").unwrap();
        let server = ScriptedServer::start(Script::any(turns));
        let scratch = AgentScratch::new();
        let resident = scratch.install_agent(agent, url.unwrap_or(&server.url()))?;
        let project = scratch.project();
        fs::write(project.join("main.rs"), "fn main() {}\n").unwrap();
        git(&project, &["init", "-q"]);
        // Claude, with what it needs to know; the folder says how often it was called.
        let root = project.parent().unwrap().to_path_buf();
        let exports: String = resident
            .environment()
            .map(|(name, value)| format!("export {}='{}'\n", name.display(), value.display()))
            .collect();
        let script = format!(
            "#!/bin/sh\n{exports}echo called >>'{root}/calls'\n\
             if [ -e '{root}/no-stdio' ]; then case \"$*\" in *--input-format*) echo no such protocol >&2; exit 3 ;; esac; fi\n\
             if [ -e '{root}/no-key' ]; then unset ANTHROPIC_API_KEY; fi\n\
             exec '{program}' \"$@\"\n",
            root = root.display(),
            program = resident.program().display(),
        );
        let program = root.join("claude");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Ok(Stage { server, scratch, claude: Claude::at(&program) })
    }

    pub(super) fn root(&self) -> PathBuf {
        self.scratch.project().parent().unwrap().to_path_buf()
    }

    pub(super) fn project(&self) -> PathBuf {
        fs::canonicalize(self.scratch.project()).unwrap()
    }

    /// Switches something of the program's off: `no-stdio`, `no-key`.
    pub(super) fn switch(&self, name: &str) {
        fs::write(self.root().join(name), "").unwrap();
    }

    pub(super) fn calls(&self) -> usize {
        fs::read_to_string(self.root().join("calls")).unwrap_or_default().lines().count()
    }

    /// Adds to the user's own settings, beside where the model is.
    pub(super) fn configure(&self, more: &Value) {
        let file = self.scratch.home().join(".claude/settings.json");
        let mut settings: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        for (key, value) in more.as_object().unwrap() {
            settings[key] = value.clone();
        }
        fs::write(file, settings.to_string()).unwrap();
    }

    pub(super) fn turn(&self, prompt: &str) -> AskRequest {
        AskRequest::new(prompt, self.project(), TurnLimits::new(LONG, LONG))
    }

    pub(super) fn go(&self, turn: &AskRequest) -> Came {
        self.go_until(turn, &|| false)
    }

    pub(super) fn go_until(&self, turn: &AskRequest, stop: &(dyn Fn() -> bool + Sync)) -> Came {
        let world = FriendContext {
            runner: runner(),
            home: None,
            env_var: &|_| None,
            stop_requested: stop,
            depth: 0,
        };
        let mut events = Vec::new();
        let mut turn = turn.clone();
        turn.limits.started_at = Instant::now();
        let result = send(&self.claude, &turn, &world, &mut |event| events.push(event));
        let took = turn.limits.started_at.elapsed();
        assert_eq!(self.scratch.left_running(), [], "nothing is left running");
        Came { result, events, took }
    }

    pub(super) fn look(&self) -> relaycode_friend::friend::FriendProbeReport {
        self.claude.probe(&FriendContext {
            runner: runner(),
            home: None,
            env_var: &|_| None,
            stop_requested: &|| false,
            depth: 0,
        })
    }

    /// Every file of the project with its bytes, git's own included.
    pub(super) fn tree(&self) -> DirectoryTree {
        read_tree(&self.project(), &[])
    }

    /// What of the names that begin with `ran-` was made in the stage's folder.
    pub(super) fn ran(&self) -> Vec<String> {
        let names = fs::read_dir(self.root()).unwrap().flatten().map(|entry| entry.file_name());
        names.map(|name| name.display().to_string()).filter(|name| name.starts_with("ran-")).collect()
    }
}

impl Came {
    #[track_caller]
    pub(super) fn answer(&self) -> &FriendAnswer {
        self.result.as_ref().unwrap_or_else(|failure| panic!("{failure:?}\n{:#?}", self.events))
    }

    #[track_caller]
    pub(super) fn failure(&self) -> &FriendFailure {
        self.result.as_ref().unwrap_err()
    }

    pub(super) fn declined(&self) -> Vec<DeclinedAction> {
        let of = |event: &FriendEvent| {
            if let FriendEvent::Declined(what) = event { Some(what.clone()) } else { None }
        };
        self.events.iter().filter_map(of).collect()
    }

    /// What a stream shows at last.
    pub(super) fn shown(&self) -> String {
        self.events.iter().fold(String::new(), |shown, event| match event {
            FriendEvent::Text(text) => shown + text,
            FriendEvent::AnswerRestarted => String::new(),
            _ => shown,
        })
    }
}

pub(super) fn write(path: &str) -> model::ScriptedTurn {
    model::ScriptedTurn::text("I write.").tool("Write", json!({"file_path": path, "content": "new\n"}))
}

pub(super) fn shell(command: &str) -> model::ScriptedTurn {
    model::ScriptedTurn::text("I run.").tool("Bash", json!({"command": command, "description": "run it"}))
}
