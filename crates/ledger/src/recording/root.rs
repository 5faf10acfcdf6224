//! The project's directory after a command: it may be gone, or another one may have its name.

use std::io::ErrorKind;
use std::sync::Arc;

use relaycode_durable::{Fs, FsKind};

use crate::{IoContext, Ledger, LedgerError, LedgerResult, io_error};

/// The ledger of the directory that has the project's name now, if that is another directory than before.
///
/// # Errors
/// `RootGone` if there is none, or what is there is not a directory of its own; the system's.
pub(super) fn reopen_ledger(ledger: &Ledger) -> LedgerResult<Option<Ledger>> {
    let (fs, path) = (&ledger.fs, &ledger.path);
    let shown = path.display().to_string();
    let gone = |what: &'static str| LedgerError::RootGone { path: shown.clone(), what };
    let dir = match fs.open_root(path) {
        Ok(dir) => dir,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(gone("is not there any more")),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return Err(gone("is not a directory any more"));
        }
        Err(error) => return Err(io_error("open", &shown)(error)),
    };
    let now = fs.stat_dir(&dir).context("look at", &shown)?;
    let was = fs.stat_dir(ledger.root.dir()).context("look at", &shown)?;
    if (now.dev, now.ino) == (was.dev, was.ino) {
        return Ok(None);
    }
    // Whatever a link leads to was not secured, and is not the project.
    if is_link(&**fs, path) {
        return Err(gone("is a symbolic link to another directory now"));
    }
    Ledger::with_root(Arc::clone(fs), dir, path, ledger.settings.clone()).map(Some)
}

fn is_link(fs: &dyn Fs, path: &std::path::Path) -> bool {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return true;
    };
    let looked = fs.open_root(parent).and_then(|parent| fs.stat(&parent, name));
    !looked.is_ok_and(|stat| stat.kind == FsKind::Dir)
}

/// The device and number of the user's own directory: should it lie in the project, it is none of its files.
pub(super) fn own_directory_id(ledger: &Ledger) -> Option<(u64, u64)> {
    let home = ledger.settings.home.as_deref()?;
    let stat = ledger.fs.open_root(home).and_then(|dir| ledger.fs.stat_dir(&dir)).ok()?;
    Some((stat.dev, stat.ino))
}

/// Whether the user's own directory lies in the project, as far as names tell.
pub(super) fn home_is_inside(ledger: &Ledger) -> bool {
    ledger.settings.home.as_deref().is_some_and(|home| home.starts_with(&ledger.path))
}
