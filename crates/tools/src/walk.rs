//! Files below the workspace's directories: what `search`, `find` and a mistyped path look through. Hidden files count, `.git` and
//! relay's own directory never do, links are not followed.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use globset::{GlobBuilder, GlobMatcher};
use ignore::{WalkBuilder, WalkState};
use relaycode_llm::CancelToken;

use crate::tool::ToolError;
use crate::workspace::ToolWorkspace;

/// Threads that walk or search.
const MAX_THREADS: usize = 8;
/// Files that one walk finds.
pub(crate) const MAX_FILES: usize = 1_000_000;
/// Never looked into.
const SKIPPED: [&str; 2] = [".git", ".relaycode"];
/// What makes a path a pattern.
const GLOB_SIGNS: [char; 4] = ['*', '?', '[', '{'];

/// A directory, a file, or the files that match a pattern.
pub(crate) struct WalkTarget {
    pub base: PathBuf,
    pub glob: Option<GlobMatcher>,
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
            let base = found.path.clone();
            return Ok(Some(WalkTarget { base, glob: None }));
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
        let glob = GlobBuilder::new(&close_braces(&pattern)).literal_separator(true).build();
        let glob = glob.map_err(|error| refused(&error))?.compile_matcher();
        Ok(Some(WalkTarget { base: base.path, glob: Some(glob) }))
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
            let (files, cut_short) = (&files, &cut_short);
            let mut batch = FoundFiles { into: files, found: Vec::new() };
            Box::new(move |entry| {
                if limits.cancel.is_cancelled() || until.is_some_and(|until| Instant::now() > until) {
                    cut_short.store(true, Ordering::Relaxed);
                    return WalkState::Quit;
                }
                let Ok(entry) = entry else { return WalkState::Continue };
                if entry.file_type().is_some_and(|kind| kind.is_file()) && target.takes(entry.path()) {
                    batch.found.push(entry.into_path());
                    if batch.found.len() > MAX_FILES {
                        cut_short.store(true, Ordering::Relaxed);
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
    files.sort_unstable();
    files.dedup();
    files.truncate(MAX_FILES);
    Ok(WalkResult { files, cut_short: cut_short.into_inner() })
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
