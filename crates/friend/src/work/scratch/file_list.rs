//! What of a project is copied: what git has been told of and what it has not, but nothing that it ignores.
//! Without a repository, everything but what builds leave behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use relaycode_change::proposal::path::is_sealed;
use relaycode_durable::{Fs, RealFs};
use relaycode_project::git::{GitError, GitFiles};
use relaycode_snapshot::walk::WalkDirectory;
use relaycode_snapshot::{EntryKind, EntryStat, Snapshot, WalkCaps, WalkError, WalkRule, WalkStep};

use super::rule::is_build_output;
use super::{ScratchError, ScratchOptions, system_error};

/// So many files are named in a sentence.
const NAMED: usize = 8;
/// relay's own directory in a project.
const STATE: &str = ".relaycode";
/// A repository's own directory.
const GIT: &str = ".git";

/// What is said of files that are the project's and that nobody may change.
const SEALED: &str = "what no change may write is not in the copy";

const STRANGE: &str = "files whose names are no text are not in the copy";

/// What is copied.
pub(super) struct ScratchFileList {
    /// The files and links, beneath the project's root, in order.
    pub(super) paths: Vec<String>,
    /// Directories that are no part of it: other repositories.
    pub(super) excluded_dirs: Vec<String>,
    /// What is left out, a sentence each.
    pub(super) left_out: Vec<String>,
    /// The top level of the repository, and the project below it; `None`: there is no repository.
    pub(super) top: Option<(PathBuf, PathBuf)>,
    /// Files that git knows and that are not there on purpose.
    sparse: Vec<Vec<u8>>,
}

/// What is copied of this project.
pub(super) fn list_files(making: &ScratchOptions<'_>) -> Result<ScratchFileList, ScratchError> {
    let top = match making.git.top_level() {
        Ok(top) => top,
        Err(GitError::NotARepository { .. } | GitError::NoGit) => return list_all(making),
        Err(error) => return Err(error.into()),
    };
    let files = making.git.files()?;
    let below = making.root.strip_prefix(&top).unwrap_or(Path::new("")).to_path_buf();
    let mut list = list_by_git(files);
    if !below.as_os_str().is_empty() {
        list.left_out.push("of the repository, only the project's own directory is in the copy".into());
    }
    list.top = Some((top, below));
    Ok(list)
}

fn list_by_git(files: GitFiles) -> ScratchFileList {
    let (mut paths, mut strange, mut sealed) = (BTreeSet::new(), Vec::new(), Vec::new());
    for name in files.tracked.into_iter().chain(files.untracked) {
        match String::from_utf8(name) {
            Ok(path) if is_own(&path) => {}
            Ok(path) if path.split('/').any(is_sealed) => sealed.push(path),
            Ok(path) => {
                paths.insert(path);
            }
            Err(error) => strange.push(error.as_bytes().escape_ascii().to_string()),
        }
    }
    let text = |names: &[Vec<u8>]| -> Vec<String> {
        names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    };
    let ignored = text(&files.ignored).into_iter().filter(|path| !is_own(path)).collect::<Vec<_>>();
    let (submodules, nested) = (text(&files.submodules), text(&files.nested));
    let left_out = left_out_sentences(&[
        ("what git ignores is not in the copy", &ignored),
        ("submodules are not in the copy", &submodules),
        ("repositories among the files are not in the copy", &nested),
        (SEALED, &sealed),
        (STRANGE, &strange),
    ]);
    let (paths, excluded_dirs) =
        (paths.into_iter().collect(), submodules.into_iter().chain(nested).collect());
    ScratchFileList { paths, excluded_dirs, left_out, top: None, sparse: files.sparse }
}

/// Every file beneath the root, but relay's own and other repositories'.
fn list_all(making: &ScratchOptions<'_>) -> Result<ScratchFileList, ScratchError> {
    let failed = system_error(making.root, "read");
    let fs = RealFs::default();
    let root = fs.open_root(making.root).map_err(&failed)?;
    let (nested, sealed, strange) = (Vec::new(), Vec::new(), Vec::new());
    let mut rule =
        WholeProjectRule { root: making.root, stop: making.stop, nested, sealed, strange, built: Vec::new() };
    let caps = WalkCaps { entries: making.caps.files, ..WalkCaps::default() };
    let tree = match Snapshot::take(&fs, &root, &mut rule, caps, None, (0, 0)) {
        Ok(tree) if tree.partial().next().is_some() => {
            let most = format!("{} files", making.caps.files);
            return Err(ScratchError::TooMuch { most, largest: String::new() });
        }
        Ok(tree) => tree,
        Err(WalkError::Stopped) => return Err(ScratchError::Cancelled),
        Err(WalkError::Root(error)) => return Err(failed(error)),
    };
    let mut paths = Vec::new();
    tree.for_each(&mut |path, id| {
        if tree.stat(id).kind != EntryKind::Directory && !tree.is_unread(id) {
            paths.push(String::from_utf8_lossy(path).into_owned());
        }
    });
    let unread: Vec<String> =
        tree.unread().map(|(path, _)| String::from_utf8_lossy(&path).into_owned()).collect();
    let WholeProjectRule { nested, sealed, strange, built, .. } = rule;
    paths.sort();
    let left_out = left_out_sentences(&[
        ("what builds left behind is not in the copy", &built),
        ("repositories' own directories are not in the copy", &nested),
        (SEALED, &sealed),
        (STRANGE, &strange),
        ("what cannot be read is not in the copy", &unread),
    ]);
    Ok(ScratchFileList { paths, excluded_dirs: Vec::new(), left_out, top: None, sparse: Vec::new() })
}

/// Everything, but for what belongs to relay or to a repository.
struct WholeProjectRule<'a> {
    root: &'a Path,
    stop: &'a dyn Fn() -> bool,
    nested: Vec<String>,
    sealed: Vec<String>,
    strange: Vec<String>,
    built: Vec<String>,
}

impl WalkRule for WholeProjectRule<'_> {
    fn step(&mut self, at: WalkDirectory<'_>, name: &[u8], stat: &EntryStat) -> WalkStep {
        let slash: &[u8] = if at.path.is_empty() { b"" } else { b"/" };
        let path = [at.path, slash, name].concat();
        let (Ok(path), Ok(name)) = (std::str::from_utf8(&path), std::str::from_utf8(name)) else {
            self.strange.push(String::from_utf8_lossy(&path).into_owned());
            return WalkStep::Skip;
        };
        if name == GIT {
            self.nested.push(path.to_string());
        } else if is_own(path) {
        } else if is_sealed(name) {
            self.sealed.push(path.to_string());
        } else if stat.kind == EntryKind::Directory && is_build_output(&self.root.join(path)) {
            self.built.push(format!("{path}/"));
        } else {
            return WalkStep::Take(0);
        }
        WalkStep::Skip
    }

    fn is_stopped(&self) -> bool {
        (self.stop)()
    }
}

impl ScratchFileList {
    /// Makes the repository of the copy at `top`. That the history cannot be had is no reason not to work.
    pub(super) fn create_repository(&mut self, making: &ScratchOptions<'_>, top: &Path) {
        let absent: BTreeSet<&[u8]> = self.sparse.iter().map(Vec::as_slice).collect();
        let made = match &self.top {
            Some(_) => making.git.make_scratch(top, &absent),
            None => making.git.make_empty_scratch(top),
        };
        let Err(error) = made else { return };
        // Half a repository would be worse than none: it could be taken for the user's own.
        let _ = fs::remove_dir_all(top.join(GIT));
        if self.top.is_some() {
            let _ = making.git.make_empty_scratch(top);
        }
        if !matches!(error, GitError::NoGit) {
            self.left_out.push(format!("the history is not in the copy: {error}"));
        }
    }
}

/// Whether a path is in relay's own directory of the project, or in a repository's: nobody misses it.
fn is_own(path: &str) -> bool {
    path.split('/').next() == Some(STATE) || path.split('/').any(|part| part == GIT)
}

/// A sentence about each kind of file that there is, the first of which are named.
pub(crate) fn left_out_sentences(kinds: &[(&str, &Vec<String>)]) -> Vec<String> {
    let sentence = |(what, paths): &(&str, &Vec<String>)| {
        let named = paths[..paths.len().min(NAMED)].join(", ");
        match paths.len().saturating_sub(NAMED) {
            0 => format!("{what}: {named}"),
            more => format!("{what}: {named} and {more} more"),
        }
    };
    kinds.iter().filter(|(_, paths)| !paths.is_empty()).map(sentence).collect()
}
