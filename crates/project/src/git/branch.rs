//! A branch for a change: its name, and making it without touching the index or any file.

use std::path::PathBuf;

use relaycode_exec::JobInput;

use super::{Git, GitError, GitResult, OUTPUT_BYTES, UNKNOWN_REPOSITORY, call};

/// Characters of a name that is made from a text, without its prefix.
const NAME: usize = 60;
/// Bytes of any name; it becomes a file's name, with a few letters more.
const LONGEST: usize = 200;
/// How many branches may have the same name but for a number.
const MAX_NUMBERED: usize = 200;
/// The name for a text that gives none.
const UNNAMED: &str = "change";

/// What git leaves in its directory while something is going on.
const OPERATIONS_IN_PROGRESS: &[(&str, &str)] = &[
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("BISECT_LOG", "a bisect"),
];

impl Git<'_> {
    /// Whether there is a branch of this name.
    ///
    /// # Errors
    /// If it cannot be one, or git cannot say.
    pub fn branch_exists(&self, name: &str) -> GitResult<bool> {
        self.check_branch_name(name)?;
        let words = ["show-ref", "--verify", "--quiet", &format!("refs/heads/{name}")];
        match self.try_ask(&words, OUTPUT_BYTES)? {
            (0, _) => Ok(true),
            (1, _) => Ok(false),
            (_, finished) => Err(self.explain_failure(&finished, "show-ref")),
        }
    }

    /// Whether a branch may have this name.
    ///
    /// # Errors
    /// If it may not.
    pub fn check_branch_name(&self, name: &str) -> GitResult<()> {
        let bad = || GitError::BadBranch { name: name.to_string() };
        let strange = |c: char| c.is_control() || relaycode_text::hidden::is_hidden(c);
        if name.starts_with('-')
            || matches!(name, "HEAD" | "@")
            || name.len() > LONGEST
            || name.contains(strange)
        {
            return Err(bad());
        }
        let what = "check-ref-format";
        let finished =
            self.call(UNKNOWN_REPOSITORY, &[what, "--branch", name], JobInput::Null, OUTPUT_BYTES)?;
        let fits = call::exit_code(&finished, what, UNKNOWN_REPOSITORY)? == 0;
        // It also understands `@{-1}`, and then answers with another name.
        let same = finished.stdout.head.strip_suffix(b"\n") == Some(name.as_bytes());
        if fits && same { Ok(()) } else { Err(bad()) }
    }

    /// Makes a branch at the last commit and goes onto it. The index and the files stay as they are, so
    /// that what is not committed comes along; no hook runs.
    ///
    /// # Errors
    /// If the name is bad or taken, something else is going on, or git fails; then everything is as it
    /// was.
    pub fn create_branch_here(&self, name: &str) -> GitResult<()> {
        if self.branch_exists(name)? {
            return Err(GitError::BranchExists { name: name.to_string() });
        }
        let directory = self.git_directory()?;
        if let Some((_, what)) = OPERATIONS_IN_PROGRESS.iter().find(|(file, _)| directory.join(file).exists())
        {
            return Err(GitError::OperationInProgress { what });
        }
        let full = format!("refs/heads/{name}");
        let why = format!("relay: branch {name}");
        let head = self.head_commit()?;
        if let Some(commit) = &head {
            // Only if there is still none: zeros mean that.
            let none = "0".repeat(commit.len());
            self.ask(&["update-ref", "-m", &why, &full, commit, &none])?;
        }
        let moved = self.ask(&["symbolic-ref", "-m", &why, "HEAD", &full]);
        if let (Err(_), Some(commit)) = (&moved, &head) {
            let _ = self.ask(&["update-ref", "-d", &full, commit]);
        }
        moved.map(drop)
    }

    /// A name for a new branch: `prefix`, and what of the first line of `text` a name can hold. A number
    /// is added if there is such a branch already.
    ///
    /// # Errors
    /// If the prefix cannot begin a branch's name, or git cannot say.
    pub fn free_branch_name(&self, prefix: &str, text: &str) -> GitResult<String> {
        let stem = slug(text);
        for number in 1..=MAX_NUMBERED {
            let name = match number {
                1 => format!("{prefix}{stem}"),
                _ => {
                    let ending = format!("-{number}");
                    let kept = stem[..stem.len().min(NAME - ending.len())].trim_end_matches('-');
                    format!("{prefix}{kept}{ending}")
                }
            };
            if !self.branch_exists(&name)? {
                return Ok(name);
            }
        }
        Err(GitError::BranchExists { name: format!("{prefix}{stem}") })
    }

    fn git_directory(&self) -> GitResult<PathBuf> {
        let answer = self.ask(&["rev-parse", "--absolute-git-dir"])?;
        let path = answer.strip_suffix(b"\n").unwrap_or(&answer);
        Ok(PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path)))
    }
}

/// The first line of a text as part of a branch's name: small letters, digits, and `-` between them.
fn slug(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut stem = String::new();
    for c in line.chars().take(NAME * 4) {
        match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() => stem.push(c),
            _ if !stem.is_empty() && !stem.ends_with('-') => stem.push('-'),
            _ => {}
        }
    }
    stem.truncate(NAME);
    let stem = stem.trim_end_matches('-');
    if stem.is_empty() { UNNAMED.to_string() } else { stem.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_becomes_a_name_whatever_it_holds() {
        assert_eq!(slug("feat: Round totals (to cents)!\n\nbody"), "feat-round-totals-to-cents");
        assert_eq!(slug("$(touch PWNED)"), "touch-pwned");
        assert_eq!(slug("--force"), "force");
        assert_eq!(slug("a..b/../c.lock@{-1}"), "a-b-c-lock-1");
        assert_eq!(slug("3f9c1e2a-0000-4000-8000-000000000000"), "3f9c1e2a-0000-4000-8000-000000000000");
        for text in ["", "\n \n", "修正", "///", "\u{202e}\u{200b}"] {
            assert_eq!(slug(text), "change", "{text:?}");
        }
        assert_eq!(slug(&"x".repeat(500)).len(), NAME);
        assert!(!slug(&"word ".repeat(50)).ends_with('-'));
    }
}
