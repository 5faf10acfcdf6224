//! A file system in memory that knows what is durable and what is not.
//!
//! [`ModelFs`] is a whole [`Fs`](relaycode_durable::Fs). It numbers every operation that changes something, can
//! fail any of them or stop at one as if the process died there ([`ModelFs::crash_at`],
//! [`ModelFs::fail_at`], [`ModelFs::fail_call`]), and builds the trees that a power cut could leave behind
//! ([`ModelFs::crash_images`] for a cut now, [`ModelFs::all_crash_images`] for one after each operation).
//!
//! | module | what it is for |
//! |---|---|
//! | `state` | the tree as a value, and every change of it |
//! | `operations` | the calls, with the checks and the error numbers of the system |
//! | `pending` | what is not durable yet, and what makes it so |
//! | `crash` | the trees that a power cut can leave |
//!
//! # What is durable
//! As strict as POSIX allows: a file's bytes and attributes by `sync_file`, entries by `sync_dir` of a
//! directory they are in, everything by `sync_all`. Nothing else orders anything. A rename is one
//! step, also between two directories, and either directory's sync makes all of it durable. What a
//! durable step builds on (the entry that it moved, the new directory that it moved something
//! into) becomes durable with it, so that no file is ever lost from both places. After a sync that
//! failed, no later one makes the earlier bytes durable.
//!
//! # Exploring every crash point of a function
//! Run it once, then look at each tree that a cut could have left, in which recovery must lead to
//! the state before or the state after:
//!
//! ```
//! use std::path::Path;
//! use relaycode_proof_crashfs::{CrashBounds, ModelFs};
//! use relaycode_durable::{Fs, atomic};
//!
//! fn save(fs: &dyn Fs) -> Result<(), atomic::AtomicWriteError> {
//!     let dir = fs.open_root(Path::new("/work")).map_err(|source| atomic::AtomicWriteError { is_in_place: false, source })?;
//!     atomic::write(fs, (&dir, "config.tmp"), (&dir, "config"), b"after")
//! }
//!
//! let model = ModelFs::new();
//! model.put("work/config", b"before", 0o600).unwrap();
//! model.mark_all_durable();
//! save(&model).unwrap();
//!
//! let done = model.operations();
//! model.all_crash_images(&CrashBounds::default(), &mut |image, what| {
//!     // Recovery would run here, on `&image`.
//!     let (bytes, _) = image.file("work/config").unwrap_or_else(|| panic!("{what}: lost"));
//!     if what.operations() == done {
//!         assert_eq!(bytes, b"after", "{what}: reported, then gone");
//!     } else {
//!         assert!(bytes == b"before" || bytes == b"after", "{what}: mixed");
//!     }
//! });
//! ```
//!
//! To crash again inside recovery, call `all_crash_images` on the image after recovery ran on it: an
//! image begins with an empty trace. Where a function behaves differently once an operation fails,
//! run it anew with [`ModelFs::fail_at`] for each number up to [`ModelFs::operations`].

mod crash;
mod operations;
mod pending;
mod state;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the system says, for faults.
pub use rustix::io::Errno;

pub use crash::{CrashBounds, CrashChoice, CrashCoverage, CrashDescription, CrashFate};
use state::{Ino, Inode, InodeBody, ModelEffect, ModelEntryCall, ModelFileContent, ModelState, ROOT};

/// Free space that is reported until a test says otherwise.
const FREE: u64 = 1 << 40;

/// A file system in memory. A clone is another one with the same content, trace and faults, in which
/// no lock is held and no handle of the first is valid.
pub struct ModelFs {
    inner: Arc<Mutex<ModelInner>>,
    /// Tells its handles from those of other models.
    number: u64,
}

#[derive(Debug, Clone)]
struct ModelInner {
    /// Everything durable, when the trace was empty.
    start: ModelState,
    state: ModelState,
    trace: Vec<ModelOp>,
    calls: u64,
    faults: ModelFaults,
    dead: bool,
    locks: HashSet<Ino>,
    now: i64,
    free: u64,
}

/// One numbered operation; its number is its place in the trace, plus one.
#[derive(Debug, Clone)]
struct ModelOp {
    effect: ModelEffect,
    now: i64,
}

#[derive(Debug, Clone, Default)]
struct ModelFaults {
    crash: Option<usize>,
    operations: BTreeMap<usize, Errno>,
    calls: BTreeMap<u64, Errno>,
}

/// What can be seen in a tree. Paths have no leading `/`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelSnapshot {
    /// Every regular file: its bytes and permission bits.
    pub files: BTreeMap<String, (Vec<u8>, u32)>,
    /// Every directory but the root.
    pub dirs: BTreeSet<String>,
    /// Their permission bits.
    pub dir_modes: BTreeMap<String, u32>,
    /// Every symbolic link and where it points.
    pub links: BTreeMap<String, String>,
}

/// The mark of the error that every call gives after [`ModelFs::crash_at`] struck.
#[derive(Debug)]
struct ModelCrashError;

impl fmt::Display for ModelCrashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the model crashed here")
    }
}

impl std::error::Error for ModelCrashError {}

/// Whether an error is the crash that [`ModelFs::crash_at`] asked for.
pub fn is_crash(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<ModelCrashError>())
}

fn lock_inner(inner: &Mutex<ModelInner>) -> MutexGuard<'_, ModelInner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ModelFs {
    /// An empty file system.
    pub fn new() -> ModelFs {
        ModelFs::from_state(ModelState::new(false))
    }

    /// An empty file system in which names that differ in case alone are the same name.
    pub fn ignoring_case() -> ModelFs {
        ModelFs::from_state(ModelState::new(true))
    }

    /// An empty file system that cannot let two entries change places, as some network file systems.
    pub fn without_exchange() -> ModelFs {
        let mut state = ModelState::new(false);
        state.can_exchange = false;
        ModelFs::from_state(state)
    }

    fn from_state(state: ModelState) -> ModelFs {
        ModelFs::from_inner(ModelInner {
            start: state.clone(),
            state,
            trace: Vec::new(),
            calls: 0,
            faults: ModelFaults::default(),
            dead: false,
            locks: HashSet::new(),
            now: 1_000_000_000,
            free: FREE,
        })
    }

    fn from_inner(inner: ModelInner) -> ModelFs {
        static MODELS: AtomicU64 = AtomicU64::new(0);
        ModelFs { inner: Arc::new(Mutex::new(inner)), number: MODELS.fetch_add(1, Ordering::Relaxed) }
    }

    /// Puts a file there, with the directories above it, as somebody else would who saves by
    /// temporary file, sync and rename: bytes and mode come with the name. One operation per new entry, on
    /// which no fault strikes.
    ///
    /// # Errors
    /// `NotADirectory` where a part of the path is something else.
    pub fn put(&self, path: &str, bytes: &[u8], mode: u32) -> io::Result<()> {
        self.put_body(path, InodeBody::File(ModelFileContent::new(bytes.to_vec())), mode)
    }

    /// Makes a directory, with those above it, if it is not there.
    ///
    /// # Errors
    /// `NotADirectory` where a part of the path is something else.
    pub fn mkdir(&self, path: &str) -> io::Result<()> {
        lock_inner(&self.inner).make_dirs(path).map(drop)
    }

    /// Puts a symbolic link there.
    ///
    /// # Errors
    /// As for [`ModelFs::put`].
    pub fn link(&self, path: &str, target: &str) -> io::Result<()> {
        self.put_body(path, InodeBody::Link(target.into()), 0o777)
    }

    /// Puts a named pipe there.
    ///
    /// # Errors
    /// As for [`ModelFs::put`].
    pub fn pipe(&self, path: &str) -> io::Result<()> {
        self.put_body(path, InodeBody::Pipe, 0o644)
    }

    /// Gives a file a second name.
    ///
    /// # Errors
    /// `NotFound` where there is no such file.
    pub fn hard_link(&self, path: &str, to: &str) -> io::Result<()> {
        let mut inner = lock_inner(&self.inner);
        let ino = inner.state.resolve(path)?;
        let (dir, name) = inner.resolve_parent(to)?;
        let slots = vec![operations::entry_change(&inner.state, dir, &name, Some(ino))];
        inner.record(ModelEffect::Entries { call: ModelEntryCall::Put, new_inode: None, changes: slots });
        Ok(())
    }

    /// Makes an empty directory the root of another device. Part of setting up: to be followed by
    /// [`ModelFs::mark_all_durable`].
    ///
    /// # Errors
    /// `NotFound` where there is none.
    pub fn mount(&self, path: &str, dev: u64) -> io::Result<()> {
        let mut inner = lock_inner(&self.inner);
        let ino = inner.state.resolve(path)?;
        inner.state.inode_mut(ino).dev = dev;
        Ok(())
    }

    /// Marks an entry as never to be changed, or takes the mark away. Part of setting up: to be
    /// followed by [`ModelFs::mark_all_durable`].
    ///
    /// # Errors
    /// `NotFound` where there is none.
    pub fn set_immutable(&self, path: &str, immutable: bool) -> io::Result<()> {
        let mut inner = lock_inner(&self.inner);
        let ino = inner.state.resolve(path)?;
        inner.state.inode_mut(ino).immutable = immutable;
        Ok(())
    }

    /// Removes whatever stands at a path, with all that is in it.
    ///
    /// # Errors
    /// `NotFound` where there is nothing.
    pub fn delete(&self, path: &str) -> io::Result<()> {
        let mut inner = lock_inner(&self.inner);
        let (dir, name) = inner.resolve_parent(path)?;
        inner.state.find(dir, &name)?;
        let slots = vec![operations::entry_change(&inner.state, dir, &name, None)];
        inner.record(ModelEffect::Entries { call: ModelEntryCall::Put, new_inode: None, changes: slots });
        Ok(())
    }

    fn put_body(&self, path: &str, body: InodeBody, mode: u32) -> io::Result<()> {
        let mut inner = lock_inner(&self.inner);
        let (dir, name) = inner.resolve_parent(path)?;
        inner.put_body(dir, &name, body, mode);
        Ok(())
    }

    /// Sets the clock, in seconds since 1970. It stands still until it is set again.
    pub fn set_clock(&self, seconds: i64) {
        lock_inner(&self.inner).now = seconds;
    }

    /// Sets the free space that is reported. Writes do not use it up: a full disk is
    /// [`ModelFs::fail_at`] with `NOSPC`.
    pub fn set_free_bytes(&self, bytes: u64) {
        lock_inner(&self.inner).free = bytes;
    }

    /// Operation `number` (from 1) and every call after it fail, and nothing changes any more, as if the
    /// process had died.
    pub fn crash_at(&self, number: usize) {
        lock_inner(&self.inner).faults.crash = Some(number);
    }

    /// Operation `number` (from 1) fails, without effect but for two: a write that meets
    /// a full disk writes half of its bytes first, and after a failed sync what was to be synced is in doubt
    /// for ever.
    pub fn fail_at(&self, number: usize, errno: Errno) {
        lock_inner(&self.inner).faults.operations.insert(number, errno);
    }

    /// Call `number` (from 1, those counted that only read) fails without effect.
    pub fn fail_call(&self, number: u64, errno: Errno) {
        lock_inner(&self.inner).faults.calls.insert(number, errno);
    }

    /// Takes every fault back.
    pub fn clear_faults(&self) {
        let mut inner = lock_inner(&self.inner);
        inner.faults = ModelFaults::default();
        inner.dead = false;
    }

    /// How many operations there were since everything was durable.
    pub fn operations(&self) -> usize {
        lock_inner(&self.inner).trace.len()
    }

    /// How many calls there were since then, also those that only read.
    pub fn calls(&self) -> u64 {
        lock_inner(&self.inner).calls
    }

    /// Everything that is there now is durable; operations and calls are counted from here.
    pub fn mark_all_durable(&self) {
        let mut inner = lock_inner(&self.inner);
        inner.start = inner.state.clone();
        inner.trace.clear();
        inner.calls = 0;
    }

    /// The operations since then, one line each.
    pub fn trace(&self) -> Vec<String> {
        let inner = lock_inner(&self.inner);
        let lines = inner.trace.iter().enumerate();
        lines.map(|(index, op)| crash::describe_op(&inner.state, index, op)).collect()
    }

    /// A number for everything that can be read in the tree as it is now (not: times and inode
    /// numbers). Equal trees have equal numbers, in every run of the same build.
    pub fn fingerprint(&self) -> u64 {
        lock_inner(&self.inner).state.fingerprint()
    }

    /// The bytes and the permission bits of a file; `None` where there is none.
    pub fn file(&self, path: &str) -> Option<(Vec<u8>, u32)> {
        let inner = lock_inner(&self.inner);
        let inode = inner.state.get(inner.state.resolve(path).ok()?);
        match &inode.body {
            InodeBody::File(content) => Some((content.bytes.clone(), inode.mode)),
            _ => None,
        }
    }

    /// The whole tree as it is now.
    pub fn snapshot(&self) -> ModelSnapshot {
        let inner = lock_inner(&self.inner);
        let mut seen = ModelSnapshot::default();
        collect_snapshot(&inner.state, ROOT, "", &mut seen);
        seen
    }
}

fn collect_snapshot(state: &ModelState, dir: Ino, prefix: &str, seen: &mut ModelSnapshot) {
    let Ok(entries) = state.entries(dir) else { return };
    for entry in entries.values() {
        let path = format!("{prefix}{}", entry.name);
        let inode = state.get(entry.ino);
        match &inode.body {
            InodeBody::File(content) => {
                seen.files.insert(path, (content.bytes.clone(), inode.mode));
            }
            InodeBody::Dir(_) => {
                collect_snapshot(state, entry.ino, &format!("{path}/"), seen);
                seen.dir_modes.insert(path.clone(), inode.mode);
                seen.dirs.insert(path);
            }
            InodeBody::Link(target) => {
                seen.links.insert(path, target.to_string());
            }
            InodeBody::Pipe => {}
        }
    }
}

impl ModelInner {
    /// Counts a call, and fails it where that was asked for.
    fn begin_call(&mut self) -> io::Result<()> {
        if self.dead {
            return Err(io::Error::other(ModelCrashError));
        }
        self.calls += 1;
        self.faults.calls.get(&self.calls).map_or(Ok(()), |errno| Err((*errno).into()))
    }

    /// Makes a change, or fails it where that was asked for.
    fn perform(&mut self, effect: ModelEffect) -> io::Result<()> {
        let number = self.trace.len() + 1;
        if self.faults.crash.is_some_and(|crash| number >= crash) {
            self.dead = true;
            return Err(io::Error::other(ModelCrashError));
        }
        let Some(errno) = self.faults.operations.get(&number).copied() else {
            self.record(effect);
            return Ok(());
        };
        let left = match effect {
            ModelEffect::Write { ino, at, bytes }
                if matches!(errno, Errno::NOSPC | Errno::DQUOT) && bytes.len() > 1 =>
            {
                ModelEffect::Write { ino, at, bytes: bytes[..bytes.len() / 2].into() }
            }
            other => other.effect_after_failure(),
        };
        self.record(left);
        Err(errno.into())
    }

    fn record(&mut self, effect: ModelEffect) {
        self.state.apply(&effect, self.now);
        self.trace.push(ModelOp { effect, now: self.now });
    }

    fn put_body(&mut self, dir: Ino, name: &str, body: InodeBody, mode: u32) -> Ino {
        let ino = self.state.next_ino();
        let inode = Inode::new(body, mode, self.state.get(dir).dev, self.now);
        let slots = vec![operations::entry_change(&self.state, dir, name, Some(ino))];
        self.record(ModelEffect::Entries {
            call: ModelEntryCall::Put,
            new_inode: Some(Arc::new(inode)),
            changes: slots,
        });
        ino
    }

    /// The directory at a path, made if need be.
    fn make_dirs(&mut self, path: &str) -> io::Result<Ino> {
        let mut at = ROOT;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            at = match self.state.lookup(at, name)? {
                Some(found) => found,
                None => self.put_body(at, name, InodeBody::Dir(BTreeMap::new()), 0o755),
            };
            self.state.entries(at)?;
        }
        Ok(at)
    }

    /// The directory and the name that a path ends in.
    fn resolve_parent(&mut self, path: &str) -> io::Result<(Ino, String)> {
        let path = path.trim_matches('/');
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        Ok((self.make_dirs(dir)?, name.to_string()))
    }
}

impl ModelEffect {
    /// What is left of an effect that failed.
    fn effect_after_failure(&self) -> ModelEffect {
        match self {
            ModelEffect::SyncFile(ino) => ModelEffect::FailedSync(Some(*ino)),
            ModelEffect::SyncAll { .. } => ModelEffect::FailedSync(None),
            _ => ModelEffect::Nothing,
        }
    }
}

impl Default for ModelFs {
    fn default() -> ModelFs {
        ModelFs::new()
    }
}

impl Clone for ModelFs {
    fn clone(&self) -> ModelFs {
        let mut inner = lock_inner(&self.inner).clone();
        inner.locks.clear();
        ModelFs::from_inner(inner)
    }
}

impl fmt::Debug for ModelFs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = lock_inner(&self.inner);
        f.debug_struct("ModelFs").field("operations", &inner.trace.len()).finish_non_exhaustive()
    }
}
