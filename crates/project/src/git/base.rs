//! What a review compares with: the base that the user names, or the one that is found.
//!
//! A base is resolved to a commit once, and only the commit is used from then on: no branch's name ever stands
//! where git could take it for an option or a range.

use super::{Git, GitError, GitResult, OUTPUT_BYTES};

/// Bytes of what may name a commit.
const NAME: usize = 1_024;

/// Where a branch began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffBase {
    /// What it is called: `origin/main`, `HEAD~1`. Foreign text.
    pub name: String,
    /// The commit.
    pub commit: String,
    /// Why this one.
    pub reason: BaseReason,
}

/// Why a base was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseReason {
    /// The user named it.
    Explicit,
    /// It is what the remote repository calls its main branch (`origin/HEAD`).
    RemoteHead,
    /// There is a branch of this name, and the remote repository says nothing.
    CommonName,
    /// There is neither; it is the commit before the last one.
    PreviousCommit,
}

impl BaseReason {
    /// In a few words, for a person.
    pub fn describe(self) -> &'static str {
        match self {
            BaseReason::Explicit => "as you said",
            BaseReason::RemoteHead => "the main branch of origin",
            BaseReason::CommonName => "there is a branch of that name, and no origin/HEAD",
            BaseReason::PreviousCommit => "there is no origin/HEAD, no main and no master",
        }
    }
}

impl Git<'_> {
    /// The base of this name: a branch, a tag, a commit.
    ///
    /// # Errors
    /// If there is none, or there is no commit yet.
    pub fn resolve_base(&self, name: &str) -> GitResult<DiffBase> {
        self.require_head()?;
        match self.resolve_commit(name)? {
            Some(commit) => Ok(DiffBase { name: name.to_string(), commit, reason: BaseReason::Explicit }),
            None => Err(GitError::NoBase { name: name.to_string(), shallow: self.is_shallow()? }),
        }
    }

    /// The base when nobody names one: what `origin/HEAD` stands for, else `main`, else `master`, else the
    /// commit before the last one.
    ///
    /// # Errors
    /// If there is none of them, or there is no commit yet.
    pub fn default_base(&self) -> GitResult<DiffBase> {
        self.default_base_of("HEAD")
    }

    /// The same for a line of commits that ends with what `tip` names.
    ///
    /// # Errors
    /// As [`Git::default_base`].
    pub fn default_base_of(&self, tip: &str) -> GitResult<DiffBase> {
        self.require_head()?;
        let remote = "refs/remotes/origin/HEAD";
        if let Some(commit) = self.resolve_commit(remote)? {
            let name = self.resolve_symbolic_ref(remote)?.unwrap_or_else(|| "origin/HEAD".to_string());
            return Ok(DiffBase { name, commit, reason: BaseReason::RemoteHead });
        }
        for name in ["main", "master"] {
            if let Some(commit) = self.resolve_commit(&format!("refs/heads/{name}"))? {
                return Ok(DiffBase { name: name.to_string(), commit, reason: BaseReason::CommonName });
            }
        }
        let name = format!("{tip}~1");
        match self.resolve_commit(&name)? {
            Some(commit) => Ok(DiffBase { name, commit, reason: BaseReason::PreviousCommit }),
            None => Err(GitError::NoBase { name, shallow: self.is_shallow()? }),
        }
    }

    /// How many commits the last one has that the base has not.
    ///
    /// # Errors
    /// If git cannot say.
    pub fn commits_since(&self, base: &DiffBase) -> GitResult<u64> {
        self.commits_between(base, &self.require_head()?)
    }

    /// How many commits `tip` has that the base has not.
    ///
    /// # Errors
    /// If git cannot say.
    pub fn commits_between(&self, base: &DiffBase, tip: &str) -> GitResult<u64> {
        let range = format!("{}..{tip}", base.commit);
        let count = self.ask_text(&["rev-list", "--count", &range])?;
        count.parse().map_err(|_| GitError::failed("rev-list", "it gave no number"))
    }

    /// Whether this is the name of a branch, here or of a remote repository, or of a tag: and no commit and no
    /// expression.
    ///
    /// # Errors
    /// If git cannot say.
    pub fn is_ref_name(&self, base: &DiffBase) -> GitResult<bool> {
        let full = ["heads", "remotes", "tags"].map(|kind| format!("refs/{kind}/{}", base.name));
        let mut words = vec!["for-each-ref", "--format=%(refname)"];
        words.extend(full.iter().map(String::as_str));
        // What is below a name is listed, too.
        let listed = self.ask_text(&words)?;
        Ok(listed.lines().any(|line| full.iter().any(|name| name == line)))
    }

    /// The last commit, which has to be there.
    pub(super) fn require_head(&self) -> GitResult<String> {
        self.head_commit()?.ok_or_else(|| GitError::NoCommits { root: self.root.clone() })
    }

    /// Whether the repository has only the last part of its history.
    pub(super) fn is_shallow(&self) -> GitResult<bool> {
        Ok(self.ask(&["rev-parse", "--is-shallow-repository"])?.starts_with(b"true"))
    }

    /// The one commit that this names; `None` if it names none, several, or anything else.
    pub(super) fn resolve_commit(&self, name: &str) -> GitResult<Option<String>> {
        if name.is_empty() || name.len() > NAME || name.contains(char::is_control) {
            return Ok(None);
        }
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")];
        let (code, finished) = self.try_ask(&words, OUTPUT_BYTES)?;
        // An object that a clone has not got, too, is no commit to compare with.
        if code != 0 {
            return Ok(None);
        }
        let commit = String::from_utf8_lossy(&finished.stdout.head).trim_end().to_string();
        // `^main` and `a..b` are answered with more than a commit.
        let plain = matches!(commit.len(), 40 | 64) && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok(plain.then_some(commit))
    }

    /// The branch of a remote repository that a symbolic ref stands for, as people write it.
    fn resolve_symbolic_ref(&self, name: &str) -> GitResult<Option<String>> {
        let (code, finished) = self.try_ask(&["symbolic-ref", "--quiet", name], OUTPUT_BYTES)?;
        if code != 0 {
            return Ok(None);
        }
        let target = String::from_utf8_lossy(&finished.stdout.head);
        Ok(target.trim_end().strip_prefix("refs/remotes/").map(str::to_string))
    }
}
