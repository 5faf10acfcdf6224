//! The tree that the model holds, and the effects that change it.
//!
//! Invariant: a state is a value. Copying one costs a reference count; changing a copy leaves the
//! original as it was, and file bytes are shared between all states that have them. Numbers of
//! inodes are never used twice, so an effect means the same on every state it is applied to.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io;
use std::sync::{Arc, OnceLock};

use rustix::io::Errno;

use relaycode_durable::fs::{FsKind, FsStat, RenameMode};

/// The number of an inode: its place in [`ModelState::inodes`].
pub(crate) type Ino = usize;

/// The directory at `/`.
pub(crate) const ROOT: Ino = 0;

/// Longest name of an entry, as on every common file system.
const NAME_MAX: usize = 255;

/// A whole tree.
#[derive(Debug, Clone)]
pub(crate) struct ModelState {
    inodes: Arc<Vec<Arc<Inode>>>,
    /// Names that differ in case alone are the same name.
    ignore_case: bool,
    /// Two entries can change places in one step.
    pub(crate) can_exchange: bool,
}

/// What stands behind a name.
#[derive(Debug, Clone)]
pub(crate) struct Inode {
    pub(crate) body: InodeBody,
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) links: u64,
    pub(crate) dev: u64,
    pub(crate) modified: i64,
    pub(crate) immutable: bool,
    pub(crate) attributes: BTreeMap<String, Arc<[u8]>>,
    /// Where it was put last.
    pub(crate) parent: Ino,
}

/// What an inode holds.
#[derive(Debug, Clone)]
pub(crate) enum InodeBody {
    File(Arc<ModelFileContent>),
    Dir(BTreeMap<Arc<str>, ModelDirEntry>),
    Link(Arc<str>),
    Pipe,
}

/// An entry of a directory, found by its name (folded where case is ignored).
#[derive(Debug, Clone)]
pub(crate) struct ModelDirEntry {
    pub(crate) name: Arc<str>,
    pub(crate) ino: Ino,
}

/// The bytes of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelFileContent {
    pub(crate) bytes: Vec<u8>,
    hash: OnceLock<u64>,
}

/// One place in one directory, and what stands there from now on.
#[derive(Debug, Clone)]
pub(crate) struct ModelEntryChange {
    pub(crate) dir: Ino,
    pub(crate) key: Arc<str>,
    pub(crate) put: Option<ModelDirEntry>,
}

/// Which call changed entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelEntryCall {
    MakeDir,
    RemoveDir,
    MakeLink,
    Create,
    RemoveFile,
    Rename(RenameMode),
    /// Put there by the test itself.
    Put,
}

/// One change, complete enough to be made again on another state.
#[derive(Debug, Clone)]
pub(crate) enum ModelEffect {
    /// Entries of one or two directories change in one step; `made` is a new inode.
    Entries {
        call: ModelEntryCall,
        new_inode: Option<Arc<Inode>>,
        changes: Vec<ModelEntryChange>,
    },
    Write {
        ino: Ino,
        at: u64,
        bytes: Arc<[u8]>,
    },
    Truncate {
        ino: Ino,
        len: u64,
    },
    Mode {
        ino: Ino,
        mode: u32,
    },
    Owner {
        ino: Ino,
        uid: u32,
        gid: u32,
    },
    Attribute {
        ino: Ino,
        name: String,
        value: Arc<[u8]>,
    },
    SyncFile(Ino),
    SyncDir(Ino),
    SyncAll {
        dev: u64,
    },
    /// A sync that failed: what was written before may never reach the disk, also not by another sync.
    /// `None` stands for every file.
    FailedSync(Option<Ino>),
    /// An operation that was made to fail.
    Nothing,
}

impl ModelFileContent {
    pub(crate) fn new(bytes: Vec<u8>) -> Arc<ModelFileContent> {
        Arc::new(ModelFileContent { bytes, hash: OnceLock::new() })
    }

    fn hash(&self) -> u64 {
        *self.hash.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            hasher.write(&self.bytes);
            hasher.finish()
        })
    }
}

impl Inode {
    pub(crate) fn new(body: InodeBody, mode: u32, dev: u64, now: i64) -> Inode {
        Inode {
            body,
            mode,
            uid: 1000,
            gid: 1000,
            links: 0,
            dev,
            modified: now,
            immutable: false,
            attributes: BTreeMap::new(),
            parent: ROOT,
        }
    }

    pub(crate) fn kind(&self) -> FsKind {
        match self.body {
            InodeBody::File(_) => FsKind::File,
            InodeBody::Dir(_) => FsKind::Dir,
            InodeBody::Link(_) => FsKind::Link,
            InodeBody::Pipe => FsKind::Other,
        }
    }

    pub(crate) fn is_dir(&self) -> bool {
        matches!(self.body, InodeBody::Dir(_))
    }

    fn entries_mut(&mut self) -> Option<&mut BTreeMap<Arc<str>, ModelDirEntry>> {
        match &mut self.body {
            InodeBody::Dir(entries) => Some(entries),
            _ => None,
        }
    }
}

impl ModelState {
    pub(crate) fn new(ignore_case: bool) -> ModelState {
        let mut root = Inode::new(InodeBody::Dir(BTreeMap::new()), 0o755, 1, 0);
        root.links = 1;
        ModelState { inodes: Arc::new(vec![Arc::new(root)]), ignore_case, can_exchange: true }
    }

    pub(crate) fn get(&self, ino: Ino) -> &Inode {
        &self.inodes[ino]
    }

    pub(crate) fn inode_mut(&mut self, ino: Ino) -> &mut Inode {
        Arc::make_mut(&mut Arc::make_mut(&mut self.inodes)[ino])
    }

    /// The number that the next new inode gets.
    pub(crate) fn next_ino(&self) -> Ino {
        self.inodes.len()
    }

    pub(crate) fn key(&self, name: &str) -> Arc<str> {
        if self.ignore_case { name.to_lowercase().into() } else { name.into() }
    }

    /// The entries of a directory that still has a name.
    pub(crate) fn entries(&self, dir: Ino) -> io::Result<&BTreeMap<Arc<str>, ModelDirEntry>> {
        match &self.get(dir).body {
            InodeBody::Dir(entries) => Ok(entries),
            _ => Err(Errno::NOTDIR.into()),
        }
    }

    /// What stands at a name, if anything does.
    pub(crate) fn lookup(&self, dir: Ino, name: &str) -> io::Result<Option<Ino>> {
        if name.len() > NAME_MAX {
            return Err(Errno::NAMETOOLONG.into());
        }
        let entries = self.entries(dir)?;
        let found = if self.ignore_case { entries.get(&*self.key(name)) } else { entries.get(name) };
        Ok(found.map(|entry| entry.ino))
    }

    /// What stands at a name.
    pub(crate) fn find(&self, dir: Ino, name: &str) -> io::Result<Ino> {
        self.lookup(dir, name)?.ok_or_else(|| Errno::NOENT.into())
    }

    /// Nothing can be made in a directory that was removed while it was open.
    pub(crate) fn require_linked(&self, dir: Ino) -> io::Result<()> {
        if self.get(dir).links == 0 { Err(Errno::NOENT.into()) } else { Ok(()) }
    }

    /// Follows a path from the root, through links.
    pub(crate) fn resolve(&self, path: &str) -> io::Result<Ino> {
        self.resolve_from(ROOT, path, 40)
    }

    fn resolve_from(&self, from: Ino, path: &str, links: u32) -> io::Result<Ino> {
        let mut at = if path.starts_with('/') { ROOT } else { from };
        for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
            if name == ".." {
                at = self.get(at).parent;
                continue;
            }
            let found = self.find(at, name)?;
            at = match &self.get(found).body {
                InodeBody::Link(_) if links == 0 => return Err(Errno::LOOP.into()),
                InodeBody::Link(target) => self.resolve_from(at, target, links - 1)?,
                _ => found,
            };
        }
        Ok(at)
    }

    /// The path of a directory, as it was put last; empty for the root.
    pub(crate) fn path(&self, dir: Ino) -> String {
        let (mut names, mut at) = (Vec::new(), dir);
        // A directory is nowhere deeper than there are inodes; a removed one has no name any more.
        while at != ROOT && names.len() < self.inodes.len() {
            let parent = self.get(at).parent;
            let name = self
                .entries(parent)
                .ok()
                .and_then(|entries| entries.values().find(|entry| entry.ino == at))
                .map_or_else(|| format!("(inode {})", at + 1), |entry| entry.name.to_string());
            names.push(name);
            at = parent;
        }
        names.reverse();
        names.join("/")
    }

    /// Whether `ancestor` is `dir` itself or above it.
    pub(crate) fn is_above(&self, ancestor: Ino, dir: Ino) -> bool {
        let mut at = dir;
        for _ in 0..self.inodes.len() {
            if at == ancestor {
                return true;
            }
            if at == ROOT {
                return false;
            }
            at = self.get(at).parent;
        }
        false
    }

    pub(crate) fn stat(&self, ino: Ino) -> FsStat {
        let inode = self.get(ino);
        let len = match &inode.body {
            InodeBody::File(content) => content.bytes.len(),
            InodeBody::Link(target) => target.len(),
            InodeBody::Dir(_) => 4096,
            InodeBody::Pipe => 0,
        };
        FsStat {
            kind: inode.kind(),
            len: len as u64,
            mode: inode.mode,
            uid: inode.uid,
            gid: inode.gid,
            links: if inode.is_dir() { 2 } else { inode.links },
            dev: inode.dev,
            ino: ino as u64 + 1,
            modified: inode.modified,
            immutable: inode.immutable,
        }
    }

    /// Makes one change. Effects were checked when they were made: here nothing can fail.
    pub(crate) fn apply(&mut self, effect: &ModelEffect, now: i64) {
        match effect {
            ModelEffect::Entries { new_inode: made, changes: slots, .. } => {
                self.add_inode(made.as_ref());
                self.apply_changes(slots, now);
            }
            ModelEffect::Write { ino, at, bytes } => self.write(*ino, *at, bytes, now),
            ModelEffect::Truncate { ino, len } => {
                self.change_bytes(*ino, now, |old| old.resize(length(*len), 0));
            }
            ModelEffect::Mode { ino, mode } => self.inode_mut(*ino).mode = *mode,
            ModelEffect::Owner { ino, uid, gid } => {
                let inode = self.inode_mut(*ino);
                (inode.uid, inode.gid) = (*uid, *gid);
            }
            ModelEffect::Attribute { ino, name, value } => {
                self.inode_mut(*ino).attributes.insert(name.clone(), Arc::clone(value));
            }
            ModelEffect::SyncFile(_)
            | ModelEffect::SyncDir(_)
            | ModelEffect::SyncAll { .. }
            | ModelEffect::FailedSync(_)
            | ModelEffect::Nothing => {}
        }
    }

    /// Adds a new inode, which has no name yet.
    pub(crate) fn add_inode(&mut self, made: Option<&Arc<Inode>>) {
        if let Some(inode) = made {
            Arc::make_mut(&mut self.inodes).push(Arc::clone(inode));
        }
    }

    /// Changes entries.
    pub(crate) fn apply_changes(&mut self, slots: &[ModelEntryChange], now: i64) {
        for slot in slots {
            let dir = self.inode_mut(slot.dir);
            dir.modified = now;
            let old = dir.entries_mut().and_then(|entries| entries.remove(&slot.key));
            if let Some(old) = old {
                let links = &mut self.inode_mut(old.ino).links;
                *links = links.saturating_sub(1);
            }
        }
        for slot in slots {
            let Some(entry) = &slot.put else { continue };
            if let Some(entries) = self.inode_mut(slot.dir).entries_mut() {
                entries.insert(Arc::clone(&slot.key), entry.clone());
            }
            let inode = self.inode_mut(entry.ino);
            inode.links += 1;
            inode.parent = slot.dir;
        }
    }

    /// Writes bytes at a place, with zeros in a gap before it.
    pub(crate) fn write(&mut self, ino: Ino, at: u64, bytes: &[u8], now: i64) {
        let at = length(at);
        self.change_bytes(ino, now, |old| {
            let end = at + bytes.len();
            if old.len() < end {
                old.resize(end, 0);
            }
            old[at..end].copy_from_slice(bytes);
        });
    }

    fn change_bytes(&mut self, ino: Ino, now: i64, change: impl FnOnce(&mut Vec<u8>)) {
        let inode = self.inode_mut(ino);
        inode.modified = now;
        if let InodeBody::File(content) = &mut inode.body {
            let content = Arc::make_mut(content);
            content.hash = OnceLock::new();
            change(&mut content.bytes);
        }
    }

    /// A number for everything that can be read in the tree: names, kinds, bytes, modes, owners,
    /// attributes. Times and inode numbers do not count.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash_inode(ROOT, &mut hasher);
        hasher.finish()
    }

    fn hash_inode(&self, ino: Ino, hasher: &mut DefaultHasher) {
        let inode = self.get(ino);
        (inode.mode, inode.uid, inode.gid, inode.immutable).hash(hasher);
        if !inode.attributes.is_empty() {
            inode.attributes.hash(hasher);
        }
        match &inode.body {
            InodeBody::File(content) => (0u8, content.bytes.len(), content.hash()).hash(hasher),
            InodeBody::Link(target) => (1u8, target).hash(hasher),
            InodeBody::Pipe => 2u8.hash(hasher),
            InodeBody::Dir(entries) => {
                (3u8, entries.len()).hash(hasher);
                for entry in entries.values() {
                    entry.name.hash(hasher);
                    self.hash_inode(entry.ino, hasher);
                }
            }
        }
    }
}

/// A length as an index; what no memory could hold is cut to what it could not hold either.
fn length(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}
