//! git for real, in repositories of their own.

mod commit;
mod diff;
mod hooks;
mod hostile_repository;
mod queries;

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use relaycode_exec::{
    CapturedOutput, ExecError, ExitReason, Job, JobCommand, JobInput, JobOutcome, JobOutput,
};
use relaycode_testkit::git::GIT_ENV;
use tempfile::TempDir;

use super::call::GitRunner;
use super::*;

/// Runs jobs without a keeper, in an environment of its own: what the tests here are about is which
/// words and variables git gets.
#[derive(Debug, Default)]
struct Direct {
    around: Vec<(String, String)>,
}

impl GitRunner for Direct {
    fn run(&self, job: &Job, _: &dyn Fn() -> bool) -> Result<JobOutcome, ExecError> {
        let JobCommand::Argv(words) = &job.command else { panic!("a shell") };
        let removed = |name: &str| {
            job.environment.remove.iter().any(|gone| gone == name)
                || job.environment.remove_prefixes.iter().any(|prefix| name.starts_with(prefix))
        };
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(&job.directory).env_clear().stdin(Stdio::piped());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(self.around.iter().filter(|(name, _)| !removed(name)).cloned());
        command.envs(job.environment.set.iter().cloned());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => ExecError::NotFound { program: "git".to_string() },
            _ => ExecError::CannotRun { program: "git".to_string(), source },
        })?;
        let mut stdin = child.stdin.take().unwrap();
        if let JobInput::Bytes(bytes) = &job.input {
            let _ = stdin.write_all(bytes);
        }
        drop(stdin);
        let mut output = child.wait_with_output().unwrap();
        if job.output == JobOutput::Merged {
            output.stdout.append(&mut output.stderr);
        }
        let captured = |head: Vec<u8>| CapturedOutput { head, ..CapturedOutput::default() };
        Ok(JobOutcome {
            reason: ExitReason::Exited(output.status.code().unwrap_or(-1)),
            stdout: captured(output.stdout),
            stderr: captured(output.stderr),
            took: Duration::ZERO,
            left_behind: 0,
            escaped: 0,
            unprotected: Vec::new(),
        })
    }
}

/// A repository with one commit of `a.txt` and `sub/b.txt`.
struct Scene {
    dir: TempDir,
    run: Direct,
}

impl Scene {
    fn new() -> Scene {
        let scene = Scene::unborn();
        scene.file("a.txt", "one\n");
        scene.file("sub/b.txt", "two\n");
        scene.plain(&["add", "."]);
        scene.plain(&["commit", "-q", "-m", "first"]);
        scene
    }

    /// The same without a commit.
    fn unborn() -> Scene {
        let dir = TempDir::new().unwrap();
        let around = GIT_ENV.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let scene = Scene { dir, run: Direct { around } };
        fs::create_dir(scene.root()).unwrap();
        scene.plain(&["init", "-q", "-b", "main", "."]);
        scene
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("app")
    }

    fn git(&self) -> Git<'_> {
        Git::with_runner(&self.run, &self.root())
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// git as anybody would call it.
    fn plain(&self, words: &[&str]) -> String {
        let (ok, text) = self.try_plain(&self.root(), words);
        assert!(ok, "git {words:?}: {text}");
        text
    }

    fn try_plain(&self, directory: &Path, words: &[&str]) -> (bool, String) {
        let words = ["git"].iter().chain(words).map(OsString::from);
        let mut job = Job::argv(words, directory);
        job.output = JobOutput::Merged;
        let finished = GitRunner::run(&self.run, &job, &|| false).unwrap();
        (finished.reason.is_success(), finished.stdout.text())
    }

    /// A program that leaves a mark and passes on what it reads.
    fn evil(&self) -> String {
        let path = self.dir.path().join("evil");
        if !path.exists() {
            script(&path, &format!("touch '{}'\ncat", self.mark().display()));
        }
        path.display().to_string()
    }

    fn mark(&self) -> PathBuf {
        self.dir.path().join("PWNED")
    }

    /// Whether the mark was left; it is gone afterwards.
    fn was_run(&self) -> bool {
        fs::remove_file(self.mark()).is_ok()
    }

    fn hook(&self, name: &str, lines: &str) {
        fs::create_dir_all(self.root().join(".git/hooks")).unwrap();
        script(&self.root().join(".git/hooks").join(name), lines);
    }
}

fn script(path: &Path, lines: &str) {
    // Not opened for writing by this process: a child that another thread forks meanwhile would keep it
    // open, and nobody could run it.
    let text = format!("#!/bin/sh\n{lines}\n");
    let mut cp = Command::new("dd")
        .arg(format!("of={}", path.display()))
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    cp.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(cp.wait().unwrap().success());
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
