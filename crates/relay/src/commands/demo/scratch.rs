//! The scratch project and a user's directory for it, in a private directory that goes when the tour ends.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::{CommandFailure, CommandResult, RelayHome};

/// The files of the scratch project.
const FILES: &[(&str, &str)] = &[
    ("src/cart.ts", include_str!("project/cart.ts")),
    ("src/format.ts", include_str!("project/format.ts")),
    ("check.sh", include_str!("project/check.sh")),
];

/// Names that are tried before giving up.
const MAX_NAME_TRIES: u32 = 100;

/// A directory with a project in it that the process works in until the tour ends; then it goes.
pub(super) struct DemoProject {
    /// The project; relay calls it by the directory's name.
    pub(super) project: PathBuf,
    /// Its user's own directory, in place of the real one.
    pub(super) home: PathBuf,
    /// Both of them, and nothing else.
    root: PathBuf,
    /// Where the process worked before.
    previous_dir: PathBuf,
    /// It stays, or is gone already.
    keep: bool,
}

impl DemoProject {
    pub(super) fn new(keep: bool) -> io::Result<DemoProject> {
        let before = std::env::current_dir()?;
        // The directory may be named through a link; then relay's messages would name it otherwise.
        let parent = fs::canonicalize(std::env::temp_dir())?;
        let root = make_root(&parent)?;
        // What fails from here on takes it away again.
        let mut scratch = DemoProject {
            project: root.join("shop"),
            home: root.join("home"),
            root,
            previous_dir: before,
            keep: false,
        };
        make_private_dir(&scratch.home)?;
        for (path, text) in FILES {
            let full = scratch.project.join(path);
            fs::create_dir_all(full.parent().unwrap_or(&scratch.project))?;
            fs::write(full, text)?;
        }
        std::env::set_current_dir(&scratch.project)?;
        scratch.keep = keep;
        Ok(scratch)
    }

    /// What is the user's own here: nothing of the real one.
    pub(super) fn relay_home(&self) -> RelayHome {
        RelayHome { path: Some(self.home.clone()), ceilings: vec![self.root.clone()], ..RelayHome::default() }
    }

    /// Where no project is looked for any more.
    pub(super) fn ceiling(&self) -> &Path {
        &self.root
    }

    pub(super) fn read(&self, path: &str) -> CommandResult<String> {
        fs::read_to_string(self.project.join(path)).map_err(|error| scratch_failure(&error).place(path))
    }

    pub(super) fn write(&self, path: &str, text: &str) -> CommandResult<()> {
        fs::write(self.project.join(path), text).map_err(|error| scratch_failure(&error).place(path))
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.project.join(path).exists()
    }

    /// The process works where it did before, and the directory goes unless it is to stay.
    pub(super) fn close(mut self) -> io::Result<()> {
        self.remove()
    }

    fn remove(&mut self) -> io::Result<()> {
        // Where the process worked before may be gone meanwhile.
        let _ = std::env::set_current_dir(&self.previous_dir);
        if self.keep {
            return Ok(());
        }
        self.keep = true;
        fs::remove_dir_all(&self.root)
    }
}

impl Drop for DemoProject {
    fn drop(&mut self) {
        let _ = self.remove();
    }
}

/// The scratch project could not be made, read or written.
pub(super) fn scratch_failure(error: &io::Error) -> CommandFailure {
    CommandFailure::unexpected(format!("the scratch project cannot be used: {error}"))
        .hint("relay makes it where TMPDIR says, else in /tmp")
}

fn make_root(parent: &Path) -> io::Result<PathBuf> {
    let mut number = 0;
    loop {
        let root = parent.join(format!("relay-demo-{}-{number}", std::process::id()));
        match make_private_dir(&root) {
            Ok(()) => return Ok(root),
            // Never a directory that somebody else made.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < MAX_NAME_TRIES => {
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

fn make_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}
