//! A project, a home, and a played codex, all on the disk of the build.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
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

/// A repository of `files` files of `size` bytes each, all tracked by git.
pub(super) fn fill(root: &Path, files: usize, size: usize) -> anyhow::Result<()> {
    git(root, &["init", "-q", "-b", "main", "."])?;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for at in 0..files {
        let folder = root.join(format!("part{:03}", at / 50));
        if at % 50 == 0 {
            fs::create_dir_all(&folder)?;
        }
        let mut content = Vec::with_capacity(size + 64);
        while content.len() < size {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            content.extend(format!("let value_{:016x} = compute({at});\n", state).bytes());
        }
        content.truncate(size);
        fs::write(folder.join(format!("file{at:05}.rs")), content)?;
    }
    // No housekeeping in the background during a measurement.
    git(root, &["config", "gc.auto", "0"])?;
    git(root, &["config", "maintenance.auto", "false"])?;
    git(root, &["-c", "core.compression=0", "add", "."])?;
    let name = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    git(root, &[&name[..], &["commit", "-qm", "first"]].concat())
}

pub(super) fn git(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("git");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.arg("-C").arg(root).args(words).output()?;
    if !output.status.success() {
        bail!("git {words:?} fails: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}
