//! Friends that do what a test tells them, and projects to ask about.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use relaycode_friend::ask::review::ReviewRequest;
use relaycode_friend::ask::{AskOptions, AskRequest};
use relaycode_friend::friend::{FriendAbilities, FriendProbeReport, SessionSupport};
use relaycode_friend::{
    Friend, FriendAnswer, FriendContext, FriendEvent, FriendFailure, FriendTurn, TurnMemory,
};
use relaycode_project::access::Access;
use relaycode_testkit::git::git;
use tempfile::TempDir;

type Work = Box<
    dyn Fn(&FriendTurn, &mut dyn FnMut(FriendEvent)) -> Result<FriendAnswer, FriendFailure> + Send + Sync,
>;

/// A friend that does what it is told and remembers what it was asked.
pub(crate) struct Fake {
    pub(crate) abilities: FriendAbilities,
    work: Work,
    pub(crate) turns: Mutex<Vec<FriendTurn>>,
}

impl Fake {
    pub(crate) fn new(
        work: impl Fn(&FriendTurn, &mut dyn FnMut(FriendEvent)) -> Result<FriendAnswer, FriendFailure>
        + Send
        + Sync
        + 'static,
    ) -> Fake {
        let abilities = FriendAbilities {
            reads_files: true,
            writes_files: false,
            streams: false,
            review: false,
            sessions: SessionSupport::Replayed,
            schema: false,
            access: &[Access::ReadOnly],
        };
        Fake { abilities, work: Box::new(work), turns: Mutex::new(Vec::new()) }
    }

    /// Always says this.
    pub(crate) fn says(text: &str) -> Fake {
        let text = text.to_string();
        Fake::new(move |_, _| Ok(answer(&text)))
    }

    /// What it was asked, as prompts; its own reviews as `review BASE`.
    pub(crate) fn asked(&self) -> Vec<String> {
        let turns = self.turns.lock().unwrap();
        let text = |turn: &FriendTurn| match &turn.task {
            relaycode_friend::TurnTask::Prompt(prompt) => prompt.clone(),
            relaycode_friend::TurnTask::Review { base } => format!("review {base}"),
        };
        turns.iter().map(text).collect()
    }
}

impl Friend for Fake {
    fn name(&self) -> &str {
        "fake"
    }

    fn abilities(&self) -> FriendAbilities {
        self.abilities
    }

    fn probe(&self, _: &FriendContext<'_>) -> FriendProbeReport {
        FriendProbeReport::default()
    }

    fn run_turn(
        &self,
        turn: &FriendTurn,
        _: &FriendContext<'_>,
        hear: &mut dyn FnMut(FriendEvent),
    ) -> Result<FriendAnswer, FriendFailure> {
        self.turns.lock().unwrap().push(turn.clone());
        (self.work)(turn, hear)
    }
}

pub(crate) fn answer(text: &str) -> FriendAnswer {
    FriendAnswer { text: text.to_string(), transport: "fake", ..FriendAnswer::default() }
}

pub(crate) fn failed(said: &str) -> FriendFailure {
    FriendFailure::Failed { friend: "fake".to_string(), said: said.to_string() }
}

pub(crate) fn world() -> FriendContext<'static> {
    FriendContext {
        runner: crate::keeper_fixture::runner(),
        home: None,
        env_var: &|_| None,
        stop_requested: &|| false,
        depth: 0,
    }
}

/// A repository with one commit on `main`.
pub(crate) struct Scene {
    dir: TempDir,
}

impl Scene {
    pub(crate) fn new() -> Scene {
        let scene = Scene::bare();
        scene.git(&["init", "-q", "-b", "main", "."]);
        scene.file("a.txt", "one\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-q", "-m", "first"]);
        scene
    }

    /// A directory that is no repository.
    pub(crate) fn bare() -> Scene {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("app")).unwrap();
        Scene { dir }
    }

    /// With a second commit on a branch of its own.
    pub(crate) fn branch() -> Scene {
        let scene = Scene::new();
        scene.git(&["checkout", "-q", "-b", "work"]);
        scene.file("a.txt", "two\n");
        scene.git(&["commit", "-q", "-a", "-m", "second"]);
        scene
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("app")
    }

    pub(crate) fn file(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn git(&self, words: &[&str]) -> String {
        git(&self.root(), words)
    }

    pub(crate) fn terms(&self) -> AskOptions {
        AskOptions {
            root: self.root(),
            access: Access::ReadOnly,
            model: None,
            schema: None,
            memory: TurnMemory::None,
            total: Duration::from_secs(120),
            idle: Duration::from_secs(60),
            check_tree: false,
        }
    }

    pub(crate) fn asking(&self, prompt: &str) -> AskRequest {
        AskRequest { prompt: prompt.to_string(), context: None, include_diff: false, options: self.terms() }
    }

    pub(crate) fn reviewing(&self) -> ReviewRequest {
        ReviewRequest {
            base: None,
            paths: Vec::new(),
            prompt: None,
            context: None,
            uncommitted: false,
            verdict: false,
            options: self.terms(),
        }
    }
}
