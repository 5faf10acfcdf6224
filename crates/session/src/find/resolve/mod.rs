//! Which session a person means: a number of the list, the beginning of an id, a path, or simply the last
//! one.
//!
//! An ambiguous name is never guessed: the candidates are named. A session of another project is reported
//! as such, so that the caller can offer to fork it; one hidden for lack of an answer is still found by its
//! id.

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use relaycode_durable::fs::is_not_regular;

use crate::find::list::ListScope;
use crate::home::layout::{EXTENSION, same_directory};
use crate::home::terminal::TerminalBreadcrumb;
use crate::{SessionLister, SessionSummary};

/// Most sessions suggested when one is not found or ambiguous.
pub const MAX_SUGGESTED: usize = 5;
/// Most digits of a number of the list; more are an id.
const MAX_DIGITS: usize = 5;

/// How a person named a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionTarget {
    /// Not named: the last one of this terminal, else the newest.
    Newest,
    /// In the list, from 1.
    Number(usize),
    /// The beginning of an id.
    Id(String),
    Path(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolvedSession {
    ThisProject(Box<SessionSummary>),
    /// About another directory; to continue it here, fork it.
    OtherProject {
        summary: Box<SessionSummary>,
        /// The directory it is about.
        cwd: PathBuf,
    },
}

#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    #[error("there are no sessions in {} yet", cwd.display())]
    None { cwd: PathBuf },
    #[error("there is no session {name}")]
    Unknown {
        name: String,
        /// With a similar name.
        nearest: Vec<SessionSummary>,
    },
    /// Several ids begin so.
    #[error("{name} matches {count} sessions")]
    Ambiguous {
        name: String,
        count: usize,
        /// The newest of them.
        candidates: Vec<SessionSummary>,
    },
    /// The file exists, but is not a session.
    #[error("{} is not a session", path.display())]
    NotASession { path: PathBuf },
    #[error("{} cannot be read: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl SessionTarget {
    /// A number of the list has no leading zero and at most five digits.
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
    /// Whichever project it belongs to.
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

/// Finds the session meant by somebody in `cwd`; `breadcrumb` is the last one of their terminal.
///
/// # Errors
/// If there is none, or more than one, with suggestions.
pub fn resolve_session(
    lister: &SessionLister<'_>,
    cwd: &Path,
    target: &SessionTarget,
    breadcrumb: Option<&TerminalBreadcrumb>,
) -> Result<ResolvedSession, ResolveError> {
    match target {
        SessionTarget::Newest => resolve_newest(lister, cwd, breadcrumb),
        SessionTarget::Number(number) => {
            let mut here = list_sessions(lister, ListScope::Project(cwd), false)?;
            if *number >= 1 && *number <= here.len() {
                return Ok(ResolvedSession::ThisProject(Box::new(here.swap_remove(*number - 1))));
            }
            // Digits can begin an id, too.
            resolve_id(lister, cwd, &number.to_string())
        }
        SessionTarget::Id(prefix) => resolve_id(lister, cwd, prefix),
        SessionTarget::Path(path) => resolve_path(lister, cwd, path),
    }
}

fn resolve_newest(
    lister: &SessionLister<'_>,
    cwd: &Path,
    breadcrumb: Option<&TerminalBreadcrumb>,
) -> Result<ResolvedSession, ResolveError> {
    let left = breadcrumb.filter(|crumb| crumb.is_about(cwd));
    if let Some(info) = left.and_then(|crumb| lister.summarize_file(&crumb.session).ok()) {
        let found = ResolvedSession::classify(info, cwd);
        if matches!(found, ResolvedSession::ThisProject(_)) {
            return Ok(found);
        }
    }
    // A run that was stopped before the first answer is what its user wants to go on with.
    let has_prompt = |info: &SessionSummary| info.first_message.as_ref().is_some_and(|text| !text.is_empty());
    let mut here = list_sessions(lister, ListScope::Project(cwd), true)?.into_iter();
    let mut first = here.by_ref().filter(|info| !info.as_friend);
    let first = first.find(|info| info.answered != Some(false) || has_prompt(info));
    let info = first.ok_or_else(|| ResolveError::None { cwd: cwd.to_path_buf() })?;
    Ok(ResolvedSession::ThisProject(Box::new(info)))
}

fn resolve_path(
    lister: &SessionLister<'_>,
    cwd: &Path,
    path: &Path,
) -> Result<ResolvedSession, ResolveError> {
    let full = if path.is_absolute() { path.to_path_buf() } else { cwd.join(path) };
    match lister.summarize_file(&full) {
        Ok(info) => Ok(ResolvedSession::classify(info, cwd)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(ResolveError::Unknown { name: path.display().to_string(), nearest: Vec::new() })
        }
        Err(source) => Err(match source.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                ResolveError::NotASession { path: full }
            }
            _ if is_not_regular(&source) => ResolveError::NotASession { path: full },
            _ => ResolveError::Io { path: full, source },
        }),
    }
}

fn resolve_id(lister: &SessionLister<'_>, cwd: &Path, prefix: &str) -> Result<ResolvedSession, ResolveError> {
    // This project comes first: a unique match here wins over those elsewhere.
    if let Some(info) = unique_match(list_sessions(lister, ListScope::Project(cwd), true)?, prefix)? {
        return Ok(ResolvedSession::ThisProject(Box::new(info)));
    }
    let everywhere = list_sessions(lister, ListScope::All, true)?;
    let near = nearest_matches(&everywhere, cwd, prefix);
    match unique_match(everywhere, prefix)? {
        Some(info) => Ok(ResolvedSession::classify(info, cwd)),
        None => Err(ResolveError::Unknown { name: prefix.to_string(), nearest: near }),
    }
}

/// The only session whose id begins so; an exact match wins.
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

/// Similar ids or titles, those of this project first.
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
    lister: &SessionLister<'_>,
    scope: ListScope<'_>,
    unanswered: bool,
) -> Result<Vec<SessionSummary>, ResolveError> {
    let listed = lister.list(scope, unanswered);
    let listed = listed.map_err(|source| ResolveError::Io { path: lister.sessions(), source })?;
    Ok(listed.sessions)
}
