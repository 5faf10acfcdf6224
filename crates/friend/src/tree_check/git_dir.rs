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
    /// The index of files that belong to the project.
    Index,
    /// Large ones of other programs.
    Large,
    /// Any other: all that is in it.
    Rest,
}

/// Every one of them.
pub(super) const PARTS: [GitDirPart; 10] = [
    GitDirPart::Top { here: true },
    GitDirPart::Top { here: false },
    GitDirPart::Nested { here: true },
    GitDirPart::Nested { here: false },
    GitDirPart::Refs,
    GitDirPart::Objects,
    GitDirPart::ObjectsInfo,
    GitDirPart::Index,
    GitDirPart::Large,
    GitDirPart::Rest,
];

impl GitDirPart {
    /// What part something in it is; `None`: it is passed over.
    pub(super) fn child_part(self, name: &[u8], kind: EntryKind) -> Option<GitDirPart> {
        let is_in = |names: &[&[u8]]| names.contains(&name);
        let directory = kind == EntryKind::Directory;
        let plain = matches!(kind, EntryKind::File | EntryKind::Special);
        match self {
            GitDirPart::Top { .. } if directory && is_in(PASSING_DIRECTORIES) => None,
            GitDirPart::Top { .. } if plain && is_in(PASSING_FILES) => None,
            GitDirPart::Top { .. }
                if plain && PASSING_BEGINNINGS.iter().any(|word| name.starts_with(word)) =>
            {
                None
            }
            GitDirPart::Top { .. } | GitDirPart::Refs if plain && name.ends_with(LOCK) => None,
            GitDirPart::Large if directory && is_in(LARGE_PASSING) => None,
            GitDirPart::Top { here: false } if plain && name == INDEX => None,
            GitDirPart::Top { here: true } if kind == EntryKind::File && name == INDEX => {
                Some(GitDirPart::Index)
            }
            GitDirPart::Top { .. } if directory && name == b"objects" => Some(GitDirPart::Objects),
            GitDirPart::Objects => (directory && name == b"info").then_some(GitDirPart::ObjectsInfo),
            GitDirPart::ObjectsInfo => ALTERNATES.contains(&name).then_some(GitDirPart::Rest),
            GitDirPart::Top { here } if name == b"modules" => Some(GitDirPart::Nested { here }),
            // The files of another worktree are no part of the project.
            GitDirPart::Top { .. } if name == b"worktrees" => Some(GitDirPart::Nested { here: false }),
            GitDirPart::Top { .. } if is_in(&[b"refs", b"reftable"]) => Some(GitDirPart::Refs),
            GitDirPart::Top { .. } if directory && is_in(LARGE) => Some(GitDirPart::Large),
            GitDirPart::Top { .. } | GitDirPart::Rest | GitDirPart::Large | GitDirPart::Index => {
                Some(GitDirPart::Rest)
            }
            GitDirPart::Nested { .. } | GitDirPart::Refs => Some(self),
        }
    }
}

/// Bytes of a file that points to a repository.
const SMALL: u64 = 4 << 10;

/// The repository's directories, other than a `.git` directory in the project itself: where a `.git` file points
/// to, what that shares with others, or the `.git` of a directory above.
pub(crate) fn external_git_dirs(root: &Path) -> Vec<PathBuf> {
    let Some(dot_git) =
        root.ancestors().map(|top| top.join(".git")).find(|path| path.symlink_metadata().is_ok())
    else {
        return Vec::new();
    };
    let directory = if dot_git.is_dir() {
        dot_git
    } else {
        let Some(target) = read_small_file(&dot_git).and_then(|text| path_after(&text, b"gitdir:")) else {
            return Vec::new();
        };
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

fn path_after(text: &[u8], word: &[u8]) -> Option<PathBuf> {
    text.strip_prefix(word).map(path_in)
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
