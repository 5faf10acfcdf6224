//! A scratch copy of the project for a friend to work in: the files as they are now, uncommitted work
//! included, with a repository of its own that has the history.
//!
//! Invariants: the user's project is only read, its `.git` too; nothing that a repository names is run; no
//! link in the copy leads out of it; what is not in the copy is said ([`ScratchCopy::left_out`]); the copy goes
//! when it is dropped, and one that a killed run left goes with the next. The bytes that were copied are kept
//! aside, where no friend can reach them, so that what it did can be told from what the user does meanwhile.

pub mod changes;
mod copy;
mod file_list;
mod rule;
mod scratch_dir;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use relaycode_durable::private_files::PrivateFileError;
use relaycode_project::git::{Git, GitError};
use relaycode_snapshot::{EntryStat, Snapshot};

use scratch_dir::ScratchDir;

pub(crate) use copy::OpenDirCache;
pub(crate) use file_list::left_out_sentences;

/// How much is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScratchCaps {
    /// Bytes of all files together.
    pub bytes: u64,
    /// Files and links.
    pub files: usize,
    /// Bytes of one file; a longer one is left out.
    pub file_bytes: u64,
}

impl Default for ScratchCaps {
    /// 2 GiB in 200,000 files of at most 512 MiB.
    fn default() -> ScratchCaps {
        ScratchCaps { bytes: 2 << 30, files: 200_000, file_bytes: 512 << 20 }
    }
}

/// Files up to this length are kept aside as they were copied; of longer ones the project's own must still be
/// as it was.
const MAX_BASELINE_FILE: u64 = 8 << 20;
/// Progress is told at the beginning, and then so often.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// How far the copying is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScratchProgress {
    /// Files that are copied.
    pub files: usize,
    /// Of so many.
    pub total: usize,
    /// Bytes that are copied.
    pub bytes: u64,
}

/// Why there is no copy. The project was not touched.
#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    /// The user's own directory cannot be used.
    #[error(transparent)]
    Own(#[from] PrivateFileError),
    /// git cannot say what belongs to the project.
    #[error("the project cannot be copied: {0}")]
    Git(#[from] GitError),
    /// There is more than is copied.
    #[error("the project has more than {most} that git does not ignore; no copy was made{largest}")]
    TooMuch {
        /// The cap, with its unit.
        most: String,
        /// The largest files, as the end of the sentence.
        largest: String,
    },
    /// Somebody broke it off.
    #[error("copying the project was interrupted")]
    Cancelled,
    /// The system says no.
    #[error("{} cannot be {what}: {source}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// `copied`, `read` …
        what: &'static str,
        /// What it said.
        source: io::Error,
    },
    /// The friend removed the copy.
    #[error("the copy of the project is gone: it was removed while it was in use")]
    CopyRemoved,
}

/// What a copy is made of, and where.
pub struct ScratchOptions<'a> {
    /// The project's directory, without links.
    pub root: &'a Path,
    /// git there.
    pub git: &'a Git<'a>,
    /// The user's own directory.
    pub home: &'a Path,
    /// How much is copied.
    pub caps: ScratchCaps,
    /// Whether somebody wants it to stop.
    pub stop: &'a dyn Fn() -> bool,
}

/// A copy of the project. It is removed when this is dropped.
pub struct ScratchCopy {
    scratch_dir: ScratchDir,
    top: PathBuf,
    directory: PathBuf,
    root: PathBuf,
    /// What was copied, by its path beneath the project's root.
    pub(crate) copied: BTreeMap<String, CopiedEntry>,
    /// The copied bytes, one file after the other, in a file without a name.
    baseline_file: File,
    /// The copy when it was done.
    pub(crate) snapshot: Snapshot,
    /// Directories whose content is not the project's own.
    pub(crate) excluded_dirs: Vec<String>,
    /// The project has no repository, and so nothing that is ignored.
    pub(crate) without_git: bool,
    left_out: Vec<String>,
}

/// One thing that was copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CopiedEntry {
    File {
        /// The permission bits that it had.
        mode: u32,
        base: CopyBaseline,
    },
    Link {
        target: PathBuf,
    },
}

/// Where the bytes of a file are as they were copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CopyBaseline {
    Aside {
        at: u64,
        len: usize,
    },
    /// In the project, as long as its file is still this one.
    Project(EntryStat),
}

impl ScratchCopy {
    /// Copies the project. `told` hears how far it is, and whoever shows it waits until it takes long.
    ///
    /// # Errors
    /// Why there is no copy; nothing is left of it.
    pub fn create(
        making: &ScratchOptions<'_>,
        told: &mut dyn FnMut(ScratchProgress),
    ) -> Result<ScratchCopy, ScratchError> {
        let place = ScratchDir::create(making.home, making.root)?;
        let mut list = file_list::list_files(making)?;
        let folder = making.root.file_name().unwrap_or("project".as_ref());
        // By its parts: joined with nothing, a path would end in a slash, and agents compare paths as text.
        let (top, directory): (PathBuf, PathBuf) = match &list.top {
            Some((top, below)) => {
                let top = place.directory.join(top.file_name().unwrap_or(folder));
                (top.clone(), top.join(below).components().collect())
            }
            None => (place.directory.join(folder), place.directory.join(folder)),
        };
        std::fs::create_dir_all(&directory).map_err(system_error(&directory, "made"))?;
        list.create_repository(making, &top);
        let mut copier = copy::ScratchCopier::new(making, &directory, &place.directory)?;
        let mut last: Option<Instant> = None;
        let of = list.paths.len();
        for (number, path) in list.paths.iter().enumerate() {
            if number % 32 == 0 {
                if (making.stop)() {
                    return Err(ScratchError::Cancelled);
                }
                if last.is_none_or(|last| last.elapsed() > PROGRESS_INTERVAL) {
                    last = Some(Instant::now());
                    told(ScratchProgress { files: number, total: of, bytes: copier.bytes });
                }
            }
            copier.copy(path)?;
        }
        for closed in &list.excluded_dirs {
            copier.make_dir(closed);
        }
        let copied = copier.finish()?;
        list.left_out.extend(copied.left_out);
        let snapshot = rule::take_snapshot(&directory, &copied.files, &list.excluded_dirs, making.stop)?;
        Ok(ScratchCopy {
            scratch_dir: place,
            top,
            directory,
            root: making.root.to_path_buf(),
            copied: copied.files,
            baseline_file: copied.baseline_file,
            snapshot,
            excluded_dirs: list.excluded_dirs,
            without_git: list.top.is_none(),
            left_out: list.left_out,
        })
    }

    /// Where the friend works, without links.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The whole copy: where its repository is, if it has one. Without links.
    pub(crate) fn top(&self) -> &Path {
        &self.top
    }

    /// What of the project is not in the copy, a sentence each. It names files of the project.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// How many files and links were copied.
    pub fn file_count(&self) -> usize {
        self.copied.len()
    }

    /// A text of the friend's with the places in the copy as those in the project.
    pub fn rewrite_paths(&self, text: &str) -> String {
        let Some(directory) = self.directory.to_str() else { return text.to_string() };
        let text = text.replace(&format!("{directory}/"), "").replace(directory, ".");
        match self.scratch_dir.directory.to_str() {
            Some(place) => text.replace(place, "(the copy)"),
            None => text,
        }
    }

    /// The bytes of a file as they were copied; `None` if they are nowhere any more.
    pub(crate) fn baseline(&self, path: &str, base: &CopyBaseline) -> Result<Option<Vec<u8>>, ScratchError> {
        match base {
            CopyBaseline::Aside { at, len } => {
                let mut bytes = vec![0; *len];
                let read = self.baseline_file.read_exact_at(&mut bytes, *at);
                read.map_err(system_error(&self.directory.join(path), "read")).map(|()| Some(bytes))
            }
            CopyBaseline::Project(stat) => {
                let mut dirs = OpenDirCache::new(&self.root).map_err(system_error(&self.root, "read"))?;
                let read = dirs.read(path, u64::MAX).ok().filter(|(_, found)| found.is_same_record(stat));
                Ok(read.map(|(bytes, _)| bytes))
            }
        }
    }
}

pub(crate) fn system_error(path: &Path, what: &'static str) -> impl Fn(io::Error) -> ScratchError + use<> {
    let path = path.to_path_buf();
    move |source| ScratchError::System { path: path.clone(), what, source }
}
