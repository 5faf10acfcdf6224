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

use relaycode_change::plan::SeenTexts;
use relaycode_change::proposal::path::RelPath;
use relaycode_durable::append_log::{self, AppendLog, LogError};
use relaycode_durable::{DirMode, FileMode, Fs, FsDir, FsKind, RenameMode, atomic, if_found};
use serde::{Deserialize, Serialize};

use crate::disk::{Digest, StateDir};
use crate::{IoContext, Ledger, LedgerResult, io_error};

/// The directory.
const NAME: &str = "seen";
/// Its path beneath the root, for messages.
const PATH: &str = ".relaycode/seen";
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
struct ShownTextEntry {
    /// When, in seconds since 1970.
    time: u64,
    path: String,
    text: Digest,
}

/// The texts that were shown, newest first. They are read when they are asked for.
pub struct ShownTexts {
    fs: Arc<dyn Fs>,
    /// `None`: nothing was ever shown.
    dir: Option<FsDir>,
    texts: HashMap<String, Vec<Digest>>,
}

impl SeenTexts for ShownTexts {
    fn texts(&self, path: &RelPath) -> Vec<String> {
        let Some(dir) = &self.dir else { return Vec::new() };
        let digests = self.texts.get(path.as_str()).into_iter().flatten();
        digests.filter_map(|digest| read_text(&*self.fs, dir, *digest)).collect()
    }
}

impl Ledger {
    /// Remembers that a model was shown these files. Only texts in UTF-8 of at most [`TEXT_BYTES`] are
    /// kept, the newest [`VERSIONS`] of each file.
    ///
    /// # Errors
    /// `Busy` if another relay is writing; the system's.
    pub fn remember_shown(&self, files: &[(RelPath, Vec<u8>)], now_seconds: u64) -> LedgerResult<()> {
        let fits = |bytes: &[u8]| bytes.len() as u64 <= TEXT_BYTES && std::str::from_utf8(bytes).is_ok();
        let files: Vec<_> = files.iter().filter(|(_, bytes)| fits(bytes)).collect();
        if files.is_empty() {
            return Ok(());
        }
        let state = self.make_state()?;
        let _project = self.lock_project(&state)?;
        let fs = state.fs();
        let dir = make_directory(fs, &state).context("make", PATH)?;
        let known = read_entries(fs, &dir);
        for (path, bytes) in files {
            let digest = Digest::of(bytes);
            write_text(fs, &dir, digest, bytes).context("write", PATH)?;
            let newest = known.iter().find(|entry| entry.path == path.as_str());
            if newest.is_some_and(|entry| entry.text == digest && entry.time == now_seconds) {
                continue;
            }
            let entry = ShownTextEntry { time: now_seconds, path: path.to_string(), text: digest };
            append_entry(fs, &dir, &entry)?;
        }
        remove_expired(fs, &dir, now_seconds).map(drop)
    }

    /// The texts that were shown. Costs nothing where none were; what cannot be read was not shown.
    pub fn shown_texts(&self) -> ShownTexts {
        let dir =
            self.state().ok().flatten().and_then(|state| open_directory(state.fs(), &state).ok().flatten());
        let mut texts: HashMap<String, Vec<Digest>> = HashMap::new();
        if let Some(dir) = &dir {
            for entry in read_entries(&*self.fs, dir) {
                let versions = texts.entry(entry.path).or_default();
                if versions.len() < VERSIONS && !versions.contains(&entry.text) {
                    versions.push(entry.text);
                }
            }
        }
        ShownTexts { fs: Arc::clone(&self.fs), dir, texts }
    }
}

/// Removes what is too old or too much; says how many texts went. Whoever calls this holds the project's
/// lock.
pub(crate) fn collect(state: &StateDir, now_seconds: u64) -> LedgerResult<usize> {
    match open_directory(state.fs(), state) {
        Ok(Some(dir)) => remove_expired(state.fs(), &dir, now_seconds),
        // Something else has the name: it is none of ours.
        Ok(None) | Err(_) => Ok(0),
    }
}

fn open_directory(fs: &dyn Fs, state: &StateDir) -> io::Result<Option<FsDir>> {
    if_found(fs.open_dir(state.dir(), NAME))
}

fn make_directory(fs: &dyn Fs, state: &StateDir) -> io::Result<FsDir> {
    fs.make_dir_if_missing(state.dir(), NAME, DirMode::Private)?;
    fs.open_dir(state.dir(), NAME)
}

/// Writes a text under its name. It need not be durable: one that a power cut spoils does not match its
/// name, and is ignored.
fn write_text(fs: &dyn Fs, dir: &FsDir, digest: Digest, bytes: &[u8]) -> io::Result<()> {
    if read_text(fs, dir, digest).is_some() {
        return Ok(());
    }
    fs.remove_if_exists(dir, SCRATCH)?;
    let file = fs.create(dir, SCRATCH, FileMode::Private)?;
    fs.write(&file, bytes)?;
    fs.rename(dir, SCRATCH, dir, &digest.to_string(), RenameMode::Replace)
}

/// A text, if it is there and is what its name says.
fn read_text(fs: &dyn Fs, dir: &FsDir, digest: Digest) -> Option<String> {
    let (bytes, _) = fs.read(dir, &digest.to_string(), TEXT_BYTES).ok()?;
    (Digest::of(&bytes) == digest).then(|| String::from_utf8(bytes).ok()).flatten()
}

fn append_entry(fs: &dyn Fs, dir: &FsDir, entry: &ShownTextEntry) -> LedgerResult<()> {
    let failed = io_error("write", &format!("{PATH}/{LOG}"));
    if !has_log(fs, dir) {
        // Whatever has the name is no log of ours, and a pipe would be waited for.
        fs.remove_if_exists(dir, LOG).context("remove", &format!("{PATH}/{LOG}"))?;
    }
    let json = serde_json::to_string(entry).unwrap_or_default();
    match AppendLog::new(fs, dir, LOG).append(json.as_bytes(), false) {
        Err(LogError::Io(source)) => Err(failed(source)),
        // A path of a megabyte: nobody was shown that.
        Err(_) | Ok(()) => Ok(()),
    }
}

fn has_log(fs: &dyn Fs, dir: &FsDir) -> bool {
    fs.stat(dir, LOG).is_ok_and(|stat| stat.kind == FsKind::File)
}

/// What the log has, newest first. What is not an entry is left out; what lies behind damage is lost.
fn read_entries(fs: &dyn Fs, dir: &FsDir) -> Vec<ShownTextEntry> {
    let mut entries = Vec::new();
    if !has_log(fs, dir) {
        return entries;
    }
    let (mut seen, mut bytes) = (0, 0);
    // An error ends it, like its beginning.
    let _ = AppendLog::new(fs, dir, LOG).read_backwards(&mut |json| {
        seen += 1;
        bytes += json.len();
        let entry = serde_json::from_slice(json).ok();
        let named = |entry: &ShownTextEntry| {
            RelPath::parse(&entry.path).is_ok_and(|path| path.as_str() == entry.path)
        };
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
fn remove_expired(fs: &dyn Fs, dir: &FsDir, now_seconds: u64) -> LedgerResult<usize> {
    let all = read_entries(fs, dir);
    let mut versions: HashMap<&str, Vec<Digest>> = HashMap::new();
    let mut texts: HashSet<Digest> = HashSet::new();
    let mut bytes = 0;
    let mut kept: Vec<&ShownTextEntry> = Vec::new();
    for entry in &all {
        let own = versions.entry(&entry.path).or_default();
        let young = now_seconds.saturating_sub(entry.time) <= SECONDS;
        if !young || kept.len() == ENTRIES || own.len() == VERSIONS || own.contains(&entry.text) {
            continue;
        }
        let Some(size) = text_size(fs, dir, entry.text) else { continue };
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
        let whole: Vec<u8> = lines.flat_map(|json| append_log::encode_entry(json.as_bytes())).collect();
        let failed = io_error("write", &format!("{PATH}/{LOG}"));
        atomic::write(fs, (dir, SCRATCH), (dir, LOG), &whole).map_err(|error| failed(error.source))?;
    }
    let mut gone = 0;
    for (name, kind) in fs.list(dir).context("list", PATH)? {
        let named = Digest::parse(&name).is_some_and(|digest| texts.contains(&digest));
        if kind == FsKind::File && name != LOG && !named {
            fs.remove_if_exists(dir, &name).context("remove", PATH)?;
            gone += usize::from(name != SCRATCH);
        }
    }
    Ok(gone)
}

/// How many bytes a text has; `None` if it is none.
fn text_size(fs: &dyn Fs, dir: &FsDir, digest: Digest) -> Option<u64> {
    let stat = fs.stat(dir, &digest.to_string()).ok()?;
    (stat.kind == FsKind::File && stat.len <= TEXT_BYTES).then_some(stat.len)
}

#[cfg(test)]
mod tests;
