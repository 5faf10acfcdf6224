//! A friend at home: the real program (or a model server) in a scratch home, a project under git with work that is not
//! committed, and relay, which is asked about it as a user asks.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use relaycode_friend::friends;
use relaycode_testkit::agents::{self, AgentNotInstalled, AgentScratch, RealAgent};
use relaycode_testkit::directory_tree::{DirectoryTree, read_tree};
use relaycode_testkit::git::git;
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};
use relaycode_testkit::process::{ChildGuard, poll_until, temp_file_with};
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

/// Far more than anything here takes, on a machine that has much to do.
pub(super) const LONG: Duration = Duration::from_secs(240);

/// The friend that is no program.
pub(super) const OLLAMA: &str = "ollama";

/// Everybody who can be asked.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    programs().chain([OLLAMA])
}

/// Those that are programs, with hands.
pub(super) fn programs() -> impl Iterator<Item = &'static str> {
    friends::ALL.iter().map(|friend| friend.name())
}

/// A friend, its model and a project.
pub(super) struct Stage {
    pub(super) name: &'static str,
    pub(super) server: ScriptedServer,
    pub(super) scratch: AgentScratch,
    agent: Option<&'static dyn RealAgent>,
    environment: Vec<(OsString, OsString)>,
}

/// How a run of relay ended.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
    pub(super) took: Duration,
    /// Who was still there when relay had ended, before anybody was made to end.
    pub(super) left: Vec<Pid>,
}

/// The stages of these friends, one by one; of one that is not installed it is said.
pub(super) fn each(names: impl IntoIterator<Item = &'static str>, act: impl Fn(&Stage)) {
    for name in names {
        if let Some(stage) = Stage::of(name) {
            act(&stage);
        }
    }
}

impl Stage {
    /// The friend of this name with a model that says nothing yet.
    pub(super) fn of(name: &'static str) -> Option<Stage> {
        Stage::beside(name, AgentScratch::new())
    }

    fn beside(name: &'static str, scratch: AgentScratch) -> Option<Stage> {
        let install =
            |program| agents::find_by_name(program).expect("every friend is one of testkit's agents");
        let agent = programs().find(|program| *program == name).map(install);
        // A model server is not offered tools; a program asks for titles besides, without them.
        let script = if agent.is_some() { Script::new([]) } else { Script::any([]) };
        let server = ScriptedServer::start(script);
        let mut stage = Stage { name, server, scratch, agent, environment: Vec::new() };
        stage.environment = match agent {
            Some(agent) => stage.settle(agent)?,
            None => stage.serve(),
        };
        stage.begin_project();
        Some(stage)
    }

    /// The program itself.
    pub(super) fn agent(&self) -> &'static dyn RealAgent {
        self.agent.unwrap()
    }

    fn settle(&self, agent: &dyn RealAgent) -> Option<Vec<(OsString, OsString)>> {
        let resident = self
            .scratch
            .install_agent(agent, &self.server.url())
            .inspect_err(AgentNotInstalled::skip)
            .ok()?;
        Some(resident.environment().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// What the user wrote about a model server.
    fn serve(&self) -> Vec<(OsString, OsString)> {
        self.put_home(
            "relay/models.yml",
            &format!("providers: {{ollama: {{baseUrl: \"{}\"}}}}\n", self.server.url()),
        );
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        vec![
            ("PATH".into(), path),
            ("HOME".into(), self.scratch.home().into()),
            ("LANG".into(), "C.UTF-8".into()),
            ("NO_PROXY".into(), "*".into()),
        ]
    }

    /// Another friend moves in, with a model of its own.
    pub(super) fn with(&mut self, name: &str) -> Option<ScriptedServer> {
        let server = ScriptedServer::start(Script::new([]));
        let agent = agents::find_by_name(name)?;
        let resident =
            self.scratch.install_agent(agent, &server.url()).inspect_err(AgentNotInstalled::skip).ok()?;
        self.environment.extend(resident.environment().map(|(name, value)| (name.into(), value.into())));
        Some(server)
    }

    /// A branch with a commit over main, and work that is not committed: a changed file and a new one.
    fn begin_project(&self) {
        self.git(&["init", "-q", "-b", "main"]);
        self.put("old.txt", "one\ntwo\nthree\n");
        self.put("src/cart.rs", "fn total() -> u32 { 0 }\n");
        self.git(&["add", "."]);
        self.git(&["commit", "-qm", "first"]);
        self.git(&["checkout", "-qb", "feature"]);
        self.put("src/cart.rs", "fn total() -> u32 { loop {} }\n");
        self.git(&["commit", "-qam", "second"]);
        self.put("src/cart.rs", "fn total() -> u32 { loop {} }\n// not committed\n");
        self.put("notes/untracked.txt", "not known to git\n");
        self.git(&["status"]);
    }

    pub(super) fn git(&self, words: &[&str]) {
        git(&self.scratch.project(), words);
    }

    pub(super) fn put(&self, path: &str, text: &str) {
        put(&self.scratch.project().join(path), text);
    }

    pub(super) fn put_home(&self, path: &str, text: &str) {
        put(&self.scratch.home().join(path), text);
    }

    pub(super) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.scratch.project().join(path)).unwrap_or_default()
    }

    /// Everything in the project, git's own files included, relay's own not.
    pub(super) fn tree(&self) -> DirectoryTree {
        read_tree(&self.scratch.project(), &[".relaycode"])
    }

    /// The model says these next.
    pub(super) fn says(&self, turns: impl IntoIterator<Item = ScriptedTurn>) {
        turns.into_iter().for_each(|turn| self.server.push(&turn));
    }

    /// What a model says that tries everything to write: a new file, an old one, and git's own by a command. Of a
    /// server without hands nothing.
    pub(super) fn tries_to_write(&self) -> Vec<ScriptedTurn> {
        let Some(agent) = self.agent else { return Vec::new() };
        let mut turns = vec![agent.write_file_turn(ScriptedTurn::text("I write."), "new.txt", "hello\n")];
        turns.extend(agent.replace_turns(ScriptedTurn::text("I change."), "old.txt", "two", "zwei"));
        let command = "echo ran > ran.txt; echo '# ran' >> .git/config; echo ran > .git/hooks/post-commit";
        turns.push(agent.shell_call_turn(ScriptedTurn::text("I run."), command));
        turns
    }

    /// What a model says that changes two files and adds one, through the friend's own tools, or as a patch.
    pub(super) fn works(&self) -> Vec<ScriptedTurn> {
        let done = ScriptedTurn::text("I made it better.");
        let Some(agent) = self.agent else {
            let prompt = self.run(&["prompt"]);
            let id = prompt.out.lines().find_map(|line| line.strip_prefix("projectId: ")).unwrap();
            let edit = crate::fixture::scratch_project::edit("old.txt", "two", "zwei");
            let new = crate::fixture::scratch_project::whole("src/new.txt", "hello\n");
            let cart = crate::fixture::scratch_project::edit("src/cart.rs", "// not committed", "// better");
            let text =
                format!("{edit}\n{new}\n{cart}\n```yaml\nprojectId: {id}\ngitCommitMsg: \"better\"\n```\n");
            return vec![ScriptedTurn::text(text)];
        };
        let mut turns = vec![agent.write_file_turn(ScriptedTurn::text("I write."), "src/new.txt", "hello\n")];
        turns.extend(agent.replace_turns(ScriptedTurn::text("I change."), "old.txt", "two", "zwei"));
        turns.extend(agent.replace_turns(
            ScriptedTurn::text("I change."),
            "src/cart.rs",
            "// not committed",
            "// better",
        ));
        turns.push(done);
        turns
    }

    /// relay in the project, as the user of this home; nobody is there to ask.
    pub(super) fn relay(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_relay"));
        command.args(words);
        self.surround(&mut command);
        command
    }

    pub(super) fn surround(&self, command: &mut Command) {
        command.current_dir(self.scratch.project()).env_clear();
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.env("RELAY_HOME", self.scratch.home().join("relay"));
    }

    pub(super) fn run(&self, words: &[&str]) -> Ran {
        self.run_until(words, |_| {})
    }

    /// The same with this on its input.
    pub(super) fn run_with(&self, words: &[&str], input: &str) -> Ran {
        self.finish(words, temp_file_with(input.as_bytes()).unwrap().into(), |_| {})
    }

    /// The same; `meanwhile` sees it while it runs.
    pub(super) fn run_until(&self, words: &[&str], meanwhile: impl FnOnce(&mut ChildGuard)) -> Ran {
        self.finish(words, Stdio::null(), meanwhile)
    }

    fn finish(&self, words: &[&str], input: Stdio, meanwhile: impl FnOnce(&mut ChildGuard)) -> Ran {
        let (mut out, mut err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let mut command = self.relay(words);
        command.stdin(input).stdout(out.try_clone().unwrap()).stderr(err.try_clone().unwrap());
        let began = Instant::now();
        let mut relay = ChildGuard::start(&mut command).unwrap();
        meanwhile(&mut relay);
        let status = relay.wait_exit(LONG);
        let took = began.elapsed();
        let left = self.scratch.left_running();
        let read = |file: &mut fs::File| {
            let mut text = String::new();
            file.rewind().unwrap();
            file.read_to_string(&mut text).unwrap();
            text
        };
        let (out, err) = (read(&mut out), read(&mut err));
        Ran { code: status.and_then(|status| status.code()), out, err, took, left }
    }

    /// Breaks relay off as Ctrl-C does; how long it takes until the last process is gone.
    pub(super) fn interrupt(&self, relay: &mut ChildGuard) -> Duration {
        let began = Instant::now();
        relay.signal(Signal::INT);
        poll_until(LONG, || self.scratch.left_running().is_empty().then_some(())).unwrap();
        began.elapsed()
    }

    /// Waits until the friend has asked its model.
    pub(super) fn wait_until_asked(&self) {
        assert!(
            self.server.wait_within(LONG, |requests| requests.iter().any(|request| request.is_turn())),
            "{}",
            self.name
        );
    }
}

impl Ran {
    /// It ended with this code, and nobody was left.
    #[track_caller]
    pub(super) fn ends(self, name: &str, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "{name}: {self:#?}");
        assert_eq!(self.left, [], "{name} left processes: {self:#?}");
        self
    }

    /// The object of `--json`: the only one, or the last.
    #[track_caller]
    pub(super) fn json(&self) -> Value {
        let last = self.out.lines().last().unwrap_or_else(|| panic!("{self:#?}"));
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// Every object.
    pub(super) fn events(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A verdict that blocks, as a model writes it.
pub(super) fn blocking() -> Value {
    let location = json!({"path": "src/cart.rs", "line": 1, "endLine": null});
    let finding =
        json!({"severity": "blocker", "title": "It loops", "rationale": "For ever.", "location": location});
    json!({"schemaVersion": 1, "verdict": "iterate", "summary": "It never ends.", "findings": [finding]})
}

pub(super) fn put(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}
