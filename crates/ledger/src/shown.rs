//! What was shown to a model: the texts that relay handed out, so that an answer which was written
//! against one of them can still be merged after the file has moved on.
//!
//! `.relaycode/seen/` has the texts, each named by its digest, and a log of which text was shown of
//! which file and when. Nothing here decides anything: what is missing, damaged, too long or not ours
//! is ignored, never followed, and never an error for whoever reads. A crash can lose an entry, not
//! make one up, because a text counts only if it is what its name says.

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use relaycode_change::path::RelPath;
use relaycode_change::plan::Seen;
use relaycode_durable::fs::{DirMode, FileMode};
use relaycode_durable::log::{self, AppendLog, LogError};
use relaycode_durable::{Dir, Fs, Kind, Rename, atomic};
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::{LedgerError, cannot};
use crate::ledger::Ledger;
use crate::state::{self, State};

/// The directory.
const NAME: &str = "seen";
/// Its path beneath the root, for messages.
const PATH: &str = ".relaycode/seen";
/// The log in it.
const LOG: &str = "log";
/// What a file is called until it is whole.
const SCRATCH: &str = "new";

/// Texts that are kept of one file.
pub const VERSIONS: usize = 8;
/// A longer text is not kept.
pub const TEXT_BYTES: u64 = 1024 * 1024;
/// All texts together: 64 MiB.
pub const ALL_BYTES: u64 = 64 * 1024 * 1024;
/// Texts are kept for 30 days.
pub const SECONDS: u64 = 30 * 24 * 60 * 60;
/// Entries that the log may have when it is tidied.
pub const ENTRIES: usize = 4_096;
/// Entries that are read at all: the log may grow between two tidyings, but not without end.
const ENTRIES_READ: usize = 4 * ENTRIES;
/// Bytes of entries that are read at all.
const LOG_BYTES: usize = 16 * 1024 * 1024;

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// When, in seconds since 1970.
    time: u64,
    /// The file.
    path: String,
    /// Its text.
    text: Digest,
}

/// The texts that were shown, newest first. They are read when they are asked for.
pub struct Shown {
    fs: Arc<dyn Fs>,
    /// `None`: nothing was ever shown.
    dir: Option<Dir>,
    texts: HashMap<String, Vec<Digest>>,
}

impl Seen for Shown {
    fn texts(&self, path: &RelPath) -> Vec<String> {
        let Some(dir) = &self.dir else { return Vec::new() };
        let digests = self.texts.get(path.as_str()).into_iter().flatten();
        digests.filter_map(|digest| text(&*self.fs, dir, *digest)).collect()
    }
}

impl Ledger {
    /// Remembers that a model was shown these files. Only texts in UTF-8 of at most [`TEXT_BYTES`] are
    /// kept, the newest [`VERSIONS`] of each file.
    ///
    /// # Errors
    /// `Busy` if another relay is writing; the system's.
    pub fn remember_shown(&self, files: &[(RelPath, Vec<u8>)], now_seconds: u64) -> Result<(), LedgerError> {
        let fits = |bytes: &[u8]| bytes.len() as u64 <= TEXT_BYTES && std::str::from_utf8(bytes).is_ok();
        let files: Vec<_> = files.iter().filter(|(_, bytes)| fits(bytes)).collect();
        if files.is_empty() {
            return Ok(());
        }
        let state = State::create(&self.fs, &self.root).map_err(cannot("make", state::NAME))?;
        let _project = self.lock(&state)?;
        let fs = state.fs();
        let dir = make(fs, &state).map_err(cannot("make", PATH))?;
        let known = entries(fs, &dir);
        for (path, bytes) in files {
            let digest = Digest::of(bytes);
            put(fs, &dir, digest, bytes).map_err(cannot("write", PATH))?;
            let newest = known.iter().find(|entry| entry.path == path.as_str());
            if newest.is_some_and(|entry| entry.text == digest && entry.time == now_seconds) {
                continue;
            }
            let entry = Entry { time: now_seconds, path: path.to_string(), text: digest };
            append(fs, &dir, &entry)?;
        }
        tidy(fs, &dir, now_seconds).map(drop)
    }

    /// The texts that were shown. Costs nothing where none were; what cannot be read was not shown.
    pub fn shown(&self) -> Shown {
        let dir = self.state().ok().flatten().and_then(|state| open(state.fs(), &state).ok().flatten());
        let mut texts: HashMap<String, Vec<Digest>> = HashMap::new();
        if let Some(dir) = &dir {
            for entry in entries(&*self.fs, dir) {
                let versions = texts.entry(entry.path).or_default();
                if versions.len() < VERSIONS && !versions.contains(&entry.text) {
                    versions.push(entry.text);
                }
            }
        }
        Shown { fs: Arc::clone(&self.fs), dir, texts }
    }
}

/// Removes what is too old or too much; says how many texts went. Whoever calls this holds the project's
/// lock.
pub(crate) fn collect(state: &State, now_seconds: u64) -> Result<usize, LedgerError> {
    match open(state.fs(), state) {
        Ok(Some(dir)) => tidy(state.fs(), &dir, now_seconds),
        // Something else has the name: it is none of ours.
        Ok(None) | Err(_) => Ok(0),
    }
}

fn open(fs: &dyn Fs, state: &State) -> io::Result<Option<Dir>> {
    match fs.open_dir(state.dir(), NAME) {
        Ok(dir) => Ok(Some(dir)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn make(fs: &dyn Fs, state: &State) -> io::Result<Dir> {
    match fs.make_dir(state.dir(), NAME, DirMode::Private) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    fs.open_dir(state.dir(), NAME)
}

/// Writes a text under its name. It need not be durable: one that a power cut spoils does not match its
/// name, and is ignored.
fn put(fs: &dyn Fs, dir: &Dir, digest: Digest, bytes: &[u8]) -> io::Result<()> {
    if text(fs, dir, digest).is_some() {
        return Ok(());
    }
    remove(fs, dir, SCRATCH)?;
    let file = fs.create(dir, SCRATCH, FileMode::Private)?;
    fs.write(&file, bytes)?;
    fs.rename(dir, SCRATCH, dir, &digest.to_string(), Rename::Replace)
}

/// A text, if it is there and is what its name says.
fn text(fs: &dyn Fs, dir: &Dir, digest: Digest) -> Option<String> {
    let (bytes, _) = fs.read(dir, &digest.to_string(), TEXT_BYTES).ok()?;
    (Digest::of(&bytes) == digest).then(|| String::from_utf8(bytes).ok()).flatten()
}

fn append(fs: &dyn Fs, dir: &Dir, entry: &Entry) -> Result<(), LedgerError> {
    let failed = cannot("write", &format!("{PATH}/{LOG}"));
    if !has_log(fs, dir) {
        // Whatever has the name is no log of ours, and a pipe would be waited for.
        remove(fs, dir, LOG).map_err(cannot("remove", &format!("{PATH}/{LOG}")))?;
    }
    let json = serde_json::to_string(entry).unwrap_or_default();
    match AppendLog::new(fs, dir, LOG).append(json.as_bytes(), false) {
        Err(LogError::Io(source)) => Err(failed(source)),
        // A path of a megabyte: nobody was shown that.
        Err(_) | Ok(()) => Ok(()),
    }
}

fn has_log(fs: &dyn Fs, dir: &Dir) -> bool {
    fs.stat(dir, LOG).is_ok_and(|stat| stat.kind == Kind::File)
}

/// What the log has, newest first. What is not an entry is left out; what lies behind damage is lost.
fn entries(fs: &dyn Fs, dir: &Dir) -> Vec<Entry> {
    let mut entries = Vec::new();
    if !has_log(fs, dir) {
        return entries;
    }
    let (mut seen, mut bytes) = (0, 0);
    // An error ends it, like its beginning.
    let _ = AppendLog::new(fs, dir, LOG).read_back(&mut |json| {
        seen += 1;
        bytes += json.len();
        let entry = serde_json::from_slice(json).ok();
        let named = |entry: &Entry| RelPath::parse(&entry.path).is_ok_and(|path| path.as_str() == entry.path);
        entries.extend(entry.filter(named));
        if seen < ENTRIES_READ && bytes < LOG_BYTES {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    entries
}

/// Drops entries that are too old or too many, and texts that no entry names.
fn tidy(fs: &dyn Fs, dir: &Dir, now_seconds: u64) -> Result<usize, LedgerError> {
    let all = entries(fs, dir);
    let mut versions: HashMap<&str, Vec<Digest>> = HashMap::new();
    let mut texts: HashSet<Digest> = HashSet::new();
    let mut bytes = 0;
    let mut kept: Vec<&Entry> = Vec::new();
    for entry in &all {
        let own = versions.entry(&entry.path).or_default();
        let young = now_seconds.saturating_sub(entry.time) <= SECONDS;
        if !young || kept.len() == ENTRIES || own.len() == VERSIONS || own.contains(&entry.text) {
            continue;
        }
        let Some(size) = size(fs, dir, entry.text) else { continue };
        let more = if texts.contains(&entry.text) { 0 } else { size };
        if bytes + more > ALL_BYTES {
            continue;
        }
        bytes += more;
        texts.insert(entry.text);
        own.push(entry.text);
        kept.push(entry);
    }
    if kept.len() < all.len() {
        let lines = kept.iter().rev().map(|entry| serde_json::to_string(entry).unwrap_or_default());
        let whole: Vec<u8> = lines.flat_map(|json| log::entry(json.as_bytes())).collect();
        let failed = cannot("write", &format!("{PATH}/{LOG}"));
        atomic::write(fs, (dir, SCRATCH), (dir, LOG), &whole).map_err(|error| failed(error.source))?;
    }
    let mut gone = 0;
    for (name, kind) in fs.list(dir).map_err(cannot("list", PATH))? {
        let named = Digest::parse(&name).is_some_and(|digest| texts.contains(&digest));
        if kind == Kind::File && name != LOG && !named {
            remove(fs, dir, &name).map_err(cannot("remove", PATH))?;
            gone += usize::from(name != SCRATCH);
        }
    }
    Ok(gone)
}

/// How many bytes a text has; `None` if it is none.
fn size(fs: &dyn Fs, dir: &Dir, digest: Digest) -> Option<u64> {
    let stat = fs.stat(dir, &digest.to_string()).ok()?;
    (stat.kind == Kind::File && stat.len <= TEXT_BYTES).then_some(stat.len)
}

fn remove(fs: &dyn Fs, dir: &Dir, name: &str) -> io::Result<()> {
    match fs.remove_file(dir, name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
