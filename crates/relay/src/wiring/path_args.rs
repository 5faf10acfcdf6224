//! Files that a user names on the command line: paths as seen from where relay was started, directories and
//! globs. They become paths beneath the project's root, and nothing outside it is read.

use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use relaycode_change::plan::tree::{PlanTree, TreeEntry};
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::path::RelPath;
use relaycode_door::Door;
use relaycode_project::ignore_files::IgnoreFiles;

use crate::{CommandFailure, CommandResult};

/// Files that one command takes.
const MAX_FILES: usize = 1_000;

/// The files that the user's words stand for, each once, in the order of the words. What git ignores is
/// left out of directories and globs, not of plain names.
pub(crate) fn expand_paths(root: &Path, directory: &Path, words: &[String]) -> CommandResult<Vec<RelPath>> {
    let mut found: Vec<RelPath> = Vec::new();
    for word in words {
        let path = directory.join(word);
        let more = if path.is_dir() {
            walk_files(root, &path, None)?
        } else if path.exists() || !word.contains(['*', '?', '[', '{']) {
            vec![resolve_path(root, directory, word)?]
        } else {
            walk_files(root, directory, Some(&glob(word)?))?
        };
        if more.is_empty() {
            return Err(CommandFailure::usage(format!("no file matches `{word}`"))
                .hint("put a glob in quotes, so that relay expands it"));
        }
        for path in more {
            if !found.contains(&path) {
                found.push(path);
            }
        }
        if found.len() > MAX_FILES {
            return Err(CommandFailure::usage(format!("`{word}` matches more than {MAX_FILES} files"))
                .hint("name fewer"));
        }
    }
    Ok(found)
}

/// The file that a plain name stands for.
pub(crate) fn resolve_path(root: &Path, directory: &Path, name: &str) -> CommandResult<RelPath> {
    let outside = || {
        CommandFailure::usage(format!("{name} is not in the project"))
            .hint("name a file inside the project's directory")
    };
    let start = directory.canonicalize().map_err(|_| outside())?;
    let full = normalize_path(&start.join(name)).ok_or_else(outside)?;
    let inside = full.strip_prefix(root).map_err(|_| outside())?;
    RelPath::parse(&inside.to_string_lossy()).map_err(CommandFailure::usage)
}

/// The text of a file of the project.
pub(crate) fn read_text(door: &Door, path: &RelPath) -> CommandResult<String> {
    let entry = door.tree(&PlanLimits::default()).entry(path).map_err(CommandFailure::usage)?;
    let bytes = match entry {
        TreeEntry::File { bytes, .. } => bytes,
        TreeEntry::Missing => {
            return Err(CommandFailure::usage(format!("there is no file {path}"))
                .hint("name files, directories or globs of the project"));
        }
        TreeEntry::Other(what) => {
            return Err(CommandFailure::usage(format!("{path} is {what}, not a file")).hint("leave it out"));
        }
    };
    let not_text = |why: &str| {
        CommandFailure::usage(format!("{path} is {why}, and a prompt is text")).hint("leave it out")
    };
    if bytes.contains(&0) {
        return Err(not_text("binary"));
    }
    String::from_utf8(bytes).map_err(|_| not_text("not UTF-8"))
}

fn glob(word: &str) -> CommandResult<GlobMatcher> {
    let word = word.strip_prefix("./").unwrap_or(word);
    let glob = GlobBuilder::new(word).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| CommandFailure::usage(format!("`{word}` is not a valid glob: {error}")))
}

fn walk_files(root: &Path, from: &Path, matching: Option<&GlobMatcher>) -> CommandResult<Vec<RelPath>> {
    let from = from.canonicalize().map_err(|e| CommandFailure::usage(format!("{}: {e}", from.display())))?;
    let mut found = Vec::new();
    // Links are not followed, and the user's global ignore file counts as in git. The project's own are hostile.
    let mut walk = WalkBuilder::new(&from);
    walk.standard_filters(false).git_global(true).require_git(false).sort_by_file_path(Ord::cmp);
    let ignored = IgnoreFiles::new(root);
    walk.filter_entry(move |entry| {
        let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
        entry.depth() == 0 || !ignored.ignores(entry.path(), is_directory)
    });
    let walk = walk.build();
    for entry in walk.filter_map(Result::ok) {
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        let seen = path.strip_prefix(&from).unwrap_or(path);
        if matching.is_some_and(|glob| !glob.is_match(seen)) {
            continue;
        }
        // What no change may name (.git) is nothing to show a model either.
        let inside = path.strip_prefix(root).ok().and_then(|i| RelPath::parse(&i.to_string_lossy()).ok());
        found.extend(inside);
        if found.len() > MAX_FILES {
            break;
        }
    }
    Ok(found)
}

/// The path without `.` and `..`, taken literally.
fn normalize_path(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            other => plain.push(other),
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::TempDir::new().unwrap();
        for file in files {
            let full = dir.path().join(file);
            fs::create_dir_all(full.parent().unwrap()).unwrap();
            fs::write(full, "x\n").unwrap();
        }
        dir
    }

    fn names(root: &Path, directory: &Path, words: &[&str]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        expand_paths(root, directory, &words).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_directories_and_globs_are_seen_from_where_relay_was_started() {
        let dir = tree(&["a.rs", "src/b.rs", "src/deep/c.rs", "src/d.txt", ".git/x.rs", "skip/e.rs"]);
        fs::write(dir.path().join(".gitignore"), "skip/\n").unwrap();
        let root = dir.path().canonicalize().unwrap();
        assert_eq!(names(&root, &root, &["a.rs", "./src/../a.rs"]), ["a.rs"]);
        assert_eq!(names(&root, &root.join("src"), &["b.rs", "../a.rs"]), ["src/b.rs", "a.rs"]);
        assert_eq!(names(&root, &root, &["src"]), ["src/b.rs", "src/d.txt", "src/deep/c.rs"]);
        assert_eq!(names(&root, &root, &["**/*.rs"]), ["a.rs", "src/b.rs", "src/deep/c.rs"]);
        assert_eq!(names(&root, &root.join("src"), &["*.rs"]), ["src/b.rs"]);
        assert_eq!(names(&root, &root, &["skip/e.rs"]), ["skip/e.rs"]);
    }

    #[test]
    fn what_is_outside_or_fits_nothing_is_said() {
        let dir = tree(&["a.rs"]);
        let root = dir.path().canonicalize().unwrap();
        for word in ["../x", "/etc/passwd", "*.nothing", ".git/config"] {
            assert!(expand_paths(&root, &root, &[word.to_string()]).is_err(), "{word}");
        }
    }
}
