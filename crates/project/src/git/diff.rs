//! Differences as text, for somebody who shall read them: uncommitted work, the last commit, or what a branch
//! added to its base; files that git does not track included where the work tree is compared.
//!
//! The same files give the same text on every machine: nothing that the user or the repository configured
//! changes how it looks, and nothing that they named is run. Only what is below the project's root is in it, with
//! paths relative to that.

use std::ffi::OsString;

use super::{Git, GitError, GitResult, OUTPUT_BYTES, base::DiffBase, literal_pathspecs};

/// Bytes of a difference that are read to find out which of its files are the largest.
const READ: usize = 16 << 20;

/// What is compared.
#[derive(Debug, Clone, Copy)]
pub enum DiffRange<'a> {
    /// The last commit with the work tree: what is staged, what is not, and new files.
    Uncommitted,
    /// The commit before the last one with the last one.
    LastCommit,
    /// Where the branch left its base with the last commit.
    SinceBase(&'a DiffBase),
    /// Where the branch left its base with the work tree, new files included.
    SinceBaseUncommitted(&'a DiffBase),
    /// Where another line of commits left its base with its last commit, which need not be checked out.
    Between { base: &'a DiffBase, tip: &'a DiffBase },
}

/// A difference.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitDiff {
    /// The text. Bytes of files that are no UTF-8 are replaced in it. Foreign.
    pub text: String,
    /// Its files, in the order in which they stand in it.
    pub files: Vec<GitFileDiff>,
    /// `text` is not all of it, because it is larger than was wanted; `parts` has more.
    pub truncated: bool,
    /// New files that are not in it.
    pub omitted: Vec<OmittedFile>,
}

/// One file of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitFileDiff {
    /// The file; after a rename, its new name. Foreign text.
    pub path: String,
    /// Bytes that it has in the text.
    pub bytes: u64,
    /// git has not been told of it.
    pub untracked: bool,
}

/// A new file that is not in a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedFile {
    /// The file. Foreign text.
    pub path: String,
    /// Why: a sentence without its end.
    pub why: &'static str,
}

impl GitDiff {
    /// Whether there is nothing in it. Files may differ in spite of that, and be [left out](Diff::left_out).
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Bytes of the whole, also of what is not in `text`.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|part| part.bytes).sum()
    }

    /// The `count` largest files, largest first.
    pub fn largest(&self, count: usize) -> Vec<(String, u64)> {
        let mut parts: Vec<&GitFileDiff> = self.files.iter().collect();
        parts.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.path.cmp(&b.path)));
        parts.into_iter().take(count).map(|part| (part.path.clone(), part.bytes)).collect()
    }
}

impl Git<'_> {
    /// The difference `range`, of all files of the project or of those at or below `paths`. Its text has `most`
    /// bytes at most; what is larger is [cut](Diff::cut), and only good for saying how large it is.
    ///
    /// # Errors
    /// If there is no commit to compare with, or git cannot say.
    pub fn diff(&self, range: DiffRange<'_>, paths: &[&str], most: usize) -> GitResult<GitDiff> {
        let (between, new) = match range {
            DiffRange::Uncommitted => (vec![self.head_or_empty_tree()?], true),
            DiffRange::LastCommit => (vec![self.parent_or_empty_tree()?, self.require_head()?], false),
            DiffRange::SinceBase(base) => {
                let head = self.require_head()?;
                (vec![self.merge_base(base, &head)?, head], false)
            }
            DiffRange::SinceBaseUncommitted(base) => {
                (vec![self.merge_base(base, &self.require_head()?)?], true)
            }
            DiffRange::Between { base, tip } => {
                (vec![self.merge_base(base, &tip.commit)?, tip.commit.clone()], false)
            }
        };
        let mut parts = self.tracked_diff(&between, paths)?;
        let mut diff = GitDiff { truncated: parts.truncated, ..GitDiff::default() };
        if new {
            let room = usize::try_from(parts.bytes()).map_or(0, |bytes| most.saturating_sub(bytes));
            let untracked = self.untracked_diff(paths, room)?;
            parts.list.extend(untracked.files);
            diff.omitted = untracked.omitted;
        }
        for (part, text) in parts.list {
            if diff.truncated || diff.text.len() + text.len() > most || text.len() as u64 != part.bytes {
                diff.truncated = true;
            } else {
                diff.text.push_str(&text);
            }
            diff.files.push(part);
        }
        Ok(diff)
    }

    /// Whether the work tree differs from the last commit in any way that [`DiffRange::Uncommitted`] would show.
    ///
    /// # Errors
    /// As [`Git::diff`].
    pub fn has_uncommitted(&self, paths: &[&str]) -> GitResult<bool> {
        Ok(!self.diff(DiffRange::Uncommitted, paths, 0)?.is_empty())
    }

    /// What git itself has to say.
    fn tracked_diff(&self, between: &[String], paths: &[&str]) -> GitResult<GitDiffFiles> {
        let what = "diff";
        let words = [what].into_iter().chain(DIFF_OPTIONS.split(' ')).map(OsString::from);
        let words = words.chain(between.iter().map(OsString::from)).chain([OsString::from("--")]);
        let words: Vec<OsString> = words.chain(literal_pathspecs(paths)?).collect();
        let (code, finished) = self.try_ask(&words, READ)?;
        if code != 0 {
            return Err(self.explain_failure(&finished, what));
        }
        let cut = finished.stdout.dropped > 0 || !finished.stdout.tail.is_empty();
        Ok(GitDiffFiles { list: split_files(&finished.stdout.head), truncated: cut })
    }

    /// The last commit, or before the first one the tree without anything.
    fn head_or_empty_tree(&self) -> GitResult<String> {
        self.head_commit()?.map_or_else(|| self.empty_tree_id(), Ok)
    }

    /// What the last commit is compared with: before it, or nothing, if it is the first one.
    fn parent_or_empty_tree(&self) -> GitResult<String> {
        self.require_head()?;
        match self.resolve_commit("HEAD~1")? {
            Some(commit) => Ok(commit),
            None if self.is_shallow()? => Err(GitError::NoBase { name: "HEAD~1".to_string(), shallow: true }),
            None => self.empty_tree_id(),
        }
    }

    /// The tree without anything.
    fn empty_tree_id(&self) -> GitResult<String> {
        self.ask_text(&["hash-object", "-t", "tree", "/dev/null"])
    }

    /// Where a line of commits left its base, as `base...tip` means it.
    fn merge_base(&self, base: &DiffBase, tip: &str) -> GitResult<String> {
        let what = "merge-base";
        let (code, finished) = self.try_ask(&[what, &base.commit, tip], OUTPUT_BYTES)?;
        match code {
            0 => Ok(String::from_utf8_lossy(&finished.stdout.head).trim_end().to_string()),
            1 => Err(GitError::NoMergeBase { base: base.name.clone(), shallow: self.is_shallow()? }),
            _ => Err(self.explain_failure(&finished, what)),
        }
    }
}

/// How every difference looks, whatever is configured.
const DIFF_OPTIONS: &str = "--patch --no-color --no-ext-diff --no-textconv --relative --src-prefix=a/ --dst-prefix=b/ \
    --unified=3 --inter-hunk-context=0 --diff-algorithm=myers --find-renames --submodule=short \
    --ignore-submodules=dirty -O/dev/null";

/// What git said, file by file.
struct GitDiffFiles {
    list: Vec<(GitFileDiff, String)>,
    /// It said more.
    truncated: bool,
}

impl GitDiffFiles {
    fn bytes(&self) -> u64 {
        self.list.iter().map(|(part, _)| part.bytes).sum()
    }
}

/// A difference, file by file. No line of a file begins like a heading: each has a sign before it.
fn split_files(bytes: &[u8]) -> Vec<(GitFileDiff, String)> {
    const HEADING: &[u8] = b"diff --git ";
    let mut parts = Vec::new();
    let (mut from, mut at) = (0, 0);
    let mut add = |bytes: &[u8]| {
        if !bytes.is_empty() {
            let text = String::from_utf8_lossy(bytes).into_owned();
            parts.push((
                GitFileDiff { path: path_from_header(&text), bytes: text.len() as u64, untracked: false },
                text,
            ));
        }
    };
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(HEADING) {
            add(&bytes[from..at]);
            from = at;
        }
        at += line.len();
    }
    add(&bytes[from..]);
    parts
}

/// The file that a part is about.
fn path_from_header(part: &str) -> String {
    let head = part.split('\n').take_while(|line| !line.starts_with("@@"));
    let (mut old, mut new) = (None, None);
    for line in head {
        if let Some(name) = line.strip_prefix("rename to ").or_else(|| line.strip_prefix("copy to ")) {
            return unquote_path(name);
        }
        let side = |prefix: &str| line.strip_prefix(prefix).filter(|name| *name != "/dev/null");
        new = side("+++ ").or(new);
        old = side("--- ").or(old);
    }
    let sided = |name: &str| {
        let name = unquote_path(name.strip_suffix('\t').unwrap_or(name));
        name.get(2..).unwrap_or_default().to_string()
    };
    if let Some(name) = new.or(old) {
        return sided(name);
    }
    // No lines: a mode, an empty or a binary file. Then both names are the same.
    let names = part.split('\n').next().and_then(|line| line.strip_prefix("diff --git ")).unwrap_or_default();
    sided(names.get(..names.len() / 2).unwrap_or(names))
}

/// A name as git writes it, without quotes. For people: what is odd in it stays as it is.
fn unquote_path(name: &str) -> String {
    match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\\\"", "\"").replace("\\\\", "\\"),
        None => name.to_string(),
    }
}
