//! Which parts of a repository are looked at: all that could make git do something else later, which is anything that
//! is not on the list of what git, and programs around it, change by themselves while somebody only looks.
//!
//! So objects and logs are passed over: what is in them changes no file and runs no command. Of the index it is looked
//! at what is staged ([`super::git_index`]).

use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use relaycode_snapshot::EntryKind;

/// What makes a directory a repository.
pub(super) const HEAD_FILE: &[u8] = b"HEAD";
/// What is staged.
const INDEX: &[u8] = b"index";
/// Files in `objects/info` which say where more objects come from.
const ALTERNATES: &[&[u8]] = &[b"alternates", b"http-alternates"];

/// Directories that are passed over with all that is in them.
const PASSING_DIRECTORIES: &[&[u8]] = &[b"fsmonitor--daemon", b"logs"];
/// Files that are passed over. `opencode` is a number that the program of that name leaves there.
const PASSING_FILES: &[&[u8]] =
    &[b"COMMIT_EDITMSG", b"FETCH_HEAD", b"ORIG_HEAD", b"gc.log", b"gc.pid", b"opencode"];
/// How others of them begin. The shared part of an index is read with the index.
const PASSING_BEGINNINGS: &[&[u8]] = &[b"fsmonitor--daemon", b"sharedindex."];
/// How a file ends that says that somebody writes.
const LOCK: &[u8] = b".lock";
/// Directories with much in them that other programs keep there: their contents are not read.
const LARGE: &[&[u8]] = &[b"annex", b"lfs", b"svn"];
/// What one of these writes while files are only compared.
const LARGE_PASSING: &[&[u8]] = &[b"cache", b"tmp"];

/// A directory of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GitDirPart {
    /// Its own.
    Top {
        /// Whether its files belong to the project, so that it counts what is staged.
        here: bool,
    },
    /// Directories that may be repositories, or hold some: worktrees, and submodules, whose names may have several
    /// parts.
    Nested {
        /// As above.
        here: bool,
    },
    /// Branches, tags and the like.
    Refs,
    /// `objects`: only what says where more of them come from counts.
    Objects,
    /// `objects/info`.
    ObjectsInfo,
    /// `info`: all but the list of refs that `git gc` writes for servers.
    Info,
    /// The index of files that belong to the project.
    Index,
    /// Large ones of other programs.
    Large,
    /// Any other: all that is in it.
    Rest,
}

/// Every one of them.
pub(super) const PARTS: [GitDirPart; 11] = {
    use GitDirPart::*;
    let (top, nested) =
        ([Top { here: true }, Top { here: false }], [Nested { here: true }, Nested { here: false }]);
    [top[0], top[1], nested[0], nested[1], Refs, Objects, ObjectsInfo, Info, Index, Large, Rest]
};

impl GitDirPart {
    /// What part something in it is; `None`: it is passed over.
    pub(super) fn child_part(self, name: &[u8], kind: EntryKind) -> Option<GitDirPart> {
        let is_in = |names: &[&[u8]]| names.contains(&name);
        let directory = kind == EntryKind::Directory;
        let plain = matches!(kind, EntryKind::File | EntryKind::Special);
        use GitDirPart::*;
        match self {
            Top { .. } if directory && is_in(PASSING_DIRECTORIES) => None,
            Top { .. } if plain && is_in(PASSING_FILES) => None,
            Top { .. } if plain && PASSING_BEGINNINGS.iter().any(|word| name.starts_with(word)) => None,
            Top { .. } | Refs if plain && name.ends_with(LOCK) => None,
            Large if directory && is_in(LARGE_PASSING) => None,
            Top { here: false } if plain && name == INDEX => None,
            Top { here: true } if kind == EntryKind::File && name == INDEX => Some(Index),
            Top { .. } if directory && name == b"objects" => Some(Objects),
            Objects => (directory && name == b"info").then_some(ObjectsInfo),
            ObjectsInfo => ALTERNATES.contains(&name).then_some(Rest),
            Top { here } if name == b"modules" => Some(Nested { here }),
            // The files of another worktree are no part of the project.
            Top { .. } if name == b"worktrees" => Some(Nested { here: false }),
            Top { .. } if is_in(&[b"refs", b"reftable"]) => Some(Refs),
            Top { .. } if directory && is_in(LARGE) => Some(Large),
            Top { .. } if directory && name == b"info" => Some(Info),
            Info if plain && name == b"refs" => None,
            Top { .. } | Info | Rest | Large | Index => Some(Rest),
            Nested { .. } | Refs => Some(self),
        }
    }
}

/// Bytes of a file that points to a repository.
const SMALL: u64 = 4 << 10;

/// The repository's directories, other than a `.git` directory in the project itself: where a `.git` file points
/// to, what that shares with others, or the `.git` of a directory above.
pub(crate) fn external_git_dirs(root: &Path) -> Vec<PathBuf> {
    let mut above = root.ancestors().map(|top| top.join(".git"));
    let Some(dot_git) = above.find(|path| path.symlink_metadata().is_ok()) else { return Vec::new() };
    let directory = if dot_git.is_dir() {
        dot_git
    } else {
        let target = read_small_file(&dot_git).and_then(|text| text.strip_prefix(b"gitdir:").map(path_in));
        let Some(target) = target else { return Vec::new() };
        dot_git.parent().unwrap_or(root).join(target)
    };
    let shared = read_small_file(&directory.join("commondir")).map(|text| directory.join(path_in(&text)));
    let mut found = Vec::new();
    for path in [Some(directory), shared].into_iter().flatten() {
        // Once, and without what the walk through the project sees anyway.
        let Ok(real) = path.canonicalize() else { continue };
        if real != root.join(".git") && real.is_dir() && !found.contains(&real) {
            found.push(real);
        }
    }
    found
}

fn path_in(text: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(text.trim_ascii()))
}

fn read_small_file(path: &Path) -> Option<Vec<u8>> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(SMALL).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
