//! A commit of exactly the given files, with the user's hooks, filters and signature.
//!
//! Only for projects in which the user trusted [`Git::what_would_run`]; whoever calls checks that. What
//! else is staged stays staged and out of the commit. The message goes in by standard input. If the
//! commit fails, the index is as it was.

use std::ffi::OsString;

use relaycode_exec::JobInput;
use relaycode_text::{hidden::suspicious_chars, redact::redact};

use super::call::{self, GitCallPolicy};
use super::{
    Git, GitError, GitResult, OUTPUT_BYTES, PATHS_BYTES, join_nul, literal_pathspecs, status::GitFileState,
};

/// Bytes of a message.
const MESSAGE: usize = 64 << 10;
/// Bytes kept of the beginning of what hooks print.
const HOOKS: usize = 64 << 10;

/// A commit that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitCommit {
    /// Its name.
    pub id: String,
    /// What git and the hooks printed, with secrets blacked out; foreign text.
    pub output: String,
    /// Whether all went well after the commit was made, too: a later hook may have been ended.
    pub hooks_succeeded: bool,
}

impl Git<'_> {
    /// Commits these files, relative to the project's root, as they are on disk: new, changed and
    /// deleted ones. Files that are as in the last commit are left out.
    ///
    /// # Errors
    /// If there is nothing to commit, a file cannot be committed, a hook says no, or git fails; then no
    /// commit was made, and the index is as it was.
    pub fn commit(&self, paths: &[&str], message: &str) -> GitResult<GitCommit> {
        let message = message_for_git(message)?;
        let (wanted, new) = self.select_paths(paths)?;
        let before = self.head_commit()?;
        if let Some(notes) = &self.notes {
            notes.write(self, &new)?;
        }
        let committed = match self.add_intent(&new) {
            Ok(()) => self.commit_tracked(&wanted, message, before.as_deref()),
            Err(error) => return self.clear_up(error, &[]),
        };
        match committed {
            Err(error) => self.clear_up(error, &new),
            Ok(committed) => {
                self.notes.iter().for_each(|notes| notes.remove(self));
                Ok(committed)
            }
        }
    }

    /// Takes back what a commit that failed with `error` left, and gives the error. git itself may have been killed.
    fn clear_up(&self, error: GitError, new: &[&str]) -> GitResult<GitCommit> {
        // What cannot be cleared up now has its note.
        let left = self.notes.as_ref().map(|notes| notes.mend(self));
        if self.remove_intent(new).is_err() {
            let words = format!("{error}\n`git rm --cached` takes {} out of the index", new.join(", "));
            return Err(GitError::failed("commit", words));
        }
        if left.is_some_and(|left| left.is_ok_and(|left| left.doubtful_locks.is_empty())) {
            self.notes.iter().for_each(|notes| notes.remove(self));
        }
        Err(error)
    }

    /// Which of the files go into the commit, and which of these git has not been told of.
    fn select_paths<'p>(&self, paths: &[&'p str]) -> GitResult<(Vec<&'p str>, Vec<&'p str>)> {
        if paths.iter().map(|path| path.len() + 32).sum::<usize>() > PATHS_BYTES {
            let what = format!("a commit of {} files", paths.len());
            return Err(GitError::LimitExceeded {
                what,
                most: format!("{} KiB of paths", PATHS_BYTES >> 10),
            });
        }
        let (mut wanted, mut new) = (Vec::new(), Vec::new());
        let (mut ignored, mut conflicted) = (Vec::new(), Vec::new());
        for (path, state) in paths.iter().zip(self.status(paths)?) {
            // git would take all that is below it.
            if self.root.join(path).symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
                return Err(GitError::Directory { path: path.to_string() });
            }
            match state.state {
                GitFileState::Clean | GitFileState::Absent => continue,
                GitFileState::Changed { .. } => {}
                GitFileState::Untracked => new.push(*path),
                GitFileState::Ignored => ignored.push(path.to_string()),
                GitFileState::Conflicted => conflicted.push(path.to_string()),
            }
            wanted.push(*path);
        }
        if !ignored.is_empty() {
            return Err(GitError::Ignored { paths: ignored });
        }
        if !conflicted.is_empty() {
            return Err(GitError::Conflicted { paths: conflicted });
        }
        if wanted.is_empty() { Err(GitError::NothingToCommit) } else { Ok((wanted, new)) }
    }

    /// Tells git of new files, without their content: the commit itself takes that.
    fn add_intent(&self, new: &[&str]) -> GitResult<()> {
        if new.is_empty() {
            return Ok(());
        }
        let words = ["add", "--intent-to-add", "--"].iter().map(OsString::from);
        let words: Vec<OsString> = words.chain(literal_pathspecs(new)?).collect();
        self.ask(&words).map(drop)
    }

    /// Those of the files that git was told of, and whose content it was not given.
    pub(super) fn intended<'p>(&self, paths: &[&'p str]) -> GitResult<Vec<&'p str>> {
        let announced = GitFileState::Changed { staged: false, unstaged: true };
        let mut intended = Vec::new();
        for (path, state) in paths.iter().zip(self.status(paths)?) {
            // What the last commit has was not announced.
            if state.state == announced && self.content_at_head(path)?.is_none() {
                intended.push(*path);
            }
        }
        Ok(intended)
    }

    /// Takes out again what was announced.
    pub(super) fn remove_intent(&self, new: &[&str]) -> GitResult<()> {
        if new.is_empty() {
            return Ok(());
        }
        let list = join_nul(new.iter().map(|path| path.as_bytes()));
        self.feed(&["update-index", "--force-remove", "-z", "--stdin"], list, OUTPUT_BYTES).map(drop)
    }

    fn commit_tracked(&self, paths: &[&str], message: String, before: Option<&str>) -> GitResult<GitCommit> {
        // Lines that begin with `#` are kept: nobody edits this message.
        let words = ["commit", "--quiet", "--only", "--cleanup=whitespace", "--file=-", "--"];
        let words: Vec<OsString> =
            words.iter().map(OsString::from).chain(literal_pathspecs(paths)?).collect();
        let finished =
            self.call(GitCallPolicy::RunCommitHooks, &words, JobInput::Bytes(message.into_bytes()), HOOKS)?;
        let output = redact(&finished.stdout.text()).into_owned();
        let after = self.head_commit()?;
        let id = after.filter(|after| Some(after.as_str()) != before);
        match (call::exit_code(&finished, "commit", GitCallPolicy::RunCommitHooks), id) {
            (Ok(0), Some(id)) => Ok(GitCommit { id, output, hooks_succeeded: true }),
            // The commit stands; what was ended came after it.
            (Err(_), Some(id)) => Ok(GitCommit { id, output, hooks_succeeded: false }),
            (Err(error), None) => Err(error),
            (Ok(_), _) => Err(GitError::failed("commit", call::error_tail(&output))),
        }
    }
}

/// A message that does nothing to whoever reads the log: no control and no hidden characters.
fn message_for_git(message: &str) -> GitResult<String> {
    let mut text = String::new();
    for line in message.lines() {
        let mut from = 0;
        for (at, c) in suspicious_chars(line) {
            text.push_str(&line[from..at]);
            from = at + c.len_utf8();
        }
        text.push_str(&line[from..]);
        text.push('\n');
    }
    let text = text.replace(['\r', '\u{c}'], "");
    let text = text.trim();
    if text.is_empty() {
        return Err(GitError::EmptyMessage);
    }
    if text.len() > MESSAGE {
        let what = "the message for the commit".to_string();
        return Err(GitError::LimitExceeded { what, most: format!("{} KiB", MESSAGE >> 10) });
    }
    Ok(format!("{text}\n"))
}
