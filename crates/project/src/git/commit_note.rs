//! What a commit that was cut short (`kill -9`, a power cut) left in the repository, and taking it away again.
//!
//! Before anything is told to git, a note in the user's own directory says which files are announced and which locks were
//! there. Whoever finds a note whose commit is over takes the announced files out of the index, and the locks that the
//! commit left. A lock counts as left by it only if nobody else can have made it: git makes `index.lock` first and
//! `next-index-PID.lock` while it holds that, so the second names the dead process, and the first is not younger. Any other lock
//! is somebody's, and is only named.
//!
//! Only one commit of relay runs in a checkout at a time; whoever calls sees to that.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{Git, GitError, GitResult};
use crate::user_files::{DirectoryInode, UserFileError, UserFileStore, json_file};

/// The folder of the notes in the user's own directory.
const FOLDER: &str = "git-commits";
/// Bytes of a note.
const NOTE_BYTES: u64 = 4 << 20;
/// How far the clock of a file system may be behind.
const CLOCK_SLACK: Duration = Duration::from_secs(1);
const INDEX_LOCK: &str = "index.lock";

/// A commit that is being made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommitNote {
    directory: DirectoryInode,
    began: SystemTime,
    /// Where the index and its locks are.
    git_dir: PathBuf,
    /// Locks that were there before.
    locks: BTreeSet<String>,
    /// New files that git is told of.
    announced: Vec<String>,
}

/// What was left of a commit that was cut short.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitRemains {
    /// Files that were announced to git, and are not any more.
    pub announced: Vec<String>,
    /// Its locks, which are gone.
    pub locks: Vec<PathBuf>,
    /// Locks that may be another's.
    pub doubtful_locks: Vec<PathBuf>,
}

impl CommitRemains {
    pub fn is_empty(&self) -> bool {
        self == &CommitRemains::default()
    }
}

/// The notes of commits that are being made.
#[derive(Debug, Clone)]
pub struct CommitNotes(UserFileStore);

impl CommitNotes {
    /// Those in the user's own directory.
    pub fn new(home: Option<&Path>) -> CommitNotes {
        CommitNotes(UserFileStore::new(home, FOLDER, NOTE_BYTES))
    }

    /// Notes that git is about to be told of these new files. Where no note can be kept, the commit goes on without.
    pub(super) fn write(&self, git: &Git<'_>, announced: &[&str]) -> GitResult<()> {
        let git_dir = PathBuf::from(git.ask_text(&["rev-parse", "--absolute-git-dir"])?);
        let write = || -> Result<(), UserFileError> {
            let place = self.0.directory(&git.root)?;
            let note = CommitNote {
                directory: place.mark,
                began: SystemTime::now(),
                locks: list_locks(&git_dir).into_iter().collect(),
                git_dir,
                announced: announced.iter().map(ToString::to_string).collect(),
            };
            self.0.write(&place, &json_file(&note)?)
        };
        let _ = write();
        Ok(())
    }

    /// The commit is over.
    pub(super) fn remove(&self, git: &Git<'_>) {
        // A note that stays is found to be about nothing.
        let _ = self.0.directory(&git.root).and_then(|place| self.0.remove(&place));
    }

    /// Whether a commit is being made in the project at `root`, or was cut short.
    pub fn has_note(&self, root: &Path) -> bool {
        self.0.directory(root).and_then(|place| self.0.read(&place)).is_ok_and(|note| note.is_some())
    }

    /// Takes away what a commit left that was cut short.
    ///
    /// # Errors
    /// If git or the system fails; the note stays then.
    pub fn mend(&self, git: &Git<'_>) -> GitResult<CommitRemains> {
        let Some(note) = self.read(git) else { return Ok(CommitRemains::default()) };
        let mut remains = CommitRemains::default();
        remove_locks(&note, &mut remains)
            .map_err(|error| GitError::failed("recover", format!("a lock that a commit left: {error}")))?;
        // Without the lock the index can be written; with another's it is left alone, and the note with it.
        let announced: Vec<&str> = note.announced.iter().map(String::as_str).collect();
        let left = git.intended(&announced)?;
        if note.git_dir.join(INDEX_LOCK).symlink_metadata().is_err() {
            git.remove_intent(&left)?;
            remains.announced = left.into_iter().map(str::to_string).collect();
        }
        if remains.doubtful_locks.is_empty() {
            self.remove(git);
        }
        Ok(remains)
    }

    fn read(&self, git: &Git<'_>) -> Option<CommitNote> {
        let place = self.0.directory(&git.root).ok()?;
        let bytes = self.0.read(&place).ok()??;
        serde_json::from_slice(&bytes).ok().filter(|note: &CommitNote| note.directory == place.mark)
    }
}

/// Removes the locks that can only be of the commit that was cut short.
fn remove_locks(note: &CommitNote, remains: &mut CommitRemains) -> io::Result<()> {
    let is_new = |stat: &Metadata| stat.modified().is_ok_and(|time| time + CLOCK_SLACK >= note.began);
    let new: Vec<(String, Metadata)> = list_locks(&note.git_dir)
        .into_iter()
        .filter(|name| !note.locks.contains(name))
        .filter_map(|name| Some((name.clone(), note.git_dir.join(name).symlink_metadata().ok()?)))
        .filter(|(_, stat)| is_new(stat))
        .collect();
    let dead: Vec<&(String, Metadata)> =
        new.iter().filter(|(name, _)| lock_owner(name).is_some_and(|pid| !is_running(pid))).collect();
    // Nobody else can have made a second one while the first of the two locks was there.
    let own = match dead.as_slice() {
        [only] => Some(*only),
        _ => None,
    };
    for (name, stat) in &new {
        let is_older = |(_, own): &(String, Metadata)| {
            stat.modified().ok().zip(own.modified().ok()).is_some_and(|(lock, own)| lock <= own)
        };
        let is_ours = own.is_some_and(|own| own.0 == *name || (name == INDEX_LOCK && is_older(own)));
        let path = note.git_dir.join(name);
        if is_ours {
            fs::remove_file(&path)?;
            remains.locks.push(path);
        } else {
            remains.doubtful_locks.push(path);
        }
    }
    Ok(())
}

/// The names of the locks of an index.
fn list_locks(git_dir: &Path) -> Vec<String> {
    let names = fs::read_dir(git_dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut locks: Vec<String> =
        names.filter(|name| name == INDEX_LOCK || lock_owner(name).is_some()).collect();
    locks.sort();
    locks
}

/// The process that made the lock of the next index.
fn lock_owner(name: &str) -> Option<i32> {
    name.strip_prefix("next-index-")?.strip_suffix(".lock")?.parse().ok().filter(|pid| *pid > 0)
}

/// Whether a process may still do something.
fn is_running(number: i32) -> bool {
    let Some(pid) = rustix::process::Pid::from_raw(number) else { return true };
    if matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH)) {
        return false;
    }
    // One that is dead, and that nobody has asked about yet, still has its number. Where there is no such file it counts as running.
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.starts_with(['Z', 'X']));
    !state.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user_files::DirectoryRef;

    /// A process that is dead, and whose number is not in use.
    fn dead() -> i32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        child.wait().unwrap();
        pid
    }

    fn remains(locks_before: &[&str], locks: &[&str]) -> (CommitRemains, Vec<String>) {
        let place = tempfile::tempdir().unwrap();
        let note = CommitNote {
            directory: DirectoryRef::open(place.path()).unwrap().mark,
            began: SystemTime::now(),
            git_dir: place.path().to_path_buf(),
            locks: locks_before.iter().map(ToString::to_string).collect(),
            announced: Vec::new(),
        };
        for (name, second) in locks_before.iter().chain(locks).zip(0..) {
            let file = fs::File::create(place.path().join(name)).unwrap();
            file.set_modified(note.began + Duration::from_secs(second)).unwrap();
        }
        let mut remains = CommitRemains::default();
        remove_locks(&note, &mut remains).unwrap();
        (remains, list_locks(place.path()))
    }

    #[test]
    fn the_locks_of_a_dead_commit_go() {
        let own = format!("next-index-{}.lock", dead());
        let (remains, left) = remains(&[], &[INDEX_LOCK, &own]);
        assert_eq!((remains.locks.len(), remains.doubtful_locks.len(), left.len()), (2, 0, 0));
    }

    #[test]
    fn a_lock_that_may_be_anothers_is_left_and_named() {
        let own = format!("next-index-{}.lock", dead());
        let running = format!("next-index-{}.lock", std::process::id());
        // Alone it may be of anybody; behind the other it is of somebody who came later.
        for locks in [&[INDEX_LOCK][..], &[&running], &[INDEX_LOCK, &running]] {
            let (remains, left) = remains(&[], locks);
            assert_eq!((remains.locks.len(), left.len()), (0, locks.len()), "{locks:?}");
            assert_eq!(remains.doubtful_locks.len(), locks.len());
        }
        let (later, left) = remains(&[], &[&own, INDEX_LOCK]);
        assert_eq!((later.locks.len(), left), (1, vec![INDEX_LOCK.to_string()]));
        let (before, left) = remains(&[INDEX_LOCK], &[]);
        assert_eq!((before, left.len()), (CommitRemains::default(), 1), "it was there before");
    }
}
