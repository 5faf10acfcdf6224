//! A repository for a copy of the project: it has the history, and nothing else of the user's.
//!
//! It borrows the user's objects (`objects/info/alternates`) and has refs, an index, a configuration and no
//! hooks of its own. The user's repository is only read, and does not know of it. Objects that the user's
//! git throws away while the copy is in use can be missing there; what is copied are files, so that nothing
//! depends on them.

use std::path::{Path, PathBuf};
use std::{cell::OnceCell, collections::BTreeSet, ffi::OsStr, fs, io, os::unix::ffi::OsStrExt};

use relaycode_exec::JobInput;

use super::{Git, GitError, GitResult, OUTPUT_BYTES, UNKNOWN_REPOSITORY, join_nul, split_nul};
use crate::git::head;

/// Bytes of the lists that are taken over: where history is cut off, what is ignored.
const TAKEN_OVER: u64 = 4 << 20;
/// Bytes of the names in the index.
const NAMES: usize = 64 << 20;
/// The branch of a copy that has none.
const UNNAMED: &str = "main";

impl Git<'_> {
    /// Makes the repository of a copy of this project. `top` is where the copy of the repository's top level
    /// is, an empty directory; of the project, the files in `absent` (relative to its root) will not be there, nor
    /// will anything outside of it. Afterwards it is on the same branch and commit, and its index is that commit.
    ///
    /// # Errors
    /// If git cannot do it; what it made in `top` is then for the caller to remove.
    pub fn make_scratch(&self, top: &Path, absent: &BTreeSet<&[u8]>) -> GitResult<()> {
        let format = if self.repository()?.sha256 { "sha256" } else { "sha1" };
        let objects = self.git_path("objects")?;
        let (shallow, exclude) = (self.git_path("shallow")?, self.git_path("info/exclude")?);
        let commit = self.head_commit()?;
        let branch = head::read(&self.root).branch;
        self.init(top, branch.as_deref().unwrap_or(UNNAMED), format)?;
        let own = top.join(".git");
        let failed = |source| GitError::Copy { path: own.clone(), source };
        let mut borrowed = quoted(&objects);
        borrowed.push(b'\n');
        fs::create_dir_all(own.join("objects/info")).map_err(failed)?;
        fs::write(own.join("objects/info/alternates"), borrowed).map_err(failed)?;
        fs::create_dir_all(own.join("info")).map_err(failed)?;
        take_over(&shallow, &own.join("shallow")).map_err(failed)?;
        take_over(&exclude, &own.join("info/exclude")).map_err(failed)?;
        let Some(commit) = commit else { return Ok(()) };
        let copy = self.in_scratch(top);
        match &branch {
            Some(branch) => copy.ask(&["update-ref", &format!("refs/heads/{branch}"), &commit])?,
            None => copy.ask(&["update-ref", "--no-deref", "HEAD", &commit])?,
        };
        copy.ask(&["read-tree", "HEAD"])?;
        copy.mark_absent(&self.repository()?.prefix, absent)
    }

    /// Makes a repository without a commit in `directory`, for a project that is in none.
    ///
    /// # Errors
    /// If git cannot do it.
    pub fn make_empty_scratch(&self, directory: &Path) -> GitResult<()> {
        self.init(directory, UNNAMED, "sha1")
    }

    /// git in a copy of the project, by the same runner.
    #[must_use]
    pub fn in_scratch(&self, directory: &Path) -> Git<'_> {
        let (root, set) = (directory.to_path_buf(), self.set.clone());
        Git { run: self.run, root, set, stop: self.stop, notes: None, repository: OnceCell::new() }
    }

    fn init(&self, directory: &Path, branch: &str, format: &str) -> GitResult<()> {
        // No template: it may have hooks.
        let (branch, format) = (format!("--initial-branch={branch}"), format!("--object-format={format}"));
        let words = ["init", "--quiet", "--template=", &format, &branch];
        let finished = self.call_in(directory, UNKNOWN_REPOSITORY, &words, JobInput::Null, OUTPUT_BYTES)?;
        self.checked_output(finished, UNKNOWN_REPOSITORY, "init", OUTPUT_BYTES).map(drop)
    }

    /// Tells the index which of its files are not in the copy, so that they do not look deleted.
    fn mark_absent(&self, prefix: &[u8], absent: &BTreeSet<&[u8]>) -> GitResult<()> {
        let names = self.run_checked(self.safe_policy()?, &["ls-files", "-z"], NAMES)?;
        let is_absent = |name: &&[u8]| name.strip_prefix(prefix).is_none_or(|inside| absent.contains(inside));
        let input = join_nul(split_nul(&names).filter(is_absent));
        if input.is_empty() {
            return Ok(());
        }
        self.feed(&["update-index", "-z", "--skip-worktree", "--stdin"], input, OUTPUT_BYTES).map(drop)
    }

    /// Where something of the repository's is, whole.
    fn git_path(&self, name: &str) -> GitResult<PathBuf> {
        let answer = self.ask(&["rev-parse", "--git-path", name])?;
        let path = answer.strip_suffix(b"\n").unwrap_or(&answer);
        let path = self.root.join(OsStr::from_bytes(path));
        Ok(path.canonicalize().unwrap_or(path))
    }
}

/// A path as a line of `alternates`.
fn quoted(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes();
    let plain = !bytes.starts_with(b"\"") && !bytes.starts_with(b"#") && !bytes.contains(&b'\n');
    if plain {
        return bytes.to_vec();
    }
    let mut line = vec![b'"'];
    for byte in bytes {
        line.extend(format!("\\{byte:03o}").into_bytes());
    }
    line.push(b'"');
    line
}

/// Copies a list, if there is one and it is not beyond measure.
fn take_over(from: &Path, to: &Path) -> io::Result<()> {
    match fs::symlink_metadata(from) {
        Ok(found) if found.is_file() && found.len() <= TAKEN_OVER => fs::copy(from, to).map(drop),
        _ => Ok(()),
    }
}
