//! Friends that do what a test tells them, and projects to ask about.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use relaycode_friend::ask::review::PROMPT;
use relaycode_friend::friend::{FriendAbilities, FriendProbeReport, FriendSandbox, SessionSupport};
use relaycode_friend::{
    AskDiff, AskRequest, EventSink, Friend, FriendAnswer, FriendContext, FriendFailure, FriendTurn,
    ReviewScope, TurnLimits,
};
use relaycode_project::access::Access;
use relaycode_testkit::git::git;
use tempfile::TempDir;

type Work = Box<dyn Fn(&Asked, &mut EventSink<'_>) -> Result<FriendAnswer, FriendFailure> + Send + Sync>;

/// What a friend was asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    Prompt(String),
    Review(String),
}

/// Sends a request to a friend as it is: its prompt, or for its own review.
pub(crate) fn send(
    friend: &dyn Friend,
    request: &AskRequest,
    world: &FriendContext<'_>,
    hear: &mut EventSink<'_>,
) -> Result<FriendAnswer, FriendFailure> {
    let turn = &mut FriendTurn { request, world, fence: None, hear };
    match &request.diff {
        AskDiff::Review(scope) => friend.run_review(scope.base.as_deref().unwrap_or_default(), turn),
        _ => friend.run_prompt(&request.prompt, turn),
    }
}

/// What is on this branch and not in `base`.
pub(crate) fn since(base: &str) -> AskDiff {
    AskDiff::Review(ReviewScope { base: Some(base.to_string()), ..ReviewScope::default() })
}

/// A friend that does what it is told and remembers what it was asked.
pub(crate) struct Fake {
    pub(crate) abilities: FriendAbilities,
    work: Work,
    pub(crate) turns: Mutex<Vec<(Asked, TurnLimits)>>,
}

impl Fake {
    pub(crate) fn new(
        work: impl Fn(&Asked, &mut EventSink<'_>) -> Result<FriendAnswer, FriendFailure> + Send + Sync + 'static,
    ) -> Fake {
        let abilities = FriendAbilities {
            reads_files: true,
            writes_files: false,
            streams: false,
            review: false,
            sessions: SessionSupport::Replayed,
            schema: false,
            sandbox: FriendSandbox::None,
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
        let text = |(asked, _): &(Asked, TurnLimits)| match asked {
            Asked::Prompt(prompt) => prompt.clone(),
            Asked::Review(base) => format!("review {base}"),
        };
        self.turns.lock().unwrap().iter().map(text).collect()
    }

    fn hear(
        &self,
        asked: &Asked,
        request: &AskRequest,
        hear: &mut EventSink<'_>,
    ) -> Result<FriendAnswer, FriendFailure> {
        self.turns.lock().unwrap().push((asked.clone(), request.limits));
        (self.work)(asked, hear)
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

    fn run_prompt(&self, prompt: &str, turn: &mut FriendTurn<'_>) -> Result<FriendAnswer, FriendFailure> {
        self.hear(&Asked::Prompt(prompt.to_string()), turn.request, turn.hear)
    }

    fn run_review(&self, base: &str, turn: &mut FriendTurn<'_>) -> Result<FriendAnswer, FriendFailure> {
        self.hear(&Asked::Review(base.to_string()), turn.request, turn.hear)
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

    pub(crate) fn asking(&self, prompt: &str) -> AskRequest {
        let limits = TurnLimits::new(Duration::from_secs(120), Duration::from_secs(60));
        AskRequest::new(prompt, self.root(), limits)
    }

    pub(crate) fn reviewing(&self) -> AskRequest {
        self.reviewing_scope(ReviewScope::default())
    }

    pub(crate) fn reviewing_scope(&self, scope: ReviewScope) -> AskRequest {
        AskRequest { diff: AskDiff::Review(scope), ..self.asking(PROMPT) }
    }
}
