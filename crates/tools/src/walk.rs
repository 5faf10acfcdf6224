//! Files below the workspace's directories: what `search`, `find` and a mistyped path look through. Hidden files count, `.git` and
//! relay's own directory never do, links are not followed.

use std::cmp::Ordering;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{self, AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use globset::{GlobBuilder, GlobMatcher, GlobSet};
use ignore::{WalkBuilder, WalkState};
use relaycode_llm::CancelToken;
use relaycode_project::permissions::ReadRestrictions;
use relaycode_text::plural::pluralize;

use crate::tool::ToolError;
use crate::workspace::ToolWorkspace;

/// Threads that walk or search.
const MAX_THREADS: usize = 8;
/// Files that one walk finds.
pub(crate) const MAX_FILES: usize = 1_000_000;
/// Never looked into.
const SKIPPED: [&str; 2] = [".git", ".relaycode"];
/// Bytes of a pattern, and groups in it.
const MAX_PATTERN: usize = 4_096;
const MAX_BRACES: usize = 50;
/// What makes a path a pattern.
const GLOB_SIGNS: [char; 4] = ['*', '?', '[', '{'];

/// A directory, a file, or the files that match a pattern.
pub(crate) struct WalkTarget {
    pub base: PathBuf,
    pub glob: Option<GlobMatcher>,
    /// What is left out.
    rules: Arc<ReadRestrictions>,
}

/// What a walk must respect.
pub(crate) struct WalkLimits<'a> {
    pub hidden: bool,
    pub gitignore: bool,
    pub deadline: Option<Duration>,
    pub cancel: &'a CancelToken,
}

/// What a walk found, sorted, each once.
#[derive(Debug, Default)]
pub(crate) struct WalkResult {
    pub files: Vec<PathBuf>,
    /// Time or room ran out.
    pub cut_short: bool,
    /// Files that a rule denies or asks about.
    left_out: usize,
}

impl WalkResult {
    /// What may be there and is not among the files.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        let cut_short = self
            .cut_short
            .then(|| "[The look at the directories was cut short: there may be more files]\n".to_string());
        let count = pluralize(self.left_out, "file");
        let left_out = (self.left_out > 0)
            .then(|| format!("[{count} left out: a rule of the user's or the project's is about them]\n"));
        cut_short.into_iter().chain(left_out)
    }
}

pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
}

impl WalkTarget {
    /// A path or a pattern; `None` if nothing is there.
    pub(crate) fn read(text: &str, workspace: &ToolWorkspace) -> Result<Option<WalkTarget>, ToolError> {
        let refused = |error: &dyn std::fmt::Display| ToolError::refused(error.to_string());
        let slashed = text.trim().replace('\\', "/");
        let found = workspace.resolve(text.trim());
        if let Ok(found) = &found
            && found.exists
        {
            return WalkTarget::beneath(found.path.clone(), workspace).map(Some);
        }
        let Some(at) = slashed.find(GLOB_SIGNS) else {
            return found.map(|_| None).map_err(|error| refused(&error));
        };
        let (base, pattern) = match slashed[..at].rfind('/') {
            Some(slash) => (&slashed[..=slash], slashed[slash + 1..].to_string()),
            // A bare pattern means every directory.
            None if !slashed.contains('/') => (".", format!("**/{slashed}")),
            None => (".", slashed.clone()),
        };
        let base =
            workspace.resolve(if base == "/" { "/." } else { base }).map_err(|error| refused(&error))?;
        if !base.exists {
            return Ok(None);
        }
        if pattern.len() > MAX_PATTERN || pattern.matches('{').count() > MAX_BRACES {
            let said =
                format!("the pattern has more than {MAX_PATTERN} bytes or {MAX_BRACES} groups in braces");
            return Err(ToolError::refused(said));
        }
        let glob = GlobBuilder::new(&close_braces(&pattern)).literal_separator(true).build();
        let glob = glob.map_err(|error| refused(&error))?;
        // A matcher of its own would panic on a pattern that is too large for an automaton.
        GlobSet::builder().add(glob.clone()).build().map_err(|error| refused(&error))?;
        let glob = glob.compile_matcher();
        let target = WalkTarget::beneath(base.path, workspace)?;
        Ok(Some(WalkTarget { glob: Some(glob), ..target }))
    }

    /// All files of a directory that may be read, or one file.
    pub(crate) fn beneath(base: PathBuf, workspace: &ToolWorkspace) -> Result<WalkTarget, ToolError> {
        let rules = workspace.rules()?;
        match rules.rule_for(&base) {
            None => Ok(WalkTarget { base, glob: None, rules }),
            Some(rule) => Err(ToolError::refused(format!(
                "`{}` is not looked through: the rule `{}` is about it",
                workspace.shown_path(&base),
                rule.name()
            ))),
        }
    }

    fn takes(&self, path: &Path) -> bool {
        let Some(glob) = &self.glob else { return true };
        path.strip_prefix(&self.base).is_ok_and(|inside| glob.is_match(inside))
    }
}

/// A pattern whose last group may have been left open.
fn close_braces(pattern: &str) -> String {
    let open = pattern.matches('{').count();
    let closed = pattern.matches('}').count();
    pattern.to_string() + &"}".repeat(open.saturating_sub(closed))
}

/// Every file of the targets.
pub(crate) fn walk(targets: &[WalkTarget], limits: &WalkLimits<'_>) -> Result<WalkResult, ToolError> {
    let until = limits.deadline.map(|deadline| Instant::now() + deadline);
    let cut_short = AtomicBool::new(false);
    let left_out = AtomicUsize::new(0);
    let files = Mutex::new(Vec::new());
    for target in targets {
        let mut builder = WalkBuilder::new(&target.base);
        builder
            .hidden(!limits.hidden)
            .ignore(limits.gitignore)
            .git_ignore(limits.gitignore)
            .git_exclude(limits.gitignore)
            .parents(limits.gitignore)
            // The user's own ignore file is found by the environment, which a library does not read.
            .git_global(false)
            .require_git(false)
            .threads(threads())
            .filter_entry(|entry| {
                entry.depth() == 0 || !SKIPPED.iter().any(|name| entry.file_name() == *name)
            });
        builder.build_parallel().run(|| {
            let (files, cut_short, left_out) = (&files, &cut_short, &left_out);
            let mut batch = FoundFiles { into: files, found: Vec::new() };
            Box::new(move |entry| {
                if limits.cancel.is_cancelled() || until.is_some_and(|until| Instant::now() > until) {
                    cut_short.store(true, atomic::Ordering::Relaxed);
                    return WalkState::Quit;
                }
                let Ok(entry) = entry else { return WalkState::Continue };
                if entry.file_type().is_some_and(|kind| kind.is_file()) && target.takes(entry.path()) {
                    if target.rules.rule_for(entry.path()).is_some() {
                        left_out.fetch_add(1, atomic::Ordering::Relaxed);
                        return WalkState::Continue;
                    }
                    batch.found.push(entry.into_path());
                    if batch.found.len() > MAX_FILES {
                        cut_short.store(true, atomic::Ordering::Relaxed);
                        return WalkState::Quit;
                    }
                }
                WalkState::Continue
            })
        });
    }
    if limits.cancel.is_cancelled() {
        return Err(ToolError::Aborted);
    }
    let mut files = files.into_inner().unwrap_or_default();
    files.sort_unstable_by(|a, b| path_order(a, b));
    files.dedup_by(|a, b| a.as_os_str() == b.as_os_str());
    files.truncate(MAX_FILES);
    Ok(WalkResult { files, cut_short: cut_short.into_inner(), left_out: left_out.into_inner() })
}

/// The order of paths, part by part, of such as have no `.` and no double slash. That of the library takes them apart each time.
fn path_order(a: &Path, b: &Path) -> Ordering {
    let (a, b) = (a.as_os_str().as_bytes(), b.as_os_str().as_bytes());
    let rank = |byte: u8| if byte == b'/' { 0 } else { u16::from(byte) + 1 };
    match a.iter().zip(b).find(|(a, b)| a != b) {
        Some((a, b)) => rank(*a).cmp(&rank(*b)),
        None => a.len().cmp(&b.len()),
    }
}

/// What one thread found, handed over when it ends.
struct FoundFiles<'a> {
    into: &'a Mutex<Vec<PathBuf>>,
    found: Vec<PathBuf>,
}

impl Drop for FoundFiles<'_> {
    fn drop(&mut self) {
        if let Ok(mut all) = self.into.lock() {
            all.append(&mut self.found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::TestProject;

    #[test]
    fn paths_have_the_order_of_their_parts() {
        let mut paths: Vec<PathBuf> =
            ["/a/b", "/a-b", "/a", "/a/b/c", "/a.b/c", "/a/é", "/a/b-c", "/", "/a/Z", "/a/b/"]
                .map(PathBuf::from)
                .into();
        let mut sorted = paths.clone();
        sorted.sort();
        paths.sort_by(|a, b| path_order(a, b));
        assert_eq!(paths, sorted);
    }

    #[test]
    fn a_look_that_runs_out_of_time_says_so() {
        let project = TestProject::new(&[("a.txt", ""), ("b/c.txt", "")]);
        let look = |deadline| {
            let target = WalkTarget::read(".", &project.workspace).unwrap().unwrap();
            let limits = WalkLimits { hidden: true, gitignore: true, deadline, cancel: &project.cancel };
            walk(&[target], &limits).unwrap()
        };
        let whole = look(Some(Duration::from_secs(600)));
        assert_eq!((whole.files.len(), whole.notes().count()), (2, 0));
        let cut = look(Some(Duration::ZERO));
        assert_eq!(cut.files.len(), 0);
        let said: Vec<String> = cut.notes().collect();
        assert_eq!(said, ["[The look at the directories was cut short: there may be more files]\n"]);
    }
}
