//! Projects with a configuration that the user trusts, and with a real repository.

use std::process::{Command, Stdio};

use relaycode_testkit::git::GIT_ENV;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scratch_project::{Project, Ran, run};

/// A project called `shop` with these settings on top of the defaults, not trusted yet.
pub(crate) fn configured(files: &[(&str, &str)], settings: Value) -> Project {
    let project = Project::new(files);
    configure(&project, settings);
    project
}

/// The same, and the user trusts what it wants.
pub(crate) fn trusted(files: &[(&str, &str)], settings: Value) -> Project {
    let project = configured(files, settings);
    trust(&project);
    project
}

/// Gives a project these settings.
pub(crate) fn configure(project: &Project, mut settings: Value) {
    settings["projectId"] = json!("shop");
    project.put("relaycode.config.json", settings.to_string().as_bytes());
}

/// The user trusts what the project wants now.
pub(crate) fn trust(project: &Project) {
    let ran = project.relay(&["trust", "-y", "-q"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// An answer with the project's own key, this id and this message.
pub(crate) fn keyed(project: &Project, blocks: &str, uuid: &str, message: &str) -> String {
    let named = project.relay(&["prompt", "--json", "-q"]).json();
    let named = named["projectId"].as_str().unwrap();
    let message = message.replace('\'', "''");
    format!("{blocks}\n```yaml\nprojectId: {named}\nuuid: {uuid}\ngitCommitMsg: '{message}'\n```\n")
}

/// `relay apply -` of this answer, without a word beforehand.
pub(crate) fn unasked(project: &Project, answer: &str) -> Ran {
    project.pipe(&["apply", "-"], answer.as_bytes())
}

/// A directory outside of every project, for scripts and for what they write.
pub(crate) struct Outside(TempDir);

impl Outside {
    pub(crate) fn new() -> Outside {
        Outside(TempDir::new().unwrap())
    }

    /// A file in it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_string()
    }

    /// The text of a file in it; nothing if there is none.
    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// The command that runs a script.
    pub(crate) fn script(&self, name: &str, lines: &str) -> String {
        std::fs::write(self.path(name), lines).unwrap();
        format!("sh {}", self.path(name))
    }

    /// A linter that counts the lines with BAD in `a.txt`.
    pub(crate) fn linter(&self) -> String {
        let lines =
            "grep -n BAD a.txt | sed 's/^\\([0-9]*\\):.*/a.txt:\\1:1: error: bad/'\n! grep -q BAD a.txt\n";
        self.script("lint.sh", lines)
    }
}

/// Gives a command what git needs: a PATH, an author, and no configuration of anybody's.
fn with_git(command: &mut Command) -> &mut Command {
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).envs(GIT_ENV)
}

/// `git` in the project, which must work; what it printed.
pub(crate) fn git(project: &Project, args: &[&str]) -> String {
    let mut command = Command::new("git");
    project.surround(&mut command);
    let ran = run(with_git(&mut command).args(args).stdin(Stdio::null()));
    assert_eq!(ran.code, 0, "git {args:?}: {ran:?}");
    ran.out.trim_end().to_string()
}

/// The project's files in a repository, in its first commit.
pub(crate) fn repository(project: &Project) {
    git(project, &["init", "-q", "-b", "main"]);
    git(project, &["add", "-A"]);
    git(project, &["commit", "-q", "-m", "first"]);
}

/// `relay` where git can be found.
pub(crate) fn relay_git(project: &Project, args: &[&str]) -> Ran {
    run(with_git(&mut project.command(args)))
}
