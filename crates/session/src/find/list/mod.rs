//! Which sessions there are, newest first, from the two ends of each file: never from whole files.
//!
//! A session without an answer is hidden unless asked for; a damaged one is listed with its problem, never
//! left out. The directory in the header decides where a session belongs, since two directories can share a
//! name.

mod close_json;
mod ends;
mod message_count;
mod recent;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use relaycode_durable::{Fs, FsDir, FsKind};
use serde::Serialize;

use crate::file::index;
use crate::home::layout::{self, EXTENSION, same_directory};
use crate::{HomeLayout, IndexHead, SessionStats};
use ends::SessionEnds;

pub use recent::RecentSession;

/// Most sessions looked at: the newest.
pub const MAX_SESSIONS: usize = 100_000;
/// Suffix of an index.
const INDEX: &str = ".index";
/// Suffix of a torn tail, after the session's stem.
const DAMAGED: &str = ".damaged";
/// Follows a session's name in the file that a repair kept.
const BEFORE_REPAIR: &str = ".before-repair-";
/// Bytes of the first message kept for a list.
pub const MAX_FIRST_MESSAGE: usize = 2048;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    pub path: PathBuf,
    /// From the header, or from the file name if that cannot be read.
    pub id: String,
    /// The directory it is about; empty if unknown.
    pub cwd: String,
    /// The header's title, or the last short summary.
    pub title: Option<String>,
    /// RFC 3339; empty if unknown.
    pub created: String,
    /// RFC 3339.
    pub modified: String,
    /// On all branches; `None` if that needs a read of the whole file: [`SessionLister::count_messages`].
    pub messages: Option<u64>,
    /// The beginning of the first prompt.
    pub first_message: Option<String>,
    /// Bytes of the file.
    pub size: u64,
    /// Whether a model ever answered; `None` if the ends of the file do not show it, or if the answer may
    /// be among the damaged bytes kept beside it.
    pub answered: Option<bool>,
    /// What is wrong with the file, as far as its ends show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
    /// Seconds since 1970.
    #[serde(skip)]
    pub modified_seconds: i64,
    /// It is a friend's.
    #[serde(skip)]
    pub as_friend: bool,
    /// [`SessionSummary::title`] is the header's: somebody named the session.
    #[serde(skip)]
    pub has_title: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListScope<'a> {
    /// About this directory.
    Project(&'a Path),
    All,
}

#[derive(Debug, Default)]
pub struct SessionList {
    /// Newest first.
    pub sessions: Vec<SessionSummary>,
    /// Left out because they have no answer.
    pub unanswered: Vec<SessionSummary>,
    /// Directories that cannot be read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
}

#[derive(Clone, Copy)]
pub struct SessionLister<'a> {
    fs: &'a dyn Fs,
    layout: &'a HomeLayout,
}

impl<'a> SessionLister<'a> {
    pub fn new(fs: &'a dyn Fs, layout: &'a HomeLayout) -> SessionLister<'a> {
        SessionLister { fs, layout }
    }

    pub fn sessions(&self) -> PathBuf {
        self.layout.sessions_dir()
    }

    /// All sessions of the scope that were answered, newest first; with `unanswered` the others, too.
    ///
    /// # Errors
    /// If the directory of sessions cannot be read. A missing one is an empty list.
    pub fn list(&self, scope: ListScope<'_>, unanswered: bool) -> io::Result<SessionList> {
        let mut listed = SessionList::default();
        let files = self.candidate_files(scope, &mut listed.unreadable)?;
        let all = in_parallel(&files, |file| self.summarize(file));
        let mut all: Vec<SessionSummary> =
            all.into_iter().flatten().filter(|info| is_in_scope(info, scope)).collect();
        // Names begin with the time: of two written in the same second the later one comes first.
        let age =
            |info: &SessionSummary| (info.modified_seconds, info.path.file_name().map(OsStr::to_os_string));
        all.sort_by_cached_key(|info| Reverse(age(info)));
        all.truncate(MAX_SESSIONS);
        for info in all {
            if info.answered == Some(false) && info.damage.is_none() && !unanswered {
                listed.unanswered.push(info);
            } else {
                listed.sessions.push(info);
            }
        }
        Ok(listed)
    }

    /// The newest `limit` answered sessions with a short name, for a welcome screen. Opens only as many
    /// files as that takes.
    ///
    /// # Errors
    /// If the directory of sessions cannot be read.
    pub fn recent(&self, scope: ListScope<'_>, limit: usize) -> io::Result<Vec<RecentSession>> {
        let mut files = self.candidate_files(scope, &mut Vec::new())?;
        files.sort_by_cached_key(|file| {
            let modified = self.fs.stat(&file.dir, &file.name).map_or(i64::MIN, |stat| stat.modified);
            Reverse((modified, file.name.clone()))
        });
        let known =
            files.iter().filter_map(|file| self.summarize(file)).filter(|info| is_in_scope(info, scope));
        let answered = known.filter(|info| info.answered != Some(false) || info.damage.is_some());
        Ok(answered.take(limit).map(|info| RecentSession::from_summary(&info)).collect())
    }

    /// What a list shows of one file.
    ///
    /// # Errors
    /// `InvalidData` if it is not a session.
    pub fn summarize_file(&self, path: &Path) -> io::Result<SessionSummary> {
        let (dir, name) = layout::open_parent(self.fs, path)?;
        if self.fs.stat(&dir, name)?.kind != FsKind::File {
            return Err(relaycode_durable::fs::not_regular_error());
        }
        let (path, name) = (path.to_path_buf(), name.to_string());
        let file = SessionCandidate { dir, path, name, indexed: true, salvaged: false };
        let named = file.name.ends_with(EXTENSION);
        self.summarize(&file)
            .filter(|info| named || info.damage.is_none())
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it is not a session"))
    }

    /// Counts messages where unknown. Reads whole files: for what is shown, not for all.
    pub fn count_messages(&self, sessions: &mut [SessionSummary]) {
        for info in sessions.iter_mut().filter(|info| info.messages.is_none()) {
            info.messages = message_count::count_file_messages(self.fs, &info.path).ok().flatten();
        }
    }

    /// The files that may be sessions, newest first.
    pub(crate) fn candidate_files(
        &self,
        scope: ListScope<'_>,
        unreadable: &mut Vec<(PathBuf, String)>,
    ) -> io::Result<Vec<SessionCandidate>> {
        // Not through a link, as when writing: a directory elsewhere is somebody else's.
        let opened = self.fs.open_root(self.layout.home());
        let sessions = match opened.and_then(|home| self.fs.open_dir(&home, layout::SESSIONS_DIR)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let names = match scope {
            ListScope::Project(cwd) => vec![layout::encode_project_dir(cwd)],
            ListScope::All => {
                let names = self.fs.list(&sessions)?.into_iter();
                names.filter(|(_, kind)| *kind == FsKind::Dir).map(|(name, _)| name).collect()
            }
        };
        let mut files = Vec::new();
        for name in names {
            let path = self.layout.sessions_dir().join(&name);
            let dir = self.fs.open_dir(&sessions, &name);
            let listed = dir.and_then(|dir| self.collect_candidates(&dir, &path, &mut files));
            if let Err(error) = listed
                && error.kind() != io::ErrorKind::NotFound
            {
                unreadable.push((path, error.to_string()));
            }
        }
        Ok(files)
    }

    fn collect_candidates(
        &self,
        dir: &FsDir,
        path: &Path,
        files: &mut Vec<SessionCandidate>,
    ) -> io::Result<()> {
        let (mut names, mut indexes, mut salvaged) = (Vec::new(), HashSet::new(), HashSet::new());
        self.fs.for_each_name(dir, &mut |name, kind| {
            if kind == FsKind::File && name.ends_with(EXTENSION) && !name.starts_with('.') {
                names.push(name.to_string());
            } else if kind == FsKind::File && name.ends_with(INDEX) {
                indexes.insert(name.to_string());
            } else if let Some(session) = salvaged_from(name) {
                salvaged.insert(session);
            }
        })?;
        for name in names {
            let indexed = indexes.contains(&index::index_file_name(&name));
            let (salvaged, path) = (salvaged.contains(&name), path.join(&name));
            files.push(SessionCandidate { dir: dir.clone(), path, name, indexed, salvaged });
        }
        Ok(())
    }

    /// `None` if it is not a session.
    fn summarize(&self, file: &SessionCandidate) -> Option<SessionSummary> {
        let named = layout::id_in_name(&file.name);
        let known = if file.indexed { IndexHead::read(self.fs, &file.dir, &file.name) } else { None };
        let (ends, stat) = match ends::read_ends(self.fs, &file.dir, &file.name, known.as_ref()) {
            Ok((ends, stat)) => (ends, Some(stat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                let damage = Some(format!("it cannot be read: {error}"));
                let stat = self.fs.stat(&file.dir, &file.name).ok();
                (SessionEnds { damage, ..SessionEnds::default() }, stat)
            }
        };
        let (len, modified) = stat.map_or((0, 0), |stat| (stat.len, stat.modified));
        if ends.header.is_none() && named.is_none() {
            return None;
        }
        // An index of the present file knows what the ends do not show.
        let fits = |head: &IndexHead| stat.is_some_and(|stat| head.matches_file(&stat));
        let facts = known.filter(fits).map(|head| head.facts);
        let as_friend = ends.header.as_ref().is_some_and(|header| header.as_friend);
        let (id, cwd, title, created) = match ends.header {
            Some(header) => (header.id, header.cwd, header.title, header.timestamp),
            None => (named.unwrap_or_default().to_string(), String::new(), None, String::new()),
        };
        let in_name = || layout::time_in_name(&file.name).unwrap_or_default();
        let title = title.filter(|title| !title.trim().is_empty());
        let answered = facts.as_ref().map(SessionStats::is_answered).or(ends.answered);
        let messages = ends.messages.or(facts.as_ref().map(|facts| facts.messages));
        let SessionStats { short_summary, first_prompt, .. } = facts.unwrap_or_default();
        Some(SessionSummary {
            path: file.path.clone(),
            id,
            cwd,
            as_friend,
            has_title: title.is_some(),
            title: title.or(short_summary).or(ends.summary),
            created: if created.is_empty() { in_name() } else { created },
            modified: rfc3339(modified),
            messages,
            first_message: ends.first_message.or(first_prompt),
            size: len,
            answered: answered.filter(|answered| *answered || !file.salvaged),
            damage: ends.damage,
            modified_seconds: modified,
        })
    }
}

pub(crate) struct SessionCandidate {
    pub(crate) dir: FsDir,
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    /// There is an index beside it.
    indexed: bool,
    /// Damaged bytes of it are kept beside it: the answer may be among them.
    salvaged: bool,
}

/// The session whose damaged bytes this file holds: kept by a repair, or a torn tail.
fn salvaged_from(name: &str) -> Option<String> {
    if let Some((session, _)) = name.split_once(BEFORE_REPAIR) {
        return Some(session.to_string());
    }
    name.strip_suffix(DAMAGED).map(|stem| format!("{stem}{EXTENSION}"))
}

/// A session that names no directory belongs where it lies.
fn is_in_scope(info: &SessionSummary, scope: ListScope<'_>) -> bool {
    match scope {
        ListScope::All => true,
        ListScope::Project(cwd) => info.cwd.is_empty() || same_directory(cwd, &info.cwd),
    }
}

fn rfc3339(seconds: i64) -> String {
    Timestamp::from_second(seconds).map(|time| format!("{time:.3}")).unwrap_or_default()
}

/// Keeps the order; uses several threads if there are many files.
pub(crate) fn in_parallel<T: Send, F: Sync>(files: &[F], act: impl Fn(&F) -> T + Sync) -> Vec<T> {
    /// Files worth a thread.
    const A_SHARE: usize = 256;
    const MOST_THREADS: usize = 8;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let threads = threads.min(files.len() / A_SHARE);
    if threads < 2 {
        return files.iter().map(act).collect();
    }
    let act = &act;
    std::thread::scope(|scope| {
        let shares: Vec<_> = files
            .chunks(files.len().div_ceil(threads))
            .map(|share| scope.spawn(move || share.iter().map(act).collect::<Vec<T>>()))
            .collect();
        shares.into_iter().flat_map(|share| share.join().unwrap_or_default()).collect()
    })
}
