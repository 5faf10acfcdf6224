//! Where sessions are for somebody who stands in this directory at this terminal, and which one a word means.
//!
//! What tells terminals apart (`KITTY_WINDOW_ID`, `TMUX_PANE`, `TERM_SESSION_ID`, `WT_SESSION`) is read from the
//! environment here and nowhere else.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use relaycode_durable::{Dir, Fs, Real};
use relaycode_session::list::{Scope, SessionInfo};
use relaycode_session::resolve::{self, Found, ResolveError, Target};
use relaycode_session::terminal::{Breadcrumb, Surroundings, TerminalId};
use relaycode_session::{Blobs, Layout, Listing, Mode, Session, SessionError};
use relaycode_text::width::{Ellipsis, clip};

use crate::context::Context;
use crate::failure::{Exit, Failure, State};

/// Digits of an id that people see at least.
const SHORT: usize = 8;

/// The sessions, and from where they are looked at.
pub(super) struct Place {
    pub(super) fs: Real,
    pub(super) layout: Layout,
    pub(super) cwd: PathBuf,
}

impl Place {
    pub(super) fn of(context: &Context<'_>) -> Result<Place, Failure> {
        let home = context.home.path.as_ref().ok_or_else(|| {
            Failure::usage("nothing says where sessions are kept")
                .hint("set HOME, or RELAY_HOME to a full path")
        })?;
        let directory = &context.options.directory;
        let cwd = directory.canonicalize().map_err(|error| {
            Failure::usage(format!("{} cannot be entered: {error}", directory.display()))
                .hint("give a directory with `-C DIR`")
        })?;
        Ok(Place { fs: Real::default(), layout: Layout::new(home), cwd })
    }

    pub(super) fn listing(&self) -> Listing<'_> {
        Listing::new(&self.fs, &self.layout)
    }

    /// The sessions about this directory, or all.
    pub(super) fn scope(&self, all: bool) -> Scope<'_> {
        if all { Scope::All } else { Scope::Project(&self.cwd) }
    }

    /// The session that a word means, of whatever project.
    pub(super) fn find(&self, word: Option<&str>) -> Result<SessionInfo, Failure> {
        self.resolve(word).map(Found::into_info)
    }

    /// The directory and the name of a session's file.
    pub(super) fn at(&self, info: &SessionInfo) -> Result<(Dir, String), Failure> {
        let above = info.path.parent().unwrap_or(Path::new("/"));
        let name = info.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let dir = self.fs.open_root(above).map_err(|error| unreadable(above, &error))?;
        Ok((dir, name))
    }

    /// Opens a session to be read; whoever writes it is not in the way.
    pub(super) fn read(&self, info: &SessionInfo) -> Result<Session, Failure> {
        let (dir, name) = self.at(info)?;
        Session::open(Arc::new(self.fs), dir, &name, Mode::Read).map_err(|error| failed(&error))
    }

    /// The same with the images that it refers to, where there are any.
    pub(super) fn with_blobs(&self, session: Session) -> Session {
        if !self.layout.blobs().is_dir() {
            return session;
        }
        let fs: Arc<dyn Fs> = Arc::new(self.fs);
        let blobs = fs.open_root(self.layout.home()).and_then(|home| Blobs::open(fs.clone(), &home));
        match blobs {
            Ok(blobs) => session.with_blobs(Arc::new(blobs)),
            Err(_) => session,
        }
    }

    fn resolve(&self, word: Option<&str>) -> Result<Found, Failure> {
        let terminal = TerminalId::of(&surroundings());
        let crumb = terminal.and_then(|terminal| Breadcrumb::read(&self.fs, &self.layout, &terminal));
        let target = word.map_or(Target::Newest, Target::parse);
        resolve::resolve(&self.listing(), &self.cwd, &target, crumb.as_ref())
            .map_err(|error| explained(&error))
    }
}

/// So many digits of an id as tell these apart, and at least eight.
pub(super) fn digits(sessions: &[SessionInfo]) -> usize {
    let mut ids: Vec<&str> = sessions.iter().map(|info| info.id.as_str()).collect();
    ids.sort_unstable();
    let shared = |pair: &[&str]| pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b).count();
    // Two of the same name are told apart by nothing.
    let differ = ids.windows(2).filter(|pair| pair[0] != pair[1]).map(|pair| shared(pair) + 1);
    differ.max().unwrap_or(0).max(SHORT)
}

/// So much of an id.
pub(super) fn short(id: &str, digits: usize) -> String {
    id.chars().take(digits).collect()
}

/// A number of sessions: none is no list.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("give a number from 1 on".to_string()),
    }
}

/// What a session is called: its title, or what was said first.
pub(super) fn about(info: &SessionInfo) -> String {
    let first = info.title.as_deref().or(info.first_message.as_deref()).unwrap_or_default();
    first.chars().take(MAX_ABOUT).collect()
}

/// Copies of one session.
fn all_the_same(sessions: &[SessionInfo]) -> bool {
    sessions.windows(2).all(|pair| pair[0].id == pair[1].id)
}

/// Cells of what a session is about where several are named in a sentence.
const MAX_NAMED: usize = 40;
/// Characters of a title that are worth carrying around.
const MAX_ABOUT: usize = 500;

fn explained(error: &ResolveError) -> Failure {
    let named = |sessions: &[SessionInfo]| {
        let digits = digits(sessions);
        let line = |info: &SessionInfo| {
            let words: String = about(info).split_whitespace().take(6).collect::<Vec<_>>().join(" ");
            let words = clip(&words, MAX_NAMED, Ellipsis::Unicode);
            format!("{} {words}", short(&info.id, digits)).trim_end().to_string()
        };
        sessions.iter().map(line).collect::<Vec<_>>().join(", ")
    };
    match error {
        ResolveError::None { .. } => Failure::new(Exit::Usage, "unknown", error)
            .hint("`relay sessions --all` lists those of other directories"),
        ResolveError::Unknown { nearest, .. } if nearest.is_empty() => {
            Failure::new(Exit::Usage, "unknown", error)
                .hint("`relay sessions` lists them, with `--all` of every directory")
        }
        ResolveError::Unknown { nearest, .. } => {
            Failure::new(Exit::Usage, "unknown", error).hint(format!("did you mean {}", named(nearest)))
        }
        ResolveError::Ambiguous { candidates, .. } if all_the_same(candidates) => {
            let paths = candidates.iter().map(|info| info.path.display().to_string());
            Failure::new(Exit::Usage, "ambiguous", error).hint(format!(
                "they have the same id; give the path: {}",
                paths.collect::<Vec<_>>().join(", ")
            ))
        }
        ResolveError::Ambiguous { candidates, .. } => Failure::new(Exit::Usage, "ambiguous", error)
            .hint(format!("give more of its id: {}", named(candidates))),
        ResolveError::NotASession { .. } => Failure::new(Exit::Usage, "notASession", error).hint(
            "a session is a file of lines of JSON that begins with a header; `relay sessions` lists them",
        ),
        ResolveError::Io { path, .. } => Failure::unexpected(error).at(path.display()),
    }
}

/// What keeps something from being done with a session.
pub(super) fn failed(error: &SessionError) -> Failure {
    match error {
        SessionError::Missing { .. } => Failure::new(Exit::Usage, "unknown", error),
        SessionError::InUse { .. } => Failure::refused("inUse", error),
        SessionError::Newer { .. } => Failure::new(Exit::Usage, "newer", error),
        SessionError::NotAFile { .. } => Failure::new(Exit::Usage, "notASession", error),
        SessionError::NotDurable { .. } => Failure::new(Exit::Doubt, "doubt", error),
        _ => Failure::unexpected(error),
    }
}

/// A directory or file that cannot be read.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    refused("the sessions cannot be read", path, error)
}

/// A directory that a session cannot be put into.
pub(super) fn unwritable(path: &Path, error: &io::Error) -> Failure {
    refused("the session cannot be written", path, error).left(State::Unchanged)
}

fn refused(what: &str, path: &Path, error: &io::Error) -> Failure {
    if relaycode_durable::fs::is_link(error) {
        return Failure::usage(format!("{what}: a link stands where a directory has to be"))
            .at(path.display())
            .hint("put the directory itself there, or set RELAY_HOME to where it is");
    }
    if error.kind() == io::ErrorKind::NotFound {
        return Failure::usage(format!("{what}: there is no such directory"))
            .at(path.display())
            .hint("make relay's home, or set RELAY_HOME to one that exists");
    }
    Failure::unexpected(format!("{what}: {error}")).at(path.display())
}

fn surroundings() -> Surroundings {
    let set = |name: &str| std::env::var(name).ok();
    Surroundings {
        tty: tty(),
        kitty_window_id: set("KITTY_WINDOW_ID"),
        tmux_pane: set("TMUX_PANE"),
        term_session_id: set("TERM_SESSION_ID"),
        wt_session: set("WT_SESSION"),
    }
}

/// The terminal's device, from whichever stream is one.
fn tty() -> Option<String> {
    let name = |fd: rustix::fd::BorrowedFd<'_>| rustix::termios::ttyname(fd, Vec::new()).ok();
    let streams = [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()];
    streams.into_iter().find_map(name).and_then(|name| name.into_string().ok())
}
