//! What lay in a project's directories, as far as it says where repositories are. Kept from one look to the next: a directory whose
//! record is the same has the same names, unless it was changed so shortly before it was read that its times would not show a further
//! change, or its file system is none that is known to keep such times.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use relaycode_durable::{Fs, RealFs};

/// Seconds within which the clocks of file systems may not tell two moments apart.
const GRAIN: i64 = 2;

/// The directories that were looked into last.
#[derive(Debug, Default)]
pub struct DirectoryListings(Mutex<HashMap<PathBuf, KnownListing>>);

/// What of the names in a directory matters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DirectoryListing {
    pub(super) has_dot_git: bool,
    pub(super) has_head: bool,
    /// Its directories but for relay's own, sorted.
    pub(super) inner: Vec<OsString>,
}

#[derive(Debug, Clone)]
struct KnownListing {
    record: DirectoryRecord,
    listing: DirectoryListing,
}

/// Device, number, and when its names last changed and anything of it.
type DirectoryRecord = (u64, u64, (i64, i64), (i64, i64));

/// One look at the directories of a project. What it does not come to is forgotten.
pub(super) struct ListingPass<'l> {
    listings: &'l DirectoryListings,
    known: HashMap<PathBuf, KnownListing>,
    seen: HashMap<PathBuf, KnownListing>,
    /// The device on which a directory's times say whether its names changed.
    device: Option<u64>,
    /// Seconds since 1970.
    now: i64,
}

impl DirectoryListings {
    pub(super) fn begin(&self, root: &Path) -> ListingPass<'_> {
        let known = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let fs = RealFs::default();
        let device = fs.open_root(root).and_then(|dir| {
            let is_kept = fs.keeps_directory_times(&dir)?;
            Ok(is_kept.then_some(fs.stat_dir(&dir)?.dev))
        });
        // Without a clock nothing counts as old.
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.ok().and_then(|now| i64::try_from(now.as_secs()).ok()).unwrap_or(i64::MIN + GRAIN);
        ListingPass { listings: self, known, seen: HashMap::new(), device: device.ok().flatten(), now }
    }
}

impl ListingPass<'_> {
    /// What lies in a directory, as far as it can be read.
    pub(super) fn list(&mut self, directory: &Path) -> DirectoryListing {
        // Before it is read: what changes after that changes the record.
        let record = fs::metadata(directory).ok().map(|found| {
            let changed = (found.ctime(), found.ctime_nsec());
            (found.dev(), found.ino(), (found.mtime(), found.mtime_nsec()), changed)
        });
        let known = self.known.remove(directory).filter(|known| Some(known.record) == record);
        let mut listing = DirectoryListing::default();
        let is_whole = match known {
            Some(known) => {
                listing = known.listing;
                true
            }
            None => read(directory, &mut listing).is_ok(),
        };
        if let Some(record) = record.filter(|record| is_whole && self.is_telling(*record)) {
            self.seen.insert(directory.to_path_buf(), KnownListing { record, listing: listing.clone() });
        }
        listing
    }

    /// Whether a change from now on would show in the record.
    fn is_telling(&self, (device, _, modified, changed): DirectoryRecord) -> bool {
        Some(device) == self.device && modified.0.max(changed.0) < self.now - GRAIN
    }
}

impl Drop for ListingPass<'_> {
    fn drop(&mut self) {
        let seen = std::mem::take(&mut self.seen);
        *self.listings.0.lock().unwrap_or_else(PoisonError::into_inner) = seen;
    }
}

/// An error says that there may be more.
fn read(directory: &Path, listing: &mut DirectoryListing) -> io::Result<()> {
    let mut is_whole = Ok(());
    for entry in fs::read_dir(directory)? {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                is_whole = Err(error);
                continue;
            }
        };
        let name = entry.file_name();
        if name == ".git" {
            listing.has_dot_git = true;
        } else if name == "HEAD" {
            listing.has_head = true;
        } else if name != ".relaycode" && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            listing.inner.push(name);
        }
    }
    listing.inner.sort();
    is_whole
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A time at which nothing here is young.
    const LATER: i64 = i64::MAX;

    fn look(listings: &DirectoryListings, root: &Path, now: i64) -> DirectoryListing {
        let mut pass = listings.begin(root);
        pass.now = now;
        pass.list(root)
    }

    #[test]
    fn names_are_read_again_where_the_record_changed() {
        let project = tempfile::tempdir().unwrap();
        let listings = DirectoryListings::default();
        fs::create_dir(project.path().join("src")).unwrap();
        let first = look(&listings, project.path(), LATER);
        assert_eq!(first.inner, ["src"]);
        if let Some(known) = listings.0.lock().unwrap().get_mut(project.path()) {
            known.listing.has_head = true;
        }
        // Nobody looked: it is what was kept, where such times are kept at all.
        let kept = look(&listings, project.path(), LATER);
        let real = RealFs::default();
        let is_kept = real.keeps_directory_times(&real.open_root(project.path()).unwrap()).unwrap();
        assert_eq!(kept.has_head, is_kept);
        fs::create_dir(project.path().join(".git")).unwrap();
        let now = look(&listings, project.path(), LATER);
        assert_eq!((now.has_dot_git, now.has_head, now.inner), (true, false, vec!["src".into()]));
    }

    #[test]
    fn what_is_young_or_could_not_be_read_is_not_kept() {
        let project = tempfile::tempdir().unwrap();
        let listings = DirectoryListings::default();
        let mut pass = listings.begin(project.path());
        pass.list(project.path());
        pass.list(&project.path().join("none"));
        drop(pass);
        assert!(listings.0.lock().unwrap().is_empty());
    }
}
