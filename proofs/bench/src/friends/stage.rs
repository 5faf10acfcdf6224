//! A project, a home, and a played codex, all on the disk of the build.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use tempfile::TempDir;

use super::player::Report;
use crate::child::{relay, scratch};

/// Marks everything that is started here.
pub(super) const MARK: &str = "RELAY_BENCH_STAGE";

/// A project and a player.
pub(super) struct Stage {
    folder: TempDir,
}

impl Stage {
    /// With a codex that plays `play`, after the shell has run `first`.
    pub(super) fn new(play: &str, first: &str) -> anyhow::Result<Stage> {
        let stage = Stage { folder: scratch()? };
        for name in ["bin", "home", "project"] {
            fs::create_dir(stage.folder.path().join(name))?;
        }
        let this = std::env::current_exe()?;
        let player = stage.folder.path().join("bin/codex");
        let script = format!(
            "#!/bin/sh\n{first}\nexec '{}' --as-child friends play {play} '{}'\n",
            this.display(),
            stage.report_file().display()
        );
        fs::write(&player, script)?;
        fs::set_permissions(&player, fs::Permissions::from_mode(0o755))?;
        Ok(stage)
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// relay in the project, with the player as its codex.
    pub(super) fn relay(&self) -> anyhow::Result<Command> {
        let mut command = relay(Some(&self.folder.path().join("home")))?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let places = std::iter::once(self.folder.path().join("bin")).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(places)?).env(MARK, self.folder.path());
        command.current_dir(self.project());
        Ok(command)
    }

    /// The report of the last player.
    pub(super) fn report(&self) -> anyhow::Result<Report> {
        let told = fs::read(self.report_file()).context("the player told nothing")?;
        fs::remove_file(self.report_file())?;
        Ok(serde_json::from_slice(&told)?)
    }

    fn report_file(&self) -> PathBuf {
        self.folder.path().join("report")
    }

    /// How many processes of this stage there are, whatever they did to get away.
    pub(super) fn running(&self) -> usize {
        let mark = format!("{MARK}={}", self.folder.path().display());
        relaycode_testkit::process_table::find_processes(|given| given.has_env(&mark)).len()
    }
}
