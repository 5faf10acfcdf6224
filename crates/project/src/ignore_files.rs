//! What a project's `.ignore` and `.gitignore` files leave out. They come with a repository: only regular files of the
//! project count, whole and within bounds. One that is a pipe, a link out of its directory, or too large says nothing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::config::text_file::{LinkPolicy, read_text};

/// Bytes of one file.
pub const MAX_FILE_BYTES: u64 = 1 << 20;
/// Patterns of one file; those behind them do not count.
pub const MAX_FILE_PATTERNS: usize = 10_000;
/// Patterns of all files together.
pub const MAX_PATTERNS: usize = 100_000;

/// The files in each directory, the one that counts first in front.
const NAMES: [&str; 2] = [".ignore", ".gitignore"];

/// The ignore files of a tree, each read when it is first needed.
#[derive(Debug)]
pub struct IgnoreFiles {
    /// Where the repository begins: nothing above it is read.
    top: PathBuf,
    exclude: Option<Gitignore>,
    read: Mutex<ReadIgnoreFiles>,
}

#[derive(Debug, Default)]
struct ReadIgnoreFiles {
    directories: HashMap<PathBuf, Arc<[Option<Gitignore>; 2]>>,
    patterns: usize,
}

impl IgnoreFiles {
    /// For the project at `root`, without links: its own files, and those of the repository that it lies in.
    pub fn new(root: &Path) -> IgnoreFiles {
        let top = root.ancestors().find(|directory| directory.join(".git").symlink_metadata().is_ok());
        let top = top.unwrap_or(root).to_path_buf();
        let mut count = 0;
        let exclude = read_patterns(&top.join(".git/info"), "exclude", &top, &mut count);
        let read = Mutex::new(ReadIgnoreFiles { patterns: count, ..ReadIgnoreFiles::default() });
        IgnoreFiles { top, exclude, read }
    }

    /// Whether a file or directory is left out. The directories above it are judged by themselves.
    pub fn ignores(&self, path: &Path, is_directory: bool) -> bool {
        let above = path.ancestors().skip(1).take_while(|directory| directory.starts_with(&self.top));
        let found: Vec<Arc<[Option<Gitignore>; 2]>> =
            above.map(|directory| self.files_of(directory)).collect();
        for kind in 0..NAMES.len() {
            for patterns in found.iter().filter_map(|files| files[kind].as_ref()) {
                match patterns.matched(path, is_directory) {
                    Match::None => {}
                    decided => return decided.is_ignore(),
                }
            }
        }
        self.exclude.as_ref().is_some_and(|patterns| patterns.matched(path, is_directory).is_ignore())
    }

    fn files_of(&self, directory: &Path) -> Arc<[Option<Gitignore>; 2]> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(files) = read.directories.get(directory) {
            return Arc::clone(files);
        }
        let files = Arc::new(NAMES.map(|name| read_patterns(directory, name, directory, &mut read.patterns)));
        read.directories.insert(directory.to_path_buf(), Arc::clone(&files));
        files
    }
}

/// The patterns of `directory/name`, which count from `base` on. `count` is how many were read before.
fn read_patterns(directory: &Path, name: &str, base: &Path, count: &mut usize) -> Option<Gitignore> {
    let text = read_text(directory, name, MAX_FILE_BYTES, LinkPolicy::Inside).ok().flatten()?;
    let mut builder = GitignoreBuilder::new(base);
    for line in text.lines().take(MAX_FILE_PATTERNS) {
        if *count >= MAX_PATTERNS {
            break;
        }
        *count += 1;
        // A line that is no pattern is no reason to lose the others; git passes over it too.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn ignored(root: &Path, path: &str) -> bool {
        IgnoreFiles::new(root).ignores(&root.join(path), false)
    }

    #[test]
    fn the_nearest_file_decides_and_ignore_comes_before_gitignore() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        fs::create_dir_all(root.join(".git/info")).unwrap();
        fs::create_dir(root.join("sub")).unwrap();
        fs::write(root.join(".gitignore"), "*.log\n/top\n").unwrap();
        fs::write(root.join("sub/.gitignore"), "!keep.log\n").unwrap();
        fs::write(root.join(".ignore"), "!seen.log\nhidden\n").unwrap();
        fs::write(root.join(".git/info/exclude"), "own\n").unwrap();
        for (path, expected) in [
            ("a.log", true),
            ("sub/a.log", true),
            ("sub/keep.log", false),
            ("seen.log", false),
            ("hidden", true),
            ("own", true),
            ("top", true),
            ("sub/top", false),
            ("a.txt", false),
        ] {
            assert_eq!(ignored(&root, path), expected, "{path}");
            let inside = path.strip_prefix("sub/").map(|path| ignored(&root.join("sub"), path));
            assert!(inside.is_none_or(|inside| inside == expected), "{path} from within");
        }
    }

    #[test]
    fn links_out_of_the_project_pipes_and_endless_files_say_nothing() {
        let home = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("patterns"), "*\n").unwrap();
        let root = home.path().canonicalize().unwrap();
        for target in ["/dev/zero", "/dev/stdin", outside.path().join("patterns").to_str().unwrap()] {
            for name in NAMES {
                let _ = fs::remove_file(root.join(name));
                symlink(target, root.join(name)).unwrap();
            }
            assert!(!ignored(&root, "a.txt"), "{target}");
        }
        for name in NAMES {
            fs::remove_file(root.join(name)).unwrap();
            rustix::fs::mkfifoat(rustix::fs::CWD, root.join(name), rustix::fs::Mode::RWXU).unwrap();
        }
        assert!(!ignored(&root, "a.txt"));
        for name in NAMES {
            fs::remove_file(root.join(name)).unwrap();
            fs::File::create(root.join(name)).unwrap().set_len(50 << 30).unwrap();
        }
        assert!(!ignored(&root, "a.txt"));
    }

    #[test]
    fn patterns_count_up_to_the_limit() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let text = |before: usize| "x\n".repeat(before) + "a.txt\n";
        fs::write(root.join(".ignore"), text(MAX_FILE_PATTERNS - 1)).unwrap();
        assert!(ignored(&root, "a.txt"));
        fs::write(root.join(".ignore"), text(MAX_FILE_PATTERNS)).unwrap();
        assert!(!ignored(&root, "a.txt"));
    }
}
