//! What a commit would run in this repository because the repository says so: hooks, and commands in its
//! configuration. What the user's own configuration names is the user's own and not listed.
//!
//! Finding it out runs nothing.

use std::path::{Path, PathBuf};
use std::{fs::File, io::Read, os::unix::ffi::OsStrExt};

use relaycode_exec::JobInput;
use sha2::{Digest, Sha256};

use super::{CONFIG_BYTES, Git, GitError, GitRepository, GitResult, OUTPUT_BYTES, call::GitCallPolicy};
use crate::user_files::hex;

/// Bytes of a hook.
const HOOK: u64 = 16 << 20;
/// Bytes of a hook's digest that are shown: enough that nobody finds another file with the same.
const DIGEST: usize = 16;

/// The hooks that a commit, or what belongs to it, calls.
const HOOKS: &str = "pre-commit prepare-commit-msg commit-msg post-commit pre-auto-gc post-index-change \
    reference-transaction fsmonitor-watchman";

/// One value of the configuration.
struct GitSetting {
    scope: String,
    key: String,
    value: String,
}

impl GitSetting {
    /// Whether the repository says it, not the user.
    fn is_from_repository(&self) -> bool {
        !matches!(self.scope.as_str(), "system" | "global" | "command")
    }
}

impl Git<'_> {
    /// What `git commit` would run here because this repository says so, in a stable order: a hook with
    /// the digest of its content, a key of the configuration with its value.
    ///
    /// # Errors
    /// If it cannot be found out; then nobody should commit.
    pub fn commands_on_commit(&self) -> GitResult<Vec<(String, String)>> {
        let settings = self.settings()?;
        let mut rows = self.active_hooks(&settings)?;
        let fetches = settings.iter().any(|setting| {
            let key = setting.key.as_str();
            key == "extensions.partialclone" || (key.starts_with("remote.") && key.ends_with(".promisor"))
        });
        for setting in settings.into_iter().filter(GitSetting::is_from_repository) {
            if runs_on_commit(&setting) || (fetches && runs_to_fetch(&setting.key)) {
                rows.push((setting.key, setting.value));
            }
        }
        Ok(rows)
    }

    /// The editor that the user configured for git. What a repository says about it does not count.
    ///
    /// # Errors
    /// If the configuration cannot be read.
    pub fn user_editor(&self) -> GitResult<Option<String>> {
        let settings = self.settings()?;
        let chosen = settings.into_iter().rev().find(|setting| {
            setting.key == "core.editor" && !setting.is_from_repository() && !setting.value.is_empty()
        });
        Ok(chosen.map(|setting| setting.value))
    }

    /// The configuration with all that it includes.
    fn settings(&self) -> GitResult<Vec<GitSetting>> {
        let words = ["config", "--list", "-z", "--show-scope", "--show-origin"];
        // The setting that keeps hooks off must not stand before the one that is looked for.
        let list = self.run_checked(self.hooks_path_policy()?, &words, CONFIG_BYTES)?;
        let mut parts = list.split(|byte| *byte == 0);
        let mut settings = Vec::new();
        while let (Some(scope), Some(_origin), Some(entry)) = (parts.next(), parts.next(), parts.next()) {
            let cut = entry.iter().position(|byte| *byte == b'\n').unwrap_or(entry.len());
            let (key, value) = (&entry[..cut], entry.get(cut + 1..).unwrap_or_default());
            settings.push(GitSetting { scope: text(scope), key: text(key), value: text(value) });
        }
        Ok(settings)
    }

    fn hooks_path_policy(&self) -> GitResult<GitCallPolicy<'_>> {
        let GitRepository { empty_tree, mute_settings: muted, .. } = self.repository()?;
        Ok(GitCallPolicy::RunNothing { attributes: *empty_tree, muted, allow_hooks_path: true })
    }

    /// The hooks that are there and would run.
    fn active_hooks(&self, settings: &[GitSetting]) -> GitResult<Vec<(String, String)>> {
        let top = &self.repository()?.top;
        // From the top: a relative directory of hooks is relative to that.
        let (leave, words) = (self.hooks_path_policy()?, ["rev-parse", "--git-path", "hooks"]);
        let finished = self.call_in(top, leave, &words, JobInput::Null, OUTPUT_BYTES)?;
        let answer = self.checked_output(finished, leave, "rev-parse", OUTPUT_BYTES)?;
        let path = answer.strip_suffix(b"\n").unwrap_or(&answer);
        let directory = top.join(std::ffi::OsStr::from_bytes(path));
        let chosen = settings.iter().rev().find(|setting| setting.key == "core.hookspath");
        let users = chosen.is_some_and(|setting| !setting.is_from_repository());
        if users && is_outside(&directory, path, top) {
            return Ok(Vec::new());
        }
        let mut rows = Vec::new();
        for name in HOOKS.split(' ') {
            let path = directory.join(name);
            let runs = path.metadata().is_ok_and(|metadata| metadata.is_file())
                && rustix::fs::access(&path, rustix::fs::Access::EXEC_OK).is_ok();
            if runs {
                let shown = path.strip_prefix(top).unwrap_or(&path).to_string_lossy().into_owned();
                rows.push((format!("hook {name}"), format!("{shown} (sha256 {})", digest(&path)?)));
            }
        }
        Ok(rows)
    }
}

/// Whether a directory that the user chose is none of the repository's: a relative one is looked for in
/// every work tree.
fn is_outside(directory: &Path, said: &[u8], top: &Path) -> bool {
    let real: PathBuf = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
    said.starts_with(b"/") && !real.starts_with(top)
}

fn digest(path: &Path) -> GitResult<String> {
    let failed = |source| GitError::Hook { path: path.to_path_buf(), source };
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(HOOK + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > HOOK {
        let what = format!("the hook {}", path.display());
        return Err(GitError::LimitExceeded { what, most: format!("{} MiB", HOOK >> 20) });
    }
    Ok(hex(&Sha256::digest(&bytes)[..DIGEST]))
}

/// Whether a commit runs what this says. git gives keys in small letters, but for the part in the middle.
fn runs_on_commit(setting: &GitSetting) -> bool {
    let key = setting.key.as_str();
    let last = key.rsplit('.').next().unwrap_or_default();
    match key.split('.').next().unwrap_or_default() {
        "core" if key == "core.fsmonitor" => !is_yes_or_no(&setting.value),
        "core" => matches!(key, "core.hookspath" | "core.editor"),
        "gpg" => matches!(last, "program" | "defaultkeycommand"),
        "filter" => matches!(last, "clean" | "smudge" | "process"),
        "hook" => matches!(last, "command" | "event"),
        _ => false,
    }
}

/// Whether this decides what runs when an object is missing, in a clone that has not all of them.
fn runs_to_fetch(key: &str) -> bool {
    let last = key.rsplit('.').next().unwrap_or_default();
    match key.split('.').next().unwrap_or_default() {
        "core" => matches!(key, "core.sshcommand" | "core.gitproxy" | "core.askpass"),
        "remote" => matches!(last, "url" | "uploadpack" | "vcs" | "promisor"),
        "credential" => last == "helper",
        "url" => last == "insteadof",
        "protocol" => last == "allow",
        _ => false,
    }
}

/// Whether this is git's own watcher, on or off, and no command.
fn is_yes_or_no(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    matches!(value.as_str(), "" | "true" | "false" | "yes" | "no" | "on" | "off" | "0" | "1")
}

/// Bytes as text that tells different bytes apart.
fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap_or_else(|_| bytes.escape_ascii().to_string())
}
