//! Which session a person means: a number of the list, the beginning of an id, a path, or simply the last one.
//!
//! What could be two sessions is never guessed: the candidates are named. A session of another project is told apart, so that
//! whoever asks can offer to fork it; one that is hidden for lack of an answer is still found by its id.

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use crate::find::list::{ListScope, SessionLister, SessionSummary};
use crate::home::layout::{EXTENSION, same_directory};
use crate::home::terminal::TerminalBreadcrumb;

/// Sessions that are named when one is not found, or not the only one.
pub const MAX_SUGGESTED: usize = 5;
/// Digits of a number of the list; more are an id.
const MAX_DIGITS: usize = 5;

/// What a person gave as a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionTarget {
    /// Nothing: the one that this terminal had last, else the newest.
    Newest,
    /// A number of the list, from 1.
    Number(usize),
    /// The beginning of an id.
    Id(String),
    /// A file.
    Path(PathBuf),
}

/// The session that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolvedSession {
    /// One of this project.
    ThisProject(Box<SessionSummary>),
    /// One about another directory; to go on in it here, fork it.
    OtherProject {
        /// The session.
        summary: Box<SessionSummary>,
        /// The directory that it is about.
        cwd: PathBuf,
    },
}

/// Why there is no such session.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// There is none at all.
    #[error("there are no sessions about {} yet", cwd.display())]
    None {
        /// The directory.
        cwd: PathBuf,
    },
    /// Nothing is called so.
    #[error("there is no session {name}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What is called nearly so.
        nearest: Vec<SessionSummary>,
    },
    /// Several begin so.
    #[error("{name} is the beginning of {count} sessions")]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// How many there are.
        count: usize,
        /// The newest of them.
        candidates: Vec<SessionSummary>,
    },
    /// The file is there, but it is none.
    #[error("{} is not a session", path.display())]
    NotASession {
        /// The file.
        path: PathBuf,
    },
    /// The system said no.
    #[error("{} cannot be read: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

impl SessionTarget {
    /// What a word means. A number of the list has no leading zero and at most five digits.
    pub fn parse(word: &str) -> SessionTarget {
        if word.is_empty() {
            return SessionTarget::Newest;
        }
        if word.contains(['/', '\\']) || word.ends_with(EXTENSION) {
            return SessionTarget::Path(PathBuf::from(word));
        }
        let numeric =
            word.len() <= MAX_DIGITS && !word.starts_with('0') && word.bytes().all(|b| b.is_ascii_digit());
        match word.parse() {
            Ok(number) if numeric => SessionTarget::Number(number),
            _ => SessionTarget::Id(word.to_string()),
        }
    }
}

impl ResolvedSession {
    /// The session, wherever it belongs.
    pub fn into_summary(self) -> SessionSummary {
        match self {
            ResolvedSession::ThisProject(info) | ResolvedSession::OtherProject { summary: info, .. } => *info,
        }
    }

    fn classify(info: SessionSummary, cwd: &Path) -> ResolvedSession {
        if info.cwd.is_empty() || same_directory(cwd, &info.cwd) {
            return ResolvedSession::ThisProject(Box::new(info));
        }
        ResolvedSession::OtherProject { cwd: PathBuf::from(&info.cwd), summary: Box::new(info) }
    }
}

/// Finds the session that is meant by somebody in `cwd`; `breadcrumb` is what their terminal had last.
///
/// # Errors
/// That there is none, or more than one, with what to choose from.
pub fn resolve_session(
    listing: &SessionLister<'_>,
    cwd: &Path,
    target: &SessionTarget,
    breadcrumb: Option<&TerminalBreadcrumb>,
) -> Result<ResolvedSession, ResolveError> {
    match target {
        SessionTarget::Newest => resolve_newest(listing, cwd, breadcrumb),
        SessionTarget::Number(number) => {
            let mut here = list_sessions(listing, ListScope::Project(cwd), false)?;
            if *number >= 1 && *number <= here.len() {
                return Ok(ResolvedSession::ThisProject(Box::new(here.swap_remove(*number - 1))));
            }
            // Digits can be the beginning of an id, too.
            resolve_id(listing, cwd, &number.to_string())
        }
        SessionTarget::Id(prefix) => resolve_id(listing, cwd, prefix),
        SessionTarget::Path(path) => resolve_path(listing, cwd, path),
    }
}

fn resolve_newest(
    listing: &SessionLister<'_>,
    cwd: &Path,
    breadcrumb: Option<&TerminalBreadcrumb>,
) -> Result<ResolvedSession, ResolveError> {
    let left = breadcrumb.filter(|crumb| crumb.is_about(cwd));
    if let Some(info) = left.and_then(|crumb| listing.summarize_file(&crumb.session).ok()) {
        let found = ResolvedSession::classify(info, cwd);
        if matches!(found, ResolvedSession::ThisProject(_)) {
            return Ok(found);
        }
    }
    let first = list_sessions(listing, ListScope::Project(cwd), false)?.into_iter().next();
    let info = first.ok_or_else(|| ResolveError::None { cwd: cwd.to_path_buf() })?;
    Ok(ResolvedSession::ThisProject(Box::new(info)))
}

fn resolve_path(
    listing: &SessionLister<'_>,
    cwd: &Path,
    path: &Path,
) -> Result<ResolvedSession, ResolveError> {
    let full = if path.is_absolute() { path.to_path_buf() } else { cwd.join(path) };
    match listing.summarize_file(&full) {
        Ok(info) => Ok(ResolvedSession::classify(info, cwd)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(ResolveError::Unknown { name: path.display().to_string(), nearest: Vec::new() })
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => {
            Err(ResolveError::NotASession { path: full })
        }
        Err(error) if relaycode_durable::fs::is_not_regular(&error) => {
            Err(ResolveError::NotASession { path: full })
        }
        Err(source) => Err(ResolveError::Io { path: full, source }),
    }
}

fn resolve_id(
    listing: &SessionLister<'_>,
    cwd: &Path,
    prefix: &str,
) -> Result<ResolvedSession, ResolveError> {
    // This project comes first: what is unique here is meant, whatever others have.
    if let Some(info) = unique_match(list_sessions(listing, ListScope::Project(cwd), true)?, prefix)? {
        return Ok(ResolvedSession::ThisProject(Box::new(info)));
    }
    let everywhere = list_sessions(listing, ListScope::All, true)?;
    let near = nearest_matches(&everywhere, cwd, prefix);
    match unique_match(everywhere, prefix)? {
        Some(info) => Ok(ResolvedSession::classify(info, cwd)),
        None => Err(ResolveError::Unknown { name: prefix.to_string(), nearest: near }),
    }
}

/// The only session whose id begins so; one that is exactly called so is the only one.
fn unique_match(sessions: Vec<SessionSummary>, prefix: &str) -> Result<Option<SessionSummary>, ResolveError> {
    let begins =
        |info: &SessionSummary| info.id.get(..prefix.len()).is_some_and(|id| id.eq_ignore_ascii_case(prefix));
    let mut found: Vec<SessionSummary> = sessions.into_iter().filter(begins).collect();
    let exact: Vec<usize> = (0..found.len()).filter(|at| found[*at].id.len() == prefix.len()).collect();
    if let [one] = exact[..] {
        return Ok(Some(found.swap_remove(one)));
    }
    if found.len() < 2 {
        return Ok(found.pop());
    }
    let count = found.len();
    found.truncate(MAX_SUGGESTED);
    Err(ResolveError::Ambiguous { name: prefix.to_string(), count, candidates: found })
}

/// Those whose id or title is nearly so, those of this project first.
fn nearest_matches(sessions: &[SessionSummary], cwd: &Path, name: &str) -> Vec<SessionSummary> {
    let wanted = name.to_lowercase();
    let shared = |id: &str| id.to_lowercase().bytes().zip(wanted.bytes()).take_while(|(a, b)| a == b).count();
    let near = |info: &&SessionSummary| {
        let words = info.title.iter().chain(&info.first_message);
        shared(&info.id) >= 3.min(wanted.len().max(1))
            || (wanted.len() >= 3 && words.into_iter().any(|text| text.to_lowercase().contains(&wanted)))
    };
    let mut found: Vec<&SessionSummary> = sessions.iter().filter(near).collect();
    found.sort_by_key(|info| (!same_directory(cwd, &info.cwd), std::cmp::Reverse(shared(&info.id))));
    found.into_iter().take(MAX_SUGGESTED).cloned().collect()
}

fn list_sessions(
    listing: &SessionLister<'_>,
    scope: ListScope<'_>,
    unanswered: bool,
) -> Result<Vec<SessionSummary>, ResolveError> {
    let listed = listing.list(scope, unanswered);
    listed
        .map(|listed| listed.sessions)
        .map_err(|source| ResolveError::Io { path: listing.sessions(), source })
}
