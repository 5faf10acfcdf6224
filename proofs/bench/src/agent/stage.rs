//! A project, a home whose only model follows a script, and relay in it, all on the disk of the build. The user has caches, as
//! everybody has: a fence puts layers over them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::ensure;
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};
use tempfile::TempDir;

use crate::child::{Cost, relay, run, scratch};

/// Tokens of the model: more than any conversation here.
const WINDOW: usize = 100_000_000;

pub(crate) struct AgentStage {
    folder: TempDir,
    server: ScriptedServer,
}

impl AgentStage {
    pub(crate) fn new() -> anyhow::Result<AgentStage> {
        let stage = AgentStage { folder: scratch()?, server: ScriptedServer::start(Script::any([])) };
        let user = stage.user();
        for directory in [stage.home(), stage.project(), user.join(".cache"), user.join(".npm")] {
            fs::create_dir_all(directory)?;
        }
        let models = format!(
            "providers:\n  work:\n    baseUrl: {}\n    api: anthropic-messages\n    apiKey: scripted\n    models:\n      \
             - {{id: m1, contextWindow: {WINDOW}, maxTokens: 4000}}\nroles: {{default: work/m1}}\n",
            stage.server.url()
        );
        fs::write(stage.home().join("models.yml"), models)?;
        Ok(stage)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The user's own directory.
    pub(crate) fn user(&self) -> PathBuf {
        self.folder.path().join("user")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The model says these next.
    pub(crate) fn says(&self, turns: impl IntoIterator<Item = ScriptedTurn>) {
        turns.into_iter().for_each(|turn| self.server.push(&turn));
    }

    /// `relay run` in the project.
    pub(super) fn relay(&self, words: &[&str]) -> anyhow::Result<Command> {
        let mut command = relay(Some(&self.home()))?;
        command
            .env("HOME", self.user())
            .arg("-C")
            .arg(self.project())
            .args(["run", "--access", "workspace"])
            .args(words);
        Ok(command)
    }

    /// Runs it on a model that says `turns` and nothing else.
    pub(super) fn run(
        &self,
        words: &[&str],
        turns: impl IntoIterator<Item = ScriptedTurn>,
    ) -> anyhow::Result<Cost> {
        self.says(turns);
        let cost = run(&mut self.relay(words)?)?;
        let left = self.server.turns_left();
        ensure!(left == 0, "{left} answers of the model were not asked for");
        Ok(cost)
    }
}

/// Turns that call the shell so many times, and a last one.
pub(super) fn shell_turns(
    calls: usize,
    line: impl Fn(usize) -> String,
    turn: impl Fn(ScriptedTurn, &str) -> ScriptedTurn,
) -> Vec<ScriptedTurn> {
    let calls = (0..calls).map(|number| turn(ScriptedTurn::default(), &line(number)));
    calls.chain([ScriptedTurn::text("Done.")]).collect()
}

/// What the commands take by themselves.
pub(super) fn bare(
    project: &Path,
    calls: usize,
    line: impl Fn(usize) -> String,
) -> anyhow::Result<Vec<Cost>> {
    let one = |number| run(Command::new("bash").args(["-c", &line(number)]).current_dir(project));
    (0..calls).map(one).collect()
}
