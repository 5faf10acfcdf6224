//! The model as a file system: every call checks what the system would check, in its order, and
//! gives the system's own error numbers.
//!
//! Invariant: nothing changes except through [`Inner::perform`], where operations get their numbers
//! and the faults that a test asked for strike.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rustix::io::Errno;

use super::state::{Body, Content, Effect, Entry, Ino, Inode, Slot, State, What};
use super::{Inner, Model, guard};
use crate::fs::{
    Attribute, Dir, DirMode, File, FileMode, Fs, Kind, Lock, Rename, Stat, not_regular, too_long,
};
use crate::real::component;

/// An open directory of the model with that number.
struct DirHandle {
    model: u64,
    ino: Ino,
}

/// An open file.
struct FileHandle {
    model: u64,
    ino: Ino,
    /// Where the next write goes; `None`: behind the end.
    position: Option<AtomicU64>,
}

/// Lets go of a lock.
struct Held {
    inner: Arc<Mutex<Inner>>,
    ino: Ino,
}

impl Drop for Held {
    fn drop(&mut self) {
        guard(&self.inner).locks.remove(&self.ino);
    }
}

impl Model {
    fn at(&self, dir: &Dir) -> io::Result<Ino> {
        let handle = dir.handle::<DirHandle>()?;
        if handle.model == self.number { Ok(handle.ino) } else { Err(foreign()) }
    }

    fn opened<'a>(&self, file: &'a File) -> io::Result<&'a FileHandle> {
        let handle = file.handle::<FileHandle>()?;
        if handle.model == self.number { Ok(handle) } else { Err(foreign()) }
    }

    fn dir(&self, ino: Ino) -> Dir {
        Dir::new(DirHandle { model: self.number, ino })
    }

    fn handle(&self, ino: Ino, position: Option<AtomicU64>) -> File {
        File::new(FileHandle { model: self.number, ino, position })
    }

    fn locked(&self, inner: &mut Inner, ino: Ino) -> Option<Lock> {
        let free = inner.locks.insert(ino);
        free.then(|| Lock::new(Held { inner: Arc::clone(&self.inner), ino }))
    }

    /// Runs a call that only looks.
    fn looking<T>(&self, look: impl FnOnce(&State) -> io::Result<T>) -> io::Result<T> {
        let mut inner = guard(&self.inner);
        inner.enter()?;
        look(&inner.state)
    }

    /// Runs a call that changes something.
    fn changing<T>(&self, change: impl FnOnce(&mut Inner) -> io::Result<T>) -> io::Result<T> {
        let mut inner = guard(&self.inner);
        inner.enter()?;
        change(&mut inner)
    }

    /// Runs a sync. One that fails, however that was asked for, leaves doubt about what came before.
    fn syncing(&self, sync: Effect) -> io::Result<()> {
        let mut inner = guard(&self.inner);
        if let Err(error) = inner.enter() {
            if !inner.dead {
                let failed = sync.failed();
                inner.record(failed);
            }
            return Err(error);
        }
        inner.perform(sync)
    }
}

impl Inner {
    /// Makes a new inode and puts it at a free name.
    fn make(&mut self, dir: Ino, name: &str, body: Body, mode: u32, what: What) -> io::Result<Ino> {
        self.state.standing(dir)?;
        let ino = self.state.next();
        let inode = Inode::new(body, mode, self.state.get(dir).dev, self.now);
        let slots = vec![slot(&self.state, dir, name, Some(ino))];
        self.perform(Effect::Entries { what, made: Some(Arc::new(inode)), slots })?;
        Ok(ino)
    }
}

impl Fs for Model {
    fn open_root(&self, path: &Path) -> io::Result<Dir> {
        self.looking(|state| {
            let ino = state.resolve(path.to_str().ok_or(Errno::NOENT)?)?;
            state.entries(ino)?;
            Ok(self.dir(ino))
        })
    }

    fn open_dir(&self, at: &Dir, path: &str) -> io::Result<Dir> {
        let mut at = self.at(at)?;
        self.looking(|state| {
            for name in path.split('/') {
                at = state.find(at, component(name)?)?;
                match state.get(at).kind() {
                    Kind::Dir => {}
                    Kind::Link => return Err(Errno::LOOP.into()),
                    _ => return Err(Errno::NOTDIR.into()),
                }
            }
            Ok(self.dir(at))
        })
    }

    fn make_dir(&self, at: &Dir, name: &str, mode: DirMode) -> io::Result<()> {
        let (at, name) = (self.at(at)?, component(name)?);
        let mode = match mode {
            DirMode::Private => 0o700,
            DirMode::Usual => 0o755,
            DirMode::Exact(bits) => bits & 0o7777,
        };
        self.changing(|inner| {
            if inner.state.look(at, name)?.is_some() {
                return Err(Errno::EXIST.into());
            }
            inner.make(at, name, Body::Dir(BTreeMap::new()), mode, What::MakeDir)?;
            Ok(())
        })
    }

    fn set_dir_mode(&self, dir: &Dir, mode: u32) -> io::Result<()> {
        let ino = self.at(dir)?;
        self.changing(|inner| inner.perform(Effect::Mode { ino, mode: mode & 0o7777 }))
    }

    fn make_link(&self, at: &Dir, name: &str, target: &[u8]) -> io::Result<()> {
        let (at, name) = (self.at(at)?, component(name)?);
        let target = std::str::from_utf8(target).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.changing(|inner| {
            if target.is_empty() {
                return Err(Errno::NOENT.into());
            }
            if inner.state.look(at, name)?.is_some() {
                return Err(Errno::EXIST.into());
            }
            inner.make(at, name, Body::Link(target.into()), 0o777, What::MakeLink)?;
            Ok(())
        })
    }

    fn read_link(&self, at: &Dir, name: &str) -> io::Result<Vec<u8>> {
        let (at, name) = (self.at(at)?, component(name)?);
        self.looking(|state| match &state.get(state.find(at, name)?).body {
            Body::Link(target) => Ok(target.as_bytes().to_vec()),
            _ => Err(Errno::INVAL.into()),
        })
    }

    fn remove_dir(&self, at: &Dir, name: &str) -> io::Result<()> {
        let (at, name) = (self.at(at)?, component(name)?);
        self.changing(|inner| {
            let state = &inner.state;
            let found = state.find(at, name)?;
            let empty = state.entries(found)?.is_empty();
            leaving(state, at, found)?;
            if !empty {
                return Err(Errno::NOTEMPTY.into());
            }
            let slots = vec![slot(state, at, name, None)];
            inner.perform(Effect::Entries { what: What::RemoveDir, made: None, slots })
        })
    }

    fn stat(&self, at: &Dir, name: &str) -> io::Result<Stat> {
        let (at, name) = (self.at(at)?, component(name)?);
        self.looking(|state| Ok(state.stat(state.find(at, name)?)))
    }

    fn stat_dir(&self, dir: &Dir) -> io::Result<Stat> {
        let dir = self.at(dir)?;
        self.looking(|state| Ok(state.stat(dir)))
    }

    fn read(&self, at: &Dir, name: &str, most: u64) -> io::Result<(Vec<u8>, Stat)> {
        let (at, name) = (self.at(at)?, component(name)?);
        self.looking(|state| {
            let (ino, content) = regular(state, at, name)?;
            if content.bytes.len() as u64 > most {
                return Err(too_long());
            }
            Ok((content.bytes.clone(), state.stat(ino)))
        })
    }

    fn read_range(&self, at: &Dir, name: &str, from: u64, most: usize) -> io::Result<Vec<u8>> {
        let (at, name) = (self.at(at)?, component(name)?);
        self.looking(|state| {
            let (_, content) = regular(state, at, name)?;
            Ok(stretch(&content.bytes, from, most))
        })
    }

    fn open(&self, at: &Dir, name: &str) -> io::Result<File> {
        let (at, name) = (self.at(at)?, component(name)?);
        self.looking(|state| {
            let (ino, _) = regular(state, at, name)?;
            Ok(self.handle(ino, None))
        })
    }

    fn read_at(&self, file: &File, from: u64, most: usize) -> io::Result<Vec<u8>> {
        let ino = self.opened(file)?.ino;
        self.looking(|state| match &state.get(ino).body {
            Body::File(content) => Ok(stretch(&content.bytes, from, most)),
            _ => Err(not_regular()),
        })
    }

    fn attributes(&self, at: &Dir, name: &str) -> io::Result<Vec<Attribute>> {
        let (at, name) = (self.at(at)?, component(name)?);
        self.looking(|state| {
            let (ino, _) = regular(state, at, name)?;
            let attributes = &state.get(ino).attributes;
            Ok(attributes.iter().map(|(name, value)| (name.clone(), value.to_vec())).collect())
        })
    }

    fn create(&self, at: &Dir, name: &str, mode: FileMode) -> io::Result<File> {
        let (at, name) = (self.at(at)?, component(name)?);
        let mode = match mode {
            FileMode::Private => 0o600,
            FileMode::Usual { executable: false } => 0o644,
            FileMode::Usual { executable: true } => 0o755,
        };
        self.changing(|inner| {
            if inner.state.look(at, name)?.is_some() {
                return Err(Errno::EXIST.into());
            }
            let ino = inner.make(at, name, Body::File(Arc::default()), mode, What::Create)?;
            Ok(self.handle(ino, Some(AtomicU64::new(0))))
        })
    }

    fn append(&self, at: &Dir, name: &str) -> io::Result<File> {
        let (at, name) = (self.at(at)?, component(name)?);
        self.changing(|inner| {
            let ino = match inner.state.look(at, name)? {
                None => inner.make(at, name, Body::File(Arc::default()), 0o600, What::Create)?,
                Some(found) => writable(&inner.state, found)?,
            };
            Ok(self.handle(ino, None))
        })
    }

    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<()> {
        let handle = self.opened(file)?;
        self.changing(|inner| {
            if bytes.is_empty() {
                return Ok(());
            }
            let at = match &handle.position {
                Some(position) => position.load(Ordering::Relaxed),
                None => inner.state.stat(handle.ino).len,
            };
            let before = inner.trace.len();
            let done = inner.perform(Effect::Write { ino: handle.ino, at, bytes: bytes.into() });
            // A write that failed may have written some of it.
            if let (Some(position), Some(Effect::Write { bytes, .. })) =
                (&handle.position, inner.trace.get(before).map(|op| &op.effect))
            {
                position.store(at + bytes.len() as u64, Ordering::Relaxed);
            }
            done
        })
    }

    fn truncate(&self, file: &File, len: u64) -> io::Result<()> {
        let ino = self.opened(file)?.ino;
        self.changing(|inner| inner.perform(Effect::Truncate { ino, len }))
    }

    fn stat_file(&self, file: &File) -> io::Result<Stat> {
        let ino = self.opened(file)?.ino;
        self.looking(|state| Ok(state.stat(ino)))
    }

    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()> {
        let ino = self.opened(file)?.ino;
        self.changing(|inner| inner.perform(Effect::Mode { ino, mode: mode & 0o7777 }))
    }

    fn set_owner(&self, file: &File, uid: u32, gid: u32) -> io::Result<()> {
        let ino = self.opened(file)?.ino;
        self.changing(|inner| inner.perform(Effect::Owner { ino, uid, gid }))
    }

    fn set_attribute(&self, file: &File, name: &str, value: &[u8]) -> io::Result<()> {
        let ino = self.opened(file)?.ino;
        if !["user.", "trusted.", "security.", "system."].iter().any(|known| name.starts_with(known)) {
            return Err(Errno::OPNOTSUPP.into());
        }
        let (name, value) = (name.to_string(), value.into());
        self.changing(|inner| inner.perform(Effect::Attribute { ino, name, value }))
    }

    fn sync_file(&self, file: &File) -> io::Result<()> {
        self.syncing(Effect::SyncFile(self.opened(file)?.ino))
    }

    fn sync_dir(&self, dir: &Dir) -> io::Result<()> {
        self.syncing(Effect::SyncDir(self.at(dir)?))
    }

    fn sync_all(&self, dir: &Dir) -> io::Result<()> {
        let dir = self.at(dir)?;
        let dev = guard(&self.inner).state.get(dir).dev;
        self.syncing(Effect::SyncAll { dev })
    }

    fn rename(&self, from: &Dir, old: &str, to: &Dir, new: &str, how: Rename) -> io::Result<()> {
        let (from, old) = (self.at(from)?, component(old)?);
        let (to, new) = (self.at(to)?, component(new)?);
        self.changing(|inner| match moved(&inner.state, (from, old), (to, new), how)? {
            Some(slots) => inner.perform(Effect::Entries { what: What::Rename(how), made: None, slots }),
            None => Ok(()),
        })
    }

    fn remove_file(&self, at: &Dir, name: &str) -> io::Result<()> {
        let (at, name) = (self.at(at)?, component(name)?);
        self.changing(|inner| {
            let found = inner.state.find(at, name)?;
            if inner.state.get(found).is_dir() {
                return Err(Errno::ISDIR.into());
            }
            leaving(&inner.state, at, found)?;
            let slots = vec![slot(&inner.state, at, name, None)];
            inner.perform(Effect::Entries { what: What::RemoveFile, made: None, slots })
        })
    }

    fn each(&self, at: &Dir, see: &mut dyn FnMut(&str, Kind)) -> io::Result<()> {
        let at = self.at(at)?;
        // Collected first, since what sees them may call the model again.
        let names = self.looking(|state| {
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

    fn lock(&self, at: &Dir, name: &str) -> io::Result<Option<Lock>> {
        let (at, name) = (self.at(at)?, component(name)?);
        self.changing(|inner| {
            let ino = match inner.state.look(at, name)? {
                None => inner.make(at, name, Body::File(Arc::default()), 0o600, What::Create)?,
                Some(found) => writable(&inner.state, found)?,
            };
            Ok(self.locked(inner, ino))
        })
    }

    fn lock_existing(&self, at: &Dir, name: &str) -> io::Result<Option<Lock>> {
        let (at, name) = (self.at(at)?, component(name)?);
        self.changing(|inner| {
            let ino = writable(&inner.state, inner.state.find(at, name)?)?;
            Ok(self.locked(inner, ino))
        })
    }

    fn free_bytes(&self, at: &Dir) -> io::Result<u64> {
        self.at(at)?;
        self.changing(|inner| Ok(inner.free))
    }
}

fn foreign() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the handle belongs to another file system")
}

pub(super) fn slot(state: &State, dir: Ino, name: &str, put: Option<Ino>) -> Slot {
    Slot { dir, key: state.key(name), put: put.map(|ino| Entry { name: name.into(), ino }) }
}

/// At most so many bytes from a place on.
fn stretch(bytes: &[u8], from: u64, most: usize) -> Vec<u8> {
    let from = usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len());
    bytes[from..from.saturating_add(most).min(bytes.len())].to_vec()
}

fn regular<'a>(state: &'a State, dir: Ino, name: &str) -> io::Result<(Ino, &'a Content)> {
    let ino = state.find(dir, name)?;
    match &state.get(ino).body {
        Body::File(content) => Ok((ino, content)),
        Body::Link(_) => Err(Errno::LOOP.into()),
        Body::Dir(_) | Body::Pipe => Err(not_regular()),
    }
}

/// A file that may be opened to be written.
fn writable(state: &State, ino: Ino) -> io::Result<Ino> {
    let inode = state.get(ino);
    match inode.kind() {
        Kind::Link => Err(Errno::LOOP.into()),
        Kind::Dir => Err(Errno::ISDIR.into()),
        Kind::Other => Err(not_regular()),
        Kind::File if inode.immutable => Err(Errno::PERM.into()),
        Kind::File => Ok(ino),
    }
}

/// Whether an entry may go from where it is.
fn leaving(state: &State, dir: Ino, ino: Ino) -> io::Result<()> {
    if state.get(ino).immutable || state.get(dir).immutable {
        return Err(Errno::PERM.into());
    }
    if state.get(ino).dev != state.get(dir).dev {
        return Err(Errno::BUSY.into());
    }
    Ok(())
}

/// What a rename changes; `None` where both names are the same file already.
fn moved(
    state: &State,
    (from, old): (Ino, &str),
    (to, new): (Ino, &str),
    how: Rename,
) -> io::Result<Option<Vec<Slot>>> {
    if state.get(from).dev != state.get(to).dev {
        return Err(Errno::XDEV.into());
    }
    let source = state.find(from, old)?;
    let target = state.look(to, new)?;
    match (how, target) {
        (Rename::Exchange, _) if !state.can_exchange => return Err(Errno::INVAL.into()),
        (Rename::NoReplace, Some(_)) => return Err(Errno::EXIST.into()),
        (Rename::Exchange, None) => return Err(Errno::NOENT.into()),
        _ => {}
    }
    let source_is_dir = state.get(source).is_dir();
    if source_is_dir && state.is_above(source, to) {
        return Err(Errno::INVAL.into());
    }
    if let Some(target) = target.filter(|target| state.get(*target).is_dir())
        && state.is_above(target, from)
    {
        return Err(if how == Rename::Exchange { Errno::INVAL } else { Errno::NOTEMPTY }.into());
    }
    if target == Some(source) {
        // Two names of one file, or the same name in another case.
        let same_place = from == to && state.key(old) == state.key(new) && *display(state, to, new) != *new;
        return Ok(same_place.then(|| vec![slot(state, to, new, Some(source))]));
    }
    state.standing(to)?;
    leaving(state, from, source)?;
    if let Some(target) = target {
        leaving(state, to, target)?;
        let target_is_dir = state.get(target).is_dir();
        if how == Rename::Exchange {
            let back = Entry { name: display(state, from, old), ino: target };
            let mut slots = vec![slot(state, from, old, None), slot(state, to, new, Some(source))];
            slots[0].put = Some(back);
            if let Some(entry) = &mut slots[1].put {
                entry.name = display(state, to, new);
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
    Ok(Some(vec![slot(state, from, old, None), slot(state, to, new, Some(source))]))
}

/// The name that an entry has already, which may differ in case from the one it was found by.
fn display(state: &State, dir: Ino, name: &str) -> Arc<str> {
    state
        .entries(dir)
        .ok()
        .and_then(|entries| entries.get(&*state.key(name)))
        .map_or_else(|| name.into(), |entry| Arc::clone(&entry.name))
}
