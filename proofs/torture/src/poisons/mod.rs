//! Repositories that name commands in every possible way: in relay's configuration, in look-alikes of the
//! user's own files, as programs in the tree, in git's configuration, attributes and hooks, and in answers.
//!
//! Each leaves a mark if any of it is run. A poison is one row of a list.

mod answers;
mod configs;
mod repositories;
mod states;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use super::relay;

/// One way to name a command.
pub(super) struct Poison {
    /// Also for `--replay`.
    pub(super) name: &'static str,
    /// The PATH; `@` stands for the machine's own.
    pub(super) path: &'static str,
    /// Spreads it in a project that has a repository with two files.
    pub(super) spread: fn(&Ground) -> anyhow::Result<()>,
}

impl Poison {
    const fn new(name: &'static str, spread: fn(&Ground) -> anyhow::Result<()>) -> Poison {
        Poison { name, path: "@", spread }
    }
}

pub(super) fn all() -> Vec<&'static Poison> {
    let lists = [configs::POISONS, states::POISONS, repositories::POISONS, answers::POISONS];
    lists.into_iter().flatten().collect()
}

/// Where a poison is spread.
pub(super) struct Ground {
    /// Everything that belongs to the case.
    pub(super) room: PathBuf,
    /// The poisoned project.
    pub(super) project: PathBuf,
    /// The binary under test, for look-alikes that it makes itself.
    relay: PathBuf,
}

/// An answer that fits the project.
pub(super) const ANSWER: &str = "```txt // a.txt\nfrom the answer\n```\n\n```yaml\nprojectId: app\nuuid: \
                                 5b0f4f60-1111-4222-8333-000000000001\ngitCommitMsg: \"fix: a\"\n```\n";

impl Ground {
    /// A clean project in `room`.
    pub(super) fn prepare(room: &Path, relay: &Path) -> anyhow::Result<Ground> {
        let project = relay::furnish(room)?;
        let ground = Ground { room: room.to_path_buf(), project, relay: relay.to_path_buf() };
        ground.file("a.txt", "one\n")?;
        ground.file("sub/b.txt", "two\n")?;
        ground.file("../answer.md", ANSWER)?;
        ground.executable(&room.join("evil"))?;
        fs::write(
            room.join("home/.gitconfig"),
            "[user]\n\tname = A\n\temail = a@example.org\n[protocol]\n\tallow = always\n",
        )?;
        ground.git(&["init", "-q", "-b", "main"])?;
        ground.git(&["add", "."])?;
        ground.git(&["commit", "-q", "-m", "first"])?;
        Ok(ground)
    }

    /// What must never exist.
    pub(super) fn mark(&self) -> PathBuf {
        self.room.join("PWNED")
    }

    /// A program that leaves the mark.
    fn evil(&self) -> String {
        self.room.join("evil").display().to_string()
    }

    /// A command line that leaves the mark.
    fn line(&self) -> String {
        format!("touch {}", self.mark().display())
    }

    /// A file of the project.
    fn file(&self, path: &str, text: &str) -> anyhow::Result<()> {
        let path = self.project.join(path);
        fs::create_dir_all(path.parent().context("no parent")?)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// A program at this path that leaves the mark.
    fn executable(&self, path: &Path) -> anyhow::Result<()> {
        fs::create_dir_all(path.parent().context("no parent")?)?;
        fs::write(path, format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\n", self.mark().display()))?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }

    /// Programs of these names in a directory of the project.
    fn programs(&self, directory: &str, names: &[&str]) -> anyhow::Result<()> {
        names.iter().try_for_each(|name| self.executable(&self.project.join(directory).join(name)))
    }

    /// Appends to the repository's configuration. `@` stands for the program, `§` for the command line.
    fn config(&self, lines: &str) -> anyhow::Result<()> {
        let path = self.project.join(".git/config");
        let text = fs::read_to_string(&path)? + &self.filled(lines);
        fs::write(path, text).context("cannot poison the configuration")
    }

    /// `@` stands for the program and `§` for the command line.
    fn filled(&self, text: &str) -> String {
        text.replace('@', &self.evil()).replace('§', &self.line())
    }

    /// git, while the repository is still clean.
    fn git(&self, words: &[&str]) -> anyhow::Result<()> {
        self.git_in(&self.project, words)
    }

    fn git_in(&self, directory: &Path, words: &[&str]) -> anyhow::Result<()> {
        let mut command = Command::new("git");
        relay::in_room(&mut command, &self.room);
        let done = command.args(words).current_dir(directory).output().context("git cannot be started")?;
        ensure!(done.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&done.stderr));
        Ok(())
    }

    /// relay itself, with the user's directory elsewhere.
    fn relay(&self, home: &Path, words: &[&str]) -> anyhow::Result<()> {
        let mut command = Command::new(&self.relay);
        relay::in_room(&mut command, &self.room);
        command.current_dir(&self.project).env("RELAY_HOME", home).args(words);
        let done = command.output().context("relay cannot be started")?;
        ensure!(done.status.success(), "relay {words:?}: {}", String::from_utf8_lossy(&done.stderr));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_sixty_and_each_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = all().iter().map(|poison| poison.name).collect();
        assert_eq!(names.len(), all().len());
        assert!(names.len() >= 60, "{}", names.len());
        assert!(names.iter().all(|name| !name.contains(':')));
    }
}
