//! What is looked for beside the conversation, so that nothing waits for it: the project's files for `@`, earlier prompts, and
//! how the checkout stands. Each look is one thread that ends by itself; its end wakes the screen.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use ignore::WalkBuilder;
use jiff::Timestamp;
use relaycode_exec::Runner;
use relaycode_project::git::{Git, GitFileState};
use relaycode_session::PromptHistory;
use relaycode_tui::editor::PromptSearchSource;
use relaycode_tui::status::GitFacts;

use super::event_feed::ScreenBell;
use crate::agent::open_agent::OpenAgent;

const HISTORY_FILE: &str = "history.db";
/// Files of a project that `@` knows.
const MAX_FILES: usize = 200_000;
/// Earlier prompts that the arrow keys reach.
const MAX_PROMPTS: usize = 500;

/// How long the end waits for prompts that are being kept.
const KEEP_TIME: Duration = Duration::from_secs(1);

/// Something that was found.
pub(super) enum BackgroundFind {
    Files(Arc<[String]>),
    /// The newest last.
    Prompts(Arc<[String]>),
    Git(Option<GitFacts>),
}

pub(super) struct BackgroundFinds {
    sender: Sender<BackgroundFind>,
    found: Receiver<BackgroundFind>,
    bell: ScreenBell,
    history: Option<PathBuf>,
    has_files: bool,
    has_prompts: bool,
    /// Shared by those that keep a prompt.
    keeping: Arc<()>,
    /// Held while git is asked.
    git: Arc<Mutex<()>>,
}

impl BackgroundFinds {
    pub(super) fn new(home: Option<&Path>, bell: ScreenBell) -> BackgroundFinds {
        let (sender, found) = channel();
        BackgroundFinds {
            sender,
            found,
            bell,
            history: home.map(|home| home.join(HISTORY_FILE)),
            has_files: false,
            has_prompts: false,
            keeping: Arc::default(),
            git: Arc::default(),
        }
    }

    /// What changes with every prompt, and what is not there yet.
    pub(super) fn look(&mut self, open: &OpenAgent) {
        let door = &open.agent.workspace().door;
        let (root, runner, git) = (door.root.clone(), door.runner.clone(), self.git.clone());
        self.spawn(move || {
            // One at a time: they would answer the same.
            let _asking = git.try_lock().ok()?;
            Some(BackgroundFind::Git(git_facts(&runner, &root)))
        });
        if !std::mem::replace(&mut self.has_prompts, true)
            && let Some(path) = self.history.clone()
        {
            self.spawn(move || recent_prompts(&path).map(|prompts| BackgroundFind::Prompts(prompts.into())));
        }
    }

    /// The project's files, from when `@` is typed first.
    pub(super) fn look_for_files(&mut self, root: &Path) {
        if !std::mem::replace(&mut self.has_files, true) {
            let root = root.to_path_buf();
            self.spawn(move || Some(BackgroundFind::Files(project_files(&root).into())));
        }
    }

    /// They are looked for again when they are needed next.
    pub(super) fn forget_files(&mut self) {
        self.has_files = false;
    }

    /// Keeps a prompt for later conversations. It never gets in the way.
    pub(super) fn keep_prompt(&self, prompt: &str, cwd: &Path) {
        let Some(path) = self.history.clone() else { return };
        let (prompt, cwd) = (prompt.to_string(), cwd.to_path_buf());
        let keeps = self.keeping.clone();
        self.spawn(move || {
            let _keeps = keeps;
            let mut history = PromptHistory::open(&path).ok()?;
            history.add(&prompt, &cwd, Timestamp::now().as_second()).ok()?;
            None
        });
    }

    /// Waits a moment for prompts that are being kept: what was said last is what one looks for next.
    pub(super) fn finish(&self) {
        let until = Instant::now() + KEEP_TIME;
        while Arc::strong_count(&self.keeping) > 1 && Instant::now() < until {
            thread::sleep(KEEP_TIME / 200);
        }
    }

    pub(super) fn take(&self) -> Vec<BackgroundFind> {
        self.found.try_iter().collect()
    }

    fn spawn(&self, look: impl FnOnce() -> Option<BackgroundFind> + Send + 'static) {
        let (sender, bell) = (self.sender.clone(), self.bell.clone());
        let named = thread::Builder::new().name("relay-look".to_string());
        // Without the thread there is nothing to show, and nothing is lost.
        let _ = named.spawn(move || {
            if let Some(found) = look()
                && sender.send(found).is_ok()
            {
                bell.ring();
            }
        });
    }
}

/// Earlier prompts of all conversations, for whoever searches them.
pub(super) struct StoredPrompts {
    path: PathBuf,
    history: Option<PromptHistory>,
}

impl StoredPrompts {
    pub(super) fn new(home: &Path) -> StoredPrompts {
        StoredPrompts { path: home.join(HISTORY_FILE), history: None }
    }
}

impl PromptSearchSource for StoredPrompts {
    fn search(&mut self, query: &str, limit: usize) -> Vec<String> {
        if self.history.is_none() {
            self.history = PromptHistory::open(&self.path).ok();
        }
        let Some(history) = &mut self.history else { return Vec::new() };
        let found = if query.is_empty() { history.recent(limit, None) } else { history.search(query, limit) };
        found.map(|prompts| prompts.into_iter().map(|kept| kept.prompt).collect()).unwrap_or_default()
    }
}

fn recent_prompts(path: &Path) -> Option<Vec<String>> {
    let found = PromptHistory::open(path).ok()?.recent(MAX_PROMPTS, None).ok()?;
    Some(found.into_iter().rev().map(|kept| kept.prompt).collect())
}

fn project_files(root: &Path) -> Vec<String> {
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .git_global(false)
        .require_git(false)
        .filter_entry(|entry| !matches!(entry.file_name().to_str(), Some(".git" | ".relaycode")))
        .build();
    let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let name = |entry: ignore::DirEntry| Some(entry.path().strip_prefix(root).ok()?.to_str()?.to_string());
    files.filter_map(name).take(MAX_FILES).collect()
}

fn git_facts(runner: &Runner, root: &Path) -> Option<GitFacts> {
    let head = relaycode_project::git::head::read(root);
    let branch = head.branch.or_else(|| head.commit.map(|commit| commit.chars().take(8).collect()))?;
    let mut facts = GitFacts { branch, ..GitFacts::default() };
    for file in Git::new(runner, root).uncommitted_files().unwrap_or_default() {
        match file.state {
            GitFileState::Untracked => facts.untracked += 1,
            GitFileState::Changed { staged, unstaged } => {
                facts.staged += usize::from(staged);
                facts.changed += usize::from(unstaged);
            }
            GitFileState::Conflicted => facts.changed += 1,
            GitFileState::Clean | GitFileState::Ignored | GitFileState::Absent => {}
        }
    }
    Some(facts)
}
