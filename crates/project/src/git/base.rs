//! What a review compares with: the base that the user names, or the one that is found.
//!
//! A base is resolved to a commit once, and only the commit is used from then on: no branch's name ever stands
//! where git could take it for an option or a range.

use relaycode_exec::Input;

use super::{ANSWER, Git, GitError, call};

/// Bytes of what may name a commit.
const NAME: usize = 1_024;

/// Where a branch began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// What it is called: `origin/main`, `HEAD~1`. Foreign text.
    pub name: String,
    /// The commit.
    pub commit: String,
    /// Why this one.
    pub why: Why,
}

/// Why a base was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The user named it.
    Named,
    /// It is what the remote repository calls its main branch (`origin/HEAD`).
    Remote,
    /// There is a branch of this name, and the remote repository says nothing.
    Usual,
    /// There is neither; it is the commit before the last one.
    Previous,
}

impl Why {
    /// In a few words, for a person.
    pub fn words(self) -> &'static str {
        match self {
            Why::Named => "as you said",
            Why::Remote => "the main branch of origin",
            Why::Usual => "there is a branch of that name, and no origin/HEAD",
            Why::Previous => "there is no origin/HEAD, no main and no master",
        }
    }
}

impl Git<'_> {
    /// The base of this name: a branch, a tag, a commit.
    ///
    /// # Errors
    /// If there is none, or there is no commit yet.
    pub fn base(&self, name: &str) -> Result<Base, GitError> {
        self.need_head()?;
        match self.commit_of(name)? {
            Some(commit) => Ok(Base { name: name.to_string(), commit, why: Why::Named }),
            None => Err(GitError::NoBase { name: name.to_string(), shallow: self.is_shallow()? }),
        }
    }

    /// The base when nobody names one: what `origin/HEAD` stands for, else `main`, else `master`, else the
    /// commit before the last one.
    ///
    /// # Errors
    /// If there is none of them, or there is no commit yet.
    pub fn default_base(&self) -> Result<Base, GitError> {
        self.need_head()?;
        let remote = "refs/remotes/origin/HEAD";
        if let Some(commit) = self.commit_of(remote)? {
            let name = self.stands_for(remote)?.unwrap_or_else(|| "origin/HEAD".to_string());
            return Ok(Base { name, commit, why: Why::Remote });
        }
        for name in ["main", "master"] {
            if let Some(commit) = self.commit_of(&format!("refs/heads/{name}"))? {
                return Ok(Base { name: name.to_string(), commit, why: Why::Usual });
            }
        }
        let name = "HEAD~1".to_string();
        match self.commit_of(&name)? {
            Some(commit) => Ok(Base { name, commit, why: Why::Previous }),
            None => Err(GitError::NoBase { name, shallow: self.is_shallow()? }),
        }
    }

    /// How many commits the last one has that the base has not.
    ///
    /// # Errors
    /// If git cannot say.
    pub fn commits_since(&self, base: &Base) -> Result<u64, GitError> {
        let range = format!("{}..{}", base.commit, self.need_head()?);
        let answer = self.ask(self.safe()?, &["rev-list", "--count", &range], ANSWER)?;
        let text = String::from_utf8_lossy(&answer);
        text.trim_end().parse().map_err(|_| GitError::Failed {
            what: "rev-list".to_string(),
            words: "it gave no number".to_string(),
        })
    }

    /// Whether this is the name of a branch, here or of a remote repository, or of a tag: and no commit and no
    /// expression.
    ///
    /// # Errors
    /// If git cannot say.
    pub fn is_named(&self, base: &Base) -> Result<bool, GitError> {
        let full = ["heads", "remotes", "tags"].map(|kind| format!("refs/{kind}/{}", base.name));
        let words =
            ["for-each-ref", "--format=%(refname)"].into_iter().chain(full.iter().map(String::as_str));
        let words: Vec<&str> = words.collect();
        let answer = self.ask(self.safe()?, &words, ANSWER)?;
        // What is below a name is listed, too.
        let listed = String::from_utf8_lossy(&answer);
        Ok(listed.lines().any(|line| full.iter().any(|name| name == line)))
    }

    /// The last commit, which has to be there.
    pub(super) fn need_head(&self) -> Result<String, GitError> {
        self.head_commit()?.ok_or_else(|| GitError::NoCommits { root: self.root.clone() })
    }

    /// Whether the repository has only the last part of its history.
    pub(super) fn is_shallow(&self) -> Result<bool, GitError> {
        let answer = self.ask(self.safe()?, &["rev-parse", "--is-shallow-repository"], ANSWER)?;
        Ok(answer.starts_with(b"true"))
    }

    /// The one commit that this names; `None` if it names none, several, or anything else.
    pub(super) fn commit_of(&self, name: &str) -> Result<Option<String>, GitError> {
        if name.is_empty() || name.len() > NAME || name.contains(char::is_control) {
            return Ok(None);
        }
        let (leave, what) = (self.safe()?, "rev-parse");
        let words = [what, "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")];
        let finished = self.call(leave, &words, Input::Nothing, ANSWER)?;
        // An object that a clone has not got, too, is no commit to compare with.
        if call::exit_code(&finished, what, leave)? != 0 {
            return Ok(None);
        }
        let commit = String::from_utf8_lossy(&finished.stdout.head).trim_end().to_string();
        // `^main` and `a..b` are answered with more than a commit.
        let plain = matches!(commit.len(), 40 | 64) && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok(plain.then_some(commit))
    }

    /// The branch of a remote repository that a symbolic ref stands for, as people write it.
    fn stands_for(&self, name: &str) -> Result<Option<String>, GitError> {
        let (leave, what) = (self.safe()?, "symbolic-ref");
        let finished = self.call(leave, &[what, "--quiet", name], Input::Nothing, ANSWER)?;
        if call::exit_code(&finished, what, leave)? != 0 {
            return Ok(None);
        }
        let target = String::from_utf8_lossy(&finished.stdout.head);
        Ok(target.trim_end().strip_prefix("refs/remotes/").map(str::to_string))
    }
}
