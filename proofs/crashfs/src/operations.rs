//! The model as a file system: every call checks what the system would check, in its order, and
//! gives the system's own error numbers.
//!
//! Invariant: nothing changes except through [`ModelInner::perform`], where operations get their numbers
//! and the faults that a test asked for strike.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rustix::io::Errno;

use crate::state::{
    Ino, Inode, InodeBody, ModelDirEntry, ModelEffect, ModelEntryCall, ModelEntryChange, ModelFileContent,
    ModelState,
};
use crate::{ModelFs, ModelInner, lock_inner};
use relaycode_durable::fs::{
    DirMode, FileMode, Fs, FsAttribute, FsDir, FsFile, FsKind, FsLock, FsStat, RenameMode, not_regular_error,
    too_long_error,
};
use relaycode_durable::real::component;

/// An open directory of the model with that number.
struct ModelDirHandle {
    model: u64,
    ino: Ino,
}

/// An open file.
struct ModelFileHandle {
    model: u64,
    ino: Ino,
    /// Where the next write goes; `None`: behind the end.
    position: Option<AtomicU64>,
}

/// Lets go of a lock.
struct ModelLockGuard {
    inner: Arc<Mutex<ModelInner>>,
    ino: Ino,
}

impl Drop for ModelLockGuard {
    fn drop(&mut self) {
        lock_inner(&self.inner).locks.remove(&self.ino);
    }
}

impl ModelFs {
    fn dir_ino(&self, dir: &FsDir) -> io::Result<Ino> {
        let handle = dir.handle::<ModelDirHandle>()?;
        if handle.model == self.number { Ok(handle.ino) } else { Err(foreign_handle_error()) }
    }

    fn file_handle<'a>(&self, file: &'a FsFile) -> io::Result<&'a ModelFileHandle> {
        let handle = file.handle::<ModelFileHandle>()?;
        if handle.model == self.number { Ok(handle) } else { Err(foreign_handle_error()) }
    }

    fn new_dir(&self, ino: Ino) -> FsDir {
        FsDir::new(ModelDirHandle { model: self.number, ino })
    }

    fn new_file(&self, ino: Ino, position: Option<AtomicU64>) -> FsFile {
        FsFile::new(ModelFileHandle { model: self.number, ino, position })
    }

    fn try_lock_ino(&self, inner: &mut ModelInner, ino: Ino) -> Option<FsLock> {
        let free = inner.locks.insert(ino);
        free.then(|| FsLock::new(ModelLockGuard { inner: Arc::clone(&self.inner), ino }))
    }

    /// Runs a call that only looks.
    fn with_state<T>(&self, look: impl FnOnce(&ModelState) -> io::Result<T>) -> io::Result<T> {
        let mut inner = lock_inner(&self.inner);
        inner.begin_call()?;
        look(&inner.state)
    }

    /// Runs a call that changes something.
    fn with_inner<T>(&self, change: impl FnOnce(&mut ModelInner) -> io::Result<T>) -> io::Result<T> {
        let mut inner = lock_inner(&self.inner);
        inner.begin_call()?;
        change(&mut inner)
    }

    /// Runs a sync. One that fails, however that was asked for, leaves doubt about what came before.
    fn perform_sync(&self, sync: ModelEffect) -> io::Result<()> {
        let mut inner = lock_inner(&self.inner);
        if let Err(error) = inner.begin_call() {
            if !inner.dead {
                let failed = sync.effect_after_failure();
                inner.record(failed);
            }
            return Err(error);
        }
        inner.perform(sync)
    }
}

impl ModelInner {
    /// Makes a new inode and puts it at a free name.
    fn make(
        &mut self,
        dir: Ino,
        name: &str,
        body: InodeBody,
        mode: u32,
        what: ModelEntryCall,
    ) -> io::Result<Ino> {
        self.state.require_linked(dir)?;
        let ino = self.state.next_ino();
        let inode = Inode::new(body, mode, self.state.get(dir).dev, self.now);
        let slots = vec![entry_change(&self.state, dir, name, Some(ino))];
        self.perform(ModelEffect::Entries { call: what, new_inode: Some(Arc::new(inode)), changes: slots })?;
        Ok(ino)
    }
}

impl Fs for ModelFs {
    fn open_root(&self, path: &Path) -> io::Result<FsDir> {
        self.with_state(|state| {
            let ino = state.resolve(path.to_str().ok_or(Errno::NOENT)?)?;
            state.entries(ino)?;
            Ok(self.new_dir(ino))
        })
    }

    fn open_dir(&self, at: &FsDir, path: &str) -> io::Result<FsDir> {
        let mut at = self.dir_ino(at)?;
        self.with_state(|state| {
            for name in path.split('/') {
                at = state.find(at, component(name)?)?;
                match state.get(at).kind() {
                    FsKind::Dir => {}
                    FsKind::Link => return Err(Errno::LOOP.into()),
                    _ => return Err(Errno::NOTDIR.into()),
                }
            }
            Ok(self.new_dir(at))
        })
    }

    fn make_dir(&self, at: &FsDir, name: &str, mode: DirMode) -> io::Result<()> {
        let (at, name) = (self.dir_ino(at)?, component(name)?);
        let mode = match mode {
            DirMode::Private => 0o700,
            DirMode::Usual => 0o755,
            DirMode::Exact(bits) => bits & 0o7777,
        };
        self.with_inner(|inner| {
            if inner.state.lookup(at, name)?.is_some() {
                return Err(Errno::EXIST.into());
            }
            inner.make(at, name, InodeBody::Dir(BTreeMap::new()), mode, ModelEntryCall::MakeDir)?;
            Ok(())
        })
    }

    fn set_dir_mode(&self, at: &FsDir, name: &str, mode: u32) -> io::Result<()> {
        let at = self.dir_ino(at)?;
        self.with_inner(|inner| {
            let ino = if name == "." { at } else { inner.state.find(at, component(name)?)? };
            // As the system does with a link that may not be followed.
            if !inner.state.get(ino).is_dir() {
                return Err(Errno::NOTDIR.into());
            }
            inner.perform(ModelEffect::Mode { ino, mode: mode & 0o7777 })
        })
    }

    fn make_link(&self, at: &FsDir, name: &str, target: &[u8]) -> io::Result<()> {
        let (at, name) = (self.dir_ino(at)?, component(name)?);
        let target = std::str::from_utf8(target).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.with_inner(|inner| {
            if target.is_empty() {
                return Err(Errno::NOENT.into());
            }
            if inner.state.lookup(at, name)?.is_some() {
                return Err(Errno::EXIST.into());
            }
            inner.make(at, name, InodeBody::Link(target.into()), 0o777, ModelEntryCall::MakeLink)?;
            Ok(())
        })
    }

    fn read_link(&self, at: &FsDir, name: &str) -> io::Result<Vec<u8>> {
        let (at, name) = (self.dir_ino(at)?, component(name)?);
        self.with_state(|state| match &state.get(state.find(at, name)?).body {
            InodeBody::Link(target) => Ok(target.as_bytes().to_vec()),
            _ => Err(Errno::INVAL.into()),
        })
    }

    fn remove_dir(&self, at: &FsDir, name: &str) -> io::Result<()> {
        let (at, name) = (self.dir_ino(at)?, component(name)?);
        self.with_inner(|inner| {
            let state = &inner.state;
            let found = state.find(at, name)?;
            let empty = state.entries(found)?.is_empty();
            require_removable(state, at, found)?;
            if !empty {
                return Err(Errno::NOTEMPTY.into());
            }
            let slots = vec![entry_change(state, at, name, None)];
            inner.perform(ModelEffect::Entries {
                call: ModelEntryCall::RemoveDir,
                new_inode: None,
                changes: slots,
            })
        })
    }

    fn stat(&self, at: &FsDir, name: &str) -> io::Result<FsStat> {
        let (at, name) = (self.dir_ino(at)?, component(name)?);
        self.with_state(|state| Ok(state.stat(state.find(at, name)?)))
    }

    fn stat_dir(&self, dir: &FsDir) -> io::Result<FsStat> {
        let dir = self.dir_ino(dir)?;
        self.with_state(|state| Ok(state.stat(dir)))
    }

    fn read(&self, at: &FsDir, name: &str, most: u64) -> io::Result<(Vec<u8>, FsStat)> {
        let (at, name) = (self.dir_ino(at)?, component(name)?);
        self.with_state(|state| {
            let (ino, content) = find_regular(state, at, name)?;
            if content.bytes.len() as u64 > most {
                return Err(too_long_error());
            }
            Ok((content.bytes.clone(), state.stat(ino)))
        })
    }

    fn read_range(&self, at: &FsDir, name: &str, from: u64, most: usize) -> io::Result<Vec<u8>> {
        let (at, name) = (self.dir_ino(at)?, component(name)?);
        self.with_state(|state| {
            let (_, content) = find_regular(state, at, name)?;
            Ok(byte_range(&content.bytes, from, most))
        })
    }

    fn open_file(&self, at: &FsDir, name: &str) -> io::Result<FsFile> {
        let (at, name) = (self.dir_ino(at)?, component(name)?);
        self.with_state(|state| {
            let (ino, _) = find_regular(state, at, name)?;
            Ok(self.new_file(ino, None))
        })
    }

    fn read_at(&self, file: &FsFile, from: u64, most: usize) -> io::Result<Vec<u8>> {
        let ino = self.file_handle(file)?.ino;
        self.with_state(|state| match &state.get(ino).body {
            InodeBody::File(content) => Ok(byte_range(&content.bytes, from, most)),
            _ => Err(not_regular_error()),
        })
    }

    fn attributes(&self, at: &FsDir, name: &str) -> io::Result<Vec<FsAttribute>> {
        let (at, name) = (self.dir_ino(at)?, component(name)?);
        self.with_state(|state| {
            let (ino, _) = find_regular(state, at, name)?;
            let attributes = &state.get(ino).attributes;
            Ok(attributes.iter().map(|(name, value)| (name.clone(), value.to_vec())).collect())
        })
    }

    fn create(&self, at: &FsDir, name: &str, mode: FileMode) -> io::Result<FsFile> {
        let (at, name) = (self.dir_ino(at)?, component(name)?);
        let mode = match mode {
            FileMode::Private => 0o600,
            FileMode::Usual { executable: false } => 0o644,
            FileMode::Usual { executable: true } => 0o755,
        };
        self.with_inner(|inner| {
            if inner.state.lookup(at, name)?.is_some() {
                return Err(Errno::EXIST.into());
            }
            let ino = inner.make(at, name, InodeBody::File(Arc::default()), mode, ModelEntryCall::Create)?;
            Ok(self.new_file(ino, Some(AtomicU64::new(0))))
        })
    }

    fn open_append(&self, at: &FsDir, name: &str) -> io::Result<FsFile> {
        let (at, name) = (self.dir_ino(at)?, component(name)?);
        self.with_inner(|inner| {
            let ino = match inner.state.lookup(at, name)? {
                None => {
                    inner.make(at, name, InodeBody::File(Arc::default()), 0o600, ModelEntryCall::Create)?
                }
                Some(found) => require_writable(&inner.state, found)?,
            };
            Ok(self.new_file(ino, None))
        })
    }

    fn write(&self, file: &FsFile, bytes: &[u8]) -> io::Result<()> {
        let handle = self.file_handle(file)?;
        self.with_inner(|inner| {
            if bytes.is_empty() {
                return Ok(());
            }
            let at = match &handle.position {
                Some(position) => position.load(Ordering::Relaxed),
                None => inner.state.stat(handle.ino).len,
            };
            let before = inner.trace.len();
            let done = inner.perform(ModelEffect::Write { ino: handle.ino, at, bytes: bytes.into() });
            // A write that failed may have written some of it.
            if let (Some(position), Some(ModelEffect::Write { bytes, .. })) =
                (&handle.position, inner.trace.get(before).map(|op| &op.effect))
            {
                position.store(at + bytes.len() as u64, Ordering::Relaxed);
            }
            done
        })
    }

    fn truncate(&self, file: &FsFile, len: u64) -> io::Result<()> {
        let ino = self.file_handle(file)?.ino;
        self.with_inner(|inner| inner.perform(ModelEffect::Truncate { ino, len }))
    }

    fn stat_file(&self, file: &FsFile) -> io::Result<FsStat> {
        let ino = self.file_handle(file)?.ino;
        self.with_state(|state| Ok(state.stat(ino)))
    }

    fn set_mode(&self, file: &FsFile, mode: u32) -> io::Result<()> {
        let ino = self.file_handle(file)?.ino;
        self.with_inner(|inner| inner.perform(ModelEffect::Mode { ino, mode: mode & 0o7777 }))
    }

    fn set_owner(&self, file: &FsFile, uid: u32, gid: u32) -> io::Result<()> {
        let ino = self.file_handle(file)?.ino;
        self.with_inner(|inner| inner.perform(ModelEffect::Owner { ino, uid, gid }))
    }

    fn set_attribute(&self, file: &FsFile, name: &str, value: &[u8]) -> io::Result<()> {
        let ino = self.file_handle(file)?.ino;
        if !["user.", "trusted.", "security.", "system."].iter().any(|known| name.starts_with(known)) {
            return Err(Errno::OPNOTSUPP.into());
        }
        let (name, value) = (name.to_string(), value.into());
        self.with_inner(|inner| inner.perform(ModelEffect::Attribute { ino, name, value }))
    }

    fn sync_file(&self, file: &FsFile) -> io::Result<()> {
        self.perform_sync(ModelEffect::SyncFile(self.file_handle(file)?.ino))
    }

    fn sync_dir(&self, dir: &FsDir) -> io::Result<()> {
        self.perform_sync(ModelEffect::SyncDir(self.dir_ino(dir)?))
    }

    fn sync_all(&self, dir: &FsDir) -> io::Result<()> {
        let dir = self.dir_ino(dir)?;
        let dev = lock_inner(&self.inner).state.get(dir).dev;
        self.perform_sync(ModelEffect::SyncAll { dev })
    }

    fn rename(&self, from: &FsDir, old: &str, to: &FsDir, new: &str, how: RenameMode) -> io::Result<()> {
        let (from, old) = (self.dir_ino(from)?, component(old)?);
        let (to, new) = (self.dir_ino(to)?, component(new)?);
        self.with_inner(|inner| match rename_changes(&inner.state, (from, old), (to, new), how)? {
            Some(slots) => inner.perform(ModelEffect::Entries {
                call: ModelEntryCall::Rename(how),
                new_inode: None,
                changes: slots,
            }),
            None => Ok(()),
        })
    }

    fn remove_file(&self, at: &FsDir, name: &str) -> io::Result<()> {
        let (at, name) = (self.dir_ino(at)?, component(name)?);
        self.with_inner(|inner| {
            let found = inner.state.find(at, name)?;
            if inner.state.get(found).is_dir() {
                return Err(Errno::ISDIR.into());
            }
            require_removable(&inner.state, at, found)?;
            let slots = vec![entry_change(&inner.state, at, name, None)];
            inner.perform(ModelEffect::Entries {
                call: ModelEntryCall::RemoveFile,
                new_inode: None,
                changes: slots,
            })
        })
    }

    fn for_each_name(&self, at: &FsDir, see: &mut dyn FnMut(&str, FsKind)) -> io::Result<()> {
        let at = self.dir_ino(at)?;
        // Collected first, since what sees them may call the model again.
        let names = self.with_state(|state| {
            let entries = state.entries(at)?.values();
            Ok(entries
                .map(|entry| (Arc::clone(&entry.name), state.get(entry.ino).kind()))
                .collect::<Vec<_>>())
        })?;
        for (name, kind) in names {
            see(&name, kind);
        }
        Ok(())
    }

    fn try_lock(&self, at: &FsDir, name: &str) -> io::Result<Option<FsLock>> {
        let (at, name) = (self.dir_ino(at)?, component(name)?);
        self.with_inner(|inner| {
            let ino = match inner.state.lookup(at, name)? {
                None => {
                    inner.make(at, name, InodeBody::File(Arc::default()), 0o600, ModelEntryCall::Create)?
                }
                Some(found) => require_writable(&inner.state, found)?,
            };
            Ok(self.try_lock_ino(inner, ino))
        })
    }

    fn try_lock_existing(&self, at: &FsDir, name: &str) -> io::Result<Option<FsLock>> {
        let (at, name) = (self.dir_ino(at)?, component(name)?);
        self.with_inner(|inner| {
            let ino = require_writable(&inner.state, inner.state.find(at, name)?)?;
            Ok(self.try_lock_ino(inner, ino))
        })
    }

    fn free_bytes(&self, at: &FsDir) -> io::Result<u64> {
        self.dir_ino(at)?;
        self.with_inner(|inner| Ok(inner.free))
    }
}

fn foreign_handle_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the handle belongs to another file system")
}

pub(crate) fn entry_change(state: &ModelState, dir: Ino, name: &str, put: Option<Ino>) -> ModelEntryChange {
    ModelEntryChange {
        dir,
        key: state.key(name),
        put: put.map(|ino| ModelDirEntry { name: name.into(), ino }),
    }
}

/// At most so many bytes from a place on.
fn byte_range(bytes: &[u8], from: u64, most: usize) -> Vec<u8> {
    let from = usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len());
    bytes[from..from.saturating_add(most).min(bytes.len())].to_vec()
}

fn find_regular<'a>(state: &'a ModelState, dir: Ino, name: &str) -> io::Result<(Ino, &'a ModelFileContent)> {
    let ino = state.find(dir, name)?;
    match &state.get(ino).body {
        InodeBody::File(content) => Ok((ino, content)),
        InodeBody::Link(_) => Err(Errno::LOOP.into()),
        InodeBody::Dir(_) | InodeBody::Pipe => Err(not_regular_error()),
    }
}

/// A file that may be opened to be written.
fn require_writable(state: &ModelState, ino: Ino) -> io::Result<Ino> {
    let inode = state.get(ino);
    match inode.kind() {
        FsKind::Link => Err(Errno::LOOP.into()),
        FsKind::Dir => Err(Errno::ISDIR.into()),
        FsKind::Other => Err(not_regular_error()),
        FsKind::File if inode.immutable => Err(Errno::PERM.into()),
        FsKind::File => Ok(ino),
    }
}

/// Whether an entry may go from where it is.
fn require_removable(state: &ModelState, dir: Ino, ino: Ino) -> io::Result<()> {
    if state.get(ino).immutable || state.get(dir).immutable {
        return Err(Errno::PERM.into());
    }
    if state.get(ino).dev != state.get(dir).dev {
        return Err(Errno::BUSY.into());
    }
    Ok(())
}

/// What a rename changes; `None` where both names are the same file already.
fn rename_changes(
    state: &ModelState,
    (from, old): (Ino, &str),
    (to, new): (Ino, &str),
    how: RenameMode,
) -> io::Result<Option<Vec<ModelEntryChange>>> {
    if state.get(from).dev != state.get(to).dev {
        return Err(Errno::XDEV.into());
    }
    let source = state.find(from, old)?;
    let target = state.lookup(to, new)?;
    match (how, target) {
        (RenameMode::Exchange, _) if !state.can_exchange => return Err(Errno::INVAL.into()),
        (RenameMode::NoReplace, Some(_)) => return Err(Errno::EXIST.into()),
        (RenameMode::Exchange, None) => return Err(Errno::NOENT.into()),
        _ => {}
    }
    let source_is_dir = state.get(source).is_dir();
    if source_is_dir && state.is_above(source, to) {
        return Err(Errno::INVAL.into());
    }
    if let Some(target) = target.filter(|target| state.get(*target).is_dir())
        && state.is_above(target, from)
    {
        return Err(if how == RenameMode::Exchange { Errno::INVAL } else { Errno::NOTEMPTY }.into());
    }
    if target == Some(source) {
        // Two names of one file, or the same name in another case.
        let same_place =
            from == to && state.key(old) == state.key(new) && *existing_name(state, to, new) != *new;
        return Ok(same_place.then(|| vec![entry_change(state, to, new, Some(source))]));
    }
    state.require_linked(to)?;
    require_removable(state, from, source)?;
    if let Some(target) = target {
        require_removable(state, to, target)?;
        let target_is_dir = state.get(target).is_dir();
        if how == RenameMode::Exchange {
            let back = ModelDirEntry { name: existing_name(state, from, old), ino: target };
            let mut slots =
                vec![entry_change(state, from, old, None), entry_change(state, to, new, Some(source))];
            slots[0].put = Some(back);
            if let Some(entry) = &mut slots[1].put {
                entry.name = existing_name(state, to, new);
            }
            return Ok(Some(slots));
        }
        match (source_is_dir, target_is_dir) {
            (true, false) => return Err(Errno::NOTDIR.into()),
            (false, true) => return Err(Errno::ISDIR.into()),
            (true, true) if !state.entries(target)?.is_empty() => return Err(Errno::NOTEMPTY.into()),
            _ => {}
        }
    }
    Ok(Some(vec![entry_change(state, from, old, None), entry_change(state, to, new, Some(source))]))
}

/// The name that an entry has already, which may differ in case from the one it was found by.
fn existing_name(state: &ModelState, dir: Ino, name: &str) -> Arc<str> {
    state
        .entries(dir)
        .ok()
        .and_then(|entries| entries.get(&*state.key(name)))
        .map_or_else(|| name.into(), |entry| Arc::clone(&entry.name))
}
