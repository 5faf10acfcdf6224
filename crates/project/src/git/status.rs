//! What git knows of single files: whether they are tracked, changed, ignored.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;

use super::{Git, GitResult, PATHS_BYTES, literal_pathspecs};

/// Paths in one call.
const BATCH: usize = 256;

/// What git knows of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitPathStatus {
    /// The file, relative to the project's root.
    pub path: String,
    /// What git knows of it.
    pub state: GitFileState,
}

/// What git knows of a file. Filters do not run for it: a file that passes through one may be called
/// changed although git itself would say that it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitFileState {
    /// It is as it is in the last commit.
    Clean,
    /// It is not: the index differs from the last commit (staged), or the file from the index.
    Changed { staged: bool, unstaged: bool },
    /// A merge left conflicts in it.
    Conflicted,
    /// git has not been told of it.
    Untracked,
    /// git was told to leave it out, or it lies in a repository of its own.
    Ignored,
    /// There is no such file, and there was none.
    Absent,
}

impl Git<'_> {
    /// What git knows of these files, in their order.
    ///
    /// # Errors
    /// If git cannot say.
    pub fn status(&self, paths: &[&str]) -> GitResult<Vec<GitPathStatus>> {
        let mut states = Vec::new();
        let mut rest = paths;
        while !rest.is_empty() {
            let (batch, more) = rest.split_at(batch_size(rest));
            states.extend(self.status_batch(batch)?);
            rest = more;
        }
        Ok(states)
    }

    /// Whether git has been told of this file.
    ///
    /// # Errors
    /// If git cannot say.
    pub fn is_tracked(&self, path: &str) -> GitResult<bool> {
        let states = self.status(&[path])?;
        let strange = |state: &GitPathStatus| {
            matches!(state.state, GitFileState::Untracked | GitFileState::Ignored | GitFileState::Absent)
        };
        Ok(!states.iter().all(strange))
    }

    /// The files and directories below the project's root that git could not bring back: what is not as in the last commit, and
    /// what it has not been told of and does not ignore. Names that are no text are left out.
    ///
    /// # Errors
    /// If git cannot say.
    pub fn uncommitted(&self) -> GitResult<Vec<String>> {
        Ok(self.uncommitted_files()?.into_iter().map(|file| file.path).collect())
    }

    /// The same, and how each of them differs.
    ///
    /// # Errors
    /// If git cannot say.
    pub fn uncommitted_files(&self) -> GitResult<Vec<GitPathStatus>> {
        let options =
            "status --porcelain=v2 -z --no-renames --untracked-files=normal --ignore-submodules=all -- .";
        let changed = self.ask(&options.split(' ').map(OsString::from).collect::<Vec<_>>())?;
        let prefix = &self.repository()?.prefix;
        let own =
            |full: &[u8]| full.strip_prefix(&prefix[..]).and_then(|own| String::from_utf8(own.to_vec()).ok());
        let file = |(full, state)| Some(GitPathStatus { path: own(full)?, state });
        Ok(parse_porcelain(&changed).into_iter().filter_map(file).collect())
    }

    fn status_batch(&self, paths: &[&str]) -> GitResult<Vec<GitPathStatus>> {
        let literal = literal_pathspecs(paths)?;
        let ask = |words: &[&str]| {
            let words = words.iter().map(OsString::from).chain(literal.iter().cloned());
            self.ask(&words.collect::<Vec<_>>())
        };
        let tracked = ask(&["ls-files", "-z", "--cached", "--full-name", "--"])?;
        let options = "--porcelain=v2 -z --no-renames --untracked-files=all --ignore-submodules=all --";
        let changed = ask(&["status"].into_iter().chain(options.split(' ')).collect::<Vec<_>>())?;
        let prefix = &self.repository()?.prefix;
        let own = |full: &[u8]| -> Option<String> {
            String::from_utf8(full.strip_prefix(&prefix[..])?.to_vec()).ok()
        };
        let tracked: HashSet<String> = tracked.split(|byte| *byte == 0).filter_map(own).collect();
        let mut known: HashMap<String, GitFileState> = HashMap::new();
        for (full, state) in parse_porcelain(&changed) {
            let Some(path) = own(full) else { continue };
            // A file that was taken out of the index but is still there is named twice.
            if state != GitFileState::Untracked || !known.contains_key(&path) {
                known.insert(path, state);
            }
        }
        let state = |path: &str| match known.get(path) {
            Some(known) => *known,
            None if tracked.contains(path) => GitFileState::Clean,
            None if self.root.join(path).symlink_metadata().is_ok() => GitFileState::Ignored,
            None => GitFileState::Absent,
        };
        Ok(paths.iter().map(|path| GitPathStatus { path: path.to_string(), state: state(path) }).collect())
    }
}

/// How many paths go into the next call.
fn batch_size(paths: &[&str]) -> usize {
    let mut bytes = 0;
    let fits = paths.iter().take(BATCH).take_while(|path| {
        bytes += path.len() + 32;
        bytes <= PATHS_BYTES
    });
    fits.count().max(1)
}

/// The entries of `git status --porcelain=v2 -z`.
fn parse_porcelain(bytes: &[u8]) -> Vec<(&[u8], GitFileState)> {
    let mut entries = Vec::new();
    let mut parts = bytes.split(|byte| *byte == 0);
    while let Some(part) = parts.next() {
        let field = |number: usize| part.splitn(number, |byte| *byte == b' ').nth(number - 1);
        match part.first() {
            Some(b'1') => entries.extend(field(9).map(|path| (path, parse_changed(part)))),
            Some(b'2') => {
                entries.extend(field(10).map(|path| (path, parse_changed(part))));
                parts.next();
            }
            Some(b'u') => entries.extend(field(11).map(|path| (path, GitFileState::Conflicted))),
            Some(b'?') => entries.extend(field(2).map(|path| (path, GitFileState::Untracked))),
            _ => {}
        }
    }
    entries
}

/// `XY`: the index against the last commit, the file against the index.
fn parse_changed(part: &[u8]) -> GitFileState {
    let is = |at: usize| part.get(at).is_some_and(|letter| *letter != b'.');
    GitFileState::Changed { staged: is(2), unstaged: is(3) }
}
