//! What steers git is put back after a command in a fence, before anything else runs: the next `git status` of the user would run
//! what a configuration or a hook names, without a fence.
//!
//! Commands that run at the same time are compared with how git stood before the first of them: else one would put back what
//! another had made.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use relaycode_exec::{FenceLevel, JobFence, JobOutcome};
use relaycode_ledger::ControlBefore;
use relaycode_project::fence::{GitControl, GitControlChange, GitGuard};

use crate::door::Door;

/// How git stood before a command that runs.
pub struct GitGuardRun<'d> {
    door: &'d Door,
    before: Arc<GitGuard>,
}

/// What a command changed of what steers git.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitGuardReport {
    pub files: Vec<GitPutBack>,
    /// There were more repositories or directories than are looked at.
    pub is_cut: bool,
}

/// A file that is as before again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitPutBack {
    /// Beneath the project, if it lies there.
    pub path: String,
    /// What the command did, as the end of a sentence that begins with the path.
    pub verb: &'static str,
    /// Where that is which the command made, if it made something; `Err`: it stands as the command left it, and why.
    pub kept: Result<Option<PathBuf>, String>,
}

impl Door {
    /// Keeps how git stands, as the fence for a command found it.
    pub fn guard_git(&self, found: GitGuard) -> GitGuardRun<'_> {
        let mut shared = self.git_before.lock().unwrap_or_else(PoisonError::into_inner);
        let before = shared.upgrade().unwrap_or_else(|| Arc::new(found));
        *shared = Arc::downgrade(&before);
        GitGuardRun { door: self, before }
    }
}

impl GitGuardRun<'_> {
    /// Puts back what is not as before. `fence` is what the command ran in, `ended` how it ended.
    pub fn finish(self, fence: Option<&JobFence>, ended: Option<&JobOutcome>) -> GitGuardReport {
        // At level 1 what was read-only cannot have been changed by the command: whoever did may.
        let closed = fence.filter(|fence| fence.level == FenceLevel::Namespaces);
        let is_open = |path: &PathBuf| ended.is_none_or(|ended| ended.unprotected.contains(path));
        let held = closed.map_or(Vec::new(), |fence| fence.read_only.clone());
        let held: Vec<PathBuf> = held.into_iter().filter(|path| !is_open(path)).collect();
        let mut report = GitGuardReport::default();
        let has_new_index = self.put_back(&held, &[], &mut report);
        // What the index names is looked into wherever it lies: git does, too. By now nothing runs by asking it.
        if has_new_index {
            let named = self.door.git().submodules().unwrap_or_default();
            let named: Vec<PathBuf> = named.iter().map(|path| self.door.root.join(path)).collect();
            if !named.is_empty() {
                self.put_back(&held, &named, &mut report);
            }
        }
        report
    }

    /// Says whether an index may name other repositories than before.
    fn put_back(&self, held: &[PathBuf], further: &[PathBuf], report: &mut GitGuardReport) -> bool {
        let changes = self.before.changes(held, further);
        let control = self.door.ledger.control_files();
        let files = changes.files.iter().map(|change| {
            let before = match &change.was {
                None => Ok(ControlBefore::Nothing),
                Some(GitControl::File { bytes, mode }) => Ok(ControlBefore::File { bytes, mode: *mode }),
                Some(GitControl::Link(target)) => Ok(ControlBefore::Link(target)),
                Some(GitControl::Directory) => Ok(ControlBefore::Directory),
                Some(GitControl::Unkept { .. }) => Err("it was too large to be kept".to_string()),
            };
            let put_back = |before| control.put_back(&change.path, before).map_err(|error| error.to_string());
            let kept = before.and_then(put_back);
            GitPutBack {
                path: shown(&change.path, &self.door.root),
                verb: GitControlChange::verb(change),
                kept,
            }
        });
        let known: Vec<String> = report.files.iter().map(|file| file.path.clone()).collect();
        // What could not be put back is told once.
        report.files.extend(files.filter(|file| !known.contains(&file.path)));
        report.is_cut |= changes.is_cut;
        changes.has_new_index
    }
}

fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

impl GitPutBack {
    /// A sentence without its full stop.
    pub fn sentence(&self) -> String {
        let Self { path, verb, kept } = self;
        match kept {
            Ok(_) if *verb == "was made" => {
                format!("{path} {verb}: it steers git, and was taken away")
            }
            Ok(_) => format!("{path} {verb}: it steers git, and is as before"),
            Err(why) => {
                format!("{path} {verb}: it steers git, and could not be put back: {why}")
            }
        }
    }
}

impl GitGuardReport {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && !self.is_cut
    }
}
